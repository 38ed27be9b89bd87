"""The rules of President behind the interface of all games."""

from types import MappingProxyType

from croupier.games import interface
from croupier.games.bots import random_legal
from croupier.games.cards import STANDARD_DECK
from croupier.games.facts import Ranking
from croupier.games.interface import Option
from croupier.games.sampling import Sampling
from croupier_president import determinization, play, scoring, steering, view
from croupier_president.bots import sensible
from croupier_president.state import NOBODY, THREE_OF_CLUBS, PresidentOptions, PresidentState, Progress
from croupier_president.words import PILES, WORDS


class President(interface.Rules[PresidentState]):
    """The game of President for 3 to 7 seats (PRES-PLAYERS-1)."""

    id = "president"
    rule_prefix = "PRES"
    name = "President"
    summary = "Shed your cards by laying higher ones of equal rank; the last player hands their best to the first."
    seats = range(3, 8)
    bots = MappingProxyType({"sensible": sensible, "random": random_legal})
    words = WORDS
    piles = PILES
    recommended_seats = range(4, 8)
    sampling = Sampling(
        brief=MappingProxyType({"rounds": 2}),
        briefest=MappingProxyType({"rounds": 1}),
        drawn=MappingProxyType({"rounds": range(1, 4), "target": (0, 9)}),
        public_cards=lambda _: (THREE_OF_CLUBS,),
        steered=steering.ranks_together,
        unreached=MappingProxyType({"action StandPat": "it is a swap of no cards, which PRES-EXCH-3 always refuses"}),
    )

    def options(self, seats: int) -> tuple[Option, ...]:  # noqa: ARG002 - the same for all
        """Return every option; all are independent (PRES-OPT-1)."""
        return _OPTIONS

    def new(self, seats: int, options: interface.OptionValues) -> PresidentState:
        """Return the state before the first deal."""
        none = (0,) * seats
        return PresidentState(PresidentOptions.of(seats, options), Progress(0, NOBODY, none), "deal", none)

    def awaiting(self, state: PresidentState) -> interface.Awaiting:
        """Return the seats to act, the next deal, or the end."""
        if state.to_act:
            return interface.SeatsToAct(state.to_act)
        progress = state.progress
        if progress.reason:
            return interface.GameOver(scoring.ranking(progress), progress.reason)
        bounds = () if progress.round_number else (state.options.seats,)  # PRES-DEAL-1
        return interface.ShuffleNeeded(STANDARD_DECK, bounds, progress.round_number + 1, 1)

    def scores(self, state: PresidentState) -> tuple[int, ...]:
        """Return the points of the complete rounds by seat (PRES-SCORE-1, PRES-SCORE-2)."""
        return state.progress.totals

    def event_rules(self, state: PresidentState) -> interface.EventRules:
        """Return the rules of the deal, or the one of the end."""
        due = "PRES-END-4" if state.phase == "over" else "PRES-DEAL-3"
        return interface.EventRules(due, "PRES-DECK-1", "PRES-DEAL-1", "PRES-PLAYERS-2")

    def ranking_at_limit(self, state: PresidentState) -> Ranking | None:
        """Return the ranking by the complete rounds; None in the first one (PRES-END-5)."""
        return scoring.ranking(state.progress) if state.progress.order else None

    legal_actions = staticmethod(play.legal_actions)
    act = staticmethod(play.act)
    shuffle = staticmethod(play.deal)
    shuffle_record = staticmethod(play.record)
    determinize = staticmethod(determinization.determinize)
    evaluate = staticmethod(determinization.evaluate)
    view = staticmethod(view.view)


_OPTIONS = (
    Option(
        "exchange",
        "double",
        ("double", "single", "none"),
        "which titles exchange cards before a later round, and how many",
        group="exchange",
    ),
    Option(
        "later_lead",
        "president",
        ("president", "scum"),
        "who leads first in every round but the first",
        group="play",
    ),
    Option(
        "passing",
        "open",
        ("open", "final"),
        "whether a player who has passed may still lay cards in the same trick",
        group="play",
    ),
    Option(
        "scoring",
        "places",
        ("places", "titles"),
        "points for every place but the last, or for president and vice-president only",
        group="scoring",
    ),
    Option("rounds", 5, range(1, 101), "after how many rounds the game is over", group="end", unit="rounds"),
    Option(
        "target",
        0,
        range(201),
        "with how many points of a player the game is over earlier, 0 for none",
        group="end",
        unit="points",
    ),
)
