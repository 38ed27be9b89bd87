"""The counts of clients' calls and failures, which distinguish services from lost connections."""

import asyncio
from collections import Counter
from functools import partial
from typing import Any

import grpc
import pytest
from google.rpc import error_details_pb2, status_pb2

from croupier_api.v1 import engine_pb2_grpc, lobby_pb2, lobby_pb2_grpc
from croupier_client import CroupierError, Endpoints, TimedOut, from_status
from croupier_client.endpoints import STREAM_SECONDS
from croupier_loadtest.measures import Measures
from croupier_loadtest.players.adversaries import SUBMIT_ACTION
from croupier_loadtest.players.client import Connections, new_clients
from croupier_loadtest.players.counting import BrokenOnPurpose, count_error, counted_call, counted_stream, service_code
from croupier_loadtest.players.user_context import count_failure
from croupier_loadtest.record import SeatRecord
from tests.client.conftest import endpoints_of
from tests.client.fake_croupier import FakeCroupier, StreamFault, StreamScript
from tests.client.fake_table import HAND
from tests.client.messages import play


def failure(code: grpc.StatusCode, reason: str = "", **metadata: str) -> CroupierError:
    """Return the error of a call that ended with this status."""
    number: int = code.value[0]
    status = status_pb2.Status(code=number, message="it did not work")
    if reason:
        info = error_details_pb2.ErrorInfo(reason=reason, domain="croupier", metadata=metadata)
        status.details.add().Pack(info)
    return from_status(status)


@pytest.mark.parametrize(
    ("code", "reason", "failures"),
    [
        (grpc.StatusCode.INTERNAL, "INTERNAL_FAULT", ["INTERNAL INTERNAL_FAULT"]),
        (grpc.StatusCode.UNAVAILABLE, "", ["UNAVAILABLE"]),
        (grpc.StatusCode.DEADLINE_EXCEEDED, "", ["DEADLINE_EXCEEDED"]),
        (grpc.StatusCode.NOT_FOUND, "", ["NOT_FOUND"]),
        (grpc.StatusCode.NOT_FOUND, "UNKNOWN_TABLE", []),
    ],
)
def test_a_failure_names_its_cause_and_a_refusal_is_none(
    code: grpc.StatusCode, reason: str, failures: list[str]
) -> None:
    measures = Measures()
    count_error(measures, failure(code, reason))
    assert list(measures.failures) == failures
    assert measures.counts[f"refused {reason}"] == (not failures)


def test_a_refusal_of_the_gateway_has_no_service_code() -> None:
    limited = partial(failure, grpc.StatusCode.RESOURCE_EXHAUSTED, "TOO_MANY_REQUESTS")
    assert service_code(limited()) == "RESOURCE_EXHAUSTED"
    assert service_code(limited(source="gateway")) is None


@pytest.mark.parametrize("counted", [counted_call, partial(counted_stream, resumed=False)])
def test_a_call_that_a_limit_refused_is_counted_by_its_name(counted: Any) -> None:
    measures = Measures()
    with pytest.raises(CroupierError), counted(measures, "/s/GetView"):
        raise failure(grpc.StatusCode.RESOURCE_EXHAUSTED, "TOO_MANY_REQUESTS", limit="network_calls")
    with pytest.raises(CroupierError), counted(measures, "/s/GetView"):
        raise failure(grpc.StatusCode.NOT_FOUND, "UNKNOWN_TABLE")
    assert {name: count for name, count in measures.counts.items() if name.startswith("limited")} == {
        "limited network_calls": 1
    }


@pytest.mark.parametrize(("seconds", "failures"), [(STREAM_SECONDS, 0), (STREAM_SECONDS / 2, 1)])
def test_a_stream_that_its_client_renews_has_not_failed(seconds: float, failures: int) -> None:
    measures, times = Measures(), iter([0.0, seconds])
    with pytest.raises(TimedOut), counted_stream(measures, "/s/PlayTable", resumed=False, clock=lambda: next(times)):
        raise failure(grpc.StatusCode.DEADLINE_EXCEEDED)
    assert measures.failures.total() == failures


BROKEN_AT = 100.0
"""When all connections were broken on purpose."""


