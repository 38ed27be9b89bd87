"""The counters that services and clients have in common: their names, and the clients' counts that must match.

Clients count under keys: the name of a counter and its label values, with spaces between, such as "actions accepted
thulla" (see `key`) or "rpc SubmitAction OK" (see `rpc_key`). Counts of several processes are added up, so an event of
a whole table is counted by one of them. Clients also count events whose outcome they do not know: a counter may differ
by as many. Without faults, and if every client waits for the end of its calls, there are none, and the counts must be
equal. Actions of bots are in no counter; a table at which they play counts like any other.

actions accepted GAME       One for each action (table, player and request id) that was acknowledged, however often. The
                            services count it when it is stored, do not count repeats, and do not count actions by
                            time-out or by bots.
actions refused REASON      One for each refusal of an action, repeated refusals included, by SubmitAction or on a
                            PlayTable stream. Refusals before the table is known are not counted: for an empty or too
                            long table_id, and for an action on a stream of another table. Refusals for a reason of
                            UNCOUNTED_REASONS are omitted on both sides.
unanswered actions GAME     One for each time that an action was sent, the first or again, and no answer to it arrived
                            on the same call or stream.
timeouts GAME               One for each entry that acted for a seat because its time had run out: distinct sequences
                            of each table, from the streams or the replay.
tables finished             One for each table whose end a viewer received. Scoring counts the result when the engine
                            reports it, which may be a few seconds later.
unobserved tables           One for each table that was opened and whose end no viewer here received.
quick matches GAME          One for each table that FindMatch returned, to however many players and however often.
rpc METHOD CODE             One for each attempt at a call, the client's retries included, that a service ended: with
                            OK, or with a status that carries google.rpc.ErrorInfo (others come from the connection,
                            or name the gateway as their source). Streams too, by how they ended. CANCELLED is
                            omitted.
unanswered rpc METHOD       One for each attempt, or stream, that ended in any other way, such as by the client.
streams opened METHOD       One for each stream that was started, with any outcome; not for replays.
streams resumed             One for each PlayTable or WatchTable stream with after_sequence that brought a message, or
                            ended with OK.
silent streams METHOD       One for each stream that ended with neither a message, nor OK, nor ErrorInfo.
limited LIMIT               One for each call that a limit of a service refused, by the `limit` of its ErrorInfo.
slow readers                One for each stream that ended with the reason SLOW_READER.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TypeAlias

from google.protobuf.descriptor import MethodDescriptor

from croupier_api.v1 import engine_pb2, lobby_pb2, scoring_pb2

Values: TypeAlias = tuple[str, ...]
UNCOUNTED_REASONS = frozenset(
    {
        "INVALID_ACCESS_TOKEN",
        "MALFORMED_REQUEST",
        "SERVER_STOPPING",
        "STORE_UNAVAILABLE",
        "TABLE_BUSY",
        "TABLE_TOO_NEW",
        "TOO_MANY_REQUESTS",
        "UNKNOWN_TABLE",
    }
)
"""Reasons of refusals before the table is known, and of refusals that clients retry by themselves."""


ANSWERS_IN_PARTS = frozenset({"GetReplay", "WatchReplay"})
"""The methods that clients call as unary ones: their stream is one answer in parts."""
METHODS: Mapping[str, MethodDescriptor] = MappingProxyType(
    {
        f"/{service.full_name}/{method.name}": method
        for file in (engine_pb2.DESCRIPTOR, lobby_pb2.DESCRIPTOR, scoring_pb2.DESCRIPTOR)
        for service in file.services_by_name.values()
        for method in service.methods
    }
)
"""The methods of the players' services by path; their names are unique."""


def _labels(*names: str) -> Callable[[Mapping[str, str]], Values | None]:
    return lambda labels: tuple(labels.get(name, "") for name in names)


def _reason(labels: Mapping[str, str]) -> Values | None:
    reason = labels.get("reason", "")
    return None if reason in UNCOUNTED_REASONS else (reason,)


def _new_result(labels: Mapping[str, str]) -> Values | None:
    return () if labels.get("kind") == "result" and labels.get("outcome") == "new" else None


def _call(labels: Mapping[str, str]) -> Values | None:
    method, code = METHODS.get(labels.get("method", "")), labels.get("code", "")
    return (method.name, code) if method is not None and code != "CANCELLED" else None


def _stream(labels: Mapping[str, str]) -> Values | None:
    method = METHODS.get(labels.get("method", ""))
    is_stream = method is not None and method.server_streaming and method.name not in ANSWERS_IN_PARTS
    return (method.name,) if method is not None and is_stream else None


@dataclass(frozen=True, slots=True)
class ComparedCounter:
    """A counter: its name, the services' metrics that add up to it, and the labels that it is counted by.

    `values` maps the labels of a sample to the values that it is counted by, None if it does not belong to the counter.
    `unknown` is the clients' count of events with an unknown outcome, which has the first `unknown_values` values.
    """

    name: str
    metrics: Values
    values: Callable[[Mapping[str, str]], Values | None]
    unknown: str = ""
    unknown_values: int = 0
    needs_all_observed: bool = False
    """Whether the services may count more at tables whose end no viewer received."""


UNOBSERVED_TABLES = "unobserved tables"
UNANSWERED_ACTIONS = "unanswered actions"
UNANSWERED_CALLS = "unanswered rpc"
SILENT_STREAMS = "silent streams"
STREAMS = ("croupier_rpc_calls_total", "croupier_rpc_open_calls")
COMPARED_COUNTERS: tuple[ComparedCounter, ...] = (
    ComparedCounter(
        "actions accepted", ("croupier_actions_accepted_total",), _labels("game"), UNANSWERED_ACTIONS, unknown_values=1
    ),
    ComparedCounter("actions refused", ("croupier_actions_refused_total",), _reason, UNANSWERED_ACTIONS),
    ComparedCounter("timeouts", ("croupier_clock_expiries_total",), _labels("game"), needs_all_observed=True),
    ComparedCounter("tables finished", ("croupier_scoring_entries_total",), _new_result, UNOBSERVED_TABLES),
    ComparedCounter(
        "quick matches", ("croupier_lobby_matches_total",), _labels("game"), f"{UNANSWERED_CALLS} FindMatch"
    ),
    ComparedCounter("rpc", ("croupier_rpc_calls_total",), _call, UNANSWERED_CALLS, unknown_values=1),
    ComparedCounter("streams opened", STREAMS, _stream, SILENT_STREAMS, unknown_values=1),
    ComparedCounter("streams resumed", ("croupier_resumes_total",), _labels(), SILENT_STREAMS),
    ComparedCounter("limited", ("croupier_refusals_total",), _labels("limit"), UNANSWERED_CALLS),
    ComparedCounter("slow readers", ("croupier_slow_readers_closed_total",), _labels(), UNANSWERED_CALLS),
)


def key(name: str, *values: str) -> str:
    """Return the key of a clients' count: a name of the list above, and its label values."""
    return " ".join((name, *values))


def rpc_key(path: str, code: str | None) -> str:
    """Return the key of a call to a path such as "/croupier_api.v1.EngineService/PlayTable" that ended with a code.

    The code is None for calls that the service did not end.
    """
    method = path.rpartition("/")[2]
    return key(UNANSWERED_CALLS, method) if code is None else key("rpc", method, code)
