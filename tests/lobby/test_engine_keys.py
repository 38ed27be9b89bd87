"""A lobby notices at its start that an engine does not know its key, even if the engine starts later."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path

import pytest
import structlog
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from croupier.lobby import __main__ as lobby
from croupier.lobby.__main__ import check_keys
from croupier.lobby.settings import LobbySettings
from croupier.runtime.identity.tokens import ENGINE_CONTROL_AUDIENCE, TokenIssuer, TokenVerifier
from croupier.runtime.observation.outage_log import OutageLog
from croupier.runtime.server.program import SettingsError
from croupier_internal.v1.engine_control_pb2_grpc import add_EngineControlServiceServicer_to_server
from tests.lobby.fakes import FakeClock, FakeEngine, FakeEngineServicer
from tests.ports import reserved_port
from tests.serving import serving
from tests.waiting import TIMEOUT_SECONDS

KEY, OTHER_KEY = Ed25519PrivateKey.generate(), Ed25519PrivateKey.generate()
CLOCK = FakeClock()


@asynccontextmanager
async def engine(key: Ed25519PrivateKey, port: int = 0) -> AsyncIterator[str]:
    """Serve an engine that knows a lobby by this key, and yield its address."""
    service = FakeEngineServicer(FakeEngine())
    verifier = TokenVerifier(key.public_key(), ENGINE_CONTROL_AUDIENCE, CLOCK)
    add = partial(add_EngineControlServiceServicer_to_server, service)
    async with serving(add, verifier, port=port) as address:
        yield address


async def checked(*engines: str) -> None:
    """Check the key at engines."""
    settings = LobbySettings(database="", signing_key=Path("own.pem"), engine_control=",".join(engines))
    issuer = TokenIssuer(KEY, ENGINE_CONTROL_AUDIENCE, 60, CLOCK)
    async with asyncio.timeout(TIMEOUT_SECONDS):
        await check_keys(settings, issuer, None, OutageLog("the engine", structlog.get_logger(), lambda: 0))


async def test_engines_that_know_the_key_are_accepted() -> None:
    async with engine(KEY) as one, engine(KEY) as other:
        await checked(one, other)


async def test_an_engine_that_does_not_know_the_key_is_reported() -> None:
    async with engine(KEY) as right, engine(OTHER_KEY) as wrong:
        with pytest.raises(SettingsError, match=rf"the engine at {wrong} does not .* of own.pem as --lobby-public-key"):
            await checked(right, wrong)


@pytest.fixture
def late_port(monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    """Return the port of an engine that starts later than the lobby."""
    monkeypatch.setattr(lobby, "KEY_RETRY_SECONDS", 0.01)
    with reserved_port() as port:
        yield port


async def not_yet_checked(*engines: str) -> asyncio.Task[None]:
    """Start to check the key at engines of which one is not running yet."""
    checking = asyncio.create_task(checked(*engines))
    done, _ = await asyncio.wait([checking], timeout=0.2)
    assert not done
    return checking


async def test_an_engine_that_starts_later_and_knows_the_key_is_accepted(late_port: int) -> None:
    checking = await not_yet_checked(f"127.0.0.1:{late_port}")
    async with engine(KEY, late_port):
        await checking


async def test_an_engine_that_starts_later_and_does_not_know_the_key_is_reported(late_port: int) -> None:
    async with engine(KEY) as right:
        checking = await not_yet_checked(right, f"127.0.0.1:{late_port}")
        async with engine(OTHER_KEY, late_port):
            with pytest.raises(SettingsError, match="does not accept this lobby's key"):
                await checking
