"""Streams over WebSocket: the messages of gRPC, the beginning, actions, and every end with its close code."""

import asyncio
from random import Random

from google.protobuf import json_format

from croupier.engine.api.play_session import PLAY_TABLE
from croupier.engine.api.websocket.connection import PING_SECONDS
from croupier.engine.tables.registry import Tables
from croupier.engine.tables.subscribers import MAX_SEAT_STREAMS
from croupier.engine.tables.table import Table
from croupier.games.facts import SPECTATOR, Viewer
from croupier_api.v1.games_pb2 import REACTION_CLAP
from tests.calls import call_of
from tests.engine.fakes import EngineHarness
from tests.engine.play import (
    ROUNDS,
    act_once,
    event_of,
    every_game,
    is_presence,
    make_config,
    open_table,
    parsed,
    play_on,
    viewers,
    within_timeout,
)
from tests.engine.sockets import (
    BEFORE_TIME,
    Client,
    Outcome,
    action_request,
    ended_calls,
    opened,
    play_request,
    token,
    websockets_of,
)
from tests.engine.test_servicer import WATCH, FakeCall
from tests.waiting import settled

TABLE_ID = "t1"


def name_of(viewer: Viewer) -> str:
    return "eve" if viewer == SPECTATOR else f"p{viewer}"


# Messages


@every_game
async def test_every_viewer_gets_the_bytes_that_a_stream_of_grpc_has(
    engine: EngineHarness, game: str, seed: int
) -> None:
    table = await open_table(engine, config := make_config(game, options=ROUNDS.get(game)))
    tables = engine.tables(3)
    table, server = await tables.get(TABLE_ID), websockets_of(engine, tables)
    calls, clients = {viewer: FakeCall(WATCH) for viewer in viewers(config)}, {}
    for viewer, call in calls.items():
        servicer = engine.servicer(tables)
        call.playing = asyncio.create_task(servicer.PlayTable(None, call_of(name_of(viewer), context=call)))
        clients[viewer] = Client(server)
        clients[viewer].send(play_request(engine, name_of(viewer)))
        await settled()
    await play_on(table, Random(seed), max_actions=20)
    table.subscribers.publish_reaction(0, REACTION_CLAP)
    for _ in range(2):
        table.subscribers.send_heartbeats(table.state.sequence)
    await settled()
    for viewer, client in clients.items():
        grpc_messages = [calls[viewer].written.get_nowait() for _ in range(calls[viewer].written.qsize())]
        expected = [message for message in grpc_messages if not is_presence(message)]
        assert [message for message in await client.messages() if not is_presence(message)] == expected
        assert len(expected) > 5


async def test_json_has_what_the_binary_messages_have(engine: EngineHarness, tables: Tables, table: Table) -> None:
    server = websockets_of(engine, tables)
    binary, text = Client(server), Client(server)
    binary.send(play_request(engine))
    text.send_json(f'{{"access_token": "{token(engine, "p0")}", "watch": {{"table_id": "t1"}}}}')
    await settled()
    await play_on(table, Random(1))
    messages = [parsed(message) for message in await binary.messages() if not is_presence(message)]
    texts = [message for message in await text.texts() if not message.table_event.HasField("presence")]
    assert texts == messages
    assert (binary.code, text.code) == (1000, 1000)


async def test_json_has_the_names_and_the_fields_of_the_gateways_json(engine: EngineHarness, tables: Tables) -> None:
    client = Client(websockets_of(engine, tables))
    client.send_json(f'{{"accessToken": "{token(engine, "p0")}", "watch": {{}}}}')
    await settled()
    assert b'"table_event"' in client.transport.received
    assert b'"spectator_count": 0' in client.transport.received


async def test_the_first_message_decides_the_kind_of_all_answers_and_later_ones_may_be_of_both(
    engine: EngineHarness, tables: Tables, table: Table
) -> None:
    seat, request = action_request(table)
    client = await opened(engine, tables, f"p{seat}")
    client.send_json(json_format.MessageToJson(request))
    answers = [parsed(message).answer for message in await client.messages()]
    assert [answer.sequence for answer in answers if answer.request_id] == [2]
    client = Client(websockets_of(engine, tables))
    client.send_json(json_format.MessageToJson(play_request(engine, f"p{seat}")))
    client.send(request)
    texts = await client.texts()
    assert [message.answer.sequence for message in texts if message.HasField("answer")] == [2]


async def test_a_message_in_several_frames_is_one(engine: EngineHarness, tables: Tables, table: Table) -> None:
    seat, request = action_request(table)
    client = await opened(engine, tables, f"p{seat}")
    raw = request.SerializeToString()
    client.send_parts(raw[:3], raw[3:5], raw[5:])
    assert 2 in [parsed(message).answer.sequence for message in await client.messages()]
    assert table.state.sequence == 2


async def test_an_open_stream_has_no_task(engine: EngineHarness, tables: Tables, table: Table) -> None:
    before = asyncio.all_tasks()
    seat, request = action_request(table)
    client = await opened(engine, tables, f"p{seat}")
    assert asyncio.all_tasks() == before
    client.send(request)
    assert len(await client.messages()) == 2
    assert asyncio.all_tasks() == before


async def test_a_resumed_stream_continues_after_its_last_sequence(
    engine: EngineHarness, tables: Tables, table: Table
) -> None:
    live = await opened(engine, tables, table_id=TABLE_ID)
    await play_on(table, Random(1), max_actions=40)
    expected = [message for message in await live.messages() if not is_presence(message)]
    client = Client(websockets_of(engine, tables))
    client.send(play_request(engine, after_sequence=1))
    resumed = [message for message in await client.messages() if not is_presence(message)]
    sequences = [event_of(message).update.sequence for message in resumed]
    assert sequences == [event_of(message).update.sequence for message in expected] == list(range(2, len(resumed) + 2))
    assert resumed[-1] == expected[-1]


