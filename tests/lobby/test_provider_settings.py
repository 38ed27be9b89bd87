"""The settings of the identity provider belong together, and its keys come from where others cannot change them."""

from collections.abc import Sequence

import pytest

from croupier.lobby.settings import LobbySettings
from croupier.runtime.server.program import SettingsError
from croupier.runtime.settings import read_settings

NEEDED = ("--database=sqlite:////lobby.db", "--signing-key=lobby.pem", "--engine-control=127.0.0.1:1")
ISSUER, AUDIENCE = "--oidc-issuer=https://login.example", "--oidc-audience=web, phone,"


def read(*flags: str) -> LobbySettings:
    return read_settings(LobbySettings, "lobby", [*NEEDED, *flags])


@pytest.mark.parametrize(
    "jwks", ["https://login.example/jwks", "http://127.0.0.1:4000/jwks", "http://[::1]/jwks", "keys/jwks.json"]
)
def test_keys_come_by_tls_from_this_machine_or_from_a_file(jwks: str) -> None:
    settings = read(ISSUER, AUDIENCE, f"--oidc-jwks={jwks}", "--guests=false")
    assert (settings.oidc_jwks, settings.guests) == (jwks, False)
    assert settings.oidc_audiences == {"web", "phone"}


@pytest.mark.parametrize(
    ("flags", "fault"),
    [
        ((ISSUER,), "belong together"),
        ((ISSUER, "--oidc-audience=,", "--oidc-jwks=jwks.json"), "belong together"),
        (("--guests=false",), "needs an identity provider"),
        ((ISSUER, AUDIENCE, "--oidc-jwks=http://login.example/jwks"), "expected a file or an https:// URL"),
        ((ISSUER, AUDIENCE, "--oidc-jwks=ftp://localhost/jwks"), "expected a file or an https:// URL"),
        ((ISSUER, AUDIENCE, "--oidc-jwks=https:///jwks"), "expected a file or an https:// URL"),
        ((ISSUER, AUDIENCE, "--oidc-jwks=http://localhost.example/jwks"), "expected a file or an https:// URL"),
        ((ISSUER, AUDIENCE, "--oidc-jwks=http://localhost@login.example/jwks"), "expected a file or an https:// URL"),
    ],
)
def test_other_settings_are_refused(flags: Sequence[str], fault: str) -> None:
    with pytest.raises(SettingsError, match=fault):
        read(*flags)
