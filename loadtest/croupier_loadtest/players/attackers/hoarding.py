"""Attackers who take what others need: sign-ins, streams, tickets, tables, calls that stay open, entries of logs."""

import asyncio
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Sequence
from contextlib import asynccontextmanager

from croupier_api.v1 import actions_pb2, engine_pb2, lobby_pb2, scoring_pb2, tables_pb2
from croupier_client import complete_choice
from croupier_client.methods import encode_options
from croupier_loadtest.monitor.counters import key
from croupier_loadtest.players.attackers.attacker import PAGE_SIZE, Attacker
from croupier_loadtest.players.attackers.client import OK, Answer, AttackClient
from croupier_loadtest.players.counting import count_refused_action

GUESTS = 6
STREAMS_OF_A_GUEST = 11
SPECTATORS = 4
HOSTS = 2
LEAVING_HOSTS = 4
TABLES_OF_A_HOST = 20
PLAYER_SEATS = 4
GAME = "thulla"
MATCHES_OF_ONE_NETWORK = {"one_ten": 8, "jossing": 7}
"""Games with their greatest number of seats."""
MATCHES_OF_MANY_NETWORKS = {"thulla": 6}
"""Other games, so that the two attackers are not matched with each other."""
HELD_CALLS = 100
"""More at once would only delay the attacker."""
READERS = 4
ENDLESS_GAME = "one_oh_one"
DRAW = actions_pb2.Action(draw=actions_pb2.DrawAction())
ACTIONS_AT_ONCE = 2
"""With several, an action of the next player is waiting when one is accepted."""
LIMITS = ("player_calls", "network_calls", "table_changes")
"""Limits whose refusals the services do not count as refused actions."""
ENDLESS_TABLE = lobby_pb2.CreateTableRequest(
    game=ENDLESS_GAME,
    seat_count=2,
    options=encode_options({"may_draw_instead": True, "max_rounds": 1}),
    # On the leaderboard it would be a table that the judge does not know.
    access=tables_pb2.TableAccess(visibility=tables_pb2.VISIBILITY_SEATED),
)


async def sign_ins(attacker: Attacker) -> None:
    """Sign in as a new guest with each call."""
    while True:
        await attacker.pause()
        client = attacker.new_client()
        attacker.counted(await client.sign_in())
        await client.close()


async def lobby_streams(attacker: Attacker) -> None:
    """Watch the lobby with as many streams as possible, and keep them."""
    await _hold_streams(attacker, lobby_pb2.WatchTablesRequest(game=GAME))


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
    games = MATCHES_OF_ONE_NETWORK if attacker.has_one_network else MATCHES_OF_MANY_NETWORKS
    wanted = [
        (game, seats) for game, max_seats in games.items() for seats in range(3, max_seats + 1) for _ in range(2, seats)
    ]
    waiting = zip(await attacker.sign_in(len(wanted)), wanted, strict=False)
    async for client, (game, seat_count) in attacker.turns([*waiting]):
        if not client.streams:
            await attacker.open(client, lobby_pb2.FindMatchRequest(game=game, seat_count=seat_count))


async def left_tables(attacker: Attacker) -> None:
    """Create tables and leave them, with so many hosts that their network reaches its limit first."""
    async for client in attacker.turns(await attacker.sign_in(LEAVING_HOSTS)):
        answer = await attacker.call(client, lobby_pb2.CreateTableRequest(game=GAME, seat_count=2))
        if answer.message is not None:
            table_id = answer.message.table.table_id
            await attacker.call(client, lobby_pb2.LeaveTableRequest(table_id=table_id))


async def table_changes(attacker: Attacker) -> None:
    """Change a forming table again and again; it is not public, so that no other player loses time there."""
    access = tables_pb2.TableAccess(visibility=tables_pb2.VISIBILITY_SEATED)
    request, table_id = lobby_pb2.CreateTableRequest(game=GAME, seat_count=2, access=access), ""
    turns = [(host, is_ready) for host in await attacker.sign_in(1) for is_ready in (True, False)]
    async for host, is_ready in attacker.turns(turns):
        if not table_id:
            created = await attacker.call(host, request)
            table_id = created.message.table.table_id if created.message is not None else ""
        if table_id:
            await attacker.call(host, lobby_pb2.SetReadyRequest(table_id=table_id, is_ready=is_ready))
            seat_count = 3 if is_ready else 2
            await attacker.call(
                host, lobby_pb2.UpdateTableRequest(table_id=table_id, seat_count=seat_count, access=access)
            )


async def bot_tables(attacker: Attacker) -> None:
    """Open table after table with bots that act without delay, and leave them to the bots; one host after the other."""
    async for host in attacker.turns(await attacker.sign_in(HOSTS)):
        for _ in range(TABLES_OF_A_HOST):
            await attacker.pause()
            await open_table(attacker, [host], lobby_pb2.CreateTableRequest(game=GAME, seat_count=PLAYER_SEATS))


