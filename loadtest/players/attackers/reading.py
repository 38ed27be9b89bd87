"""Attackers who read what is expensive to read."""

import asyncio
from collections.abc import Callable, Sequence
from ipaddress import IPv4Address

from google.protobuf.message import Message

from croupier_api.v1 import engine_pb2, lobby_pb2, scoring_pb2
from loadtest.mix import DEFAULT_MIX
from loadtest.players.attackers.attacker import PAGE_SIZE, Attacker

NETWORK_READERS = 10
CALLS_AT_ONCE = 2
FAR_AHEAD = 2**40
GAMES = tuple(DEFAULT_MIX)


async def replays(attacker: Attacker) -> None:
    """Read the replays of finished games."""
    await _read_tables(attacker, lambda: attacker.finished, lambda table: engine_pb2.GetReplayRequest(table_id=table))


async def cold_tables(attacker: Attacker) -> None:
    """Read finished tables one after the other, so that each is loaded again."""
    await _read_tables(attacker, lambda: attacker.finished, lambda table: engine_pb2.GetViewRequest(table_id=table))


async def running_replays(attacker: Attacker) -> None:
    """Ask for replays of games that are being played, which wait for the table if the engine takes its lock."""
    await _read_tables(attacker, lambda: attacker.playing, lambda table: engine_pb2.GetReplayRequest(table_id=table))


async def _read_tables(
    attacker: Attacker, tables: Callable[[], Sequence[str]], request: Callable[[str], Message]
) -> None:
    async for client in attacker.turns(await attacker.sign_in(1)):
        await attacker.find_tables(client)
        if found := tables():
            chosen = attacker.random.choices(found, k=CALLS_AT_ONCE)
            await asyncio.gather(*(attacker.call(client, request(table_id)) for table_id in chosen))


async def resumes(attacker: Attacker) -> None:
    """Resume streams from the first entry, again and again."""
    await _resume(attacker, 0)


async def resumes_ahead(attacker: Attacker) -> None:
    """Resume streams from an entry that does not exist yet, for which an engine looks in its database."""
    await _resume(attacker, FAR_AHEAD)


async def _resume(attacker: Attacker, after_sequence: int) -> None:
    async for client in attacker.turns(await attacker.sign_in(1)):
        await attacker.find_tables(client)
        if found := (*attacker.playing, *attacker.finished):
            requests = [
                engine_pb2.WatchTableRequest(table_id=table_id, after_sequence=after_sequence)
                for table_id in attacker.random.choices(found, k=CALLS_AT_ONCE)
            ]
            await asyncio.gather(*(attacker.open(client, request) for request in requests))
            await client.end_streams()


async def pages(attacker: Attacker) -> None:
    """Read leaderboards, results and lists page by page, as one guest."""
    tokens = ["", "", ""]
    async for client in attacker.turns(await attacker.sign_in(1)):
        number = attacker.random.randrange(3)
        answer = await attacker.call(client, _page_requests(attacker, tokens)[number])
        tokens[number] = answer.message.next_page_token if answer.message is not None else ""


async def pages_of_many_guests(attacker: Attacker) -> None:
    """Read pages as many guests, each within their own budget."""
    async for client in attacker.turns(await attacker.sign_in(NETWORK_READERS)):
        await attacker.call(client, attacker.random.choice(_page_requests(attacker)))


def _page_requests(attacker: Attacker, tokens: Sequence[str] = ("", "", "")) -> Sequence[Message]:
    _, of_results, of_tables = tokens
    return (
        scoring_pb2.GetLeaderboardRequest(game=attacker.random.choice(GAMES), page_size=PAGE_SIZE),
        scoring_pb2.ListResultsRequest(page_size=PAGE_SIZE, page_token=of_results),
        lobby_pb2.ListTablesRequest(page_size=PAGE_SIZE, page_token=of_tables),
    )


async def forged_headers(attacker: Attacker) -> None:
    """Send another forged address, and a malformed request id, with each call."""
    async for client in attacker.turns(await attacker.sign_in(1)):
        metadata = (
            ("x-croupier-address", str(IPv4Address(attacker.random.getrandbits(32)))),
            ("x-request-id", f"{{{attacker.random.getrandbits(2048):x} \"'}}"),
        )
        request = scoring_pb2.GetLeaderboardRequest(game=attacker.random.choice(GAMES), page_size=PAGE_SIZE)
        await attacker.call(client, request, metadata)
