"""Users of a real OpenID Connect provider, who sign in there by the authorization code flow, sign in at the lobby."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import jwt
import pytest
import structlog
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from jwt.algorithms import HMACAlgorithm

from croupier.cli.launcher.background import started_services
from croupier.lobby.accounts.id_tokens import LEEWAY_SECONDS, IdTokenVerifier
from croupier.lobby.accounts.provider_keys import ProviderKeys, reader_of
from croupier.runtime.errors import Unauthenticated, Unavailable
from croupier.runtime.observation.outage_log import OutageLog
from croupier.runtime.server.service import now_milliseconds
from croupier_api.v1 import errors_pb2
from croupier_client import Client, Endpoints
from croupier_client import Unauthenticated as Refused
from tests.oidc_provider.provider_process import RunningProvider, new_rsa_key, running_provider

pytestmark = pytest.mark.slow

Key = tuple[RSAPrivateKey, dict[str, Any]]


@pytest.fixture(scope="module")
def key() -> Key:
    return new_rsa_key("first")


@pytest.fixture
def provider(tmp_path: Path, key: Key) -> Iterator[RunningProvider]:
    with running_provider(tmp_path, key[1]) as provider:
        yield provider


def verifier_of(provider: RunningProvider, jwks: str = "", **changed: Any) -> IdTokenVerifier:
    outages = OutageLog("the identity provider", structlog.get_logger(), lambda: 0)
    keys = ProviderKeys(reader_of(jwks or provider.jwks_url), outages)
    settings = {"issuer": provider.issuer, "audiences": ("web", "phone"), "clock": now_milliseconds, **changed}
    return IdTokenVerifier(keys=keys, **settings)


async def refused_claim(verifier: IdTokenVerifier, token: str) -> str:
    with pytest.raises(Unauthenticated) as refused:
        await verifier.verify(token)
    return refused.value.metadata["claim"]


async def test_only_tokens_of_the_provider_for_the_app_are_accepted(provider: RunningProvider, key: Key) -> None:
    verifier, token = verifier_of(provider), provider.id_token("Ada")
    ada = await verifier.verify(token)
    assert await verifier.verify(provider.id_token("Ada", "phone")) == ada
    assert await verifier.verify(provider.id_token("Bob")) != ada

    assert await refused_claim(verifier, provider.id_token("Ada", "another-app")) == "aud"
    assert await refused_claim(verifier_of(provider, issuer="https://login.example"), token) == "iss"
    claims = jwt.decode(token, options={"verify_signature": False})
    late = verifier_of(provider, clock=lambda: (claims["exp"] + LEEWAY_SECONDS) * 1000)
    assert await refused_claim(late, token) == "exp"
    for forged, claim in forgeries(claims, key[0]).items():
        assert await refused_claim(verifier, forged) == claim


def forgeries(claims: Mapping[str, Any], key: RSAPrivateKey) -> Mapping[str, str]:
    """Return forged tokens, and the claim for which each is refused."""
    named = {"kid": "first"}
    # The library of the tests refuses to use a public key as a secret.
    public = key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    head, body, _ = jwt.encode(dict(claims), "a secret of the test with 32 bytes", "HS256", named).split(".")
    mac = HMACAlgorithm(HMACAlgorithm.SHA256).sign(f"{head}.{body}".encode(), public)
    return {
        jwt.encode(dict(claims), "", "none", named): "alg",
        f"{head}.{body}.{jwt.utils.base64url_encode(mac).decode()}": "alg",
        jwt.encode(dict(claims), new_rsa_key("first")[0], "RS256", named): "signature",
        jwt.encode(dict(claims), key, "RS256", {"kid": "another"}): "kid",
    }


async def test_a_rotated_key_is_read_from_the_url_and_known_keys_serve_while_the_provider_is_down(
    tmp_path: Path, key: Key
) -> None:
    with running_provider(tmp_path, key[1]) as provider:
        verifier = verifier_of(provider)
        old = provider.id_token("Ada")
        ada = await verifier.verify(old)
    assert await verifier.verify(old) == ada
    with pytest.raises(Unavailable):
        await verifier.keys.refresh()
    with running_provider(tmp_path, new_rsa_key("second")[1], provider.port) as again:
        assert again.issuer == provider.issuer
        assert await verifier.verify(again.id_token("Ada")) == ada
        assert await refused_claim(verifier, old) == "kid"


async def test_a_rotated_key_is_read_from_the_file(provider: RunningProvider, tmp_path: Path, key: Key) -> None:
    public, old = tmp_path / "jwks.json", new_rsa_key("old")
    public.write_text(json.dumps({"keys": [public_part(old[1])]}))
    verifier = verifier_of(provider, str(public))
    token = provider.id_token("Ada")
    assert await refused_claim(verifier, token) == "kid"
    public.write_text(json.dumps({"keys": [public_part(key[1])]}))
    ada = await verifier.verify(token)
    public.unlink()
    with pytest.raises(Unavailable):
        await verifier.keys.refresh()
    assert await verifier.verify(token) == ada


def public_part(jwk: Mapping[str, Any]) -> dict[str, Any]:
    return {name: jwk[name] for name in ("kty", "n", "e", "kid", "use", "alg")}


async def test_a_guest_of_the_services_becomes_a_user_and_finds_their_player_on_another_device(
    provider: RunningProvider, tmp_path: Path
) -> None:
    flags = (f"--oidc-issuer={provider.issuer}", "--oidc-audience=web,phone", f"--oidc-jwks={provider.jwks_url}")
    with started_services(tmp_path / "data", extra_flags={"lobby": flags}) as services:
        lobby, engine, scoring = (services.addresses[name]["listen"] for name in ("lobby", "engine", "scoring"))
        endpoints = Endpoints(lobby, engine, scoring)
        async with Client(endpoints, "a secret of the phone", "Kari") as phone:
            guest = await phone.sign_in()
            assert await phone.sign_in(id_token=provider.id_token("Ada", "phone")) == guest
        async with Client(endpoints, "a secret of the browser") as browser:
            token = provider.id_token("Ada")
            assert await browser.sign_in(id_token=token) == guest
            # Renewals are by the device.
            assert await browser.sign_in() == guest
            with pytest.raises(Refused) as refused:
                await browser.sign_in(id_token=provider.id_token("Ada", "another-app"))
            assert refused.value.reason == errors_pb2.ERROR_REASON_INVALID_ID_TOKEN
            assert token not in services.folder.log_file("lobby").read_text()