async def open_table(attacker: Attacker, players: Sequence[AttackClient], request: lobby_pb2.CreateTableRequest) -> str:
    """Open a table with these players, and bots on the other seats; returns its id, empty if a call is refused.

    A second player needs the invite code of a table that is not public.
    """
    host = players[0]
    created = await attacker.call(host, request)
    if created.message is None:
        return ""
    table_id: str = created.message.table.table_id
    for player in players[1:]:
        await attacker.call(player, lobby_pb2.JoinTableRequest(invite_code=created.message.table.invite_code))
    for seat in range(len(players), request.seat_count):
        await attacker.call(host, lobby_pb2.AddBotRequest(table_id=table_id, bot="random", seat=seat))
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
    """Play a round without end, in which both players draw instead of playing, as fast as possible."""
    clients = [*await attacker.sign_in(2)]
    while len(clients) == 2:
        await attacker.pause()
        table_id = await open_table(attacker, clients, ENDLESS_TABLE)
        if table_id:
            await asyncio.gather(*(_play(attacker, client, table_id) for client in clients))


async def _play(attacker: Attacker, client: AttackClient, table_id: str) -> None:
    """Draw all the time, and look at the table only when that is illegal, until the game is over."""
    outcomes: Collection[str] = ()
    while "TABLE_FINISHED" not in outcomes:
        await attacker.pause()
        action = await _legal_action(attacker, client, table_id) if "ILLEGAL_ACTION" in outcomes else DRAW
        outcomes = await asyncio.gather(*(_act(attacker, client, table_id, action) for _ in range(ACTIONS_AT_ONCE)))


async def _legal_action(attacker: Attacker, client: AttackClient, table_id: str) -> actions_pb2.Action:
    """Return a legal action of the player's view, DRAW if it has none."""
    view = await attacker.call(client, engine_pb2.GetViewRequest(table_id=table_id))
    legal = view.message.snapshot.legal_actions if view.message is not None else actions_pb2.LegalActions()
    if legal.actions:
        return legal.actions[0]
    if legal.choices:
        choice = legal.choices[0]
        cards = choice.cards.cards[: choice.cards.min_cards]
        return complete_choice(choice, cards=cards, suit=choice.suits[0])
    return DRAW


async def _act(attacker: Attacker, client: AttackClient, table_id: str, action: actions_pb2.Action) -> str:
    """Send an action; returns the outcome."""
    request = engine_pb2.SubmitActionRequest(table_id=table_id, request_id=uuid.uuid4().hex, action=action)
    outcome = ""
    try:
        outcome = (await attacker.call(client, request)).outcome
    finally:
        if outcome == OK:
            attacker.measures.count(key("actions accepted", ENDLESS_GAME))
        elif not outcome:
            attacker.measures.count(key("unanswered actions", ENDLESS_GAME))
        elif outcome not in LIMITS:
            count_refused_action(attacker.measures, outcome)
    return outcome


async def rematches(attacker: Attacker) -> None:
    """Play a game, and then let table after table follow it, and leave each."""
    clients, table_id, outcome = await attacker.sign_in(1), "", ""
    async for client in attacker.turns(clients):
        if not table_id:
            table_id = await open_table(attacker, [client], ENDLESS_TABLE)
        elif outcome != "TABLE_FINISHED":
            outcome = await _act(attacker, client, table_id, await _legal_action(attacker, client, table_id))
        else:
            answer = await attacker.call(client, lobby_pb2.RematchRequest(table_id=table_id))
            if answer.message is not None:
                await attacker.call(client, lobby_pb2.LeaveTableRequest(table_id=answer.message.table.table_id))


async def left_seats(attacker: Attacker) -> None:
    """Leave the seats of a table and return to them as fast as possible: each time is an entry of its log."""
    clients = [*await attacker.sign_in(2)]
    while len(clients) == 2:
        await attacker.pause()
        table_id, outcomes = await open_table(attacker, clients, ENDLESS_TABLE), set[str]()
        while table_id and "TABLE_FINISHED" not in outcomes:
            for is_away in (True, False):
                await attacker.pause()
                calls = (_set_away(attacker, client, table_id, is_away=is_away) for client in clients)
                outcomes.update(await asyncio.gather(*calls))


async def _set_away(attacker: Attacker, client: AttackClient, table_id: str, *, is_away: bool) -> str:
    request = engine_pb2.SetAwayRequest(table_id=table_id, request_id=uuid.uuid4().hex, is_away=is_away)
    return (await attacker.call(client, request)).outcome
