"""Players and their sign-ins, stored."""

from sqlalchemy import delete, insert, select, update
from sqlalchemy.exc import IntegrityError

from croupier.lobby.players import Player
from croupier.lobby.schema import PLAYERS, SIGN_INS
from croupier.lobby.store import Store, unlocked

MOST_SIGN_INS = 10
"""Of one player; the oldest makes room."""


class PlayerStore:
    """Players by the hash of their device's secret, and which refresh tokens hold."""

    def __init__(self, store: Store) -> None:
        self._store = store

    async def player_of(self, device_hash: str) -> Player | None:
        """The player of a device."""
        query = select(PLAYERS.c.player_id, PLAYERS.c.name).where(PLAYERS.c.device_hash == device_hash)
        async with self._store.reading() as connection:
            row = (await connection.execute(query)).one_or_none()
        return Player(row.player_id, row.name) if row else None

    async def player(self, player_id: str) -> Player | None:
        """A player by id."""
        query = select(PLAYERS.c.player_id, PLAYERS.c.name).where(PLAYERS.c.player_id == player_id)
        async with self._store.reading() as connection:
            row = (await connection.execute(query)).one_or_none()
        return Player(row.player_id, row.name) if row else None

    async def add(self, player: Player, device_hash: str, now: int) -> bool:
        """Store a new player; False if the device has one already."""
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

    async def begin_sign_in(self, family: str, player_id: str, token_hash: str, expires: int) -> None:
        """Store a new sign-in; the player's oldest ends if there are too many."""
        mine = SIGN_INS.c.player_id == player_id
        newest = (
            select(SIGN_INS.c.family)
            .where(mine)
            .order_by(SIGN_INS.c.expires_milliseconds.desc(), SIGN_INS.c.family)
            .limit(MOST_SIGN_INS - 1)
        )
        async with self._store.writing() as connection:
            await self._store.one_at_a_time(connection, "sign in", player_id)
            await connection.execute(delete(SIGN_INS).where(mine, SIGN_INS.c.family.not_in(newest)))
            await connection.execute(
                insert(SIGN_INS).values(
                    family=family, player_id=player_id, token_hash=token_hash, expires_milliseconds=expires
                )
            )

    async def rotate(self, family: str, used_hash: str, new_hash: str, expires: int, now: int) -> str | None:
        """Put a new token in the place of the one that is used; gives its player's id.

        None if the sign-in has ended, or holds another token: then it ends now, for the used one may have been stolen.
        """
        changed = (
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
            player_id: str | None = (await connection.execute(changed)).scalar_one_or_none()
            if player_id is None:
                await connection.execute(delete(SIGN_INS).where(SIGN_INS.c.family == family))
        return player_id

    async def forget_expired(self, now: int) -> None:
        """Remove sign-ins that have ended."""
        ended = unlocked(SIGN_INS.c.family, SIGN_INS.c.expires_milliseconds <= now)
        async with self._store.writing() as connection:
            await connection.execute(delete(SIGN_INS).where(SIGN_INS.c.family.in_(ended)))
