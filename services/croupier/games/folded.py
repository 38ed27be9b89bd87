"""Rules that write each change once: a view is what its viewer's facts add up to, so a game returns facts alone.

It suits small games. A state keeps the view of each viewer beside what nobody sees, so an action costs a fold for each
of them; the five games of croupier make their views themselves.
"""

from abc import abstractmethod
from collections.abc import Iterable, Sequence
from typing import Generic, NamedTuple, TypeVar

from croupier.games.actions import Action
from croupier.games.cards import Card
from croupier.games.facts import SPECTATOR, Fact, Seat, SeatView, View, Viewer
from croupier.games.interface import CardsShuffled, Observation, OptionValues, Rules
from croupier.games.view_fold import fold

S = TypeVar("S")
_FIRST_PHASE = "deal"


class Told(NamedTuple, Generic[S]):
    """A table: the game's own part, which is what facts do not tell, and all that each viewer was told."""

    own: S
    views: tuple[View, ...]
    """By seat, and last that of the spectators."""

    @property
    def public(self) -> View:
        """What everybody knows."""
        return self.views[-1]

    def hand(self, seat: Seat) -> tuple[Card, ...]:
        """Return the cards of a seat, ascending."""
        return self.views[seat].seats[seat].cards


class FoldedRules(Rules[Told[S]], Generic[S]):
    """The rules of a game that returns facts, and whose views are folded from them.

    A game defines `start`, `deal` and `play` in place of `new`, `shuffle`, `act`, `scores` and `view`.
    """

    @abstractmethod
    def start(self, seats: int, options: OptionValues) -> S:
        """Return the game's own part of a table before the first deal, which is in the phase "deal"."""

    @abstractmethod
    def deal(self, table: Told[S], shuffled: CardsShuffled, /) -> tuple[S, Sequence[Fact]]:
        """Return the game's own part and what became known, after a shuffle that is due and valid."""

    @abstractmethod
    def play(self, table: Told[S], seat: Seat, action: Action, /) -> tuple[S, Sequence[Fact]]:
        """Return the game's own part and what became known; raises IllegalAction for an action that is refused."""

    def new(self, seats: int, options: OptionValues) -> Told[S]:
        """Return the table before the first deal."""
        unseen = View(0, _FIRST_PHASE, None, (SeatView(),) * seats)
        return Told(self.start(seats, options), (unseen,) * (seats + 1))

    def shuffle(self, state: Told[S], shuffled: CardsShuffled, /) -> tuple[Told[S], tuple[Fact, ...]]:
        """Return the next table and what became known."""
        return told(state, *self.deal(state, shuffled))

    def act(self, state: Told[S], seat: Seat, action: Action, /) -> tuple[Told[S], tuple[Fact, ...]]:
        """Return the next table and what became known."""
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
    return Told(own, (*views, fold(public, facts, SPECTATOR))), facts


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
