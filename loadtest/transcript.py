"""The transcript of a table, as lines of JSON in the order of time: kept where there is no replay."""

import json
from collections.abc import Iterator
from typing import Any

from google.protobuf.json_format import MessageToDict

from croupier_api.v1 import actions_pb2, engine_pb2
from loadtest.judge.notation import reason_text
from loadtest.record import SeatRecord, TableRecord

Line = dict[str, Any]


def transcript_of(record: TableRecord) -> str:
    """Return a line for the table, then everything that its viewers sent and received."""
    head = {"table_id": record.table_id, "game": record.game, "seats": record.seats, "commitment": record.commitment}
    lines = sorted((line for viewer in record.viewers for line in _lines_of(viewer)), key=lambda line: int(line["at"]))
    return "".join(json.dumps(line, separators=(",", ":")) + "\n" for line in (head, *lines))


def _lines_of(one: SeatRecord) -> Iterator[Line]:
    viewer = {"player_id": one.player_id, "seat": one.seat}
    for sent in one.sent:
        action = MessageToDict(actions_pb2.Action.FromString(sent.action), preserving_proto_field_name=True)
        request = {"request_id": sent.request_id, "action": action, "expected_sequence": sent.expected_sequence}
        yield {"at": sent.at_milliseconds, **viewer, "sent": request}
    for answer in one.answered:
        reason = reason_text(answer.reason)
        yield {"at": answer.at_milliseconds, **viewer, "answered": answer._asdict() | {"reason": reason}}
    for received in one.received:
        message = MessageToDict(
            engine_pb2.PlayTableResponse.FromString(received.body), preserving_proto_field_name=True
        )
        yield {"at": received.at_milliseconds, **viewer, "stream": received.stream, "received": message}
