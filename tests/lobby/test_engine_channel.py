"""While no engine answers, the lobby logs each reason once, and the end of the outage."""

import asyncio
from functools import partial

import grpc
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from croupier.lobby.api.engine_channel import EngineChannel
from croupier.lobby.tables.table_opener import TableOpener
from croupier.lobby.tables.table_updater import TableUpdater
from croupier.runtime.errors import NotFound, Unavailable
from croupier.runtime.identity.tokens import ENGINE_CONTROL_AUDIENCE, TokenIssuer, TokenVerifier
from croupier.runtime.observation.outage_log import QUIET_NANOSECONDS, OutageLog
from croupier_api.v1 import errors_pb2
from croupier_internal.v1.engine_control_pb2_grpc import add_EngineControlServiceServicer_to_server
from tests.engine.fakes import RecordingLogger
from tests.lobby.fakes import FakeClock, FakeEngine, FakeEngineServicer
from tests.ports import reserved_port
from tests.serving import serving
from tests.waiting import TIMEOUT_SECONDS, until

KEY = Ed25519PrivateKey.generate()


class Lobby:
    """The lobby's channel to an engine at a port, its log, and a clock."""

    def __init__(self, channel: grpc.aio.Channel) -> None:
        self.now, self.logger, clock = 0, RecordingLogger(), FakeClock()
        issuer = TokenIssuer(KEY, ENGINE_CONTROL_AUDIENCE, 60, clock)
        self.engine = EngineChannel(channel, issuer, 5, OutageLog("the engine", self.logger, lambda: self.now))
        updater = TableUpdater(None, None, self.engine, clock)  # type: ignore[arg-type]
        self.opener = TableOpener(updater, None, self.engine, self.logger)  # type: ignore[arg-type]

    async def is_reachable(self) -> bool:
        try:
            await self.engine.describe_games()
        except Unavailable:
            return False
        return True

    async def has_recovered(self) -> bool:
        return await self.is_reachable() and bool(self.logger.events("info"))


async def test_an_outage_of_the_engine_is_logged_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("croupier.lobby.tables.table_opener.RETRY_SECONDS", 0.01)
    verifier = TokenVerifier(KEY.public_key(), ENGINE_CONTROL_AUDIENCE, FakeClock())
    add = partial(add_EngineControlServiceServicer_to_server, FakeEngineServicer(FakeEngine()))
    with reserved_port() as port:
        options = [("grpc.max_reconnect_backoff_ms", 100)]
        async with grpc.aio.insecure_channel(f"127.0.0.1:{port}", options) as channel:
            lobby = Lobby(channel)
            following = asyncio.create_task(lobby.opener.follow_ends())
            for _ in range(50):
                assert not await lobby.is_reachable()
            async with serving(add, verifier, port=port):
                await until(lobby.is_reachable)
                lobby.now += QUIET_NANOSECONDS
                await until(lobby.has_recovered)
                # Before the engine stops.
                following.cancel()
                await asyncio.wait([following], timeout=TIMEOUT_SECONDS)
    (begun, *_), ended = lobby.logger.lines, lobby.logger.lines[-1]
    assert begun[:2] == ("warning", "calls to the engine fail")
    assert "UNAVAILABLE: " in begun[2]["reason"]
    assert ended[:2] == ("info", "calls to the engine succeed again")
    # The library may give a few reasons, but none twice.
    reasons = [fields["reason"] for level, _, fields in lobby.logger.lines if level == "warning"]
    assert len(reasons) == len(set(reasons)) < 5
    assert lobby.logger.events("error") == []


async def test_a_refusal_that_concerns_the_player_is_no_outage() -> None:
    verifier = TokenVerifier(KEY.public_key(), ENGINE_CONTROL_AUDIENCE, FakeClock())
    engine = FakeEngine()
    engine.failure = NotFound(errors_pb2.ERROR_REASON_UNKNOWN_TABLE, "unknown table")
    add = partial(add_EngineControlServiceServicer_to_server, FakeEngineServicer(engine))
    async with serving(add, verifier) as address, grpc.aio.insecure_channel(address) as channel:
        lobby = Lobby(channel)
        with pytest.raises(NotFound):
            await lobby.engine.describe_games()
    assert lobby.logger.lines == []
