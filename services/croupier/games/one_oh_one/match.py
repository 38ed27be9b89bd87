"""What of a game of 101 changes between rounds only, and who sits in the circle of those who still play."""

from typing import NamedTuple

from croupier.games.facts import Seat
from croupier.games.one_oh_one.scoring import Groups


class Match(NamedTuple):
    """The game between rounds.

    `starter` leads the round, and is its winner once it is over; `following` gives for each seat the next one that is
    still in the game; `dropped` are the seats that dropped out, in groups, the best first; `reason` tells why the game
    is over.
    """

    round_number: int
    starter: Seat
    totals: tuple[int, ...]
    following: tuple[Seat, ...]
    dropped: Groups = ()
    reason: str = ""


def circle(seats: int, dropped: Groups) -> tuple[Seat, ...]:
    """For each seat the next one clockwise that is still in the game (101-ELIM-1)."""
    out = {seat for group in dropped for seat in group}
    playing = [seat for seat in range(seats) if seat not in out]
    return tuple(next((other for other in playing if other > seat), playing[0]) for seat in range(seats))


def around(following: tuple[Seat, ...], first: Seat) -> tuple[Seat, ...]:
    """The seats in the game, clockwise from one of them."""
    seats = [first]
    while (seat := following[seats[-1]]) != first:
        seats.append(seat)
    return tuple(seats)
