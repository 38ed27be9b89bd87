"""No call of the engine keeps the event loop for long, at tables of ten thousand entries with full streams."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import aclosing
from functools import partial
from itertools import count, cycle
from pathlib import Path
from random import Random
from typing import Any, TypeAlias

import pytest
from google.protobuf import json_format
from google.protobuf.message import Message

from croupier.engine.api.action_codec import MAX_CARDS, encode_action
from croupier.engine.api.control_servicer import MAX_TABLE_IDS, EngineControlServicer
from croupier.engine.api.servicer import EngineServicer
from croupier.engine.cluster.housekeeping import packed_log
from croupier.engine.core.decide import PROPOSAL_MILLISECONDS
from croupier.engine.core.fold import advance, new_table
from croupier.engine.core.folded_table import MAX_RESUMED_ENTRIES
from croupier.engine.core.log import ClockConfig, Entry, TableConfig
from croupier.engine.storage.port import TableChange, append_durably
from croupier.engine.storage.sql_store import SqlTableStore
from croupier.games.facts import SPECTATOR, Viewer
from croupier.games.interface import SeatActed
from croupier.runtime.database.database import open_database
from croupier_api.v1 import engine_pb2 as pb
from croupier_api.v1 import tables_pb2
from croupier_api.v1.games_pb2 import REACTION_WOW
from croupier_internal.v1 import engine_control_pb2 as control_pb
from tests.calls import call_of
from tests.databases import copy_database
from tests.engine.databases import running, store_on
from tests.engine.fakes import START, EngineHarness
from tests.engine.play import agree, choice, make_config, parsed, people
from tests.engine.sockets import Client, masked, play_request, websockets_of
from tests.engine.test_servicer import FakeCall
from tests.loop_steps import MAX_STEP_SECONDS, longest_step, read_all, serialized, work
from tests.waiting import settled

ENTRIES = 9_000
"""A table ends at 10,000."""
ENTRY_MILLISECONDS = 50
SEATS = 4
SPECTATORS = 199
"""One less than the maximum."""
STREAMS_OF_SEAT = 8
SLOW = ClockConfig(86_400_000, 0, 0)
METHODS = [
    method.name
    for servicer, service in (
        (EngineServicer, pb.DESCRIPTOR.services_by_name["EngineService"]),
        (EngineControlServicer, control_pb.DESCRIPTOR.services_by_name["EngineControlService"]),
    )
    for method in service.methods
    if method.name in vars(servicer)
]
Call: TypeAlias = Callable[[], Awaitable[object]]


def config_of(table_id: str) -> TableConfig:
    return make_config("solo", SEATS, people(SEATS), clock=SLOW, table_id=table_id)


def long_log(config: TableConfig) -> Iterator[Entry]:
    """Yield the entries of a game that restarts a hand again and again, at the maximum speed of a table, to its end."""
    random, table, kinds = Random(1), new_table(config), cycle(("action", "action", "proposal"))
    transitions = advance(config, table, START, None)
    while True:
        yield from (transition.entry for transition in transitions)
        table = transitions[-1].after
        if table.is_over:
            return
        at = table.at + ENTRY_MILLISECONDS
        if table.sequence < ENTRIES and next(kinds) == "proposal":
            transitions = agree(config, table, at, random.choice(["restart_same", "restart_new"]))
        else:
            transitions = advance(config, table, at, SeatActed(*choice(table, random)), request_id=f"r{table.sequence}")


async def fill(store: SqlTableStore) -> None:
    """Store a long table in each state, with the same log as far as it goes."""
    whole = list(long_log(config_of("finished")))
    assert len(whole) > ENTRIES
    for table_id in ("running", "finished", "archived"):
        log = whole[:ENTRIES] if table_id == "running" else whole
        await store.prepare(config_of(table_id), START)
        await store.open(config_of(table_id), log[:1])
        for start in range(1, len(log), 500):
            part = log[start : start + 500]
            await append_durably(
                store, table_id, part, TableChange(0, finished=True) if part[-1] is whole[-1] else None
            )
    await store.archive("archived", await packed_log(store, "archived"))


@pytest.fixture(scope="session")
def full_file(migrated_file: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a database file with long tables, to be copied."""
    file = copy_database(migrated_file, tmp_path_factory.mktemp("long") / "engine.db")

    async def filled() -> None:
        database = open_database(f"sqlite:///{file}")
        async with running(store_on(database)) as store:
            await fill(store)
        await database.close()

    asyncio.run(filled())
    return file


