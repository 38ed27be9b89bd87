"""A table of 101 at one moment, and what an event makes of it."""

from typing import Any, NamedTuple

from croupier.games.actions import PLAYS, Action, Draw, Play
from croupier.games.cards import Card, Suit, cards_of_mask, notation
from croupier.games.facts import Fact, Marked, PileCard, RoundStarted, Seat, SeatOut, TurnChanged, View, Viewer
from croupier.games.hands import with_cards
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
from croupier.games.one_oh_one import deal, legality, playing, rounds, scoring, stock, view
from croupier.games.one_oh_one.effects import IS_QUEEN
from croupier.games.one_oh_one.match import Match, around, circle
from croupier.games.one_oh_one.playing import NOBODY
from croupier.games.one_oh_one.stock import Owed
from croupier.games.one_oh_one.table import Table


class OneOhOneState(NamedTuple):
    """A frozen table; hands are bit sets of two packs, the next card of the stock is its first, the top card the last.

    `ordered` is the suit that the queen on top asks for, `covers` whether the seat to act must cover its six, `hit` the
    seat that misses its turn by the top card, `owed` what waits for a reshuffle, `forced` the one card that may be led
    (101-LEAD-2), and `reshuffles` how many there were in the round.
    """

    table: Table
    match: Match
    hands: tuple[int, ...]
    stock: tuple[Card, ...] = ()
    pile: tuple[PileCard, ...] = ()
    turn: Seat = NOBODY
    ordered: Suit | None = None
    covers: bool = False
    hit: Seat = NOBODY
    owed: Owed | None = None
    forced: Card | None = None
    reshuffles: int = 0

    @classmethod
    def before(cls, table: Table) -> "OneOhOneState":
        """The table before the first deal."""
        nobody = (0,) * table.seats
        return cls(table, Match(0, 0, nobody, circle(table.seats, ())), nobody)

    @property
    def awaiting(self) -> Awaiting:
        """A seat's action, a deal, a reshuffle, or nothing any more."""
        if self.turn >= 0:
            return _AWAITING[self.turn]
        match = self.match
        if self.owed:
            return ShuffleNeeded(tuple(sorted(stock.under_top(self.pile))), (), match.round_number, self.reshuffles + 2)
        if match.reason:
            return GameOver(self.ranking, match.reason)
        bounds = deal.draw_bounds(self.table, match.round_number == 0)
        return ShuffleNeeded(self.table.deck, bounds, match.round_number + 1, 1)

    @property
    def scores(self) -> tuple[int, ...]:
        """The scores after the finished rounds, by seat (101-SCORE-1)."""
        return self.match.totals

    @property
    def phase(self) -> str:
        """ "deal", "play", "reshuffle" or "over"."""
        if self.turn >= 0:
            return "play"
        return "reshuffle" if self.owed else "over" if self.match.reason else "deal"

    @property
    def ranking(self) -> scoring.Groups:
        """Groups of seats, best first; empty until the game is over (101-END-3, 101-ELIM-3)."""
        return scoring.ranking(self.match.totals, self.match.dropped) if self.match.reason else ()

    @property
    def can_take(self) -> bool:
        """Whether there is a card to take, be it after a renewal of the stock (101-STOCK-4)."""
        return bool(self.stock) or len(self.pile) > 1

    def legal_actions(self, seat: Seat) -> Legal:
        """The cards that the seat may play now, ascending, each queen with every suit; or to draw."""
        if seat != self.turn or seat < 0:
            return NOTHING_LEGAL
        playable = legality.playable(self, self.hands[seat])
        if not playable:
            return _DRAW_ONLY
        actions = [action for value in cards_of_mask(playable) for action in _PLAYS_OF[value]]
        return Legal((*actions, _DRAW) if legality.may_draw_instead(self) else tuple(actions))

    def apply(self, event: Event) -> tuple["OneOhOneState", tuple[Fact, ...]]:
        """The next state and what became known; raises IllegalAction for what the rules refuse."""
        if isinstance(event, SeatActed):
            return self._act(event.seat, event.action)
        if isinstance(event, ProposalAgreed):
            raise IllegalAction("101-PLAY-1", "nothing can be proposed in 101: play a card, or draw one")
        if self.owed is None:
            return self._deal(event)
        facts: list[Fact] = []
        return stock.resume(self, self.owed, event, facts)._go_on(self.owed.turn, facts)

    def view(self, viewer: Viewer) -> View:
        """All that a seat, or SPECTATOR, may know (101-VIS-1 to -4)."""
        return view.view(self, viewer)

    def event_record(self, event: CardsShuffled | ProposalAgreed) -> dict[str, Any]:
        """The deal (101-DEAL-1) or reshuffle (101-STOCK-3); raises IllegalAction for one not due or not valid."""
        if isinstance(event, ProposalAgreed):
            raise IllegalAction("101-PLAY-1", "nothing can be proposed in 101: play a card, or draw one")
        if self.owed:
            return {"type": "reshuffle", "stock": notation(stock.reshuffled(self, event))}
        return deal.record(self._dealt(event))

    def _dealt(self, event: CardsShuffled) -> deal.Dealt:
        if self.phase == "over":
            raise legality.game_over(self)
        if self.phase != "deal":
            raise IllegalAction("101-DEAL-1", "a round is in progress, so no deal is due")
        seats = around(self.match.following, self.match.starter)
        return deal.dealt(self.table, seats, event, self.match.round_number == 0)

    def _deal(self, event: CardsShuffled) -> tuple["OneOhOneState", tuple[Fact, ...]]:
        dealt, table = self._dealt(event), self.table
        starter, hands = dealt.starter, tuple(with_cards(0, hand) for hand in dealt.hands)
        match = self.match._replace(round_number=self.match.round_number + 1, starter=starter)
        forced = None if table.first_move_any else dealt.hands[starter][-1]
        state = OneOhOneState(table, match, hands, dealt.stock, turn=starter, forced=forced)
        out = [SeatOut(seat, place) for seat, place in scoring.places(table.seats, match.dropped).items()]
        started = RoundStarted(match.round_number, None)
        return state, (started, *out, *deal.facts(dealt), Marked("starter", None, str(starter)), _TURN[starter])

    def _act(self, seat: Seat, action: Action) -> tuple["OneOhOneState", tuple[Fact, ...]]:
        legality.check(self, seat, action)
        facts: list[Fact] = []
        if isinstance(action, Play):
            state, owed = playing.played(self, seat, action, facts)
        else:
            state, owed = playing.drawn(self, seat, facts)
        if owed.card_count:
            state = stock.take(state, owed, facts)
        return state._go_on(owed.turn, facts)

    def _go_on(self, turn: Seat, facts: list[Fact]) -> tuple["OneOhOneState", tuple[Fact, ...]]:
        """Let the next seat act, or end the round, unless a reshuffle comes first."""
        if self.owed:
            return self, tuple(facts)
        if turn == NOBODY:
            return rounds.finished(self, facts), tuple(facts)
        facts.append(_TURN[turn])
        return self._replace(turn=turn), tuple(facts)


_DRAW = Draw()
_DRAW_ONLY = Legal((_DRAW,))
_PLAYS_OF: tuple[tuple[Action, ...], ...] = tuple(
    tuple(Play(value, suit) for suit in range(4)) if IS_QUEEN[value] else (PLAYS[value],) for value in range(52)
)
_AWAITING = tuple(SeatsToAct((seat,)) for seat in range(4))
_TURN = tuple(TurnChanged("play", (seat,)) for seat in range(4))
