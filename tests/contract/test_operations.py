"""What operators see: health, reflection, metrics and logs; and what they never see."""

import asyncio
import json
import re
import socket
from collections.abc import Iterator
from typing import Any

import grpc
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection_pb2, reflection_pb2_grpc

from croupier.engine.__main__ import seed_source
from croupier.engine.replay import verify_replay
from croupier.engine.settings import EngineSettings
from croupier_api.v1 import engine_pb2 as pb
from croupier_api.v1 import table_pb2
from tests.contract.house import CALL_SECONDS, Engine, House, computer, person, refusal, rest_of, visit

ENGINE, CONTROL = "croupier_api.v1.EngineService", "croupier_api.v1.EngineControlService"
CARD = re.compile(r"(?<![0-9A-Za-z+/=_.-])(?:[2-9TJQKA][CDHS]|JK)(?![0-9A-Za-z+/=_.-])")
PASS = table_pb2.Action()
getattr(PASS, "pass").SetInParent()


async def test_health_says_serving_to_everybody(house: House) -> None:
    for channel, service in ((house.players_channel, ENGINE), (house.control_channel, CONTROL)):
        stub = health_pb2_grpc.HealthStub(channel)
        for name in ("", service):
            answer = await stub.Check(health_pb2.HealthCheckRequest(service=name), timeout=CALL_SECONDS)
            assert answer.status == health_pb2.HealthCheckResponse.SERVING


async def test_reflection_lists_the_services_of_each_port(house: House) -> None:
    for channel, service in ((house.players_channel, ENGINE), (house.control_channel, CONTROL)):
        stub = reflection_pb2_grpc.ServerReflectionStub(channel)
        request = reflection_pb2.ServerReflectionRequest(list_services="")
        (answer,) = [each async for each in stub.ServerReflectionInfo(iter([request]), timeout=CALL_SECONDS)]
        names = {each.name for each in answer.list_services_response.service}
        assert names == {service, "grpc.health.v1.Health", "grpc.reflection.v1alpha.ServerReflection"}
        symbol = reflection_pb2.ServerReflectionRequest(file_containing_symbol=service)
        (answer,) = [each async for each in stub.ServerReflectionInfo(iter([symbol]), timeout=CALL_SECONDS)]
        assert answer.file_descriptor_response.file_descriptor_proto


async def test_games_are_described(house: House) -> None:
    answer = await house.control.DescribeGames(pb.DescribeGamesRequest(), metadata=house.engine.lobby())
    assert "thulla" in [game.game for game in answer.games]
    for game in answer.games:
        assert game.name
        assert game.summary
        assert 2 <= game.min_seats <= game.max_seats
        assert "random" in game.bots


async def test_a_table_of_computer_players_plays_itself_for_those_who_watch(house: House) -> None:
    clock = table_pb2.Clock(action_seconds=60)
    table = await house.new_table(computer(), computer(), computer(), clock=clock)
    watch = house.players.WatchTable(
        pb.WatchTableRequest(table_id=table, after_sequence=0), metadata=house.engine.player("eve"), timeout=30
    )
    sequences = [message.update.sequence async for message in watch]
    assert sequences == list(range(1, len(sequences) + 1))
    view = await house.view(table, "eve")
    assert view.sequence == len(sequences)
    assert view.view.ranking
    assert view.revealed_seed


async def test_statuses_and_replay_of_a_finished_table(house: House) -> None:
    table = await house.new_table()
    await house.play_on(table, "anna", "ben")
    request = pb.GetTableStatusesRequest(table_ids=[table])
    answer = await house.control.GetTableStatuses(request, metadata=house.engine.lobby())
    assert [(status.table_id, status.finished) for status in answer.statuses] == [(table, True)]
    replay = await house.players.GetReplay(pb.GetReplayRequest(table_id=table), metadata=house.engine.player("anna"))
    summary = verify_replay(replay.replay)
    view = await house.view(table, "anna")
    assert (summary.table_id, summary.entries) == (table, view.sequence)
    assert [list(group.seats) for group in view.view.ranking] == [list(group) for group in summary.ranking]
    assert json.loads(replay.replay.splitlines()[0])["seed"] == view.revealed_seed


async def test_every_last_action_is_answered_on_its_stream(house: House) -> None:
    table = await house.new_table()
    anna, ben = await asyncio.gather(*(house.play_seat(table, player) for player in ("anna", "ben")))
    assert sorted(anna + ben) == list(range(2, (await house.view(table, "anna")).sequence + 1))


def samples(page: str) -> Iterator[tuple[str, float]]:
    for line in page.splitlines():
        if line and not line.startswith("#"):
            name, _, value = line.rpartition(" ")
            yield name, float(value)