@pytest.fixture
async def store(full_file: Path, tmp_path: Path) -> AsyncIterator[SqlTableStore]:
    database = open_database(f"sqlite:///{copy_database(full_file, tmp_path / 'engine.db')}")
    async with running(store_on(database)) as store:
        yield store
    await database.close()


class Calls:
    """Calls of an engine with long tables; no two change the same thing."""

    def __init__(self, engine: EngineHarness, store: SqlTableStore) -> None:
        self._engine = engine
        self._store = store
        self._numbers = count()
        self.tables = engine.tables(store=store)
        self._players = engine.servicer(self.tables)
        self._control = EngineControlServicer(self.tables, store, engine.scoring)

    async def watch_by_many(self) -> None:
        """Open all streams that a table may have, without readers."""
        table = await self.tables.get("running")
        for _ in range(SPECTATORS):
            table.subscribe(SPECTATOR, table.state.sequence)
        for seat in range(SEATS):
            for _ in range(STREAMS_OF_SEAT):
                table.subscribe(seat, table.state.sequence)

    async def ask(self, request: Message, player_id: str = "stranger") -> None:
        method = type(request).__name__.removesuffix("Request")
        servicer = self._players if hasattr(EngineServicer, method) else self._control
        answer = getattr(servicer, method)(request, call_of(player_id))
        if isinstance(answer, AsyncIterator):
            async for part in answer:
                if isinstance(part, Message):
                    part.SerializeToString()
        else:
            await serialized(answer)

    async def ask_cold(self, request: Message) -> None:
        """Call the method of a request at an engine without tables in memory."""
        await Calls(self._engine, self._store).ask(request)

    async def watch(self, missed: int | None) -> None:
        """Watch the running table: from a snapshot, or all entries that were missed."""
        head = (await self.tables.get("running")).state.sequence
        after = None if missed is None else head - missed
        messages = 1 if missed is None or missed > MAX_RESUMED_ENTRIES else max(1, missed)
        request = pb.WatchTableRequest(table_id="running", after_sequence=after)
        stream: Any = self._players.WatchTable(request, call_of("stranger"))
        async with aclosing(stream):
            await read_all(stream, messages)

    async def watch_ends(self) -> None:
        stream: Any = self._control.WatchEndedTables(control_pb.WatchEndedTablesRequest(), call_of("lobby"))
        async with aclosing(stream):
            await read_all(stream, 1)

    async def _next_action(self) -> tuple[str, pb.SubmitActionRequest]:
        state = (await self.tables.get("running")).state
        seat, action = choice(state, Random(1))
        request_id = f"r{next(self._numbers)}"
        return f"p{seat}", pb.SubmitActionRequest(
            table_id="running", request_id=request_id, action=encode_action(action)
        )

    async def act(self) -> None:
        player_id, request = await self._next_action()
        await self.ask(request, player_id)

    async def play(self) -> None:
        player_id, action = await self._next_action()
        watch = pb.WatchTableRequest(table_id="running")
        context = FakeCall(pb.PlayTableRequest(watch=watch), pb.PlayTableRequest(action=action))
        playing = asyncio.create_task(self._players.PlayTable(None, call_of(player_id, context=context)))
        while not parsed(await context.written.get()).HasField("answer"):
            pass
        playing.cancel()

    async def react(self) -> None:
        self._engine.clock.advance(60_000)
        await self.ask(pb.SendReactionRequest(table_id="running", reaction=REACTION_WOW), "p0")

    async def propose(self) -> int:
        """Propose to play a hand again, at a table with many proposals; return the sequence."""
        self._engine.clock.advance(PROPOSAL_MILLISECONDS)
        request_id = f"p{next(self._numbers)}"
        request = pb.CreateProposalRequest(table_id="running", request_id=request_id, proposal="restart_same")
        await self.ask(request, "p1")
        return (await self.tables.get("running")).state.sequence

    async def vote(self) -> None:
        sequence = await self.propose()
        request = pb.CastVoteRequest(table_id="running", request_id=f"v{sequence}", vote=pb.VOTE_DECLINE)
        request.proposal_sequence = sequence
        await self.ask(request, "p2")

    async def leave(self) -> None:
        """Leave a seat that its player has returned to."""
        self._engine.clock.advance(60_000)
        for is_away in (False, True):
            request = pb.SetAwayRequest(table_id="running", request_id=f"a{next(self._numbers)}", is_away=is_away)
            await self.ask(request, "p3")

    async def prepare(self) -> str:
        table_id = f"new{next(self._numbers)}"
        request = control_pb.PrepareTableRequest(table_id=table_id, game="jossing", seat_count=6)
        for time in (request.time_control.action_time, request.time_control.reserve_time):
            time.FromSeconds(60)
        request.time_control.bot_delay.FromSeconds(1)
        await self.ask(request, "lobby")
        return table_id

    async def open(self) -> None:
        bots = [tables_pb2.PlayedSeat(name="Bot", bot="random")] * 6
        request = control_pb.OpenTableRequest(table_id=await self.prepare(), seats=bots, client_seeds=[bytes(64)] * 6)
        await self.ask(request, "lobby")


