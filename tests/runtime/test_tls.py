"""Mutual TLS: files that can be used and that cannot, who is let in, and certificates that change while all goes on."""

import asyncio
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

from croupier.runtime.certificates import CertificateAndKey, new_certificate
from croupier.runtime.channels import open_channel
from croupier.runtime.metrics import export_expiry
from croupier.runtime.server import Listener
from croupier.runtime.settings import TlsSettings
from croupier.runtime.tls import Tls, TlsFiles, tls_in_use
from croupier_api.v1 import lobby_pb2 as pb
from tests.certificates import LONG_AGO, NOW, SOON, UNSPOKEN, House, der, replace
from tests.runtime.site import LOBBY, Servicer, opened_site
from tests.waiting import PATIENCE_SECONDS, until

HOUSE, ANOTHER_HOUSE = House(), House()


def milliseconds(now: datetime = NOW) -> int:
    return int(now.timestamp() * 1000)


def events(logger: CapturingLogger) -> list[str]:
    return [call.args[0] for call in logger.calls]


def settings_of(files: TlsFiles) -> TlsSettings:
    return TlsSettings(files.certificate, files.key, files.ca)


def opened(files: TlsFiles) -> Tls:
    return Tls(files, milliseconds, CapturingLogger())


def look(tls: Tls) -> None:
    """Often enough to take new files."""
    for _ in range(2):
        tls.look()


@pytest.fixture
def files(tmp_path: Path) -> TlsFiles:
    return HOUSE.files(tmp_path / "engine", HOUSE.issue("engine"))


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
        lambda files: files.key.write_bytes(HOUSE.issue("engine").key),
        "tls.key is not the key of the certificate in .*tls.crt",
    ),
    "expired": (lambda files: replace(files, HOUSE.issue("engine", LONG_AGO)), "tls.crt expired at 20.*"),
    "not yet": (lambda files: replace(files, HOUSE.issue("engine", SOON)), "tls.crt holds from 20.* on only"),
    "expired authority": (
        lambda files: files.ca.write_bytes(HOUSE.issue("any", LONG_AGO).certificate),
        "ca.crt expired at 20.*",
    ),
    **{
        kind: (partial(replace, issued=issued), "tls.key is of a kind that TLS is not spoken with here: .* P-256")
        for kind, issued in UNSPOKEN.items()
    },
}


@pytest.mark.parametrize("fault", FAULTS)
async def test_files_that_cannot_be_used_are_named_and_not_shown(files: TlsFiles, fault: str) -> None:
    spoil, said = FAULTS[fault]
    spoil(files)
    with pytest.raises(ValueError, match=said) as refused:
        async with tls_in_use(settings_of(files), (), milliseconds, CapturingLogger()):
            pytest.fail("it was taken")
    assert "BEGIN" not in str(refused.value)
    assert "garbage" not in str(refused.value)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("settings", "missing"),
    [
        (TlsSettings(Path("c")), "--tls-key, --tls-ca missing"),
        (TlsSettings(Path("c"), Path("k")), "--tls-ca missing"),
        (TlsSettings(ca=Path("a")), "--tls-certificate, --tls-key missing"),
    ],
)
async def test_a_part_of_the_settings_is_not_enough(settings: TlsSettings, missing: str) -> None:
    with pytest.raises(ValueError, match=missing):
        async with tls_in_use(settings, (), milliseconds, CapturingLogger()):
            pytest.fail("it was taken")


@pytest.mark.parametrize(("address", "warnings"), [("127.0.0.1:1", 0), ("0.0.0.0:1", 1), ("lobby:1", 1)])
async def test_an_open_door_without_tls_is_told_once(files: TlsFiles, address: str, warnings: int) -> None:
    logger = CapturingLogger()
    async with tls_in_use(TlsSettings(), (address,), milliseconds, logger) as tls:
        assert tls is None
    assert len(events(logger)) == warnings
    async with tls_in_use(settings_of(files), (address,), milliseconds, logger) as tls:
        assert tls is not None
    assert len(events(logger)) == warnings


def test_one_authority_of_several_that_holds_is_enough(files: TlsFiles) -> None:
    old = House().issue("old authority", LONG_AGO).certificate
    files.ca.write_bytes(old + HOUSE.authority.certificate)
    assert opened(files).identity.authorities.count(b"BEGIN") == 2


def test_no_secret_is_in_what_is_printed(files: TlsFiles) -> None:
    assert "BEGIN" not in repr(opened(files).identity) + repr(HOUSE.authority).partition("key")[2]


# Changes


