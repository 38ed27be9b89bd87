"""The computer player `search`, which plays any game by Monte Carlo tree search over information sets.

There is one tree, of what the searching seat can distinguish. An iteration determinizes a table that looks the same to
the seat, walks down the tree by upper confidence bounds that count how often an action was available, adds one node,
lets the game's own first bot play the round on, and credits each node on the way with the reward of the seat that chose
it. The seat's alternatives are tried at the same determinized tables, so that the luck of the cards cancels out when
they are compared. If an action is one of too many to list, the tree ends and the first bot decides.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from math import inf, log, sqrt
from typing import TypeAlias

from croupier.games.actions import Action
from croupier.games.bots import random_neighbour, random_of, with_empty_swaps
from croupier.games.facts import Fact, RoundEnded, Seat
from croupier.games.interface import (
    NOTHING_LEGAL,
    Bot,
    CardsShuffled,
    Game,
    GameOver,
    Legal,
    Observation,
    RandomSource,
    SeatActed,
    SeatsToAct,
    ShuffleNeeded,
    State,
)

Clock: TypeAlias = Callable[[], int]
"""Returns integer milliseconds that never go back."""

THINKING_MILLISECONDS = 200
MAX_ITERATIONS = 20_000
"""Bounds the memory of a decision, because an iteration adds one node at most, and its time where no clock does."""
MAX_STEPS = 400
"""A determinized table is played on for so many actions at most, and then evaluated as it is."""
NEIGHBOURS, SAMPLES = 6, 2
"""The number of actions of a choice that are tried: one card away from the first bot's proposal, and others."""
MIN_STANDARD_SCORE = 1.0
"""An action is preferred to the first bot's proposal if it is better by so many standard errors."""
COMPARISON_EXPLORATION = 0.2
"""The weight of the uncertainty about the seat's own alternatives, against gains from -1 to 1."""
TREE_EXPLORATION = 0.7
"""The weight of uncertainty, against rewards from 0 to 1."""
MIN_COMPARISONS = 3
"""An action that was tried at fewer tables is not preferred."""
MIN_VARIANCE = 0.01
"""A lower bound: gains that happen to have been equal so far are not certain."""


@dataclass(slots=True)
class Node:
    """The statistics of an action at its place in the tree; rewards are those of the seat that chose it."""

    visits: int = 0
    available: int = 0
    rewards: float = 0.0
    children: dict[Action, "Node"] = field(default_factory=dict)

    def upper_bound(self) -> float:
        """Return the upper confidence bound of a node that was visited."""
        return self.rewards / self.visits + TREE_EXPLORATION * sqrt(log(self.available) / self.visits)

    def update(self, reward: float) -> None:
        """Count a visit and its reward."""
        self.visits += 1
        self.rewards += reward

    def select(self, actions: Sequence[Action], new: Action | None) -> Action:
        """Return the new action, or else the one with the highest bound; all known children count as available."""
        children = self.children
        if new is not None:
            children[new] = Node()
        for action in actions:
            if action in children:
                children[action].available += 1
        return max(actions, key=lambda action: children[action].upper_bound()) if new is None else new


@dataclass(slots=True)
class Comparison:
    """The gains of an alternative over the proposal at the same tables, one after the other."""

    tables: int = 0
    gains: float = 0.0
    squares: float = 0.0

    def add(self, gain: float) -> None:
        """Count a table."""
        self.tables += 1
        self.gains += gain
        self.squares += gain * gain

    def upper_bound(self, tables: int) -> float:
        """Return the upper confidence bound of the average gain after so many tables in all."""
        return (
            self.gains / self.tables + COMPARISON_EXPLORATION * sqrt(log(tables) / self.tables) if self.tables else inf
        )

    def standard_score(self) -> float:
        """Return the average gain in standard errors."""
        if self.tables < MIN_COMPARISONS:
            return 0.0
        mean = self.gains / self.tables
        variance = max(self.squares / self.tables - mean * mean, MIN_VARIANCE)
        return mean / sqrt(variance / self.tables)


@dataclass(frozen=True, slots=True)
class SearchBot:
    """A computer player that searches: for so many milliseconds if it has a clock, and so many iterations at most.

    Without a clock only the iterations end its search, and equal random numbers lead to equal actions.
    """

    game: Game
    thinking_milliseconds: int = THINKING_MILLISECONDS
    max_iterations: int = MAX_ITERATIONS
    clock: Clock | None = None

    def timed(self, clock: Clock) -> "SearchBot":
        """Return the same player with a clock."""
        return replace(self, clock=clock)

    def __call__(self, observation: Observation, randrange: RandomSource) -> Action:
        """Return an action; the only legal one at once, without a search. Raises ValueError if nothing is legal."""
        if observation.legal == NOTHING_LEGAL:
            raise ValueError(f"seat {observation.seat} has nothing to decide")
        if len(observation.legal.actions) == 1 and not observation.legal.choices:
            return observation.legal.actions[0]
        search, clock = _Search(self.game, observation, randrange), self.clock
        if not search.comparisons:
            return search.proposed  # A choice that can be completed in one way, or of which no other was drawn.
        end = clock() + self.thinking_milliseconds if clock else 0
        for _ in range(self.max_iterations):
            if clock and clock() >= end:
                break
            search.iterate()
        return search.decision()


