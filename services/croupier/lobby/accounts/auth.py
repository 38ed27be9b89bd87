"""Authentication: access tokens, which are verified by signature, and refresh tokens, which are valid once.

A refresh token is "<family>.<secret>". A family is one signed-in device; the hash of its current secret is stored. A
token of a family with another secret was used before and may be stolen, so it ends the family.
"""

import random
from base64 import urlsafe_b64encode
from collections.abc import Callable
from dataclasses import dataclass

from croupier.lobby.accounts.names import guest_name, normalize_name
from croupier.lobby.accounts.players import Player, hash_device_secret, hash_secret, new_id
from croupier.lobby.storage.player_store import PlayerStore
from croupier.runtime.errors import Unauthenticated
from croupier.runtime.identity.tokens import TokenIssuer
from croupier_api.v1 import errors_pb2

SECRET_BYTES = 32
MAX_REFRESH_TOKEN_CHARACTERS = 128


@dataclass(frozen=True, slots=True)
class Tokens:
    """A player's tokens, and how long they are valid from now on."""

    access_token: str
    access_seconds: int
    refresh_token: str
    refresh_seconds: int


@dataclass(frozen=True, slots=True)
class AuthService:
    """Signs players in and refreshes their tokens."""

    store: PlayerStore
    issuer: TokenIssuer
    refresh_token_seconds: int
    source: random.Random
    clock: Callable[[], int]

    async def sign_in(self, device_secret: str, name: str) -> tuple[Player, Tokens, bool]:
        """Return the player of a device, new tokens, and whether the player is new; raises MalformedRequest."""
        device_hash, wanted = hash_device_secret(device_secret), normalize_name(name)
        player, is_new = await self._get_or_create(device_hash, wanted)
        if wanted and player.name != wanted:
            player = Player(player.player_id, wanted)
            await self.store.rename(player)
        family = new_id(self.source)
        token, token_hash, expires = self._new_refresh_token(family)
        if not await self.store.add_sign_in(family, player.player_id, token_hash, expires, self.clock()):
            # Housekeeping has just deleted them: they sign in as a new player.
            return await self.sign_in(device_secret, name)
        return player, self._tokens(player, token), is_new

    async def refresh(self, refresh_token: str) -> Tokens:
        """Return new tokens for a refresh token, which becomes invalid; raises Unauthenticated if it is already."""
        family, _, secret = refresh_token.partition(".")
        is_plain = refresh_token.isascii() and refresh_token.isprintable()
        if not (secret and is_plain) or len(refresh_token) > MAX_REFRESH_TOKEN_CHARACTERS:
            raise _invalid_refresh_token()
        token, new_hash, expires = self._new_refresh_token(family)
        used_hash = hash_secret("refresh", secret)
        player_id = await self.store.rotate_token(family, used_hash, new_hash, expires, self.clock())
        player = await self.store.see(player_id, self.clock()) if player_id else None
        if player is None:
            raise _invalid_refresh_token()
        return self._tokens(player, token)

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
        access_token, _ = self.issuer.issue(player.player_id, player.name)
        return Tokens(access_token, self.issuer.lifetime_seconds, refresh_token, self.refresh_token_seconds)


def _invalid_refresh_token() -> Unauthenticated:
    return Unauthenticated(
        errors_pb2.ERROR_REASON_INVALID_REFRESH_TOKEN,
        "invalid refresh_token: it is expired, was used before or was never issued; sign in again",
    )
