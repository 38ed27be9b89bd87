"""The store of players and their sign-ins."""

from collections.abc import Collection, Sequence

from sqlalchemy import Connection, bindparam, delete, exists, insert, or_, select, update
from sqlalchemy.exc import IntegrityError

from croupier.lobby.accounts.players import Player
from croupier.lobby.storage.schema import DEVICE_CODES, DEVICES, IDENTITIES, PLAYERS, SEATS, SIGN_INS, TICKETS
from croupier.lobby.storage.store import Store, acquire_advisory_locks, select_unlocked

MAX_DELETED = 500
MAX_SIGN_INS = 10
"""The limit for one player; a further sign-in ends the oldest."""


class PlayerStore:
    """Players by the hashes of their devices' secrets, and the hashes of valid refresh tokens.

    A transaction that changes what belongs to a player locks their row first.
    """

    def __init__(self, store: Store) -> None:
        self._store = store

    async def see(self, player_id: str, now: int) -> Player | None:
        """Record that a player was seen, and return them, or None."""
        seen = {"seen_player": player_id, "seen_milliseconds": now}
        row = await self._store.write(lambda connection: connection.execute(_SEEN_PLAYER, seen).one_or_none())
        return Player(row.player_id, row.name) if row else None

    async def get(self, player_id: str) -> Player | None:
        """Return a player, or None."""
        wanted = {"player_id": player_id}
        row = await self._store.read(lambda connection: connection.execute(_BY_ID, wanted).one_or_none())
        return Player(row.player_id, row.name) if row else None

    async def get_by_device(self, device_hash: str) -> Player | None:
        """Return the player of a device, or None."""
        wanted = {"device_hash": device_hash}
        row = await self._store.read(lambda connection: connection.execute(_BY_DEVICE, wanted).one_or_none())
        return Player(row.player_id, row.name) if row else None

    async def add(self, player: Player, device_hash: str, now: int) -> bool:
        """Store a new player; returns False if the device has one already."""
        try:
            await self._store.write(insert_player, player, device_hash, now)
        except IntegrityError:
            return False
        return True

    async def rename(self, player: Player) -> bool:
        """Store a player's name, also for a ticket that waits; returns False if the player is gone."""
        renamed = update(PLAYERS).where(PLAYERS.c.player_id == player.player_id)
        ticket = update(TICKETS).where(TICKETS.c.player_id == player.player_id, TICKETS.c.table_id.is_(None))

        def rename(connection: Connection) -> bool:
            is_known = connection.execute(renamed.values(name=player.name)).rowcount > 0
            connection.execute(ticket.values(name=player.name))
            return is_known

        return await self._store.write(rename)

    async def add_sign_in(
        self, family: str, player_id: str, token_hash: str, expires: int, device_hash: str | None, now: int
    ) -> bool:
        """Store a new sign-in by a device, None by an identity alone; the player's oldest ends if there are too many.

        Returns False if the player is gone, or the device is not theirs any more.
        """
        row = {
            "family": family,
            "player_id": player_id,
            "token_hash": token_hash,
            "expires_milliseconds": expires,
            "device_hash": device_hash,
        }
        seen = {"seen_player": player_id, "seen_milliseconds": now}
        seen_by = (_SEEN, seen) if device_hash is None else (_SEEN_BY_DEVICE, {**seen, "of_device": device_hash})

        def add(connection: Connection) -> bool:
            acquire_advisory_locks(connection, ("sign in", player_id))
            if connection.execute(*seen_by).rowcount == 0:
                return False
            connection.execute(_DELETE_OLDEST_SIGN_INS, {"of_player": player_id})
            connection.execute(insert(SIGN_INS), row)
            return True

        return await self._store.write(add)

    async def rotate_token(self, family: str, used_hash: str, new_hash: str, expires: int, now: int) -> str | None:
        """Replace the used refresh token by a new one and return its player's id.

        Returns None if the sign-in has expired or has another token, and then ends it: the token may be stolen.
        """
        rotated = (
            update(SIGN_INS)
            .where(
                SIGN_INS.c.family == family,
                SIGN_INS.c.token_hash == used_hash,
                SIGN_INS.c.expires_milliseconds > now,
            )
            .values(token_hash=new_hash, expires_milliseconds=expires)
            .returning(SIGN_INS.c.player_id)
        )

        def rotate(connection: Connection) -> str | None:
            player_id = connection.execute(rotated).scalar_one_or_none()
            if player_id is None:
                _end_sign_in(connection, family)
            return player_id

        return await self._store.write(rotate)

    async def sign_out(self, family: str) -> None:
        """End a sign-in, if there is one."""
        await self._store.write(_end_sign_in, family)

    async def sign_out_all(self, family: str, used_hash: str, now: int) -> bool:
        """End all sign-ins of the player of one, whose valid refresh token is given, and remove their other devices.

        Returns False if the sign-in has expired or has another token, and then ends it alone, as `rotate_token` does.
        """
        valid = select(SIGN_INS.c.player_id, SIGN_INS.c.device_hash).where(
            SIGN_INS.c.family == family, SIGN_INS.c.token_hash == used_hash, SIGN_INS.c.expires_milliseconds > now
        )
        found = await self._store.read(lambda connection: connection.execute(valid).one_or_none())

        def sign_out(connection: Connection) -> bool:
            lock_player(connection, found.player_id if found else "")
            row = connection.execute(valid).one_or_none()
            if row is None:
                _end_sign_in(connection, family)
                return False
            others = DEVICES.c.device_hash.is_distinct_from(row.device_hash)
            connection.execute(delete(DEVICE_CODES).where(DEVICE_CODES.c.player_id == row.player_id))
            connection.execute(delete(DEVICES).where(DEVICES.c.player_id == row.player_id, others))
            connection.execute(delete(SIGN_INS).where(SIGN_INS.c.player_id == row.player_id))
            return True

        return await self._store.write(sign_out)

    async def mark_played(self, player_ids: Collection[str], now: int) -> None:
        """Record that players have acted in a game; they are kept."""
        unplayed = PLAYERS.c.player_id.in_(player_ids), PLAYERS.c.played_milliseconds.is_(None)
        # In one order, so that two transactions never wait for each other.
        locked = select(PLAYERS.c.player_id).where(*unplayed).order_by(PLAYERS.c.player_id).with_for_update()
        played = update(PLAYERS).where(PLAYERS.c.player_id.in_(locked)).values(played_milliseconds=now)
        await self._store.write(lambda connection: connection.execute(played))

    async def delete_unplayed(self, seen_before: int) -> int:
        """Delete players who have not played, were not seen since a time, and have no identity, no ticket and no seat.

        Seats at tables that have ended do not count. Their sign-ins are deleted too. Returns the number of players, at
        most MAX_DELETED.
        """
        is_unplayed = PLAYERS.c.played_milliseconds.is_(None) & (PLAYERS.c.seen_milliseconds < seen_before)
        has_identity = exists().where(IDENTITIES.c.player_id == PLAYERS.c.player_id)
        has_ticket = exists().where(TICKETS.c.player_id == PLAYERS.c.player_id)
        has_seat = exists().where(SEATS.c.player_id == PLAYERS.c.player_id, SEATS.c.created_milliseconds.is_(None))
        is_kept = or_(has_identity, has_ticket, has_seat)
        unlocked = select_unlocked(PLAYERS.c.player_id, is_unplayed, ~is_kept).limit(MAX_DELETED)

        def delete_them(connection: Connection) -> int:
            player_ids = connection.scalars(unlocked).all()
            delete_players(connection, player_ids)
            return len(player_ids)

        return await self._store.write(delete_them)

    async def delete_expired(self, now: int) -> None:
        """Delete expired sign-ins and device codes."""

        def delete_them(connection: Connection) -> None:
            for table, key in ((SIGN_INS, SIGN_INS.c.family), (DEVICE_CODES, DEVICE_CODES.c.player_id)):
                keys = select_unlocked(key, table.c.expires_milliseconds <= now)
                connection.execute(delete(table).where(key.in_(keys)))

        await self._store.write(delete_them)


