"""Streams of PlayTable resume at the player's turn, and replace older ones of the same seat."""

import asyncio

from croupier.engine.tables.subscribers import MAX_SEAT_STREAMS
from croupier_api.v1 import engine_pb2 as pb
from tests.contract.deployment import CALL_SECONDS, EngineClient, rest_of
from tests.refusals import refusal


async def test_a_stream_that_missed_nothing_begins_with_the_turn(client: EngineClient) -> None:
    table = await client.new_table()
    player, view = await client.turn(table)
    stream = await client.play_table(table, player, view.sequence)
    state = (await asyncio.wait_for(stream.read(), CALL_SECONDS)).table_event.turn_state
    stream.cancel()
    assert state.clock.server_unix_ms >= view.clock.server_unix_ms > 0
    state.clock.server_unix_ms = view.clock.server_unix_ms
    assert state == pb.TurnState(sequence=view.sequence, clock=view.clock, legal_actions=view.legal_actions)
    assert state.legal_actions.actions
    assert state.clock.deadline_unix_ms


async def test_a_new_stream_replaces_the_oldest_of_its_seat(client: EngineClient) -> None:
    table = await client.new_table()
    streams = []
    for _ in range(MAX_SEAT_STREAMS + 1):
        streams.append(await client.play_table(table, "anna"))
        await streams[-1].read()
    assert (await refusal(rest_of(streams[0])))[:2] == ("ABORTED", "SUPERSEDED")
    assert not any(stream.done() for stream in streams[1:])
    for stream in streams:
        stream.cancel()
