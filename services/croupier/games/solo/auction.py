"""The auction of Solo: bids, the declarer, the wedding that must be called, the bid that is kept."""

from croupier.games.actions import Action, Bid, KeepBid, Pass, YieldBid
from croupier.games.facts import Call, Called, Contract, ContractChanged, Fact, Seat
from croupier.games.interface import IllegalAction
from croupier.games.solo.deck import BLACK_QUEENS, CLUBS, PLAIN
from croupier.games.solo.state import BIDS, KINDS, SEATS, SoloContract, SoloState
from croupier.games.solo.turns import Transition, throw_in, turn


def legal(state: SoloState) -> tuple[Action, ...]:
    """Return the pass, and every bid that the hand and the bids so far allow (SOLO-BID-3)."""
    hand = state.hand
    return _POSSIBLE[_highest(state.calls)][bool(hand & PLAIN[CLUBS])][hand & BLACK_QUEENS == BLACK_QUEENS]


def act(state: SoloState, action: Action) -> Transition:
    """Apply a pass or a bid; the fourth call decides the auction (SOLO-BID-1)."""
    match action:
        case Pass():
            pass
        case Bid(str() as name) if name in KINDS:
            if fault := _fault(name, state.hand, _highest(state.calls)):
                raise fault
        case Bid():
            raise IllegalAction("SOLO-BID-2", f"bid one of {', '.join(KINDS)}")
        case _:
            raise IllegalAction("SOLO-BID-1", "in the auction one passes or bids")
    called = _with_call(state, action)
    if len(called.calls) < SEATS:
        return turn(called, "auction", (state.to_act + 1) % SEATS, [Called(called.calls[-1])])
    return _decide(called, [Called(called.calls[-1])])


def legal_wedding(_: SoloState) -> tuple[Action, ...]:
    """Return the wedding and nothing else (SOLO-WED-2)."""
    return (BIDS["wedding"],)


def act_wedding(state: SoloState, action: Action) -> Transition:
    """Let the holder of both black queens call the wedding that they owe."""
    if action != BIDS["wedding"]:
        raise IllegalAction("SOLO-WED-2", "the holder of both black queens has to bid the wedding now")
    called = _with_call(state, action)
    return _declare(called, state.to_act, "wedding", [Called(called.calls[-1])])


def legal_keep(state: SoloState) -> tuple[Action, ...]:
    """Return to yield, and to keep with a club (SOLO-KEEP-2)."""
    return (YieldBid(), KeepBid()) if state.hand & PLAIN[CLUBS] else (YieldBid(),)


def act_keep(state: SoloState, action: Action) -> Transition:
    """Let the overruled bidder take the higher bid or leave it to the other (SOLO-KEEP-2)."""
    if action not in (YieldBid(), KeepBid()):
        raise IllegalAction("SOLO-KEEP-2", "either yield, or keep without any cards or suit")
    if action == KeepBid() and not state.hand & PLAIN[CLUBS]:
        raise IllegalAction("SOLO-KEEP-2", "keeping a bid needs a club other than the Old, so yield")
    called = _with_call(state, action)
    overruler, bid = _bids(state.calls)[-1]
    return _declare(called, state.to_act if action == KeepBid() else overruler, bid, [Called(called.calls[-1])])


def _fault(name: str, hand: int, highest: int) -> IllegalAction | None:
    """Return the refusal of a bid over the highest rank so far; None if it is possible."""
    kind = KINDS[name]
    if kind.rank <= highest:
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


def _decide(state: SoloState, facts: list[Fact]) -> Transition:
    """Apply the first line that fits (SOLO-BID-7)."""
    bids = _bids(state.calls)
    bidder, name = bids[-1] if bids else (None, "")
    married = next((seat for seat, hand in enumerate(state.hands) if hand & BLACK_QUEENS == BLACK_QUEENS), None)
    if name in ("", "froke", "iss") and married is not None:
        return turn(state, "wedding", married, facts)
    if bidder is None:
        return throw_in(state, "all_passed", facts)
    overruled = next((seat for seat, earlier in bids if earlier == KINDS[name].overrules), None)
    if overruled is not None and (name == "iss" or state.options.solo_keep):
        return turn(state, "keep", overruled, facts)
    return _declare(state, bidder, name, facts)


def _declare(state: SoloState, declarer: Seat, bid: str, facts: list[Fact]) -> Transition:
    facts.append(ContractChanged(Contract(declarer=declarer, name=bid)))
    state = state._replace(contract=SoloContract(declarer, bid, do=KINDS[bid].do))
    return turn(state, "call" if bid == "wedding" else "name_trump", declarer, facts)


def _with_call(state: SoloState, action: Action) -> SoloState:
    return state._replace(calls=(*state.calls, Call(state.to_act, action)))


def _bids(calls: tuple[Call, ...]) -> list[tuple[Seat, str]]:
    return [(call.seat, str(call.action.bid)) for call in calls if isinstance(call.action, Bid)]


def _highest(calls: tuple[Call, ...]) -> int:
    """Return the rank of the highest bid so far, 0 if there is none."""
    bids = _bids(calls)
    return KINDS[bids[-1][1]].rank if bids else 0


def _possible(highest: int, hand: int) -> tuple[Action, ...]:
    return Pass(), *[bid for name, bid in BIDS.items() if _fault(name, hand, highest) is None]


_POSSIBLE = tuple(
    tuple(tuple(_possible(highest, clubs | queens) for queens in (0, BLACK_QUEENS)) for clubs in (0, PLAIN[CLUBS]))
    for highest in range(len(KINDS) + 1)
)
"""The legal calls of the auction, by the highest rank so far, whether one has a club, and both black queens."""
