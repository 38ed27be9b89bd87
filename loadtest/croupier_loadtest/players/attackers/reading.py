"""Attackers who read what is expensive to read, or private."""

import asyncio
from collections.abc import Callable, Sequence
from ipaddress import IPv4Address

from google.protobuf.message import Message

from croupier_api.v1 import engine_pb2, games_pb2, lobby_pb2, scoring_pb2, tables_pb2
from croupier_loadtest.judge.violations import Invariant
from croupier_loadtest.players.attackers.attacker import PAGE_SIZE, Attacker
from croupier_loadtest.players.attackers.client import OK, AttackClient
from croupier_loadtest.players.attackers.games import SEATED
from croupier_loadtest.players.attackers.hoarding import open_table

NETWORK_READERS = 10
CALLS_AT_ONCE = 2
FAR_AHEAD = 2**40
LINK = "a.b.c"
SHOWN = (OK, "NOT_SEATED", "TABLE_NOT_FINISHED", "TABLE_FULL", "TABLE_STARTED")
"""Outcomes by which a table is known to exist."""
READS_OF_A_TABLE = 20
"""The number of times that all requests about a table are sent."""


async def find_tables(attacker: Attacker) -> None:
    """Keep the ids of the public tables, which other attacks aim at."""
    while not (clients := await attacker.sign_in(1)):
        await attacker.pause()
    async for client in attacker.turns(clients):
        results = await client.call(scoring_pb2.ListResultsRequest(page_size=PAGE_SIZE))
        if results.message is not None:
            attacker.tables.finished = [result.table_id for result in results.message.results]
        tables = await client.call(
            lobby_pb2.ListTablesRequest(state=tables_pb2.TABLE_STATE_PLAYING, page_size=PAGE_SIZE)
        )
        if tables.message is not None:
            attacker.tables.playing = [table.table_id for table in tables.message.tables]


async def replays(attacker: Attacker) -> None:
    """Read the replays of finished games, as files and as events."""

    def request(table: str) -> Message:
        events = engine_pb2.WatchReplayRequest(table_id=table, all_seats=True)
        return attacker.random.choice((engine_pb2.GetReplayRequest(table_id=table), events))

    await _read_tables(attacker, lambda: attacker.tables.finished, request)


async def cold_tables(attacker: Attacker) -> None:
    """Read finished tables one after the other, so that each is loaded again."""
    await _read_tables(
        attacker, lambda: attacker.tables.finished, lambda table: engine_pb2.GetViewRequest(table_id=table)
    )


async def running_replays(attacker: Attacker) -> None:
    """Ask for replays of games that are being played, which wait for the table if the engine takes its lock."""
    await _read_tables(
        attacker, lambda: attacker.tables.playing, lambda table: engine_pb2.GetReplayRequest(table_id=table)
    )


async def _read_tables(
    attacker: Attacker, tables: Callable[[], Sequence[str]], request: Callable[[str], Message]
) -> None:
    async for client in attacker.turns(await attacker.sign_in(1)):
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
        if found := (*attacker.tables.playing, *attacker.tables.finished):
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
        _leaderboard(attacker),
        scoring_pb2.ListResultsRequest(page_size=PAGE_SIZE, page_token=of_results),
        lobby_pb2.ListTablesRequest(page_size=PAGE_SIZE, page_token=of_tables),
    )


def _leaderboard(attacker: Attacker) -> Message:
    game = attacker.random.choice(attacker.games.entries).game
    return scoring_pb2.GetLeaderboardRequest(game=game, page_size=PAGE_SIZE)


async def own_lists(attacker: Attacker) -> None:
    """List own tables, for whose turns the lobby asks the engine."""
    async for client in attacker.turns(await attacker.sign_in(1)):
        await attacker.call(client, lobby_pb2.ListMyTablesRequest(page_size=PAGE_SIZE))


async def checked_tables(attacker: Attacker) -> None:
    """Let tables be checked that are never created."""
    request = attacker.games.small_table()
    request.validate_only = True
    async for client in attacker.turns(await attacker.sign_in(1)):
        await attacker.call(client, request)


async def checked_changes(attacker: Attacker) -> None:
    """Let changes of a forming table be checked that are never made."""
    table_id = ""
    async for host in attacker.turns(await attacker.sign_in(1)):
        if not table_id:
            created = await attacker.call(host, attacker.games.small_table(SEATED))
            table_id = created.message.table.table_id if created.message is not None else ""
        seat_count = max(attacker.games.usual.seats)
        request = lobby_pb2.UpdateTableRequest(table_id=table_id, seat_count=seat_count, validate_only=True)
        if table_id:
            await attacker.call(host, request)


async def forged_headers(attacker: Attacker) -> None:
    """Send another forged address, and a malformed request id, with each call."""
    async for client in attacker.turns(await attacker.sign_in(1)):
        metadata = (
            ("x-croupier-address", str(IPv4Address(attacker.random.getrandbits(32)))),
            ("x-request-id", f"{{{attacker.random.getrandbits(2048):x} \"'}}"),
        )
        request = _leaderboard(attacker)
        await attacker.call(client, request, metadata)


async def private_tables(attacker: Attacker) -> None:
    """Read tables that only their players may see: by their ids, with forged links, and from lists."""
    clients = await attacker.sign_in(2)
    while len(clients) == 2:
        host, snoop = clients
        table_id = await open_table(attacker, [host], attacker.games.small_table(SEATED))
        for _ in range(READS_OF_A_TABLE if table_id else 0):
            await attacker.pause()
            for request in _requests(table_id):
                outcome = (await attacker.call(snoop, request)).outcome
                if outcome in SHOWN:
                    detail = f"{type(request).DESCRIPTOR.name} answered {outcome}"
                    attacker.record_violation(Invariant.PRIVATE_TABLE_SEEN, table_id, detail)
            await _check_lists(attacker, snoop, table_id)
        clients = await attacker.sign_in(2)


def _requests(table_id: str) -> Sequence[Message]:
    return (
        lobby_pb2.GetTableRequest(table_id=table_id),
        lobby_pb2.JoinTableRequest(table_id=table_id),
        engine_pb2.GetViewRequest(table_id=table_id),
        engine_pb2.GetViewRequest(table_id=table_id, link=LINK),
        engine_pb2.GetReplayRequest(table_id=table_id),
        engine_pb2.CreateLinkRequest(table_id=table_id, purpose=engine_pb2.LINK_PURPOSE_WATCH),
        engine_pb2.SendReactionRequest(table_id=table_id, reaction=games_pb2.REACTION_CLAP),
        scoring_pb2.GetScoreSheetRequest(table_id=table_id),
    )


async def _check_lists(attacker: Attacker, snoop: AttackClient, table_id: str) -> None:
    tables = await attacker.call(snoop, lobby_pb2.ListTablesRequest(page_size=PAGE_SIZE))
    results = await attacker.call(snoop, scoring_pb2.ListResultsRequest(page_size=PAGE_SIZE))
    own = await attacker.call(snoop, lobby_pb2.ListMyTablesRequest(page_size=PAGE_SIZE))
    listed = [table.table_id for table in tables.message.tables] if tables.message is not None else []
    listed += [mine.table.table_id for mine in own.message.tables] if own.message is not None else []
    listed += [result.table_id for result in results.message.results] if results.message is not None else []
    if table_id in listed:
        attacker.record_violation(Invariant.PRIVATE_TABLE_SEEN, table_id, "it is listed")
