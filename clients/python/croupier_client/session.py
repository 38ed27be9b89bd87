"""The client's device secret and tokens, and the calls that renew them. A value without I/O."""

from dataclasses import dataclass, field, replace
from typing import Self

from google.protobuf.message import Message

from croupier_api.v1 import lobby_pb2
from croupier_client.rpc import Rpc, Service


@dataclass(frozen=True)
class Session:
    """A player's session; each answer of the lobby makes the next one.

    A token is used until a service refuses it: no clock of this device has to be right, and a session that was stored
    is as good as a new one. `name` is that for the next sign-in; the first one clears it, because a later one, which
    the client makes by itself, would undo a change of the name on another device.
    """

    device_secret: str = field(repr=False)
    name: str = ""
    player: lobby_pb2.Player | None = None
    tokens: lobby_pb2.Tokens | None = field(default=None, repr=False)

    @property
    def needs_sign_in(self) -> bool:
        """Return whether only a sign-in with the device secret returns new tokens."""
        return self.tokens is None

    @property
    def needs_refresh(self) -> bool:
        """Return whether the access token was refused, and is to be refreshed."""
        return self.tokens is not None and not self.access_token

    def sign_in_rpc(self, device_code: str = "", id_token: str = "") -> Rpc[lobby_pb2.SignInResponse]:
        """Return the call for a sign-in, with a code or an ID token if that gives this device its player."""
        request = lobby_pb2.SignInRequest(
            device_secret=self.device_secret, name=self.name, device_code=device_code, id_token=id_token
        )
        return Rpc(Service.LOBBY, request, lobby_pb2.SignInResponse)

    def refresh_rpc(self) -> Rpc[lobby_pb2.RefreshTokenResponse]:
        """Return the call for a refresh, which is made once, because it uses the token up."""
        request = lobby_pb2.RefreshTokenRequest(refresh_token=self.tokens.refresh_token if self.tokens else "")
        return Rpc(Service.LOBBY, request, lobby_pb2.RefreshTokenResponse)

    def sign_out_rpc(self, *, all_devices: bool) -> Rpc[lobby_pb2.SignOutResponse]:
        """Return the call that ends the sign-in, or those of all devices."""
        refresh_token = self.tokens.refresh_token if self.tokens else ""
        request = lobby_pb2.SignOutRequest(refresh_token=refresh_token, all_devices=all_devices)
        return Rpc(Service.LOBBY, request, lobby_pb2.SignOutResponse)

    def renamed(self, name: str) -> Self:
        """Return the session whose next sign-in sets the player's name; empty to keep it."""
        return replace(self, name=name or self.name)

    def signed_in(self, answer: lobby_pb2.SignInResponse) -> Self:
        """Return the session after a sign-in."""
        return replace(self, name="", player=answer.player, tokens=answer.tokens)

    def refreshed(self, answer: lobby_pb2.RefreshTokenResponse) -> Self:
        """Return the session after a refresh, with the player as other devices may have renamed them."""
        return replace(self, player=answer.player if answer.HasField("player") else self.player, tokens=answer.tokens)

    def signed_out(self) -> Self:
        """Return the session without player and tokens; the next call signs in again."""
        return replace(self, player=None, tokens=None)

    def answered(self, answer: Message) -> Self:
        """Return the session after the answer to a call with its token, which may have changed the player."""
        match answer:
            case lobby_pb2.UpdatePlayerResponse():
                return replace(self, player=answer.player)
            case lobby_pb2.DeletePlayerResponse():
                return self.signed_out()
        return self

    def refresh_failed(self) -> Self:
        """Return the session after a refresh of unknown outcome: the token may be used up, so a sign-in is next."""
        return replace(self, tokens=None)

    def rejected(self, access_token: str) -> Self:
        """Return the session after a service refused this access token; unchanged if there is a newer one."""
        if self.tokens is None or self.tokens.access_token != access_token:
            return self
        return replace(self, tokens=lobby_pb2.Tokens(refresh_token=self.tokens.refresh_token))

    @property
    def access_token(self) -> str:
        """Return the current access token; empty if there is none."""
        return self.tokens.access_token if self.tokens else ""
