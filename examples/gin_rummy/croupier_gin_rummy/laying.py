"""Melds on the table after a knock: the knocker lays theirs, then the defender lays theirs and lays cards off."""

from collections.abc import Iterator

from croupier.games import facts
from croupier.games.actions import Action, Declare, Lay
from croupier.games.cards import Card, cards_of_mask, mask_of
from croupier.games.facts import LAID, Fact, MoveReason, OwnedPile, Seat
from croupier.games.interface import IllegalAction
from croupier_gin_rummy import scoring
from croupier_gin_rummy.melds import RUN, SET, extends, is_run, is_set, least_deadwood, melds_in, points_of
from croupier_gin_rummy.state import MELD_NAMES, GinState, Melds, other

DONE = Declare("done")
_FORMS = {SET: (is_set, "GIN-MELD-1"), RUN: (is_run, "GIN-MELD-2")}
"""By the name of a meld: what it is, and the rule for cards that are none."""


def actions(state: GinState) -> tuple[Action, ...]:
    """Return all that the seat to act may lay, and whether it may be done."""
    laid: list[Action] = [*_new_melds(state)]
    if state.phase == "lay_off":
        laid += _lay_offs(state)
    if _may_be_done(state):
        laid.append(DONE)
    return tuple(laid)


def _new_melds(state: GinState) -> Iterator[Lay]:
    hand = state.hands[state.turn]
    for meld in melds_in(hand):
        if state.phase == "lay_off" or least_deadwood(hand ^ meld.mask) <= state.allowed_deadwood:
            yield Lay(cards_of_mask(meld.mask), meld.name)


def _lay_offs(state: GinState) -> Iterator[Lay]:
    """Yield each card for each meld of the knocker that it extends; none after gin (GIN-OFF-2)."""
    if state.knock != "knock":
        return
    for name, meld in zip(MELD_NAMES, state.melds[state.knocker], strict=False):
        laid = tuple(lying.card for lying in meld)
        for card in cards_of_mask(state.hands[state.turn]):
            if extends(card, laid):
                yield Lay((card,), "", name, state.knocker)


def _may_be_done(state: GinState) -> bool:
    return state.phase == "lay_off" or points_of(state.hands[state.turn]) <= state.allowed_deadwood


def lay(state: GinState, action: Action, news: list[Fact]) -> GinState:
    """Return the table after a meld, a lay-off or *done*; raises IllegalAction."""
    if action == DONE:
        if not _may_be_done(state):
            raise IllegalAction("GIN-LAY-4", f"lay more melds, until no more than {state.allowed_deadwood} is left")
        return _finished(state, news)
    if not isinstance(action, Lay):
        raise _malformed(state)
    is_lay_off = action.pile or action.owner is not None
    state = _laid_off(state, action, news) if is_lay_off else _melded(state, action, news)
    # A player with nothing more to lay is done (GIN-LAY-5).
    if any(isinstance(possible, Lay) for possible in actions(state)):
        news.append(facts.TurnChanged(state.phase, (state.turn,)))
        return state
    return _finished(state, news)


def _malformed(state: GinState) -> IllegalAction:
    if state.phase == "lay":
        return IllegalAction("GIN-LAY-1", "lay a set or a run, or say that you are done")
    return IllegalAction("GIN-OFF-1", "lay a set or a run, lay a card off on a meld of the knocker, or be done")


def _melded(state: GinState, action: Lay, news: list[Fact]) -> GinState:
    """Return the table with a new meld (GIN-LAY-1, GIN-LAY-2, GIN-LAY-3)."""
    seat, cards = state.turn, tuple(sorted(action.cards))
    if action.meld not in _FORMS:
        raise _malformed(state)
    _check_held(state, cards)
    is_meld, rule = _FORMS[action.meld]
    if not cards or not is_meld(cards):
        raise IllegalAction(rule, f"these cards are no {action.meld}")
    left = least_deadwood(state.hands[seat] ^ mask_of(cards))
    if state.phase == "lay" and left > state.allowed_deadwood:
        raise IllegalAction("GIN-LAY-3", f"{left} would be left at least, more than {state.allowed_deadwood}")
    return _moved(state, cards, seat, len(state.melds[seat]), news)


def _check_held(state: GinState, cards: tuple[Card, ...]) -> None:
    hand = state.hands[state.turn]
    if len(set(cards)) < len(cards) or not all(card >= 0 and hand >> card & 1 for card in cards):
        raise IllegalAction("GIN-LAY-2", "lay different cards of your own hand")


def _laid_off(state: GinState, action: Lay, news: list[Fact]) -> GinState:
    """Return the table with a card laid off on a meld of the knocker (GIN-OFF-1, GIN-OFF-2, GIN-OFF-3)."""
    piles = MELD_NAMES[: len(state.melds[state.knocker])]
    has_form = len(action.cards) == 1 and not action.meld and action.owner == state.knocker and action.pile in piles
    if state.phase == "lay" or not has_form:
        raise _malformed(state)
    if state.knock != "knock":
        raise IllegalAction("GIN-OFF-2", "nothing is laid off on gin")
    _check_held(state, action.cards)
    number = piles.index(action.pile)
    if not extends(action.cards[0], tuple(lying.card for lying in state.melds[state.knocker][number])):
        raise IllegalAction("GIN-OFF-3", "this card does not extend that meld")
    return _moved(state, action.cards, state.knocker, number, news)


def _moved(state: GinState, cards: tuple[Card, ...], owner: Seat, number: int, news: list[Fact]) -> GinState:
    """Return the table with cards of the seat to act on a meld of an owner, which may be a new one."""
    seat, melds = state.turn, state.melds[owner]
    news.append(facts.CardsMoved(seat, OwnedPile(MELD_NAMES[number], owner), cards, len(cards), MoveReason.LAY))
    grown = (*melds[number : number + 1], ())[0] + tuple(LAID[seat][card] for card in cards)
    owned: Melds = (*melds[:number], grown, *melds[number + 1 :])
    all_melds = (owned, state.melds[1]) if owner == 0 else (state.melds[0], owned)
    return state.with_hand(seat, state.hands[seat] ^ mask_of(cards))._replace(melds=all_melds)


def _finished(state: GinState, news: list[Fact]) -> GinState:
    """Return the table after a seat is done: the defender's turn, or the end of the hand."""
    if state.phase == "lay":
        state = state._replace(phase="lay_off", turn=other(state.turn))
        if any(isinstance(possible, Lay) for possible in actions(state)):
            news.append(facts.TurnChanged("lay_off", (state.turn,)))
            return state
    return scoring.won(state, news)
