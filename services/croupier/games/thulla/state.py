"""A table of Thulla at one moment, and what a deal or a play makes of it."""

from typing import Any, NamedTuple

from croupier.games.actions import PLAYS, Action, Play
from croupier.games.cards import NOTATION, Card, cards_of_mask, mask_of, notation
from croupier.games.facts import (
    CardsMoved,
    Fact,
    GameEnded,
    HandRevealed,
    Marked,
    MoveReason,
    RoundEnded,
    RoundStarted,
    Seat,
    SeatOut,
    TurnChanged,
    View,
    Viewer,
)
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
from croupier.games.thulla import deal, scoring, view
from croupier.games.thulla.table import Table


class Laid(NamedTuple):
    """A card of the trick and the seat that played it; of one suit, the highest card is the greatest value."""

    card: Card
    seat: Seat


class Match(NamedTuple):
    """What changes between games only: `orders` are the finishing orders, `reason` tells why the last game ended."""

    round_number: int
    starter: Seat
    totals: tuple[int, ...]
    orders: tuple[tuple[Seat, ...], ...] = ()
    reason: str = ""
    over: bool = False


class ThullaState(NamedTuple):
    """A frozen table; hands are bit sets, `queue` the seats that still have to play to the trick, next one first.

    `out` holds the seats that are out in their order, `stalled` is the stall counter, `points` what each going-out of
    this game cost (THU-SCORE-3), `forced` whether the ace of spades must be played now (THU-START-2).
    """

    table: Table
    match: Match
    hands: tuple[int, ...]
    trick: tuple[Laid, ...] = ()
    queue: tuple[Seat, ...] = ()
    waste: tuple[Laid, ...] = ()
    out: tuple[Seat, ...] = ()
    stalled: int = 0
    points: tuple[int, ...] = ()
    forced: bool = False

    @classmethod
    def before(cls, table: Table) -> "ThullaState":
        """The table before the first deal."""
        nobody = (0,) * table.seats
        return cls(table, Match(0, 0, nobody), nobody, points=nobody)

    @property
    def awaiting(self) -> Awaiting:
        """A seat's play, the next deal, or nothing any more."""
        if self.queue:
            return _AWAITING[self.queue[0]]
        if self.match.over:
            return GameOver(self.ranking, self.match.reason)
        return ShuffleNeeded(self.table.deck, self.table.draw_bounds, self.match.round_number + 1, 1)

    @property
    def scores(self) -> tuple[int, ...]:
        """Totals of the finished games by seat (THU-SCORE-1 to -4)."""
        return self.match.totals

    @property
    def phase(self) -> str:
        """ "deal", "play" or "over"."""
        return "play" if self.queue else "over" if self.match.over else "deal"

    @property
    def ranking(self) -> tuple[tuple[Seat, ...], ...]:
        """Groups of seats, best first; empty until the match is over (THU-MATCH-4)."""
        match = self.match
        return scoring.ranking(self.table.scoring, match.totals, match.orders) if match.over else ()

    def legal_actions(self, seat: Seat) -> Legal:
        """The cards that the seat may play now, ascending."""
        if self.queue[:1] != (seat,):
            return NOTHING_LEGAL
        return Legal(tuple([PLAYS[value] for value in cards_of_mask(self._playable(self.hands[seat]))]))

    def apply(self, event: Event) -> tuple["ThullaState", tuple[Fact, ...]]:
        """The next state and what became known; raises IllegalAction for what the rules refuse."""
        if isinstance(event, SeatActed):
            return self._play(event.seat, event.action)
        if isinstance(event, ProposalAgreed):
            raise IllegalAction("THU-DEAL-3", "nothing can be proposed in Thulla")
        return self._deal(event)

    def view(self, viewer: Viewer) -> View:
        """All that a seat, or SPECTATOR, may know (THU-VIS-1 to -4)."""
        return view.view(self, viewer)

    def event_record(self, event: CardsShuffled | ProposalAgreed) -> dict[str, Any]:
        """The deal as THU-DEAL-3 writes it; raises IllegalAction for one that is not due or not valid."""
        if isinstance(event, ProposalAgreed):
            raise IllegalAction("THU-DEAL-3", "nothing can be proposed in Thulla")
        record: dict[str, Any] = {"type": "deal", "hands": [notation(hand) for hand in self._dealt(event)]}
        return record | {"starter": event.drawn[0]} if event.drawn else record

    def _dealt(self, event: CardsShuffled) -> deal.Hands:
        if self.phase != "deal":
            raise IllegalAction("THU-DEAL-3", "no deal is due")
        return deal.dealt(self.table, self.match.round_number + 1, event)

    def _deal(self, event: CardsShuffled) -> tuple["ThullaState", tuple[Fact, ...]]:
        dealt, table, round_number = self._dealt(event), self.table, self.match.round_number + 1
        hands, starter = tuple(map(mask_of, dealt)), deal.starter(table, round_number, dealt, event.drawn)
        state = ThullaState(
            table,
            self.match._replace(round_number=round_number, starter=starter),
            hands,
            queue=_holders(hands, starter),
            points=(0,) * table.seats,
            forced=table.start == "ace_of_spades",
        )
        started = RoundStarted(round_number, table.dealer(round_number))
        return state, (started, *deal.facts(table, dealt), *view.marks(state), _TURN[starter])

    def _playable(self, hand: int) -> int:
        if self.trick:
            return hand & _SUIT_MASK[self.trick[0].card] or hand
        return 1 << deal.ACE_OF_SPADES if self.forced else hand

    def _check(self, seat: Seat, action: Action) -> Card:
        """The card to be played; every refusal depends on nothing but what the acting seat knows."""
        if self.queue[:1] != (seat,):
            raise IllegalAction("THU-PLAY-1", f"it is not the turn of seat {seat}")
        if not isinstance(action, Play) or action.suit is not None:
            raise IllegalAction("THU-D9", "the only action is to play a card")
        card, hand = action.card, self.hands[seat]
        if not 0 <= card < 52 or not hand >> card & 1:
            raise IllegalAction("THU-PLAY-2", "play a card of your own hand")
        if not self._playable(hand) >> card & 1:
            if self.trick:
                raise IllegalAction("THU-PLAY-3", f"follow suit: {NOTATION[self.trick[0].card]} was led")
            raise IllegalAction("THU-START-2", "the first card of this game is the ace of spades")
        return card

    def _play(self, seat: Seat, action: Action) -> tuple["ThullaState", tuple[Fact, ...]]:
        """Steps 1 and 2 of a play, and the end of step 3 for a play inside a trick."""
        card = self._check(seat, action)
        hand = self.hands[seat] ^ (1 << card)
        hands = (*self.hands[:seat], hand, *self.hands[seat + 1 :])
        trick, queue = (*self.trick, _LAID[seat][card]), self.queue[1:]
        state = ThullaState(
            self.table, self.match, hands, trick, queue, self.waste, self.out, self.stalled, self.points
        )
        continues = queue and _SUIT_MASK[card] == _SUIT_MASK[trick[0].card]
        if hand and continues:
            return state, (_PLAYED[seat][card], _TURN[queue[0]])
        facts: list[Fact] = [_PLAYED[seat][card]]
        if not hand and self.table.safe_at_once:
            state = state._go_out(seat, facts)
            if len(holders := _holders(hands)) == 1:
                return state._waste_trick(facts)._end(holders, "one_holder", facts)
        if continues:
            return state, (*facts, _TURN[queue[0]])
        return state._resolve(facts)

    def _resolve(self, facts: list[Fact]) -> tuple["ThullaState", tuple[Fact, ...]]:
        """Steps 3 to 6: a trick is over. Where do its cards go, who is out, is it the end, who leads?"""
        trick, table = self.trick, self.table
        nominal, picker = self._outcome()
        state = self._waste_trick(facts) if picker is None else self._pick_up(picker, facts)
        if not table.safe_at_once:
            state = state._leave(trick, nominal, facts)
        holders = _holders(state.hands, nominal)
        if len(holders) < 2:
            return state._end(holders or (nominal,), "one_holder" if holders else "no_holder", facts)
        progress = picker is None or not all(state.hands[laid.seat] for laid in trick)
        state = state._replace(queue=holders)._count_stall(0 if progress else self.stalled + 1, facts)
        if state.stalled == table.stall_limit:
            return state._end(scoring.stall_order(state.hands, holders), "stall", facts)
        return state, (*facts, _TURN[holders[0]])

    def _outcome(self) -> tuple[Seat, Seat | None]:
        """The nominal leader after a trick, and who picks it up; None for the waste (THU-CLEAN-1, THU-CUT-2 to -6)."""
        *followed, last = self.trick
        if _SUIT_MASK[last.card] == _SUIT_MASK[self.trick[0].card]:
            return max(self.trick).seat, None
        obliged = [last] if self.table.cutter_picks_up else sorted(followed, reverse=True)
        for _, seat in obliged:
            if self.hands[seat] or not self.table.safe_at_once:
                return seat, seat
        return obliged[0].seat, None

    def _waste_trick(self, facts: list[Fact]) -> "ThullaState":
        cards = tuple(laid.card for laid in self.trick)
        facts.append(CardsMoved("trick", "waste", cards, len(cards), MoveReason.DISCARD))
        return self._replace(trick=(), queue=(), waste=self.waste + self.trick)

    def _pick_up(self, seat: Seat, facts: list[Fact]) -> "ThullaState":
        cards = tuple(laid.card for laid in self.trick)
        facts.append(CardsMoved("trick", seat, cards, len(cards), MoveReason.PICK_UP))
        hand = self.hands[seat] | mask_of(cards)
        return self._replace(trick=(), queue=(), hands=(*self.hands[:seat], hand, *self.hands[seat + 1 :]))

    def _count_stall(self, stalled: int, facts: list[Fact]) -> "ThullaState":
        """Set the stall counter (THU-STALL-1)."""
        if stalled != self.stalled:
            facts.append(Marked("stall", None, str(stalled or "")))
        return self._replace(stalled=stalled)

    def _leave(self, trick: tuple[Laid, ...], nominal: Seat, facts: list[Fact]) -> "ThullaState":
        """Seats without cards go out in the order of play (THU-OUT-2), but for a winner left last (THU-END-3)."""
        state, loser = self, None if any(self.hands) else nominal
        for _, seat in trick:
            if not self.hands[seat] and seat != loser:
                state = state._go_out(seat, facts)
        return state

    def _go_out(self, seat: Seat, facts: list[Fact]) -> "ThullaState":
        out = (*self.out, seat)
        facts.append(SeatOut(seat, len(out)))
        state = self._replace(out=out)
        if self.table.scoring != "cards_each_out":
            return state
        return state._settle(scoring.added(self.points, scoring.card_counts(self.hands)), facts)

    def _settle(self, points: tuple[int, ...], facts: list[Fact]) -> "ThullaState":
        """What the game has cost so far changes (THU-SCORE-3)."""
        changes = enumerate(zip(self.points, points, strict=True))
        facts += [Marked("points", seat, str(after)) for seat, (before, after) in changes if before != after]
        return self._replace(points=points)

    def _end(self, losers: tuple[Seat, ...], reason: str, facts: list[Fact]) -> tuple["ThullaState", tuple[Fact, ...]]:
        """The game is over; `losers` are the seats that are not out, best first (THU-END-4)."""
        table, hands, order, stalled = self.table, self.hands, self.out + losers, reason == "stall"
        points = scoring.game_points(table.scoring, hands, order, self.points, stalled)
        totals, orders = scoring.added(self.scores, points), (*self.match.orders, order)
        over = scoring.match_over(table.scoring, table.best_of, orders, table.seats)
        match = self.match._replace(totals=totals, orders=orders, reason=reason, over=over)
        state = self._replace(match=match, queue=())
        if table.scoring == "cards_each_out":
            state = state._settle(points, facts)
        facts += [HandRevealed(seat, cards_of_mask(hand)) for seat, hand in enumerate(hands) if hand]
        facts.append(
            RoundEnded(
                match.round_number,
                points,
                totals,
                scoring.notes(hands, order, stalled),
                f"game {match.round_number} of {table.best_of}" + (", stopped by the stall limit" if stalled else ""),
                (("order", " ".join(map(str, order))), ("reason", reason)),
                scoring.medals(order),
            )
        )
        facts += [mark for mark in view.marks(state) if mark.name == "wins" and mark.seat == order[0]]
        facts.append(TurnChanged(state.phase, ()))
        if over:
            facts.append(GameEnded(state.ranking, reason))
        return state, tuple(facts)


def _holders(hands: tuple[int, ...], first: Seat = 0) -> tuple[Seat, ...]:
    """The holders clockwise, from `first` or else the next one after it (THU-LEAD-1, THU-LEAD-2)."""
    return tuple([seat for seat in (*range(first, len(hands)), *range(first)) if hands[seat]])


_SUIT_MASK = tuple(0x1FFF << 13 * (value // 13) for value in range(52))
_AWAITING = tuple(SeatsToAct((seat,)) for seat in range(6))
_TURN = tuple(TurnChanged("play", (seat,)) for seat in range(6))
_LAID = tuple(tuple(Laid(value, seat) for value in range(52)) for seat in range(6))
_PLAYED = tuple(
    tuple(CardsMoved(seat, "trick", (value,), 1, MoveReason.PLAY) for value in range(52)) for seat in range(6)
)