def test_new_files_are_taken_once_all_of_them_are_there(files: TlsFiles) -> None:
    logger, new = CapturingLogger(), HOUSE.issue("engine")
    tls = Tls(files, milliseconds, logger)
    old = tls.identity
    tls.look()
    files.certificate.write_bytes(new.certificate)
    tls.look()
    files.key.write_bytes(new.key)
    tls.look()
    assert tls.identity is old
    tls.look()
    assert (tls.identity.certificate, tls.identity.key) == (new.certificate, new.key)
    tls.look()
    assert events(logger) == ["the new certificate is used from now on"]


def test_files_that_kubernetes_swaps_all_at_once_are_taken(tmp_path: Path) -> None:
    for folder in ("first", "second"):
        HOUSE.files(tmp_path / folder, HOUSE.issue("engine"))
    current = tmp_path / "..data"
    current.symlink_to("first")
    tls = opened(TlsFiles(current / "tls.crt", current / "tls.key", current / "ca.crt"))
    (tmp_path / "next").symlink_to("second")
    (tmp_path / "next").replace(current)
    look(tls)
    assert tls.identity.certificate == (tmp_path / "second" / "tls.crt").read_bytes()


@pytest.mark.parametrize("fault", FAULTS)
def test_new_files_that_cannot_be_used_change_nothing_and_are_told_once(files: TlsFiles, fault: str) -> None:
    logger = CapturingLogger()
    tls = Tls(files, milliseconds, logger)
    old, before = tls.identity, files.contents()
    FAULTS[fault][0](files)
    for _ in range(4):
        tls.look()
    assert tls.identity is old
    assert events(logger) == ["the new certificate cannot be used, the old one is kept"]
    assert "BEGIN" not in str(logger.calls)
    for path, content in zip((files.certificate, files.key, files.ca), before, strict=True):
        path.write_bytes(content or b"")
    look(tls)
    assert tls.identity == old
    assert events(logger)[1:] == ["the new certificate is used from now on"]


