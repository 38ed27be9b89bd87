"""The tables whose rules fail: after the third failure a table is set aside, and tried again each minute."""

import asyncio
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from croupier.engine.core.guarded_rules import RETRY_SECONDS, RulesUnusable, RulesWatch, rules_failed
from croupier.engine.core.log import TableConfig
from croupier.engine.metrics import EngineMetrics
from croupier.runtime.identity.tokens import Clock
from croupier.runtime.observation.logs import Logger

MAX_FAILURES = 3
"""A table is set aside with this failure, and with each one after it."""
MAX_FAILING_TABLES = 10_000
"""Of more tables those that failed first begin to count again."""
SetAside: TypeAlias = Callable[[RulesUnusable], None]
"""Takes a table out of play, with the refusal for those who follow it."""


@dataclass(slots=True)
class _Failures:
    """The failures of a table, the type of the last error, and the time until which the table is set aside.

    The time is in milliseconds since 1970 UTC.
    """

    config: TableConfig
    error: str = ""
    count: int = 0
    until: int = 0


class FailingRules:
    """Counts the failures of the rules of each table, and refuses tables that are set aside."""

    def __init__(self, clock: Clock, metrics: EngineMetrics, logger: Logger) -> None:
        self._clock = clock
        self._metrics = metrics
        self._logger = logger
        self._tables: OrderedDict[str, _Failures] = OrderedDict()

    def watch(self, config: TableConfig, set_aside: SetAside = lambda _: None) -> RulesWatch:
        """Return the watch of a table's rules; `set_aside` is called soon after each failure from the third on."""
        return _Watch(self, config, set_aside, self._metrics)

    def check(self, table_id: str) -> None:
        """Raise RulesUnusable while a table is set aside."""
        failures = self._tables.get(table_id)
        if failures is not None and self._clock() < failures.until:
            raise rules_failed(failures.config, failures.error)

    def failed(self, config: TableConfig, error: Exception, set_aside: SetAside) -> RulesUnusable:
        """Count a failure, and return the refusal for it; only the first one of a table has a traceback in the log."""
        self._metrics.rules_failures.labels(config.game).inc()
        failures = self._tables.setdefault(config.table_id, _Failures(config))
        failures.error, failures.count = type(error).__name__, failures.count + 1
        refusal = rules_failed(config, failures.error)
        if len(self._tables) > MAX_FAILING_TABLES:
            self._tables.popitem(last=False)
        about = {"table_id": config.table_id, "game": config.game, "package": config.package}
        if failures.count == 1:
            # Without the text of the error, which may name cards.
            traced = RuntimeError(failures.error).with_traceback(error.__traceback__)
            self._logger.error("the rules of a game failed", **about, exc_info=traced)
        if failures.count >= MAX_FAILURES:
            failures.until = self._clock() + RETRY_SECONDS * 1000
            # Not within the call of the rules, whose caller changes the table.
            asyncio.get_running_loop().call_soon(set_aside, refusal)
        if failures.count == MAX_FAILURES:
            self._logger.error("a table is set aside: it is tried again each minute", **about)
        return refusal


class _Watch:
    """The watch of one table."""

    __slots__ = ("_config", "_failing", "_set_aside", "seconds", "took")

    def __init__(self, failing: FailingRules, config: TableConfig, set_aside: SetAside, metrics: EngineMetrics) -> None:
        self._failing = failing
        self._config = config
        self._set_aside = set_aside
        self.seconds = time.perf_counter
        self.took = metrics.rules_seconds.of(config.game).observe

    def failed(self, error: Exception) -> RulesUnusable:
        return self._failing.failed(self._config, error, self._set_aside)
