"""A section of Jøssing: the deal, the bids, the tricks, and the end."""

from typing import Any

from croupier.games import facts
from croupier.games.actions import PLAYS, Action, Bid, Play
from croupier.games.cards import NOTATION, Card, Hands, cards_of_mask, dealt_singly, notation
from croupier.games.facts import LAID, Fact, MoveReason, Seat
from croupier.games.hands import ONCE, SUIT_OF, hand_of, without
from croupier.games.interface import CardsShuffled, IllegalAction, Legal
from croupier.games.jossing import scoring
from croupier.games.jossing.state import MAX_CARDS, JossingState, SeatBid, Section
from croupier.games.jossing.view import marks

END_REASON = "sections_played"


def deal(before: JossingState, event: CardsShuffled) -> tuple[JossingState, tuple[Fact, ...]]:
    """Return the state after a deal, and its facts: each seat sees its own hand, all see the indicator."""
    (section, dealt), options = _dealt(before, event), before.options
    others = tuple([seat for seat in range(options.seats) if seat != section.dealer])
    bidders = others if options.hook else tuple(range(options.seats))
    hands, none = tuple(map(hand_of, dealt)), (0,) * options.seats
    state = JossingState(options, section, before.totals, hands, bidders, won=none)
    news: list[Fact] = [facts.RoundStarted(section.number, section.dealer)]
    news += facts.hands_dealt(dealt)
    news.append(facts.CardsMoved(None, "indicator", (section.indicator,), 1, MoveReason.DEAL))
    news.append(facts.ContractChanged(facts.Contract(trump=section.trump)))
    return state, (*news, *map(facts.MarkChanged, marks(state)), facts.TurnChanged("bid", bidders))


def record(state: JossingState, event: CardsShuffled) -> dict[str, Any]:
    """Return the deal as JOS-DEAL-4 writes it."""
    section, hands = _dealt(state, event)
    return {"type": "deal", "hands": list(map(notation, hands)), "trump": NOTATION[section.indicator]}


def _dealt(state: JossingState, event: CardsShuffled) -> tuple[Section, Hands]:
    """Deal one card at a time clockwise from the dealer's left (JOS-DEAL-2, JOS-DEAL-3)."""
    options, number = state.options, state.section.number + 1
    last = options.seats * options.size(number)
    hands = dealt_singly(event.cards[:last], options.seats, options.dealer(number))
    return Section.of(options, number, event.cards[last]), hands


def legal_bids(state: JossingState) -> Legal:
    """Return the amounts that the seats to bid may bid, ascending."""
    return Legal(tuple([bid for bid in _BIDS[: state.section.size + 1] if bid.bid != _barred(state)]))


def bid(before: JossingState, seat: Seat, action: Action) -> tuple[JossingState, tuple[Fact, ...]]:
    """Return the state after a bid, and its facts; raises IllegalAction."""
    amount = _checked_bid(before, seat, action)
    bids = (*before.bids, SeatBid(seat, amount))
    bidders = tuple([other for other in before.bidders if other != seat])
    call = facts.Call(seat, _BIDS[amount])
    if bidders:
        hidden, own = (
            facts.Called(call._replace(action=None), facts.all_but(seat)),
            facts.Called(call, facts.only(seat)),
        )
        return before._replace(bids=bids, bidders=bidders), (hidden, own, facts.TurnChanged("bid", bidders))
    earlier = before.bids if before.has_secret_bids else ()
    revealed = [facts.Called(facts.Call(other, _BIDS[said]), facts.all_but(other)) for other, said in earlier]
    news = [*revealed, facts.Called(call)]
    state, options, dealer = before._replace(bids=bids, bidders=()), before.options, before.section.dealer
    if len(bids) < options.seats:
        # With the hook the dealer bids when all others have (JOS-BID-6).
        return state._replace(bidders=(dealer,)), (*news, facts.TurnChanged("bid", (dealer,)))
    leader = scoring.first_leader(options, dealer, state.amounts)
    return state._replace(queue=options.clockwise(leader)), (*news, facts.TurnChanged("play", (leader,)))


