"""A table of Jøssing at one moment, and what a deal, a bid or a play makes of it."""

from typing import Any, NamedTuple

from croupier.games.actions import PLAYS, Action, Bid, Play
from croupier.games.cards import NOTATION, Card, cards_of_mask, notation
from croupier.games.facts import (
    Called,
    CardsMoved,
    Fact,
    GameEnded,
    MoveReason,
    PileCard,
    Seat,
    TrickTaken,
    TurnChanged,
    View,
    Viewer,
    all_but,
    only,
)
from croupier.games.hands import ONCE, hand_of, without
from croupier.games.interface import (
    NOTHING_LEGAL,
    Awaiting,
    CardsShuffled,
    Event,
    GameOver,
    IllegalAction,
    Legal,
    ProposalAgreed,
    SeatActed,
    SeatsToAct,
    ShuffleNeeded,
)
from croupier.games.jossing import deal, scoring, sheet, view
from croupier.games.jossing.deal import Section
from croupier.games.jossing.packs import SUIT_OF, Hand
from croupier.games.jossing.table import MOST_CARDS, Table


class SeatBid(NamedTuple):
    """How many tricks a seat undertakes to win."""

    seat: Seat
    amount: int


class JossingState(NamedTuple):
    """A frozen table; the piles keep seats with their cards.

    `bidders` are the seats that may bid now, `bids` those made so far in the order of their arrival, `queue` the seats
    that still have to play to the trick, next one first; `won` counts tricks by seat.
    """

    table: Table
    section: Section
    totals: tuple[int, ...]
    hands: tuple[Hand, ...]
    bidders: tuple[Seat, ...] = ()
    bids: tuple[SeatBid, ...] = ()
    queue: tuple[Seat, ...] = ()
    trick: tuple[PileCard, ...] = ()
    taken: tuple[PileCard, ...] = ()
    won: tuple[int, ...] = ()

    @classmethod
    def before(cls, table: Table) -> "JossingState":
        """The table before the first deal."""
        nothing = (0,) * table.seats
        return cls(table, Section(0, 0, 0, 0), nothing, nothing, won=nothing)

    @property
    def awaiting(self) -> Awaiting:
        """A seat's play, bids, the next deal, or nothing any more."""
        if self.queue:
            return _AWAITING[self.queue[0]]
        if self.bidders:
            return SeatsToAct(self.bidders)
        if self.phase == "over":
            return GameOver(self.ranking, _REASON)
        return ShuffleNeeded(self.table.deck, (), self.section.number + 1, 1)

    @property
    def scores(self) -> tuple[int, ...]:
        """Totals of the finished sections by seat (JOS-END-0)."""
        return self.totals

    @property
    def phase(self) -> str:
        """ "deal", "bid", "play" or "over"."""
        if self.queue:
            return "play"
        if self.bidders:
            return "bid"
        return "over" if self.section.number == self.table.sections else "deal"

    @property
    def ranking(self) -> tuple[tuple[Seat, ...], ...]:
        """Groups of seats, best first; empty until the game is over (JOS-END-2)."""
        return scoring.ranking(self.totals) if self.phase == "over" else ()

    @property
    def secret(self) -> bool:
        """Whether the bids made so far are known to their own seats only (JOS-BID-4, JOS-BID-6)."""
        return bool(self.bidders) and not (self.table.hook and self.bidders == (self.section.dealer,))

    @property
    def barred(self) -> int:
        """What the dealer may not bid with the hook, once the others have bid (JOS-BID-7); else a negative number."""
        if not self.table.hook or self.bidders != (self.section.dealer,):
            return -1
        return self.section.size - sum(amount for _, amount in self.bids)

    @property
    def amounts(self) -> tuple[int, ...]:
        """All bids by seat, when all are in."""
        return tuple([amount for _, amount in sorted(self.bids)])

    def legal_actions(self, seat: Seat) -> Legal:
        """The amounts that the seat may bid or the cards that it may play now, ascending."""
        if self.queue[:1] == (seat,):
            return Legal(tuple([PLAYS[value] for value in cards_of_mask(self._playable(self.hands[seat]) & ONCE)]))
        if seat not in self.bidders:
            return NOTHING_LEGAL
        return Legal(tuple([bid for bid in _BIDS[: self.section.size + 1] if bid.bid != self.barred]))

    def apply(self, event: Event) -> tuple["JossingState", tuple[Fact, ...]]:
        """The next state and what became known; raises IllegalAction for what the rules refuse."""
        if isinstance(event, SeatActed):
            if self.queue:
                return self._play(event.seat, event.action)
            if self.bidders:
                return self._bid(event.seat, event.action)
            if self.phase == "over":
                raise IllegalAction("JOS-END-1", "the game is over")
            raise IllegalAction("JOS-DEAL-4", "nobody can act before the deal")
        if isinstance(event, ProposalAgreed):
            raise IllegalAction("JOS-ACT-1", "nothing can be proposed in Jøssing")
        return self._deal(event)

    def view(self, viewer: Viewer) -> View:
        """All that a seat, or SPECTATOR, may know."""
        return view.view(self, viewer)

    def event_record(self, event: CardsShuffled | ProposalAgreed) -> dict[str, Any]:
        """The deal as JOS-DEAL-4 writes it; raises IllegalAction for one that is not due or not valid."""
        if isinstance(event, ProposalAgreed):
            raise IllegalAction("JOS-ACT-1", "nothing can be proposed in Jøssing")
        section, hands = self._dealt(event)
        return {"type": "deal", "hands": list(map(notation, hands)), "trump": NOTATION[section.indicator]}

    def _dealt(self, event: CardsShuffled) -> tuple[Section, deal.Hands]:
        if self.phase != "deal":
            raise IllegalAction("JOS-DEAL-4", "no deal is due")
        return deal.dealt(self.table, self.section.number + 1, event)

    def _deal(self, event: CardsShuffled) -> tuple["JossingState", tuple[Fact, ...]]:
        (section, dealt), table = self._dealt(event), self.table
        others = tuple([seat for seat in range(table.seats) if seat != section.dealer])
        bidders = others if table.hook else tuple(range(table.seats))
        hands, nothing = tuple(map(hand_of, dealt)), (0,) * table.seats
        state = JossingState(table, section, self.totals, hands, bidders, won=nothing)
        return state, (*deal.facts(section, dealt), *view.marks(state), TurnChanged("bid", bidders))

    # Bidding

    def _check_bid(self, seat: Seat, action: Action) -> int:
        """The amount; what is no bid is refused whoever tries it, and nothing tells more than the seat knows."""
        if isinstance(action, Play) and action.suit is None:
            raise IllegalAction("JOS-BID-1", "bid first: cards are played when all have bid")
        if not isinstance(action, Bid) or isinstance(action.bid, str):
            raise IllegalAction("JOS-ACT-1", "the only actions are to bid and to play a card, without naming a suit")
        if seat not in self.bidders:
            if not 0 <= seat < self.table.seats:
                raise IllegalAction("JOS-BID-1", f"there is no seat {seat} at this table")
            if any(bid.seat == seat for bid in self.bids):
                raise IllegalAction("JOS-BID-3", "you have bid, and that is final: wait for the bids of the others")
            raise IllegalAction("JOS-BID-6", "the dealer bids when the others have bid")
        amount, size = action.bid, self.section.size
        if type(amount) is not int or not 0 <= amount <= size:
            raise IllegalAction("JOS-BID-2", f"bid a number of tricks from 0 to {size}")
        if amount == self.barred:
            raise IllegalAction("JOS-BID-7", f"bid anything but {amount}: the bids may not add up to {size}")
        return amount

    def _bid(self, seat: Seat, action: Action) -> tuple["JossingState", tuple[Fact, ...]]:
        amount = self._check_bid(seat, action)
        bids, bidders = (*self.bids, SeatBid(seat, amount)), tuple([other for other in self.bidders if other != seat])
        if bidders:
            state = self._replace(bids=bids, bidders=bidders)
            hidden, own = Called(seat, None, all_but(seat)), Called(seat, _BIDS[amount], only(seat))
            return state, (hidden, own, TurnChanged("bid", bidders))
        earlier = self.bids if self.secret else ()
        revealed = [Called(other, _BIDS[said], all_but(other)) for other, said in earlier]
        state, turn = self._replace(bids=bids, bidders=())._next_step()
        return state, (*revealed, Called(seat, _BIDS[amount]), turn)

    def _next_step(self) -> tuple["JossingState", TurnChanged]:
        """All who could bid have bid: the hook's dealer is next (JOS-BID-6), or the first leader (JOS-LEAD-1)."""
        table, dealer = self.table, self.section.dealer
        if len(self.bids) < table.seats:
            return self._replace(bidders=(dealer,)), TurnChanged("bid", (dealer,))
        leader = self.first_leader()
        return self._replace(queue=table.clockwise(leader)), _TURN[leader]

    def first_leader(self) -> Seat:
        """Who leads the first trick, when all have bid (JOS-LEAD-1 to -3)."""
        table = self.table
        return scoring.first_leader(self.amounts, table.from_left_of(self.section.dealer), table.highest_bidder_leads)

    # Playing

    def _playable(self, hand: Hand) -> Hand:
        return hand & SUIT_OF[self.trick[0].card] or hand if self.trick else hand

    def _check_play(self, seat: Seat, action: Action) -> Card:
        """The card to be played; what is no play is refused whoever tries it, and nothing tells more than he knows."""
        if isinstance(action, Bid) and not isinstance(action.bid, str):
            raise IllegalAction("JOS-BID-3", "the bids of this section are made and final")
        if not isinstance(action, Play) or action.suit is not None:
            raise IllegalAction("JOS-ACT-1", "the only action is to play a card, without naming a suit")
        if self.queue[0] != seat:
            raise IllegalAction("JOS-PLAY-1", f"it is not the turn of seat {seat}")
        card, hand = action.card, self.hands[seat]
        if not 0 <= card < 52 or not hand >> card & 1:
            raise IllegalAction("JOS-PLAY-2", "play a card of your own hand")
        if not self._playable(hand) >> card & 1:
            raise IllegalAction("JOS-PLAY-3", f"follow suit: {NOTATION[self.trick[0].card]} was led")
        return card

    def _play(self, seat: Seat, action: Action) -> tuple["JossingState", tuple[Fact, ...]]:
        card = self._check_play(seat, action)
        hands = (*self.hands[:seat], without(self.hands[seat], card), *self.hands[seat + 1 :])
        trick, queue = (*self.trick, _LAID[seat][card]), self.queue[1:]
        table, section, totals, _, _, bids, _, _, taken, won = self
        if queue:
            state = JossingState(table, section, totals, hands, (), bids, queue, trick, taken, won)
            return state, (_PLAYED[seat][card], _TURN[queue[0]])
        cards = tuple([laid.card for laid in trick])
        taker = (seat + 1 + scoring.winner(cards, section.trump, table.last_copy_wins)) % table.seats
        won = (*won[:taker], won[taker] + 1, *won[taker + 1 :])
        swept = CardsMoved("trick", "taken", cards, len(cards), MoveReason.WIN)
        state = JossingState(table, section, totals, hands, (), bids, (), (), taken + trick, won)
        facts = (_PLAYED[seat][card], swept, TrickTaken(taker))
        if hands[taker]:
            return state._replace(queue=table.clockwise(taker)), (*facts, _TURN[taker])
        return state._score(facts)

    def _score(self, facts: tuple[Fact, ...]) -> tuple["JossingState", tuple[Fact, ...]]:
        """The section is over (JOS-END-0), and maybe the game (JOS-END-1)."""
        section, bids, won = self.section, self.amounts, self.won
        points = scoring.section_points(bids, won, self.table.modern)
        state = self._replace(totals=tuple(map(sum, zip(self.totals, points, strict=True))))
        ended = sheet.line(section, self.first_leader(), bids, won, points, state.totals)
        phase = state.phase
        over = (GameEnded(state.ranking, _REASON),) if phase == "over" else ()
        return state, (*facts, ended, TurnChanged(phase, ()), *over)


_REASON = "sections_played"
_BIDS = tuple(Bid(amount) for amount in range(MOST_CARDS + 1))
_AWAITING = tuple(SeatsToAct((seat,)) for seat in range(8))
_TURN = tuple(TurnChanged("play", (seat,)) for seat in range(8))
_LAID = tuple(tuple(PileCard(value, seat) for value in range(52)) for seat in range(8))
_PLAYED = tuple(
    tuple(CardsMoved(seat, "trick", (value,), 1, MoveReason.PLAY) for value in range(52)) for seat in range(8)
)
