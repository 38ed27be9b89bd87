"""The auction of Solo: bids, the wedding that must be called, the bid that is kept, trump and the called partner."""

from typing import NamedTuple

from croupier.games import facts
from croupier.games.actions import Action, Bid, CallNobody, CallPartner, KeepBid, NameTrump, Pass, YieldBid
from croupier.games.cards import Card, Suit, suit_of
from croupier.games.facts import EVERYONE, Fact, Seat, only
from croupier.games.interface import IllegalAction
from croupier.games.solo import scoring
from croupier.games.solo.deck import ACES, BLACK_QUEENS, CLUBS, ORDER, PLAIN, SPADES, of_rank
from croupier.games.solo.state import (
    BIDS,
    KINDS,
    LADDERS,
    SEATS,
    UNKNOWN_CARD,
    UNSETTLED,
    SoloContract,
    SoloOptions,
    SoloState,
)
from croupier.games.solo.turns import Transition, throw_in, turn, with_call


def legal(state: SoloState) -> tuple[Action, ...]:
    """Return the pass, and every bid that the hand and the bids so far allow (SOLO-BID-3)."""
    hand = state.hand
    possible = _POSSIBLE[state.options.do_over_clubs][_highest(state.calls)]
    return possible[bool(hand & PLAIN[CLUBS])][hand & BLACK_QUEENS == BLACK_QUEENS]


def act(state: SoloState, action: Action) -> Transition:
    """Apply a pass or a bid; the fourth call decides the auction (SOLO-BID-1)."""
    match action:
        case Pass():
            pass
        case Bid(str() as name) if name in KINDS:
            if fault := _fault(LADDERS[state.options.do_over_clubs], name, state.hand, _highest(state.calls)):
                raise fault
        case Bid():
            raise IllegalAction("SOLO-BID-2", f"bid one of {', '.join(KINDS)}")
        case _:
            raise IllegalAction("SOLO-BID-1", "in the auction one passes or bids")
    called, news = with_call(state, action)
    if len(called.calls) < SEATS:
        return turn(called, "auction", (state.to_act + 1) % SEATS, news)
    return _decide(called, news)


def legal_wedding(_: SoloState) -> tuple[Action, ...]:
    """Return the wedding and nothing else (SOLO-WED-2)."""
    return (BIDS["wedding"],)


def act_wedding(state: SoloState, action: Action) -> Transition:
    """Let the holder of both black queens call the wedding that they owe."""
    if action != BIDS["wedding"]:
        raise IllegalAction("SOLO-WED-2", "the holder of both black queens has to bid the wedding now")
    called, news = with_call(state, action)
    return _declare(called, state.to_act, "wedding", news)


def legal_keep(state: SoloState) -> tuple[Action, ...]:
    """Return to yield, and to keep with a club (SOLO-KEEP-2)."""
    return (YieldBid(), KeepBid()) if state.hand & PLAIN[CLUBS] else (YieldBid(),)


def act_keep(state: SoloState, action: Action) -> Transition:
    """Let the overruled bidder take the higher bid or leave it to the other (SOLO-KEEP-2)."""
    if action not in (YieldBid(), KeepBid()):
        raise IllegalAction("SOLO-KEEP-2", "either yield, or keep without any cards or suit")
    if action == KeepBid() and not state.hand & PLAIN[CLUBS]:
        raise IllegalAction("SOLO-KEEP-2", "keeping a bid needs a club other than the Old, so yield")
    called, news = with_call(state, action)
    overruler, bid = _bids(state.calls)[-1]
    return _declare(called, state.to_act if action == KeepBid() else overruler, bid, news)


def _fault(ladder: tuple[str, ...], name: str, hand: int, highest: str) -> IllegalAction | None:
    """Return the refusal of a bid over the highest one so far; None if it is possible."""
    kind = KINDS[name]
    if highest and ladder.index(name) <= ladder.index(highest):
        return IllegalAction("SOLO-BID-4", "bid higher than the highest bid so far, or pass")
    if kind.clubs and not hand & PLAIN[CLUBS]:
        return IllegalAction("SOLO-BID-5", f"{name} needs a club other than the Old")
    both = hand & BLACK_QUEENS == BLACK_QUEENS
    if name == "wedding" and not both:
        return IllegalAction("SOLO-BID-6", "the wedding needs both black queens")
    if name in ("froke", "iss") and both:
        return IllegalAction(
            "SOLO-WED-1", f"with both black queens one cannot bid {name}: bid the wedding, a solo, or pass"
        )
    return None


def _decide(state: SoloState, news: list[Fact]) -> Transition:
    """Apply the first line that fits (SOLO-BID-7)."""
    bids = _bids(state.calls)
    bidder, name = bids[-1] if bids else (None, "")
    married = next((seat for seat, hand in enumerate(state.hands) if hand & BLACK_QUEENS == BLACK_QUEENS), None)
    if name in ("", "froke", "iss") and married is not None:
        return turn(state, "wedding", married, news)
    if bidder is None:
        return throw_in(state, "all_passed", news)
    # The bid before was the highest when this one was made (SOLO-KEEP-3).
    overruled = [seat for seat, earlier in bids[-2:-1] if earlier == KINDS[name].overrules]
    if overruled and (name == "iss" or state.options.solo_keep):
        return turn(state, "keep", overruled[0], news)
    return _declare(state, bidder, name, news)


