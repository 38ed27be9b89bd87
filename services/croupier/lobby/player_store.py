"""The store of players and their sign-ins."""

from sqlalchemy import ColumnElement, delete, insert, select, update
from sqlalchemy.exc import IntegrityError

from croupier.lobby.players import Player
from croupier.lobby.schema import PLAYERS, SIGN_INS
from croupier.lobby.store import Store, select_unlocked

MAX_SIGN_INS = 10
"""The limit for one player; a further sign-in ends the oldest."""


class PlayerStore:
    """Players by the hash of their device's secret, and the hashes of valid refresh tokens."""

    def __init__(self, store: Store) -> None:
        self._store = store

    async def get(self, player_id: str) -> Player | None:
        """Return a player, or None."""
        return await self._one(PLAYERS.c.player_id == player_id)

    async def get_by_device(self, device_hash: str) -> Player | None:
        """Return the player of a device, or None."""
        return await self._one(PLAYERS.c.device_hash == device_hash)

    async def _one(self, condition: ColumnElement[bool]) -> Player | None:
        async with self._store.reading() as connection:
            query = select(PLAYERS.c.player_id, PLAYERS.c.name).where(condition)
            row = (await connection.execute(query)).one_or_none()
        return Player(row.player_id, row.name) if row else None

    async def add(self, player: Player, device_hash: str, now: int) -> bool:
        """Store a new player; returns False if the device has one already."""
        values = {"device_hash": device_hash, "created_milliseconds": now}
        try:
            async with self._store.writing() as connection:
                await connection.execute(insert(PLAYERS).values(player_id=player.player_id, name=player.name, **values))
        except IntegrityError:
            return False
        return True

    async def rename(self, player: Player) -> None:
        """Store a player's name."""
        statement = update(PLAYERS).where(PLAYERS.c.player_id == player.player_id).values(name=player.name)
        async with self._store.writing() as connection:
            await connection.execute(statement)

    async def add_sign_in(self, family: str, player_id: str, token_hash: str, expires: int) -> None:
        """Store a new sign-in; the player's oldest ends if there are too many."""
        own = SIGN_INS.c.player_id == player_id
        newest = (
            select(SIGN_INS.c.family)
            .where(own)
            .order_by(SIGN_INS.c.expires_milliseconds.desc(), SIGN_INS.c.family)
            .limit(MAX_SIGN_INS - 1)
        )
        async with self._store.writing() as connection:
            await self._store.acquire_advisory_lock(connection, "sign in", player_id)
            await connection.execute(delete(SIGN_INS).where(own, SIGN_INS.c.family.not_in(newest)))
            await connection.execute(
                insert(SIGN_INS).values(
                    family=family, player_id=player_id, token_hash=token_hash, expires_milliseconds=expires
                )
            )

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
        async with self._store.writing() as connection:
            player_id: str | None = (await connection.execute(rotated)).scalar_one_or_none()
            if player_id is None:
                await connection.execute(delete(SIGN_INS).where(SIGN_INS.c.family == family))
        return player_id

    async def delete_expired(self, now: int) -> None:
        """Delete expired sign-ins."""
        keys = select_unlocked(SIGN_INS.c.family, SIGN_INS.c.expires_milliseconds <= now)
        async with self._store.writing() as connection:
            await connection.execute(delete(SIGN_INS).where(SIGN_INS.c.family.in_(keys)))
