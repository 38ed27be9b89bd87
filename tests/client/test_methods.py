"""The methods cover every RPC for players, with its name, path and types."""

from inspect import signature
from typing import Any

import pytest
from google.protobuf.duration_pb2 import Duration

from croupier.engine.api.table_codec import decode_options
from croupier_api.v1 import actions_pb2, engine_pb2, lobby_pb2, tables_pb2
from croupier_client import BlockingClient, Endpoints
from croupier_client.methods import ServiceMethods, encode_options
from croupier_client.retry import Attempts
from croupier_client.rpc import R, Rpc, Stream, Unary
from tests.client.fake_croupier import SERVICES

OTHER_RPCS = {"SignIn", "RefreshToken", "SignOut", "WatchTable", "PlayTable"}
RPC_NAMES = {"watch_my_tables": "WatchTables"}
LEFT_OUT = {
    "get_table": {"invite_code"},
    "join_table": {"invite_code"},
    "watch_tables": {"mine"},
    "watch_my_tables": {"table_id", "game"},
    "watch_replay": {"all_seats"},
}
"""The fields that a method does not set."""
NAMES = [name for name, member in vars(ServiceMethods).items() if isinstance(member, Unary | Stream)]
VALUES: dict[object, Any] = {
    str: "x",
    str | None: "x",
    int: 2,
    int | None: 0,
    bool: True,
    bytes: b"s",
    "options": {"a": True},
    "bots": ["random"],
    "time_control": tables_pb2.TimeControl(action_time=Duration(seconds=9)),
    "state": tables_pb2.TABLE_STATE_PLAYING,
    "action": actions_pb2.Action(draw=actions_pb2.DrawAction()),
    "vote": engine_pb2.VOTE_AGREE,
    "access": tables_pb2.TableAccess(visibility=tables_pb2.VISIBILITY_LINK),
    "purpose": engine_pb2.LINK_PURPOSE_REPLAY,
    "eyes": 0,
}
"""The value of each argument, by its name or type."""


class RpcRecorder(BlockingClient):
    """A client that returns RPCs instead of calling them."""

    def __init__(self) -> None:
        super().__init__(Endpoints.single("127.0.0.1:1"), "a secret of this test")

    def invoke(self, rpc: Rpc[R]) -> Any:
        return rpc

    def follow(self, rpc: Rpc[R]) -> Any:
        return rpc


RPCS = {f"/{service.full_name}/{rpc.name}": rpc for service in SERVICES for rpc in service.methods}
"""The RPCs for players, by path."""


def build_rpc(name: str, **given: Any) -> Any:
    """Return the RPC that a method builds of these arguments, by default of all that it has."""
    method = getattr(RpcRecorder(), name)
    wanted = [it for it in signature(method).parameters.values() if it.name not in ("self", "invite_code")]
    return method(**(given or {it.name: VALUES.get(it.name, VALUES.get(it.annotation)) for it in wanted}))


@pytest.mark.parametrize("name", NAMES)
def test_a_method_has_the_name_and_the_arguments_of_its_rpc(name: str) -> None:
    rpc = build_rpc(name)
    described = RPCS[rpc.path]
    assert described.name == RPC_NAMES.get(name, name.title().replace("_", ""))
    assert described.input_type == rpc.request.DESCRIPTOR
    assert described.output_type == rpc.response.DESCRIPTOR
    assert getattr(RpcRecorder(), name).__doc__
    assert getattr(ServiceMethods, name).__doc__
    left_out = {field.name for field in rpc.request.DESCRIPTOR.fields} - {
        field.name for field, _ in rpc.request.ListFields()
    }
    assert left_out == LEFT_OUT.get(name, set())
    assert rpc.table_id == ("x" if "table_id" in {field.name for field, _ in rpc.request.ListFields()} else "")


def test_every_rpc_for_players_has_a_method() -> None:
    called = {build_rpc(name).path.rsplit("/", 1)[1] for name in NAMES}
    assert called | OTHER_RPCS == {rpc.name for rpc in RPCS.values()}


@pytest.mark.parametrize("name", ["find_match", "create_table"])
def test_every_request_that_would_count_twice_has_a_new_id_unless_one_is_given(name: str) -> None:
    rpcs = [build_rpc(name, game="g", seat_count=4, request_id=given) for given in ("", "", "mine")]
    first, second, third = (rpc.request.request_id for rpc in rpcs)
    assert len({first, second, ""}) == 3
    assert third == "mine"


def test_a_match_by_preset_and_with_bots_after_a_time_of_zero_too() -> None:
    match: dict[str, Any] = {"game": "g", "seat_count": 4, "request_id": "mine", "preset": "blitz"}
    for given, expected in ((None, None), (0, Duration()), (60, Duration(seconds=60))):
        rpc = build_rpc("find_match", **match, bots_after_seconds=given)
        assert rpc.request == lobby_pb2.FindMatchRequest(**match, fill_with_bots_after=expected)


@pytest.mark.parametrize("name", ["get_table", "join_table"])
def test_a_table_is_named_by_one_of_id_and_invite_code(name: str) -> None:
    request = {"get_table": lobby_pb2.GetTableRequest, "join_table": lobby_pb2.JoinTableRequest}[name]
    assert build_rpc(name, invite_code="code").request == request(invite_code="code")
    for ways in ({}, {"table_id": "t", "invite_code": "c"}):
        with pytest.raises(ValueError, match="exactly one"):
            getattr(RpcRecorder(), name)(**ways)


def test_a_replay_is_watched_with_the_eyes_of_a_seat_of_all_seats_or_of_a_spectator() -> None:
    requests = [build_rpc("watch_replay", table_id="t", eyes=eyes).request for eyes in (None, 0, "all")]
    expected = (
        engine_pb2.WatchReplayRequest(table_id="t"),
        engine_pb2.WatchReplayRequest(table_id="t", seat=0),
        engine_pb2.WatchReplayRequest(table_id="t", all_seats=True),
    )
    assert requests == [*expected]


def test_the_parts_of_a_replay_are_one_answer() -> None:
    rpc = build_rpc("watch_replay", table_id="t")
    events = [engine_pb2.TableEvent(update=engine_pb2.TableUpdate(sequence=sequence)) for sequence in (1, 2, 3)]
    parts = [engine_pb2.WatchReplayResponse(table_events=part) for part in (events[:2], events[2:])]
    assert rpc.join(parts) == engine_pb2.WatchReplayResponse(table_events=events)


def test_rpcs_that_are_not_idempotent_are_called_once() -> None:
    once = {name for name in NAMES if build_rpc(name).attempts is Attempts.ONCE}
    assert once == {"leave_table", "add_bot", "clear_seat", "send_reaction"}


def test_options_as_the_contract_has_them() -> None:
    options: dict[str, bool | int | str] = {"a": True, "b": False, "c": 3, "d": "word"}
    assert decode_options(encode_options(options)) == options
    assert not encode_options(None)
