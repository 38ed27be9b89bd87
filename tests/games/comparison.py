"""The engine's rules beside the judge's, which were written from the pages alone: the one comparison of both.

`Both` follows a whole game; `apply` does one event in a position. Either compares all that can be known at that moment.
"""

import copy
import json
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from croupier.games import interface
from croupier.games.actions import Action, Keep, action_from_json, action_to_json
from croupier.games.cards import NOTATION, SUITS, notation
from croupier.games.facts import SPECTATOR, Fact, RoundEnded, View, Viewer
from croupier.games.interface import CardsShuffled, Event, Game, IllegalAction, ProposalAgreed, SeatActed, State
from loadtest.judge.rules.catalogue import RULES
from loadtest.judge.rules.interface import Act, Choice, Illegal, Legal, Options, Table
from tests.games.judge_table import judge_table

AGREED: Mapping[str, Act] = {
    "restart_same": {"type": "restart_hand", "cards": "same"},
    "restart_new": {"type": "restart_hand", "cards": "new"},
}
"""What seats can agree to, as replays write it (SOLO-RESTART-2)."""


class Both(NamedTuple):
    """One table by both implementations, after the same events."""

    state: State
    table: Table

    @classmethod
    def new(cls, game: Game, seats: int, options: Options) -> "Both":
        """A table before its first deal."""
        return cls(game.new(seats, options), RULES[game.id](seats, options))

    def apply(self, event: Event) -> tuple["Both", tuple[Fact, ...]]:
        """Both after an event that the rules allow, compared; the judge's table changes in place."""
        state, table = self
        after, facts = state.apply(event)
        rounds = len(table.rounds)
        match event:
            case SeatActed(seat, action):
                equal("action read from what was written", action, action_from_json(action_to_json(action)))
                table.act(seat, action_to_json(action))
            case CardsShuffled(cards, drawn):
                equal("event of the replay", state.event_record(event), table.shuffled(notation(cards), list(drawn)))
            case ProposalAgreed(proposal):
                equal("event of the replay", state.event_record(event), AGREED[proposal])
                table.agree(dict(AGREED[proposal]))
        ended = [(list(fact.points), list(fact.totals)) for fact in facts if isinstance(fact, RoundEnded)]
        equal("rounds", ended, [(points, totals) for points, totals in table.rounds[rounds:]])
        both = Both(after, table)
        both.compare()
        return both, facts

    def compare(self) -> None:
        """Everything that can be known of the two tables is the same; AssertionError names what is not."""
        state, table = self
        _compare_duties(state, table)
        seats = range(len(state.scores))
        for seat in seats:
            equal(f"what seat {seat} may do", _canonical(engine_legal(state, seat)), _canonical(table.legal(seat)))
        for viewer in (*seats, SPECTATOR):
            _compare_view(state.view(viewer), viewer, table)
        equal("scores", list(state.scores), table.scores)

    def refusal(self, event: Event) -> str | None:
        """The rule by which the judge refuses an event, "" if it does not; None for what it is not asked about.

        It is asked about no shuffles, which are the engine's alone, nor about seats and actions that there are not.
        """
        if isinstance(event, SeatActed):
            written = _written(event.action) if event.seat in range(len(self.state.scores)) else None
            return None if written is None else self.refusal_of_action(event.seat, written)
        if isinstance(event, ProposalAgreed):
            return self._refusal(lambda table: table.agree(AGREED.get(event.proposal, {"type": event.proposal})))
        return None

    def refusal_of_action(self, seat: int, action: Act) -> str:
        """The rule by which the judge refuses an action as JSON; "" if it does not."""
        return self._refusal(lambda table: table.act(seat, action))

    def _refusal(self, act: Callable[[Table], object]) -> str:
        trial = copy.deepcopy(self.table)
        try:
            act(trial)
        except Illegal as refusal:
            Both(self.state, trial).compare()  # A refusal changes nothing.
            return refusal.rule
        return ""


