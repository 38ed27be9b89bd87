"""Bad input over a real connection: the right status, its reason, the rule that speaks, and nothing changed."""

import uuid
from collections.abc import Awaitable
from typing import Any

import grpc
import pytest

from croupier.runtime.identity import ENGINE_CONTROL_AUDIENCE, PLAYER_AUDIENCE, SCORING_CONTROL_AUDIENCE
from croupier_api.v1 import engine_pb2 as pb
from croupier_api.v1 import table_pb2
from tests.contract.house import (
    CALL_SECONDS,
    CONTROL,
    SERVICE,
    House,
    Metadata,
    Refusal,
    all_of,
    bearer,
    computer,
    now,
    person,
    refusal,
    rest_of,
)

PASS = table_pb2.Action()
getattr(PASS, "pass").SetInParent()
UNARY = ("SubmitAction", "GetView", "React", "Propose", "Vote", "GetReplay")
CONTROL_CALLS = ("DescribeGames", "PrepareTable", "OpenTable", "GetTableStatuses")
OVERSIZED = b"\x0a\xff\xff\x07" + b"x" * (0x1FFFF)


def play_card(card: int) -> table_pb2.Action:
    return table_pb2.Action.FromString(b"\x42\x02\x08" + bytes([card]))


@pytest.fixture
async def table(house: House) -> str:
    return await house.new_table()


async def unchanged(house: House, table_id: str, sequence: int = 1) -> None:
    assert (await house.view(table_id, "anna")).sequence == sequence


async def test_every_call_says_that_a_table_is_unknown(house: House) -> None:
    """Also one that is only prepared."""
    prepared, metadata = uuid.uuid4().hex, house.engine.player("anna")
    await house.prepare(prepared)
    players = house.players
    calls: list[Awaitable[Any]] = [
        house.submit("nowhere", "anna", PASS),
        house.view(prepared, "anna"),
        players.React(pb.ReactRequest(table_id="nowhere", reaction="wow"), metadata=metadata),
        players.Propose(pb.ProposeRequest(table_id="nowhere", request_id="p", proposal="redeal"), metadata=metadata),
        players.Vote(pb.VoteRequest(table_id="nowhere", request_id="v", proposal_sequence=1), metadata=metadata),
        players.GetReplay(pb.GetReplayRequest(table_id="nowhere"), metadata=metadata),
        all_of(players.WatchTable(pb.WatchTableRequest(table_id="nowhere"), metadata=metadata)),
        house.open("nowhere", [person("anna"), person("ben")]),
    ]
    for call in calls:
        assert await refusal(call) == Refusal("NOT_FOUND", "UNKNOWN_TABLE")
    stream = house.play("anna")
    await stream.write(pb.PlayRequest(watch=pb.WatchTableRequest(table_id="nowhere")))
    assert await refusal(all_of(stream)) == Refusal("NOT_FOUND", "UNKNOWN_TABLE")


async def test_every_call_refuses_what_is_not_for_the_caller_or_not_now(house: House, table: str) -> None:
    metadata, stranger = house.engine.player("anna"), house.engine.player("eve")
    react, propose = pb.ReactRequest(table_id=table, reaction="wow"), pb.ProposeRequest(table_id=table, request_id="p")
    vote = pb.VoteRequest(table_id=table, request_id="v", proposal_sequence=1)
    players, not_yours = house.players, Refusal("PERMISSION_DENIED", "NOT_YOUR_TABLE")
    ahead = pb.WatchTableRequest(table_id=table, after_sequence=2**64 - 1)
    for call, expected in (
        (house.submit(table, "eve", PASS), not_yours),
        (players.React(react, metadata=stranger), not_yours),
        (players.Propose(propose, metadata=stranger), not_yours),
        (players.Vote(vote, metadata=stranger), not_yours),
        (players.Propose(propose, metadata=metadata), Refusal("INVALID_ARGUMENT", "UNKNOWN_PROPOSAL")),
        (players.Vote(vote, metadata=metadata), Refusal("FAILED_PRECONDITION", "NOTHING_PROPOSED")),
        (
            players.GetReplay(pb.GetReplayRequest(table_id=table), metadata=metadata),
            Refusal("FAILED_PRECONDITION", "TABLE_NOT_FINISHED"),
        ),
        (all_of(players.WatchTable(ahead, metadata=metadata)), Refusal("INVALID_ARGUMENT", "SEQUENCE_AHEAD")),
        (house.submit(table, "anna", PASS, "x" * 10_000), Refusal("INVALID_ARGUMENT", "TEXT_LENGTH")),
        (house.view("x" * 10_000, "anna"), Refusal("INVALID_ARGUMENT", "TEXT_LENGTH")),
        (house.submit(table, "anna", play_card(54)), Refusal("INVALID_ARGUMENT", "MALFORMED_ACTION")),
    ):
        assert await refusal(call) == expected
    await unchanged(house, table)


