"""The calls against the contract: every rpc for players is there, under its own path and types."""

import inspect
from collections.abc import Iterator
from typing import Any

import pytest
from google.protobuf.descriptor import MethodDescriptor
from google.protobuf.message import Message

from croupier_api.v1 import engine_pb2, lobby_pb2, scoring_pb2, table_pb2
from croupier_client.callers import BlockingCaller, Call, Messages, R
from croupier_client.calls import Calls, game_options
from croupier_client.retry import Attempts, Retries

MADE_ELSEWHERE = {"SignIn", "RefreshToken", "WatchTable", "Play"}
ARGUMENTS: dict[str, dict[str, Any]] = {
    "list_games": {},
    "create_table": {
        "game": "thulla",
        "seats": 3,
        "options": {"a": True},
        "clock": table_pb2.Clock(action_seconds=9),
        "private": True,
    },
    "get_table": {"table_id": "t"},
    "list_tables": {"game": "g", "state": lobby_pb2.TABLE_STATE_PLAYING, "page_size": 5, "page_token": "p"},
    "watch_tables": {"table_id": "t", "game": "g"},
    "join_table": {"table_id": "t"},
    "leave_table": {"table_id": "t"},
    "set_ready": {"table_id": "t", "ready": True, "client_seed": b"s"},
    "add_bot": {"table_id": "t", "bot": "random", "seat": 0},
    "remove_seat": {"table_id": "t", "seat": 2},
    "quick_match": {"game": "g", "seats": 4, "client_seed": b"s", "request_id": "r"},
    "submit_action": {
        "table_id": "t",
        "request_id": "r",
        "action": table_pb2.Action(draw=table_pb2.DrawAction()),
        "expected_sequence": 0,
    },
    "get_view": {"table_id": "t"},
    "react": {"table_id": "t", "reaction": "wow"},
    "propose": {"table_id": "t", "request_id": "r", "proposal": "p"},
    "vote": {"table_id": "t", "request_id": "r", "proposal_sequence": 2, "agree": True},
    "get_replay": {"table_id": "t"},
    "get_score_sheet": {"table_id": "t"},
    "get_player_statistics": {"player_id": "p"},
    "get_leaderboard": {"game": "g", "page_size": 5, "page_token": "p"},
    "list_results": {"game": "g", "player_id": "p", "page_size": 5, "page_token": "p"},
}


class Recorder(Calls, BlockingCaller):
    """A client that notes calls instead of making them."""

    def __init__(self) -> None:
        self.made: list[Call[Any]] = []

    def invoke(self, call: Call[R]) -> R:
        self.made.append(call)
        return call.response()

    def follow(self, call: Call[R]) -> Iterator[R]:
        self.made.append(call)
        return iter([call.response()])

    def open(self, call: Call[R]) -> Messages[R]:
        raise NotImplementedError

    def open_play(self, table_id: str, requests: Iterator[engine_pb2.PlayRequest]) -> Messages[engine_pb2.PlayResponse]:
        raise NotImplementedError

    def retries(self, attempts: Attempts) -> Retries:
        raise NotImplementedError


def rpcs() -> dict[str, MethodDescriptor]:
    """The rpcs for players, by path."""
    services = [
        lobby_pb2.DESCRIPTOR.services_by_name["LobbyService"],
        engine_pb2.DESCRIPTOR.services_by_name["EngineService"],
        scoring_pb2.DESCRIPTOR.services_by_name["ScoringService"],
    ]
    return {f"/{service.full_name}/{rpc.name}": rpc for service in services for rpc in service.methods}


def made_by(name: str) -> Call[Message]:
    recorder = Recorder()
    getattr(recorder, name)(**ARGUMENTS[name])
    return recorder.made[0]


@pytest.mark.parametrize("name", ARGUMENTS)
def test_call_is_an_rpc_of_the_contract(name: str) -> None:
    call = made_by(name)
    rpc = rpcs()[call.path]
    assert rpc.input_type == call.request.DESCRIPTOR
    assert rpc.output_type == call.response.DESCRIPTOR


@pytest.mark.parametrize("name", ARGUMENTS)
def test_every_argument_reaches_the_request(name: str) -> None:
    call = made_by(name)
    left_out = {field.name for field in call.request.DESCRIPTOR.fields} - {
        field.name for field, _ in call.request.ListFields()
    }
    assert left_out == ({"invite_code"} if name == "join_table" else set())


def test_every_rpc_for_players_has_a_call() -> None:
    called = {made_by(name).path.rsplit("/", 1)[1] for name in ARGUMENTS}
    assert called | MADE_ELSEWHERE == {rpc.name for rpc in rpcs().values()}


def test_every_wish_has_a_name_of_its_own_unless_one_is_given() -> None:
    recorder = Recorder()
    for given in ("", "", "mine"):
        recorder.quick_match(game="g", seats=4, request_id=given)
    first, second, third = (getattr(call.request, "request_id", "") for call in recorder.made)
    assert "" not in {first, second}
    assert first != second
    assert third == "mine"


def test_join_needs_one_way_in() -> None:
    recorder = Recorder()
    recorder.join_table(invite_code="code")
    assert recorder.made[0].request == lobby_pb2.JoinTableRequest(invite_code="code")
    for ways in ({}, {"table_id": "t", "invite_code": "c"}):
        with pytest.raises(ValueError, match="exactly one"):
            recorder.join_table(**ways)


def test_table_id_is_known_for_routing() -> None:
    assert made_by("get_view").table_id == "t"
    assert made_by("list_games").table_id == ""


def test_what_harms_when_done_twice_is_done_once() -> None:
    once = {name for name in ARGUMENTS if made_by(name).attempts is Attempts.ONCE}
    assert once == {"create_table", "leave_table", "add_bot", "remove_seat", "react"}


def test_methods_tell_what_they_do() -> None:
    for name in ARGUMENTS:
        assert inspect.getdoc(getattr(Recorder(), name)), name
        assert getattr(Calls, name).__doc__, name


def test_options_as_the_contract_writes_them() -> None:
    assert dict(game_options({"a": True, "b": False, "c": 3, "d": "word"}).values) == {
        "a": "true",
        "b": "false",
        "c": "3",
        "d": "word",
    }
    assert not game_options(None).values