def apply(state: State, event: Event) -> tuple[Any, tuple[Fact, ...]]:
    """What an event makes of a position, compared with the judge; raises IllegalAction if the engine refuses it."""
    (after, _), facts = Both(state, judge_table(state)).apply(event)
    return after, facts


def rule_against(state: State, event: Event) -> str:
    """The rule by which engine and judge refuse an event in a position; "" if both accept it."""
    rule = refusal_by_engine(state, event)
    assert Both(state, judge_table(state)).refusal(event) in (rule, None), (event, rule)
    return rule


def refusal_by_engine(state: State, event: Event) -> str:
    """The rule by which the engine refuses an event, with a reason; "" if it does not."""
    try:
        state.apply(event)
    except IllegalAction as refused:
        return refused.rule if str(refused) else "a refusal without words"
    return ""


def _written(action: Action) -> Act | None:
    """The action as JSON; None for one that cannot be written, such as a card that there is not."""
    try:
        written: Act = action_to_json(action)
        return written if action_from_json(written) == action else None
    except (IndexError, TypeError, ValueError):
        return None


def _compare_duties(state: State, table: Table) -> None:
    """What the tables wait for, or how the game ended."""
    awaiting = state.awaiting
    due = awaiting if isinstance(awaiting, interface.ShuffleNeeded) else None
    wanted = (notation(due.cards), list(due.draw_bounds), due.round_number, due.shuffle_number) if due else None
    equal("shuffle wanted", wanted, table.shuffle_wanted)
    seats = list(awaiting.seats) if isinstance(awaiting, interface.SeatsToAct) else []
    equal("seats to act", seats, table.to_act)
    over = awaiting if isinstance(awaiting, interface.GameOver) else None
    ranking = None if table.ranking is None else [sorted(group) for group in table.ranking]
    equal("ranking", [sorted(group) for group in over.ranking] if over else None, ranking)


def _compare_view(view: View, viewer: Viewer, table: Table) -> None:
    """What a seat or the spectators see; a table that looks different to each says so itself (110-VIS-4)."""
    equal("round", view.round_number, table.round_number)
    equal(f"totals seen by {viewer}", [seat.score for seat in view.seats], table.scores)
    hands = getattr(table, "hands_seen_by", lambda _: table.hands)(viewer)
    piles = getattr(table, "piles_seen_by", lambda _: table.piles)(viewer)
    theirs = {name: (count, [(NOTATION[card], seat) for card, seat in lying]) for name, count, lying in view.piles}
    ours = {
        name: (len(pile.cards), list(pile.cards) if pile.seen_by is None or viewer in pile.seen_by else [])
        for name, pile in piles.items()
    }
    equal(f"piles seen by {viewer}", theirs, ours)
    for seat, (shown, hand) in enumerate(zip(view.seats, hands, strict=True)):
        equal(f"number of cards of {seat} seen by {viewer}", shown.card_count, len(hand))
        if shown.cards or seat == viewer:
            equal(f"hand {seat} seen by {viewer}", sorted(notation(shown.cards)), sorted(hand))


def engine_legal(state: State, seat: int) -> Legal:
    """What the engine lets a seat do, in the judge's words."""
    legal = state.legal_actions(seat)
    choices = [
        Choice("keep" if verb is Keep else "swap", notation(cards), fewest, most, [SUITS[suit] for suit in suits])
        for verb, cards, fewest, most, suits in legal.choices
    ]
    return Legal([action_to_json(action) for action in legal.actions], choices)


def _canonical(legal: Legal) -> list[str]:
    """What is legal in one order, each once; no more cards can be chosen than there are."""
    actions = {json.dumps(action, sort_keys=True) for action in legal.actions}
    choices = {
        (verb, *sorted(cards), fewest, min(most, len(cards)), *sorted(suits))
        for verb, cards, fewest, most, suits in legal.choices
    }
    return sorted(actions) + sorted(map(str, choices))


def equal(what: str, theirs: Any, ours: Any) -> None:
    """AssertionError with both unless they are equal."""
    assert theirs == ours, f"{what}: the engine has {theirs}, the judge {ours}"
