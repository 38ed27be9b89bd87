"""The check of services before a load test."""

import asyncio
from types import SimpleNamespace
from typing import Any

import grpc
import pytest

from croupier_api.v1 import games_pb2, lobby_pb2
from croupier_client import CroupierError, Endpoints, NotFound
from loadtest.judge.rules.registry import RULES_VERSION
from loadtest.measures import Measures
from loadtest.mix import read_mix
from loadtest.players.client import Connections, new_clients
from loadtest.process import standings
from loadtest.process.standings import NO_ANSWER, backend_fault

NO_TABLE = NotFound(grpc.StatusCode.NOT_FOUND, "there is no such table")
OTHER_PROGRAM = CroupierError(grpc.StatusCode.UNIMPLEMENTED, "there is no such method")
REFUSED = CroupierError(grpc.StatusCode.UNAUTHENTICATED, "no access")
SOLO = {"solo": RULES_VERSION}


def fake_client(offered: dict[str, int], engine: CroupierError = NO_TABLE, scoring: CroupierError = NO_TABLE) -> Any:
    """Return a client of services that offer versions of games, and that raise these errors for a table."""

    async def sign_in() -> None:
        return

    async def list_games() -> lobby_pb2.ListGamesResponse:
        games = [games_pb2.GameDescription(game=name, rules_version=version) for name, version in offered.items()]
        return lobby_pb2.ListGamesResponse(games=games)

    def refusing(error: CroupierError) -> Any:
        async def refused(table_id: str) -> None:
            raise error

        return refused

    return SimpleNamespace(
        sign_in=sign_in, list_games=list_games, get_view=refusing(engine), get_score_sheet=refusing(scoring)
    )


@pytest.mark.parametrize(
    ("client", "fault"),
    [
        (fake_client(SOLO), ""),
        (fake_client({}), "the lobby does not offer solo: remove it from --mix"),
        (fake_client({"solo": 2}), "the engine plays version 2 of solo, the judge knows version 1"),
        (fake_client(SOLO, engine=OTHER_PROGRAM), "the engine does not serve croupier_api.v1"),
        (fake_client(SOLO, scoring=REFUSED), "the scoring does not serve: no access"),
    ],
)
async def test_the_fault_of_services_is_one_line(client: Any, fault: str) -> None:
    found = await backend_fault(client, read_mix("solo"))
    assert found.startswith(fault)
    assert bool(found) == bool(fault)


async def test_a_server_without_the_services_is_refused() -> None:
    server = grpc.aio.server()
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    connections = Connections(Endpoints.single(f"127.0.0.1:{port}"), 1)
    client = new_clients(connections, 1)("another", Measures(), asyncio.sleep)
    try:
        assert (await backend_fault(client, ())).startswith("the lobby does not serve croupier_api.v1")
    finally:
        await connections.close()
        await server.stop(0)


async def test_services_that_do_not_answer_time_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(standings, "ANSWER_SECONDS", 0)
    client = SimpleNamespace(sign_in=asyncio.Event().wait)
    assert await backend_fault(client, ()) == NO_ANSWER  # type: ignore[arg-type]
