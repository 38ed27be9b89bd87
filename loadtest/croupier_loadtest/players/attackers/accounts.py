"""Attackers who guess the codes of others, come back after they were blocked, or delete themselves to begin again."""

from google.protobuf.message import Message

from croupier_api.v1 import lobby_pb2
from croupier_loadtest.judge.violations import Invariant
from croupier_loadtest.players.attackers.attacker import Attacker
from croupier_loadtest.players.attackers.client import OK, AttackClient
from croupier_loadtest.players.attackers.games import SEATED
from croupier_loadtest.players.attackers.hoarding import PLAYER_SEATS

CODE_CHARACTERS = "23456789ABCDEFGHJKLMNPQRSTUVWXYZ"
INVITE_CODE_LENGTH, DEVICE_CODE_LENGTH = 8, 12
RETURNS = 4
"""The number of times that a blocked player tries all ways back to one table."""
PRIVATE_SEATS = 3


async def invite_codes(attacker: Attacker) -> None:
    """Guess invite codes, to look at tables of others."""
    async for client in attacker.turns(await attacker.sign_in(1)):
        answer = await attacker.call(client, lobby_pb2.GetTableRequest(invite_code=_code(attacker, INVITE_CODE_LENGTH)))
        if answer.message is not None:
            table_id = answer.message.table.table_id
            attacker.record_violation(Invariant.PRIVATE_TABLE_SEEN, table_id, "a guessed code shows it")


async def device_codes(attacker: Attacker) -> None:
    """Guess device codes, to sign in as others, with a new secret for each."""
    client = attacker.new_client()
    while True:
        await attacker.pause()
        secret, code = f"{attacker.random.getrandbits(128):032x}", _code(attacker, DEVICE_CODE_LENGTH)
        answer = await attacker.call(client, lobby_pb2.SignInRequest(device_secret=secret, device_code=code))
        if answer.message is not None:
            attacker.record_violation(Invariant.PRIVATE_TABLE_SEEN, "", "a guessed code signs another player in")


def _code(attacker: Attacker, length: int) -> str:
    return "".join(attacker.random.choices(CODE_CHARACTERS, k=length))


async def blocked_players(attacker: Attacker) -> None:
    """Come back to a table after its host has blocked the player, by its id and by its old and new codes."""
    clients = [*await attacker.sign_in(2)]
    while len(clients) == 2:
        host, guest = clients
        requests = await _ways_back(attacker, host, guest)
        for request in requests * RETURNS:
            await attacker.pause()
            if (await attacker.call(guest, request)).outcome == OK:
                detail = f"{type(request).DESCRIPTOR.name} of a blocked player was answered"
                attacker.record_violation(Invariant.PRIVATE_TABLE_SEEN, "", detail)
        if not requests:
            await attacker.pause()


async def _ways_back(attacker: Attacker, host: AttackClient, guest: AttackClient) -> list[Message]:
    """Block a player at a new table; returns the requests by which they may come back, none if a limit refuses it."""
    await attacker.pause()
    created = await attacker.call(host, attacker.games.table_near(PRIVATE_SEATS, SEATED))
    if created.message is None:
        return []
    table = created.message.table
    joined = await attacker.call(guest, lobby_pb2.JoinTableRequest(invite_code=table.invite_code))
    cleared = await attacker.call(host, lobby_pb2.ClearSeatRequest(table_id=table.table_id, seat=1, block=True))
    if joined.message is None or cleared.message is None:
        await attacker.call(host, lobby_pb2.LeaveTableRequest(table_id=table.table_id))
        return []
    kinds = (lobby_pb2.JoinTableRequest, lobby_pb2.GetTableRequest)
    by_id: list[Message] = [kind(table_id=table.table_id) for kind in kinds]
    codes = (table.invite_code, cleared.message.table.invite_code)
    return by_id + [kind(invite_code=code) for code in codes for kind in kinds]


async def deletions(attacker: Attacker) -> None:
    """Begin a game against bots, delete the player and sign in again as a new one: the games go on and count."""
    request = attacker.games.table_near(PLAYER_SEATS, SEATED)
    # It begins at once, and goes on without its player.
    request.bots.extend([attacker.games.bot_of(request.game)] * (request.seat_count - 1))
    request.is_ready = True
    async for client in attacker.turns(await attacker.sign_in(1)):
        begun = await attacker.call(client, request)
        if begun.message is not None:
            # No viewer of the load test sees its end.
            attacker.measures.count("unobserved tables")
        await attacker.pause()
        await attacker.call(client, lobby_pb2.DeletePlayerRequest())
        await attacker.pause()
        attacker.counted(await client.sign_in())
