"""Spans of the requests of seats: parts with the right parents, commits linked with the appends that wait."""

import asyncio
from collections import Counter
from collections.abc import Iterator
from random import Random
from typing import Any

import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from croupier.engine.core.fold import advance, new_table
from croupier.engine.core.log import TableConfig
from croupier.engine.storage.sql_store import SqlTableStore
from croupier.engine.tables.table import Table
from croupier.engine.tasks import Background
from croupier.games.actions import Pass
from croupier.games.interface import SeatActed
from croupier.runtime.errors import IllegalNow
from croupier.runtime.observation.tracing import start_span
from tests.engine.databases import running
from tests.engine.fakes import START, EngineHarness, RecordingLogger
from tests.engine.folds import folded_table
from tests.engine.play import act_once, bots, make_config, people, within_timeout
from tests.recorded_spans import recorded_spans
from tests.waiting import settled, until

CALL = "croupier_api.v1.EngineService/SubmitAction"


@pytest.fixture
def exporter() -> Iterator[InMemorySpanExporter]:
    with recorded_spans() as exporter:
        yield exporter


async def open_table(engine: EngineHarness, store: SqlTableStore, config: TableConfig) -> Table:
    first = [transition.entry for transition in advance(config, new_table(config), START, None)]
    await store.prepare(config, START)
    await store.open(config, first)
    return engine.table(folded_table(config, first), store=store)


async def act(table: Table) -> int:
    with start_span(CALL):
        return await act_once(table, Random(1))


async def test_an_action_is_one_trace_and_its_commit_linked_with_all_that_wait_for_it(
    engine: EngineHarness, idle: SqlTableStore, exporter: InMemorySpanExporter
) -> None:
    tables = [await open_table(engine, idle, make_config(table_id=f"t{number}")) for number in range(3)]
    acting = [asyncio.create_task(act(table)) for table in tables]
    await settled()
    async with running(idle):
        sequences = await within_timeout(asyncio.gather(*acting))
    spans: list[Any] = list(exporter.get_finished_spans())
    names = {span.context.span_id: span.name for span in spans}
    parts = {(CALL, None), ("act", CALL), ("decide", "act"), ("append", "act"), ("publish", "act")}
    assert Counter((span.name, span.parent and names[span.parent.span_id]) for span in spans) == {
        **dict.fromkeys(parts, 3),
        ("commit", "append"): 1,
    }
    assert len({span.context.trace_id for span in spans}) == 3
    acts, published, appends = ([span for span in spans if span.name == name] for name in ("act", "publish", "append"))
    about = [
        {"croupier.table_id": f"t{number}", "croupier.game": "thulla", "croupier.sequence": sequence}
        for number, sequence in enumerate(sequences)
    ]
    assert sorted((dict(span.attributes) for span in acts), key=str) == about
    assert sorted(span.attributes["croupier.table_id"] for span in published) == ["t0", "t1", "t2"]
    [commit] = [span for span in spans if span.name == "commit"]
    assert all(commit.end_time <= span.start_time for span in published)
    assert {link.context.span_id for link in commit.links} == {append.context.span_id for append in appends}
    assert [[link.context.span_id for link in append.links] for append in appends] == [[commit.context.span_id]] * 3


async def test_spans_of_refusals_name_no_card(
    engine: EngineHarness, idle: SqlTableStore, exporter: InMemorySpanExporter
) -> None:
    table = await open_table(engine, idle, make_config())
    with start_span(CALL), pytest.raises(IllegalNow):
        await table.append_once(SeatActed(0, Pass()), "r")
    spans = exporter.get_finished_spans()
    assert {span.name for span in spans} == {CALL, "act", "decide"}
    assert all(not span.events and span.status.description is None for span in spans)


async def test_bot_actions_are_not_part_of_the_trace_of_the_action_before(
    engine: EngineHarness, store: SqlTableStore, exporter: InMemorySpanExporter
) -> None:
    def is_persons_turn_after(table: Table, sequence: int) -> bool:
        """Let time pass for computer players, but less than the time of a seat."""
        engine.clock.advance(100)
        return table.state.sequence > sequence and 0 in table.state.seats_to_act

    # As when a PlayTable stream loads the table, and its tasks continue during the stream.
    with start_span("croupier_api.v1.EngineService/Play"):
        table = await open_table(engine, store, make_config(seats=(*people(1), *bots(2))))
        await until(lambda: is_persons_turn_after(table, 0))
        acted = await act_once(table, Random(1))
        await until(lambda: is_persons_turn_after(table, acted))
    names = sorted(span.name for span in exporter.get_finished_spans())
    assert names == ["act", "append", "commit", "croupier_api.v1.EngineService/Play", "decide", "publish"]


async def test_a_background_task_is_not_part_of_the_trace_that_started_it() -> None:
    recorded: list[bool] = []

    async def work() -> None:
        recorded.append(trace.get_current_span().is_recording())

    background = Background(RecordingLogger())
    with recorded_spans(), start_span(CALL) as call:
        background.start(work())
        await until(lambda: recorded)
        assert call.is_recording()
    assert recorded == [False]
