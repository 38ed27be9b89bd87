"""What a played or drawn card of 101 sets going: covers, orders, penalties and marks."""

from typing import TYPE_CHECKING, NamedTuple

from croupier.games.actions import Play
from croupier.games.cards import SUITS, Card, Suit, suit_of
from croupier.games.facts import CardsMoved, Fact, Marked, MoveReason, PileCard, Seat
from croupier.games.one_oh_one.effects import IS_SIX, PENALTIES
from croupier.games.one_oh_one.hands import without_card
from croupier.games.one_oh_one.stock import Owed

if TYPE_CHECKING:
    from croupier.games.one_oh_one.state import OneOhOneState

NOBODY: Seat = -1


class Penalty(NamedTuple):
    """A seat that misses its turn, and how many cards were imposed on it, maybe none."""

    seat: Seat
    card_count: int


def played(state: "OneOhOneState", seat: Seat, play: Play, facts: list[Fact]) -> tuple["OneOhOneState", Owed]:
    """The table with the card on the pile, and what it makes the next player take before the turn goes on."""
    value, suit = play.card, play.suit
    hand, following = without_card(state.hands[seat], value), state.match.following
    covers = IS_SIX[value] and (hand != 0 or not state.table.finish_on_six)
    after = following[seat]
    penalty = _penalty(state, after, value, is_last=not hand)
    facts.append(_PLAYED[seat][value])
    if suit != state.ordered or covers or penalty or state.covers or state.penalty:
        facts += _ended_marks(state, suit)
        facts += _new_marks(None if suit == state.ordered else suit, seat if covers else NOBODY, value, penalty)
    state = state._replace(
        hands=(*state.hands[:seat], hand, *state.hands[seat + 1 :]),
        pile=(*state.pile, _LAID[seat][value]),
        turn=NOBODY,
        ordered=suit,
        covers=covers,
        penalty=penalty,
        forced=None,
    )
    turn = seat if covers else NOBODY if not hand else following[after] if penalty else after
    return state, Owed(after, penalty.card_count if penalty else 0, MoveReason.PENALTY, turn)


def drawn(state: "OneOhOneState", seat: Seat, facts: list[Fact]) -> tuple["OneOhOneState", Owed]:
    """The table with a draw begun: no cover is owed any more (101-SIX-4), an order stays in force (101-QUEEN-3)."""
    if state.covers or state.penalty:
        facts += _ended_marks(state, state.ordered)
    state = state._replace(turn=NOBODY, covers=False, penalty=None)
    return state, Owed(seat, 1, MoveReason.DRAW, state.match.following[seat])


def _penalty(state: "OneOhOneState", seat: Seat, value: Card, is_last: bool) -> Penalty | None:
    """What a card does to the next seat; a last card can only make it take cards (101-LAST-2)."""
    imposed = PENALTIES[value]
    if imposed is None or (is_last and not (imposed and state.table.last_card_effects)):
        return None
    return Penalty(seat, imposed)


def _ended_marks(state: "OneOhOneState", suit: Suit | None) -> list[Fact]:
    """Take away the marks that an action ends; `suit` is what is ordered after it."""
    facts: list[Fact] = []
    if state.covers:
        facts.append(Marked("cover", state.turn, ""))
    if state.ordered is not None and suit is None:
        facts.append(Marked("ordered_suit", None, ""))
    if state.penalty:
        facts.append(Marked("penalty", state.penalty.seat, ""))
    return facts


def _new_marks(suit: Suit | None, coverer: Seat, value: Card, penalty: Penalty | None) -> list[Fact]:
    """The marks that a card sets."""
    facts: list[Fact] = []
    if suit is not None:
        facts.append(Marked("ordered_suit", None, SUITS[suit]))
    if coverer != NOBODY:
        facts.append(Marked("cover", coverer, SUITS[suit_of(value)]))
    if penalty:
        facts.append(Marked("penalty", penalty.seat, str(penalty.card_count)))
    return facts


_LAID = tuple(tuple(PileCard(value, seat) for value in range(52)) for seat in range(4))
_PLAYED = tuple(
    tuple(CardsMoved(seat, "pile", (value,), 1, MoveReason.PLAY) for value in range(52)) for seat in range(4)
)
