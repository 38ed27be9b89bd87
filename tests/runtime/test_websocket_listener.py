"""The port for WebSockets: addresses, mutual TLS with certificates that change, and its end."""

import asyncio
import socket
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing, suppress
from pathlib import Path
from typing import cast

import pytest
from structlog.testing import CapturingLogger

from croupier.runtime.server.addresses import host_and_port
from croupier.runtime.server.program import SettingsError
from croupier.runtime.server.websocket_listener import WebSocketListener, listen_for_websockets
from croupier.runtime.tls.certificates import CertificateAndKey
from croupier.runtime.tls.tls import Tls
from tests.certificates import NOW, Authority, der, replace
from tests.waiting import TIMEOUT_SECONDS

AUTHORITY, OTHER_AUTHORITY = Authority(), Authority()
GREETING = b"hello"


class Greeting(asyncio.Protocol):
    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        cast("asyncio.WriteTransport", transport).write(GREETING)


class Greetings:
    """WebSockets that send a greeting, and stay open until they are drained."""

    def __init__(self) -> None:
        self.drained: list[float] = []

    def connect(self) -> asyncio.Protocol:
        return Greeting()

    async def drain(self, grace_seconds: float) -> None:
        self.drained.append(grace_seconds)


@asynccontextmanager
async def listening(
    address: str = "127.0.0.1:0", tls: Tls | None = None, greetings: Greetings | None = None
) -> AsyncIterator[WebSocketListener]:
    listener = await listen_for_websockets(address, greetings or Greetings(), tls)
    try:
        yield listener
    finally:
        await listener.drain(0)


async def greeting_at(address: str, context: ssl.SSLContext | None = None) -> tuple[bytes, bytes | None]:
    """Return what the port sends to a new connection, and its certificate."""
    reader, writer = await asyncio.open_connection(
        *host_and_port(address), ssl=context, server_hostname="engine" if context else None
    )
    with suppress(ConnectionError, ssl.SSLError):
        greeting = await asyncio.wait_for(reader.read(len(GREETING)), TIMEOUT_SECONDS)
        connection = writer.get_extra_info("ssl_object")
        writer.transport.abort()
        return greeting, connection.getpeercert(binary_form=True) if connection else None
    writer.transport.abort()
    return b"", None


def context_of(folder: Path, caller: CertificateAndKey | None, authority: Authority = AUTHORITY) -> ssl.SSLContext:
    """Return the context of a caller with this certificate, or none."""
    context = ssl.create_default_context(cadata=authority.authority.certificate.decode())
    if caller is not None:
        file = folder / "caller.pem"
        file.write_bytes(caller.certificate + caller.key)
        context.load_cert_chain(file)
    return context


async def test_only_callers_with_a_certificate_of_the_authority_are_served(tmp_path: Path) -> None:
    engine = AUTHORITY.issue("engine")
    tls = Tls(AUTHORITY.files(tmp_path / "engine", engine), lambda: int(NOW.timestamp() * 1000), CapturingLogger())
    async with listening(tls=tls) as listener:
        known = context_of(tmp_path, AUTHORITY.issue("gateway"))
        assert await greeting_at(listener.address, known) == (GREETING, der(engine.certificate))
        for stranger in (None, OTHER_AUTHORITY.issue("gateway")):
            assert (await greeting_at(listener.address, context_of(tmp_path, stranger)))[0] == b""
        assert (await greeting_at(listener.address))[0] == b""


async def test_new_connections_get_the_renewed_certificate_and_need_one_of_the_renewed_authority(
    tmp_path: Path,
) -> None:
    files = AUTHORITY.files(tmp_path / "engine", AUTHORITY.issue("engine"))
    tls = Tls(files, lambda: int(NOW.timestamp() * 1000), CapturingLogger())
    async with listening(tls=tls) as listener:
        before = context_of(tmp_path, AUTHORITY.issue("gateway"))
        assert (await greeting_at(listener.address, before))[0] == GREETING
        renewed = OTHER_AUTHORITY.issue("engine", NOW)
        replace(files, renewed)
        files.ca.write_bytes(OTHER_AUTHORITY.authority.certificate)
        for _ in range(2):
            tls.poll()
        after = context_of(tmp_path, OTHER_AUTHORITY.issue("gateway"), OTHER_AUTHORITY)
        assert await greeting_at(listener.address, after) == (GREETING, der(renewed.certificate))
        outdated = context_of(tmp_path, AUTHORITY.issue("gateway"), OTHER_AUTHORITY)
        assert (await greeting_at(listener.address, outdated))[0] == b""


def session_at(address: str, context: ssl.SSLContext, session: ssl.SSLSession | None = None) -> ssl.SSLSession | None:
    """Return the session of a new connection, which resumes another one if the port accepts that."""
    with (
        closing(socket.create_connection(host_and_port(address), TIMEOUT_SECONDS)) as plain,
        context.wrap_socket(plain, server_hostname="engine", session=session) as connection,
    ):
        assert connection.recv(len(GREETING)) == GREETING
        assert connection.session_reused == (session is not None)
        return connection.session


@pytest.mark.parametrize("version", [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3])
async def test_a_session_of_a_caller_whose_authority_is_gone_cannot_be_resumed(
    tmp_path: Path, version: ssl.TLSVersion
) -> None:
    files = AUTHORITY.files(tmp_path / "engine", AUTHORITY.issue("engine"))
    tls = Tls(files, lambda: int(NOW.timestamp() * 1000), CapturingLogger())
    async with listening(tls=tls) as listener:
        context = context_of(tmp_path, AUTHORITY.issue("gateway"))
        context.maximum_version = version
        session = await asyncio.to_thread(session_at, listener.address, context)
        session = await asyncio.to_thread(session_at, listener.address, context, session)
        files.ca.write_bytes(OTHER_AUTHORITY.authority.certificate)
        for _ in range(2):
            tls.poll()
        with pytest.raises((AssertionError, OSError)):
            await asyncio.to_thread(session_at, listener.address, context, session)


@pytest.mark.parametrize("address", ["192.0.2.1:0", "nowhere.invalid:0"])
async def test_an_address_that_cannot_be_listened_on_is_a_fault_of_the_settings(address: str) -> None:
    with pytest.raises(SettingsError, match=f"{address} cannot be listened on"):
        await listen_for_websockets(address, Greetings())


async def test_a_port_in_use_is_a_fault_of_the_settings() -> None:
    async with listening() as listener:
        with pytest.raises(SettingsError, match="is it in use"):
            await listen_for_websockets(listener.address, Greetings())


async def test_all_addresses_are_those_of_ipv6_and_ipv4() -> None:
    async with listening("[::]:0") as listener:
        port = listener.address.rpartition(":")[2]
        assert listener.address == f"[::]:{port}"
        assert (await greeting_at(f"127.0.0.1:{port}"))[0] == GREETING


async def test_a_drained_port_accepts_no_connection(tmp_path: Path) -> None:
    greetings = Greetings()
    async with listening(greetings=greetings) as listener:
        await listener.drain(7)
        assert greetings.drained == [7]
        with pytest.raises(ConnectionRefusedError):
            await greeting_at(listener.address)
