"""No call of scoring keeps the event loop for long, with a sheet of a thousand rounds and hundreds of results."""

from collections.abc import AsyncIterator
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from google.protobuf.message import Message
from prometheus_client import CollectorRegistry
from sqlalchemy import insert, select

from croupier.runtime.database.database import open_database
from croupier.runtime.identity.links import LinkVerifier
from croupier.runtime.server.service import now_milliseconds
from croupier.scoring.ledger import Ledger
from croupier.scoring.schema import ROUNDS
from croupier.scoring.servicer import ScoringControlServicer, ScoringServicer, entries_counter
from croupier.scoring.standings_store import StandingsStore
from croupier_api.v1 import facts_pb2
from croupier_api.v1 import scoring_pb2 as pb
from croupier_internal.v1 import scoring_control_pb2 as control_pb
from tests.calls import call_of
from tests.contract.deployment import person
from tests.databases import execute
from tests.loop_steps import MAX_STEP_SECONDS, longest_step, serialized
from tests.scoring.deployment import PUBLIC, result_entry, round_entry

ROUNDS_OF_SHEET = 1_000
RESULTS = 110
SEATS = tuple(person(f"player{seat}") for seat in range(7))
RANKING = ((0, 1), (2,), (3,), (4,), (5,), (6,))
PLAYERS = pb.DESCRIPTOR.services_by_name["ScoringService"].methods
CONTROL = control_pb.DESCRIPTOR.services_by_name["ScoringControlService"].methods


def long_round(table_id: str, number: int) -> control_pb.RecordRoundRequest:
    """Return a round with the most details and counts that a game has, and a note for each seat."""
    entry = round_entry(table_id, number, SEATS)
    entry.score.details.extend(
        facts_pb2.Mark(name=f"detail_{name}", value=facts_pb2.Value(word="a_value")) for name in range(8)
    )
    counts = [facts_pb2.SeatCount(name=f"count_{name}", seat=name % 7, amount=1) for name in range(16)]
    entry.score.counts.extend(counts)
    return entry


def long_result(table_id: str) -> control_pb.RecordResultRequest:
    result = result_entry(table_id, ranking=RANKING, seats=SEATS)
    return control_pb.RecordResultRequest(result=result, access=PUBLIC)


@pytest.fixture
async def servicers(database_file: Path) -> AsyncIterator[tuple[ScoringServicer, ScoringControlServicer]]:
    """Return servicers over a full ledger."""
    database = open_database(f"sqlite:///{database_file}")
    ledger = Ledger(database, now_milliseconds)
    links = LinkVerifier(Ed25519PrivateKey.generate().public_key(), now_milliseconds)
    control = ScoringControlServicer(ledger, entries_counter(CollectorRegistry()))
    context: Any = None
    await control.RecordRound(long_round("long", 1), context)
    for number in range(RESULTS):
        await control.RecordResult(long_result(f"t{number}"), context)
    (first,) = await execute(database, select(ROUNDS))
    columns = dict(zip(ROUNDS.c.keys(), first, strict=True))
    rows = [columns | {"round": number} for number in range(2, ROUNDS_OF_SHEET + 1)]
    await execute(database, insert(ROUNDS), rows)
    yield ScoringServicer(ledger, StandingsStore(database), links, now_milliseconds, ()), control
    await database.close()


def request_of(method: str, number: int) -> Message:
    """Return a request of a method; those that record something do so at a new table."""
    requests: dict[str, Message] = {
        "GetScoreSheet": pb.GetScoreSheetRequest(table_id="long"),
        "GetPlayerStatistics": pb.GetPlayerStatisticsRequest(player_id="player0"),
        "GetLeaderboard": pb.GetLeaderboardRequest(game="jossing", page_size=100),
        "ListResults": pb.ListResultsRequest(page_size=100),
        "RecordRound": long_round(f"new{number}", 1),
        "RecordResult": long_result(f"new{number}"),
        "RemovePlayerName": control_pb.RemovePlayerNameRequest(player_id="player0"),
        "CheckAccess": control_pb.CheckAccessRequest(),
    }
    return requests[method]


@pytest.mark.parametrize("method", [method.name for method in (*PLAYERS, *CONTROL)])
async def test_a_call_takes_short_steps(servicers: tuple[ScoringServicer, ScoringControlServicer], method: str) -> None:
    servicer = next(one for one in servicers if hasattr(one, method))
    numbers = count()

    async def call() -> None:
        await serialized(getattr(servicer, method)(request_of(method, next(numbers)), call_of("player0")))

    assert await longest_step(call) < MAX_STEP_SECONDS
