"""Files of mutual TLS: usable and unusable ones, and those that change at run time."""

import asyncio
from collections.abc import Callable
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    PrivateFormat,
    load_pem_private_key,
)
from prometheus_client import CollectorRegistry
from structlog.testing import CapturingLogger

from croupier.runtime.observation.metrics import export_expiry
from croupier.runtime.server.program import SettingsError
from croupier.runtime.tls.certificates import new_certificate
from croupier.runtime.tls.tls import TlsFiles
from tests.certificates import FUTURE, NOW, PAST, UNSUPPORTED, Authority, replace
from tests.runtime.loaded_tls import load, poll
from tests.waiting import until

AUTHORITY = Authority()


def events(logger: CapturingLogger) -> list[str]:
    return [call.args[0] for call in logger.calls]


@pytest.fixture
def files(tmp_path: Path) -> TlsFiles:
    return AUTHORITY.files(tmp_path / "engine", AUTHORITY.issue("engine"))


def locked(pem: bytes) -> bytes:
    key: Any = load_pem_private_key(pem, password=None)
    password: bytes = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, BestAvailableEncryption(b"a password"))
    return password


FAULTS: dict[str, tuple[Callable[[TlsFiles], object], str]] = {
    "no certificate": (lambda files: files.certificate.unlink(), "tls.crt cannot be read as a certificate in PEM"),
    "no key": (lambda files: files.key.unlink(), "tls.key cannot be read as a private key in PEM"),
    "no authority": (lambda files: files.ca.unlink(), "ca.crt cannot be read as a certificate in PEM"),
    "garbage for a certificate": (lambda files: files.certificate.write_bytes(b"\0garbage"), "tls.crt cannot be read"),
    "garbage for a key": (lambda files: files.key.write_bytes(b"\0garbage"), "tls.key cannot be read as a private key"),
    "garbage for an authority": (lambda files: files.ca.write_bytes(b"\0garbage"), "ca.crt cannot be read"),
    "key with a password": (
        lambda files: files.key.write_bytes(locked(files.key.read_bytes())),
        "tls.key cannot be read as a private key in PEM form without password",
    ),
    "key of another certificate": (
        lambda files: files.key.write_bytes(AUTHORITY.issue("engine").key),
        "tls.key is not the key of the certificate in .*tls.crt",
    ),
    "expired": (lambda files: replace(files, AUTHORITY.issue("engine", PAST)), "tls.crt expired at 20.*"),
    "not yet": (lambda files: replace(files, AUTHORITY.issue("engine", FUTURE)), "tls.crt is not valid before 20.*"),
    "expired authority": (
        lambda files: files.ca.write_bytes(AUTHORITY.issue("any", PAST).certificate),
        "ca.crt expired at 20.*",
    ),
    **{
        kind: (partial(replace, issued=issued), "unsupported kind of key in .*tls.key: expected .* P-256")
        for kind, issued in UNSUPPORTED.items()
    },
}


@pytest.mark.parametrize("fault", FAULTS)
def test_unusable_files_are_named_without_their_content(files: TlsFiles, fault: str) -> None:
    spoil, expected = FAULTS[fault]
    spoil(files)
    with pytest.raises(SettingsError, match=expected) as refused:
        load(files)
    assert "BEGIN" not in str(refused.value)
    assert "garbage" not in str(refused.value)
    assert "\n" not in str(refused.value)


def test_one_valid_authority_of_several_is_enough(files: TlsFiles) -> None:
    old = Authority().issue("old authority", PAST).certificate
    files.ca.write_bytes(old + AUTHORITY.authority.certificate)
    assert load(files).identity.authorities.count(b"BEGIN") == 2


def test_no_secret_is_in_what_is_printed(files: TlsFiles) -> None:
    assert "BEGIN" not in repr(load(files).identity) + repr(AUTHORITY.authority).partition("key")[2]


def test_new_files_are_used_once_all_of_them_are_there(files: TlsFiles) -> None:
    logger, new = CapturingLogger(), AUTHORITY.issue("engine")
    tls = load(files, logger=logger)
    old = tls.identity
    tls.poll()
    files.certificate.write_bytes(new.certificate)
    tls.poll()
    files.key.write_bytes(new.key)
    tls.poll()
    assert tls.identity is old
    tls.poll()
    assert (tls.identity.certificate, tls.identity.key) == (new.certificate, new.key)
    tls.poll()
    assert events(logger) == ["the new certificate is used from now on"]


def test_files_that_kubernetes_swaps_all_at_once_are_used(tmp_path: Path) -> None:
    for folder in ("first", "second"):
        AUTHORITY.files(tmp_path / folder, AUTHORITY.issue("engine"))
    current = tmp_path / "..data"
    current.symlink_to("first")
    tls = load(TlsFiles(current / "tls.crt", current / "tls.key", current / "ca.crt"))
    (tmp_path / "next").symlink_to("second")
    (tmp_path / "next").replace(current)
    poll(tls)
    assert tls.identity.certificate == (tmp_path / "second" / "tls.crt").read_bytes()


@pytest.mark.parametrize("fault", FAULTS)
def test_unusable_new_files_change_nothing_and_are_logged_once(files: TlsFiles, fault: str) -> None:
    logger = CapturingLogger()
    tls = load(files, logger=logger)
    old, before = tls.identity, files.contents()
    FAULTS[fault][0](files)
    for _ in range(4):
        tls.poll()
    assert tls.identity is old
    assert events(logger) == ["the new certificate cannot be used, the old one is kept"]
    assert "BEGIN" not in str(logger.calls)
    for path, content in zip((files.certificate, files.key, files.ca), before, strict=True):
        path.touch(0o600)
        path.write_bytes(content or b"")
    poll(tls)
    assert tls.identity == old
    assert events(logger)[1:] == ["the new certificate is used from now on"]


async def test_the_files_are_polled(files: TlsFiles, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("croupier.runtime.tls.tls.POLL_SECONDS", 0.001)
    tls, new = load(files), AUTHORITY.issue("engine")
    watching = asyncio.create_task(tls.watch())
    replace(files, new)
    await until(lambda: tls.identity.certificate == new.certificate)
    watching.cancel()


def test_metrics_have_the_end_of_the_certificate(files: TlsFiles) -> None:
    registry, tls = CollectorRegistry(), load(files)
    export_expiry(registry, tls)
    name = "croupier_tls_certificate_expiry_timestamp_seconds"
    # The times of a certificate have no fractions of a second.
    assert registry.get_sample_value(name) == int(FUTURE.timestamp())
    replace(files, new_certificate(AUTHORITY.authority, ["engine"], 5, NOW))
    poll(tls)
    assert registry.get_sample_value(name) == int((NOW + timedelta(days=5)).timestamp())
    nothing = CollectorRegistry()
    export_expiry(nothing, None)
    assert list(nothing.collect()) == []
