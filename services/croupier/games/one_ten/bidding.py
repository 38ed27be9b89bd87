"""The deal of 110, and the bidding for the right to name the trump suit."""

from functools import lru_cache
from typing import Any

from croupier.games import facts
from croupier.games.actions import Action, Bid, MatchBid, Pass
from croupier.games.cards import Card, Hands, dealt_singly, notation
from croupier.games.facts import Fact, MoveReason, Seat
from croupier.games.hands import hand_of
from croupier.games.interface import CardsShuffled, IllegalAction, Legal
from croupier.games.one_ten import kitty
from croupier.games.one_ten.state import KITTY_CARDS, UNNAMED, Auction, OneTenState, before_first_deal
from croupier.games.one_ten.trumps import TRUMPS

_ORDER = facts.CardOrderChanged(TRUMPS[UNNAMED].order)


def deal(state: OneTenState, event: CardsShuffled) -> tuple[OneTenState, tuple[Fact, ...]]:
    """Begin a round, in which the seat to the left of the dealer speaks first (110-BID-1)."""
    dealer, hands, away, stock = _dealt(state, event)
    options, before = state.options, state.progress
    progress = before._replace(round_number=before.round_number + 1, dealer=dealer)
    fresh, first = before_first_deal(options, progress), (options.clockwise(dealer)[0],)
    dealt = fresh._replace(
        phase="bidding",
        to_act=first,
        hands=tuple(map(hand_of, hands)),
        exchange=fresh.exchange._replace(kitty=away, stock=stock),
    )
    news: list[Fact] = [facts.RoundStarted(progress.round_number, dealer), _ORDER]
    news += facts.hands_dealt(hands)
    news.append(facts.CardsMoved(None, "kitty", (), len(away), MoveReason.DEAL, face_down=True))
    news.append(facts.CardsMoved(None, "stock", (), len(stock), MoveReason.DEAL, face_down=True))
    return dealt, (*news, facts.TurnChanged("bidding", first))


def record(state: OneTenState, event: CardsShuffled) -> dict[str, Any]:
    """Return the deal as a replay has it (110-DEAL-1)."""
    dealer, hands, away, stock = _dealt(state, event)
    written = {"hands": [notation(hand) for hand in hands], "kitty": notation(away), "stock": notation(stock)}
    return {"type": "deal", "dealer": dealer} | written


def _dealt(state: OneTenState, event: CardsShuffled) -> tuple[Seat, Hands, tuple[Card, ...], tuple[Card, ...]]:
    """Return dealer, hands, kitty and stock: single cards from the dealer's left, the kitty last (110-DEAL-4, -5)."""
    options = state.options
    dealer = event.drawn[0] if state.progress.dealer is None else options.clockwise(state.progress.dealer)[0]
    kitty_at = options.seats * options.hand_size
    stock_at = kitty_at + KITTY_CARDS
    hands = dealt_singly(event.cards[:kitty_at], options.seats, dealer)
    return dealer, hands, event.cards[kitty_at:stock_at], event.cards[stock_at:]


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
    call = facts.Call(seat, action)
    news: list[Fact] = [facts.Called(call)]
    if auction.bidder == seat:
        news.append(facts.ContractChanged(facts.Contract(declarer=seat, amount=auction.amount)))
    state = state._replace(auction=auction._replace(calls=(*auction.calls, call)))
    speaker = None if ends else _next_speaker(state, seat)
    if speaker is None:
        return kitty.begin(state, news)
    return state._replace(to_act=(speaker,)), (*news, facts.TurnChanged("bidding", (speaker,)))


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