@pytest.mark.parametrize("counted", [counted_call, partial(counted_stream, resumed=False)])
@pytest.mark.parametrize(
    ("code", "reason", "began", "ended", "is_broken"),
    [
        (grpc.StatusCode.UNAVAILABLE, "", 90, 100.1, True),
        (grpc.StatusCode.UNAVAILABLE, "", 99, 101, True),
        (grpc.StatusCode.UNAVAILABLE, "", 100.2, 100.3, True),
        (grpc.StatusCode.UNAVAILABLE, "", 100.2, 130, False),
        (grpc.StatusCode.UNAVAILABLE, "", 103, 104, False),
        (grpc.StatusCode.UNAVAILABLE, "STORE_UNAVAILABLE", 90, 100.1, False),
        (grpc.StatusCode.DEADLINE_EXCEEDED, "", 90, 100.1, False),
    ],
)
def test_a_call_that_the_load_test_broke_is_no_failure(
    counted: Any, code: grpc.StatusCode, reason: str, began: float, ended: float, is_broken: bool
) -> None:
    measures, times = Measures(), iter([began, *[ended] * 2])
    measures.broken_at = BROKEN_AT
    with pytest.raises(CroupierError) as raised, counted(measures, "/s/PlayTable", clock=lambda: next(times)):
        raise failure(code, reason)
    count_failure(measures, "playing", raised.value)
    assert (measures.counts["calls broken PlayTable"], not measures.failures) == (is_broken, is_broken)
    assert isinstance(raised.value, BrokenOnPurpose) is is_broken


def test_a_failed_call_outside_of_a_table_is_counted_and_an_internal_error_is_a_violation() -> None:
    measures = Measures()
    count_failure(measures, "being matched", failure(grpc.StatusCode.UNAVAILABLE, "TABLE_BUSY"))
    count_failure(measures, "being matched", failure(grpc.StatusCode.INTERNAL))
    batch = measures.take()
    assert list(batch["failures"]) == ["being matched: UNAVAILABLE TABLE_BUSY"]
    assert [one["invariant"] for one in batch["violations"]] == ["internal_error"]


class Lobby(lobby_pb2_grpc.LobbyServiceServicer):
    """A lobby that signs everyone in."""

    async def SignIn(self, _request: Any, _context: Any) -> lobby_pb2.SignInResponse:
        return lobby_pb2.SignInResponse(tokens=lobby_pb2.Tokens(access_token="a token"))


class Engine(engine_pb2_grpc.EngineServiceServicer):
    """An engine that never answers an action."""

    def __init__(self) -> None:
        self.asked = asyncio.Event()

    async def SubmitAction(self, _request: Any, _context: Any) -> Any:
        self.asked.set()
        await asyncio.Event().wait()


async def test_a_call_whose_player_is_stopped_is_unanswered() -> None:
    """The services count it too."""
    server, engine, measures = grpc.aio.server(), Engine(), Measures()  # type: ignore[abstract]
    lobby_pb2_grpc.add_LobbyServiceServicer_to_server(Lobby(), server)  # type: ignore[abstract]
    engine_pb2_grpc.add_EngineServiceServicer_to_server(engine, server)
    connections = Connections(Endpoints.single(f"127.0.0.1:{server.add_insecure_port('127.0.0.1:0')}"), 1)
    await server.start()
    client = new_clients(connections, 1)("a player", measures, asyncio.sleep)
    async with asyncio.timeout(60):
        sending = asyncio.create_task(client.send_bytes(SUBMIT_ACTION, b""))
        await engine.asked.wait()
        sending.cancel()
        await asyncio.wait({sending})
    await connections.close()
    await server.stop(0)
    assert measures.counts["unanswered rpc SubmitAction"] == 1


@pytest.mark.parametrize(("transport", "watching"), [("grpc", "WatchTable"), ("websocket", "PlayTable")])
async def test_streams_are_counted_by_the_method_that_the_services_count(transport: str, watching: str) -> None:
    with FakeCroupier() as fake:
        measures, connections = Measures(), Connections(endpoints_of(fake), 1, transport)
        client = new_clients(connections, 1)("a player", measures, asyncio.sleep)
        async with asyncio.timeout(60):
            async with client.watched_table("t1", SeatRecord("p")), client.recorded_table("t1", SeatRecord("p")):
                pass
            fake.scripts.append(StreamScript(StreamFault.DROP))
            async with client.recorded_table("t1", SeatRecord("p")) as table:
                await table.submit_action(play(HAND[0]))
        await connections.close()
    opened = Counter({"PlayTable": 3}) + Counter({watching: 1})
    assert {method: measures.counts[f"streams opened {method}"] for method in opened} == opened
    assert measures.counts["streams resumed"] == 1
