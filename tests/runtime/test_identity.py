"""Tokens identify a caller, and files of keys and databases that others may read or write are refused."""

import os
import stat
import subprocess
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, generate_private_key
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat

from croupier.runtime.database.database import check_permissions, open_database
from croupier.runtime.errors import Unauthenticated
from croupier.runtime.identity.permissions import check_secret
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
from tests.certificates import Authority

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


@pytest.mark.parametrize("mode", [0o600, 0o400, 0o440])
def test_the_group_may_read_a_secret_as_in_kubernetes(tmp_path: Path, mode: int) -> None:
    write_new_key_pair(tmp_path / "key", tmp_path / "public")
    (tmp_path / "key").chmod(mode)
    load_private_key(tmp_path / "key")


@pytest.mark.parametrize("mode", [0o604, 0o602, 0o620, 0o610])
def test_keys_that_others_may_use_are_refused(tmp_path: Path, mode: int) -> None:
    write_new_key_pair(tmp_path / "key", tmp_path / "public")
    (tmp_path / "key").chmod(mode)
    with pytest.raises(SettingsError, match=rf"key is open to other users \(mode {mode:o}\): .* chmod 600 /"):
        load_private_key(tmp_path / "key")
    authority = Authority()
    files = authority.files(tmp_path / "tls", authority.issue("engine"))
    files.key.chmod(mode)
    with pytest.raises(SettingsError, match=r"tls\.key is open to other users"):
        files.identity(files.contents(), datetime.now(UTC))


def test_the_printed_command_closes_a_file_of_any_name(tmp_path: Path) -> None:
    secret = tmp_path / "Kari's own key"
    secret.touch()
    secret.chmod(0o644)
    with pytest.raises(SettingsError) as refused:
        check_secret(secret)
    command = str(refused.value).partition("close it with ")[2]
    subprocess.run(["/bin/sh", "-c", command], check=True, timeout=60)
    check_secret(secret)


async def test_a_database_that_others_may_use_is_refused(tmp_path: Path) -> None:
    database = open_database(f"sqlite:///{tmp_path}/x.db")
    check_permissions(database)
    assert await database.is_reachable()
    check_permissions(database)
    await database.close()
    (tmp_path / "x.db").chmod(0o644)
    with pytest.raises(SettingsError, match=r"x\.db is open to other users"):
        check_permissions(database)


def test_a_secret_of_root_is_accepted_and_one_of_another_user_is_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "key").touch(0o600)
    me = os.geteuid()
    monkeypatch.setattr("os.geteuid", lambda: me + 1)
    if me == 0:
        check_secret(tmp_path / "key")
        os.chown(tmp_path / "key", 1234, 1234)
    with pytest.raises(SettingsError, match="belongs to another user"):
        check_secret(tmp_path / "key")
