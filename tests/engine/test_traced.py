"""What is traced of the requests of seats: parts with the right parents, commits linked with those who wait."""

import asyncio
from collections import Counter
from dataclasses import dataclass, replace
from random import Random
from typing import Any

import pytest
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from sqlalchemy.ext.asyncio import AsyncEngine

from croupier.engine.live import LiveTable
from croupier.engine.log import TableConfig
from croupier.engine.metrics import EngineMetrics
from croupier.engine.services import EngineServices
from croupier.engine.sql_store import SqlTableStore
from croupier.engine.store import StoredTable
from croupier.engine.table import advance, new_table
from croupier.engine.traced import TracedStore, taken_up
from croupier.games.actions import Pass
from croupier.runtime import opentelemetry_traces
from croupier.runtime.errors import IllegalNow
from croupier.runtime.opentelemetry_traces import OpenTelemetryTraces, open_traces
from tests.engine.databases import loaded, running, writer_on
from tests.engine.fakes import START, Bench, FakeClock, RecordingLogger
from tests.engine.play import act_once, bots, make_config, people, soon
from tests.waiting import settled, until

METHOD = "/croupier_api.v1.EngineService/SubmitAction"
CALL = METHOD.removeprefix("/")


@dataclass
class House:
    """Tables that are traced, and the spans that have ended."""

    traces: OpenTelemetryTraces
    exporter: InMemorySpanExporter
    store: SqlTableStore
    services: EngineServices
    clock: FakeClock

    async def open(self, config: TableConfig) -> LiveTable:
        await self.store.prepare(config, START)
        await self.store.open(config, [made.entry for made in advance(config, new_table(config), START, None)])
        return taken_up(await loaded(self.store, config.table_id), self.services)

    async def act(self, table: LiveTable) -> int:
        with self.traces.serve(METHOD, ""):
            return await act_once(table, Random(1))

    def spans(self) -> list[Any]:
        self.traces.close()
        return list(self.exporter.get_finished_spans())


@pytest.fixture
async def house(engine: Bench, database: AsyncEngine, metrics: EngineMetrics, monkeypatch: pytest.MonkeyPatch) -> House:
    exporter = InMemorySpanExporter()
    monkeypatch.setattr(opentelemetry_traces, "OTLPSpanExporter", lambda **_: exporter)
    traces = open_traces("", 1.0, "engine", RecordingLogger())
    store = TracedStore(database, writer_on(database), metrics, traces)
    return House(traces, exporter, store, replace(engine.services, store=store, traces=traces), engine.clock)


async def test_an_action_is_one_trace_and_its_commit_linked_with_all_that_wait_for_it(house: House) -> None:
    tables = [await house.open(make_config(table_id=f"t{number}")) for number in range(3)]
    acting = [asyncio.create_task(house.act(table)) for table in tables]
    await settled()
    async with running(house.store):
        sequences = await soon(asyncio.gather(*acting))
    spans = house.spans()
    names = {span.context.span_id: span.name for span in spans}
    parts = {(CALL, None), ("act", CALL), ("decide", "act"), ("append", "act"), ("deliver", "act")}
    assert Counter((span.name, span.parent and names[span.parent.span_id]) for span in spans) == {
        **dict.fromkeys(parts, 3),
        ("commit", "append"): 1,
    }
    assert len({span.context.trace_id for span in spans}) == 3
    acts, delivered, appends = ([span for span in spans if span.name == name] for name in ("act", "deliver", "append"))
    about = [
        {"croupier.table_id": f"t{number}", "croupier.game": "thulla", "croupier.sequence": sequence}
        for number, sequence in enumerate(sequences)
    ]
    assert sorted((dict(span.attributes) for span in acts), key=str) == about
    assert sorted(span.attributes["croupier.table_id"] for span in delivered) == ["t0", "t1", "t2"]
    [commit] = [span for span in spans if span.name == "commit"]
    assert {link.context.span_id for link in commit.links} == {append.context.span_id for append in appends}
    assert [[link.context.span_id for link in append.links] for append in appends] == [[commit.context.span_id]] * 3


async def test_what_is_refused_names_no_card(house: House) -> None:
    table = await house.open(make_config())
    with house.traces.serve(METHOD, ""), pytest.raises(IllegalNow):
        await table.act(0, Pass(), "r", None)
    spans = house.spans()
    assert {span.name for span in spans} == {CALL, "act", "decide"}
    assert all(not span.events and span.status.description is None for span in spans)


async def test_what_computer_players_do_after_an_action_is_no_part_of_it(house: House) -> None:
    def is_persons_turn_after(table: LiveTable, sequence: int) -> bool:
        """Let time pass for computer players, too little for anybody's to run out."""
        house.clock.advance(100)
        return table.state.sequence > sequence and 0 in table.state.seats_to_act

    async with running(house.store):
        # As when a Play stream takes the table up: what it starts goes on while the stream does.
        with house.traces.serve("/croupier_api.v1.EngineService/Play", ""):
            table = await house.open(make_config(seats=(*people(1), *bots(2))))
            await until(lambda: is_persons_turn_after(table, 0))
            acted = await act_once(table, Random(1))
            await until(lambda: is_persons_turn_after(table, acted))
    names = sorted(span.name for span in house.spans())
    assert names == ["act", "append", "commit", "croupier_api.v1.EngineService/Play", "decide", "deliver"]


async def test_a_table_is_a_plain_one_without_traces(engine: Bench) -> None:
    assert type(taken_up(StoredTable("open", make_config(), ()), engine.services)) is LiveTable
