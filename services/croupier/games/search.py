"""The computer player that thinks: it looks in any game at what may come of each of its actions.

Monte Carlo tree search over information sets, with one tree of what the searching seat can tell apart: an iteration
imagines a table that looks the same to the seat, walks down the tree by upper confidence bounds that count how often
an action was available, adds one node, lets the game's own first bot play the round on, and credits every node on the
way with what the round brought the seat that chose it. Its own alternatives meet the same imagined tables, so that the
luck of the cards cancels out when they are compared. Where an action is one of too many to list and is not shown to
all, the tree ends and the first bot decides.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from croupier.games.actions import Action
from croupier.games.bots import nearby, random_of
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
from croupier.games.tree import Compared, Node

Clock: TypeAlias = Callable[[], int]
"""Gives integer milliseconds that never go back."""

THINKING_MILLISECONDS = 200
MOST_ITERATIONS = 20_000
"""Bounds the memory of a decision, because an iteration adds one node at most, and its time where no clock does."""
MOST_STEPS = 400
"""An imagined table is played on for so many actions at most; then it is rated as it stands."""
NEAR, FAR = 6, 2
"""Of a choice so many are tried that are one card away from the first bot's proposal, and so many other ones."""
CAUTION = 1.0
"""So many standard errors must an action be better than what the first bot proposes, to be preferred."""


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


class _Search:
    """The tree of one decision, and how it grows.

    Each alternative is compared with what the game's first bot proposes at the same imagined tables, where the luck of
    the cards is the same; `plain` has what the proposal brought at each.
    """

    def __init__(self, game: Game, seen: Seen, choose: Choose) -> None:
        self.game, self.seen, self.choose = game, seen, choose
        self.guide: Bot = next(iter(game.bots.values()))
        self.proposed = self.guide(seen, choose)
        others = dict.fromkeys((*seen.legal.actions, *self._sampled()))
        self.compared = {action: Compared() for action in others if action != self.proposed}
        self.nodes = {action: Node() for action in (self.proposed, *self.compared)}
        self.tables: list[State] = []
        self.plain: list[float] = []

    def _sampled(self) -> list[Action]:
        if not self.seen.legal.choices:
            return []
        choices = self.seen.legal.choices
        near = [nearby(self.proposed, choice, self.choose) for choice in choices for _ in range(NEAR)]
        far = [random_of(Legal((), choices), self.choose) for _ in range(FAR)]
        return [action for action in (*near, *far) if action is not None]

    def decision(self) -> Action:
        """What is better than the proposal by most standard errors, if by enough; else the proposal."""
        best = max(self.compared, key=lambda action: self.compared[action].lead(), default=self.proposed)
        surely = best in self.compared and self.compared[best].lead() > CAUTION
        return best if surely else self.proposed

    def iterate(self) -> None:
        """Try an action at a table, play that to the end of the round, and learn from it."""
        seat, action = self.seen.seat, self._due()
        node = self.nodes[action]
        before, path = self._table(node.visits), [(node, seat)]
        state, ended = self._after(before, seat, action)
        if node.visits and not ended:
            state, ended = self._descend(state, path)
        rewards = self.game.rate(before, state if ended else self._played_on(state))
        if action == self.proposed:
            self.plain.append(rewards[seat])
        else:
            self.compared[action].add(rewards[seat] - self.plain[node.visits])
        for visited, chooser in path:
            visited.credit(rewards[chooser])

    def _due(self) -> Action:
        """The alternative with the highest bound; or else the proposal, where that has to be known first."""
        tables = sum(node.visits for node in self.nodes.values()) + 1
        best = max(self.compared, key=lambda action: self.compared[action].bound(tables))
        return best if self.compared[best].tables < len(self.plain) else self.proposed

    def _table(self, number: int) -> State:
        if number == len(self.tables):
            self.tables.append(self.game.imagine(self.seen, self.choose))
        return self.tables[number]

    def _descend(self, state: State, path: list[tuple[Node, Seat]]) -> tuple[State, bool]:
        """Extend the path to a new node; gives the table there, and whether the round is over."""
        while len(path) < MOST_STEPS:
            node, seat = path[-1][0], _next_seat(state)
            legal = state.legal_actions(seat)
            if legal.choices:
                break
            action = node.pick(legal.actions, self._new(state, seat, node, legal.actions))
            node = node.children[action]
            path.append((node, seat))
            state, ended = self._after(state, seat, action)
            if ended or not node.visits:
                return state, ended
        return state, False

    def _new(self, state: State, seat: Seat, node: Node, actions: Sequence[Action]) -> Action | None:
        """An action that was not tried here, what the guide does first; None if all were."""
        untried = [action for action in actions if action not in node.children]
        if len(untried) < 2:
            return untried[0] if untried else None
        proposed = self._guided(state, seat)
        return proposed if proposed in untried else untried[self.choose(len(untried))]

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
