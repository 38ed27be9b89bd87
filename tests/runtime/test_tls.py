"""Mutual TLS: usable and unusable files, those that change at run time, and accepted and refused peers."""

import asyncio
import re
import ssl
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

import grpc
import pytest
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    PrivateFormat,
    load_pem_private_key,
)
from grpc_health.v1 import health_pb2, health_pb2_grpc
from prometheus_client import CollectorRegistry
from structlog.testing import CapturingLogger

from croupier.runtime.observation.metrics import export_expiry
from croupier.runtime.server.channels import open_channel
from croupier.runtime.server.grpc_server import Listener
from croupier.runtime.server.program import SettingsError
from croupier.runtime.tls.certificates import CertificateAndKey, new_certificate
from croupier.runtime.tls.tls import Tls, TlsFiles
from croupier_api.v1 import lobby_pb2 as pb
from tests.certificates import FUTURE, NOW, PAST, UNSUPPORTED, Authority, der, replace
from tests.runtime.lobby_server import LOBBY, Servicer, running_lobby
from tests.waiting import TIMEOUT_SECONDS, until

AUTHORITY, OTHER_AUTHORITY = Authority(), Authority()


def load(files: TlsFiles, now: datetime = NOW, logger: CapturingLogger | None = None) -> Tls:
    return Tls(files, lambda: int(now.timestamp() * 1000), logger or CapturingLogger())


def poll(tls: Tls) -> None:
    """Poll often enough to accept new files."""
    for _ in range(2):
        tls.poll()


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
def test_unusable_files_are_named_without_their_content_and_new_ones_change_nothing(
    files: TlsFiles, fault: str
) -> None:
    (spoil, expected), logger = FAULTS[fault], CapturingLogger()
    tls = load(files, logger=logger)
    old, before = tls.identity, files.contents()
    spoil(files)
    with pytest.raises(SettingsError, match=expected) as refused:
        load(files)
    for _ in range(4):
        tls.poll()
    assert tls.identity is old
    assert events(logger) == ["the new certificate cannot be used, the old one is kept"]
    assert not re.search(r"BEGIN|garbage|\n", f"{refused.value}{logger.calls[0].kwargs}")
    for path, content in zip((files.certificate, files.key, files.ca), before, strict=True):
        path.touch(0o600)
        path.write_bytes(content)
    poll(tls)
    assert tls.identity == old
    assert events(logger)[1:] == ["the new certificate is used from now on"]


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


class EchoCertificate(Servicer):
    """A servicer that returns the caller's certificate; a request with a name waits until it `is_open`."""

    def __init__(self) -> None:
        super().__init__()
        self.is_open = asyncio.Event()

    async def SignIn(self, request: pb.SignInRequest, context: Any) -> pb.SignInResponse:
        if request.name:
            await self.is_open.wait()
        return pb.SignInResponse(player=pb.Player(name=context.context.auth_context()["x509_pem_cert"][0]))


@dataclass
class ServedEngine:
    """An engine's listener with its certificate."""

    servicer: EchoCertificate
    listener: Listener
    tls: Tls
    files: TlsFiles

    @property
    def address(self) -> str:
        return self.listener.address

    async def presents(self, issued: CertificateAndKey) -> bool:
        """Return whether new connections get this certificate, with or without one of their own."""
        host, _, number = self.address.rpartition(":")
        presented = await asyncio.to_thread(ssl.get_server_certificate, (host, int(number)))
        return der(presented.encode()) == der(issued.certificate)


@asynccontextmanager
async def port(files: TlsFiles, opened_at: datetime = NOW) -> AsyncIterator[ServedEngine]:
    tls, servicer = load(files, opened_at), EchoCertificate()  # type: ignore[abstract]
    async with running_lobby(servicer, tls) as lobby:
        yield ServedEngine(servicer, lobby.listener, tls, files)


@pytest.fixture
async def engine(files: TlsFiles) -> AsyncIterator[ServedEngine]:
    async with port(files) as running:
        yield running


async def presented_certificate(channel: grpc.aio.Channel, name: str = "") -> bytes:
    method: Any = channel.unary_unary(f"{LOBBY}/SignIn", pb.SignInRequest.SerializeToString)
    answer = await method(pb.SignInRequest(device_secret="0123456789abcdef", name=name), timeout=TIMEOUT_SECONDS)
    return pb.SignInResponse.FromString(answer).player.name.encode()


async def refusal(channel: grpc.aio.Channel) -> str:
    async with channel:
        with pytest.raises(grpc.aio.AioRpcError) as refused:
            await presented_certificate(channel)
    assert refused.value.code() is grpc.StatusCode.UNAVAILABLE
    return refused.value.details() or ""


