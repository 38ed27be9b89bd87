"""Bad input over a real connection: the right status, its reason, the rule that speaks, and nothing changed."""

import uuid
from collections.abc import Awaitable
from typing import Any

import grpc
import pytest
from google.protobuf.message import Message

from croupier.runtime.identity import ENGINE_CONTROL_AUDIENCE
from croupier_api.v1 import engine_pb2 as pb
from croupier_api.v1 import table_pb2
from tests.contract.house import CONTROL, SERVICE, House, computer, person, rest_of
from tests.refusals import refusal

PASS = table_pb2.Action()
getattr(PASS, "pass").SetInParent()
CONTROL_CALLS = ("DescribeGames", "PrepareTable", "OpenTable", "GetTableStatuses")
UNAUTHENTICATED = ("UNAUTHENTICATED", "UNAUTHENTICATED")


def play_card(card: int) -> table_pb2.Action:
    return table_pb2.Action.FromString(b"\x42\x02\x08" + bytes([card]))


def requests(table_id: str) -> dict[str, Message]:
    """What each call of players may ask of a table."""
    watch = pb.WatchTableRequest(table_id=table_id)
    return {
        "SubmitAction": pb.SubmitActionRequest(table_id=table_id, request_id="r", action=PASS),
        "GetView": pb.GetViewRequest(table_id=table_id),
        "React": pb.ReactRequest(table_id=table_id, reaction="wow"),
        "Propose": pb.ProposeRequest(table_id=table_id, request_id="p", proposal="redeal"),
        "Vote": pb.VoteRequest(table_id=table_id, request_id="v", proposal_sequence=1),
        "GetReplay": pb.GetReplayRequest(table_id=table_id),
        "WatchTable": watch,
        "Play": pb.PlayRequest(watch=watch),
    }


async def refused(call: Awaitable[Any]) -> tuple[str, str]:
    """The code and the reason."""
    return (await refusal(call))[:2]


def raw(house: House, request: Message, method: str, player_id: str) -> Awaitable[Any]:
    return house.raw(SERVICE + method, request.SerializeToString(), house.engine.player(player_id))


@pytest.fixture
async def table(house: House) -> str:
    return await house.new_table()


async def unchanged(house: House, table_id: str) -> None:
    assert (await house.view(table_id, "anna")).sequence == 1


async def test_every_call_says_that_a_table_is_unknown_also_one_that_is_only_prepared(house: House) -> None:
    prepared = uuid.uuid4().hex
    await house.prepare(prepared)
    assert sorted(requests("")) == sorted(pb.DESCRIPTOR.services_by_name["EngineService"].methods_by_name)
    for table_id in ("nowhere", prepared):
        for method, request in requests(table_id).items():
            assert await refused(raw(house, request, method, "anna")) == ("NOT_FOUND", "UNKNOWN_TABLE"), method
    assert await refused(house.open("nowhere", [person("anna")] * 2)) == ("NOT_FOUND", "UNKNOWN_TABLE")


async def test_every_call_refuses_what_is_not_for_the_caller_or_not_now(house: House, table: str) -> None:
    asked = requests(table)
    for method in ("SubmitAction", "React", "Propose", "Vote"):
        told = await refused(raw(house, asked[method], method, "eve"))
        assert told == ("PERMISSION_DENIED", "NOT_YOUR_TABLE"), method
    ahead = pb.WatchTableRequest(table_id=table, after_sequence=2**64 - 1)
    for method, request, expected in (
        ("Propose", asked["Propose"], ("INVALID_ARGUMENT", "UNKNOWN_PROPOSAL")),
        ("Vote", asked["Vote"], ("FAILED_PRECONDITION", "NOTHING_PROPOSED")),
        ("Vote", pb.VoteRequest(table_id=table, request_id="x" * 65), ("INVALID_ARGUMENT", "TEXT_LENGTH")),
        ("GetReplay", asked["GetReplay"], ("FAILED_PRECONDITION", "TABLE_NOT_FINISHED")),
        ("WatchTable", ahead, ("INVALID_ARGUMENT", "SEQUENCE_AHEAD")),
        ("GetView", pb.GetViewRequest(table_id="x" * 10_000), ("INVALID_ARGUMENT", "TEXT_LENGTH")),
    ):
        assert await refused(raw(house, request, method, "anna")) == expected
    await unchanged(house, table)


async def test_no_call_is_served_without_a_token_for_its_port(house: House, table: str) -> None:
    """tests/runtime shows the ways in which a token can be wrong."""
    engine = house.engine
    for method, request in requests(table).items():
        for metadata in ((), engine.lobby()):
            told = await refused(house.raw(SERVICE + method, request.SerializeToString(), metadata))
            assert told == UNAUTHENTICATED, method
    for method in CONTROL_CALLS:
        for metadata in ((), engine.player("lobby"), engine.player("engine", ENGINE_CONTROL_AUDIENCE, key="engine")):
            assert await refused(house.raw(CONTROL + method, b"", metadata)) == UNAUTHENTICATED, method
    for method in CONTROL_CALLS[1:]:
        told = await refused(house.raw(CONTROL + method, b"", engine.player("anna", ENGINE_CONTROL_AUDIENCE)))
        assert told == ("PERMISSION_DENIED", "LOBBY_ONLY"), method


