"""What the services count and the clients count too: the figures by name, and what clients must count to match.

Clients count under keys: the name of a figure and the values that it is counted by, with spaces between, such as
"actions accepted thulla" (see `key`) or "rpc SubmitAction OK" (see `rpc_key`). Counts of several processes are added
up, so whatever happens to a table as a whole is counted by one of them. Beside what they know, clients count what
they do not know and the services may: by as much a figure may differ. In a run in which nothing breaks, and in which
everybody waits for the end of his calls, that is nothing, and the figures must be equal. What computer players do is
in no figure; a table at which they play counts like any other.

actions accepted GAME       One for each action (table, player and request id) that was acknowledged, however often. The
                            services count it once it is stored, and not again when it is sent again, and none of what
                            they do for seats themselves.
actions refused REASON      One for each refusal of an action, also of one that was refused before, by SubmitAction or
                            on a Play stream. Not counted, as it comes before there is a table to act at: a table_id
                            that is empty or too long, and an action on a stream of another table. What is refused
                            for reasons in REASONS_OF_NO_RULE is left out on both sides.
unanswered actions GAME     One for each time that an action was sent, the first or again, and no answer came to it on
                            the call or stream on which it went.
timeouts GAME               One for each entry that acted for a seat because its time had run out: distinct sequences
                            of each table, from the streams or the replay.
tables finished             One for each table whose game was seen to end. Scoring counts the result when the engine
                            has handed it over, which may be a few seconds after that.
unheard tables              One for each table that was opened and whose end nobody here saw.
quick matches GAME          One for each table that QuickMatch gave, whoever was told of it, and however often.
rpc METHOD CODE             One for each attempt at a call, those that a client makes again by itself included, that
                            ended as the service said: with OK, or with a status that carries google.rpc.ErrorInfo
                            (others come from the connection). Streams too, by how they ended. CANCELLED is left out.
unanswered rpc METHOD       One for each attempt, or stream, that ended in any other way, such as by the client.
streams opened METHOD       One for each stream that was started, whatever came of it.
streams resumed             One for each Play or WatchTable stream with after_sequence on which a message was heard, or
                            which ended with OK.
unheard streams METHOD      One for each stream that ended with neither a message, nor OK, nor ErrorInfo.
slow readers                One for each stream that ended with the reason SLOW_READER.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TypeAlias

from google.protobuf.descriptor import MethodDescriptor

from croupier_api.v1 import engine_pb2, lobby_pb2, scoring_pb2

Values: TypeAlias = tuple[str, ...]
REASONS_OF_NO_RULE = frozenset(
    {
        "BUSY",
        "DRAINING",
        "MALFORMED_MESSAGE",
        "STORE_FAILED",
        "UNAUTHENTICATED",
        "UNKNOWN_RULES",
        "UNKNOWN_TABLE",
    }
)
"""Refusals before there is a table to act at, and those after which clients send the same again by themselves."""


def _methods() -> Mapping[str, MethodDescriptor]:
    services = (
        engine_pb2.DESCRIPTOR.services_by_name["EngineService"],
        lobby_pb2.DESCRIPTOR.services_by_name["LobbyService"],
        scoring_pb2.DESCRIPTOR.services_by_name["ScoringService"],
    )
    return {f"/{service.full_name}/{method.name}": method for service in services for method in service.methods}


METHODS: Mapping[str, MethodDescriptor] = MappingProxyType(_methods())
"""The calls that players make, by path; their names are different in all services."""


def _by(*names: str) -> Callable[[Mapping[str, str]], Values | None]:
    return lambda labels: tuple(labels.get(name, "") for name in names)


def _by_rule(labels: Mapping[str, str]) -> Values | None:
    reason = labels.get("reason", "")
    return None if reason in REASONS_OF_NO_RULE else (reason,)


def _new_result(labels: Mapping[str, str]) -> Values | None:
    return () if labels.get("kind") == "result" and labels.get("outcome") == "new" else None


def _call(labels: Mapping[str, str]) -> Values | None:
    method, code = METHODS.get(labels.get("method", "")), labels.get("code", "")
    return (method.name, code) if method is not None and code != "CANCELLED" else None


def _stream(labels: Mapping[str, str]) -> Values | None:
    method = METHODS.get(labels.get("method", ""))
    return (method.name,) if method is not None and method.server_streaming else None


@dataclass(frozen=True, slots=True)
class Counted:
    """A figure: its name, the samples that make it up, and what tells them apart.

    `values` gives by which values a sample with these labels is counted, None if it does not belong to the figure.
    `unknown` names what clients count of that which they do not know; the first `unknown_values` values say of what.
    """

    name: str
    metrics: frozenset[str]
    values: Callable[[Mapping[str, str]], Values | None]
    unknown: str = ""
    unknown_values: int = 0
    needs_all_heard: bool = False
    """Whether nobody knows how much the services count at tables that were not heard to their end."""


UNHEARD_TABLES = "unheard tables"
UNANSWERED_ACTIONS = "unanswered actions"
UNANSWERED_CALLS = "unanswered rpc"
UNHEARD_STREAMS = "unheard streams"
COUNTED: tuple[Counted, ...] = (
    Counted(
        "actions accepted",
        frozenset({"croupier_actions_accepted_total"}),
        _by("game"),
        UNANSWERED_ACTIONS,
        unknown_values=1,
    ),
    Counted("actions refused", frozenset({"croupier_actions_refused_total"}), _by_rule, UNANSWERED_ACTIONS),
    Counted("timeouts", frozenset({"croupier_clock_expiries_total"}), _by("game"), needs_all_heard=True),
    Counted("tables finished", frozenset({"croupier_scoring_entries_total"}), _new_result, UNHEARD_TABLES),
    Counted(
        "quick matches", frozenset({"croupier_lobby_matches_total"}), _by("game"), f"{UNANSWERED_CALLS} QuickMatch"
    ),
    Counted("rpc", frozenset({"croupier_rpc_calls_total"}), _call, UNANSWERED_CALLS, unknown_values=1),
    Counted(
        "streams opened",
        frozenset({"croupier_rpc_calls_total", "croupier_rpc_open_calls"}),
        _stream,
        UNHEARD_STREAMS,
        unknown_values=1,
    ),
    Counted("streams resumed", frozenset({"croupier_resumes_total"}), _by(), UNHEARD_STREAMS),
    Counted("slow readers", frozenset({"croupier_slow_readers_closed_total"}), _by(), UNANSWERED_CALLS),
)


def key(name: str, *values: str) -> str:
    """Under what clients count: a name of the list above, and the values that it is counted by."""
    return " ".join((name, *values))


def rpc_key(path: str, code: str | None) -> str:
    """Under what clients count a call to a path such as "/croupier_api.v1.EngineService/Play" that ended with a code.

    None is for calls that ended otherwise than the service said.
    """
    method = path.rpartition("/")[2]
    return key(UNANSWERED_CALLS, method) if code is None else key("rpc", method, code)
