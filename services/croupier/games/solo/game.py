"""The rules of Solo behind the interface of all games."""

from collections.abc import Callable
from types import MappingProxyType
from typing import Any, TypeAlias

from croupier.games import interface
from croupier.games.actions import Action
from croupier.games.bots import random_legal
from croupier.games.facts import Ranking, Seat
from croupier.games.interface import Option
from croupier.games.solo import auction, determinization, scoring, tricks, turns, view
from croupier.games.solo.bots import sensible
from croupier.games.solo.deck import DECK
from croupier.games.solo.state import NOBODY, SEATS, SoloOptions, SoloState
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
    "nobody": "nobody",
    "kind": "clean or dirty",
    "pledge": "all eight tricks by",
    "called_card": "called card",
    "went_out": "out since hand",
    "taken": "finished tricks",
    "buck": "only the Buck is left",
    "bucks": "times left with the Buck",
}


class Solo(interface.Rules[SoloState]):
    """The game of Solo for 4 seats (SOLO-DECK-2)."""

    id = "solo"
    name = "Solo"
    summary = "Win five of eight tricks with a hidden partner or alone; the last one short of 36 gets the Buck."
    seats = range(SEATS, SEATS + 1)
    bots = MappingProxyType({"sensible": sensible, "random": random_legal})
    names = MappingProxyType(NAMES)
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
        return (
            Option("deal_packets", "323", ("323", "singles"), "how many cards are dealt to a seat at a time"),
            Option("deal_start", "right", ("right", "left"), "which neighbour of the dealer gets the first cards"),
            Option("first_lead", "left_of_dealer", ("left_of_dealer", "declarer"), "the leader to the first trick"),
            Option("through_factor", 2, (1, 2), "factor for a hand that goes through"),
            Option("do_factor", 3, (1, 3), "factor for a do"),
            Option("partner_do", True, (False, True), "whether a do may be called with a partner"),
            Option(
                "fail_value",
                "full",
                ("full", "base"),
                "the value of a failed do or through: with its factor or without",
            ),
            Option(
                "called_card_rule",
                "forced",
                ("forced", "penalty"),
                "whether the called card must be played when it can be",
            ),
            Option(
                "solo_keep",
                False,
                (False, True),
                "whether a soloist may take clubs themselves when clubs overrule them",
            ),
            Option(
                "wedding_trump",
                "not_called_suit",
                ("not_called_suit", "any_suit"),
                "trumps of the partner in a wedding",
            ),
            Option(
                "wedding_card",
                "binds",
                ("binds", "free"),
                "whether the card called in a wedding has to be played in time, as in a froke",
                earlier="free",
            ),
            Option(
                "call",
                "must",
                ("must", "may"),
                "whether the declarer of a froke or an iss may call nobody and play alone",
                earlier="must",
            ),
            Option(
                "do_over_clubs",
                True,
                (False, True),
                "whether a solo do outranks a solo in clubs",
                earlier=True,
            ),
            Option(
                "last_two",
                "declarers",
                ("declarers", "either_pair"),
                "which pairs of the last two seats cause a throw-in",
            ),
            Option("double_out", "void", ("void", "lowest"), "the result if a hand would put out all who remain"),
            Option("ranking", "buck_only", ("buck_only", "out_order"), "whether the three safe seats share one rank"),
        )

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
