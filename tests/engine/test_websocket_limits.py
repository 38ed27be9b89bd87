"""Limits of streams over WebSocket: budgets, places, slow readers, floods of frames, and spectators in turns."""

import asyncio
from random import Random

import pytest
import structlog

from croupier.engine.api.play_session import PLAY_TABLE
from croupier.engine.api.websocket.connection import BYTES_PER_STEP
from croupier.engine.api.websocket.session import MAX_WAITING_MESSAGES
from croupier.engine.tables.direct_writer import MAX_BUFFERED_BYTES, MESSAGES_PER_STEP
from croupier.engine.tables.registry import Tables
from croupier.engine.tables.subscribers import MAX_SEAT_STREAMS
from croupier.engine.tables.subscription import MAX_WRITE_SECONDS
from croupier.engine.tables.table import Table
from croupier.runtime.admission.budget import Budget
from croupier.runtime.admission.capacity_limiter import Capacity, CapacityLimiter
from croupier.runtime.admission.costs import cost_of
from croupier.runtime.admission.limits import Limits
from croupier.runtime.server.grpc_server import MAX_REQUEST_BYTES, MAX_UNARY_CALLS
from croupier_api.v1 import engine_pb2
from croupier_api.v1.games_pb2 import REACTION_CLAP
from tests.calls import PLENTY, limits
from tests.engine.fakes import EngineHarness
from tests.engine.play import ENDLESS, act_once, event_of, is_presence, make_config, open_table, parsed, within_timeout
from tests.engine.sockets import (
    Client,
    FakeTransport,
    Outcome,
    action_request,
    address,
    ended_calls,
    opened,
    play_request,
    token,
    websockets_of,
)
from tests.engine.test_subscription import CountingEncoder, play_to
from tests.waiting import settled

ACTION = engine_pb2.PlayTableRequest(action=engine_pb2.SubmitActionRequest(request_id="r"))
EMPTY_FRAME = b"\x82\x80\0\0\0\0"
EMPTY_PART = b"\x02\x80\0\0\0\0"
EMPTY_CONTINUATION = b"\x00\x80\0\0\0\0"


def streams(total: int = PLENTY, player: int = PLENTY, network: int = PLENTY) -> Limits:
    return limits(streams=CapacityLimiter("streams", Capacity(total, player, network)))


def budget(engine: EngineHarness, units: int, per_second: int = 1) -> Budget:
    return Budget("player_calls", per_second, units, lambda: engine.clock() * 1_000_000)


# Places


async def test_a_player_has_a_maximum_of_streams(engine: EngineHarness, tables: Tables) -> None:
    server = websockets_of(engine, tables, held := streams(player=1))
    clients = [Client(server) for _ in range(2)]
    for client in clients:
        client.send(play_request(engine))
    assert await clients[1].outcome() == Outcome(4008, "TOO_MANY_STREAMS")
    assert (clients[0].code, len(held.streams)) == (None, 1)
    clients[0].close()
    await settled()
    assert len(held.streams) == 0
    assert engine.count("croupier_refusals_total", limit="streams") == 1


async def test_a_connection_without_first_message_has_a_place_of_its_network_only(
    engine: EngineHarness, tables: Tables
) -> None:
    server = websockets_of(engine, tables, held := streams(network=1))
    waiting = Client(server, **address("192.0.2.1"))
    await settled()
    refused, other = (Client(server, **address(host)) for host in ("192.0.2.2", "198.51.100.1"))
    assert await refused.outcome() == Outcome(4008, "TOO_MANY_STREAMS")
    other.send(play_request(engine, "p1"))
    waiting.send(play_request(engine))
    assert await waiting.messages()
    assert (waiting.code, other.code, len(held.streams)) == (None, None, 2)


async def test_another_network_gets_the_place_of_the_newest_stream_of_the_greatest(
    engine: EngineHarness, tables: Tables, table: Table
) -> None:
    server = websockets_of(engine, tables, held := streams(total=4))
    clients = [Client(server, **address("192.0.2.1")) for _ in range(3)]
    for client in clients:
        client.send(play_request(engine))
        await settled()
    Client(server, **address("203.0.113.1"))
    await settled()
    other = Client(server, **address("198.51.100.1"))
    other.send(play_request(engine, "p1"))
    await settled()
    assert await clients[2].outcome() == Outcome(4008, "TOO_MANY_STREAMS")
    assert [client.code for client in (*clients[:2], other)] == [None] * 3
    assert len(held.streams) == 4
    assert table.subscribers.presence.now.seats == (0, 1)


