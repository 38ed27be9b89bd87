"""Health, reflection, metrics and logs serve operators, and show no card, token or seed."""

import asyncio
import json
import re

from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection_pb2, reflection_pb2_grpc

from croupier.engine.core.folded_table import MAX_RESUMED_ENTRIES
from croupier.engine.core.replay_verification import verify_replay
from croupier_api.v1 import actions_pb2
from croupier_api.v1 import engine_pb2 as pb
from croupier_api.v1.games_pb2 import REACTION_WOW
from croupier_internal.v1 import engine_control_pb2 as control_pb
from tests.contract.deployment import CALL_SECONDS, PASS, EngineClient, EngineProcess, bot_seat, connected, person
from tests.refusals import refusal

ENGINE, CONTROL = "croupier_api.v1.EngineService", "croupier_internal.v1.EngineControlService"
CARD = re.compile(r"(?<![0-9A-Za-z+/=_.-])(?:[2-9TJQKA][CDHS]|JK)(?![0-9A-Za-z+/=_.-])")


async def test_each_port_reports_its_health_and_its_services(client: EngineClient) -> None:
    for channel, service in ((client.players_channel, ENGINE), (client.control_channel, CONTROL)):
        health = health_pb2_grpc.HealthStub(channel)
        for name in ("", service):
            answer = await health.Check(health_pb2.HealthCheckRequest(service=name), timeout=CALL_SECONDS)
            assert answer.status == health_pb2.HealthCheckResponse.SERVING
        stub = reflection_pb2_grpc.ServerReflectionStub(channel)
        requests = (
            reflection_pb2.ServerReflectionRequest(list_services=""),
            reflection_pb2.ServerReflectionRequest(file_containing_symbol=service),
        )
        listed, described = [each async for each in stub.ServerReflectionInfo(iter(requests), timeout=CALL_SECONDS)]
        names = {each.name for each in listed.list_services_response.service}
        assert names == {service, "grpc.health.v1.Health", "grpc.reflection.v1alpha.ServerReflection"}
        assert described.file_descriptor_response.file_descriptor_proto


async def test_a_finished_table_has_its_answers_its_updates_its_status_and_its_replay(client: EngineClient) -> None:
    table = await client.new_table()
    anna, ben = await asyncio.gather(*(client.play_seat(table, player) for player in ("anna", "ben")))
    view = await client.view(table, "anna")
    # The last action too is answered on the stream that it ends.
    assert sorted(anna + ben) == list(range(2, view.sequence + 1))
    after = max(0, view.sequence - MAX_RESUMED_ENTRIES)
    watch = client.players.WatchTable(
        pb.WatchTableRequest(table_id=table, after_sequence=after),
        metadata=client.engine.player("eve"),
        timeout=CALL_SECONDS,
    )
    assert [message.table_event.update.sequence async for message in watch] == list(range(after + 1, view.sequence + 1))
    statuses = control_pb.GetTableStatusesRequest(table_ids=[table])
    answer = await client.control.GetTableStatuses(statuses, metadata=client.engine.lobby())
    assert [(status.table_id, status.is_finished) for status in answer.statuses] == [(table, True)]
    parts = client.players.GetReplay(pb.GetReplayRequest(table_id=table), metadata=client.engine.player("anna"))
    replay = "".join([part.replay async for part in parts])
    summary = verify_replay(replay)
    assert (summary.table_id, summary.entries) == (table, view.sequence)
    assert [list(group.seats) for group in view.view.ranking] == [list(group) for group in summary.ranking]
    assert json.loads(replay.splitlines()[0])["seed"] == view.revealed_seed


async def played(engine: EngineProcess) -> tuple[str, list[str]]:
    """Play a game with refusals, a reaction, a resumed stream and malformed requests; returns its table and secrets."""
    async with connected(engine) as client:
        table = await client.new_table(person("anna"), person("ben"), bot_seat())
        player, view = await client.turn(table)
        metadata = client.engine.player(player)
        held = view.view.seats[view.viewer_seat].cards
        for number in range(5):
            card = actions_pb2.Action(play=actions_pb2.PlayAction(card=held[-1 - number]))
            for action in (PASS, card):
                if action not in view.legal_actions.actions:
                    request = pb.SubmitActionRequest(table_id=table, request_id=f"r{number}", action=action)
                    refused = await refusal(client.players.SubmitAction(request, metadata=metadata))
                    assert refused[:2] == ("FAILED_PRECONDITION", "ILLEGAL_ACTION")
                    assert refused.rule.startswith("THU-")
        await client.players.SendReaction(
            pb.SendReactionRequest(table_id=table, reaction=REACTION_WOW), metadata=metadata
        )
        for method in ("GetView", "SubmitAction"):
            refused = await refusal(client.raw(f"/{ENGINE}/{method}", b"\x0a\x02\xff\xff5H AS", metadata))
            assert refused.reason == "MALFORMED_REQUEST"
        await client.play_seat(table, player, after=0, limit=1)
        await asyncio.gather(*(client.play_seat(table, each) for each in ("anna", "ben")))
        seed = (await client.view(table, "anna")).revealed_seed
        tokens = [value.removeprefix("Bearer ") for _, value in (*metadata, *engine.lobby())]
        keys = [(engine.folder / f"{name}.pem").read_text().splitlines()[1] for name in ("lobby", "engine")]
        return table, [seed, *keys, *(part for token in tokens for part in token.split(".")[1:])]


async def test_metrics_and_logs_show_a_game_but_no_card_token_or_seed(own_engine: EngineProcess) -> None:
    table, secrets = await played(own_engine)
    page, values = own_engine.metrics_page(), own_engine.metrics()
    assert 20 < values['croupier_actions_accepted_total{game="thulla"}'] < 2000
    assert values['croupier_actions_refused_total{reason="ILLEGAL_ACTION"}'] >= 5
    assert values["croupier_append_seconds_count"] > values['croupier_actions_accepted_total{game="thulla"}']
    assert values["croupier_commit_rows_sum"] >= values["croupier_commit_rows_count"] > 0
    assert values["croupier_streams"] == 0
    assert values["croupier_resumes_total"] >= 1
    assert values["croupier_slow_readers_closed_total"] == 0
    assert values["croupier_reports_waiting"] == 1
    assert values["croupier_reactions_total"] == 1
    assert values[f'croupier_rpc_calls_total{{code="OK",method="/{ENGINE}/PlayTable"}}'] == 2
    assert values[f'croupier_rpc_calls_total{{code="OK",method="/{CONTROL}/OpenTable"}}'] == 1
    assert values[f'croupier_rpc_open_calls{{method="/{ENGINE}/PlayTable"}}'] == 0
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
