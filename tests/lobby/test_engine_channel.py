"""The lobby's channel to engines: their refusals, the log of an outage, and engines that do not know the key."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path

import grpc
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from croupier.lobby import __main__ as lobby
from croupier.lobby.__main__ import check_keys
from croupier.lobby.api.engine_channel import EngineChannel
from croupier.lobby.settings import LobbySettings
from croupier.lobby.tables.table_opener import TableOpener
from croupier.lobby.tables.table_updater import TableUpdater
from croupier.runtime.errors import LimitReached, NotFound, ServiceError, Unavailable
from croupier.runtime.identity.tokens import ENGINE_CONTROL_AUDIENCE, TokenIssuer, TokenVerifier
from croupier.runtime.observation.outage_log import QUIET_NANOSECONDS, OutageLog
from croupier.runtime.server.program import SettingsError
from croupier.runtime.server.tasks import end_tasks
from croupier_api.v1 import errors_pb2
from croupier_internal.v1.engine_control_pb2_grpc import add_EngineControlServiceServicer_to_server
from tests.engine.fakes import RecordingLogger
from tests.lobby.fakes import ENGINE_UNAVAILABLE, FakeClock, FakeEngine, FakeEngineServicer
from tests.ports import reserved_port
from tests.serving import serving
from tests.waiting import TIMEOUT_SECONDS, until

KEY, OTHER_KEY = Ed25519PrivateKey.generate(), Ed25519PrivateKey.generate()
ISSUER = TokenIssuer(KEY, ENGINE_CONTROL_AUDIENCE, 60, FakeClock())


@asynccontextmanager
async def served(engine: FakeEngine, key: Ed25519PrivateKey = KEY, port: int = 0) -> AsyncIterator[str]:
    """Serve an engine that knows a lobby by this key, and yield its address."""
    verifier = TokenVerifier(key.public_key(), ENGINE_CONTROL_AUDIENCE, FakeClock())
    add = partial(add_EngineControlServiceServicer_to_server, FakeEngineServicer(engine))
    async with serving(add, verifier, port=port) as address:
        yield address


def quick_channel(address: str, *_: object) -> grpc.aio.Channel:
    """Return a channel whose calls fail at once if nobody listens, and that soon connects to who does."""
    return grpc.aio.insecure_channel(address, [("grpc.max_reconnect_backoff_ms", 100)])


class Lobby:
    """The lobby's channel to an engine at a port, its log, and a clock."""

    def __init__(self, channel: grpc.aio.Channel) -> None:
        self.now, self.logger = 0, RecordingLogger()
        self.engine = EngineChannel(channel, ISSUER, 5, OutageLog("the engine", self.logger, lambda: self.now))
        updater = TableUpdater(None, None, self.engine, FakeClock())  # type: ignore[arg-type]
        self.opener = TableOpener(updater, None, self.engine, self.logger)  # type: ignore[arg-type]

    async def is_reachable(self) -> bool:
        try:
            await self.engine.describe_games()
        except Unavailable:
            return False
        return True

    async def has_recovered(self) -> bool:
        return await self.is_reachable() and bool(self.logger.events("info"))


async def test_an_outage_of_the_engine_is_logged_once(engine: FakeEngine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("croupier.lobby.tables.table_opener.RETRY_SECONDS", 0.01)
    with reserved_port() as port:
        async with quick_channel(f"127.0.0.1:{port}") as channel:
            lobby = Lobby(channel)
            following = asyncio.create_task(lobby.opener.follow_ends())
            for _ in range(50):
                assert not await lobby.is_reachable()
            async with served(engine, port=port):
                await until(lobby.is_reachable)
                lobby.now += QUIET_NANOSECONDS
                await until(lobby.has_recovered)
                # Before the engine stops.
                await end_tasks([following])
    (begun, *_), ended = lobby.logger.lines, lobby.logger.lines[-1]
    assert begun[:2] == ("warning", "calls to the engine fail")
    assert "UNAVAILABLE: " in begun[2]["reason"]
    assert ended[:2] == ("info", "calls to the engine succeed again")
    # The library may give a few reasons, but none twice.
    reasons = [fields["reason"] for level, _, fields in lobby.logger.lines if level == "warning"]
    assert len(reasons) == len(set(reasons)) < 5
    assert lobby.logger.events("error") == []


REFUSALS = (
    NotFound(errors_pb2.ERROR_REASON_UNKNOWN_TABLE, "unknown table"),
    LimitReached(errors_pb2.ERROR_REASON_TOO_MANY_TABLES, "full", retry_after_seconds=3),
    Unavailable(errors_pb2.ERROR_REASON_STORE_UNAVAILABLE, "away", retry_after_seconds=0.5),
)


@pytest.mark.parametrize(
    ("failure", "expected"),
    [*((refusal, refusal) for refusal in REFUSALS), (RuntimeError("a secret inside"), ENGINE_UNAVAILABLE)],
    ids=["not found", "limit", "unavailable", "a fault"],
)
async def test_a_refusal_that_concerns_the_player_keeps_its_details_and_is_no_outage(
    engine: FakeEngine, failure: ServiceError, expected: ServiceError
) -> None:
    engine.failure = failure
    async with served(engine) as address, grpc.aio.insecure_channel(address) as channel:
        lobby = Lobby(channel)
        with pytest.raises(type(expected)) as raised:
            await lobby.engine.describe_games()
    for name in ("reason_name", "message", "retry_after_seconds"):
        assert getattr(raised.value, name) == getattr(expected, name)
    assert bool(lobby.logger.lines) is isinstance(expected, Unavailable)


async def checked(*engines: str, logger: RecordingLogger | None = None) -> None:
    settings = LobbySettings(database="", signing_key=Path("own.pem"), engine_control=",".join(engines))
    async with asyncio.timeout(TIMEOUT_SECONDS):
        await check_keys(settings, ISSUER, None, OutageLog("the engine", logger or RecordingLogger(), lambda: 0))


@pytest.mark.parametrize("is_late", [False, True])
@pytest.mark.parametrize("is_known", [True, False])
async def test_an_engine_that_does_not_know_the_key_is_reported_also_if_it_starts_later(
    engine: FakeEngine, monkeypatch: pytest.MonkeyPatch, is_late: bool, is_known: bool
) -> None:
    monkeypatch.setattr(lobby, "KEY_RETRY_SECONDS", 0.01)
    monkeypatch.setattr(lobby, "open_channel", quick_channel)
    logger = RecordingLogger()
    with reserved_port() as port:
        async with served(engine) as right:
            checking = asyncio.create_task(checked(right, f"127.0.0.1:{port}", logger=logger))
            if is_late:
                await until(lambda: logger.lines)
            async with served(engine, KEY if is_known else OTHER_KEY, port):
                if is_known:
                    await checking
                    return
                message = rf"the engine at 127.0.0.1:{port} does not .* of own.pem as --lobby-public-key"
                with pytest.raises(SettingsError, match=message):
                    await checking


async def test_a_refusal_of_the_key_is_reported_before_the_lobby_waits_for_another_engine(
    engine: FakeEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lobby, "KEY_RETRY_SECONDS", 2 * TIMEOUT_SECONDS)
    monkeypatch.setattr(lobby, "open_channel", quick_channel)
    engine.failure = ENGINE_UNAVAILABLE
    async with served(engine) as away, served(engine, OTHER_KEY) as other:
        with pytest.raises(SettingsError, match=f"the engine at {other} does not"):
            await checked(away, other)
