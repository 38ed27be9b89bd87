"""The rules of Jøssing behind the interface of all games."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

from croupier.games.bots import random_legal
from croupier.games.cards import CardFace
from croupier.games.facts import Fact, Seat, View, Viewer
from croupier.games.interface import (
    NOTHING_LEGAL,
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
from croupier.games.jossing import bidding, deal, determinization, play, scoring, setup, view
from croupier.games.jossing.bots import sensible
from croupier.games.jossing.state import JossingState


class Jossing:
    """The game of Jøssing for 2 to 8 seats (JOS-PLAYERS-1)."""

    id: Final = "jossing"
    name: Final = "Jøssing"
    summary: Final = (
        "Bid in secret how many tricks you will win, and score if you win exactly so many; best with 3 to 6 players."
    )
    rules_version: Final = 1
    seats: Final = range(2, 9)
    bots: Final[Mapping[str, Bot]] = MappingProxyType({"sensible": sensible, "random": random_legal})
    names: Final[Mapping[str, str]] = MappingProxyType(
        {
            "bids_hit": "bids hit exactly",
            "indicator": "trump indicator",
            "round": "section",
            "taken": "finished tricks",
            "tricks_won": "tricks won",
        }
    )
    proposals: Final[Mapping[str, str]] = MappingProxyType({})
    deck: Final[tuple[CardFace, ...]] = ()

    def teams(self, seats: int) -> tuple[tuple[Seat, ...], ...]:  # noqa: ARG002 - the port's signature
        """Return none: each seat plays for itself."""
        return ()

    def options(self, seats: int) -> tuple[Option, ...]:
        """Return every option; all are independent (JOS-OPT-1)."""
        return setup.options(seats)

    def check(self, seats: int, options: OptionValues) -> None:
        """Accept all: every combination is valid at every number of seats (JOS-OPT-1)."""

    def new(self, seats: int, options: OptionValues) -> JossingState:
        """Return the state before the first deal."""
        return setup.before_first_deal(setup.resolved(seats, options))

    def awaiting(self, state: JossingState) -> Awaiting:
        """Return a seat's play, bids, the next deal, or the end."""
        if state.queue:
            return _AWAITING[state.queue[0]]
        if state.bidders:
            return SeatsToAct(state.bidders)
        if state.phase == "over":
            return GameOver(scoring.ranking(state.totals), play.END_REASON)
        return ShuffleNeeded(state.options.deck, (), state.section.number + 1, 1)

    def scores(self, state: JossingState) -> tuple[int, ...]:
        """Return the totals of the finished sections by seat (JOS-END-0)."""
        return state.totals

    def legal_actions(self, state: JossingState, seat: Seat) -> Legal:
        """Return the amounts that a seat may bid or the cards that it may play now, ascending."""
        if state.queue[:1] == (seat,):
            return play.legal_plays(state, seat)
        return bidding.legal_bids(state) if seat in state.bidders else NOTHING_LEGAL

    def apply(self, state: JossingState, event: Event) -> tuple[JossingState, tuple[Fact, ...]]:
        """Return the next state and what became known; raises IllegalAction."""
        match event:
            case SeatActed(seat, action) if state.queue:
                return play.play(state, seat, action)
            case SeatActed(seat, action) if state.bidders:
                return bidding.bid(state, seat, action)
            case SeatActed() if state.phase == "over":
                raise IllegalAction("JOS-END-1", "the game is over")
            case SeatActed():
                raise IllegalAction("JOS-DEAL-4", "nobody can act before the deal")
            case CardsShuffled():
                return deal.deal(state, event)
            case ProposalAgreed():
                raise IllegalAction("JOS-ACT-1", "nothing can be proposed in Jøssing")

    def ranking_at_limit(self, state: JossingState) -> tuple[tuple[Seat, ...], ...] | None:
        """Return the seats by total; None in the first section (JOS-END-4)."""
        return scoring.ranking(state.totals) if state.section.number > 1 else None

    def view(self, state: JossingState, viewer: Viewer) -> View:
        """Return all that a seat, or SPECTATOR, may know."""
        return view.view(state, viewer)

    def event_record(self, state: JossingState, event: CardsShuffled | ProposalAgreed) -> dict[str, Any]:
        """Return the deal as JOS-DEAL-4 writes it; raises IllegalAction for one that is not due or not valid."""
        if isinstance(event, ProposalAgreed):
            raise IllegalAction("JOS-ACT-1", "nothing can be proposed in Jøssing")
        return deal.record(state, event)

    def determinize(self, observation: Observation, randrange: RandomSource) -> JossingState:
        """Return a state that is possible by all that a seat knows."""
        return determinization.determinize(observation, randrange)

    def evaluate(self, before: JossingState, after: JossingState) -> tuple[float, ...]:
        """Return the points that each seat gained, compared with the others; a bid in reach counts in mid-section."""
        return determinization.evaluate(before, after)


_AWAITING = tuple(SeatsToAct((seat,)) for seat in range(8))
