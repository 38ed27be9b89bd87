"""The comparison of the engine's rules with the judge's, which were written from the rules pages alone.

`ComparedTable` follows a whole game; `apply` applies one event to a position. Both compare all that can be known.
"""

import json
import pickle
from collections.abc import Callable, Collection, Mapping
from typing import Any, NamedTuple

from croupier.games import interface
from croupier.games.actions import Action, KeepCards, decode_action, encode_action
from croupier.games.bots import with_empty_swaps
from croupier.games.cards import NOTATION, SUITS, notation
from croupier.games.facts import SPECTATOR, Fact, RoundEnded, View, Viewer
from croupier.games.interface import CardsShuffled, Event, Game, IllegalAction, ProposalAgreed, SeatActed, State
from croupier_loadtest.judge.rules.interface import Choice, Illegal, JudgeTable, Legal, Options, ReplayAction
from croupier_loadtest.judge.rules.registry import OWN_JUDGES
from tests.games import dispatch
from tests.games.judge_table import judge_table

REPLAY_PROPOSALS: Mapping[str, ReplayAction] = {
    "restart_same": {"type": "restart_hand", "cards": "same"},
    "restart_new": {"type": "restart_hand", "cards": "new"},
}
"""Proposals as replays contain them (SOLO-RESTART-2)."""


class ComparedTable(NamedTuple):
    """A table by both implementations, after the same events."""

    state: State
    table: JudgeTable

    @classmethod
    def new(cls, game: Game, seats: int, options: Options) -> "ComparedTable":
        """Return a table before its first deal."""
        return cls(game.new(seats, options), OWN_JUDGES[game.id](seats, options))

    def copied(self) -> "ComparedTable":
        """Return the same tables, the judge's as a copy, because it changes in place."""
        return self._replace(table=pickle.loads(pickle.dumps(self.table)))  # noqa: S301 - of this process

    def apply(self, event: Event, viewers: Collection[Viewer] = ()) -> tuple["ComparedTable", tuple[Fact, ...]]:
        """Apply a legal event to both and compare them as `compare` does; the judge's table changes in place."""
        state, table = self
        after, facts = dispatch.apply(state, event)
        rounds = len(table.rounds)
        match event:
            case SeatActed(seat, action):
                assert_equal("action decoded from its encoding", action, decode_action(encode_action(action)))
                table.act(seat, encode_action(action))
            case CardsShuffled(cards, drawn):
                written = table.shuffled(notation(cards), list(drawn))
                assert_equal("event of the replay", dispatch.event_record(state, event), written)
            case ProposalAgreed(proposal):
                assert_equal("event of the replay", dispatch.event_record(state, event), REPLAY_PROPOSALS[proposal])
                table.agree(dict(REPLAY_PROPOSALS[proposal]))
        ended = [(list(fact.score.points), list(fact.score.totals)) for fact in facts if isinstance(fact, RoundEnded)]
        assert_equal("rounds", ended, [(points, totals) for points, totals in table.rounds[rounds:]])
        compared = ComparedTable(after, table)
        compared.compare(viewers)
        return compared, facts

    def compare(self, viewers: Collection[Viewer] = ()) -> None:
        """Assert that all that these viewers can know of the two tables is the same; by default all viewers."""
        state, table = self
        _compare_awaiting(state, table)
        seats = range(len(dispatch.scores(state)))
        for seat in seats:
            legal, own = engine_legal(state, seat), table.legal(seat)
            if legal != own:
                assert_equal(f"legal actions of seat {seat}", _canonical(legal), _canonical(own))
        for viewer in viewers or (*seats, SPECTATOR):
            _compare_view(dispatch.view(state, viewer), viewer, table)
        assert_equal("scores", list(dispatch.scores(state)), table.scores)

    def refusal(self, event: Event) -> str | None:
        """Return the rule by which the judge refuses an event, "" if it does not, None for events that it cannot check.

        It cannot check shuffles, which only the engine makes, nor seats and actions that do not exist.
        """
        if isinstance(event, SeatActed):
            written = _to_json(event.action) if event.seat in range(len(dispatch.scores(self.state))) else None
            return None if written is None else self.refusal_of_action(event.seat, written)
        if isinstance(event, ProposalAgreed):
            return self._refusal(
                lambda table: table.agree(REPLAY_PROPOSALS.get(event.proposal, {"type": event.proposal}))
            )
        return None

    def refusal_of_action(self, seat: int, action: ReplayAction) -> str:
        """Return the rule by which the judge refuses an action as JSON; "" if it does not."""
        return self._refusal(lambda table: table.act(seat, action))

    def _refusal(self, act: Callable[[JudgeTable], object]) -> str:
        trial = self.copied()
        try:
            act(trial.table)
        except Illegal as refusal:
            trial.compare()  # A refusal changes nothing.
            return refusal.rule
        return ""


def apply(state: State, event: Event) -> tuple[Any, tuple[Fact, ...]]:
    """Return state and facts after an event, compared with the judge; raises IllegalAction if the engine refuses it."""
    (after, _), facts = ComparedTable(state, judge_table(state)).apply(event)
    return after, facts