async def test_the_files_are_looked_at_by_themselves(files: TlsFiles, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("croupier.runtime.tls.LOOK_SECONDS", 0.001)
    async with tls_in_use(settings_of(files), (), milliseconds, CapturingLogger()) as tls:
        assert tls is not None
        new = HOUSE.issue("engine")
        replace(files, new)
        await until(lambda: tls.identity.certificate == new.certificate)


def test_metrics_tell_when_the_certificate_ends(files: TlsFiles) -> None:
    registry, tls = CollectorRegistry(), opened(files)
    export_expiry(registry, tls)
    name = "croupier_tls_certificate_expiry_timestamp_seconds"
    # A certificate's times have no fractions of a second.
    assert registry.get_sample_value(name) == int(SOON.timestamp())
    replace(files, new_certificate(HOUSE.authority, ["engine"], 5, NOW))
    look(tls)
    assert registry.get_sample_value(name) == int((NOW + timedelta(days=5)).timestamp())
    nothing = CollectorRegistry()
    export_expiry(nothing, None)
    assert list(nothing.collect()) == []


# Connections


class WhoAmI(Servicer):
    """Tells callers which certificate they came with; waits before that while it is told to."""

    def __init__(self) -> None:
        super().__init__()
        self.is_open = asyncio.Event()

    async def SignIn(self, request: pb.SignInRequest, context: Any) -> pb.SignInResponse:
        if request.name:
            await self.is_open.wait()
        return pb.SignInResponse(player=pb.Player(name=context.auth_context()["x509_pem_cert"][0]))


@dataclass
class Port:
    """Where an engine listens, with its certificate."""

    servicer: WhoAmI
    listener: Listener
    tls: Tls
    files: TlsFiles

    @property
    def address(self) -> str:
        return self.listener.address

    async def shows(self, issued: CertificateAndKey) -> bool:
        """Whether this is the certificate that new callers see, with one of their own or without."""
        host, _, number = self.address.rpartition(":")
        shown = await asyncio.to_thread(ssl.get_server_certificate, (host, int(number)))
        return der(shown.encode()) == der(issued.certificate)


@asynccontextmanager
async def port(files: TlsFiles, opened_at: datetime = NOW) -> AsyncIterator[Port]:
    tls, servicer = Tls(files, lambda: milliseconds(opened_at), CapturingLogger()), WhoAmI()  # type: ignore[abstract]
    async with opened_site(servicer, tls) as site:
        yield Port(servicer, site.listener, tls, files)


@pytest.fixture
async def engine(files: TlsFiles) -> AsyncIterator[Port]:
    async with port(files) as running:
        yield running


async def who_am_i(channel: grpc.aio.Channel, name: str = "") -> bytes:
    method: Any = channel.unary_unary(f"{LOBBY}/SignIn", pb.SignInRequest.SerializeToString)
    answer = await method(pb.SignInRequest(name=name), timeout=PATIENCE_SECONDS)
    return pb.SignInResponse.FromString(answer).player.name.encode()


async def refusal(channel: grpc.aio.Channel) -> str:
    async with channel:
        with pytest.raises(grpc.aio.AioRpcError) as refused:
            await who_am_i(channel)
    assert refused.value.code() is grpc.StatusCode.UNAVAILABLE
    return refused.value.details() or ""


async def test_both_sides_prove_who_they_are(engine: Port, tmp_path: Path) -> None:
    lobby = HOUSE.issue("lobby")
    async with open_channel(engine.address, opened(HOUSE.files(tmp_path / "lobby", lobby)), "engine") as channel:
        assert der(await who_am_i(channel)) == der(lobby.certificate)


CALLERS: dict[str, grpc.ChannelCredentials | None] = {
    "no TLS": None,
    "no certificate": HOUSE.credentials(None),
    "another house's": HOUSE.credentials(ANOTHER_HOUSE.issue("lobby")),
    "expired": HOUSE.credentials(HOUSE.issue("lobby", LONG_AGO)),
    "not yet": HOUSE.credentials(HOUSE.issue("lobby", SOON)),
}


@pytest.mark.parametrize("caller", CALLERS)
async def test_callers_without_a_good_certificate_are_not_let_in(engine: Port, caller: str) -> None:
    given = CALLERS[caller]
    address = engine.address
    await refusal(grpc.aio.secure_channel(address, given) if given else grpc.aio.insecure_channel(address))
    async with grpc.aio.secure_channel(address, HOUSE.credentials(HOUSE.issue("lobby"))) as channel:
        await who_am_i(channel)


@pytest.mark.parametrize(
    ("trusted", "name", "issued_at", "said"),
    [
        (HOUSE, "scoring", NOW, "Hostname"),
        (ANOTHER_HOUSE, "engine", NOW, "CERTIFICATE_VERIFY_FAILED"),
        # What a port would go on showing that nobody gave a new certificate in time.
        (HOUSE, "engine", LONG_AGO, "expired"),
    ],
)
async def test_a_service_that_does_not_prove_who_it_is_is_not_believed(
    files: TlsFiles, tmp_path: Path, trusted: House, name: str, issued_at: datetime, said: str
) -> None:
    replace(files, HOUSE.issue("engine", issued_at))
    tls = opened(trusted.files(tmp_path / "lobby", HOUSE.issue("lobby")))
    async with port(files, issued_at) as engine:
        assert said in await refusal(open_channel(engine.address, tls, name))


async def test_new_connections_get_the_new_certificate_and_streams_go_on(engine: Port) -> None:
    new = HOUSE.issue("engine")
    async with grpc.aio.secure_channel(engine.address, HOUSE.credentials(HOUSE.issue("lobby"))) as channel:
        stream = health_pb2_grpc.HealthStub(channel).Watch(health_pb2.HealthCheckRequest(), timeout=PATIENCE_SECONDS)
        assert (await stream.read()).status == health_pb2.HealthCheckResponse.SERVING
        assert not await engine.shows(new)
        replace(engine.files, new)
        look(engine.tls)
        assert await engine.shows(new)
        engine.files.key.write_bytes(b"broken")
        look(engine.tls)
        assert await engine.shows(new)
        await engine.listener.set_serving(False)
        assert (await stream.read()).status == health_pb2.HealthCheckResponse.NOT_SERVING


async def test_a_channel_goes_over_to_its_new_certificate_and_ends_calls_on_the_old(
    engine: Port, tmp_path: Path
) -> None:
    lobby, new = HOUSE.issue("lobby"), HOUSE.issue("lobby")
    files = HOUSE.files(tmp_path / "lobby", lobby)
    tls = opened(files)
    async with open_channel(engine.address, tls, "engine") as channel:
        waiting = asyncio.ensure_future(who_am_i(channel, "wait"))
        assert der(await who_am_i(channel)) == der(lobby.certificate)
        replace(files, new)
        look(tls)
        assert der(await who_am_i(channel)) == der(new.certificate)
        assert not waiting.done()
        engine.servicer.is_open.set()
        assert der(await waiting) == der(lobby.certificate)


async def test_a_new_authority_is_believed_from_then_on(engine: Port) -> None:
    stranger = ANOTHER_HOUSE.issue("lobby")
    credentials = HOUSE.credentials(stranger)
    await refusal(grpc.aio.secure_channel(engine.address, credentials))
    engine.files.ca.write_bytes(HOUSE.authority.certificate + ANOTHER_HOUSE.authority.certificate)
    look(engine.tls)
    async with grpc.aio.secure_channel(engine.address, credentials) as channel:
        assert der(await who_am_i(channel)) == der(stranger.certificate)
