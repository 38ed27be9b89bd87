"""`croupier keys` makes the keys of a deployment once, for their owner only, and never overwrites them."""

import stat
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from croupier.cli.faults import CommandFault
from croupier.cli.launcher.keys import CERTIFIED, certificate_files, make_missing
from croupier.runtime.identity.tokens import (
    PLAYER_AUDIENCE,
    TokenIssuer,
    TokenVerifier,
    load_private_key,
    load_public_key,
)
from croupier.runtime.tls.tls import TlsFiles
from tests.cli.conftest import Command

NOW = datetime.now(UTC)
KEYS = {f"{signer}.{kind}.pem" for signer in ("lobby", "engine") for kind in ("private", "public")}
CERTIFICATES = {f"tls/{service}/{name}" for service in CERTIFIED for name in ("tls.crt", "tls.key", "ca.crt")}
AUTHORITY = {"tls/authority/ca.crt", "tls/authority/ca.key"}


def made(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def make(folder: Path, days: int | None = None, now: datetime = NOW) -> list[Path]:
    return make_missing(folder, days, now)


def test_signing_keys_fit_together(tmp_path: Path) -> None:
    new = make(tmp_path / "new")
    assert {str(path.relative_to(tmp_path / "new")) for path in new} == made(tmp_path / "new").keys() == KEYS
    for signer in ("lobby", "engine"):
        private = load_private_key(tmp_path / "new" / f"{signer}.private.pem")
        token, _ = TokenIssuer(private, PLAYER_AUDIENCE, 60, lambda: 0).issue("ada")
        public = load_public_key(tmp_path / "new" / f"{signer}.public.pem")
        assert TokenVerifier(public, PLAYER_AUDIENCE, lambda: 0).verify(token).id == "ada"


def test_certificates_are_usable_by_each_service_and_secrets_by_their_owner_only(tmp_path: Path) -> None:
    make(tmp_path / "new", days=30)
    assert made(tmp_path / "new").keys() == KEYS | CERTIFICATES | AUTHORITY
    for service in CERTIFIED:
        files = TlsFiles(*certificate_files(tmp_path / "new", service))
        assert files.identity(files.contents(), NOW).ends == (NOW + timedelta(days=30)).replace(microsecond=0)
    for path in (tmp_path / "new").rglob("*"):
        if path.name.endswith((".key", ".private.pem")):
            assert stat.S_IMODE(path.stat().st_mode) == 0o600, path
    assert stat.S_IMODE((tmp_path / "new").stat().st_mode) == 0o700


def test_nothing_is_overwritten(tmp_path: Path) -> None:
    make(tmp_path)
    before = made(tmp_path)
    make(tmp_path, days=30)
    everything = made(tmp_path)
    assert before.items() <= everything.items()
    assert make(tmp_path, days=60) == []
    assert made(tmp_path) == everything


def test_a_removed_certificate_is_made_again_by_the_same_authority(tmp_path: Path) -> None:
    make(tmp_path, days=30)
    before = made(tmp_path)
    certificate, key, _ = certificate_files(tmp_path, "engine")
    certificate.unlink()
    key.unlink()
    (tmp_path / "lobby.public.pem").unlink()
    assert make(tmp_path, days=60)[-2:] == [key, certificate]
    after = made(tmp_path)
    assert {name for name in after if after[name] != before[name]} == {"tls/engine/tls.crt", "tls/engine/tls.key"}


@pytest.mark.parametrize(
    ("missing", "message"),
    [
        ("tls/engine/tls.key", "tls.crt is there without tls.key"),
        ("tls/engine/tls.crt", "tls.key is there without tls.crt"),
        ("lobby.private.pem", "lobby.public.pem is there without lobby.private.pem"),
    ],
)
def test_half_of_a_pair_is_reported_and_unchanged(tmp_path: Path, missing: str, message: str) -> None:
    make(tmp_path, days=30)
    (tmp_path / missing).unlink()
    before = made(tmp_path)
    with pytest.raises(CommandFault, match=message):
        make(tmp_path, days=30)
    assert made(tmp_path) == before


def test_an_authority_that_cannot_sign_is_reported(tmp_path: Path) -> None:
    make(tmp_path, days=30, now=NOW - timedelta(days=4_000))
    for path in certificate_files(tmp_path, "gateway")[:2]:
        path.unlink()
    with pytest.raises(CommandFault, match=r"tls/authority cannot sign, or has expired"):
        make(tmp_path, days=30)
    (tmp_path / "tls/authority/ca.key").unlink()
    with pytest.raises(CommandFault, match=r"ca\.crt is there without ca\.key"):
        make(tmp_path, days=30)


def test_the_command(croupier: Command, tmp_path: Path) -> None:
    ended = croupier("keys", str(tmp_path / "new"), "--certificates", "--days=5")
    assert ended.code == 0
    assert f"{tmp_path / 'new/tls/gateway/tls.crt'} made" in ended.out
    assert "BEGIN" not in ended.out + ended.err
    again = croupier("keys", str(tmp_path / "new"), "--certificates")
    assert again.out == f"nothing is missing in {tmp_path / 'new'}\n"
    for folder in ("/dev/null/keys", "/proc/keys"):
        assert f"{folder} cannot be written" in croupier("keys", folder).error_line()