def rule_against(state: State, event: Event) -> str:
    """Return the rule by which engine and judge refuse an event in a position; "" if both accept it."""
    rule = refusal_by_engine(state, event)
    assert ComparedTable(state, judge_table(state)).refusal(event) in (rule, None), (event, rule)
    return rule


def refusal_by_engine(state: State, event: Event) -> str:
    """Return the rule by which the engine refuses an event; "" if it does not."""
    try:
        dispatch.apply(state, event)
    except IllegalAction as refused:
        return refused.rule if str(refused) else "a refusal without text"
    return ""


def _to_json(action: Action) -> ReplayAction | None:
    """Return the action as JSON; None for one that has no encoding, such as an unknown card."""
    try:
        written: ReplayAction = encode_action(action)
        return written if decode_action(written) == action else None
    except (IndexError, TypeError, ValueError):
        return None


def _compare_awaiting(state: State, table: JudgeTable) -> None:
    """Compare the awaited events, or the end of the game."""
    awaiting = dispatch.awaiting(state)
    due = awaiting if isinstance(awaiting, interface.ShuffleNeeded) else None
    pending = (notation(due.cards), list(due.draw_bounds), due.round_number, due.shuffle_number) if due else None
    assert_equal("pending shuffle", pending, table.pending_shuffle)
    seats = list(awaiting.seats) if isinstance(awaiting, interface.SeatsToAct) else []
    assert_equal("seats to act", seats, table.to_act)
    over = awaiting if isinstance(awaiting, interface.GameOver) else None
    outcomes = dispatch.rules(state).outcomes(over.ranking, over.reason) if over and not over.is_void else ()
    assert_equal("outcomes", list(outcomes), table.outcomes)
    ranking = None if table.ranking is None else [sorted(group) for group in table.ranking]
    assert_equal("ranking", [sorted(group) for group in over.ranking] if over else None, ranking)
    if seats:
        at_limit, own = dispatch.ranking_at_limit(state), table.ranking_at_limit()
        assert_equal(
            "ranking at a limit",
            at_limit and [sorted(group) for group in at_limit],
            own and [sorted(group) for group in own],
        )


def _compare_view(view: View, viewer: Viewer, table: JudgeTable) -> None:
    """Compare the views of a seat or the spectators; the judge's table has hooks for views that differ (110-VIS-4)."""
    assert_equal("round", view.round_number, table.round_number)
    assert_equal(f"totals seen by {viewer}", [seat.score for seat in view.seats], table.scores)
    hands, piles = table.seen()[-1 if viewer == SPECTATOR else viewer]
    engine = {
        pile.name if pile.owner is None else f"{pile.name} {pile.owner}": (
            pile.card_count,
            [(NOTATION[card], seat) for card, seat in pile.cards],
        )
        for pile in view.piles
    }
    judge = {
        name: (len(pile.cards), list(pile.cards) if pile.seen_by is None or viewer in pile.seen_by else [])
        for name, pile in piles.items()
    }
    assert_equal(f"piles seen by {viewer}", engine, judge)
    for seat, (shown, hand) in enumerate(zip(view.seats, hands, strict=True)):
        assert_equal(f"number of cards of {seat} seen by {viewer}", shown.card_count, len(hand))
        is_seen = seat == viewer or seat in table.open_hands
        assert_equal(f"hand {seat} seen by {viewer}", sorted(notation(shown.cards)), sorted(hand) if is_seen else [])
        known = [] if is_seen else sorted(table.known[seat])
        assert_equal(f"known cards of {seat} seen by {viewer}", sorted(notation(shown.known_cards)), known)


def engine_legal(state: State, seat: int) -> Legal:
    """Return the engine's legal actions of a seat in the judge's form, in which standing pat is a swap of no cards."""
    legal = with_empty_swaps(dispatch.legal_actions(state, seat))
    choices = [
        Choice(
            "keep" if isinstance(choice.action, KeepCards) else "swap",
            notation(choice.cards.cards),
            choice.cards.min_cards,
            choice.cards.max_cards,
            {"trump": [SUITS[suit] for suit in choice.suits]} if choice.suits else {},
        )
        for choice in legal.choices
        if choice.cards
    ]
    return Legal([encode_action(action) for action in legal.actions], choices)


def _canonical(legal: Legal) -> list[str]:
    """Return legal actions in one order without repeats; no more cards can be chosen than there are."""
    actions = {json.dumps(action, sort_keys=True) for action in legal.actions}
    choices = {
        (verb, *sorted(cards), fewest, min(most, len(cards)), json.dumps(parts, sort_keys=True))
        for verb, cards, fewest, most, parts in legal.choices
    }
    return sorted(actions) + sorted(map(str, choices))


def assert_equal(name: str, engine: Any, judge: Any) -> None:
    """Raise AssertionError with both values unless they are equal."""
    assert engine == judge, f"{name}: the engine has {engine}, the judge {judge}"
