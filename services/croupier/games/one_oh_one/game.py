"""The rules of 101 behind the interface of all games."""

from types import MappingProxyType
from typing import Any

from croupier.games import interface
from croupier.games.bots import random_legal
from croupier.games.cards import notation
from croupier.games.facts import Fact, Ranking
from croupier.games.interface import Option
from croupier.games.one_oh_one import determinization, legality, scoring, turns, view
from croupier.games.one_oh_one.bots import sensible
from croupier.games.one_oh_one.state import OneOhOneOptions, OneOhOneState, Progress, circle


class OneOhOne(interface.Rules[OneOhOneState]):
    """The game of 101 for 2 to 4 seats."""

    id = "one_oh_one"
    name = "101"
    summary = "Match suit or rank to shed your cards; what is left in your hand counts, and 101 points lose."
    seats = range(2, 5)
    bots = MappingProxyType({"sensible": sensible, "random": random_legal})
    names = MappingProxyType(
        {
            "cover": "has to cover its six with",
            "penalty": "loses a turn",
            "pile": "open cards",
            "starter": "led by seat",
            "to_take": "cards still to take",
        }
    )

    def options(self, seats: int) -> tuple[Option, ...]:  # noqa: ARG002 - the same for all
        """Return every option; all are independent (101-OPT-1)."""
        either = (True, False)
        return (
            Option("deck", 36, (36, 52, 104), "number of cards: 36 from the sixes up, 52, or two packs of 52"),
            Option("exact_101_reset", False, either, "a score of exactly 101 becomes 0"),
            Option(
                "first_move_any", True, either, "the first card of a round is free, not the one that was dealt last"
            ),
            Option("lose_at", "reach", ("reach", "exceed"), "the game is lost with 101 points, or only with more"),
            Option("elimination", False, either, "a loser drops out and the others play on"),
            Option("queen_covers_six", True, either, "every queen covers a six, not only that of its suit"),
            Option("finish_on_six", False, either, "a six may be the last card"),
            Option("last_card_effects", True, either, "a last card still makes the next player take cards"),
            Option(
                "recycle", "flip", ("flip", "shuffle"), "how played cards become a new stock: turned over or shuffled"
            ),
            Option("may_draw_instead", False, either, "a player who could play may draw all the same"),
            Option("floor_zero", False, either, "no score falls below 0"),
            Option(
                "queen_penalty",
                "instead",
                ("instead", "added"),
                "what a hand of queens costs: 20 or 40 for each queen instead of her 3 points, or added to them",
                earlier="instead",
            ),
            Option("max_rounds", 0, range(1001), "rounds after which the game is over at the latest, 0 for no limit"),
        )

    def new(self, seats: int, options: interface.OptionValues) -> OneOhOneState:
        """Return the state before the first deal."""
        none = (0,) * seats
        return OneOhOneState(OneOhOneOptions.of(seats, options), Progress(0, 0, none, circle(seats, ())), none)

    def awaiting(self, state: OneOhOneState) -> interface.Awaiting:
        """Return a seat's action, a deal, a reshuffle, or the end."""
        if state.turn >= 0:
            return interface.ONE_TO_ACT[state.turn]
        progress = state.progress
        if state.owed:
            cards = tuple(sorted(turns.under_top(state.pile)))
            return interface.ShuffleNeeded(cards, (), progress.round_number, state.reshuffles + 2)
        if progress.reason:
            return interface.GameOver(scoring.ranking(progress), progress.reason)
        # The first round draws its starter (101-DEAL-3).
        bounds = () if progress.round_number else (state.options.seats,)
        return interface.ShuffleNeeded(state.options.deck, bounds, progress.round_number + 1, 1)

    def scores(self, state: OneOhOneState) -> tuple[int, ...]:
        """Return the scores after the finished rounds, by seat (101-SCORE-1)."""
        return state.progress.totals

    def event_rules(self, state: OneOhOneState) -> interface.EventRules:
        """Return the rules of the deal or the reshuffle, or the one that ended the game."""
        if state.phase == "over":
            rule = legality.END_RULES[state.progress.reason]
            return interface.EventRules(rule, rule, rule, "101-PLAY-1")
        if state.owed:
            return interface.EventRules("101-STOCK-3", "101-STOCK-3", "101-STOCK-3", "101-PLAY-1")
        return interface.EventRules("101-DEAL-1", "101-DEAL-2", "101-DEAL-3", "101-PLAY-1")

    def shuffle(
        self, state: OneOhOneState, shuffled: interface.CardsShuffled
    ) -> tuple[OneOhOneState, tuple[Fact, ...]]:
        """Deal, or go on after a reshuffle."""
        return turns.reshuffle(state, state.owed, shuffled) if state.owed else turns.deal(state, shuffled)

    def shuffle_record(self, state: OneOhOneState, shuffled: interface.CardsShuffled) -> dict[str, Any]:
        """Return the deal (101-DEAL-1) or the reshuffle (101-STOCK-3)."""
        if state.owed:
            return {"type": "reshuffle", "stock": notation(shuffled.cards)}
        return turns.record(state, shuffled)

    def ranking_at_limit(self, state: OneOhOneState) -> Ranking | None:
        """Return the seats as at the end of a game; None in the first round (101-END-5)."""
        return scoring.ranking(state.progress) if state.progress.round_number > 1 else None

    legal_actions = staticmethod(turns.legal_actions)
    act = staticmethod(turns.act)
    determinize = staticmethod(determinization.determinize)
    evaluate = staticmethod(determinization.evaluate)
    view = staticmethod(view.view)
