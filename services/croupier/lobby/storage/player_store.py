"""The store of players and their sign-ins."""

from collections.abc import Collection

from sqlalchemy import Connection, bindparam, delete, exists, insert, or_, select, update
from sqlalchemy.exc import IntegrityError

from croupier.lobby.accounts.players import Player
from croupier.lobby.storage.schema import PLAYERS, SEATS, SIGN_INS, TICKETS
from croupier.lobby.storage.store import Store, acquire_advisory_locks, select_unlocked

MAX_DELETED = 500
MAX_SIGN_INS = 10
"""The limit for one player; a further sign-in ends the oldest."""


class PlayerStore:
    """Players by the hash of their device's secret, and the hashes of valid refresh tokens."""

    def __init__(self, store: Store) -> None:
        self._store = store

    async def see(self, player_id: str, now: int) -> Player | None:
        """Record that a player was seen, and return them, or None."""
        seen = {"seen_player": player_id, "seen_milliseconds": now}
        row = await self._store.write(lambda connection: connection.execute(_SEEN_PLAYER, seen).one_or_none())
        return Player(row.player_id, row.name) if row else None

    async def get_by_device(self, device_hash: str) -> Player | None:
        """Return the player of a device, or None."""
        wanted = {"device_hash": device_hash}
        row = await self._store.read(lambda connection: connection.execute(_BY_DEVICE, wanted).one_or_none())
        return Player(row.player_id, row.name) if row else None

    async def add(self, player: Player, device_hash: str, now: int) -> bool:
        """Store a new player; returns False if the device has one already."""
        row = {
            "player_id": player.player_id,
            "name": player.name,
            "device_hash": device_hash,
            "created_milliseconds": now,
            "seen_milliseconds": now,
        }
        try:
            await self._store.write(lambda connection: connection.execute(insert(PLAYERS), row))
        except IntegrityError:
            return False
        return True

    async def rename(self, player: Player) -> None:
        """Store a player's name."""
        statement = update(PLAYERS).where(PLAYERS.c.player_id == player.player_id).values(name=player.name)
        await self._store.write(lambda connection: connection.execute(statement))

    async def add_sign_in(self, family: str, player_id: str, token_hash: str, expires: int, now: int) -> bool:
        """Store a new sign-in; the player's oldest ends if there are too many. Returns False if the player is gone."""
        row = {
            "family": family,
            "player_id": player_id,
            "token_hash": token_hash,
            "expires_milliseconds": expires,
        }

        def add(connection: Connection) -> bool:
            acquire_advisory_locks(connection, ("sign in", player_id))
            if connection.execute(_SEEN, {"seen_player": player_id, "seen_milliseconds": now}).rowcount == 0:
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
                connection.execute(delete(SIGN_INS).where(SIGN_INS.c.family == family))
            return player_id

        return await self._store.write(rotate)

    async def mark_played(self, player_ids: Collection[str], now: int) -> None:
        """Record that players have acted in a game; they are kept."""
        unplayed = PLAYERS.c.player_id.in_(player_ids), PLAYERS.c.played_milliseconds.is_(None)
        # In one order, so that two transactions never wait for each other.
        locked = select(PLAYERS.c.player_id).where(*unplayed).order_by(PLAYERS.c.player_id).with_for_update()
        played = update(PLAYERS).where(PLAYERS.c.player_id.in_(locked)).values(played_milliseconds=now)
        await self._store.write(lambda connection: connection.execute(played))

    async def delete_unplayed(self, seen_before: int) -> int:
        """Delete guests who have not played, were not seen since a time, and have neither ticket nor seat.

        Their sign-ins are deleted too. Returns the number of guests, at most MAX_DELETED.
        """
        is_unplayed = PLAYERS.c.played_milliseconds.is_(None) & (PLAYERS.c.seen_milliseconds < seen_before)
        # A lobby of an earlier version that still runs records no times but this one.
        is_old = PLAYERS.c.created_milliseconds < seen_before
        waits = or_(*(exists().where(of.c.player_id == PLAYERS.c.player_id) for of in (TICKETS, SEATS)))
        unlocked = select_unlocked(PLAYERS.c.player_id, is_unplayed, is_old, ~waits).limit(MAX_DELETED)

        def delete_them(connection: Connection) -> int:
            player_ids = connection.scalars(unlocked).all()
            connection.execute(delete(SIGN_INS).where(SIGN_INS.c.player_id.in_(player_ids)))
            connection.execute(delete(PLAYERS).where(PLAYERS.c.player_id.in_(player_ids)))
            return len(player_ids)

        return await self._store.write(delete_them)

    async def delete_expired(self, now: int) -> None:
        """Delete expired sign-ins."""
        keys = select_unlocked(SIGN_INS.c.family, SIGN_INS.c.expires_milliseconds <= now)
        expired = delete(SIGN_INS).where(SIGN_INS.c.family.in_(keys))
        await self._store.write(lambda connection: connection.execute(expired))


# The statements have their values as parameters: building one takes longer than its execution.
_BY_DEVICE = select(PLAYERS.c.player_id, PLAYERS.c.name).where(PLAYERS.c.device_hash == bindparam("device_hash"))
_SEEN = update(PLAYERS).where(PLAYERS.c.player_id == bindparam("seen_player"))
_SEEN_PLAYER = _SEEN.returning(PLAYERS.c.player_id, PLAYERS.c.name)
_OF_PLAYER = SIGN_INS.c.player_id == bindparam("of_player")
_NEWEST_SIGN_INS = (
    select(SIGN_INS.c.family)
    .where(_OF_PLAYER)
    .order_by(SIGN_INS.c.expires_milliseconds.desc(), SIGN_INS.c.family)
    .limit(MAX_SIGN_INS - 1)
)
_DELETE_OLDEST_SIGN_INS = delete(SIGN_INS).where(_OF_PLAYER, SIGN_INS.c.family.not_in(_NEWEST_SIGN_INS))
