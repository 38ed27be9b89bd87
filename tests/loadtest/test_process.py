"""The load process: the check of services, the queue of the judge, and an end in time."""

import asyncio
import json
import pickle
import zlib
from random import Random
from types import SimpleNamespace
from typing import Any

import grpc
import pytest

from croupier_api.v1 import actions_pb2, engine_pb2, games_pb2, lobby_pb2
from croupier_client import CroupierError, NotFound
from croupier_loadtest.installed import chosen_games
from croupier_loadtest.judge.violations import Invariant
from croupier_loadtest.measures import RULES_NOT_JUDGED, Measures
from croupier_loadtest.players.user_context import LoadSettings
from croupier_loadtest.process import standings
from croupier_loadtest.process.judge_queue import JudgeQueue, judge_packed, transcript_of
from croupier_loadtest.process.load import Load
from croupier_loadtest.process.standings import NO_ANSWER, UnfitServices, offered_games
from croupier_loadtest.record import Answered, Received, ReportedViolation, SeatRecord, Sent, TableRecord
from croupier_loadtest.scenarios import SCENARIOS, Behaviour

NO_TABLE = NotFound(grpc.StatusCode.NOT_FOUND, "there is no such table")
OTHER_PROGRAM = CroupierError(grpc.StatusCode.UNIMPLEMENTED, "there is no such method")
REFUSED = CroupierError(grpc.StatusCode.UNAUTHENTICATED, "no access")
SOLO = {"solo": 1}
STANDING = games_pb2.Standing(outcomes=["escaped", "buck"])


def fake_client(offered: dict[str, int], engine: CroupierError = NO_TABLE, scoring: CroupierError = NO_TABLE) -> Any:
    """Return a client of services that offer versions of games, and that raise these errors for a table."""

    async def sign_in() -> None:
        return

    async def list_games() -> lobby_pb2.ListGamesResponse:
        games = [
            games_pb2.GameDescription(game=name, rules_version=version, standing=STANDING)
            for name, version in offered.items()
        ]
        return lobby_pb2.ListGamesResponse(games=games)

    async def get_rules(game: str) -> engine_pb2.GetRulesResponse:
        return engine_pb2.GetRulesResponse(markdown=f'<a id="{game.upper()}-BID-1"></a>**{game.upper()}-BID-1**')

    def refusing(error: CroupierError) -> Any:
        async def refused(table_id: str) -> None:
            raise error

        return refused

    return SimpleNamespace(
        sign_in=sign_in,
        list_games=list_games,
        get_rules=get_rules,
        get_view=refusing(engine),
        get_score_sheet=refusing(scoring),
    )


@pytest.mark.parametrize(
    ("client", "fault"),
    [
        (fake_client({}), "the lobby does not offer solo: remove it from --mix"),
        (fake_client(SOLO, engine=OTHER_PROGRAM), "the engine does not serve croupier_api.v1"),
        (fake_client(SOLO, scoring=REFUSED), "the scoring does not serve: no access"),
    ],
)
async def test_the_fault_of_services_is_one_line(client: Any, fault: str) -> None:
    with pytest.raises(UnfitServices, match=f"^{fault}[^\n]*$"):
        await offered_games(client, chosen_games("solo"))


@pytest.mark.parametrize("version", [1, 2])
async def test_games_whose_rules_no_judge_knows_are_counted(version: int) -> None:
    games = chosen_games("solo")
    load = Load(LoadSettings(SCENARIOS["smoke"], games, seed=1), lambda *_: pytest.fail("a guest"), nothing, Measures())
    load.begin(await offered_games(fake_client({"solo": version}), games))
    assert load.measures.counts == ({f"{RULES_NOT_JUDGED}solo": 1} if version == 2 else {})
    load.tables.add_viewer(TableRecord("t", "solo", 4), "p", Behaviour.STEADY)
    (record,) = load.tables.running()
    assert (record.described.rules_version, record.described.rules) == (version, frozenset({"SOLO-BID-1"}))
    assert (record.described.standing.better, record.described.standing.worse) == ("escaped", "buck")


async def test_services_that_do_not_answer_time_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(standings, "ANSWER_SECONDS", 0)
    client = SimpleNamespace(sign_in=asyncio.Event().wait)
    with pytest.raises(UnfitServices, match=NO_ANSWER):
        await offered_games(client, ())  # type: ignore[arg-type]


async def nothing(_: TableRecord) -> None:
    """Judge no table."""


class Never(Random):
    """A random source that draws no table."""

    def random(self) -> float:
        return 1.0


def table(name: str) -> TableRecord:
    """Return a table with a violation that a player has reported."""
    viewer = SeatRecord("p1", 0, reported=[ReportedViolation(Invariant.STREAM_SILENT, 3, "nothing came")])
    return TableRecord(name, "solo", 4, viewers=[viewer], replays=["no replay"])


async def judged(records: list[TableRecord], share: float) -> Measures:
    """Return the measures of the judged tables, without any that is drawn."""
    measures = Measures()
    queue = JudgeQueue(measures, share, Never())
    try:
        for record in records:
            await queue.add(record)
        await queue.finish(60)
        assert queue.waiting == 0
    finally:
        queue.close()
    return measures


async def test_the_first_table_is_judged_and_reported_with_its_replay_unless_the_share_is_zero() -> None:
    measures = await judged([table("t1"), table("t2"), table("t3")], 0.1)
    assert measures.counts["tables judged"] == 1
    found = next(one for one in measures.take()["violations"] if one["invariant"] == "stream_silent")
    assert (found["table_id"], found["replay"]) == ("t1", "no replay")
    assert (await judged([table("t1")], 0.0)).counts["tables judged"] == 0


def test_without_a_replay_the_transcript_is_kept() -> None:
    record = table("t1")
    record.replays.clear()
    assert judge_packed(zlib.compress(pickle.dumps(record))).kept == transcript_of(record)


def test_a_transcript_is_in_the_order_of_time() -> None:
    record = table("t1")
    action, beat = actions_pb2.Action(draw=actions_pb2.DrawAction()), engine_pb2.Heartbeat(sequence=4)
    message = engine_pb2.PlayTableResponse(table_event=engine_pb2.TableEvent(heartbeat=beat))
    record.viewers[0].received.append(Received(7, 0, message.SerializeToString()))
    record.viewers[0].answered.append(Answered(6, "a", 4))
    record.viewers[0].sent.append(Sent(5, "a", action.SerializeToString(), 3))
    head, *lines = map(json.loads, transcript_of(record).splitlines())
    assert (head["table_id"], head["game"]) == ("t1", "solo")
    assert [line["at"] for line in lines] == [5, 6, 7]
    assert [line["seat"] for line in lines] == [0, 0, 0]
    assert lines[0]["sent"] == {"request_id": "a", "action": {"draw": {}}, "expected_sequence": 3}
    assert lines[1]["answered"]["sequence"] == 4
    assert lines[2]["received"] == {"table_event": {"heartbeat": {"sequence": "4"}}}


async def test_a_judge_without_room_does_not_keep_the_load_from_its_end() -> None:
    async def wait_for_room(_: Any) -> None:
        await asyncio.Event().wait()

    settings = LoadSettings(SCENARIOS["smoke"], chosen_games("solo"), seed=1)
    load = Load(settings, lambda *_: pytest.fail("a guest"), wait_for_room, Measures())
    load.tables.add_viewer(TableRecord("t", "solo", 4, "c"), "p1", Behaviour.STEADY)
    assert await load.drain(0, judging_seconds=0) == 0
    assert load.measures.failures == {"judging": 1}
