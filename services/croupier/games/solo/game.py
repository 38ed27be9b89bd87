"""The rules of Solo behind the interface of all games."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Final

from croupier.games.actions import Action
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
from croupier.games.solo import auction, deal, determinization, naming, scoring, setup, tricks, turns, view
from croupier.games.solo.bots import sensible
from croupier.games.solo.deck import DECK
from croupier.games.solo.state import NOBODY, SEATS, SoloState
from croupier.games.solo.summary import BID_NAMES

NAMES = {
    "QC": "the Old",
    "QS": "the Blue",
    **BID_NAMES,
    "clean": "clean",
    "dirty": "dirty",
    "do": "do",
    "through": "gone through",
    "unknown": "the unknown ace",
    "kind": "clean or dirty",
    "pledge": "all eight tricks by",
    "called_card": "called card",
    "went_out": "out since hand",
    "taken": "finished tricks",
    "buck": "only the Buck is left",
    "bucks": "times left with the Buck",
}


class Solo:
    """The game of Solo for 4 seats (SOLO-DECK-2)."""

    id: Final = "solo"
    name: Final = "Solo"
    summary: Final = "Win five of eight tricks with a hidden partner or alone; the last one short of 36 gets the Buck."
    rules_version: Final = 1
    seats: Final = range(4, 5)
    bots: Final[Mapping[str, Bot]] = MappingProxyType({"sensible": sensible, "random": random_legal})
    names: Final[Mapping[str, str]] = MappingProxyType(NAMES)
    proposals: Final[Mapping[str, str]] = MappingProxyType(
        {
            "restart_same": "Play this hand again from the auction, everybody with the same cards.",
            "restart_new": "Play this hand again with new cards from the same dealer.",
        }
    )
    deck: Final[tuple[CardFace, ...]] = ()

    def teams(self, seats: int) -> tuple[tuple[Seat, ...], ...]:  # noqa: ARG002 - the port's signature
        """Return none: each seat plays for itself."""
        return ()

    def options(self, seats: int) -> tuple[Option, ...]:  # noqa: ARG002 - the port's signature
        """Return every option; all are independent (SOLO-OPT-1)."""
        return setup.OPTIONS

    def check(self, seats: int, options: OptionValues) -> None:
        """Accept all: every combination is valid (SOLO-OPT-1)."""

    def new(self, seats: int, options: OptionValues) -> SoloState:  # noqa: ARG002 - the port's signature
        """Return the state before the first deal."""
        return SoloState(setup.resolved(options))

    def awaiting(self, state: SoloState) -> Awaiting:
        """Return a seat's action, the next deal, or the end."""
        if state.to_act != NOBODY:
            return _AWAITING[state.to_act]
        if state.phase == "over":
            return GameOver(scoring.ranking(state), "buck")
        return ShuffleNeeded(DECK, deal.draw_bounds(state), state.due_hand, state.progress.deals + 1)

    def scores(self, state: SoloState) -> tuple[int, ...]:
        """Return the totals by seat, at most 36."""
        return state.progress.totals

    def legal_actions(self, state: SoloState, seat: Seat) -> Legal:
        """Return bids and trumps in the order of the ladder or suits, cards ascending, then throwing down."""
        if seat != state.to_act or seat == NOBODY:
            return NOTHING_LEGAL
        return Legal(_LEGAL[state.phase](state))

    def apply(self, state: SoloState, event: Event) -> tuple[SoloState, tuple[Fact, ...]]:
        """Return the next state and what became known; raises IllegalAction."""
        match event:
            case SeatActed(seat, _) if seat != state.to_act or seat == NOBODY:
                raise turns.not_to_act(state, seat)
            case SeatActed(_, action):
                return _ACT[state.phase](state, action)
            case ProposalAgreed():
                return deal.restart(state, event)
            case CardsShuffled():
                return deal.deal(state, event)

    def ranking_at_limit(self, state: SoloState) -> tuple[tuple[Seat, ...], ...] | None:
        """Return the seats that are out, and the others below them; None if none is out (SOLO-END-6)."""
        return scoring.ranking(state) if any(state.progress.went_out) else None

    def view(self, state: SoloState, viewer: Viewer) -> View:
        """Return all that a seat, or SPECTATOR, may know."""
        return view.view(state, viewer)

    def event_record(self, state: SoloState, event: CardsShuffled | ProposalAgreed) -> dict[str, Any]:
        """Return the deal or restart as a replay writes it; raises IllegalAction for one not possible now."""
        return deal.record(state, event)

    def determinize(self, observation: Observation, randrange: RandomSource) -> SoloState:
        """Return a state that is possible by all that a seat knows."""
        return determinization.determinize(observation, randrange)

    def evaluate(self, before: SoloState, after: SoloState) -> tuple[float, ...]:
        """Return the points gained against the others; a seat that is left with the Buck did worst."""
        return determinization.evaluate(before, after)


_AWAITING = tuple(SeatsToAct((seat,)) for seat in range(SEATS))
_LEGAL: dict[str, Callable[[SoloState], tuple[Action, ...]]] = {
    "auction": auction.legal,
    "wedding": auction.legal_wedding,
    "keep": auction.legal_keep,
    "name_trump": naming.legal_trumps,
    "call": naming.legal_calls,
    "play": tricks.legal,
}
_ACT: dict[str, Callable[[SoloState, Action], tuple[SoloState, tuple[Fact, ...]]]] = {
    "auction": auction.act,
    "wedding": auction.act_wedding,
    "keep": auction.act_keep,
    "name_trump": naming.name_trump,
    "call": naming.call,
    "play": tricks.act,
}
