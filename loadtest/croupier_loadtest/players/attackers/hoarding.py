"""Attackers who take what others need: sign-ins, streams, tickets, tables, calls that stay open, entries of logs."""

import asyncio
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Sequence
from contextlib import asynccontextmanager

from croupier_api.v1 import actions_pb2, engine_pb2, lobby_pb2, scoring_pb2, tables_pb2
from croupier_client import complete_choice
from croupier_loadtest.monitor.counters import key
from croupier_loadtest.players.attackers.attacker import PAGE_SIZE, Attacker
from croupier_loadtest.players.attackers.client import OK, Answer, AttackClient
from croupier_loadtest.players.attackers.games import SEATED
from croupier_loadtest.players.counting import count_refused_action

GUESTS = 6
STREAMS_OF_A_GUEST = 11
SPECTATORS = 4
HOSTS = 2
LEAVING_HOSTS = 4
TABLES_OF_A_HOST = 20
PLAYER_SEATS = 4
MAX_TICKETS = 36
"""Enough for the limit of one network: more would delay the attacker, who needs a guest for each."""
HELD_CALLS = 100
"""More at once would only delay the attacker."""
READERS = 4
ACTIONS_AT_ONCE = 2
"""With several, an action of the next player is waiting when one is accepted."""
PASS = actions_pb2.Action(pass_turn=actions_pb2.PassAction())
LIMITS = ("player_calls", "network_calls", "table_changes")
"""Limits whose refusals the services do not count as refused actions."""


async def sign_ins(attacker: Attacker) -> None:
    """Sign in as a new guest with each call."""
    while True:
        await attacker.pause()
        client = attacker.new_client()
        attacker.counted(await client.sign_in())
        await client.close()


async def lobby_streams(attacker: Attacker) -> None:
    """Watch the lobby with as many streams as possible, and keep them."""
    await _hold_streams(attacker, lobby_pb2.WatchTablesRequest(game=attacker.games.usual.game))


async def own_streams(attacker: Attacker) -> None:
    """Follow own tables with as many streams as possible, and keep them."""
    await _hold_streams(attacker, lobby_pb2.WatchTablesRequest(mine=True))


async def _hold_streams(attacker: Attacker, request: lobby_pb2.WatchTablesRequest) -> None:
    async for client in attacker.turns(await attacker.sign_in(GUESTS)):
        if client.streams < STREAMS_OF_A_GUEST:
            await attacker.open(client, request)


async def unknown_games(attacker: Attacker) -> None:
    """Watch games that do not exist."""
    async for client in attacker.turns(await attacker.sign_in(SPECTATORS)):
        await attacker.open(client, lobby_pb2.WatchTablesRequest(game=f"{attacker.random.getrandbits(64):x}"))


async def spectators(attacker: Attacker) -> None:
    """Take all places of spectators at a table."""
    clients = await attacker.sign_in(SPECTATORS)
    target = ""
    async for client in attacker.turns(clients):
        playing = attacker.tables.playing
        if target not in playing:
            target = attacker.random.choice(playing) if playing else ""
        if target:
            await attacker.open(client, engine_pb2.WatchTableRequest(table_id=target))


async def table_streams(attacker: Attacker) -> None:
    """Watch all tables with as many streams as one guest may have."""
    async for client in attacker.turns(await attacker.sign_in(1)):
        if playing := attacker.tables.playing:
            await attacker.open(client, engine_pb2.WatchTableRequest(table_id=attacker.random.choice(playing)))


async def tickets(attacker: Attacker) -> None:
    """Wait for matches that are never found, since each lacks one player, with one guest for each ticket."""
    wanted = attacker.games.tickets(has_one_network=attacker.has_one_network)[:MAX_TICKETS]
    waiting = zip(await attacker.sign_in(len(wanted)), wanted, strict=False)
    async for client, request in attacker.turns([*waiting]):
        if not client.streams:
            await attacker.open(client, request)


async def left_tables(attacker: Attacker) -> None:
    """Create tables and leave them, with so many hosts that their network reaches its limit first."""
    async for client in attacker.turns(await attacker.sign_in(LEAVING_HOSTS)):
        answer = await attacker.call(client, attacker.games.small_table())
        if answer.message is not None:
            table_id = answer.message.table.table_id
            await attacker.call(client, lobby_pb2.LeaveTableRequest(table_id=table_id))


