"""Who the client is to the services: device secret and tokens, and when they need care. A value; no I/O."""

from dataclasses import dataclass, field, replace
from typing import Self

from croupier_api.v1 import lobby_pb2
from croupier_client.callers import Call, Service

MARGIN_MILLISECONDS = 30_000
"""Tokens are exchanged this long before they end, so that none ends on its way."""


@dataclass(frozen=True)
class Session:
    """A player's session, which each answer of the lobby turns into the next one.

    Every `now` is in milliseconds since 1970 UTC.
    """

    device_secret: str = field(repr=False)
    name: str = ""
    margin_milliseconds: int = MARGIN_MILLISECONDS
    player: lobby_pb2.Player | None = None
    tokens: lobby_pb2.Tokens | None = field(default=None, repr=False)

    def needs_sign_in(self, now: int) -> bool:
        """Whether nothing but the device secret opens the door."""
        if self.tokens is None:
            return True
        return not self._access_lives(now) and not self._refresh_lives(now)

    def needs_refresh(self, now: int) -> bool:
        """Whether the access token is to be exchanged, and the refresh token still serves."""
        return self.tokens is not None and not self._access_lives(now) and self._refresh_lives(now)

    def sign_in_call(self) -> Call[lobby_pb2.SignInResponse]:
        """What to call when a sign-in is needed."""
        request = lobby_pb2.SignInRequest(device_secret=self.device_secret, name=self.name)
        return Call(Service.LOBBY, request, lobby_pb2.SignInResponse)

    def refresh_call(self) -> Call[lobby_pb2.RefreshTokenResponse]:
        """What to call when a refresh is needed; once, since it uses the token up."""
        request = lobby_pb2.RefreshTokenRequest(refresh_token=self.tokens.refresh_token if self.tokens else "")
        return Call(Service.LOBBY, request, lobby_pb2.RefreshTokenResponse)

    def signed_in(self, answer: lobby_pb2.SignInResponse) -> Self:
        """The session after a sign-in."""
        return replace(self, player=answer.player, tokens=answer.tokens)

    def refreshed(self, answer: lobby_pb2.RefreshTokenResponse) -> Self:
        """The session after a refresh."""
        return replace(self, tokens=answer.tokens)

    def refresh_failed(self) -> Self:
        """The session after a refresh of unknown outcome: the token may be used up, so the device secret is next."""
        return replace(self, tokens=None)

    def rejected(self, access_token: str) -> Self:
        """The session after a service would not take this access token; unchanged if there is a newer one."""
        if self.tokens is None or self.tokens.access_token != access_token:
            return self
        return replace(
            self,
            tokens=lobby_pb2.Tokens(
                refresh_token=self.tokens.refresh_token,
                refresh_expires_milliseconds=self.tokens.refresh_expires_milliseconds,
            ),
        )

    @property
    def access_token(self) -> str:
        """The present access token; empty if there is none."""
        return self.tokens.access_token if self.tokens else ""

    def _access_lives(self, now: int) -> bool:
        ends = self.tokens.access_expires_milliseconds if self.tokens else 0
        return bool(self.access_token) and now < ends - self.margin_milliseconds

    def _refresh_lives(self, now: int) -> bool:
        return self.tokens is not None and now < self.tokens.refresh_expires_milliseconds - self.margin_milliseconds


def call_metadata(*, access_token: str, table_id: str, request_id: str) -> tuple[tuple[str, str], ...]:
    """What goes with a call: who calls, which table it is about (for routing), and a name for the logs."""
    pairs = (
        ("authorization", f"Bearer {access_token}" if access_token else ""),
        ("x-table-id", table_id),
        ("x-request-id", request_id),
    )
    return tuple((key, value) for key, value in pairs if value)
