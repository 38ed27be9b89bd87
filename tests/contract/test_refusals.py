"""Bad input over a real connection gets its status, reason and rule, and changes nothing."""

import uuid
from collections.abc import Awaitable
from typing import Any

import pytest
from google.protobuf.message import Message

from croupier.runtime.errors import IllegalNow, from_status
from croupier.runtime.identity.tokens import ENGINE_CONTROL_AUDIENCE
from croupier_api.v1 import actions_pb2, cards_pb2
from croupier_api.v1 import engine_pb2 as pb
from croupier_api.v1.games_pb2 import REACTION_WOW
from croupier_internal.v1 import engine_control_pb2 as control_pb
from tests.contract.deployment import CONTROL, PASS, SERVICE, EngineClient, person, rest_of
from tests.refusals import refusal

INVALID_FIELD = ("INVALID_ARGUMENT", "INVALID_FIELD")
UNKNOWN_CARD = cards_pb2.Card.ValueType(54)
CONTROL_CALLS = ("DescribeGames", "PrepareTable", "OpenTable", "DiscardTables", "ForgetPlayer", "GetTableStatuses")
UNAUTHENTICATED = ("UNAUTHENTICATED", "INVALID_ACCESS_TOKEN")


def play_card(card: cards_pb2.Card.ValueType) -> actions_pb2.Action:
    return actions_pb2.Action(play=actions_pb2.PlayAction(card=card))


def requests(table_id: str) -> dict[str, Message]:
    """Return a request for a table by each method of players."""
    watch = pb.WatchTableRequest(table_id=table_id)
    return {
        "SubmitAction": pb.SubmitActionRequest(table_id=table_id, request_id="r", action=PASS),
        "GetView": pb.GetViewRequest(table_id=table_id),
        "SendReaction": pb.SendReactionRequest(table_id=table_id, reaction=REACTION_WOW),
        "CreateProposal": pb.CreateProposalRequest(table_id=table_id, request_id="p", proposal="redeal"),
        "CastVote": pb.CastVoteRequest(table_id=table_id, request_id="v", proposal_sequence=1, vote=pb.VOTE_AGREE),
        "SetAway": pb.SetAwayRequest(table_id=table_id, request_id="a", is_away=True),
        "CreateLink": pb.CreateLinkRequest(table_id=table_id, purpose=pb.LINK_PURPOSE_WATCH),
        "GetReplay": pb.GetReplayRequest(table_id=table_id),
        "WatchReplay": pb.WatchReplayRequest(table_id=table_id),
        "WatchTable": watch,
        "PlayTable": pb.PlayTableRequest(watch=watch),
    }


async def refused(call: Awaitable[Any]) -> tuple[str, str]:
    return (await refusal(call))[:2]


def raw(client: EngineClient, request: Message, method: str, player_id: str) -> Awaitable[Any]:
    return client.raw(SERVICE + method, request.SerializeToString(), client.engine.player(player_id))


@pytest.fixture
async def table(client: EngineClient) -> str:
    return await client.new_table()


async def unchanged(client: EngineClient, table_id: str) -> None:
    assert (await client.view(table_id, "anna")).sequence == 1


async def test_every_call_reports_an_unknown_table_also_one_that_is_only_prepared(client: EngineClient) -> None:
    prepared = uuid.uuid4().hex
    await client.prepare(prepared)
    methods = pb.DESCRIPTOR.services_by_name["EngineService"].methods_by_name
    # The rules of a game belong to no table.
    assert {*requests(""), "GetRules"} == set(methods)
    for table_id in ("nowhere", prepared):
        for method, request in requests(table_id).items():
            assert await refused(raw(client, request, method, "anna")) == ("NOT_FOUND", "UNKNOWN_TABLE"), method
    assert await refused(client.open("nowhere", [person("anna")] * 2)) == ("NOT_FOUND", "UNKNOWN_TABLE")


async def test_every_call_refuses_other_callers_and_untimely_requests(client: EngineClient, table: str) -> None:
    by_method = requests(table)
    for method in ("SubmitAction", "SendReaction", "CreateProposal", "CastVote", "SetAway", "CreateLink"):
        refused_as = await refused(raw(client, by_method[method], method, "eve"))
        assert refused_as == ("PERMISSION_DENIED", "NOT_SEATED"), method
    ahead = pb.WatchTableRequest(table_id=table, after_sequence=2**64 - 1)
    for method, request, expected in (
        ("CreateProposal", by_method["CreateProposal"], ("INVALID_ARGUMENT", "UNKNOWN_PROPOSAL")),
        ("CastVote", by_method["CastVote"], ("FAILED_PRECONDITION", "NO_PROPOSAL")),
        ("CastVote", pb.CastVoteRequest(table_id=table, request_id="v", proposal_sequence=1), INVALID_FIELD),
        ("CastVote", pb.CastVoteRequest(table_id=table, request_id="x" * 65, vote=pb.VOTE_AGREE), INVALID_FIELD),
        ("SetAway", pb.SetAwayRequest(table_id=table, request_id="a"), INVALID_FIELD),
        ("GetReplay", by_method["GetReplay"], ("FAILED_PRECONDITION", "TABLE_NOT_FINISHED")),
        ("WatchReplay", by_method["WatchReplay"], ("FAILED_PRECONDITION", "TABLE_NOT_FINISHED")),
        ("WatchReplay", pb.WatchReplayRequest(table_id=table, seat=2), INVALID_FIELD),
        ("WatchReplay", pb.WatchReplayRequest(table_id=table, seat=0, all_seats=True), INVALID_FIELD),
        ("WatchTable", ahead, ("INVALID_ARGUMENT", "SEQUENCE_AHEAD")),
        ("GetView", pb.GetViewRequest(table_id="x" * 10_000), INVALID_FIELD),
    ):
        assert await refused(raw(client, request, method, "anna")) == expected
    await unchanged(client, table)


