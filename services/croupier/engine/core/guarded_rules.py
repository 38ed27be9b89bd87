"""The boundary between the engine and the rules of a game: every call of rules for a table goes through it.

Rules may be those of another package. What they raise, except for the refusal of an action, is a failure of the rules,
by which the engine refuses what it was asked for. The time of some of the calls that may take long is measured.
"""

from collections.abc import Callable
from typing import Any, ParamSpec, Protocol, TypeVar

from croupier.engine.core.log import TableConfig
from croupier.games.actions import Action
from croupier.games.facts import Fact, Ranking, Seat, View, Viewer
from croupier.games.interface import (
    Awaiting,
    CardsShuffled,
    Event,
    Game,
    IllegalAction,
    Legal,
    Observation,
    OptionValues,
    ProposalAgreed,
    RandomSource,
    Rules,
    State,
)
from croupier.games.registry import rules_of
from croupier.runtime.errors import IllegalNow
from croupier_api.v1 import errors_pb2

RETRY_SECONDS = 60
"""A table whose rules are missing or fail is tried again after this time."""

TIMED = 16
"""Of so many calls of the rules of a table one is timed, which takes 4,000 instructions: a hundredth of a move."""

Result = TypeVar("Result")
P = ParamSpec("P")


class RulesUnusable(IllegalNow):
    """The rules of a table are missing, or have failed: their package has to be installed, or mended."""


def rules_failed(config: TableConfig, error: str) -> RulesUnusable:
    """Return the refusal after an error of a table's rules, by the name of its type: its text may name cards."""
    by = f" ({config.package})" if config.package else ""
    return RulesUnusable(
        errors_pb2.ERROR_REASON_RULES_FAILED,
        f"the rules of {config.game}{by} failed at this table, by {error}: the operator's log has more",
        retry_after_seconds=RETRY_SECONDS,
        metadata={"game": config.game, "package": config.package},
    )


def rules_missing(config: TableConfig) -> RulesUnusable:
    """Return the refusal of a table whose rules no engine has."""
    of = f" of {config.package}" if config.package else ""
    return RulesUnusable(
        errors_pb2.ERROR_REASON_RULES_MISSING,
        f"the rules of this table are missing: {config.game}, version {config.rules_version}{of}, is not installed",
        retry_after_seconds=RETRY_SECONDS,
        metadata={"game": config.game, "rules_version": str(config.rules_version), "package": config.package},
    )


class RulesWatch(Protocol):
    """Notices the time and the failures of the rules of one table."""

    def seconds(self) -> float:
        """Return the time, in seconds since any moment."""

    def took(self, seconds: float) -> None:
        """Notice a call of the rules that took so long."""

    def failed(self, error: Exception) -> RulesUnusable:
        """Notice what the rules raised, and return the refusal for it."""


class Unwatched:
    """The watch of a fold that belongs to no table in play, such as that of a replay."""

    def __init__(self, config: TableConfig) -> None:
        self._config = config

    def seconds(self) -> float:
        return 0.0

    def took(self, seconds: float) -> None:
        """Do nothing."""

    def failed(self, error: Exception) -> RulesUnusable:
        return rules_failed(self._config, type(error).__name__)