def calls_of(calls: Calls) -> dict[str, Call]:
    """Return one or more calls of each method."""
    ids = [f"table{number}" for number in range(MAX_TABLE_IDS)]

    def asked(request: Message, player_id: str = "stranger") -> Call:
        return partial(calls.ask, request, player_id)

    def asked_cold(request: Message) -> Call:
        return partial(calls.ask_cold, request)

    return {
        "SubmitAction": calls.act,
        "GetView": asked(pb.GetViewRequest(table_id="running"), "p0"),
        "GetView cold": asked_cold(pb.GetViewRequest(table_id="running")),
        "GetView cold archived": asked_cold(pb.GetViewRequest(table_id="archived")),
        "SendReaction": calls.react,
        "CreateProposal": calls.propose,
        "CastVote": calls.vote,
        "SetAway": calls.leave,
        "GetReplay": asked(pb.GetReplayRequest(table_id="finished")),
        "GetReplay cold": asked_cold(pb.GetReplayRequest(table_id="finished")),
        "GetReplay cold archived": asked_cold(pb.GetReplayRequest(table_id="archived")),
        "WatchReplay": asked(pb.WatchReplayRequest(table_id="finished", all_seats=True)),
        "WatchReplay cold": asked_cold(pb.WatchReplayRequest(table_id="finished", seat=0)),
        "WatchReplay cold archived": asked_cold(pb.WatchReplayRequest(table_id="archived", all_seats=True)),
        "WatchTable": partial(calls.watch, None),
        "WatchTable resumed": partial(calls.watch, MAX_RESUMED_ENTRIES),
        "WatchTable resumed too late": partial(calls.watch, ENTRIES - 1),
        "PlayTable": calls.play,
        "CreateLink": asked(pb.CreateLinkRequest(table_id="finished", purpose=pb.LINK_PURPOSE_REPLAY), "p0"),
        "GetRules": asked(pb.GetRulesRequest(game="solo", language="ru")),
        "DescribeGames": asked(control_pb.DescribeGamesRequest(), "lobby"),
        "DescribeGames in another language": asked(control_pb.DescribeGamesRequest(language="ru"), "lobby"),
        "PrepareTable": calls.prepare,
        "OpenTable": calls.open,
        "DiscardTables": asked(control_pb.DiscardTablesRequest(table_ids=ids), "lobby"),
        "WatchEndedTables": calls.watch_ends,
        "ForgetPlayer": asked(control_pb.ForgetPlayerRequest(player_id="p0", playing_table_ids=ids), "lobby"),
        "GetTableStatuses": asked(control_pb.GetTableStatusesRequest(table_ids=ids), "lobby"),
    }


