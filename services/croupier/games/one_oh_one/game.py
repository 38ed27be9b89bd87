"""The rules of 101 behind the interface of all games."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

from croupier.games.bots import random_legal
from croupier.games.cards import CardFace, notation
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
from croupier.games.one_oh_one import deal, determinization, scoring, setup, stock, turns, view
from croupier.games.one_oh_one.bots import sensible
from croupier.games.one_oh_one.state import OneOhOneState


class OneOhOne:
    """The game of 101 for 2 to 4 seats."""

    id: Final = "one_oh_one"
    name: Final = "101"
    summary: Final = "Match suit or rank to shed your cards; what is left in your hand counts, and 101 points lose."
    rules_version: Final = 1
    seats: Final = range(2, 5)
    bots: Final[Mapping[str, Bot]] = MappingProxyType({"sensible": sensible, "random": random_legal})
    names: Final[Mapping[str, str]] = MappingProxyType(
        {
            "cover": "has to cover its six with",
            "penalty": "loses a turn",
            "pile": "open cards",
            "starter": "led by seat",
            "to_take": "cards still to take",
        }
    )
    proposals: Final[Mapping[str, str]] = MappingProxyType({})
    deck: Final[tuple[CardFace, ...]] = ()

    def teams(self, seats: int) -> tuple[tuple[Seat, ...], ...]:  # noqa: ARG002 - the port's signature
        """Return none: each seat plays for itself."""
        return ()

    def options(self, seats: int) -> tuple[Option, ...]:  # noqa: ARG002 - the port's signature
        """Return every option; all are independent (101-OPT-1)."""
        return setup.options()

    def check(self, seats: int, options: OptionValues) -> None:
        """Accept all: every combination is valid at every number of seats (101-OPT-1)."""

    def new(self, seats: int, options: OptionValues) -> OneOhOneState:
        """Return the state before the first deal."""
        return setup.before_first_deal(setup.resolved(seats, options))

    def awaiting(self, state: OneOhOneState) -> Awaiting:
        """Return a seat's action, a deal, a reshuffle, or the end."""
        if state.turn >= 0:
            return _AWAITING[state.turn]
        progress = state.progress
        if state.owed:
            cards = tuple(sorted(stock.under_top(state.pile)))
            return ShuffleNeeded(cards, (), progress.round_number, state.reshuffles + 2)
        if progress.reason:
            return GameOver(scoring.ranking(progress), progress.reason)
        bounds = deal.draw_bounds(state.options, progress.round_number == 0)
        return ShuffleNeeded(state.options.deck, bounds, progress.round_number + 1, 1)

    def scores(self, state: OneOhOneState) -> tuple[int, ...]:
        """Return the scores after the finished rounds, by seat (101-SCORE-1)."""
        return state.progress.totals

    def legal_actions(self, state: OneOhOneState, seat: Seat) -> Legal:
        """Return the cards that a seat may play now, ascending, each queen with every suit; or to draw."""
        return turns.legal_actions(state, seat)

    def apply(self, state: OneOhOneState, event: Event) -> tuple[OneOhOneState, tuple[Fact, ...]]:
        """Return the next state and what became known; raises IllegalAction."""
        match event:
            case SeatActed(seat, action):
                return turns.act(state, seat, action)
            case ProposalAgreed():
                raise _no_proposals()
            case CardsShuffled() if state.owed is not None:
                return turns.reshuffle(state, state.owed, event)
            case CardsShuffled():
                return deal.deal(state, event)

    def ranking_at_limit(self, state: OneOhOneState) -> tuple[tuple[Seat, ...], ...] | None:
        """Return the seats as at the end of a game; None in the first round (101-END-5)."""
        return scoring.ranking(state.progress) if state.progress.round_number > 1 else None

    def view(self, state: OneOhOneState, viewer: Viewer) -> View:
        """Return all that a seat, or SPECTATOR, may know (101-VIS-1 to -4)."""
        return view.view(state, viewer)

    def event_record(self, state: OneOhOneState, event: CardsShuffled | ProposalAgreed) -> dict[str, Any]:
        """Return the deal (101-DEAL-1) or reshuffle (101-STOCK-3); raises IllegalAction for one not due or valid."""
        if isinstance(event, ProposalAgreed):
            raise _no_proposals()
        if state.owed:
            return {"type": "reshuffle", "stock": notation(stock.reshuffled(state, event))}
        return deal.record(state, event)

    def determinize(self, observation: Observation, randrange: RandomSource) -> OneOhOneState:
        """Return a state that is possible by all that a seat knows."""
        return determinization.determinize(observation, randrange)

    def evaluate(self, before: OneOhOneState, after: OneOhOneState) -> tuple[float, ...]:
        """Return how much cheaper each seat came off than the others, 0 to 1."""
        return determinization.evaluate(before, after)


def _no_proposals() -> IllegalAction:
    return IllegalAction("101-PLAY-1", "nothing can be proposed in 101: play a card, or draw one")


_AWAITING = tuple(SeatsToAct((seat,)) for seat in range(4))