async def test_actions_are_refused_by_rule_turn_and_sequence_and_repeats_answered(house: House, table: str) -> None:
    player, view = await house.turn(table)
    other = "ben" if player == "anna" else "anna"
    action = view.legal_actions.actions[0]
    illegal = next(
        card for card in view.view.seats[view.viewer_seat].cards if play_card(card) not in view.legal_actions.actions
    )
    assert (await refusal(house.submit(table, other, play_card(1))))[:2] == ("FAILED_PRECONDITION", "NOT_YOUR_TURN")
    refused = await refusal(house.submit(table, player, play_card(illegal)))
    assert refused[:2] == ("FAILED_PRECONDITION", "ILLEGAL_ACTION")
    assert refused.rule.startswith("THU-")
    await unchanged(house, table)
    for _ in range(2):
        assert await house.submit(table, player, action, "r", expected_sequence=1) == 2
    stale = await refusal(house.submit(table, player, action, expected_sequence=1))
    assert stale == Refusal("ABORTED", "STALE_SEQUENCE")
    assert await refusal(house.submit(table, player, PASS, "r")) == Refusal("ALREADY_EXISTS", "REQUEST_ID_REUSED")
    await unchanged(house, table, 2)


def bad_tokens(house: House) -> dict[str, Metadata]:
    engine = house.engine
    good = engine.token("anna")
    head, _, signature = good.split(".")
    other_body = engine.token("ben").split(".")[1]
    return {
        "none": (),
        "no bearer": (("authorization", good),),
        "garbage": bearer("x.y.z"),
        "expired": bearer(engine.token("anna", clock=lambda: now() - 120_000)),
        "another key": bearer(engine.token("anna", key="engine")),
        "another audience": bearer(engine.token("anna", ENGINE_CONTROL_AUDIENCE)),
        "scoring's audience": bearer(engine.token("anna", SCORING_CONTROL_AUDIENCE)),
        "another body": bearer(f"{head}.{other_body}.{signature}"),
    }


async def test_no_call_is_served_without_a_token_that_holds(house: House, table: str) -> None:
    expected = Refusal("UNAUTHENTICATED", "UNAUTHENTICATED")
    request = pb.GetViewRequest(table_id=table).SerializeToString()
    for name, metadata in bad_tokens(house).items():
        for method in UNARY:
            assert await refusal(house.raw(SERVICE + method, request, metadata)) == expected, name
        watch = house.players.WatchTable(pb.WatchTableRequest(table_id=table), metadata=metadata, timeout=CALL_SECONDS)
        assert await refusal(all_of(watch)) == expected, name
        play = house.players_channel.stream_stream(SERVICE + "Play")(metadata=metadata, timeout=CALL_SECONDS)
        assert await refusal(all_of(play)) == expected, name


async def test_only_the_lobbys_own_token_opens_the_control_port(house: House) -> None:
    engine = house.engine
    player = bearer(engine.token("anna", PLAYER_AUDIENCE))
    own = bearer(engine.token("engine", ENGINE_CONTROL_AUDIENCE, key="engine"))
    for method in CONTROL_CALLS:
        for metadata in (player, own, ()):
            refused = await refusal(house.raw(CONTROL + method, b"", metadata, control=True))
            assert refused == Refusal("UNAUTHENTICATED", "UNAUTHENTICATED")
    other = bearer(engine.token("anna", ENGINE_CONTROL_AUDIENCE))
    for method in CONTROL_CALLS[1:]:
        refused = await refusal(house.raw(CONTROL + method, b"", other, control=True))
        assert refused == Refusal("PERMISSION_DENIED", "LOBBY_ONLY")