async def test_neither_port_serves_the_other_ones_calls(house: House) -> None:
    for channel, method, metadata in (
        (house.players_channel, CONTROL + "PrepareTable", house.engine.player("anna")),
        (house.control_channel, SERVICE + "GetView", house.engine.lobby()),
    ):
        assert (await refusal(channel.unary_unary(method)(b"", metadata=metadata))).code == "UNIMPLEMENTED"


@pytest.mark.parametrize(
    ("is_watching", "message"),
    [
        (False, None),
        (False, b""),
        (False, b"\xff\xff"),
        (False, pb.PlayRequest(action=pb.SubmitActionRequest(request_id="r", action=PASS))),
        (True, pb.PlayRequest(watch=pb.WatchTableRequest())),
        (True, b"\xff\xff"),
    ],
    ids=["nothing", "empty", "no message", "action first", "second watch", "no message later"],
)
async def test_a_play_stream_is_one_watch_and_then_actions(
    house: House, table: str, is_watching: bool, message: bytes | pb.PlayRequest | None
) -> None:
    stream = house.play("anna")
    if is_watching:
        await stream.write(pb.PlayRequest(watch=pb.WatchTableRequest(table_id=table)))
        assert (await stream.read()).snapshot.sequence == 1
    await (stream.done_writing() if message is None else stream.write(message))
    assert await refused(rest_of(stream)) == ("INVALID_ARGUMENT", "MALFORMED_MESSAGE")
    await unchanged(house, table)


async def test_an_action_that_is_refused_names_the_rule_and_changes_nothing(house: House, table: str) -> None:
    player, view = await house.turn(table)
    held = map(play_card, view.view.seats[view.viewer_seat].cards)
    illegal = next(action for action in held if action not in view.legal_actions.actions)
    told = await refusal(house.submit(table, player, illegal))
    assert told[:2] == ("FAILED_PRECONDITION", "ILLEGAL_ACTION")
    assert told.rule.startswith("THU-")
    await unchanged(house, table)


async def test_refusals_within_a_play_stream_are_answers_and_it_goes_on(house: House, table: str) -> None:
    player, view = await house.turn(table)
    stream = house.play(player)
    await stream.write(pb.PlayRequest(watch=pb.WatchTableRequest(table_id=table, after_sequence=1)))
    action = view.legal_actions.actions[0]
    attempts: list[tuple[dict[str, Any], int | str]] = [
        ({"request_id": "illegal", "action": PASS}, "ILLEGAL_ACTION"),
        ({"request_id": "x" * 70, "action": action}, "TEXT_LENGTH"),
        ({"request_id": "malformed", "action": play_card(54)}, "MALFORMED_ACTION"),
        ({"request_id": "stale", "action": action, "expected_sequence": 0}, "STALE_SEQUENCE"),
        ({"request_id": "elsewhere", "action": action, "table_id": "another"}, "MALFORMED_MESSAGE"),
        ({"request_id": "right", "action": action, "table_id": table, "expected_sequence": 1}, 2),
        ({"request_id": "right", "action": action}, 2),
        ({"request_id": "right", "action": PASS}, "REQUEST_ID_REUSED"),
    ]
    answers: list[pb.ActionAnswer] = []
    for fields, _ in attempts:
        await stream.write(pb.PlayRequest(action=pb.SubmitActionRequest(**fields)))
    while len(answers) < len(attempts):
        message = await stream.read()
        if message.HasField("answer"):
            answers.append(message.answer)
    stream.cancel()
    assert [(answer.request_id, answer.sequence or answer.refusal.reason) for answer in answers] == [
        (fields["request_id"][:64], outcome) for fields, outcome in attempts
    ]
    assert answers[0].refusal.code == grpc.StatusCode.FAILED_PRECONDITION.value[0]
    assert answers[0].refusal.rule.startswith("THU-")


async def test_what_cannot_be_prepared_or_opened_is_refused(house: House) -> None:
    table_id, two = uuid.uuid4().hex, [person("anna"), person("ben")]
    for changes, reason in (
        ({"game": "snap"}, "UNKNOWN_GAME"),
        ({"seats": 2**32 - 1}, "SEATS"),
        ({"options": table_pb2.GameOptions(values={"best_of": "three"})}, "OPTION"),
        ({"clock": None}, "CLOCK"),
    ):
        assert await refused(house.prepare(table_id, **changes)) == ("INVALID_ARGUMENT", reason)
    await house.prepare(table_id)
    unknown_bot = [person("anna"), computer("genius")]
    assert await refused(house.open(table_id, unknown_bot)) == ("INVALID_ARGUMENT", "UNKNOWN_BOT")
    for _ in range(2):
        await house.open(table_id, two)
    assert await refused(house.open(table_id, two[::-1])) == ("ALREADY_EXISTS", "TABLE_OPEN")
    assert await refused(house.prepare(table_id, seats=3)) == ("ALREADY_EXISTS", "TABLE_EXISTS")


async def test_statuses_are_for_so_many_tables(house: House, table: str) -> None:
    metadata = house.engine.lobby()
    answer = await house.control.GetTableStatuses(
        pb.GetTableStatusesRequest(table_ids=[table, "nowhere", table]), metadata=metadata
    )
    assert [(status.table_id, status.finished) for status in answer.statuses] == [(table, False)]
    call = house.control.GetTableStatuses(pb.GetTableStatusesRequest(table_ids=["x"] * 501), metadata=metadata)
    assert await refused(call) == ("INVALID_ARGUMENT", "TOO_MANY_IDS")
