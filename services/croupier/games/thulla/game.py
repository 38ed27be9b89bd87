"""The rules of Thulla behind the interface of all games."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

from croupier.games.bots import random_legal
from croupier.games.cards import CardFace
from croupier.games.facts import Fact, Seat, View, Viewer
from croupier.games.interface import (
    Awaiting,
    Bot,
    CardsShuffled,
    Event,
    GameOver,
    IllegalAction,
    Legal,
    Observation,
    Option,
    OptionValues,
    ProposalAgreed,
    RandomSource,
    SeatActed,
    SeatsToAct,
    ShuffleNeeded,
)
from croupier.games.thulla import deal, determinization, play, scoring, setup, view
from croupier.games.thulla.bots import sensible
from croupier.games.thulla.state import ThullaState


class Thulla:
    """The game of Thulla for 2 to 6 seats (THU-PLAYERS-1)."""

    id: Final = "thulla"
    name: Final = "Thulla"
    summary: Final = "Shed all your cards by following suit; a card of another suit makes a player pick the trick up."
    rules_version: Final = 1
    seats: Final = range(2, 7)
    bots: Final[Mapping[str, Bot]] = MappingProxyType({"sensible": sensible, "random": random_legal})
    names: Final[Mapping[str, str]] = MappingProxyType(
        {"gold": "gold medal", "silver": "silver medal", "bronze": "bronze medal", "waste": "waste pile"}
    )
    proposals: Final[Mapping[str, str]] = MappingProxyType({})
    deck: Final[tuple[CardFace, ...]] = ()

    def teams(self, seats: int) -> tuple[tuple[Seat, ...], ...]:  # noqa: ARG002 - the port's signature
        """Return none: each seat plays for itself."""
        return ()

    def options(self, seats: int) -> tuple[Option, ...]:
        """Return every option; all are independent (THU-OPT-1)."""
        return setup.options(seats)

    def check(self, seats: int, options: OptionValues) -> None:
        """Accept all: every combination is valid at every number of seats (THU-OPT-1)."""

    def new(self, seats: int, options: OptionValues) -> ThullaState:
        """Return the state before the first deal."""
        return setup.before_first_deal(setup.resolved(seats, options))

    def awaiting(self, state: ThullaState) -> Awaiting:
        """Return a seat's play, the next deal, or the end."""
        if state.queue:
            return _AWAITING[state.queue[0]]
        if state.progress.over:
            return GameOver(scoring.ranking(state), state.progress.reason)
        return ShuffleNeeded(state.options.deck, state.options.draw_bounds, state.progress.round_number + 1, 1)

    def scores(self, state: ThullaState) -> tuple[int, ...]:
        """Return the totals of the finished rounds by seat (THU-SCORE-1 to -4)."""
        return state.progress.totals

    def legal_actions(self, state: ThullaState, seat: Seat) -> Legal:
        """Return the cards that a seat may play now, ascending."""
        return play.legal_actions(state, seat)

    def apply(self, state: ThullaState, event: Event) -> tuple[ThullaState, tuple[Fact, ...]]:
        """Return the next state and what became known; raises IllegalAction."""
        match event:
            case SeatActed(seat, action):
                return play.play(state, seat, action)
            case CardsShuffled():
                return deal.deal(state, event)
            case ProposalAgreed():
                raise IllegalAction("THU-DEAL-3", "nothing can be proposed in Thulla")

    def ranking_at_limit(self, state: ThullaState) -> tuple[tuple[Seat, ...], ...] | None:
        """Return the seats as at the end of a match; None in the first game (THU-MATCH-5)."""
        return scoring.ranking(state) if state.progress.orders else None

    def view(self, state: ThullaState, viewer: Viewer) -> View:
        """Return all that a seat, or SPECTATOR, may know (THU-VIS-1 to -4)."""
        return view.view(state, viewer)

    def event_record(self, state: ThullaState, event: CardsShuffled | ProposalAgreed) -> dict[str, Any]:
        """Return the deal as THU-DEAL-3 writes it; raises IllegalAction for one that is not due or not valid."""
        if isinstance(event, ProposalAgreed):
            raise IllegalAction("THU-DEAL-3", "nothing can be proposed in Thulla")
        return deal.record(state, event)

    def determinize(self, observation: Observation, randrange: RandomSource) -> ThullaState:
        """Return a state that is possible by all that a seat knows."""
        return determinization.determinize(observation, randrange)

    def evaluate(self, before: ThullaState, after: ThullaState) -> tuple[float, ...]:
        """Return the place that each seat takes, or nearly has, 1 for the first and 0 for the last."""
        return determinization.evaluate(before, after)


_AWAITING = tuple(SeatsToAct((seat,)) for seat in range(6))
