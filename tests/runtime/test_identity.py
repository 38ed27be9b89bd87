"""Tokens identify a caller, for one audience and a limited time."""

import stat
from pathlib import Path
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, generate_private_key
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat

from croupier.runtime.errors import Unauthenticated
from croupier.runtime.identity.tokens import (
    ENGINE_CONTROL_AUDIENCE,
    ISSUER,
    MAX_TOKEN_CHARACTERS,
    PLAYER_AUDIENCE,
    Caller,
    TokenIssuer,
    TokenVerifier,
    bearer_token,
    load_private_key,
    load_public_key,
    write_new_key_pair,
)
from croupier.runtime.server.program import SettingsError

NOW = 1_700_000_000_000
KEY = Ed25519PrivateKey.generate()
ISSUE = TokenIssuer(KEY, PLAYER_AUDIENCE, 900, lambda: NOW)
VERIFY = TokenVerifier(KEY.public_key(), PLAYER_AUDIENCE, lambda: NOW)
CLAIMS = {"iss": ISSUER, "aud": PLAYER_AUDIENCE, "sub": "ada", "name": "Ada", "exp": NOW // 1000 + 60}


def signed(changes: dict[str, Any], without: str = "") -> str:
    claims = {name: value for name, value in (CLAIMS | changes).items() if name != without}
    return jwt.encode(claims, KEY, algorithm="EdDSA")


def test_a_token_returns_its_caller_until_it_expires() -> None:
    token, expires = ISSUE.issue("ada", "Ada Lovelace")
    assert expires == NOW + 900_000
    assert VERIFY.verify(token) == Caller("ada", "Ada Lovelace", expires_at=expires)
    times = iter((expires - 1, expires - 1, expires))
    verifier = TokenVerifier(KEY.public_key(), PLAYER_AUDIENCE, lambda: next(times))
    # The second time it is remembered.
    assert verifier.verify(token) == verifier.verify(token)
    with pytest.raises(Unauthenticated, match="expired"):
        verifier.verify(token)


@pytest.mark.parametrize(
    "token",
    [
        "",
        "nonsense",
        "a.b.c",
        "x" * (MAX_TOKEN_CHARACTERS + 1),
        "é.é.é",
        signed({}, without="exp"),
        signed({}, without="sub"),
        signed({}, without="aud"),
        signed({}, without="iss"),
        signed({"iss": "somebody"}),
        jwt.encode(CLAIMS, "", algorithm="none"),
        jwt.encode(CLAIMS, KEY.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw), algorithm="HS256"),
        signed({})[:-4] + "AAAA",
        signed({"aud": ENGINE_CONTROL_AUDIENCE}),
        jwt.encode(CLAIMS, Ed25519PrivateKey.generate(), algorithm="EdDSA"),
    ],
)
def test_an_invalid_token_is_unauthenticated(token: str) -> None:
    with pytest.raises(Unauthenticated) as refusal:
        VERIFY.verify(token)
    assert refusal.value.reason_name == "INVALID_ACCESS_TOKEN"
    assert not token or token not in refusal.value.message


@pytest.mark.parametrize("header", ["", "Bearer", "Bearer ", "Basic abc", "abc"])
def test_metadata_without_a_bearer_token_is_unauthenticated(header: str) -> None:
    with pytest.raises(Unauthenticated, match="access token"):
        bearer_token({"authorization": header})


def test_the_scheme_is_read_in_any_case() -> None:
    assert bearer_token({"authorization": "bearer abc"}) == "abc"


def test_key_files_are_made_once_and_the_private_one_is_readable_by_its_owner_only(tmp_path: Path) -> None:
    private, public = tmp_path / "private.pem", tmp_path / "public.pem"
    write_new_key_pair(private, public)
    assert stat.S_IMODE(private.stat().st_mode) == 0o600
    before = private.read_bytes()
    write_new_key_pair(private, public)
    assert private.read_bytes() == before
    token, _ = TokenIssuer(load_private_key(private), PLAYER_AUDIENCE, 60, lambda: NOW).issue("ada")
    TokenVerifier(load_public_key(public), PLAYER_AUDIENCE, lambda: NOW).verify(token)


def test_files_that_hold_no_such_key_are_refused_without_showing_them(tmp_path: Path) -> None:
    other = generate_private_key(SECP256R1())
    for name in ("pem", "pub", "nonsense"):
        (tmp_path / name).touch(0o600)
    (tmp_path / "pem").write_bytes(other.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
    (tmp_path / "pub").write_bytes(other.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo))
    (tmp_path / "nonsense").write_text("a secret")
    for read in (load_private_key, load_public_key):
        for name in ("pem", "pub", "nonsense", "no"):
            with pytest.raises(SettingsError, match="Ed25519") as refusal:
                read(tmp_path / name)
            assert "a secret" not in str(refusal.value)
