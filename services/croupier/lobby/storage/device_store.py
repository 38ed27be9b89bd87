"""The store of players' devices, and of the codes that add them."""

from sqlalchemy import Connection, func, insert, select, update
from sqlalchemy.exc import IntegrityError

from croupier.lobby.accounts.players import Player
from croupier.lobby.storage.player_store import lock_player
from croupier.lobby.storage.schema import DEVICE_CODES, DEVICES, PLAYERS
from croupier.lobby.storage.store import Store
from croupier.runtime.database.upsert import insert_into
from croupier.runtime.errors import AlreadyExists, IllegalNow
from croupier_api.v1 import errors_pb2

MAX_DEVICES = 10
"""The limit for one player, like that of sign-ins."""


class DeviceStore:
    """The devices of players, by the hashes of their secrets, and at most one code of each player."""

    def __init__(self, store: Store) -> None:
        self._store = store

    async def count(self, player_id: str) -> int:
        """Return the number of a player's devices."""
        return await self._store.read(_count, player_id)

    async def replace_code(self, player_id: str, code_hash: str, expires: int) -> bool:
        """Store a player's code in place of the one before; returns False if the player is gone.

        Raises IllegalNow if they have as many devices as allowed.
        """
        row = {"code_hash": code_hash, "expires_milliseconds": expires, "is_used": False}

        def replace(connection: Connection) -> bool:
            if not lock_player(connection, player_id):
                return False
            _check_room(connection, player_id)
            statement = insert_into(connection.dialect.name, DEVICE_CODES).values(player_id=player_id, **row)
            connection.execute(statement.on_conflict_do_update(index_elements=["player_id"], set_=row))
            return True

        return await self._store.write(replace)

    async def add_by_code(self, code_hash: str, device_hash: str, now: int) -> Player | None:
        """Use a code for a device and return its player, or None if the code is not valid.

        A used code is valid for a device of its player, since the answer may be lost. Raises AlreadyExists if the
        device belongs to another player, and IllegalNow if the player has as many devices as allowed.
        """
        valid = select(DEVICE_CODES).where(
            DEVICE_CODES.c.code_hash == code_hash, DEVICE_CODES.c.expires_milliseconds > now
        )
        code = await self._store.read(lambda connection: connection.execute(valid).one_or_none())
        if code is None:
            return None
        player = select(PLAYERS.c.player_id, PLAYERS.c.name).where(PLAYERS.c.player_id == code.player_id)

        def use(connection: Connection) -> Player | None:
            # The code may have been used, replaced or deleted before the lock.
            if not lock_player(connection, code.player_id) or not (row := connection.execute(valid).one_or_none()):
                return None
            if row.is_used and not _is_device_of(connection, device_hash, row.player_id):
                return None
            add_device(connection, device_hash, row.player_id)
            connection.execute(update(DEVICE_CODES).where(DEVICE_CODES.c.code_hash == code_hash).values(is_used=True))
            return Player(*connection.execute(player).one())

        try:
            return await self._store.write(use)
        except IntegrityError:
            # A concurrent call has signed the same device in.
            raise device_taken() from None


def add_device(connection: Connection, device_hash: str, player_id: str) -> None:
    """Add a device to a player whose row the transaction has locked, unless it is theirs already.

    Raises AlreadyExists if it belongs to another player, IllegalNow if they have as many devices as allowed.
    """
    if not _is_device_of(connection, device_hash, player_id):
        _check_room(connection, player_id)
        connection.execute(insert(DEVICES), {"device_hash": device_hash, "player_id": player_id})


def device_taken() -> AlreadyExists:
    return AlreadyExists(
        errors_pb2.ERROR_REASON_DEVICE_TAKEN,
        "the device_secret belongs to another player: make a new one for this device_code or id_token",
    )


def _is_device_of(connection: Connection, device_hash: str, player_id: str) -> bool:
    """Return whether a device belongs to a player; raises AlreadyExists if it belongs to another one."""
    owner = select(DEVICES.c.player_id).where(DEVICES.c.device_hash == device_hash)
    owner_id = connection.execute(owner).scalar_one_or_none()
    if owner_id is not None and owner_id != player_id:
        raise device_taken()
    return owner_id is not None


def _check_room(connection: Connection, player_id: str) -> None:
    if _count(connection, player_id) >= MAX_DEVICES:
        raise IllegalNow(
            errors_pb2.ERROR_REASON_TOO_MANY_DEVICES,
            f"too many devices: expected at most {MAX_DEVICES} of one player; SignOut can remove the others",
        )


def _count(connection: Connection, player_id: str) -> int:
    return connection.execute(select(func.count()).where(DEVICES.c.player_id == player_id)).scalar_one()
