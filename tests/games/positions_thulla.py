"""Positions in the middle of a game of Thulla, and lines of play in the notation of the rules page."""

from collections.abc import Mapping

from croupier.games.actions import PLAYS
from croupier.games.cards import NOTATION, card, cards, cards_of_mask, mask_of
from croupier.games.facts import Fact, Seat
from croupier.games.interface import OptionValue, SeatActed, resolve_options
from croupier.games.thulla import Thulla, ThullaState
from croupier.games.thulla.state import Laid, Match
from croupier.games.thulla.table import Table
from tests.games.comparison import apply

THULLA = Thulla()


def position(
    hands: Mapping[Seat, str], *, leader: Seat = 0, out: tuple[Seat, ...] = (), stalled: int = 0, **options: OptionValue
) -> ThullaState:
    """A trick is about to begin in game 1; all cards that nobody holds lie in the waste."""
    seats = max(*hands, *out) + 1 if out else max(hands) + 1
    table = Table.of(seats, resolve_options(THULLA, seats, options))
    held = tuple(mask_of(cards(hands.get(seat, ""))) for seat in range(seats))
    return ThullaState(
        table=table,
        match=Match(round_number=1, starter=leader, totals=(0,) * seats),
        hands=held,
        queue=tuple(seat % seats for seat in range(leader, leader + seats) if held[seat % seats]),
        waste=tuple(Laid(value, 0) for value in table.deck if not mask_of((value,)) & sum(held)),
        out=out,
        stalled=stalled,
        points=(0,) * seats,
    )


def plays(state: ThullaState, line: str) -> ThullaState:
    """The state after a line such as "0:KH 1:5H"."""
    return plays_with_facts(state, line)[0]


def plays_with_facts(state: ThullaState, line: str) -> tuple[ThullaState, tuple[Fact, ...]]:
    """The state after a line, and all that became known on the way."""
    facts: tuple[Fact, ...] = ()
    for word in line.split():
        seat, _, text = word.partition(":")
        state, more = apply(state, SeatActed(int(seat), PLAYS[card(text)]))
        facts += more
    return state, facts


def legal(state: ThullaState, seat: Seat) -> set[str]:
    """The cards that a seat may play, in notation."""
    return {NOTATION[value] for value in range(52) if PLAYS[value] in state.legal_actions(seat).actions}


def hand(state: ThullaState, seat: Seat) -> set[str]:
    """The cards that a seat holds, in notation."""
    return {NOTATION[value] for value in cards_of_mask(state.hands[seat])}


def to_act(state: ThullaState) -> Seat | None:
    """The seat that is to play, None if the game is over."""
    return state.queue[0] if state.queue else None


def order(state: ThullaState) -> list[Seat]:
    """The finishing order of the game that has just ended."""
    return list(state.match.orders[-1])