async def test_a_port_has_a_maximum_of_connections(engine: EngineHarness, tables: Tables) -> None:
    server = websockets_of(engine, tables, streams(total=1))
    transports = []
    for count in (MAX_UNARY_CALLS + 2, 1):
        for _ in range(count):
            transports.append(FakeTransport(server.connect()))
            transports[-1].protocol.connection_made(transports[-1])
        transports[0].abort()
        await settled()
    assert [transport.is_lost for transport in transports[-3:]] == [False, True, False]
    assert len(server) == MAX_UNARY_CALLS + 1


# Budgets


async def test_a_stream_costs_what_it_costs_over_grpc(engine: EngineHarness, tables: Tables) -> None:
    server = websockets_of(engine, tables, limits(player=budget(engine, cost_of(PLAY_TABLE))))
    first, second = Client(server), Client(server)
    first.send(play_request(engine))
    assert await first.messages()
    second.send(play_request(engine))
    assert await second.outcome() == Outcome(4008, "TOO_MANY_REQUESTS")
    assert engine.count("croupier_rpc_limited_total", method=PLAY_TABLE) == 1


async def test_messages_beyond_the_budget_are_delayed_and_then_read_no_further(
    engine: EngineHarness, tables: Tables
) -> None:
    server = websockets_of(engine, tables, limits(player=budget(engine, cost_of(PLAY_TABLE) + 2)))
    client = Client(server)
    client.send(play_request(engine))
    assert await client.messages()
    client.send(*[ACTION] * (MAX_WAITING_MESSAGES + 3))
    answers = [parsed(message) for message in await client.messages() if parsed(message).HasField("answer")]
    assert (len(answers), client.transport.reads) == (2, False)
    for _ in range(MAX_WAITING_MESSAGES + 1):
        engine.clock.advance(1_000)
        assert len(await client.messages()) == 1
    assert client.transport.reads


FLOODS = {"pings": b"\x89\x80\0\0\0\0", "pongs": b"\x8a\x80\0\0\0\0"}


@pytest.mark.parametrize("frame", FLOODS.values(), ids=FLOODS)
async def test_frames_that_are_no_messages_cost_as_much_as_messages(
    engine: EngineHarness, tables: Tables, frame: bytes
) -> None:
    server = websockets_of(engine, tables, limits(player=budget(engine, cost_of(PLAY_TABLE) + 5)))
    client = Client(server)
    client.send(play_request(engine))
    assert await client.messages()
    client.write(frame * 5)
    await settled()
    assert client.transport.reads
    client.write(frame * 3)
    await settled()
    assert not client.transport.reads
    engine.clock.advance(1_000)
    await settled()
    client.write(frame)
    assert not client.transport.reads
    engine.clock.advance(10_000)
    await settled()
    assert client.transport.reads
    assert client.code is None


async def test_empty_parts_of_a_message_cost_too(engine: EngineHarness, tables: Tables) -> None:
    server = websockets_of(engine, tables, limits(player=budget(engine, cost_of(PLAY_TABLE) + 5)))
    client = Client(server)
    client.send(play_request(engine))
    assert await client.messages()
    client.write(EMPTY_PART + EMPTY_CONTINUATION * 9)
    await settled()
    assert not client.transport.reads


@pytest.mark.parametrize("frame", FLOODS.values(), ids=FLOODS)
async def test_a_flood_of_frames_before_the_first_message_ends_the_connection(
    engine: EngineHarness, tables: Tables, frame: bytes
) -> None:
    client = Client(websockets_of(engine, tables))
    client.write(frame * (MAX_WAITING_MESSAGES + 1))
    await settled()
    assert client.transport.is_lost


async def test_a_flood_of_empty_messages_is_taken_in_small_steps(engine: EngineHarness, tables: Tables) -> None:
    """And ends with the first of them."""
    client = Client(websockets_of(engine, tables))
    client.write(EMPTY_FRAME * BYTES_PER_STEP)
    assert not client.transport.reads
    assert await client.outcome() == Outcome(4016, "INVALID_ACCESS_TOKEN")