async def played(engine: Engine) -> tuple[str, list[str]]:
    """A game with refusals, reactions, resumed streams and odd bytes; gives what must stay secret of it."""
    async with visit(engine) as house:
        table = await house.new_table(person("anna"), person("ben"), computer())
        player, view = await house.turn(table)
        metadata = house.engine.player(player)
        held = view.view.seats[view.viewer_seat].cards
        for number in range(5):
            card = table_pb2.Action(play=table_pb2.PlayAction(card=held[-1 - number]))
            for action in (PASS, card):
                if action not in view.legal_actions.actions:
                    request = pb.SubmitActionRequest(table_id=table, request_id=f"r{number}", action=action)
                    refused = await refusal(house.players.SubmitAction(request, metadata=metadata))
                    assert refused.reason == "ILLEGAL_ACTION"
        await house.players.React(pb.ReactRequest(table_id=table, reaction="wow"), metadata=metadata)
        for method in ("GetView", "SubmitAction"):
            refused = await refusal(house.raw(f"/{ENGINE}/{method}", b"\x0a\x02\xff\xff5H AS", metadata))
            assert refused.reason == "MALFORMED_MESSAGE"
        await house.play_seat(table, player, after=0, most=1)
        await house.play_on(table, "anna", "ben")
        seed = (await house.view(table, "anna")).revealed_seed
        tokens = [value.removeprefix("Bearer ") for _, value in (*metadata, *engine.lobby())]
        keys = [(engine.folder / f"{name}.pem").read_text().splitlines()[1] for name in ("lobby", "engine")]
        return table, [seed, *keys, *(part for token in tokens for part in token.split(".")[1:])]


async def test_metrics_and_logs_tell_of_a_game_but_of_no_card_token_or_seed(own_engine: Engine) -> None:
    table, secrets = await played(own_engine)
    page = own_engine.metrics_page()
    values = dict(samples(page))
    assert 20 < values['croupier_actions_accepted_total{game="thulla"}'] < 2000
    assert values['croupier_actions_refused_total{reason="ILLEGAL_ACTION"}'] >= 5
    assert values["croupier_append_seconds_count"] > values['croupier_actions_accepted_total{game="thulla"}']
    assert values["croupier_commit_rows_sum"] >= values["croupier_commit_rows_count"] > 0
    assert values["croupier_streams"] == 0
    assert values["croupier_resumes_total"] >= 1
    assert values["croupier_slow_readers_closed_total"] == 0
    assert values["croupier_reports_waiting"] == 1
    assert values["croupier_reactions_total"] == 1
    assert values[f'croupier_rpc_calls_total{{code="OK",method="/{ENGINE}/Play"}}'] == 2
    assert values[f'croupier_rpc_calls_total{{code="OK",method="/{CONTROL}/OpenTable"}}'] == 1
    assert values[f'croupier_rpc_open_calls{{method="/{ENGINE}/Play"}}'] == 0
    for family in ("croupier_open_tables", "croupier_clock_expiries_total", "croupier_rpc_seconds"):
        assert f"# TYPE {family.removesuffix('_total')}" in page
    assert own_engine.stop() == 0
    log = own_engine.log_path.read_text()
    lines = [json.loads(line) for line in log.splitlines()]
    assert {"ready", "call refused", "stopping"} <= {line["event"] for line in lines}
    assert any(line.get("table_id") == table for line in lines)
    assert not [line for line in lines if line["level"] == "error"]
    for text in (page, log):
        assert not CARD.findall(text)
        for secret in secrets:
            assert secret not in text


async def test_an_engine_that_stops_sends_streams_elsewhere_and_closes_its_ports(own_engine: Engine) -> None:
    async with visit(own_engine) as house:
        table = await house.new_table()
        stream = house.play("anna")
        await stream.write(pb.PlayRequest(watch=pb.WatchTableRequest(table_id=table)))
        await stream.read()
        listen = own_engine.address("listen")
        assert await asyncio.to_thread(own_engine.stop) == 0
        (last,) = await asyncio.wait_for(rest_of(stream), CALL_SECONDS)
        assert last.WhichOneof("event") == "resume_notice"
        assert await stream.code() is grpc.StatusCode.OK
    host, _, port = listen.rpartition(":")
    with socket.socket() as probe:
        assert probe.connect_ex((host, int(port))) != 0


async def test_an_address_that_all_can_reach_is_refused_with_a_fixed_seed(shared_engine: Engine) -> None:
    folder = shared_engine.folder
    given: dict[str, Any] = {"database": "", "lobby_public_key": folder, "signing_key": folder, "scoring_control": ""}
    for addresses in ({"listen": "0.0.0.0:7720"}, {"control_listen": "[::]:7721"}):
        with pytest.raises(ValueError, match="loopback"):
            seed_source(EngineSettings(**given | addresses, shuffle_seed="x"))
    fixed = seed_source(EngineSettings(**given, shuffle_seed="x"))
    assert fixed(32) == fixed(32) != seed_source(EngineSettings(**given, shuffle_seed="y"))(32)
