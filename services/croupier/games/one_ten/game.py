"""The rules of 110 behind the interface of all games."""

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
from croupier.games.one_ten import bidding, deal, determinization, kitty, scoring, setup, tricks, view
from croupier.games.one_ten.bots import sensible
from croupier.games.one_ten.state import OneTenState


class OneTen:
    """The game of 110 for 2 to 8 seats."""

    id: Final = "one_ten"
    name: Final = "110"
    summary: Final = "Bid for the kitty and the trump suit, take tricks, and be the first with 110 points."
    rules_version: Final = 1
    seats: Final = range(2, 9)
    bots: Final[Mapping[str, Bot]] = MappingProxyType({"sensible": sensible, "random": random_legal})
    names: Final[Mapping[str, str]] = MappingProxyType(
        {
            "JK": "joker",
            "declarer": "bid winner",
            "put_away": "cards put away",
            "taken": "finished tricks",
            "bids_won": "bids won",
            "bids_made": "bids made",
            "target": "somebody has 110 points",
            "max_rounds": "all rounds have been played",
        }
    )
    proposals: Final[Mapping[str, str]] = MappingProxyType({})
    deck: Final[tuple[CardFace, ...]] = ()

    def teams(self, seats: int) -> tuple[tuple[Seat, ...], ...]:  # noqa: ARG002 - the port's signature
        """Return none: each seat plays for itself."""
        return ()

    def options(self, seats: int) -> tuple[Option, ...]:  # noqa: ARG002 - the port's signature
        """Return every option; they are the same at every number of seats (110-OPT-1)."""
        return setup.options()

    def check(self, seats: int, options: OptionValues) -> None:
        """Raise InvalidOption if there are not enough cards for the hand size (110-OPT-1)."""
        setup.check(seats, options)

    def new(self, seats: int, options: OptionValues) -> OneTenState:
        """Return the state before the first deal."""
        return setup.before_first_deal(setup.resolved(seats, options))

    def awaiting(self, state: OneTenState) -> Awaiting:
        """Return all seats that still have to act, a shuffle, or the end."""
        if state.to_act:
            return SeatsToAct(state.to_act)
        match state.phase:
            case "deal":
                return deal.needed(state)
            case "reshuffle":
                return ShuffleNeeded(state.exchange.put_away, (), state.progress.round_number, 2)
            case _:
                return GameOver(state.progress.ranking, state.progress.reason)

    def scores(self, state: OneTenState) -> tuple[int, ...]:
        """Return the totals by seat."""
        return state.progress.totals

    def legal_actions(self, state: OneTenState, seat: Seat) -> Legal:
        """Return all that a seat may do now; keeping and swapping are described as choices."""
        if seat not in state.to_act:
            return NOTHING_LEGAL
        match state.phase:
            case "tricks":
                return tricks.legal(state, seat)
            case "bidding":
                return bidding.legal(state, seat)
            case _:
                return kitty.legal(state, seat)

    def apply(self, state: OneTenState, event: Event) -> tuple[OneTenState, tuple[Fact, ...]]:
        """Return the next state and what became known; raises IllegalAction."""
        if not isinstance(event, SeatActed):
            return kitty.reshuffle(state, event) if state.phase == "reshuffle" else deal.deal(state, event)
        seat, action = event
        if seat not in state.to_act:
            raise _not_to_act(state.phase, seat)
        match state.phase:
            case "tricks":
                return tricks.act(state, seat, action)
            case "bidding":
                return bidding.act(state, seat, action)
            case _:
                return kitty.act(state, seat, action)

    def ranking_at_limit(self, state: OneTenState) -> tuple[tuple[Seat, ...], ...] | None:
        """Return the seats by score; None in the first round (110-END-5)."""
        progress = state.progress
        return scoring.ranking(progress.totals, winner=None) if progress.round_number > 1 else None

    def view(self, state: OneTenState, viewer: Viewer) -> View:
        """Return all that a seat, or SPECTATOR, may know (110-VIS-1 to -6)."""
        return view.view(state, viewer)

    def event_record(self, state: OneTenState, event: CardsShuffled | ProposalAgreed) -> dict[str, Any]:
        """Return the event as 110-DEAL-1 or 110-SWAP-6 writes it; raises IllegalAction."""
        return kitty.record(state, event) if state.phase == "reshuffle" else deal.record(state, event)

    def determinize(self, observation: Observation, randrange: RandomSource) -> OneTenState:
        """Return a state that is possible by all that a seat knows."""
        return determinization.determinize(observation, randrange)

    def evaluate(self, before: OneTenState, after: OneTenState) -> tuple[float, ...]:
        """Return the points that each seat gained against the others' average; at the end also the win."""
        return determinization.evaluate(before, after)


def _not_to_act(phase: str, seat: Seat) -> IllegalAction:
    match phase:
        case "bidding":
            return IllegalAction("110-BID-1", f"seat {seat} is not to speak: wait for your turn")
        case "kitty":
            return IllegalAction("110-SWAP-1", f"seat {seat} is not to act: each seat keeps or swaps once")
        case "reshuffle":
            return IllegalAction("110-SWAP-6", "the stock is being filled up: wait until all have drawn")
        case "tricks":
            return IllegalAction("110-TRICK-3", f"it is not the turn of seat {seat}")
        case "over":
            return IllegalAction("110-END-1", "the game is over")
        case _:
            return IllegalAction("110-DEAL-5", "the cards are being shuffled: wait for them")