def insert_player(connection: Connection, player: Player, device_hash: str | None, now: int) -> None:
    """Insert a new player, with their device unless it is None."""
    row = {
        "player_id": player.player_id,
        "name": player.name,
        "created_milliseconds": now,
        "seen_milliseconds": now,
    }
    connection.execute(insert(PLAYERS), row)
    if device_hash is not None:
        connection.execute(insert(DEVICES), {"device_hash": device_hash, "player_id": player.player_id})


def lock_player(connection: Connection, player_id: str) -> bool:
    """Lock a player's sign-ins, devices and code in a transaction that has no other lock; returns False if they are
    gone."""
    acquire_advisory_locks(connection, ("sign in", player_id))
    locked = select(PLAYERS.c.player_id).where(PLAYERS.c.player_id == player_id).with_for_update()
    return connection.execute(locked).one_or_none() is not None


def delete_players(connection: Connection, player_ids: Sequence[str]) -> None:
    """Delete players whose rows the transaction has locked, with all that signs them in."""
    for table in (DEVICE_CODES, DEVICES, IDENTITIES, SIGN_INS, PLAYERS):
        connection.execute(delete(table).where(table.c.player_id.in_(player_ids)))


def _end_sign_in(connection: Connection, family: str) -> None:
    connection.execute(delete(SIGN_INS).where(SIGN_INS.c.family == family))


# The statements have their values as parameters: building one takes longer than its execution.
_PLAYER = select(PLAYERS.c.player_id, PLAYERS.c.name)
_BY_ID = _PLAYER.where(PLAYERS.c.player_id == bindparam("player_id"))
_BY_DEVICE = _PLAYER.join_from(PLAYERS, DEVICES).where(DEVICES.c.device_hash == bindparam("device_hash"))
_SEEN = update(PLAYERS).where(PLAYERS.c.player_id == bindparam("seen_player"))
_SEEN_PLAYER = _SEEN.returning(PLAYERS.c.player_id, PLAYERS.c.name)
_SEEN_BY_DEVICE = _SEEN.where(
    exists().where(DEVICES.c.player_id == PLAYERS.c.player_id, DEVICES.c.device_hash == bindparam("of_device"))
)
_OF_PLAYER = SIGN_INS.c.player_id == bindparam("of_player")
_NEWEST_SIGN_INS = (
    select(SIGN_INS.c.family)
    .where(_OF_PLAYER)
    .order_by(SIGN_INS.c.expires_milliseconds.desc(), SIGN_INS.c.family)
    .limit(MAX_SIGN_INS - 1)
)
_DELETE_OLDEST_SIGN_INS = delete(SIGN_INS).where(_OF_PLAYER, SIGN_INS.c.family.not_in(_NEWEST_SIGN_INS))
