"""The calls against the contract: every rpc for players is there, under its own path and types."""

from collections.abc import Iterator
from inspect import signature
from typing import Any

import pytest

from croupier_api.v1 import engine_pb2, lobby_pb2, table_pb2
from croupier_client.callers import BlockingCaller, Call, Messages, R, Stream, Unary
from croupier_client.calls import Calls, game_options
from croupier_client.retry import Attempts, Retries
from tests.client.fakes import SERVICES

MADE_ELSEWHERE = {"SignIn", "RefreshToken", "WatchTable", "Play"}
NAMES = [name for name, member in vars(Calls).items() if isinstance(member, Unary | Stream)]
VALUES: dict[object, Any] = {
    str: "x",
    str | None: "x",
    int: 2,
    int | None: 0,
    bool: True,
    bytes: b"s",
    "options": {"a": True},
    "clock": table_pb2.Clock(action_seconds=9),
    "state": lobby_pb2.TABLE_STATE_PLAYING,
    "action": table_pb2.Action(draw=table_pb2.DrawAction()),
}
"""What is given for each argument, by its name or type."""


class Recorder(Calls, BlockingCaller):
    """A client that gives calls instead of making them."""

    def invoke(self, call: Call[R]) -> Any:
        return call

    def follow(self, call: Call[R]) -> Any:
        return call

    def open(self, call: Call[R]) -> Messages[R]:
        raise NotImplementedError

    def open_play(self, table_id: str, requests: Iterator[engine_pb2.PlayRequest]) -> Messages[engine_pb2.PlayResponse]:
        raise NotImplementedError

    def retries(self, attempts: Attempts) -> Retries:
        raise NotImplementedError


RPCS = {f"/{service.full_name}/{rpc.name}": rpc for service in SERVICES for rpc in service.methods}
"""Those for players, by path."""


def made_by(name: str, **given: Any) -> Any:
    """The call that a method makes of these arguments, or of all that it takes."""
    method = getattr(Recorder(), name)
    wanted = [it for it in signature(method).parameters.values() if it.name not in ("self", "invite_code")]
    return method(**(given or {it.name: VALUES.get(it.name, VALUES.get(it.annotation)) for it in wanted}))


@pytest.mark.parametrize("name", NAMES)
def test_a_call_is_an_rpc_of_the_contract_to_which_every_argument_is_given(name: str) -> None:
    call = made_by(name)
    rpc = RPCS[call.path]
    assert rpc.input_type == call.request.DESCRIPTOR
    assert rpc.output_type == call.response.DESCRIPTOR
    assert getattr(Recorder(), name).__doc__
    assert getattr(Calls, name).__doc__
    left_out = {field.name for field in call.request.DESCRIPTOR.fields} - {
        field.name for field, _ in call.request.ListFields()
    }
    assert left_out == ({"invite_code"} if name == "join_table" else set())
    assert call.table_id == ("x" if "table_id" in call.request.DESCRIPTOR.fields_by_name else "")


def test_every_rpc_for_players_has_a_call() -> None:
    called = {made_by(name).path.rsplit("/", 1)[1] for name in NAMES}
    assert called | MADE_ELSEWHERE == {rpc.name for rpc in RPCS.values()}


def test_every_wish_has_a_name_of_its_own_unless_one_is_given() -> None:
    calls = [made_by("quick_match", game="g", seats=4, request_id=given) for given in ("", "", "mine")]
    first, second, third = (call.request.request_id for call in calls)
    assert len({first, second, ""}) == 3
    assert third == "mine"


def test_join_needs_one_way_in() -> None:
    assert made_by("join_table", invite_code="code").request == lobby_pb2.JoinTableRequest(invite_code="code")
    for ways in ({}, {"table_id": "t", "invite_code": "c"}):
        with pytest.raises(ValueError, match="exactly one"):
            Recorder().join_table(**ways)


def test_what_harms_when_done_twice_is_done_once() -> None:
    once = {name for name in NAMES if made_by(name).attempts is Attempts.ONCE}
    assert once == {"create_table", "leave_table", "add_bot", "remove_seat", "react"}


def test_options_as_the_contract_writes_them() -> None:
    assert dict(game_options({"a": True, "b": False, "c": 3, "d": "word"}).values) == {
        "a": "true",
        "b": "false",
        "c": "3",
        "d": "word",
    }
    assert not game_options(None).values