class _Search:
    """The tree of one decision, and how it grows.

    Each alternative is compared with the proposal of the game's first bot at the same determinized tables, where the
    luck of the cards is the same; `proposal_rewards` has the reward of the proposal at each.
    """

    def __init__(self, game: Game, observation: Observation, randrange: RandomSource) -> None:
        self.game, self.observation, self.randrange = game, observation, randrange
        self.policy: Bot = next(iter(game.bots.values()))
        self.proposed = self.policy(observation, randrange)
        self.legal = with_empty_swaps(observation.legal)
        others = dict.fromkeys((*self.legal.actions, *self._sampled()))
        self.comparisons = {action: Comparison() for action in others if action != self.proposed}
        self.nodes = {action: Node() for action in (self.proposed, *self.comparisons)}
        self.tables: list[State] = []
        self.proposal_rewards: list[float] = []

    def _sampled(self) -> list[Action]:
        choices = self.legal.choices
        if not choices:
            return []
        near = [
            random_neighbour(self.proposed, choice, self.randrange) for choice in choices for _ in range(NEIGHBOURS)
        ]
        far = [random_of(Legal((), choices), self.randrange) for _ in range(SAMPLES)]
        return [action for action in (*near, *far) if action is not None]

    def decision(self) -> Action:
        """Return the alternative with the highest standard score, if that suffices; else the proposal."""
        best = max(
            self.comparisons, key=lambda action: self.comparisons[action].standard_score(), default=self.proposed
        )
        surely = best in self.comparisons and self.comparisons[best].standard_score() > MIN_STANDARD_SCORE
        return best if surely else self.proposed

    def iterate(self) -> None:
        """Try an action at a table, play the table to the end of the round, and record the rewards."""
        seat, action = self.observation.seat, self._next_alternative()
        node = self.nodes[action]
        if node.visits == len(self.tables):
            self.tables.append(self.game.determinize(self.observation, self.randrange))
        before, path = self.tables[node.visits], [(node, seat)]
        state, ended = self._after(before, seat, action)
        if node.visits and not ended:
            state, ended = self._select(state, path)
        rewards = self.game.evaluate(before, state if ended else self._rollout(state))
        if action == self.proposed:
            self.proposal_rewards.append(rewards[seat])
        else:
            self.comparisons[action].add(rewards[seat] - self.proposal_rewards[node.visits])
        for visited, chooser in path:
            visited.update(rewards[chooser])

    def _next_alternative(self) -> Action:
        """Return the alternative with the highest bound, or the proposal if its reward has to be known first."""
        tables = sum(node.visits for node in self.nodes.values()) + 1
        best = max(self.comparisons, key=lambda action: self.comparisons[action].upper_bound(tables))
        return best if self.comparisons[best].tables < len(self.proposal_rewards) else self.proposed

    def _select(self, state: State, path: list[tuple[Node, Seat]]) -> tuple[State, bool]:
        """Extend the path to a new node; return the table there, and whether the round is over."""
        while len(path) < MAX_STEPS:
            node, seat = path[-1][0], self._next_seat(state)
            legal = self.game.legal_actions(state, seat)
            if legal.choices:
                break
            action = node.select(legal.actions, self._untried(state, seat, node, legal.actions))
            node = node.children[action]
            path.append((node, seat))
            state, ended = self._after(state, seat, action)
            if ended or not node.visits:
                return state, ended
        return state, False

    def _untried(self, state: State, seat: Seat, node: Node, actions: Sequence[Action]) -> Action | None:
        """Return an action that was not tried here, preferably the policy's; None if all were."""
        untried = [action for action in actions if action not in node.children]
        if len(untried) < 2:
            return untried[0] if untried else None
        proposed = self._default_action(state, seat)
        return proposed if proposed in untried else untried[self.randrange(len(untried))]

    def _default_action(self, state: State, seat: Seat) -> Action:
        """Return the action of the game's first bot, which sees what the seat sees."""
        legal = self.game.legal_actions(state, seat)
        if len(legal.actions) == 1 and not legal.choices:
            return legal.actions[0]
        return self.policy(
            Observation(seat, self.observation.options, self.game.view(state, seat), legal), self.randrange
        )

    def _rollout(self, state: State) -> State:
        """Return the round as the first bot plays it to its end in every seat."""
        for _ in range(MAX_STEPS):
            seat = self._next_seat(state)
            state, ended = self._after(state, seat, self._default_action(state, seat))
            if ended:
                break
        return state

    def _after(self, state: State, seat: Seat, action: Action) -> tuple[State, bool]:
        """Return the table after an action and the shuffles that become due, and whether the round is over."""
        after, facts = self.game.apply(state, SeatActed(seat, action))
        ended = _ends_round(facts)
        while not ended and isinstance(due := self.game.awaiting(after), ShuffleNeeded):
            after, facts = self.game.apply(after, self._shuffled(due))
            ended = _ends_round(facts)
        return after, ended or isinstance(self.game.awaiting(after), GameOver)

    def _shuffled(self, due: ShuffleNeeded) -> CardsShuffled:
        left = list(due.cards)
        order = tuple([left.pop(self.randrange(len(left))) for _ in range(len(left))])
        return CardsShuffled(order, tuple(map(self.randrange, due.draw_bounds)))

    def _next_seat(self, state: State) -> Seat:
        awaiting = self.game.awaiting(state)
        assert isinstance(awaiting, SeatsToAct), "the round is not over and nothing is shuffled"  # noqa: S101
        return awaiting.seats[0]


def _ends_round(facts: Iterable[Fact]) -> bool:
    return any(type(fact) is RoundEnded for fact in facts)
