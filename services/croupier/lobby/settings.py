"""The settings of the lobby."""

from pathlib import Path
from typing import Annotated, Self
from urllib.parse import urlsplit

from pydantic import Field, NonNegativeInt, PositiveInt, model_validator

from croupier.lobby.matchmaking.tickets import MATCHED_RETENTION_SECONDS
from croupier.runtime.settings import ListenAddress, Replicas, ServiceSettings, expecting

LOOPBACK = ("localhost", "127.0.0.1", "::1")


def _is_safe_source(text: str) -> bool:
    """Return whether a JWKS comes from a file, by TLS, or from this machine: others could replace its keys."""
    url = urlsplit(text)
    is_local = url.scheme == "http" and url.hostname in LOOPBACK
    return "://" not in text or (url.scheme == "https" and bool(url.hostname)) or is_local


class LobbySettings(ServiceSettings):
    """The lobby signs players in, forms tables and matches players."""

    signing_key: Path
    """PEM file of the lobby's Ed25519 private key, which signs players' tokens and those of its own calls."""
    engine_control: Replicas
    """host:port of the engine's control service; several with commas between."""
    listen: ListenAddress = "127.0.0.1:7710"
    """host:port for players."""
    metrics_listen: ListenAddress = "127.0.0.1:7719"
    """host:port for Prometheus."""
    access_token_seconds: NonNegativeInt = 900
    """The lifetime of an access token, in seconds."""
    refresh_token_seconds: NonNegativeInt = 30 * 86_400
    """The lifetime of a refresh token, in seconds."""
    engine_timeout_seconds: NonNegativeInt = 5
    """The timeout of a call to the engine, in seconds."""
    action_seconds: NonNegativeInt = 30
    """The default time for an action, in seconds."""
    reserve_seconds: NonNegativeInt = 60
    """The default time reserve of a seat for a whole game, in seconds."""
    housekeeping_seconds: NonNegativeInt = 3
    """The pause between two runs of housekeeping, in seconds."""
    forming_idle_seconds: NonNegativeInt = 3600
    """The time after which a public table that forms is closed if nobody changes it, in seconds."""
    max_forming_seconds: PositiveInt = 86_400
    """The time after which a table that still forms is closed, in seconds; less than the engine's prepared_hours."""
    closed_table_seconds: Annotated[int, Field(ge=MATCHED_RETENTION_SECONDS)] = 600
    """The time for which a closed table is kept, in seconds."""
    ended_table_seconds: NonNegativeInt = 30 * 86_400
    """The time for which the table of a finished game is kept, in seconds."""
    unplayed_guest_hours: NonNegativeInt = 24
    """The hours after which a guest is deleted who never acted in a game and did not sign in or refresh; 0: never.

    They are kept as long as their access token is valid, or they have a seat at a table that has not ended.
    """
    ticket_grace_seconds: NonNegativeInt = 30
    """The time for which the ticket of a disconnected player is kept, in seconds."""
    sign_ins_per_second: NonNegativeInt = 1
    """Sign-ins a second of one network (IPv4 /24, IPv6 /56) in the long run; 0 for no limit. A wrong code is ten."""
    sign_in_burst: PositiveInt = 1000
    """Sign-ins of one network at once."""
    max_player_tables: NonNegativeInt = 20
    """The maximum number of tables that are forming or being played, at which one player has a seat."""
    max_network_tables: NonNegativeInt = 500
    """The maximum number of tables that are forming or being played, at which players of one network have seats."""
    oidc_issuer: str = ""
    """The identity provider of the app's own users, as the claim iss of its ID tokens has it; empty for none."""
    oidc_audience: str = ""
    """The client ids of the app at the provider, one of which is the claim aud; several with commas between."""
    oidc_jwks: Annotated[str, expecting("a file or an https:// URL", _is_safe_source)] = ""
    """The provider's public keys: URL or file of its JWKS, which is read again every minute."""
    guests: bool = True
    """Whether players may sign in without an identity of the provider."""

    @property
    def oidc_audiences(self) -> frozenset[str]:
        """Return the client ids."""
        return frozenset(filter(None, (each.strip() for each in self.oidc_audience.split(","))))

    @model_validator(mode="after")
    def _check_provider(self) -> Self:
        given = (bool(self.oidc_issuer), bool(self.oidc_audiences), bool(self.oidc_jwks))
        if any(given) != all(given):
            raise ValueError("--oidc-issuer, --oidc-audience and --oidc-jwks belong together: expected all or none")
        if not self.guests and not self.oidc_issuer:
            raise ValueError("--guests=false needs an identity provider: expected --oidc-issuer too")
        return self
