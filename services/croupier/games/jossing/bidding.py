"""The bidding of Jøssing."""

from croupier.games.actions import Action, Bid, Play
from croupier.games.facts import Call, Called, Fact, Seat, TurnChanged, all_but, only
from croupier.games.interface import IllegalAction, Legal
from croupier.games.jossing import scoring
from croupier.games.jossing.state import MAX_CARDS, JossingState, SeatBid


def legal_bids(state: JossingState) -> Legal:
    """Return the amounts that the seats to bid may bid, ascending."""
    return Legal(tuple([bid for bid in _BIDS[: state.section.size + 1] if bid.bid != _barred(state)]))


def bid(before: JossingState, seat: Seat, action: Action) -> tuple[JossingState, tuple[Fact, ...]]:
    """Return the state after a bid, and its facts; raises IllegalAction."""
    amount = _checked(before, seat, action)
    bids = (*before.bids, SeatBid(seat, amount))
    bidders = tuple([other for other in before.bidders if other != seat])
    if bidders:
        hidden, own = Called(Call(seat, None), all_but(seat)), Called(Call(seat, _BIDS[amount]), only(seat))
        return before._replace(bids=bids, bidders=bidders), (hidden, own, TurnChanged("bid", bidders))
    earlier = before.bids if before.has_secret_bids else ()
    revealed = [Called(Call(other, _BIDS[said]), all_but(other)) for other, said in earlier]
    facts: list[Fact] = [*revealed, Called(Call(seat, _BIDS[amount]))]
    state, options, dealer = before._replace(bids=bids, bidders=()), before.options, before.section.dealer
    if len(bids) < options.seats:
        # With the hook the dealer bids when all others have (JOS-BID-6).
        return state._replace(bidders=(dealer,)), (*facts, TurnChanged("bid", (dealer,)))
    leader = first_leader(state)
    return state._replace(queue=options.clockwise(leader)), (*facts, TurnChanged("play", (leader,)))


def first_leader(state: JossingState) -> Seat:
    """Return the leader of the first trick, when all have bid (JOS-LEAD-1 to -3)."""
    options = state.options
    order = options.from_left_of(state.section.dealer)
    return scoring.first_leader(state.amounts, order, options.highest_bidder_leads)


def _barred(state: JossingState) -> int:
    """Return the bid that the hook forbids to the dealer, once the others have bid (JOS-BID-7); else -1."""
    if not state.options.hook or state.bidders != (state.section.dealer,):
        return -1
    return state.section.size - sum(amount for _, amount in state.bids)


def _checked(state: JossingState, seat: Seat, action: Action) -> int:
    """Return the amount; every refusal depends only on what the acting seat knows."""
    if isinstance(action, Play) and action.suit is None:
        raise IllegalAction("JOS-BID-1", "bid first: cards are played when all have bid")
    if not isinstance(action, Bid) or isinstance(action.bid, str):
        raise IllegalAction("JOS-ACT-1", "the only actions are to bid and to play a card, without naming a suit")
    if seat not in state.bidders:
        if not 0 <= seat < state.options.seats:
            raise IllegalAction("JOS-BID-1", f"there is no seat {seat} at this table")
        if any(bid.seat == seat for bid in state.bids):
            raise IllegalAction("JOS-BID-3", "you have bid, and that is final: wait for the bids of the others")
        raise IllegalAction("JOS-BID-6", "the dealer bids when the others have bid")
    amount, size = action.bid, state.section.size
    if type(amount) is not int or not 0 <= amount <= size:
        raise IllegalAction("JOS-BID-2", f"bid a number of tricks from 0 to {size}")
    if amount == _barred(state):
        raise IllegalAction("JOS-BID-7", f"bid anything but {amount}: the bids may not add up to {size}")
    return amount


_BIDS = tuple(Bid(amount) for amount in range(MAX_CARDS + 1))