async def test_both_sides_authenticate(engine: ServedEngine, tmp_path: Path) -> None:
    lobby = AUTHORITY.issue("lobby")
    async with open_channel(engine.address, load(AUTHORITY.files(tmp_path / "lobby", lobby)), "engine") as channel:
        assert der(await presented_certificate(channel)) == der(lobby.certificate)


CALLERS: dict[str, grpc.ChannelCredentials | None] = {
    "no TLS": None,
    "no certificate": AUTHORITY.credentials(None),
    "another authority's": AUTHORITY.credentials(OTHER_AUTHORITY.issue("lobby")),
    "expired": AUTHORITY.credentials(AUTHORITY.issue("lobby", PAST)),
    "not yet": AUTHORITY.credentials(AUTHORITY.issue("lobby", FUTURE)),
}


@pytest.mark.parametrize("caller", CALLERS)
async def test_callers_without_a_valid_certificate_are_refused(engine: ServedEngine, caller: str) -> None:
    credentials = CALLERS[caller]
    address = engine.address
    await refusal(grpc.aio.secure_channel(address, credentials) if credentials else grpc.aio.insecure_channel(address))
    async with grpc.aio.secure_channel(address, AUTHORITY.credentials(AUTHORITY.issue("lobby"))) as channel:
        await presented_certificate(channel)


@pytest.mark.parametrize(
    ("trusted", "name", "issued_at", "expected"),
    [
        (AUTHORITY, "scoring", NOW, "Hostname"),
        (OTHER_AUTHORITY, "engine", NOW, "CERTIFICATE_VERIFY_FAILED"),
        # A port whose certificate was not renewed in time presents it further.
        (AUTHORITY, "engine", PAST, "expired"),
    ],
)
async def test_a_service_without_a_valid_certificate_is_refused(
    files: TlsFiles, tmp_path: Path, trusted: Authority, name: str, issued_at: datetime, expected: str
) -> None:
    replace(files, AUTHORITY.issue("engine", issued_at))
    tls = load(trusted.files(tmp_path / "lobby", AUTHORITY.issue("lobby")))
    async with port(files, issued_at) as engine:
        assert expected in await refusal(open_channel(engine.address, tls, name))


async def test_new_connections_get_the_new_certificate_and_streams_continue(engine: ServedEngine) -> None:
    new = AUTHORITY.issue("engine")
    async with grpc.aio.secure_channel(engine.address, AUTHORITY.credentials(AUTHORITY.issue("lobby"))) as channel:
        stream = health_pb2_grpc.HealthStub(channel).Watch(health_pb2.HealthCheckRequest(), timeout=TIMEOUT_SECONDS)
        assert (await stream.read()).status == health_pb2.HealthCheckResponse.SERVING
        assert not await engine.presents(new)
        replace(engine.files, new)
        poll(engine.tls)
        assert await engine.presents(new)
        engine.files.key.write_bytes(b"broken")
        poll(engine.tls)
        assert await engine.presents(new)
        await engine.listener.set_serving(False)
        assert (await stream.read()).status == health_pb2.HealthCheckResponse.NOT_SERVING


async def test_a_channel_changes_to_its_new_certificate_and_finishes_calls_on_the_old(
    engine: ServedEngine, tmp_path: Path
) -> None:
    lobby, new = AUTHORITY.issue("lobby"), AUTHORITY.issue("lobby")
    files = AUTHORITY.files(tmp_path / "lobby", lobby)
    tls = load(files)
    async with open_channel(engine.address, tls, "engine") as channel:
        waiting = asyncio.ensure_future(presented_certificate(channel, "wait"))
        assert der(await presented_certificate(channel)) == der(lobby.certificate)
        replace(files, new)
        poll(tls)
        assert der(await presented_certificate(channel)) == der(new.certificate)
        assert not waiting.done()
        engine.servicer.is_open.set()
        assert der(await waiting) == der(lobby.certificate)


async def test_a_new_authority_is_accepted_from_then_on(engine: ServedEngine) -> None:
    stranger = OTHER_AUTHORITY.issue("lobby")
    credentials = AUTHORITY.credentials(stranger)
    await refusal(grpc.aio.secure_channel(engine.address, credentials))
    engine.files.ca.write_bytes(AUTHORITY.authority.certificate + OTHER_AUTHORITY.authority.certificate)
    poll(engine.tls)
    async with grpc.aio.secure_channel(engine.address, credentials) as channel:
        assert der(await presented_certificate(channel)) == der(stranger.certificate)
