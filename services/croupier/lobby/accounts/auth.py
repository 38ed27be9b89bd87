"""Authentication: access tokens, which are verified by signature, and refresh tokens, which are valid once.

A refresh token is "<family>.<secret>". A family is one sign-in; the hash of its current secret is stored. A token of a
family with another secret was used before and may be stolen, so it ends the family. Access tokens have no name: it may
change, and a deleted player has none.
"""

import random
from base64 import urlsafe_b64encode
from collections.abc import Callable
from dataclasses import dataclass

from croupier.lobby.accounts.id_tokens import IdTokenVerifier
from croupier.lobby.accounts.names import guest_name, normalize_name
from croupier.lobby.accounts.players import Player, hash_device_secret, hash_secret, new_code, new_id
from croupier.lobby.storage.device_store import DeviceStore
from croupier.lobby.storage.identity_store import IdentityStore
from croupier.lobby.storage.player_store import PlayerStore
from croupier.runtime.errors import MalformedRequest, NotFound, NotPermitted, Unauthenticated, invalid_field
from croupier.runtime.identity.tokens import TokenIssuer, unauthenticated
from croupier_api.v1 import errors_pb2

SECRET_BYTES = 32
DEVICE_CODE_LENGTH = 12
"""Of 2^60 codes: nobody finds the one of a hash while it is valid."""
DEVICE_CODE_SECONDS = 600


@dataclass(frozen=True, slots=True)
class Tokens:
    """A player's tokens, and how long they are valid from now on."""

    access_token: str
    access_seconds: int
    refresh_token: str
    refresh_seconds: int


