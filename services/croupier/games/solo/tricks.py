"""The tricks of Solo: playable cards, the duties around the called card, winners, and the end of a hand."""

from typing import NamedTuple

from croupier.games import facts
from croupier.games.actions import PLAYS, Action, Play, ThrowDown
from croupier.games.cards import Card, cards_of_mask
from croupier.games.facts import LAID, Fact, MoveReason
from croupier.games.interface import IllegalAction
from croupier.games.solo import scoring
from croupier.games.solo.deck import FOLLOWING, PLAIN, taking
from croupier.games.solo.state import SEATS, THROUGH, SoloContract, SoloState, called_card
from croupier.games.solo.turns import Transition, finish, with_call

FOUR_TRICKS, FIVE_TRICKS = 4 * SEATS, 5 * SEATS
"""The number of their cards."""


class _Playable(NamedTuple):
    """The cards that may be played as a bit set, and for any other card of the hand the rule and the way out."""

    cards: int
    rule: str = "SOLO-PLAY-2"
    advice: str = "follow suit: play a card of the suit that was led"


def legal(state: SoloState) -> tuple[Action, ...]:
    """Return the cards that may be played, ascending, and throwing down where it may be chosen."""
    plays: list[Action] = [PLAYS[value] for value in cards_of_mask(_playable(state).cards)]
    if _may_throw_down(state):
        plays.append(ThrowDown())
    return tuple(plays)


def act(state: SoloState, action: Action) -> Transition:
    """Play a card, or throw the hand down after five tricks out of five."""
    if isinstance(action, Play):
        _check(state, action)
        return _play(state, action.card)
    if not isinstance(action, ThrowDown):
        raise IllegalAction("SOLO-PLAY-1", "play a card now")
    if not _may_throw_down(state):
        raise IllegalAction(
            "SOLO-THROUGH-1", "throwing down is for the lead to the sixth trick after five out of five, without a do"
        )
    called, news = with_call(state, action)
    news += [facts.HandRevealed(seat, cards_of_mask(called.hands[seat])) for seat in called.shown_seats]
    return finish(called, True, "thrown_down", news)


def _check(state: SoloState, action: Play) -> None:
    """Raise IllegalAction; which one depends on nothing but what the acting seat knows."""
    card, hand, playable = action.card, state.hand, _playable(state)
    if action.suit is not None:
        raise IllegalAction("SOLO-PLAY-2", "play a card alone: no suit is ordered with it")
    if not 0 <= card < 52 or not hand >> card & 1:
        raise IllegalAction("SOLO-PLAY-2", "play a card of your own hand")
    if not playable.cards >> card & 1:
        raise IllegalAction(playable.rule, playable.advice)


def _playable(state: SoloState) -> _Playable:
    """Return the playable cards by the rules of following (SOLO-PLAY-2), and the duties around the called card."""
    seat, contract = state.to_act, state.contract
    hand = state.hands[seat]
    following = hand & FOLLOWING[contract.trump][state.trick[0].card] if state.trick else 0
    if state.called_card_binds:
        if seat == contract.partner and state.options.forced:
            return _of_holder(state, hand, following)
        if seat == contract.declarer and state.trick and not following:
            return _of_declarer(contract, hand)
    return _Playable(following or hand)


def _of_holder(state: SoloState, hand: int, following: int) -> _Playable:
    """Return the playable cards of the holder of the called card (SOLO-CARD-1, -2, -3, -7)."""
    called, suit = _called(state.contract)
    if state.trick and suit >> state.trick[0].card & 1:
        return _Playable(called, "SOLO-CARD-1", "the suit of the called card was led: play the called card")
    allowed = following or hand
    if len(state.taken) == FOUR_TRICKS and allowed & called:
        return _Playable(called, "SOLO-CARD-3", "this is the fifth trick: play the called card")
    if not state.trick:
        return _Playable(hand & ~suit | called, "SOLO-CARD-2", "of the suit of the called card lead that card only")
    return _Playable(allowed)


