"""The effects of a played or drawn card of 101: covers, orders, penalties and marks."""

from croupier.games.actions import Play
from croupier.games.cards import SUITS, Card, Suit, suit_of
from croupier.games.facts import LAID, Fact, Mark, MarkChanged, MoveReason, Seat, plays_to
from croupier.games.hands import without
from croupier.games.one_oh_one.effects import IS_SIX, PENALTIES, PENALTY_NAMES
from croupier.games.one_oh_one.state import NOBODY, OneOhOneState, Owed


def played(state: OneOhOneState, seat: Seat, play: Play, facts: list[Fact]) -> tuple[OneOhOneState, Owed]:
    """Return the table with the card on the pile, and the cards that the next player takes before the next turn."""
    value, suit = play.card, play.suit
    hand, following = without(state.hands[seat], value), state.progress.following
    covers = IS_SIX[value] and (hand != 0 or not state.options.finish_on_six)
    after = following[seat]
    imposed = PENALTIES[value]
    if not hand and not (imposed and state.options.last_card_effects):
        # A last card can only make the next player take cards (101-LAST-2).
        imposed = None
    penalized = NOBODY if imposed is None else after
    facts.append(_PLAYED[seat][value])
    if suit != state.ordered or covers or penalized >= 0 or state.covers or state.penalized >= 0:
        facts += _ended_marks(state, suit)
        facts += _new_marks(None if suit == state.ordered else suit, seat if covers else NOBODY, value, penalized)
    state = state._replace(
        hands=(*state.hands[:seat], hand, *state.hands[seat + 1 :]),
        pile=(*state.pile, LAID[seat][value]),
        turn=NOBODY,
        ordered=suit,
        covers=covers,
        penalized=penalized,
        forced=None,
    )
    turn = seat if covers else NOBODY if not hand else after if penalized == NOBODY else following[after]
    return state, Owed(after, imposed or 0, MoveReason.PENALTY, turn)


def drawn(state: OneOhOneState, seat: Seat, facts: list[Fact]) -> tuple[OneOhOneState, Owed]:
    """Return the table with a draw begun: no cover is owed any more (101-SIX-4), an order stays valid (101-QUEEN-3)."""
    if state.covers or state.penalized >= 0:
        facts += _ended_marks(state, state.ordered)
    state = state._replace(turn=NOBODY, covers=False, penalized=NOBODY)
    return state, Owed(seat, 1, MoveReason.DRAW, state.progress.following[seat])


def _ended_marks(state: OneOhOneState, suit: Suit | None) -> list[Fact]:
    """Take away the marks that an action ends; `suit` is what is ordered after it."""
    facts: list[Fact] = []
    if state.covers:
        facts.append(MarkChanged(Mark("cover", state.turn, "")))
    if state.ordered is not None and suit is None:
        facts.append(MarkChanged(Mark("ordered_suit", None, "")))
    if state.penalized >= 0:
        facts.append(MarkChanged(Mark("penalty", state.penalized, "")))
    return facts


def _new_marks(suit: Suit | None, coverer: Seat, value: Card, penalized: Seat) -> list[Fact]:
    """Return the marks that a card sets."""
    facts: list[Fact] = []
    if suit is not None:
        facts.append(MarkChanged(Mark("ordered_suit", None, SUITS[suit])))
    if coverer >= 0:
        facts.append(MarkChanged(Mark("cover", coverer, SUITS[suit_of(value)])))
    if penalized >= 0:
        facts.append(MarkChanged(Mark("penalty", penalized, PENALTY_NAMES[value])))
    return facts


_PLAYED = plays_to("pile")
