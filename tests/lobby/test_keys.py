"""A lobby whose key an engine does not know finds that out, also when the engine answers late."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path

import pytest
import structlog
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from croupier.lobby import engine_keys
from croupier.lobby.engine_keys import check_keys
from croupier.lobby.settings import LobbySettings
from croupier.runtime.identity import ENGINE_CONTROL_AUDIENCE, TokenIssuer, TokenVerifier
from croupier.runtime.service import asking, until_stopped_or_refused
from croupier_api.v1 import engine_pb2_grpc
from tests.lobby.fakes import FakeClock, FakeEngine, FakeEngineServicer
from tests.ports import reserved_port
from tests.serving import serving
from tests.waiting import PATIENCE_SECONDS

KEY, OTHER_KEY = Ed25519PrivateKey.generate(), Ed25519PrivateKey.generate()
CLOCK = FakeClock()


@asynccontextmanager
async def engine(key: Ed25519PrivateKey, port: int = 0) -> AsyncIterator[str]:
    """An engine that knows a lobby by this key, and where it listens."""
    service = FakeEngineServicer(FakeEngine())
    verifier = TokenVerifier(key.public_key(), ENGINE_CONTROL_AUDIENCE, CLOCK)
    add = partial(engine_pb2_grpc.add_EngineControlServiceServicer_to_server, service)
    async with serving(add, verifier, port=port) as address:
        yield address


async def checked(*engines: str) -> None:
    """Check the key at engines."""
    settings = LobbySettings(database="", signing_key=Path("own.pem"), engine_control=",".join(engines))
    issuer = TokenIssuer(KEY, ENGINE_CONTROL_AUDIENCE, 60, CLOCK)
    async with asyncio.timeout(PATIENCE_SECONDS):
        await check_keys(settings, issuer, None, structlog.get_logger())


async def test_engines_that_know_the_key() -> None:
    async with engine(KEY) as one, engine(KEY) as other:
        await checked(one, other)


async def test_a_key_that_one_of_the_engines_does_not_know() -> None:
    async with engine(KEY) as right, engine(OTHER_KEY) as wrong:
        with pytest.raises(ValueError, match=rf"the engine at {wrong} does not .* of own.pem as --lobby-public-key"):
            await checked(right, wrong)


@pytest.fixture
def late(monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    """The port of an engine that comes later than the lobby."""
    monkeypatch.setattr(engine_keys, "PAUSE_SECONDS", 0.01)
    with reserved_port() as port:
        yield port


async def test_an_engine_that_knows_the_key_and_comes_later(late: int) -> None:
    async with asking(checked(f"127.0.0.1:{late}")) as task, engine(KEY, late):
        await task


async def test_an_engine_that_does_not_know_the_key_and_comes_later_than_another(late: int) -> None:
    async with asyncio.timeout(PATIENCE_SECONDS), engine(KEY) as right:
        with pytest.raises(ValueError, match="does not take this lobby's key"):
            async with asking(checked(right, f"127.0.0.1:{late}")) as task, engine(OTHER_KEY, late):
                await until_stopped_or_refused(task)
