"""The computer player that thinks: it looks in any game at what may come of each of its actions.

Monte Carlo tree search over information sets, with one tree of what the searching seat can tell apart: an iteration
imagines a table that looks the same to the seat, walks down the tree by upper confidence bounds that count how often
an action was available, adds one node, lets the game's own first bot play the round on, and credits every node on the
way with what the round brought the seat that chose it. Where an action is one of too many to list and is not shown to
all, the tree ends and the first bot decides.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from math import log, sqrt
from typing import TypeAlias

from croupier.games.actions import Action
from croupier.games.bots import random_of
from croupier.games.facts import Fact, RoundEnded, Seat
from croupier.games.interface import (
    NOTHING_LEGAL,
    Bot,
    CardsShuffled,
    Choose,
    Game,
    GameOver,
    Legal,
    SeatActed,
    SeatsToAct,
    Seen,
    ShuffleNeeded,
    State,
)

Clock: TypeAlias = Callable[[], int]
"""Gives integer milliseconds that never go back."""

THINKING_MILLISECONDS = 200
MOST_ITERATIONS = 20_000
"""Bounds the memory of a decision, because an iteration adds one node at most, and its time where no clock does."""
MOST_STEPS = 400
"""An imagined table is played on for so many actions at most; then it is rated as it stands."""
SAMPLED_CHOICES = 8
"""Of a choice of cards so many are tried by chance, beside the one that the first bot proposes."""
EXPLORATION = 0.7
"""The weight of what is not known yet, against rewards from 0 to 1."""
CAUTION = 1.0
"""So many standard errors must an action be better than what the first bot proposes, to be preferred."""
LEAST_VARIANCE = 0.01
"""Rewards that have been equal by luck so far are not taken for certain."""


@dataclass(frozen=True, slots=True)
class SearchBot:
    """A computer player that thinks: for so many milliseconds if it has a clock, and so many iterations at most.

    Without a clock the iterations alone end its thinking, and equal chance gives equal actions.
    """

    game: Game
    thinking_milliseconds: int = THINKING_MILLISECONDS
    most_iterations: int = MOST_ITERATIONS
    clock: Clock | None = None

    def timed(self, clock: Clock) -> "SearchBot":
        """The same player with a clock."""
        return replace(self, clock=clock)

    def __call__(self, seen: Seen, choose: Choose) -> Action:
        """Search, then act; what has no alternative is done at once. Raises ValueError if nothing is legal."""
        if seen.legal == NOTHING_LEGAL:
            raise ValueError(f"seat {seen.seat} has nothing to decide")
        if len(seen.legal.actions) == 1 and not seen.legal.choices:
            return seen.legal.actions[0]
        search = _Search(self.game, seen, choose)
        for _ in self._thinking():
            search.iterate()
        return search.decision()

    def _thinking(self) -> Iterable[int]:
        """One number for each iteration that time is left for."""
        clock = self.clock
        if clock is None:
            yield from range(self.most_iterations)
            return
        end = clock() + self.thinking_milliseconds
        for number in range(self.most_iterations):
            if clock() >= end:
                return
            yield number


@dataclass(slots=True)
class Node:
    """What is known of an action at its place in the tree; rewards are those of the seat that chose it."""

    visits: int = 0
    available: int = 0
    rewards: float = 0.0
    squares: float = 0.0
    children: dict[Action, "Node"] = field(default_factory=dict)

    @property
    def mean(self) -> float:
        """The average reward, of a node that was visited."""
        return self.rewards / self.visits

    @property
    def doubt(self) -> float:
        """The square of the standard error of the mean."""
        return max(self.squares / self.visits - self.mean**2, LEAST_VARIANCE) / self.visits

    def bound(self) -> float:
        """The upper confidence bound."""
        return self.mean + EXPLORATION * sqrt(log(self.available) / self.visits)

    def credit(self, reward: float) -> None:
        """Count a visit and what it brought."""
        self.visits += 1
        self.rewards += reward
        self.squares += reward * reward


class _Search:
    """The tree of one decision, and how it grows."""

    def __init__(self, game: Game, seen: Seen, choose: Choose) -> None:
        self.game, self.seen, self.choose = game, seen, choose
        self.guide: Bot = next(iter(game.bots.values()))
        self.root = Node()
        self.proposed = self.guide(seen, choose)
        self.candidates = tuple(dict.fromkeys((self.proposed, *seen.legal.actions, *self._sampled())))

    def _sampled(self) -> list[Action]:
        choices = Legal((), self.seen.legal.choices)
        return [random_of(choices, self.choose) for _ in range(SAMPLED_CHOICES if choices.choices else 0)]

    def decision(self) -> Action:
        """What is surely enough better than the guide's proposal, by most standard errors; else the proposal."""
        tried = self.root.children
        if self.proposed not in tried:
            return self.proposed
        plain = tried[self.proposed]

        def lead(action: Action) -> float:
            node = tried[action]
            return (node.mean - plain.mean) / sqrt(node.doubt + plain.doubt)

        best = max(tried, key=lead)
        return best if lead(best) > CAUTION else self.proposed

    def iterate(self) -> None:
        """Imagine a table, play it to the end of the round, and learn from it."""
        before = self.game.imagine(self.seen, self.choose)
        path, state, ended = self._descend(before)
        rewards = self.game.rate(before, state if ended else self._played_on(state))
        for node, seat in path:
            node.credit(rewards[seat])

    def _descend(self, state: State) -> tuple[list[tuple[Node, Seat]], State, bool]:
        """The nodes from the root to a new one with who chose them, the table there, and whether the round is over."""
        node, seat, actions = self.root, self.seen.seat, self.candidates
        path: list[tuple[Node, Seat]] = []
        while actions and len(path) < MOST_STEPS:
            action = self._selected(state, seat, node, actions)
            node = node.children[action]
            path.append((node, seat))
            state, ended = self._after(state, seat, action)
            if ended or not node.visits:
                return path, state, ended
            seat = _next_seat(state)
            legal = state.legal_actions(seat)
            actions = () if legal.choices else legal.actions
        return path, state, False

    def _selected(self, state: State, seat: Seat, node: Node, actions: Sequence[Action]) -> Action:
        """An action that is new here, what the guide would do first; or else the one with the highest bound."""
        children = node.children
        untried = [action for action in actions if action not in children]
        if untried:
            action = self._new(state, seat, untried)
            children[action] = Node()
        for known in actions:
            if known in children:
                children[known].available += 1
        return action if untried else max(actions, key=lambda known: children[known].bound())

    def _new(self, state: State, seat: Seat, untried: list[Action]) -> Action:
        if len(untried) > 1:
            proposed = self.proposed if seat == self.seen.seat and not self.root.children else self._guided(state, seat)
            if proposed in untried:
                return proposed
        return untried[self.choose(len(untried))]

    def _guided(self, state: State, seat: Seat) -> Action:
        """What the game's first bot does, which sees what the seat sees."""
        legal = state.legal_actions(seat)
        if len(legal.actions) == 1 and not legal.choices:
            return legal.actions[0]
        return self.guide(Seen(seat, self.seen.options, state.view(seat), legal), self.choose)

    def _played_on(self, state: State) -> State:
        """The round as the first bot in every seat ends it."""
        for _ in range(MOST_STEPS):
            seat = _next_seat(state)
            state, ended = self._after(state, seat, self._guided(state, seat))
            if ended:
                break
        return state

    def _after(self, state: State, seat: Seat, action: Action) -> tuple[State, bool]:
        """The table after an action and the shuffles that it makes due, and whether the round is over."""
        after, facts = state.apply(SeatActed(seat, action))
        ended = _ends_round(facts)
        while not ended and isinstance(due := after.awaiting, ShuffleNeeded):
            after, facts = after.apply(self._shuffled(due))
            ended = _ends_round(facts)
        return after, ended or isinstance(after.awaiting, GameOver)

    def _shuffled(self, due: ShuffleNeeded) -> CardsShuffled:
        left = list(due.cards)
        order = tuple([left.pop(self.choose(len(left))) for _ in range(len(left))])
        return CardsShuffled(order, tuple(map(self.choose, due.draw_bounds)))


def _next_seat(state: State) -> Seat:
    awaiting = state.awaiting
    assert isinstance(awaiting, SeatsToAct), "the round is not over and nothing is shuffled"  # noqa: S101
    return awaiting.seats[0]


def _ends_round(facts: Iterable[Fact]) -> bool:
    return any(type(fact) is RoundEnded for fact in facts)
