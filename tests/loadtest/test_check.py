"""Which services can be put under load: what is asked of them first, and the line that says why they cannot be."""

import asyncio
from types import SimpleNamespace
from typing import Any

import grpc
import pytest

from croupier_api.v1 import engine_pb2, lobby_pb2
from croupier_client import CroupierError, Endpoints
from croupier_client.errors import make_error
from loadtest.judge.rules.catalogue import RULES_VERSION
from loadtest.measures import Measures
from loadtest.mix import read_mix
from loadtest.players.client import Connections, new_clients
from loadtest.process import check
from loadtest.process.check import NO_ANSWER, backend_fault

NO_TABLE = make_error(grpc.StatusCode.NOT_FOUND, "there is no such table", reason="UNKNOWN_TABLE")
OTHER_PROGRAM = make_error(grpc.StatusCode.UNIMPLEMENTED, "there is no such method")
REFUSED = make_error(grpc.StatusCode.UNAUTHENTICATED, "whoever you are")
SOLO = {"solo": RULES_VERSION}


def house(offered: dict[str, int], engine: CroupierError = NO_TABLE, scoring: CroupierError = NO_TABLE) -> Any:
    """The client of services that offer versions of games, and answer so when they are asked for a table."""

    async def sign_in() -> None:
        return

    async def list_games() -> lobby_pb2.ListGamesResponse:
        games = [engine_pb2.GameDescription(game=name, rules_version=version) for name, version in offered.items()]
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
        (house(SOLO), ""),
        (house({}), "the lobby does not offer solo: leave it out of --mix"),
        (house({"solo": 2}), "the engine plays version 2 of solo, the judge knows version 1"),
        (house(SOLO, engine=OTHER_PROGRAM), "the engine does not speak croupier_api.v1"),
        (house(SOLO, scoring=REFUSED), "the scoring does not serve: whoever you are"),
    ],
)
async def test_one_line_says_why_services_cannot_be_tested(client: Any, fault: str) -> None:
    found = await backend_fault(client, read_mix("solo"))
    assert found.startswith(fault)
    assert bool(found) == bool(fault)


async def test_a_server_that_speaks_something_else_is_no_backend() -> None:
    server = grpc.aio.server()
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    connections = Connections(Endpoints.single(f"127.0.0.1:{port}"), 1)
    client = new_clients(connections, 1)("somebody", Measures(), asyncio.sleep)
    try:
        assert (await backend_fault(client, ())).startswith("the lobby does not speak croupier_api.v1")
    finally:
        await connections.close()
        await server.stop(0)


async def test_services_that_do_not_answer_are_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(check, "ANSWER_SECONDS", 0)
    client = SimpleNamespace(sign_in=asyncio.Event().wait)
    assert await backend_fault(client, ()) == NO_ANSWER  # type: ignore[arg-type]