async def table_changes(attacker: Attacker) -> None:
    """Change a forming table again and again; it is not public, so that no other player loses time there."""
    request, table_id = attacker.games.small_table(SEATED), ""
    fewest, *more = attacker.games.usual.seats
    turns = [(host, is_ready) for host in await attacker.sign_in(1) for is_ready in (True, False)]
    async for host, is_ready in attacker.turns(turns):
        if not table_id:
            created = await attacker.call(host, request)
            table_id = created.message.table.table_id if created.message is not None else ""
        if table_id:
            await attacker.call(host, lobby_pb2.SetReadyRequest(table_id=table_id, is_ready=is_ready))
            seat_count = more[0] if more and is_ready else fewest
            await attacker.call(
                host, lobby_pb2.UpdateTableRequest(table_id=table_id, seat_count=seat_count, access=SEATED)
            )


async def bot_tables(attacker: Attacker) -> None:
    """Open table after table with bots that act without delay, and leave them to the bots; one host after the other."""
    async for host in attacker.turns(await attacker.sign_in(HOSTS)):
        for _ in range(TABLES_OF_A_HOST):
            await attacker.pause()
            await open_table(attacker, [host], attacker.games.table_near(PLAYER_SEATS))


async def open_table(attacker: Attacker, players: Sequence[AttackClient], request: lobby_pb2.CreateTableRequest) -> str:
    """Open a table with these players, and bots on the other seats; returns its id, empty if a call is refused.

    A second player needs the invite code of a table that is not public.
    """
    host, bot = players[0], attacker.games.bot_of(request.game)
    created = await attacker.call(host, request)
    if created.message is None:
        return ""
    table_id: str = created.message.table.table_id
    for player in players[1:]:
        await attacker.call(player, lobby_pb2.JoinTableRequest(invite_code=created.message.table.invite_code))
    for seat in range(len(players), request.seat_count):
        await attacker.call(host, lobby_pb2.AddBotRequest(table_id=table_id, bot=bot, seat=seat))
    state = tables_pb2.TABLE_STATE_FORMING
    for player in players:
        answer = await attacker.call(player, lobby_pb2.SetReadyRequest(table_id=table_id, is_ready=True))
        state = answer.message.table.state if answer.outcome == OK else state
    if state != tables_pb2.TABLE_STATE_PLAYING:
        return ""
    # No viewer of the load test sees its end.
    attacker.measures.count("unobserved tables")
    return table_id


async def held_requests(attacker: Attacker) -> None:
    """Send the headers of calls and no request; signing in needs not even a token."""
    requests = (lobby_pb2.WatchTablesRequest(), lobby_pb2.FindMatchRequest(), lobby_pb2.SignInRequest())
    async with held_calls(attacker) as hold:
        async for client in attacker.turns(await attacker.sign_in(1)):
            for request in requests:
                await hold(client.hold(request))


async def unread_answers(attacker: Attacker) -> None:
    """Ask for long answers, and read none of them."""
    async with held_calls(attacker) as hold:
        async for client in attacker.turns(await attacker.sign_in(READERS)):
            await hold(client.leave_unread(lobby_pb2.ListTablesRequest(page_size=PAGE_SIZE)))
            await hold(client.leave_unread(scoring_pb2.ListResultsRequest(page_size=PAGE_SIZE)))
            for table_id in attacker.tables.finished[:1]:
                await hold(client.leave_unread(engine_pb2.GetReplayRequest(table_id=table_id)))


@asynccontextmanager
async def held_calls(attacker: Attacker) -> AsyncIterator[Callable[[Awaitable[Answer]], Awaitable[None]]]:
    """Yield a function that starts a call, once fewer than HELD_CALLS are held, and lets its answer be counted."""
    places = asyncio.Semaphore(HELD_CALLS)

    async def counted(call: Awaitable[Answer]) -> None:
        try:
            attacker.counted(await call)
        finally:
            places.release()

    async with asyncio.TaskGroup() as calls:

        async def hold(call: Awaitable[Answer]) -> None:
            await places.acquire()
            calls.create_task(counted(call))

        yield hold