# The end


async def test_the_end_of_the_game_closes_after_the_answer_to_the_last_action(
    engine: EngineHarness, tables: Tables, table: Table
) -> None:
    clients = [await opened(engine, tables, f"p{seat}") for seat in range(3)]
    number, answers = 0, 0
    while not table.state.is_over:
        number += 1
        seat, request = action_request(table, f"r{number}")
        clients[seat].send(request)
        answers += sum(parsed(message).HasField("answer") for message in await clients[seat].messages())
    assert answers == number
    assert [client.code for client in clients] == [1000] * 3
    await settled()
    assert all(client.transport.is_lost for client in clients)
    assert ended_calls(engine, "OK") == 3
    assert engine.count("croupier_rpc_open_calls", method=PLAY_TABLE) == 0


async def test_a_stream_continues_elsewhere_when_its_token_expires(
    engine: EngineHarness, tables: Tables, table: Table
) -> None:
    client = Client(websockets_of(engine, tables))
    client.send(play_request(engine, seconds=20))
    await client.messages()
    expires_in = 20_000 - engine.clock() % 1000
    engine.clock.advance(expires_in - BEFORE_TIME)
    assert await client.messages() == []
    assert client.code is None
    engine.clock.advance(BEFORE_TIME)
    (last,) = await client.messages()
    assert event_of(last).HasField("resume_notice")
    assert client.code == 1001
    assert not table.subscribers


async def test_newer_streams_of_a_seat_replace_the_oldest(engine: EngineHarness, tables: Tables) -> None:
    oldest, *others = [await opened(engine, tables) for _ in range(MAX_SEAT_STREAMS + 1)]
    assert await oldest.outcome() == Outcome(4010, "SUPERSEDED")
    assert [client.code for client in others] == [None] * MAX_SEAT_STREAMS


async def test_a_drain_answers_and_then_sends_every_stream_elsewhere(
    engine: EngineHarness, tables: Tables, table: Table
) -> None:
    server = websockets_of(engine, tables)
    seat, request = action_request(table)
    player, spectator = Client(server), Client(server)
    player.send(play_request(engine, f"p{seat}"))
    spectator.send(play_request(engine, "eve"))
    await player.messages()
    engine.store.gate.clear()
    player.send(request)
    await within_timeout(engine.store.held.wait())
    draining = asyncio.gather(tables.drain(), server.drain(60))
    await settled()
    assert player.code is None
    engine.store.gate.set()
    messages = [parsed(message) for message in await player.messages()]
    assert [message.answer.sequence for message in messages if message.HasField("answer")] == [2]
    assert messages[-1].table_event.HasField("resume_notice")
    assert event_of((await spectator.messages())[-1]).HasField("resume_notice")
    assert [player.code, spectator.code] == [1001, 1001]
    await within_timeout(draining)
    late = Client(server)
    late.send(play_request(engine, "p0"))
    assert (await late.outcome()).code == 4014


async def test_a_drain_aborts_what_does_not_end_in_time(engine: EngineHarness, tables: Tables) -> None:
    server = websockets_of(engine, tables)
    client = Client(server)
    draining = asyncio.ensure_future(server.drain(3))
    await settled()
    assert not client.transport.is_lost
    engine.clock.advance(3_000)
    await within_timeout(draining)
    assert client.transport.is_lost


async def test_a_client_that_leaves_has_no_stream_any_more(engine: EngineHarness, tables: Tables, table: Table) -> None:
    polite, gone = await opened(engine, tables), await opened(engine, tables)
    polite.close()
    gone.transport.abort()
    assert await polite.messages() == []
    assert polite.code == 1000
    await settled()
    assert not table.subscribers
    assert ended_calls(engine, "CANCELLED") == 2


# Pings


async def test_a_client_that_answers_pings_stays_and_another_is_dropped(
    engine: EngineHarness, tables: Tables, table: Table
) -> None:
    alive, dead = await opened(engine, tables), await opened(engine, tables)
    dead.answers_pings = False
    for pings in range(1, 4):
        engine.clock.advance(round(PING_SECONDS * 1000))
        await alive.messages()
        await dead.messages()
        assert alive.pings == pings
        assert dead.transport.is_lost == (pings > 1)
    assert not alive.transport.is_lost
    assert table.subscribers
    alive.close()
    await settled()
    assert not table.subscribers


async def test_a_ping_of_the_client_is_answered(engine: EngineHarness, tables: Tables) -> None:
    client = await opened(engine, tables)
    client.ping()
    await settled()
    assert client.transport.received == b"\x8a\x010"


async def test_each_action_is_answered_while_one_waits(engine: EngineHarness, tables: Tables, table: Table) -> None:
    seat, request = action_request(table)
    client = await opened(engine, tables, f"p{seat}")
    engine.store.gate.clear()
    client.send(request, request, request)
    await within_timeout(engine.store.held.wait())
    assert await client.messages() == []
    engine.store.gate.set()
    answers = [parsed(message).answer for message in await client.messages()]
    assert [(each.request_id, each.sequence) for each in answers if each.request_id] == [("r", 2)] * 3
    assert table.state.sequence == 2


async def test_a_spectator_sees_what_act_once_does(engine: EngineHarness, tables: Tables, table: Table) -> None:
    client = await opened(engine, tables, "eve")
    await act_once(table, Random(1))
    assert [event_of(message).update.sequence for message in await client.messages()] == [2]