def _of_declarer(contract: SoloContract, hand: int) -> _Playable:
    """Return the playable cards of a declarer who cannot follow: not the last one of the called suit (SOLO-CARD-5)."""
    _, suit = _called(contract)
    if (hand & suit).bit_count() != 1:
        return _Playable(hand)
    return _Playable(
        hand & ~suit, "SOLO-CARD-5", "keep your only card of the called suit until the called card is played"
    )


def _called(contract: SoloContract) -> tuple[int, int]:
    return 1 << contract.called, PLAIN[contract.called // 13]


def _may_throw_down(state: SoloState) -> bool:
    """Return whether the lead to the sixth trick follows five tricks out of five and no do (SOLO-THROUGH-1)."""
    if len(state.taken) != FIVE_TRICKS or state.trick or state.contract.do:
        return False
    return _side_tricks(state) == 5


def _side_tricks(state: SoloState) -> int:
    contract, tricks = state.contract, state.tricks
    return tricks[contract.declarer] + (tricks[contract.partner] if contract.partner >= 0 else 0)


def _play(state: SoloState, card: Card) -> Transition:
    seat = state.to_act
    news: list[Fact] = [_PLAYED[seat][card]]
    if state.partner_hidden and card == state.contract.called:
        # All see the partner (SOLO-CARD-4), and a card that was unknown.
        news.append(facts.ContractChanged(facts.Contract(partner=state.contract.partner)))
        if state.is_called_unknown:
            news.append(facts.MarkChanged(called_card(card)))
    if _may_throw_down(state):
        # After five out of five all eight are needed now (SOLO-THROUGH-3).
        state = state._replace(through=True)
        news.append(facts.MarkChanged(THROUGH))
        value = scoring.value(state.options, state.contract, through=True)
        news.append(facts.ContractChanged(facts.Contract(amount=value)))
    hands = (*state.hands[:seat], state.hands[seat] ^ (1 << card), *state.hands[seat + 1 :])
    trick, following = (*state.trick, LAID[seat][card]), (seat + 1) % SEATS
    state = state._replace(to_act=following, hands=hands, trick=trick)
    return (state, (*news, _TURN[following])) if len(trick) < SEATS else _resolve(state, news)


def _resolve(state: SoloState, news: list[Fact]) -> Transition:
    """Move a complete trick to its winner; the hand may stop."""
    seat = (state.to_act + taking(state.contract.trump, state.trick)) % SEATS
    news.append(facts.CardsMoved("trick", "taken", tuple([laid.card for laid in state.trick]), SEATS, MoveReason.WIN))
    news.append(_TAKEN[seat])
    tricks = (*state.tricks[:seat], state.tricks[seat] + 1, *state.tricks[seat + 1 :])
    state = state._replace(trick=(), taken=state.taken + state.trick, tricks=tricks)
    if stopped := _stopped(state):
        return finish(state, *stopped, news)
    return state._replace(to_act=seat), (*news, _TURN[seat])


def _stopped(state: SoloState) -> tuple[bool, str] | None:
    """Return whether the hand is made and why it stops after a trick; None if it goes on (SOLO-STOP-1 to -4)."""
    played = len(state.taken)
    if played == FIVE_TRICKS and state.called_card_binds:
        return False, "called_card_unplayed"
    if state.partner_hidden:
        return None
    own = _side_tricks(state)
    lost = played // SEATS - own
    if state.contract.do or state.through:
        return (False, "trick_lost") if lost else (True, "all_tricks") if own == 8 else None
    if lost >= 4:
        return False, "four_tricks"
    return (True, "five_tricks") if own >= 5 and lost else None


_PLAYED, _TURN = facts.plays_to("trick"), facts.turns_of("play")
_TAKEN = tuple(facts.TrickTaken(seat) for seat in range(SEATS))