async def endless_games(attacker: Attacker) -> None:
    """Play a round without end, in which both players repeat an action that a game allows for ever, if one does."""
    clients, request = [*await attacker.sign_in(2)], attacker.games.endless_table()
    while len(clients) == 2:
        await attacker.pause()
        players = clients[: request.seat_count]
        table_id = await open_table(attacker, players, request)
        if table_id:
            await asyncio.gather(*(_play(attacker, client, table_id) for client in players))


async def _play(attacker: Attacker, client: AttackClient, table_id: str) -> None:
    """Repeat the action, and look at the table only when that is illegal, until the game is over."""
    outcomes: Collection[str] = ()
    while "TABLE_FINISHED" not in outcomes:
        await attacker.pause()
        stalling = attacker.games.stalling_action if "ILLEGAL_ACTION" not in outcomes else None
        action = stalling or await _legal_action(attacker, client, table_id)
        outcomes = await asyncio.gather(*(_act(attacker, client, table_id, action) for _ in range(ACTIONS_AT_ONCE)))


async def _legal_action(attacker: Attacker, client: AttackClient, table_id: str) -> actions_pb2.Action:
    """Return the first legal action of the player's view, and an illegal one if it has none."""
    view = await attacker.call(client, engine_pb2.GetViewRequest(table_id=table_id))
    legal = view.message.snapshot.legal_actions if view.message is not None else actions_pb2.LegalActions()
    if legal.actions:
        return legal.actions[0]
    return _completed(legal.choices[0]) if legal.choices else PASS


def _completed(choice: actions_pb2.ActionChoice) -> actions_pb2.Action:
    """Return the action of a choice with the first value of each part."""
    return complete_choice(
        choice,
        cards=choice.cards.cards[: choice.cards.min_cards],
        suit=choice.suits[0] if choice.suits else None,
        amount=choice.amount.min_amount if choice.HasField("amount") else None,
        seat=choice.seats[0] if choice.seats else None,
    )


async def _act(attacker: Attacker, client: AttackClient, table_id: str, action: actions_pb2.Action) -> str:
    """Send an action in the endless game; returns the outcome."""
    request = engine_pb2.SubmitActionRequest(table_id=table_id, request_id=uuid.uuid4().hex, action=action)
    game, outcome = attacker.games.endless.game, ""
    try:
        outcome = (await attacker.call(client, request)).outcome
    finally:
        if outcome == OK:
            attacker.measures.count(key("actions accepted", game))
        elif not outcome:
            attacker.measures.count(key("unanswered actions", game))
        elif outcome not in LIMITS:
            count_refused_action(attacker.measures, outcome)
    return outcome


async def rematches(attacker: Attacker) -> None:
    """Play a game, and then let table after table follow it, and leave each."""
    clients, table_id, outcome = await attacker.sign_in(1), "", ""
    async for client in attacker.turns(clients):
        if not table_id:
            table_id = await open_table(attacker, [client], attacker.games.endless_table())
        elif outcome != "TABLE_FINISHED":
            outcome = await _act(attacker, client, table_id, await _legal_action(attacker, client, table_id))
        else:
            answer = await attacker.call(client, lobby_pb2.RematchRequest(table_id=table_id))
            if answer.message is not None:
                await attacker.call(client, lobby_pb2.LeaveTableRequest(table_id=answer.message.table.table_id))


async def left_seats(attacker: Attacker) -> None:
    """Leave the seats of a table and return to them as fast as possible: each time is an entry of its log."""
    clients, request = [*await attacker.sign_in(2)], attacker.games.endless_table()
    while len(clients) == 2:
        await attacker.pause()
        players = clients[: request.seat_count]
        table_id, outcomes = await open_table(attacker, players, request), set[str]()
        while table_id and "TABLE_FINISHED" not in outcomes:
            for is_away in (True, False):
                await attacker.pause()
                calls = (_set_away(attacker, client, table_id, is_away=is_away) for client in players)
                outcomes.update(await asyncio.gather(*calls))


async def _set_away(attacker: Attacker, client: AttackClient, table_id: str, *, is_away: bool) -> str:
    request = engine_pb2.SetAwayRequest(table_id=table_id, request_id=uuid.uuid4().hex, is_away=is_away)
    return (await attacker.call(client, request)).outcome