@pytest.fixture
async def calls(engine: EngineHarness, store: SqlTableStore) -> Calls:
    """Return the calls of an engine, at the time of the last entry."""
    calls = Calls(engine, store)
    engine.clock.advance((await calls.tables.get("running")).state.at - engine.clock())
    return calls


async def test_every_call_takes_short_steps(calls: Calls) -> None:
    await calls.watch_by_many()
    longest = {name: await longest_step(call) for name, call in calls_of(calls).items()}
    assert {name.split()[0] for name in longest} == set(METHODS)
    assert {name: seconds for name, seconds in longest.items() if seconds >= MAX_STEP_SECONDS} == {}


CARDS = ",".join("1" * MAX_CARDS)
SENT: dict[str, bytes] = {
    "empty messages": b"\x82\x80\0\0\0\0" * 40_000,
    "pings": b"\x89\x80\0\0\0\0" * 40_000,
    "parts of a message": b"\x02\x80\0\0\0\0" + b"\x00\x80\0\0\0\0" * 40_000,
    "malformed actions": masked(b"\x12\x00") * 10_000,
    "a long list": masked(b'{"action": {"action": {"lay": {"cards": [' + b"1," * 32_000 + b"1]}}}}", text=True),
    "many cards": masked(f'{{"action": {{"action": {{"lay": {{"cards": [{CARDS}]}}}}}}}}'.encode(), text=True),
    "a long text": masked(b'{"access_token": "' + b"x" * 65_000 + b'"}', text=True),
}


@pytest.mark.parametrize("sent", SENT.values(), ids=SENT)
async def test_what_the_client_of_a_websocket_sends_is_served_in_short_steps(
    engine: EngineHarness, calls: Calls, sent: bytes
) -> None:
    async def flood() -> None:
        client = Client(websockets_of(engine, calls.tables), "/v1/tables/running/play")
        client.send(play_request(engine, "p0"))
        await settled()
        asyncio.get_running_loop().call_soon(client.write, sent)
        await settled()

    assert await longest_step(flood) < MAX_STEP_SECONDS


@pytest.mark.parametrize("missed", [None, MAX_RESUMED_ENTRIES])
@pytest.mark.parametrize("is_text", [False, True])
async def test_a_websocket_begins_in_short_steps(
    engine: EngineHarness, calls: Calls, missed: int | None, is_text: bool
) -> None:
    head = (await calls.tables.get("running")).state.sequence
    first = play_request(engine, "p0", after_sequence=None if missed is None else head - missed)

    async def begin() -> None:
        client = Client(websockets_of(engine, calls.tables), "/v1/tables/running/play")
        if is_text:
            client.send_json(json_format.MessageToJson(first))
        else:
            client.send(first)
        await settled()

    assert await longest_step(begin) < MAX_STEP_SECONDS


@pytest.mark.parametrize("table_id", ["finished", "archived"])
async def test_a_log_is_packed_in_short_steps(store: SqlTableStore, table_id: str) -> None:
    assert await longest_step(partial(packed_log, store, table_id)) < MAX_STEP_SECONDS


async def test_a_planted_step_is_found(calls: Calls, monkeypatch: pytest.MonkeyPatch) -> None:
    def slow(*_: object) -> Viewer:
        work(2 * MAX_STEP_SECONDS)
        return SPECTATOR

    monkeypatch.setattr("croupier.engine.tables.table.Table.viewer_of", slow)
    assert await longest_step(calls_of(calls)["GetView"]) >= MAX_STEP_SECONDS
