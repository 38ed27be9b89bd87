"""Perft: how many lines of actions there are from a position, counted by the engine's rules and by the judge's."""

import itertools
import pickle
from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

from croupier.conformance.comparison import ComparedTable, engine_legal, judge_names
from croupier.conformance.law import require_equal
from croupier.games.actions import decode_action
from croupier.games.interface import CardsShuffled, Game, SeatActed, ShuffleNeeded, State
from croupier_loadtest.judge.rules.interface import JudgeTable, Legal, ReplayAction

Position = TypeVar("Position")
Table = TypeVar("Table", bound=JudgeTable)
MAX_LINES = 150
"""The maximum number of lines that are counted from a position of a walk."""
MAX_DEPTH = 6
_OF_CARDS = ("keep", "swap")
"""The verbs that name their cards also if there are none."""


def count(start: Position, depth: int, after: Callable[[Position], Iterable[Position]]) -> list[int]:
    """Return the numbers of lines of 1, 2, 3, ... actions; a line that ends earlier counts on as one."""
    found, ended, going = list[int](), 0, [start]
    for _ in range(depth):
        further = [list(after(position)) for position in going]
        ended += sum(not positions for positions in further)
        going = [position for positions in further for position in positions]
        found.append(len(going) + ended)
    return found


def acts(legal: Legal, *, chooses: bool) -> Iterator[ReplayAction]:
    """Yield each action, and with `chooses` all that choices allow; the cards of a choice count as all different."""
    yield from legal.actions
    for verb, cards, fewest, most, parts in legal.choices if chooses else ():
        for number in range(fewest, min(most, len(cards)) + 1):
            for some in itertools.combinations(cards, number):
                named: ReplayAction = {"cards": list(some)} if cards or verb in _OF_CARDS else {}
                for values in itertools.product(*parts.values()):
                    yield {"type": verb} | named | dict(zip(parts, values, strict=True))


def by_engine(game: Game, state: State, *, chooses: bool) -> Iterator[State]:
    """Yield every state after one action; a reshuffle sorts the cards and draws noughts."""
    names = judge_names(game)
    for seat in range(len(game.scores(state))):
        for act in acts(engine_legal(game, state, seat), chooses=chooses):
            after, _ = game.apply(state, SeatActed(seat, decode_action(act, names)))
            while isinstance(due := game.awaiting(after), ShuffleNeeded) and due.shuffle_number > 1:
                after, _ = game.apply(after, CardsShuffled(due.cards, (0,) * len(due.draw_bounds)))
            yield after


def by_judge(table: Table, *, chooses: bool) -> Iterator[Table]:
    """Yield the same by the judge's rules."""
    packed = pickle.dumps(table)
    for seat in table.to_act:
        for act in acts(table.legal(seat), chooses=chooses):
            after: Table = pickle.loads(packed)  # noqa: S301 - of this process
            after.act(seat, act)
            while (due := after.pending_shuffle) and due.shuffle_number > 1:
                after.shuffled(due.cards, [0] * len(due.draw_bounds))
            yield after


def compare_counts(compared: ComparedTable) -> None:
    """Compare the numbers of lines from a position, as deep as they are at most MAX_LINES.

    Choices count in all ways, unless these are too many at the position; then lines end where no action is listed.
    """
    game, state = compared.game, compared.state
    chooses = bool(_depth(game, state, chooses=True))
    depth = _depth(game, state, chooses=chooses)
    lines = count(state, depth, lambda state: by_engine(game, state, chooses=chooses))
    judged = count(compared.table, depth, lambda table: by_judge(table, chooses=chooses))
    require_equal("the numbers of lines by the judge", judged, lines)


def _depth(game: Game, start: State, *, chooses: bool) -> int:
    """Return how many actions long lines are at most, of which there are at most MAX_LINES."""
    going = [start]
    for depth in range(MAX_DEPTH):
        further = itertools.chain.from_iterable(by_engine(game, state, chooses=chooses) for state in going)
        going = list(itertools.islice(further, MAX_LINES + 1))
        if len(going) > MAX_LINES:
            return depth
    return MAX_DEPTH
