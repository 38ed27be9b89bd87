"""Attackers who hold WebSockets: without a first message, with one that is too large, or without reading."""

from croupier_api.v1 import engine_pb2
from croupier_loadtest.players.attackers.attacker import Attacker
from croupier_loadtest.players.attackers.client import AttackClient
from croupier_loadtest.players.attackers.hoarding import held_calls

MAX_MESSAGE_BYTES = 64 * 1024
"""The longest message that an engine reads."""


async def silent_sockets(attacker: Attacker) -> None:
    """Open WebSockets and send nothing, which needs not even a token."""
    await _hold_sockets(attacker, attacker.new_client(), None)


async def large_messages(attacker: Attacker) -> None:
    """Open WebSockets and begin with a message that is too large."""
    await _hold_sockets(attacker, attacker.new_client(), bytes(MAX_MESSAGE_BYTES + 1))


async def unread_sockets(attacker: Attacker) -> None:
    """Resume streams of one guest from the first entry, and read none of them."""
    for client in await attacker.sign_in(1):
        watch = engine_pb2.WatchTableRequest(after_sequence=0)
        first = engine_pb2.PlayTableRequest(access_token=client.access_token, watch=watch)
        await _hold_sockets(attacker, client, first.SerializeToString(), is_resumed=True)


async def _hold_sockets(
    attacker: Attacker, client: AttackClient, first: bytes | None, *, is_resumed: bool = False
) -> None:
    """Open socket after socket at tables that are played, with a first message or none."""
    async with held_calls(attacker) as hold:
        async for _ in attacker.turns([client]):
            if playing := attacker.tables.playing:
                await hold(client.hold_socket(attacker.random.choice(playing), first, is_resumed=is_resumed))
