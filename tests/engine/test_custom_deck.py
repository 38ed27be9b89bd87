"""A game with a custom deck at an engine: it is played by the servicers, and its log and its replay can be read."""

import json
from random import Random

import pytest

from croupier.engine.api.action_codec import encode_action
from croupier.engine.api.control_servicer import EngineControlServicer
from croupier.engine.api.table_codec import encode_time_control
from croupier.engine.core.log_codec import decode_entry, encode_body
from croupier.engine.core.replay_verification import ReplayFault, verify_replay
from croupier_api.v1 import engine_pb2, tables_pb2
from croupier_internal.v1 import engine_control_pb2
from tests.calls import call_of
from tests.engine.fakes import EngineHarness
from tests.engine.folds import write_replay
from tests.engine.play import CLOCK, choice, people, whole_log
from tests.engine.toys import SEATS, rules_known, toy_table


async def test_the_game_is_played_to_its_end(engine: EngineHarness, seed: int) -> None:
    random = Random(seed)
    with rules_known():
        tables = engine.tables(1)
        control = EngineControlServicer(tables, engine.store)
        prepared = await control.PrepareTable(
            engine_control_pb2.PrepareTableRequest(
                table_id="t2", game="toy", seat_count=SEATS, time_control=encode_time_control(CLOCK)
            ),
            call_of("lobby"),
        )
        assert [list(team.seats) for team in prepared.teams] == [[0, 2], [1, 3]]
        seats = [tables_pb2.Seat(player_id=who.player_id, name=who.name) for who in people(SEATS)]
        opening = engine_control_pb2.OpenTableRequest(table_id="t2", seats=seats, client_seeds=[b""] * SEATS)
        await control.OpenTable(opening, call_of("lobby"))
        servicer = engine.servicer(tables)
        table = await tables.get("t2")
        numbers = set[int]()
        while not table.state.is_over:
            seat, action = choice(table.state, random)
            call = call_of(f"p{seat}")
            view = (await servicer.GetView(engine_pb2.GetViewRequest(table_id="t2"), call)).snapshot
            numbers.update(view.view.seats[seat].cards)
            assert [list(team.seats) for team in view.table.teams] == [[0, 2], [1, 3]]
            request = engine_pb2.SubmitActionRequest(table_id="t2", request_id=f"{table.state.sequence}")
            request.action.CopyFrom(encode_action(action))
            await servicer.SubmitAction(request, call)
        assert numbers
        assert numbers <= set(range(64, 88))


def test_the_log_and_the_replay_can_be_read(seed: int) -> None:
    with rules_known():
        log = whole_log(toy_table(), Random(seed))
        rows = [(each.sequence, each.at, each.deadline, encode_body(each)) for each in log]
        assert [decode_entry("t1", *row) for row in rows] == log
        replay = write_replay(toy_table(), log)
        assert {"B1", "R12"} <= set(json.loads(replay.splitlines()[1])["event"]["deck"])
        assert verify_replay(replay).game == "toy"
        with pytest.raises(ReplayFault, match=r"^line 2: "):
            verify_replay(replay.replace('"B1"', '"B13"'))
