"""Rules that write each change once: a view is what its viewer's facts add up to, so a game returns facts alone.

Whose turn it is, when the next round is dealt and when the game is over follows from them too. It suits small games. A
state keeps the view of each viewer beside what nobody sees, so an action costs a fold for each of them; the five games
of croupier make their views themselves.
"""

from abc import abstractmethod
from collections.abc import Iterable, Sequence
from typing import Generic, NamedTuple, TypeVar

from croupier.games.actions import Action
from croupier.games.cards import STANDARD_DECK, Card
from croupier.games.facts import (
    SPECTATOR,
    Fact,
    GameEnded,
    RoundEnded,
    RoundScore,
    Seat,
    SeatView,
    View,
    Viewer,
)
from croupier.games.interface import (
    NOTHING_LEGAL,
    Awaiting,
    CardsShuffled,
    GameOver,
    IllegalAction,
    Legal,
    Observation,
    OptionValues,
    Rules,
    SeatsToAct,
    ShuffleNeeded,
)
from croupier.games.view_fold import fold

S = TypeVar("S")
_FIRST_PHASE = "deal"


class Told(NamedTuple, Generic[S]):
    """A table: the game's own part, which is what facts do not tell, and all that each viewer was told."""

    own: S
    views: tuple[View, ...]
    """By seat, and last that of the spectators."""
    ended: GameEnded | None = None
    """The end of the game, once it was told."""

    @property
    def public(self) -> View:
        """What everybody knows."""
        return self.views[-1]

    def hand(self, seat: Seat) -> tuple[Card, ...]:
        """Return the cards of a seat, ascending."""
        return self.views[seat].seats[seat].cards


class FoldedRules(Rules[Told[S]], Generic[S]):
    """The rules of a game that returns facts, and whose views are folded from them.

    A game defines `start`, `deal`, `legal` and `play` in place of `new`, `awaiting`, `shuffle`, `legal_actions`, `act`,
    `scores` and `view`.
    """

    pack: tuple[Card, ...] = STANDARD_DECK
    """The cards that are shuffled for each round."""

    @property
    def turn_rule(self) -> str:
        """The id of the rule by which a seat is refused that is not to act; by default it is PLAY-1."""
        return f"{self.rule_prefix}-PLAY-1"

    @abstractmethod
    def start(self, seats: int, options: OptionValues) -> S:
        """Return the game's own part of a table before the first deal, which is in the phase "deal"."""

    @abstractmethod
    def deal(self, table: Told[S], shuffled: CardsShuffled, /) -> tuple[S, Sequence[Fact]]:
        """Return the game's own part and what became known, after a shuffle that is due and valid."""

    @abstractmethod
    def legal(self, table: Told[S], seat: Seat, /) -> Legal:
        """Return all that a seat may do, which is to act."""

    @abstractmethod
    def play(self, table: Told[S], seat: Seat, action: Action, /) -> tuple[S, Sequence[Fact]]:
        """Return the game's own part and what became known, after an action of a seat that is to act.

        Raises IllegalAction for one that is refused.
        """

    def new(self, seats: int, options: OptionValues) -> Told[S]:
        """Return the table before the first deal."""
        unseen = View(0, _FIRST_PHASE, None, (SeatView(),) * seats)
        return Told(self.start(seats, options), (unseen,) * (seats + 1))

    def awaiting(self, state: Told[S]) -> Awaiting:
        """Return the end or the seats to act that were told, or else the shuffle for the next round."""
        if state.ended:
            return GameOver(state.ended.ranking, state.ended.reason, state.ended.is_void)
        if state.public.seats_to_act:
            return SeatsToAct(state.public.seats_to_act)
        return ShuffleNeeded(self.pack, (), state.public.round_number + 1, 1)

    def legal_actions(self, state: Told[S], seat: Seat, /) -> Legal:
        """Return all that a seat may do now; empty if it is not to act."""
        return self.legal(state, seat) if seat in state.public.seats_to_act else NOTHING_LEGAL

    def shuffle(self, state: Told[S], shuffled: CardsShuffled, /) -> tuple[Told[S], tuple[Fact, ...]]:
        """Return the next table and what became known."""
        return told(state, *self.deal(state, shuffled))

    def act(self, state: Told[S], seat: Seat, action: Action, /) -> tuple[Told[S], tuple[Fact, ...]]:
        """Return the next table and what became known."""
        if seat not in state.public.seats_to_act:
            raise IllegalAction(self.turn_rule, f"it is not the turn of seat {seat}")
        return told(state, *self.play(state, seat, action))

    def scores(self, state: Told[S]) -> tuple[int, ...]:
        """Return the totals that the rounds so far have told."""
        return tuple(seat.score for seat in state.public.seats)

    def view(self, state: Told[S], viewer: Viewer, /) -> View:
        """Return all that a viewer was told."""
        return state.public if viewer == SPECTATOR else state.views[viewer]


def told(table: Told[S], own: S, news: Iterable[Fact]) -> tuple[Told[S], tuple[Fact, ...]]:
    """Return the table with another part of its own, after its viewers were told some facts, and these facts."""
    facts, (*seats, public) = tuple(news), table.views
    views = [fold(view, facts, seat) for seat, view in enumerate(seats)]
    ended = next((fact for fact in facts if isinstance(fact, GameEnded)), table.ended)
    return Told(own, (*views, fold(public, facts, SPECTATOR)), ended), facts


def round_ended(public: View, points: Sequence[int]) -> RoundEnded:
    """Return the fact that the round is over, with the points by seat, and with the totals that they lead to."""
    totals = tuple(seat.score + more for seat, more in zip(public.seats, points, strict=True))
    return RoundEnded(RoundScore(public.round_number, tuple(points), totals))


def imagined(observation: Observation, own: S, hands: Sequence[Iterable[Card]]) -> Told[S]:
    """Return a table that looks to a seat as it does, with these hands of all seats: for `determinize`.

    Piles are known to the others as to the seat, which is so where no pile is seen by some seats alone.
    """
    me, view = observation.seat, observation.view
    public = view._replace(seats=tuple(_hidden(seat) if at == me else seat for at, seat in enumerate(view.seats)))
    views = [_holding(public, seat, hand) for seat, hand in enumerate(hands)]
    views[me] = view
    return Told(own, (*views, public))


def _hidden(seat: SeatView) -> SeatView:
    return seat._replace(cards=())


def _holding(view: View, seat: Seat, hand: Iterable[Card]) -> View:
    held = view.seats[seat]._replace(cards=tuple(sorted(hand)), known_cards=())
    return view._replace(seats=(*view.seats[:seat], held, *view.seats[seat + 1 :]))
