"""Internals of asyncpg that croupier uses, and TLS: a new version that fails here cannot be used yet.

The server with TLS is a fake that ends after the handshake: PostgreSQL's wheel for tests is built without TLS.
"""

import asyncio
import inspect
import ssl
import tomllib
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

import asyncpg
import pytest
from packaging.requirements import Requirement
from sqlalchemy import make_url, text

from croupier.runtime.database.database import open_database
from croupier.runtime.database.drivers import connect_postgresql
from croupier.runtime.tls.certificates import CertificateAndKey, new_authority, new_certificate
from tests.waiting import until

PROJECT = Path(__file__).parents[2] / "pyproject.toml"
SLOW_MOVE = "DO $$ BEGIN PERFORM pg_sleep(1); INSERT INTO moves VALUES (1); END $$"
COMMITS = "a commit after a timeout would be cancelled at the server, and taken for durable before its standby has it"


def test_the_version_of_the_driver_is_bounded_from_above() -> None:
    listed = map(Requirement, tomllib.loads(PROJECT.read_text())["project"]["dependencies"])
    bounds = next(each.specifier for each in listed if each.name == "asyncpg")
    assert any(bound.operator == "<" for bound in bounds), "any release of asyncpg may change its internals"
    assert version("asyncpg") in bounds


def test_asyncpg_has_what_is_overridden() -> None:
    cancel = getattr(asyncpg.Connection, "_cancel_current_command", None)
    assert cancel, f"asyncpg asks for cancellation by another method: {COMMITS}"
    assert all(each.kind is each.POSITIONAL_OR_KEYWORD for each in inspect.signature(cancel).parameters.values())
    assert "_top_xact" in asyncpg.Connection.__slots__, f"asyncpg keeps its transaction elsewhere: {COMMITS}"


@pytest.mark.postgres
async def test_a_command_goes_on_at_the_server_after_a_timeout_except_within_a_transaction(
    new_database: Callable[..., str],
) -> None:
    url = make_url(new_database())
    observer, connection = await connect_postgresql(url), await connect_postgresql(url)
    await observer.execute("CREATE TABLE moves (number int)")
    async with connection.transaction():
        with pytest.raises(TimeoutError):
            async with connection.transaction():
                await connection.execute(SLOW_MOVE, timeout=0.1)
        assert await connection.fetchval("SELECT count(*) FROM moves") == 0
    with pytest.raises(TimeoutError):
        await connection.execute(SLOW_MOVE, timeout=0.1)
    await until(connection.is_closed, "the connection is dropped")
    await until(lambda: observer.fetchval("SELECT count(*) FROM moves"), f"the move is stored: else {COMMITS}")
    await observer.close()


DAYS = 2
SSL_REQUEST_BYTES = 8


@pytest.fixture
def authority() -> CertificateAndKey:
    return new_authority("an authority", DAYS, datetime.now(UTC))


@asynccontextmanager
async def tls_server(authority: CertificateAndKey, folder: Path) -> AsyncIterator[tuple[int, list[str]]]:
    """Run a server with a certificate for localhost; yields its port, and the versions of TLS of whole handshakes."""
    issued = new_certificate(authority, ["localhost"], DAYS, datetime.now(UTC))
    (folder / "both.pem").write_bytes(issued.certificate + issued.key)
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(folder / "both.pem")
    versions: list[str] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await reader.readexactly(SSL_REQUEST_BYTES)
            writer.write(b"S")
            await writer.start_tls(context)
            # With TLS 1.3 a client refuses a certificate after the server's part: only its first message shows that
            # it did not.
            await reader.readexactly(1)
            versions.append(writer.get_extra_info("ssl_object").version())
        except (OSError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with server:
        yield server.sockets[0].getsockname()[1], versions


async def fault_of(url: str) -> BaseException:
    database = open_database(url)
    try:
        with pytest.raises(Exception) as raised:  # noqa: PT011 - the kind is what the caller compares
            await database.connections.read(lambda connection: connection.execute(text("SELECT 1")))
        return raised.value
    finally:
        await database.close()


@pytest.mark.parametrize("how", ["variables", "url"])
@pytest.mark.parametrize(
    ("host", "trusted", "is_accepted"),
    [("localhost", "own", True), ("127.0.0.1", "own", False), ("localhost", "other", False)],
    ids=["right", "another name", "another authority"],
)
async def test_only_a_server_with_a_certificate_for_its_name_is_accepted(
    authority: CertificateAndKey,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    how: str,
    host: str,
    trusted: str,
    is_accepted: bool,
) -> None:
    other = new_authority("another", DAYS, datetime.now(UTC))
    ca = tmp_path / "ca.crt"
    ca.write_bytes((authority if trusted == "own" else other).certificate)
    async with tls_server(authority, tmp_path) as (port, versions):
        url = f"postgresql://engine:password@{host}:{port}/croupier"
        if how == "url":
            url += f"?sslmode=verify-full&sslrootcert={ca}"
        else:
            monkeypatch.setenv("PGSSLMODE", "verify-full")
            monkeypatch.setenv("PGSSLROOTCERT", str(ca))
        fault = await fault_of(url)
        assert isinstance(fault, ssl.SSLCertVerificationError) is not is_accepted
        assert versions == (["TLSv1.3"] if is_accepted else [])