async def test_after_many_waiting_repeats_of_a_request_the_connection_is_read_again(
    engine: EngineHarness, tables: Tables, table: Table
) -> None:
    """Each of them is answered in one call, without a task, once the first one is stored."""
    seat, request = action_request(table)
    client = await opened(engine, tables, f"p{seat}")
    client.send(*[request] * (2 * MAX_WAITING_MESSAGES))
    answers = sum(parsed(message).HasField("answer") for message in await client.messages())
    assert answers == 2 * MAX_WAITING_MESSAGES
    assert client.transport.reads


async def test_a_flood_after_the_end_is_read_and_ignored(engine: EngineHarness, tables: Tables) -> None:
    client = Client(websockets_of(engine, tables))
    client.answers_pings = False
    client.send_json("{}")
    assert await client.outcome() == Outcome(4016, "INVALID_ACCESS_TOKEN")
    half = EMPTY_FRAME * (MAX_REQUEST_BYTES // 2 // len(EMPTY_FRAME))
    client.write(half)
    await settled()
    assert client.transport.reads
    assert not client.transport.is_lost
    client.write(half * 2)
    await settled()
    assert client.transport.is_lost


async def test_a_client_that_does_not_close_is_dropped(engine: EngineHarness, tables: Tables) -> None:
    client = Client(websockets_of(engine, tables))
    client.answers_pings = False
    client.send_json("{}")
    assert (await client.outcome()).code == 4016
    engine.clock.advance(round(MAX_WRITE_SECONDS * 1000) - 1)
    await settled()
    assert not client.transport.is_lost
    engine.clock.advance(1)
    await settled()
    assert client.transport.is_lost


async def test_a_client_that_leaves_before_it_has_its_refusal_is_counted_once(
    engine: EngineHarness, tables: Tables, table: Table
) -> None:
    client = await opened(engine, tables)
    await fill(table, client)
    table.subscribers.publish_reaction(0, REACTION_CLAP)
    for _ in range(MAX_SEAT_STREAMS):
        await opened(engine, tables)
    client.transport.abort()
    await settled()
    assert ended_calls(engine, "CANCELLED") == 1
    engine.clock.advance(round(MAX_WRITE_SECONDS * 1000))
    await settled()
    assert (ended_calls(engine, "CANCELLED"), ended_calls(engine, "ABORTED")) == (1, 0)


# Slow readers


async def fill(table: Table, client: Client) -> int:
    """Publish reactions until the buffer of a blocked client is full; returns their number."""
    client.transport.is_blocked = True
    count = 0
    while client.transport.get_write_buffer_size() <= MAX_BUFFERED_BYTES:
        table.subscribers.publish_reaction(0, REACTION_CLAP)
        count += 1
    return count


async def test_a_reader_who_catches_up_has_every_message_in_order(
    engine: EngineHarness, tables: Tables, table: Table
) -> None:
    client = await opened(engine, tables)
    reactions = await fill(table, client)
    before = client.transport.get_write_buffer_size()
    for _ in range(20):
        await act_once(table, Random(1))
    await settled()
    assert client.transport.get_write_buffer_size() == before
    client.transport.unblock()
    messages = [event_of(message) for message in await client.messages()]
    assert len(messages) == reactions + 20
    assert [event.update.sequence for event in messages[reactions:]] == list(range(2, 22))
    await act_once(table, Random(1))
    assert [event_of(message).update.sequence for message in await client.messages()] == [22]


async def test_a_reader_who_does_not_is_refused_and_dropped(
    engine: EngineHarness, tables: Tables, table: Table
) -> None:
    engine.max_queue_messages = 3
    tables = engine.tables(3)
    table = await tables.get("t1")
    client = await opened(engine, tables)
    reactions = await fill(table, client)
    for _ in range(4):
        table.subscribers.publish_reaction(0, REACTION_CLAP)
    await settled()
    assert not table.subscribers
    assert engine.count("croupier_slow_readers_closed_total") == 1
    assert ended_calls(engine, "RESOURCE_EXHAUSTED") == 1
    engine.clock.advance(round(MAX_WRITE_SECONDS * 1000) - 1)
    await settled()
    assert not client.transport.is_lost
    client.answers_pings = False
    client.transport.unblock()
    messages = await client.messages()
    assert (len(messages), client.code) == (reactions + 1, 4008)
    engine.clock.advance(1)
    await settled()
    assert client.transport.is_lost


async def test_a_blocked_stream_ends_soon_after_its_token(engine: EngineHarness, tables: Tables, table: Table) -> None:
    client = Client(websockets_of(engine, tables))
    client.send(play_request(engine, seconds=20))
    assert await client.messages()
    await fill(table, client)
    engine.clock.advance(20_000)
    await settled()
    assert not table.subscribers
    for _ in range(2):
        engine.clock.advance(round(MAX_WRITE_SECONDS * 1000))
        await settled()
    assert client.transport.is_lost


async def test_missed_entries_are_encoded_as_the_buffer_allows(engine: EngineHarness, seed: int) -> None:
    random, encoder = Random(seed), CountingEncoder()
    engine.encoder = encoder
    await open_table(engine, make_config("one_oh_one", 4, options=ENDLESS))
    tables = engine.tables(3)
    table = await tables.get("t1")
    await play_to(table, random, 200)
    before = encoder.updates
    client = Client(websockets_of(engine, tables))
    client.transport.is_blocked = True
    client.transport.write(bytes(MAX_BUFFERED_BYTES + 1))
    client.send(play_request(engine, after_sequence=0))
    await settled()
    assert encoder.updates == before
    live = await opened(engine, tables, after_sequence=table.state.sequence)
    await play_to(table, random, 230)
    client.transport.received = b""
    engine.clock.advance(1)
    client.transport.unblock()
    client.transport.received = client.transport.received[MAX_BUFFERED_BYTES + 1 :]
    messages = [message for message in await client.messages() if not is_presence(message)]
    assert [event_of(message).update.sequence for message in messages] == list(range(1, table.state.sequence + 1))
    assert messages[-20:] == (await live.messages())[-20:]


async def test_missed_entries_are_encoded_in_steps(engine: EngineHarness, seed: int) -> None:
    """Other tables get their turn between them."""
    encoder = CountingEncoder()
    engine.encoder = encoder
    await open_table(engine, make_config("one_oh_one", 4, options=ENDLESS))
    tables = engine.tables(3)
    await play_to(await tables.get("t1"), Random(seed), 200)
    client = Client(websockets_of(engine, tables))
    client.send(play_request(engine, after_sequence=0))
    steps = []
    before = encoder.updates
    for _ in range(100):
        await asyncio.sleep(0)
        steps.append(encoder.updates - before)
        before = encoder.updates
    assert max(steps) == MESSAGES_PER_STEP
    assert sum(steps) == 200


async def test_each_message_to_a_spectator_waits_for_its_turn(
    engine: EngineHarness, tables: Tables, table: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    waiting: dict[asyncio.Future[None], str] = {}
    monkeypatch.setattr(engine.spectator_sending, "put", lambda network, turn: waiting.setdefault(turn, network))
    server = websockets_of(engine, tables)
    player, spectator = Client(server), Client(server, **address("192.0.2.1"))
    player.send(play_request(engine))
    spectator.send(play_request(engine, "eve"))
    await player.messages()
    for turns, kind in ((1, "snapshot"), (2, "reaction"), (3, "reaction")):
        table.subscribers.publish_reaction(0, REACTION_CLAP)
        assert await player.messages()
        assert await spectator.messages() == []
        assert [*waiting.values()] == ["192.0.2.0/24"] * turns
        [*waiting][-1].set_result(None)
        assert [event_of(message).WhichOneof("event_kind") for message in await spectator.messages()] == [kind]


async def test_the_lines_of_the_log_have_the_table_and_the_player(
    engine: EngineHarness, tables: Tables, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = []
    monkeypatch.setattr(
        engine.logger, "info", lambda _event, **_fields: seen.append(structlog.contextvars.get_contextvars())
    )
    client = Client(websockets_of(engine, tables), x_request_id="my-id")
    client.send(play_request(engine))
    assert await client.messages()
    client.send_json("hello")
    assert (await client.outcome()).code == 4003
    expected = {"method": PLAY_TABLE, "request_id": "my-id", "table_id": "t1", "player_id": "p0"}
    assert seen == [expected]
    assert token(engine, "p0") not in str(engine.logger.lines)
    await within_timeout(settled())