async def test_neither_port_serves_the_other_ones_calls(house: House) -> None:
    for call in (
        house.raw(CONTROL + "PrepareTable", b"", house.engine.player("anna")),
        house.raw(SERVICE + "GetView", b"", house.engine.lobby(), control=True),
    ):
        assert (await refusal(call)).code == "UNIMPLEMENTED"


async def test_bytes_that_are_no_message_are_malformed_everywhere(house: House, table: str) -> None:
    metadata = house.engine.player("anna")
    expected = Refusal("INVALID_ARGUMENT", "MALFORMED_MESSAGE")
    for method in UNARY:
        assert await refusal(house.raw(SERVICE + method, b"\xff\xff\xff", metadata)) == expected
    for method in CONTROL_CALLS[1:]:
        call = house.raw(CONTROL + method, b"\xff\xff\xff", house.engine.lobby(), control=True)
        assert await refusal(call) == expected
    watch = house.players_channel.unary_stream(SERVICE + "WatchTable")(b"\xff", metadata=metadata, timeout=CALL_SECONDS)
    assert await refusal(all_of(watch)) == expected
    first = house.play("anna")
    await first.write(b"\xff\xff")
    assert await refusal(all_of(first)) == expected
    later = house.play("anna")
    await later.write(pb.PlayRequest(watch=pb.WatchTableRequest(table_id=table)))
    assert (await later.read()).snapshot.sequence == 1
    await later.write(b"\xff\xff")
    assert await refusal(rest_of(later)) == expected
    await unchanged(house, table)


async def test_messages_beyond_the_limit_are_refused(house: House, table: str) -> None:
    metadata = house.engine.player("anna")
    for method in UNARY:
        assert (await refusal(house.raw(SERVICE + method, OVERSIZED, metadata))).code == "RESOURCE_EXHAUSTED"
    watch = house.players_channel.unary_stream(SERVICE + "WatchTable")(OVERSIZED, metadata=metadata)
    assert (await refusal(all_of(watch))).code == "RESOURCE_EXHAUSTED"
    control = house.raw(CONTROL + "PrepareTable", OVERSIZED, house.engine.lobby(), control=True)
    assert (await refusal(control)).code == "RESOURCE_EXHAUSTED"
    stream = house.play("anna")
    await stream.write(pb.PlayRequest(watch=pb.WatchTableRequest(table_id=table)))
    await stream.read()
    await stream.write(OVERSIZED)
    assert (await refusal(rest_of(stream))).code == "RESOURCE_EXHAUSTED"
    await unchanged(house, table)


@pytest.mark.parametrize(
    "first",
    [
        pb.PlayRequest(),
        pb.PlayRequest(action=pb.SubmitActionRequest(request_id="r", action=PASS)),
        None,
    ],
    ids=["empty", "action", "nothing"],
)
async def test_a_play_stream_begins_with_watch(house: House, first: pb.PlayRequest | None) -> None:
    stream = house.play("anna")
    if first is not None:
        await stream.write(first)
    else:
        await stream.done_writing()
    assert await refusal(all_of(stream)) == Refusal("INVALID_ARGUMENT", "MALFORMED_MESSAGE")


async def test_a_play_stream_has_one_watch_only(house: House, table: str) -> None:
    stream = house.play("anna")
    for _ in range(2):
        await stream.write(pb.PlayRequest(watch=pb.WatchTableRequest(table_id=table)))
    assert await refusal(all_of(stream)) == Refusal("INVALID_ARGUMENT", "MALFORMED_MESSAGE")


