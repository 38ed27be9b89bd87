"""What the viewers of a table lived through, as lines of JSON in the order of time: kept where there is no replay."""

import json
from collections.abc import Iterator
from typing import Any

from google.protobuf.json_format import MessageToDict

from croupier_api.v1 import engine_pb2, table_pb2
from loadtest.record import SeatRecord, TableRecord

Line = dict[str, Any]


def account_of(record: TableRecord) -> str:
    """The table in a first line, then everything that anybody sent, was answered and heard."""
    head = {"table_id": record.table_id, "game": record.game, "seats": record.seats, "commitment": record.commitment}
    lines = sorted((line for one in record.viewers for line in _lines_of(one)), key=lambda line: int(line["at"]))
    return "".join(json.dumps(line, separators=(",", ":")) + "\n" for line in (head, *lines))


def _lines_of(one: SeatRecord) -> Iterator[Line]:
    who = {"player_id": one.player_id, "seat": one.seat}
    for sent in one.sent:
        action = MessageToDict(table_pb2.Action.FromString(sent.action), preserving_proto_field_name=True)
        told = {"request_id": sent.request_id, "action": action, "expected_sequence": sent.expected_sequence}
        yield {"at": sent.at_milliseconds, **who, "sent": told}
    for answer in one.answered:
        yield {"at": answer.at_milliseconds, **who, "answered": answer._asdict()}
    for heard in one.heard:
        message = MessageToDict(engine_pb2.PlayResponse.FromString(heard.body), preserving_proto_field_name=True)
        yield {"at": heard.at_milliseconds, **who, "stream": heard.stream, "heard": message}
