"""The legal actions of 101, and the refusals of all others.

Every refusal depends on nothing but what the acting seat knows.
"""

from croupier.games.actions import Action, Draw, Play
from croupier.games.cards import NOTATION, SUITS, Card, suit_of
from croupier.games.facts import Seat
from croupier.games.hands import ONCE
from croupier.games.interface import IllegalAction
from croupier.games.one_oh_one.effects import FITS, IS_QUEEN, SUITED, SUITED_OR_QUEEN
from croupier.games.one_oh_one.state import OneOhOneState


def playable(state: OneOhOneState, hand: int) -> int:
    """Return the cards in a hand that may be played now, as a bit set without twins."""
    if not state.pile:
        return hand & ONCE if state.forced is None else 1 << state.forced
    top = state.pile[-1].card
    if state.covers:
        return hand & (SUITED_OR_QUEEN if state.options.queen_covers_six else SUITED)[suit_of(top)]
    return hand & (FITS[top] if state.ordered is None else SUITED_OR_QUEEN[state.ordered])


def may_draw_instead(state: OneOhOneState) -> bool:
    """Return whether a seat that could play may draw (101-DRAW-3)."""
    return state.options.may_draw_instead and state.can_take and not state.covers and bool(state.pile)


def check(state: OneOhOneState, seat: Seat, action: Action) -> None:
    """Raise IllegalAction unless the seat may do this now."""
    if seat != state.turn or seat < 0:
        raise _not_now(state, seat)
    if isinstance(action, Play):
        _check_play(state, seat, action)
    elif action != Draw():
        raise IllegalAction("101-PLAY-1", "play a card, or draw one")
    elif playable(state, state.hands[seat]):
        _check_draw(state)


def _not_now(state: OneOhOneState, seat: Seat) -> IllegalAction:
    match state.phase:
        case "over":
            why = "the game is over, nothing can be played or dealt any more"
            return IllegalAction(END_RULES[state.progress.reason], why)
        case "deal":
            return IllegalAction("101-DEAL-1", "nobody can act before the next deal")
        case "reshuffle":
            return IllegalAction("101-STOCK-3", "nobody can act before the cards are shuffled")
        case _:
            return IllegalAction("101-PLAY-2", f"it is not seat {seat} that is to act but seat {state.turn}")


def _check_play(state: OneOhOneState, seat: Seat, play: Play) -> None:
    """Raise IllegalAction unless the seat holds the card, orders a suit with a queen only, and the card fits."""
    value, hand = play.card, state.hands[seat]
    if not 0 <= value < 52 or not hand >> value & 1:
        raise IllegalAction("101-PLAY-1", "play a card of your own hand")
    if not (play.suit in _SUIT_NUMBERS if IS_QUEEN[value] else play.suit is None):
        raise IllegalAction("101-QUEEN-2", "order one of the four suits with a queen, and none with other cards")
    if not playable(state, hand) >> value & 1:
        raise _misfit(state, value)


def _misfit(state: OneOhOneState, value: Card) -> IllegalAction:
    if not state.pile:
        return IllegalAction("101-LEAD-2", "lead the card that was dealt to you last")
    top = state.pile[-1].card
    if state.covers:
        if IS_QUEEN[value]:
            return IllegalAction("101-SIX-3", f"cover your six with {SUITS[suit_of(top)]}")
        more = ", or a queen" if state.options.queen_covers_six else ""
        return IllegalAction("101-SIX-2", f"cover your six with {SUITS[suit_of(top)]}{more}")
    if state.ordered is not None:
        return IllegalAction("101-QUEEN-3", f"{SUITS[state.ordered]} is ordered: play that suit, or a queen")
    return IllegalAction("101-PLAY-1", f"play the suit or the rank of {NOTATION[top]}, or a queen")


def _check_draw(state: OneOhOneState) -> None:
    """Raise IllegalAction for a seat that could play, but for 101-DRAW-3."""
    if not state.pile:
        raise IllegalAction("101-LEAD-3", "play the first card of the round, you cannot draw")
    if state.covers:
        raise IllegalAction("101-SIX-4", "cover your six, you hold a card that does")
    if not state.options.may_draw_instead:
        raise IllegalAction("101-DRAW-1", "play, you hold a card that fits")
    if not state.can_take:
        raise IllegalAction("101-DRAW-3", "play, there is no card to draw")


END_RULES = {"loser": "101-END-2", "max_rounds": "101-END-4", "one_left": "101-ELIM-1"}
_SUIT_NUMBERS = frozenset(range(4))
