"""What a seat asks for, traced from the call to the streams, by parts that stand in for others if there are traces."""

from collections.abc import Callable, Sequence

from sqlalchemy.ext.asyncio import AsyncEngine

from croupier.engine.cached import Request
from croupier.engine.entry_writer import Append, EntryWriter
from croupier.engine.live import LiveTable
from croupier.engine.log import Entry, TableConfig
from croupier.engine.metrics import EngineMetrics
from croupier.engine.services import EngineServices
from croupier.engine.sql_store import SqlTableStore
from croupier.engine.store import StoredTable, TableMark
from croupier.engine.table import Step
from croupier.runtime.traces import Span, Traces

Waiting = dict[tuple[str, int], Span]
"""The spans of appends that wait for a commit, by table and first sequence."""


class TracedTable(LiveTable):
    """A table that traces what its seats ask for: act is all of it, decide and deliver are parts."""

    def __init__(self, config: TableConfig, entries: Sequence[Entry], services: EngineServices, traces: Traces) -> None:
        self._traces = traces
        super().__init__(config, entries, services)

    async def append_once(self, request: Request, request_id: str, steps_of_request: Callable[[], list[Step]]) -> int:
        """Store the steps of a seat's request, as any table does."""

        def decide() -> list[Step]:
            with self._traces.step("decide"):
                return steps_of_request()

        with self._traces.act(self.config.table_id, self.config.game) as span:
            sequence = await super().append_once(request, request_id, decide)
            span.note(sequence=sequence)
            return sequence

    def _publish(self, steps: list[Step]) -> None:
        with self._traces.step("deliver") as span:
            if span:
                span.note(table_id=self.config.table_id, sequence=steps[-1].entry.sequence)
            super()._publish(steps)


def taken_up(stored: StoredTable, services: EngineServices) -> LiveTable:
    """A table taken up from its log, traced if there are traces."""
    if services.traces is None:
        return LiveTable(stored.config, stored.entries, services)
    return TracedTable(stored.config, stored.entries, services, services.traces)


class TracedStore(SqlTableStore):
    """A store that traces how long an append waits until it is durable."""

    def __init__(self, engine: AsyncEngine, writer: EntryWriter, metrics: EngineMetrics, traces: Traces) -> None:
        self._traces = traces
        self._spans: Waiting = {}
        super().__init__(engine, TracedWriter(writer, self._spans, traces), metrics)

    async def append(self, table_id: str, entries: Sequence[Entry], mark: TableMark | None) -> None:
        """Store entries, as any store does."""
        with self._traces.step("append") as span:
            if span is None:
                return await super().append(table_id, entries, mark)
            first = table_id, entries[0].sequence
            span.note(table_id=table_id, sequence=entries[-1].sequence)
            self._spans[first] = span
            try:
                return await super().append(table_id, entries, mark)
            finally:
                if self._spans.get(first) is span:
                    del self._spans[first]


class TracedWriter:
    """A writer that traces each commit, and links it with the appends that it carries."""

    def __init__(self, writer: EntryWriter, spans: Waiting, traces: Traces) -> None:
        self._writer = writer
        self._spans = spans
        self._traces = traces

    async def write(self, appends: Sequence[Append]) -> Sequence[int]:
        """Store all of it, or nothing, as the other writer does."""
        firsts = ((append.table_id, append.rows[0][1]) for append in appends)
        with self._traces.commit([self._spans[first] for first in firsts if first in self._spans]):
            return await self._writer.write(appends)

    async def close(self) -> None:
        """Give back what the writer holds."""
        await self._writer.close()