def _barred(state: JossingState) -> int:
    """Return the bid that the hook forbids to the dealer, once the others have bid (JOS-BID-7); else -1."""
    if not state.options.hook or state.bidders != (state.section.dealer,):
        return -1
    return state.section.size - sum(amount for _, amount in state.bids)


def _checked_bid(state: JossingState, seat: Seat, action: Action) -> int:
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
    if not 0 <= amount <= size:
        raise IllegalAction("JOS-BID-2", f"bid a number of tricks from 0 to {size}")
    if amount == _barred(state):
        raise IllegalAction("JOS-BID-7", f"bid anything but {amount}: the bids may not add up to {size}")
    return amount


def legal_plays(state: JossingState, seat: Seat) -> Legal:
    """Return the plays that are legal for the seat whose turn it is, ascending by card."""
    return Legal(tuple([PLAYS[value] for value in cards_of_mask(_playable(state, state.hands[seat]) & ONCE)]))


def play(before: JossingState, seat: Seat, action: Action) -> tuple[JossingState, tuple[Fact, ...]]:
    """Return the state after a card was played, and its facts; raises IllegalAction."""
    card = _checked_play(before, seat, action)
    options, section, totals, hands, _, bids, _, _, taken, won = before
    hands = (*hands[:seat], without(hands[seat], card), *hands[seat + 1 :])
    trick, queue = (*before.trick, LAID[seat][card]), before.queue[1:]
    if queue:
        state = JossingState(options, section, totals, hands, (), bids, queue, trick, taken, won)
        return state, (_PLAYED[seat][card], _TURN[queue[0]])
    cards = tuple([played.card for played in trick])
    taker = (seat + 1 + scoring.winner(cards, section.trump, options.last_copy_wins)) % options.seats
    won = (*won[:taker], won[taker] + 1, *won[taker + 1 :])
    swept = facts.CardsMoved("trick", "taken", cards, len(cards), MoveReason.WIN)
    state = JossingState(options, section, totals, hands, (), bids, (), (), taken + trick, won)
    news = (_PLAYED[seat][card], swept, facts.TrickTaken(taker))
    if hands[taker]:
        return state._replace(queue=options.clockwise(taker)), (*news, _TURN[taker])
    return _score(state, news)


def _playable(state: JossingState, hand: int) -> int:
    return hand & SUIT_OF[state.trick[0].card] or hand if state.trick else hand


def _checked_play(state: JossingState, seat: Seat, action: Action) -> Card:
    """Return the card to be played; every refusal depends only on what the acting seat knows."""
    if isinstance(action, Bid) and not isinstance(action.bid, str):
        raise IllegalAction("JOS-BID-3", "the bids of this section are made and final")
    if not isinstance(action, Play) or action.suit is not None:
        raise IllegalAction("JOS-ACT-1", "the only action now is to play a card, without naming a suit")
    if state.queue[0] != seat:
        raise IllegalAction("JOS-PLAY-1", f"it is not the turn of seat {seat}")
    card, hand = action.card, state.hands[seat]
    if not 0 <= card < 52 or not hand >> card & 1:
        raise IllegalAction("JOS-PLAY-2", "play a card of your own hand")
    if not _playable(state, hand) >> card & 1:
        raise IllegalAction("JOS-PLAY-3", f"follow suit: {NOTATION[state.trick[0].card]} was led")
    return card


def _score(before: JossingState, news: tuple[Fact, ...]) -> tuple[JossingState, tuple[Fact, ...]]:
    """End the section (JOS-END-0), and perhaps the game (JOS-END-1)."""
    section, bids, won = before.section, before.amounts, before.won
    points = scoring.section_points(bids, won, before.options.modern)
    state = before._replace(totals=tuple(map(sum, zip(before.totals, points, strict=True))))
    leader = scoring.first_leader(before.options, section.dealer, bids)
    ended = facts.RoundEnded(scoring.sheet_line(section, leader, bids, won, points, state.totals))
    phase = state.phase
    over = (facts.GameEnded(scoring.ranking(state.totals), END_REASON),) if phase == "over" else ()
    return state, (*news, ended, facts.TurnChanged(phase, ()), *over)


_BIDS = tuple(Bid(amount) for amount in range(MAX_CARDS + 1))
_PLAYED, _TURN = facts.plays_to("trick"), facts.turns_of("play")
