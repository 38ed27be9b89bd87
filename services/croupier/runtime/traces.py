"""Traces: where the time of a call went, from service to service. Off unless a collector is named.

This is the port; what speaks OpenTelemetry is imported only where traces are asked for.
"""

import asyncio
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, asynccontextmanager, contextmanager
from typing import Protocol

from prometheus_client import CollectorRegistry
from prometheus_client.core import CounterMetricFamily
from prometheus_client.registry import Collector

from croupier.runtime.addresses import check_address
from croupier.runtime.logs import Logger
from croupier.runtime.settings import TracesSettings

# How services and the door alike hand spans over to the collector.
MOST_WAITING_SPANS = 4_096
LARGEST_BATCH_SPANS = 512
PAUSE_SECONDS = 1
"""A span waits no longer than this for others to be handed over with."""
EXPORT_SECONDS = 5
"""Spans that the collector has not taken by then are dropped."""


class Span(Protocol):
    """A part of a trace that is under way."""

    @property
    def traceparent(self) -> str:
        """What is sent along so that a trace goes on elsewhere, as W3C Trace Context writes it."""

    def note(self, *, code: str = "", table_id: str = "", game: str = "", sequence: int = 0) -> None:
        """Say what it is about: this is all that spans can tell, so that no card, name or token gets into them."""


class Traces(Protocol):
    """What services trace. Each method but the last three gives a span that lasts as long as the body."""

    def serve(self, method: str, traceparent: str) -> AbstractContextManager[Span]:
        """A call that is served, as part of the caller's trace if he has one."""

    def ask(self, method: str) -> AbstractContextManager[Span]:
        """A call of another service."""

    def act(self, table_id: str, game: str) -> AbstractContextManager[Span]:
        """What a seat asks for, from the call to the answer."""

    def step(self, name: str) -> AbstractContextManager[Span | None]:
        """A part of what a seat asks for; None where nobody asks, as when a computer player acts."""

    def commit(self, waiting: Sequence[Span]) -> AbstractContextManager[None]:
        """A commit for which these wait; each of them is linked with it."""

    def ids(self) -> Mapping[str, str]:
        """The trace_id and span_id for log lines of the span under way, none if it is not recorded."""

    def dropped(self) -> Mapping[str, int]:
        """How many spans did not get to the collector, by reason."""

    def close(self) -> None:
        """Hand over what waits, as far as that goes in a second; blocks meanwhile."""


@asynccontextmanager
async def traces_in_use(settings: TracesSettings, service: str, logger: Logger) -> AsyncIterator[Traces | None]:
    """What a service traces with while the body runs; None if no collector is named.

    Raises ValueError for settings that cannot be used, also where OpenTelemetry is not installed.
    """
    if not settings.endpoint:
        yield None
        return
    traces = _opened(settings, service, logger)
    try:
        yield traces
    finally:
        await asyncio.to_thread(traces.close)


def check_traces(settings: TracesSettings) -> None:
    """Raises ValueError for settings with a collector that cannot be used."""
    try:
        check_address(settings.endpoint)
    except ValueError as fault:
        raise ValueError(f"--traces-endpoint: {fault}") from None
    if not 0 <= settings.ratio <= 1:
        raise ValueError(f"--traces-ratio cannot be {settings.ratio:g}: a share from 0 to 1 is expected")


@contextmanager
def needing_opentelemetry() -> Iterator[None]:
    """Where its modules are imported: raises ValueError that says how to get them if they are not installed."""
    try:
        yield
    except ModuleNotFoundError as missing:
        raise ValueError(
            f"--traces-endpoint needs {missing.name}, which is not installed: pip install 'croupier[traces]'"
        ) from None


def _opened(settings: TracesSettings, service: str, logger: Logger) -> Traces:
    check_traces(settings)
    with needing_opentelemetry():
        from croupier.runtime.opentelemetry_traces import open_traces
    return open_traces(settings.endpoint, settings.ratio, service, logger)


def export_dropped(registry: CollectorRegistry, traces: Traces | None) -> None:
    """Tell how many spans did not get to the collector, if there are traces."""
    if traces is not None:
        registry.register(_Dropped(traces))


class _Dropped(Collector):
    def __init__(self, traces: Traces) -> None:
        self._traces = traces

    def collect(self) -> Iterable[CounterMetricFamily]:
        """One sample for each reason."""
        told = CounterMetricFamily(
            "croupier_dropped_spans", "Spans that did not get to the collector, by reason.", labels=["reason"]
        )
        for reason, count in self._traces.dropped().items():
            told.add_metric([reason], count)
        yield told
