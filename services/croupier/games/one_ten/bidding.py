"""The bidding of 110 for the right to name the trump suit."""

from functools import lru_cache

from croupier.games.actions import Action, Bid, MatchBid, Pass
from croupier.games.facts import Call, Called, Contract, ContractChanged, Fact, Seat, TurnChanged
from croupier.games.interface import IllegalAction, Legal
from croupier.games.one_ten import kitty
from croupier.games.one_ten.state import Auction, OneTenState


def legal(state: OneTenState, seat: Seat) -> Legal:
    """Return the bids ascending, then a match, then a pass."""
    return _calls(state.options.ladder, state.auction.amount, seat == state.progress.dealer)


@lru_cache(maxsize=256)
def _calls(ladder: range, standing: int, is_dealer: bool) -> Legal:
    bids = tuple(Bid(amount) for amount in ladder if amount > standing)
    if not is_dealer:
        return Legal((*bids, Pass()))
    return Legal((*bids, MatchBid(), Pass()) if standing else bids)


def act(state: OneTenState, seat: Seat, action: Action) -> tuple[OneTenState, tuple[Fact, ...]]:
    """Apply a call of the seat whose turn it is; raises IllegalAction."""
    auction, ends = _after_call(state, seat, action)
    call = Call(seat, action)
    facts: list[Fact] = [Called(call)]
    if auction.bidder == seat:
        facts.append(ContractChanged(Contract(declarer=seat, amount=auction.amount)))
    state = state._replace(auction=auction._replace(calls=(*auction.calls, call)))
    speaker = None if ends else _next_speaker(state, seat)
    if speaker is None:
        return kitty.begin(state, facts)
    return state._replace(to_act=(speaker,)), (*facts, TurnChanged("bidding", (speaker,)))


def _after_call(state: OneTenState, seat: Seat, action: Action) -> tuple[Auction, bool]:
    """Return the auction without the call itself, and whether the call ends it (110-BID-6)."""
    auction, is_dealer = state.auction, seat == state.progress.dealer
    match action:
        case Bid(amount):
            return auction._replace(bidder=seat, amount=_checked(state, amount)), False
        case MatchBid() if not is_dealer:
            raise IllegalAction("110-BID-5", "only the dealer can match: bid more, or pass")
        case MatchBid() | Pass() if is_dealer and not auction.amount:
            raise IllegalAction("110-BID-7", "all others have passed: the dealer has to bid")
        case MatchBid():
            return auction._replace(bidder=seat), state.options.match_wins
        case Pass():
            return auction._replace(passed=auction.passed | 1 << seat), False
        case _:
            raise IllegalAction("110-BID-3", f"{type(action).__name__} is not possible in the bidding: bid or pass")


def _checked(state: OneTenState, amount: int | str) -> int:
    """Return an amount that may be bid now; raises IllegalAction (110-BID-2, 110-BID-3)."""
    ladder, standing = state.options.ladder, state.auction.amount
    if type(amount) is not int or amount not in ladder:
        raise IllegalAction("110-BID-2", f"a bid is one of {', '.join(map(str, ladder))}")
    if amount <= standing:
        raise IllegalAction("110-BID-3", f"bid more than {standing}, or pass")
    return amount


def _next_speaker(state: OneTenState, caller: Seat) -> Seat | None:
    """Return the first contender clockwise from the caller, None if the bidding is over (110-BID-8, 110-BID-9)."""
    auction, topped = state.auction, state.auction.amount == state.options.ladder[-1]
    for seat in state.options.clockwise(caller):
        contends = seat != auction.bidder and not auction.passed >> seat & 1
        if contends and (not topped or seat == state.progress.dealer):
            return seat
    return None