async def test_no_call_is_served_without_a_token_for_its_port(client: EngineClient, table: str) -> None:
    """tests/runtime has all kinds of invalid tokens."""
    engine = client.engine
    for method, request in requests(table).items():
        for metadata in ((), engine.lobby()):
            refused_as = await refused(client.raw(SERVICE + method, request.SerializeToString(), metadata))
            assert refused_as == UNAUTHENTICATED, method
    for method in CONTROL_CALLS:
        for metadata in ((), engine.player("lobby"), engine.player("engine", ENGINE_CONTROL_AUDIENCE, key="engine")):
            assert await refused(client.raw(CONTROL + method, b"", metadata)) == UNAUTHENTICATED, method
    for method in CONTROL_CALLS[1:]:
        refused_as = await refused(client.raw(CONTROL + method, b"", engine.player("anna", ENGINE_CONTROL_AUDIENCE)))
        assert refused_as == ("PERMISSION_DENIED", "CALLER_NOT_ALLOWED"), method


async def test_no_port_serves_the_calls_of_the_other(client: EngineClient) -> None:
    for channel, method, metadata in (
        (client.players_channel, CONTROL + "PrepareTable", client.engine.player("anna")),
        (client.control_channel, SERVICE + "GetView", client.engine.lobby()),
    ):
        assert (await refusal(channel.unary_unary(method)(b"", metadata=metadata))).code == "UNIMPLEMENTED"


@pytest.mark.parametrize(
    ("message", "reason"),
    [
        (None, "INVALID_FIELD"),
        (b"", "INVALID_FIELD"),
        (b"\xff\xff", "MALFORMED_REQUEST"),
        (pb.PlayTableRequest(action=pb.SubmitActionRequest(request_id="r", action=PASS)), "INVALID_FIELD"),
    ],
    ids=["nothing", "empty", "no message", "action first"],
)
async def test_a_play_stream_begins_with_a_watch(
    client: EngineClient, table: str, message: bytes | pb.PlayTableRequest | None, reason: str
) -> None:
    stream = client.play("anna")
    await (stream.done_writing() if message is None else stream.write(message))
    assert await refused(rest_of(stream)) == ("INVALID_ARGUMENT", reason)
    await unchanged(client, table)


async def test_a_refusal_in_a_play_stream_is_an_answer_and_does_not_end_it(client: EngineClient, table: str) -> None:
    player, view = await client.turn(table)
    stream = await client.play_table(table, player, 1)
    # A stream that missed nothing begins with the turn.
    state = (await stream.read()).table_event.turn_state
    assert (state.sequence, state.legal_actions) == (1, view.legal_actions)
    assert state.clock.deadline_unix_ms == view.clock.deadline_unix_ms > 0
    action = view.legal_actions.actions[0]
    attempts: list[tuple[dict[str, Any], int | str]] = [
        ({"request_id": "illegal", "action": PASS}, "ILLEGAL_ACTION"),
        ({"request_id": "x" * 70, "action": action}, "INVALID_FIELD"),
        ({"request_id": "malformed", "action": play_card(UNKNOWN_CARD)}, "INVALID_ACTION"),
        ({"request_id": "stale", "action": action, "expected_sequence": 0}, "STALE_SEQUENCE"),
        ({"request_id": "elsewhere", "action": action, "table_id": "another"}, "INVALID_FIELD"),
        ({"request_id": "right", "action": action, "table_id": table, "expected_sequence": 1}, 2),
        ({"request_id": "right", "action": action}, 2),
        ({"request_id": "right", "action": PASS}, "REQUEST_ID_REUSED"),
    ]
    answers: list[pb.ActionAnswer] = []
    for fields, _ in attempts:
        await stream.write(pb.PlayTableRequest(action=pb.SubmitActionRequest(**fields)))
    while len(answers) < len(attempts):
        message = await stream.read()
        if message.HasField("answer"):
            answers.append(message.answer)
    stream.cancel()
    refusals = [from_status(answer.refusal) for answer in answers]
    outcomes = [each.reason_name if each else answer.sequence for answer, each in zip(answers, refusals, strict=True)]
    assert [answer.request_id for answer in answers] == [fields["request_id"][:64] for fields, _ in attempts]
    assert outcomes == [outcome for _, outcome in attempts]
    assert isinstance(refusals[0], IllegalNow)
    assert refusals[0].rule.startswith("THU-")


async def test_a_discarded_table_cannot_be_opened_and_an_open_one_stays(client: EngineClient, table: str) -> None:
    prepared, metadata = uuid.uuid4().hex, client.engine.lobby()
    await client.prepare(prepared)
    for _ in range(2):
        discarded = control_pb.DiscardTablesRequest(table_ids=[prepared, table, "nowhere"])
        await client.control.DiscardTables(discarded, metadata=metadata)
    assert await refused(client.open(prepared, [person("anna"), person("ben")])) == ("NOT_FOUND", "UNKNOWN_TABLE")
    await unchanged(client, table)
    known = control_pb.GetTableStatusesRequest(table_ids=[table, "nowhere", prepared, table])
    answer = await client.control.GetTableStatuses(known, metadata=metadata)
    assert [(status.table_id, status.is_finished) for status in answer.statuses] == [(table, False)]
    for call in (
        client.control.GetTableStatuses(control_pb.GetTableStatusesRequest(table_ids=["x"] * 501), metadata=metadata),
        client.control.DiscardTables(control_pb.DiscardTablesRequest(table_ids=["x"] * 501), metadata=metadata),
    ):
        assert await refused(call) == INVALID_FIELD
