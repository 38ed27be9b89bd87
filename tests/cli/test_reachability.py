"""The reasons why no gateway answers at the address that a command names."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import grpc
import pytest

import croupier.cli.services as reach
from croupier.cli.faults import CommandFault
from croupier.cli.services import gateway, signed_in_client
from croupier_client.endpoints import Endpoints, Tls
from tests.certificates import Authority
from tests.ports import reserved_port

AUTHORITY = Authority()
TRUSTED = Tls(AUTHORITY.authority.certificate)


@asynccontextmanager
async def server_without_lobby(*, has_tls: bool) -> AsyncIterator[str]:
    """Run a server without any service; yields its address."""
    server, issued = grpc.aio.server(), AUTHORITY.issue("a service")
    if has_tls:
        credentials = grpc.ssl_server_credentials([(issued.key, issued.certificate)])
        port = server.add_secure_port("127.0.0.1:0", credentials)
    else:
        port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    try:
        yield f"127.0.0.1:{port}"
    finally:
        await server.stop(0)


async def fault_of(endpoints: Endpoints) -> str:
    with pytest.raises(CommandFault) as refused:
        async with signed_in_client(endpoints, "a device of this test", ""):
            pass
    return refused.value.message


@pytest.mark.parametrize(
    ("has_tls", "tls", "message"),
    [
        (True, None, "needs TLS: add --tls, or --ca-file with the certificate of its authority"),
        (False, TRUSTED, "has no TLS: leave --tls and --ca-file out"),
        (True, Tls(Authority().authority.certificate), "is --ca-file the authority of its certificate?"),
        (False, None, "is the address of one service: use that of the gateway"),
        (True, TRUSTED, "is the address of one service: use that of the gateway"),
    ],
    ids=["TLS is missing", "TLS at a plain port", "another authority", "a service", "a service with TLS"],
)
async def test_the_reason_is_named(
    monkeypatch: pytest.MonkeyPatch, has_tls: bool, tls: Tls | None, message: str
) -> None:
    monkeypatch.setattr(reach, "SIGN_IN_SECONDS", 1.0)
    async with server_without_lobby(has_tls=has_tls) as address:
        fault = await fault_of(gateway(address, tls))
    assert address in fault
    assert message in fault


async def test_an_address_without_a_server_and_the_proxy_to_it_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reach, "SIGN_IN_SECONDS", 0.5)
    with reserved_port() as nobody:
        assert await fault_of(gateway(f"127.0.0.1:{nobody}")) == f"no services answer at 127.0.0.1:{nobody}"
        monkeypatch.delenv("no_proxy", raising=False)
        monkeypatch.setenv("grpc_proxy", f"http://ada:secret@127.0.0.1:{nobody}")
        message = await fault_of(gateway("play.example:443", TRUSTED))
    assert f"by way of 127.0.0.1:{nobody}, the proxy" in message
    assert "secret" not in message


def test_another_machine_than_this_one_needs_tls_or_the_consent_of_the_person() -> None:
    for server in ("play.example:7700", "192.0.2.7:7700", "[2001:db8::1]:7700"):
        with pytest.raises(CommandFault, match="is another machine, and without TLS"):
            gateway(server)
        assert gateway(server, insecure=True).tls is None
        assert gateway(server, TRUSTED).tls is TRUSTED
    for server in ("127.0.0.1:7700", "localhost:7700", "[::1]:7700"):
        assert gateway(server).lobby == server
