"""The rules of Solo behind the interface of all games."""

from collections.abc import Callable
from types import MappingProxyType
from typing import Any, TypeAlias

from croupier.games import interface
from croupier.games.actions import Action
from croupier.games.bots import random_legal
from croupier.games.facts import Ranking, Seat
from croupier.games.interface import Option
from croupier.games.sampling import Sampling
from croupier.games.solo import auction, determinization, scoring, steering, tricks, turns, view
from croupier.games.solo.bots import sensible
from croupier.games.solo.deck import DECK
from croupier.games.solo.options import OPTIONS
from croupier.games.solo.state import NOBODY, SEATS, SoloOptions, SoloState
from croupier.games.solo.words import PILES, WORDS


class Solo(interface.Rules[SoloState]):
    """The game of Solo for 4 seats (SOLO-DECK-2)."""

    id = "solo"
    name = "Solo"
    summary = "Win five of eight tricks with a hidden partner or alone; the last one short of 36 gets the Buck."
    seats = range(SEATS, SEATS + 1)
    rule_prefix = "SOLO"
    bots = MappingProxyType({"sensible": sensible, "random": random_legal})
    words = WORDS
    piles = PILES
    has_tricks = True
    sampling = Sampling(
        briefest=MappingProxyType({"do_factor": 1, "through_factor": 1}),
        reveals=steering.shows_black_queens_or_partner,
        is_rare=steering.is_solo,
        steered=steering.uneven_hands,
    )
    proposals = MappingProxyType(
        {
            "restart_same": "Play this hand again from the auction, everybody with the same cards.",
            "restart_new": "Play this hand again with new cards from the same dealer.",
        }
    )
    standing = interface.Standing(
        ("escaped", "buck"), has_winners=False, figure="escape_rate", is_share=True, places_decide=False
    )

    def options(self, seats: int) -> tuple[Option, ...]:  # noqa: ARG002 - there is one number
        """Return every option; all are independent (SOLO-OPT-1)."""
        return OPTIONS

    def new(self, seats: int, options: interface.OptionValues) -> SoloState:  # noqa: ARG002 - there is one number
        """Return the state before the first deal."""
        return SoloState(SoloOptions.of(options))

    def awaiting(self, state: SoloState) -> interface.Awaiting:
        """Return a seat's action, the next deal, or the end."""
        if state.to_act != NOBODY:
            return interface.ONE_TO_ACT[state.to_act]
        if state.phase == "over":
            return interface.GameOver(scoring.ranking(state), "buck")
        # The first deal of a game draws a dealer (SOLO-DEAL-1).
        bounds = (SEATS,) if state.draws_dealer else ()
        return interface.ShuffleNeeded(DECK, bounds, state.due_hand, state.progress.deals + 1)

    def scores(self, state: SoloState) -> tuple[int, ...]:
        """Return the totals by seat, at most 36."""
        return state.progress.totals

    def legal_actions(self, state: SoloState, seat: Seat) -> interface.Legal:
        """Return bids and trumps in the order of the ladder or suits, cards ascending, then throwing down."""
        if seat != state.to_act or seat == NOBODY:
            return interface.NOTHING_LEGAL
        return interface.Legal(_PHASES[state.phase][0](state))

    def event_rules(self, state: SoloState) -> interface.EventRules:
        """Return the rules of the deal and the restart, or that of the end."""
        if state.phase == "over":
            return interface.EventRules(*["SOLO-END-2"] * 4)
        return interface.EventRules("SOLO-DEAL-3", "SOLO-DEAL-3", "SOLO-DEAL-1", "SOLO-RESTART-2")

    def act(self, state: SoloState, seat: Seat, action: Action) -> turns.Transition:
        """Call, name trump or play."""
        if seat != state.to_act or seat == NOBODY:
            raise turns.not_to_act(state, seat)
        return _PHASES[state.phase][1](state, action)

    def proposal_record(self, state: SoloState, proposal: str) -> dict[str, Any]:
        """Return the restart as SOLO-RESTART-2 writes it; raises IllegalAction."""
        return {"type": "restart_hand", "cards": turns.cards_again(state, proposal)}

    def ranking_at_limit(self, state: SoloState) -> Ranking | None:
        """Return the seats that are out, and the others below them; None if none is out (SOLO-END-6)."""
        return scoring.ranking(state) if any(state.progress.went_out) else None

    def outcomes(self, ranking: Ranking, reason: str) -> tuple[str, ...]:
        """Return who has the Buck and who has escaped it; none of a game that ended without it (SOLO-STAT-1)."""
        if reason != "buck":
            return ()
        escaped, buck = self.standing.outcomes
        return tuple(buck if seat in ranking[-1] else escaped for seat in range(SEATS))

    shuffle = staticmethod(turns.deal)
    shuffle_record = staticmethod(turns.record)
    agree = staticmethod(turns.restart)
    determinize = staticmethod(determinization.determinize)
    evaluate = staticmethod(determinization.evaluate)
    view = staticmethod(view.view)


_Phase: TypeAlias = tuple[Callable[[SoloState], tuple[Action, ...]], Callable[[SoloState, Action], turns.Transition]]
_PHASES: dict[str, _Phase] = {
    "auction": (auction.legal, auction.act),
    "wedding": (auction.legal_wedding, auction.act_wedding),
    "keep": (auction.legal_keep, auction.act_keep),
    "name_trump": (auction.legal_trumps, auction.name_trump),
    "call": (auction.legal_calls, auction.call),
    "play": (tricks.legal, tricks.act),
}
"""By phase: the legal actions of the seat to act, and its action."""
