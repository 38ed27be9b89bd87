"""The circle of seats that are still in a game of 101."""

from croupier.games.facts import Seat
from croupier.games.one_oh_one.state import Groups


def circle(seats: int, dropped: Groups) -> tuple[Seat, ...]:
    """Return for each seat the next one clockwise that is still in the game (101-ELIM-1)."""
    out = {seat for group in dropped for seat in group}
    playing = [seat for seat in range(seats) if seat not in out]
    return tuple(next((other for other in playing if other > seat), playing[0]) for seat in range(seats))


def around(following: tuple[Seat, ...], first: Seat) -> tuple[Seat, ...]:
    """Return the seats in the game, clockwise from one of them."""
    seats = [first]
    while (seat := following[seats[-1]]) != first:
        seats.append(seat)
    return tuple(seats)
