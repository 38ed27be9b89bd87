"""Connections with mutual TLS: accepted and refused peers, and certificates that change at run time."""

import asyncio
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import grpc
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc

from croupier.runtime.server.channels import open_channel
from croupier.runtime.server.grpc_server import Listener
from croupier.runtime.tls.certificates import CertificateAndKey
from croupier.runtime.tls.tls import Tls, TlsFiles
from croupier_api.v1 import lobby_pb2 as pb
from tests.certificates import FUTURE, NOW, PAST, Authority, der, replace
from tests.runtime.loaded_tls import load, poll
from tests.runtime.lobby_server import LOBBY, Servicer, running_lobby
from tests.waiting import TIMEOUT_SECONDS

AUTHORITY, OTHER_AUTHORITY = Authority(), Authority()


@pytest.fixture
def files(tmp_path: Path) -> TlsFiles:
    return AUTHORITY.files(tmp_path / "engine", AUTHORITY.issue("engine"))


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
    answer = await method(pb.SignInRequest(name=name), timeout=TIMEOUT_SECONDS)
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
