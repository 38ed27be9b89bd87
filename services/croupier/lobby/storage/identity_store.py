"""The store of identities of the app's identity provider, and of the players to whom they are linked."""

from sqlalchemy import Connection, insert, select
from sqlalchemy.exc import IntegrityError

from croupier.lobby.accounts.players import Player
from croupier.lobby.storage.device_store import add_device, device_taken
from croupier.lobby.storage.player_store import insert_player, lock_player
from croupier.lobby.storage.schema import DEVICES, IDENTITIES, PLAYERS
from croupier.lobby.storage.store import Store


class IdentityStore:
    """Identities by their hashes, at most one of each player."""

    def __init__(self, store: Store) -> None:
        self._store = store

    async def has_identity(self, player_id: str) -> bool:
        """Return whether an identity is linked to a player."""
        linked = select(IDENTITIES.c.player_id).where(IDENTITIES.c.player_id == player_id)
        return await self._store.read(lambda connection: connection.scalar(linked)) is not None

    async def join(
        self, identity_hash: str, device_hash: str | None, new_player: Player, now: int
    ) -> tuple[Player, bool]:
        """Link an identity and a device, if one is given, and return their player, and whether it is the new one.

        The new player is stored if neither has one. Raises AlreadyExists if the device belongs to another player, or to
        one with another identity, and IllegalNow if the player has as many devices as allowed.
        """

        def join(connection: Connection) -> tuple[Player, bool] | None:
            return _join(connection, identity_hash, device_hash, new_player, now)

        while True:
            try:
                joined = await self._store.write(join)
            except IntegrityError:
                # A concurrent call has signed the same identity or device in.
                continue
            if joined is not None:
                return joined


def _join(
    connection: Connection, identity_hash: str, device_hash: str | None, new_player: Player, now: int
) -> tuple[Player, bool] | None:
    """Return None if another call has deleted or signed out the player meanwhile."""
    of_identity = select(IDENTITIES.c.player_id).where(IDENTITIES.c.identity_hash == identity_hash)
    of_device = select(DEVICES.c.player_id).where(DEVICES.c.device_hash == device_hash)
    owner_id, guest_id = connection.scalar(of_identity), connection.scalar(of_device)
    player_id = owner_id or guest_id
    if player_id is None:
        insert_player(connection, new_player, device_hash, now)
        connection.execute(insert(IDENTITIES), {"identity_hash": identity_hash, "player_id": new_player.player_id})
        return new_player, True
    if not lock_player(connection, player_id):
        return None
    if (connection.scalar(of_identity), connection.scalar(of_device)) != (owner_id, guest_id):
        return None
    if owner_id is None:
        _link(connection, identity_hash, player_id)
    elif device_hash is not None:
        add_device(connection, device_hash, player_id)
    player = select(PLAYERS.c.player_id, PLAYERS.c.name).where(PLAYERS.c.player_id == player_id)
    return Player(*connection.execute(player).one()), False


def _link(connection: Connection, identity_hash: str, player_id: str) -> None:
    """Link an identity to a guest; raises AlreadyExists if the player has another one."""
    if connection.scalar(select(IDENTITIES.c.player_id).where(IDENTITIES.c.player_id == player_id)) is not None:
        raise device_taken()
    connection.execute(insert(IDENTITIES), {"identity_hash": identity_hash, "player_id": player_id})
