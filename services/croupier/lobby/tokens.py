"""Signing in and staying signed in: access tokens that are checked by signature, refresh tokens that are used once.

A refresh token is "<family>.<secret>". The family is one signed-in device; it holds one secret at a time, as a hash.
Whoever shows a family's token that is not the one it holds, shows one that was used before: the family ends.
"""

import random
from base64 import urlsafe_b64encode
from collections.abc import Callable
from dataclasses import dataclass

from croupier.lobby.player_store import PlayerStore
from croupier.lobby.players import Player, checked_name, device_hash, guest_name, hashed, new_id
from croupier.runtime.errors import Unauthenticated
from croupier.runtime.identity import TokenIssuer

SECRET_BYTES = 32
LONGEST_REFRESH_TOKEN_CHARACTERS = 128


@dataclass(frozen=True, slots=True)
class Tokens:
    """A player's tokens; times are milliseconds since 1970 UTC."""

    access_token: str
    access_expires_milliseconds: int
    refresh_token: str
    refresh_expires_milliseconds: int


@dataclass(frozen=True, slots=True)
class Reception:
    """Lets players in."""

    store: PlayerStore
    issuer: TokenIssuer
    refresh_token_seconds: int
    source: random.Random
    clock: Callable[[], int]

    async def sign_in(self, device_secret: str, name: str) -> tuple[Player, Tokens, bool]:
        """The player of a device, new tokens, and whether he is new; raises MalformedRequest."""
        device, wanted = device_hash(device_secret), checked_name(name)
        player, new = await self._player(device, wanted)
        if wanted and player.name != wanted:
            player = Player(player.player_id, wanted)
            await self.store.rename(player)
        token, family, secret_hash = self._new_refresh_token(new_id(self.source))
        expires = self._refresh_expires()
        await self.store.begin_sign_in(family, player.player_id, secret_hash, expires)
        return player, self._tokens(player, token, expires), new

    async def refresh(self, refresh_token: str) -> Tokens:
        """New tokens for a refresh token, which is used up; raises Unauthenticated for one that does not hold."""
        family, _, secret = refresh_token.partition(".")
        if not secret or len(refresh_token) > LONGEST_REFRESH_TOKEN_CHARACTERS or not refresh_token.isprintable():
            raise _invalid_refresh_token()
        token, _, new_hash = self._new_refresh_token(family)
        expires = self._refresh_expires()
        player_id = await self.store.rotate(family, hashed("refresh", secret), new_hash, expires, self.clock())
        player = await self.store.player(player_id) if player_id else None
        if player is None:
            raise _invalid_refresh_token()
        return self._tokens(player, token, expires)

    async def _player(self, device: str, name: str) -> tuple[Player, bool]:
        known = await self.store.player_of(device)
        if known:
            return known, False
        player_id = new_id(self.source)
        player = Player(player_id, name or guest_name(player_id))
        if await self.store.add(player, device, self.clock()):
            return player, True
        # The same device signed in twice at once: the other call was first.
        return await self._player(device, name)

    def _new_refresh_token(self, family: str) -> tuple[str, str, str]:
        secret = urlsafe_b64encode(self.source.randbytes(SECRET_BYTES)).rstrip(b"=").decode()
        return f"{family}.{secret}", family, hashed("refresh", secret)

    def _refresh_expires(self) -> int:
        return self.clock() + self.refresh_token_seconds * 1000

    def _tokens(self, player: Player, refresh_token: str, refresh_expires: int) -> Tokens:
        access_token, access_expires = self.issuer.issue(player.player_id, player.name)
        return Tokens(access_token, access_expires, refresh_token, refresh_expires)


def _invalid_refresh_token() -> Unauthenticated:
    return Unauthenticated(
        "REFRESH_TOKEN",
        "the refresh token does not hold: it has expired, was used before or was never given; sign in again",
    )