class GuardedRules(Rules[Any]):
    """The rules of a table; calls raise RulesUnusable if the rules fail, and IllegalAction as those do.

    Those of each move are written out, since a general one would take three times their instructions.
    """

    def __init__(self, rules: Game, watch: RulesWatch) -> None:
        self.watch = watch
        self._rules = rules
        self._calls = 0
        self._failed, self._seconds, self._took = watch.failed, watch.seconds, watch.took
        self._apply, self._awaiting, self._legal_actions = rules.apply, rules.awaiting, rules.legal_actions
        self.deck, self.proposals, self.standing = rules.deck, rules.proposals, rules.standing

    def __eq__(self, other: object) -> bool:
        """Return whether the rules are the same, guarded or not."""
        return self._rules == (other._rules if isinstance(other, GuardedRules) else other)

    def __hash__(self) -> int:
        return hash(self._rules)

    def failed(self, error: Exception) -> RulesUnusable:
        """Return the refusal after an action or a stored entry that the rules should not have refused."""
        return self._failed(error)

    def _time(self) -> float:
        """Return the time for a call that is timed, 0 for any other."""
        self._calls += 1
        return 0.0 if self._calls % TIMED else self._seconds()

    # Calls of each move

    def step(self, state: State, event: Event) -> tuple[State, tuple[Fact, ...], Awaiting]:
        """Return what `apply` returns, and what has to happen next."""
        began = self._time()
        try:
            after, facts = self._apply(state, event)
            awaiting = self._awaiting(after)
        except IllegalAction:
            raise
        except Exception as error:  # noqa: BLE001 - a game may raise anything
            raise self._failed(error) from None
        if began:
            self._took(self._seconds() - began)
        return after, facts, awaiting

    def legal_actions(self, state: State, seat: Seat, /) -> Legal:
        began = self._time()
        try:
            legal = self._legal_actions(state, seat)
        except Exception as error:  # noqa: BLE001 - a game may raise anything
            raise self._failed(error) from None
        if began:
            self._took(self._seconds() - began)
        return legal

    # Other calls

    def _call(self, method: Callable[P, Result], *arguments: P.args, **named: P.kwargs) -> Result:
        try:
            return method(*arguments, **named)
        except Exception as error:  # noqa: BLE001 - a game may raise anything
            raise self._failed(error) from None

    def _judged(self, method: Callable[P, Result], *arguments: P.args, **named: P.kwargs) -> Result:
        """Return what a method returns that may refuse an event."""
        try:
            return method(*arguments, **named)
        except IllegalAction:
            raise
        except Exception as error:  # noqa: BLE001 - a game may raise anything
            raise self._failed(error) from None

    def quick_action(self, bot: str, observation: Observation, randrange: RandomSource) -> Action:
        """Return the action of a quick computer player by its name, or else of the first one of the game."""
        bots = self._rules.bots
        began = self._time()
        action = self._call(bots.get(bot) or next(iter(bots.values())), observation, randrange)
        if began:
            self._took(self._seconds() - began)
        return action

    def new(self, seats: int, options: OptionValues) -> State:
        return self._call(self._rules.new, seats, options)

    def awaiting(self, state: State) -> Awaiting:
        return self._call(self._rules.awaiting, state)

    def scores(self, state: State) -> tuple[int, ...]:
        return self._call(self._rules.scores, state)

    def apply(self, state: State, event: Event) -> tuple[State, tuple[Fact, ...]]:
        return self._judged(self._rules.apply, state, event)

    def act(self, state: State, seat: Seat, action: Action, /) -> tuple[State, tuple[Fact, ...]]:
        return self._judged(self._rules.act, state, seat, action)

    def shuffle(self, state: State, shuffled: CardsShuffled, /) -> tuple[State, tuple[Fact, ...]]:
        return self._judged(self._rules.shuffle, state, shuffled)

    def view(self, state: State, viewer: Viewer, /) -> View:
        began = self._time()
        view = self._call(self._rules.view, state, viewer)
        if began:
            self._took(self._seconds() - began)
        return view

    def ranking_at_limit(self, state: State) -> Ranking | None:
        return self._call(self._rules.ranking_at_limit, state)

    def outcomes(self, ranking: Ranking, reason: str) -> tuple[str, ...]:
        return self._call(self._rules.outcomes, ranking, reason)

    def event_record(self, state: State, event: CardsShuffled | ProposalAgreed) -> dict[str, Any]:
        return self._judged(self._rules.event_record, state, event)


def guarded_rules(config: TableConfig, watch: RulesWatch | None = None) -> GuardedRules:
    """Return the rules of a table's start; raises UnknownRules for an unknown version."""
    return GuardedRules(rules_of(config.game, config.rules_version), watch or Unwatched(config))
