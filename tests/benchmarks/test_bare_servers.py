"""The bare servers, and the players' stream of WebSocket, on real connections."""

import asyncio

import pytest
from websockets.frames import Opcode

from benchmarks.bare_load import bare_server, bare_streams
from benchmarks.websocket import first_frame
from croupier.engine.api.websocket.frames import header
from croupier_client.sockets import GRPC, WEBSOCKET

SECONDS = 60
MESSAGES = [b"short", bytes(range(256)) * 2, b"x" * 70_000]
"""One for each length of a header."""


@pytest.mark.parametrize(("transport", "connections"), [(GRPC, 1), (WEBSOCKET, 0)])
async def test_each_message_goes_to_all_streams_of_its_table(transport: str, connections: int) -> None:
    async with (
        asyncio.timeout(SECONDS),
        bare_server(MESSAGES, transport) as (_, address),
        bare_streams(address, 3, connections) as (first, second, other),
    ):
        for stream, table in ((first, b"0"), (second, b"0"), (other, b"1")):
            await stream.write(table)
            assert await stream.read() == b""
        for _ in MESSAGES:
            await second.write(b"move")
        for stream in (first, second):
            assert [await stream.read() for _ in MESSAGES] == MESSAGES
        await other.write(b"move")
        assert await other.read() == MESSAGES[0]


async def test_a_stream_of_websocket_whose_server_ends_raises() -> None:
    async with asyncio.timeout(SECONDS):
        async with bare_server(MESSAGES, WEBSOCKET) as (_, address), bare_streams(address, 1, 0) as (stream,):
            await stream.write(b"0")
            await stream.read()
            stream.cancel()
            with pytest.raises(ConnectionError, match="closed with 1006"):
                await stream.read()


@pytest.mark.parametrize("length", [0, 125, 126, 65_535, 65_536])
def test_a_header_has_the_length_of_its_message(length: int) -> None:
    head = header(Opcode.BINARY, length)
    assert first_frame(head) == (len(head), len(head) + length)