def _declare(state: SoloState, declarer: Seat, bid: str, news: list[Fact]) -> Transition:
    news.append(facts.ContractChanged(facts.Contract(declarer=declarer, name=bid)))
    state = state._replace(contract=SoloContract(declarer, bid, do=KINDS[bid].do))
    return turn(state, "call" if bid == "wedding" else "name_trump", declarer, news)


def _bids(calls: tuple[facts.Call, ...]) -> list[tuple[Seat, str]]:
    return [(call.seat, str(call.action.bid)) for call in calls if isinstance(call.action, Bid)]


def _highest(calls: tuple[facts.Call, ...]) -> str:
    """Return the highest bid so far, "" if there is none."""
    bids = _bids(calls)
    return bids[-1][1] if bids else ""


def _possible(ladder: tuple[str, ...], highest: str, hand: int) -> tuple[Action, ...]:
    return Pass(), *[BIDS[name] for name in ladder if _fault(ladder, name, hand, highest) is None]


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
    state, news = with_call(state._replace(contract=contract), action)
    amount = scoring.value(state.options, contract, through=False)
    news.append(facts.ContractChanged(facts.Contract(trump=contract.trump, amount=amount)))
    news += map(facts.MarkChanged, contract.marks(through=False))
    news.append(facts.CardOrderChanged(ORDER[action.trump]))
    if contract.secret:
        return turn(state, "call", contract.declarer, news)
    return start_play(state, news)


def legal_calls(state: SoloState) -> tuple[Action, ...]:
    """Return every card that may be called, ascending, or the unknown one, and then nobody where it is possible."""
    calls: list[Action] = [CallPartner(value) for value in _callable(state.contract, state.hand).cards]
    return (*calls, CallNobody()) if _may_call_nobody(state) else tuple(calls)


def call(state: SoloState, action: Action) -> Transition:
    """Make the holder of the called card partner; the last two seats may not be (SOLO-LAST-1, SOLO-LAST-2)."""
    contract, hand = state.contract, state.hand
    if isinstance(action, CallNobody):
        return _call_nobody(state, action)
    if not isinstance(action, CallPartner):
        raise IllegalAction("SOLO-CALL-1", "call a partner now")
    possible = _callable(contract, hand)
    if action.card not in possible.cards:
        raise IllegalAction(possible.rule, possible.advice)
    called = _missing(ACES, contract, hand)[0] if action.card is None else action.card
    partner = next(seat for seat, held in enumerate(state.hands) if held >> called & 1)
    contract = contract._replace(called=called, partner=partner)
    state = state._replace(contract=contract, calls=(*state.calls, facts.Call(contract.declarer, action)))
    news = _facts_of_call(contract, action)
    if scoring.last_two(state.options, state.progress.totals, contract.side):
        return throw_in(state, "last_two", news)
    if not contract.secret:
        return turn(state, "name_trump", partner, news)
    return start_play(state, news)


def _may_call_nobody(state: SoloState) -> bool:
    return state.contract.secret and state.options.may_call_nobody


def _call_nobody(state: SoloState, action: CallNobody) -> Transition:
    """Let the declarer play alone, whichever seats are out (SOLO-CALL-6, SOLO-CALL-7)."""
    if not _may_call_nobody(state):
        why = "a wedding needs one" if state.options.may_call_nobody else "the rules of this table ask for one"
        raise IllegalAction("SOLO-CALL-6", f"call a partner: {why}")
    return start_play(*with_call(state, action))


def start_play(state: SoloState, news: list[Fact]) -> Transition:
    """Let the left neighbour of the dealer lead, or the declarer by option (SOLO-PLAY-1)."""
    leader = state.contract.declarer if state.options.declarer_leads else (state.progress.dealer + 1) % SEATS
    return turn(state, "play", leader, news)


def _facts_of_call(contract: SoloContract, action: CallPartner) -> list[Fact]:
    """Return the facts of a call: an unknown card is known to declarer and holder only (SOLO-CALL-4)."""
    declarer, partner = contract.declarer, contract.partner
    known = facts.ContractChanged(facts.Contract(partner=partner), only(partner) if contract.secret else EVERYONE)
    if action.card is not None:
        return [facts.Called(facts.Call(declarer, action)), known]
    both = only(declarer) | only(partner)
    known_call = facts.Call(declarer, CallPartner(contract.called))
    naming = [facts.Called(facts.Call(declarer, action), ~both), facts.Called(known_call, both)]
    return [*naming, facts.MarkChanged(UNKNOWN_CARD), known]


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
    missing = _missing(ACES, contract, hand)
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


_BELOW_ACES = (of_rank("K"), of_rank("Q")[CLUBS + 1 : SPADES], of_rank("J"))
_POSSIBLE = {
    do_over_clubs: {
        highest: tuple(
            tuple(_possible(ladder, highest, clubs | queens) for queens in (0, BLACK_QUEENS))
            for clubs in (0, PLAIN[CLUBS])
        )
        for highest in ("", *ladder)
    }
    for do_over_clubs, ladder in LADDERS.items()
}
"""The legal calls of the auction, by option, the highest bid so far, whether one has a club, and both black queens."""
