"""Naming trump and calling a partner in Solo."""

from typing import NamedTuple

from croupier.games import facts
from croupier.games.actions import Action, CallPartner, NameTrump
from croupier.games.cards import Card, Suit, suit_of
from croupier.games.facts import EVERYONE, Call, Called, Fact, only
from croupier.games.interface import IllegalAction
from croupier.games.solo import scoring
from croupier.games.solo.deck import CLUBS, ORDER, PLAIN, SPADES, of_rank
from croupier.games.solo.state import SEATS, UNSETTLED, SoloContract, SoloOptions, SoloState
from croupier.games.solo.turns import Transition, throw_in, turn


def legal_trumps(state: SoloState) -> tuple[Action, ...]:
    """Return every suit that may be named, without and with a do."""
    contract, hand = state.contract, state.hand
    dos = (False, True) if _may_do(state.options, contract) else (False,)
    return tuple([NameTrump(suit, do) for suit in _suits(state.options, contract, hand) for do in dos])


def name_trump(state: SoloState, action: Action) -> Transition:
    """Name trump, and perhaps a do (SOLO-TRUMP-1); then the partner is called or play begins."""
    if not isinstance(action, NameTrump):
        raise IllegalAction("SOLO-TRUMP-1", "name trump now")
    _check_trump(state, action)
    contract = state.contract._replace(trump=action.trump, do=action.all_tricks or state.contract.do)
    naming = Call(state.to_act, action)
    state = state._replace(contract=contract, calls=(*state.calls, naming))
    amount = scoring.value(state.options, contract, through=False)
    news: list[Fact] = [Called(naming), facts.ContractChanged(facts.Contract(trump=contract.trump, amount=amount))]
    news += [facts.MarkChanged(facts.Mark(name, None, value)) for name, value in contract.pledges(through=False)]
    news.append(facts.CardOrderChanged(ORDER[action.trump]))
    if contract.secret:
        return turn(state, "call", contract.declarer, news)
    return start_play(state, news)


def legal_calls(state: SoloState) -> tuple[Action, ...]:
    """Return every card that may be called, ascending, or the unknown one."""
    return tuple([CallPartner(value) for value in _callable(state.contract, state.hand).cards])


def call(state: SoloState, action: Action) -> Transition:
    """Make the holder of the called card partner; the last two seats may not be (SOLO-LAST-1, SOLO-LAST-2)."""
    contract, hand = state.contract, state.hand
    if not isinstance(action, CallPartner):
        raise IllegalAction("SOLO-CALL-1", "call a partner now")
    possible = _callable(contract, hand)
    if action.card not in possible.cards:
        raise IllegalAction(possible.rule, possible.advice)
    called = _missing(_ACES, contract, hand)[0] if action.card is None else action.card
    partner = next(seat for seat, held in enumerate(state.hands) if held >> called & 1)
    contract = contract._replace(called=called, partner=partner)
    state = state._replace(contract=contract, calls=(*state.calls, Call(contract.declarer, action)))
    news = _facts_of_call(contract, action)
    if scoring.last_two(state.options, state.progress.totals, contract.side):
        return throw_in(state, "last_two", news)
    if not contract.secret:
        return turn(state, "name_trump", partner, news)
    return start_play(state, news)


def start_play(state: SoloState, news: list[Fact]) -> Transition:
    """Let the left neighbour of the dealer lead, or the declarer by option (SOLO-PLAY-1)."""
    leader = state.contract.declarer if state.options.declarer_leads else (state.progress.dealer + 1) % SEATS
    return turn(state, "play", leader, news)


def _facts_of_call(contract: SoloContract, action: CallPartner) -> list[Fact]:
    """Return the facts of a call: an unknown card is known to declarer and holder only (SOLO-CALL-4)."""
    declarer, partner = contract.declarer, contract.partner
    known = facts.ContractChanged(facts.Contract(partner=partner), only(partner) if contract.secret else EVERYONE)
    if action.card is not None:
        return [Called(Call(declarer, action)), known]
    both = only(declarer) | only(partner)
    known_call = Call(declarer, CallPartner(contract.called))
    naming = [Called(Call(declarer, action), ~both), Called(known_call, both)]
    return [*naming, facts.MarkChanged(facts.Mark("called_card", None, "unknown")), known]


def _suits(options: SoloOptions, contract: SoloContract, hand: int) -> list[Suit]:
    """Return the suits that may be trump (SOLO-TRUMP-2, SOLO-TRUMP-3, SOLO-WED-6)."""
    if contract.kind.clubs:
        return [CLUBS]
    held = [suit for suit in range(4) if hand & PLAIN[suit]]
    if contract.called == UNSETTLED or options.wedding_any_suit:
        return held
    return [suit for suit in held if suit != suit_of(contract.called)] or held


def _may_do(options: SoloOptions, contract: SoloContract) -> bool:
    return contract.kind.partner and options.partner_do


def _check_trump(state: SoloState, action: NameTrump) -> None:
    """Raise IllegalAction with the rule that speaks against a trump or a do."""
    contract, hand = state.contract, state.hand
    if action.trump not in _suits(state.options, contract, hand):
        if contract.kind.clubs:
            raise IllegalAction("SOLO-TRUMP-2", f"after {contract.bid} clubs are trump")
        if not 0 <= action.trump < 4 or not hand & PLAIN[action.trump]:
            raise IllegalAction("SOLO-TRUMP-3", "name a suit of which you hold a card other than a black queen")
        raise IllegalAction("SOLO-WED-6", "the suit of the called card cannot be trump as you hold another suit")
    if action.all_tricks and not _may_do(state.options, contract):
        why = (
            "a do with a partner is not played at this table"
            if contract.kind.partner
            else "the bid says whether it is a do"
        )
        raise IllegalAction("SOLO-TRUMP-4", f"name trump without a do: {why}")


class _Callable(NamedTuple):
    """The cards that may be called, None for the unknown one, by which rule, and the advice to a caller of another."""

    rule: str
    advice: str
    cards: tuple[Card | None, ...]


def _callable(contract: SoloContract, hand: int) -> _Callable:
    """Return the cards that may be called, by the one rule that applies (SOLO-CALL-1)."""
    missing = _missing(_ACES, contract, hand)
    if not missing:
        return _Callable(
            "SOLO-CALL-3",
            "you hold the aces: call a king that you lack, else a queen, else a jack, not of trump and no black queen",
            next(lacked for rank in _BELOW_ACES if (lacked := _missing(rank, contract, hand))),
        )
    supported = tuple([ace for ace in missing if hand & PLAIN[suit_of(ace)]])
    if supported:
        return _Callable("SOLO-CALL-2", "call an ace that you lack, not of trump, of a suit that you hold", supported)
    if len(missing) == 1 and contract.secret:
        return _Callable(
            "SOLO-CALL-4", "call the unknown card: one ace is missing and you have no card of its suit", (None,)
        )
    return _Callable("SOLO-CALL-5", "call any ace that you lack, not of trump", missing)


def _missing(rank: tuple[Card, ...], contract: SoloContract, hand: int) -> tuple[Card, ...]:
    """Return the cards of a rank in suits other than trump that are not in the hand."""
    return tuple([value for value in rank if suit_of(value) != contract.trump and not hand >> value & 1])


_ACES = of_rank("A")
_BELOW_ACES = (of_rank("K"), of_rank("Q")[CLUBS + 1 : SPADES], of_rank("J"))