@dataclass(frozen=True, slots=True)
class AuthService:
    """Signs players in and out, refreshes their tokens, and keeps their names and devices.

    Without `id_tokens` there is no identity provider. Without guests, players need an identity of it.
    """

    store: PlayerStore
    devices: DeviceStore
    identities: IdentityStore
    id_tokens: IdTokenVerifier | None
    has_guests: bool
    issuer: TokenIssuer
    refresh_token_seconds: int
    source: random.Random
    clock: Callable[[], int]

    async def sign_in(self, device_secret: str, name: str, device_code: str = "") -> tuple[Player, Tokens, bool]:
        """Return the player of a device, new tokens, and whether the player is new.

        A code adds the device to its player first. Raises MalformedRequest, NotPermitted if guests are not allowed, and
        the errors of `DeviceStore.add_by_code`.
        """
        device_hash, wanted = hash_device_secret(device_secret), normalize_name(name)
        if not self.has_guests:
            raise _guests_not_allowed()
        if device_code:
            player, is_new = await self._add_device(device_hash, device_code), False
        else:
            player, is_new = await self._get_or_create(device_hash, wanted)
        signed_in = await self._add_sign_in(player, wanted, device_hash, is_new)
        # If there is none, they have just been deleted, or the device was removed: they sign in as a new player.
        return signed_in or await self.sign_in(device_secret, name, device_code)

    async def sign_in_by_id_token(self, id_token: str, device_secret: str, name: str) -> tuple[Player, Tokens, bool]:
        """Return the player of an ID token, as `sign_in` does; a device, if one is given, is theirs from now on.

        An identity without a player is linked to the guest of the device. Raises MalformedRequest, Unauthenticated
        for an invalid token, Unavailable, and the errors of `IdentityStore.join`.
        """
        if self.id_tokens is None:
            raise invalid_field("id_token", "invalid id_token: no identity provider is set here, sign in without it")
        device_hash, wanted = hash_device_secret(device_secret) if device_secret else None, normalize_name(name)
        identity_hash = await self.id_tokens.verify(id_token)
        while True:
            player_id = new_id(self.source)
            new_player = Player(player_id, wanted or guest_name(player_id))
            joined = await self.identities.join(identity_hash, device_hash, new_player, self.clock())
            if signed_in := await self._add_sign_in(joined[0], wanted, device_hash, joined[1]):
                return signed_in

    async def _add_sign_in(
        self, player: Player, wanted: str, device_hash: str | None, is_new: bool
    ) -> tuple[Player, Tokens, bool] | None:
        """Rename a player if a name is wanted, and return them with new tokens; None if they are gone."""
        if wanted and player.name != wanted:
            player = Player(player.player_id, wanted)
            await self.store.rename(player)
        family = new_id(self.source)
        token, token_hash, expires = self._new_refresh_token(family)
        now = self.clock()
        if not await self.store.add_sign_in(family, player.player_id, token_hash, expires, device_hash, now):
            return None
        return player, self._tokens(player, token), is_new

    async def refresh(self, refresh_token: str) -> tuple[Player, Tokens]:
        """Return the player of a refresh token, which becomes invalid, and new tokens.

        Raises Unauthenticated if it is invalid already, NotPermitted for a guest if guests are not allowed.
        """
        family, used_hash = _split(refresh_token)
        token, new_hash, expires = self._new_refresh_token(family)
        player_id = await self.store.rotate_token(family, used_hash, new_hash, expires, self.clock())
        player = await self.store.see(player_id, self.clock()) if player_id else None
        if player is None:
            raise _invalid_refresh_token()
        if not self.has_guests and not await self.identities.has_identity(player.player_id):
            raise _guests_not_allowed()
        return player, self._tokens(player, token)

    async def sign_out(self, refresh_token: str, *, all_devices: bool) -> None:
        """End the sign-in of a refresh token, valid or not, or those of all devices of the player.

        Raises Unauthenticated for a text that is no refresh token, and for an invalid one if it is to end all sign-ins.
        """
        family, used_hash = _split(refresh_token)
        if not all_devices:
            await self.store.sign_out(family)
        elif not await self.store.sign_out_all(family, used_hash, self.clock()):
            raise _invalid_refresh_token()

    async def player(self, player_id: str) -> Player:
        """Return the player of an access token; raises Unauthenticated if they were deleted."""
        player = await self.store.get(player_id)
        if player is None:
            raise _deleted()
        return player

    async def find(self, player_id: str) -> Player:
        """Return any player; raises NotFound."""
        player = await self.store.get(player_id)
        if player is None:
            raise NotFound(errors_pb2.ERROR_REASON_UNKNOWN_PLAYER, "unknown player: no player has this id")
        return player

    async def rename(self, player_id: str, name: str) -> Player:
        """Rename a player; raises MalformedRequest, also for an empty name, Unauthenticated for a deleted player."""
        player = Player(player_id, normalize_name(name))
        if not player.name:
            raise invalid_field("name", "invalid name: expected at least one visible character")
        if not await self.store.rename(player):
            raise _deleted()
        return player

    async def create_device_code(self, player_id: str) -> str:
        """Return a code that adds a device to a player once, for 10 minutes; the one before is not valid any more.

        Raises IllegalNow if they have as many devices as allowed, Unauthenticated if they were deleted.
        """
        code = new_code(self.source, DEVICE_CODE_LENGTH)
        expires = self.clock() + DEVICE_CODE_SECONDS * 1000
        if not await self.devices.replace_code(player_id, hash_secret("device code", code), expires):
            raise _deleted()
        return code

    async def _add_device(self, device_hash: str, device_code: str) -> Player:
        code_hash = hash_secret("device code", device_code.strip().upper())
        player = await self.devices.add_by_code(code_hash, device_hash, self.clock())
        if player is None:
            raise MalformedRequest(
                errors_pb2.ERROR_REASON_INVALID_DEVICE_CODE,
                "invalid device_code: it is expired, was used on another device or was never issued; create a new one",
                field="device_code",
            )
        return player

    async def _get_or_create(self, device_hash: str, name: str) -> tuple[Player, bool]:
        known = await self.store.get_by_device(device_hash)
        if known:
            return known, False
        player_id = new_id(self.source)
        player = Player(player_id, name or guest_name(player_id))
        if await self.store.add(player, device_hash, self.clock()):
            return player, True
        # A concurrent call has signed the same device in.
        return await self._get_or_create(device_hash, name)

    def _new_refresh_token(self, family: str) -> tuple[str, str, int]:
        """Return a token, the hash of its secret, and the time of its expiry."""
        secret = urlsafe_b64encode(self.source.randbytes(SECRET_BYTES)).rstrip(b"=").decode()
        expires = self.clock() + self.refresh_token_seconds * 1000
        return f"{family}.{secret}", hash_secret("refresh", secret), expires

    def _tokens(self, player: Player, refresh_token: str) -> Tokens:
        access_token, _ = self.issuer.issue(player.player_id)
        return Tokens(access_token, self.issuer.lifetime_seconds, refresh_token, self.refresh_token_seconds)


def _split(refresh_token: str) -> tuple[str, str]:
    """Return the family of a refresh token and the hash of its secret; raises Unauthenticated for any other text."""
    family, _, secret = refresh_token.partition(".")
    if not (secret and refresh_token.isascii() and refresh_token.isprintable()):
        raise _invalid_refresh_token()
    return family, hash_secret("refresh", secret)


def _guests_not_allowed() -> NotPermitted:
    return NotPermitted(
        errors_pb2.ERROR_REASON_GUESTS_NOT_ALLOWED,
        "guests are not allowed here: sign in with an id_token of the identity provider",
    )


def _deleted() -> Unauthenticated:
    return unauthenticated("the player of this token was deleted: sign in as a new one")


def _invalid_refresh_token() -> Unauthenticated:
    return Unauthenticated(
        errors_pb2.ERROR_REASON_INVALID_REFRESH_TOKEN,
        "invalid refresh_token: it is expired, was used before or was never issued; sign in again",
    )
