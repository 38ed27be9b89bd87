"""Perft: how many lines of actions there are from a position, counted by the engine's rules and by the judge's."""

import itertools
import pickle
from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

from croupier.conformance.comparison import ComparedTable, engine_legal, judge_names
from croupier.conformance.law import require_equal
from croupier.games.actions import decode_action
from croupier.games.interface import CardsShuffled, Game, SeatActed, ShuffleNeeded, State
from croupier_loadtest.judge.rules.interface import JudgeTable, Legal, ReplayAction

Position = TypeVar("Position")
MAX_LINES = 150
"""The maximum number of lines that are counted from a position of a walk."""
MAX_DEPTH = 6


def count(start: Position, depth: int, after: Callable[[Position], list[Position]]) -> list[int]:
    """Return the numbers of lines of 1, 2, 3, ... actions; a line that ends earlier counts on as one."""
    found, ended, going = list[int](), 0, [start]
    for _ in range(depth):
        further = [after(position) for position in going]
        ended += sum(not positions for positions in further)
        going = [position for positions in further for position in positions]
        found.append(len(going) + ended)
    return found


def acts(legal: Legal, *, chooses: bool) -> Iterator[ReplayAction]:
    """Yield each action, and with `chooses` each choice of cards; those of a hand are all different."""
    yield from legal.actions
    for verb, cards, fewest, most, parts in legal.choices if chooses else ():
        for number in range(fewest, min(most, len(cards)) + 1):
            for some in itertools.combinations(cards, number):
                for values in itertools.product(*parts.values()):
                    yield {"type": verb, "cards": list(some)} | dict(zip(parts, values, strict=True))


def by_engine(game: Game, state: State, *, chooses: bool) -> list[State]:
    """Return every state after one action; a reshuffle sorts the cards and draws noughts."""
    found, names = [], judge_names(game)
    for seat in range(len(game.scores(state))):
        for act in acts(engine_legal(game, state, seat), chooses=chooses):
            after, _ = game.apply(state, SeatActed(seat, decode_action(act, names)))
            while isinstance(due := game.awaiting(after), ShuffleNeeded) and due.shuffle_number > 1:
                after, _ = game.apply(after, CardsShuffled(due.cards, (0,) * len(due.draw_bounds)))
            found.append(after)
    return found


def by_judge(table: JudgeTable, *, chooses: bool) -> list[JudgeTable]:
    """Return the same by the judge's rules."""
    found, packed = [], pickle.dumps(table)
    for seat in table.to_act:
        for act in acts(table.legal(seat), chooses=chooses):
            after: JudgeTable = pickle.loads(packed)  # noqa: S301 - of this process
            after.act(seat, act)
            while (due := after.pending_shuffle) and due.shuffle_number > 1:
                after.shuffled(due.cards, [0] * len(due.draw_bounds))
            found.append(after)
    return found


def compare_counts(compared: ComparedTable) -> None:
    """Compare the numbers of lines of listed actions from a position, as deep as they are at most MAX_LINES."""
    game, depth = compared.game, 0
    going: Sequence[State] = [compared.state]
    while going and len(going) <= MAX_LINES and depth < MAX_DEPTH:
        going = [after for state in going for after in by_engine(game, state, chooses=False)]
        depth += 1
    depth -= len(going) > MAX_LINES
    lines = count(compared.state, depth, lambda state: by_engine(game, state, chooses=False))
    judged = count(compared.table, depth, lambda table: by_judge(table, chooses=False))
    require_equal("the numbers of lines by the judge", judged, lines)