async def test_refusals_within_a_play_stream_are_answers_and_it_goes_on(house: House, table: str) -> None:
    player, view = await house.turn(table)
    stream = house.play(player)
    await stream.write(pb.PlayRequest(watch=pb.WatchTableRequest(table_id=table, after_sequence=1)))
    action = view.legal_actions.actions[0]
    requests = [
        pb.SubmitActionRequest(request_id="illegal", action=PASS),
        pb.SubmitActionRequest(request_id="x" * 70, action=action),
        pb.SubmitActionRequest(request_id="malformed", action=play_card(54)),
        pb.SubmitActionRequest(request_id="stale", action=action, expected_sequence=0),
        pb.SubmitActionRequest(request_id="elsewhere", action=action, table_id="another"),
        pb.SubmitActionRequest(request_id="right", action=action, table_id=table, expected_sequence=1),
        pb.SubmitActionRequest(request_id="right", action=action),
        pb.SubmitActionRequest(request_id="right", action=PASS),
    ]
    for request in requests:
        await stream.write(pb.PlayRequest(action=request))
    answers: list[tuple[str, str | int]] = []
    while len(answers) < len(requests):
        message = await stream.read()
        if message.HasField("answer"):
            answer = message.answer
            answers.append((answer.request_id, answer.sequence or answer.refusal.reason))
            if answer.request_id == "illegal":
                assert answer.refusal.code == grpc.StatusCode.FAILED_PRECONDITION.value[0]
                assert answer.refusal.rule.startswith("THU-")
    assert answers == [
        ("illegal", "ILLEGAL_ACTION"),
        ("x" * 64, "TEXT_LENGTH"),
        ("malformed", "MALFORMED_ACTION"),
        ("stale", "STALE_SEQUENCE"),
        ("elsewhere", "MALFORMED_MESSAGE"),
        ("right", 2),
        ("right", 2),
        ("right", "REQUEST_ID_REUSED"),
    ]
    stream.cancel()


async def test_a_spectator_is_refused_within_his_stream(house: House, table: str) -> None:
    stream = house.play("eve")
    await stream.write(pb.PlayRequest(watch=pb.WatchTableRequest(table_id=table)))
    assert not (await stream.read()).snapshot.HasField("viewer_seat")
    await stream.write(pb.PlayRequest(action=pb.SubmitActionRequest(request_id="r", action=PASS)))
    assert (await stream.read()).answer.refusal.reason == "NOT_YOUR_TABLE"
    stream.cancel()


async def test_what_cannot_be_prepared_or_opened_is_refused(house: House) -> None:
    table_id = uuid.uuid4().hex
    for changes, reason in (
        ({"game": "snap"}, "UNKNOWN_GAME"),
        ({"seats": 2**32 - 1}, "SEATS"),
        ({"options": table_pb2.GameOptions(values={"best_of": "three"})}, "OPTION"),
        ({"options": table_pb2.GameOptions(values={"x" * 5000: "1" * 5000})}, "OPTION"),
        ({"clock": table_pb2.Clock(action_seconds=2**32 - 1)}, "CLOCK"),
        ({"clock": None}, "CLOCK"),
    ):
        assert await refusal(house.prepare(table_id, **changes)) == Refusal("INVALID_ARGUMENT", reason)
    await house.prepare(table_id)
    two = [person("anna"), person("ben")]
    for seats, seeds, reason in (
        ([person("anna")], (), "SEATS"),
        ([person("anna"), computer("genius")], (), "UNKNOWN_BOT"),
        (two, [b"", b"x" * 65], "CLIENT_SEED"),
    ):
        assert await refusal(house.open(table_id, seats, seeds)) == Refusal("INVALID_ARGUMENT", reason)
    for _ in range(2):
        await house.open(table_id, two)
    assert await refusal(house.open(table_id, list(reversed(two)))) == Refusal("ALREADY_EXISTS", "TABLE_OPEN")
    assert await refusal(house.prepare(table_id, seats=3)) == Refusal("ALREADY_EXISTS", "TABLE_EXISTS")


async def test_statuses_are_for_so_many_tables(house: House, table: str) -> None:
    metadata = house.engine.lobby()
    answer = await house.control.GetTableStatuses(
        pb.GetTableStatusesRequest(table_ids=[table, "nowhere", table]), metadata=metadata
    )
    assert [(status.table_id, status.finished) for status in answer.statuses] == [(table, False)]
    call = house.control.GetTableStatuses(pb.GetTableStatusesRequest(table_ids=["x"] * 501), metadata=metadata)
    assert await refusal(call) == Refusal("INVALID_ARGUMENT", "TOO_MANY_IDS")
