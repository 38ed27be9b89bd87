"""Stored values name their type and version, and unknown ones are refused by name."""

import json
import re
import zlib
from base64 import b64decode
from random import Random
from typing import Any, get_args

import pytest

from croupier.engine.core.log import (
    ActedBy,
    ClockCompensated,
    Entry,
    LoggedEvent,
    Proposed,
    SeatConfig,
    TableEnded,
    Voted,
)
from croupier.engine.core.log_codec import (
    FORMATS,
    UnreadableLog,
    decode_config,
    decode_entry,
    decode_log,
    encode_body,
    encode_config,
    encode_log,
    row_of,
)
from croupier.games.actions import Declare, Lay, Pass, Play
from croupier.games.interface import CardsShuffled, ProposalAgreed, SeatActed
from croupier.runtime.table_access import TableAccess, Visibility, WatchPolicy
from tests.engine.folds import as_archived
from tests.engine.play import make_config
from tests.engine.samples import ACTIONS

HASH_OF_R = bytes.fromhex("9a59d82ab6")
PLAYED = '{"t":"act","v":1,"seat":1,"action":{"type":"play","card":"QH"}'
BODIES: dict[str, Entry] = {
    PLAYED + ',"request":"r\\u00e9"}': Entry(2, 5, 9, SeatActed(1, Play(36)), request_id="ré"),
    PLAYED + ',"by":1}': Entry(2, 5, 9, SeatActed(1, Play(36)), ActedBy.TIMEOUT),
    PLAYED + ',"by":2}': Entry(2, 5, 9, SeatActed(1, Play(36)), ActedBy.BOT),
    '{"t":"shuffle","v":1,"cards":"JK 2C","drawn":[3,0]}': Entry(2, 5, 9, CardsShuffled((52, 0), (3, 0))),
    '{"t":"shuffle","v":1,"cards":"#64 2C #255","drawn":[]}': Entry(2, 5, 9, CardsShuffled((63, 0, 254))),
    '{"t":"act","v":1,"seat":0,"action":{"type":"play","card":"#64"}}': Entry(2, 5, 9, SeatActed(0, Play(63))),
    '{"t":"act","v":1,"seat":0,"action":{"type":"lay","cards":["#255"],"pile":"melds","owner":2}}': Entry(
        2, 5, 9, SeatActed(0, Lay((254,), pile="melds", owner=2))
    ),
    '{"t":"act","v":1,"seat":0,"action":{"type":"declare","word":"boast","amount":0,"cards":["#64"]}}': Entry(
        2, 5, 9, SeatActed(0, Declare("boast", amount=0, cards=(63,)))
    ),
    '{"t":"propose","v":1,"seat":0,"proposal":"redeal","expires_at":7,"request":"r"}': Entry(
        2, 5, 9, Proposed(0, "redeal", 7), request_id="r"
    ),
    '{"t":"vote","v":1,"seat":1,"proposal_sequence":17,"agree":false,"request":"r"}': Entry(
        2, 5, 9, Voted(1, 17, agree=False), request_id="r"
    ),
    '{"t":"agree","v":1,"proposal":"redeal"}': Entry(2, 5, 9, ProposalAgreed("redeal")),
    '{"t":"compensate","v":1,"milliseconds":2000}': Entry(2, 5, 9, ClockCompensated(2_000)),
    '{"t":"end","v":1,"limit":"rounds"}': Entry(2, 5, 9, TableEnded("rounds")),
}
"""Cards of a custom deck are stored by their numbers in the contract, independent of the rules."""
FROM_SEATS: tuple[LoggedEvent, ...] = (
    *(SeatActed(3, action) for action in ACTIONS),
    *(Proposed(2, 'ö"', 7), Voted(1, 5, agree=True), Voted(0, 5, agree=False)),
)
OTHERS: tuple[LoggedEvent, ...] = (
    *(CardsShuffled((51, 0, 52, 7), (3, 0)), CardsShuffled((1,)), CardsShuffled((), (2,)), CardsShuffled((254, 63))),
    *(ClockCompensated(1_500), ProposalAgreed("redeal"), TableEnded("entries")),
)
REQUEST_IDS = ('","request":"', ',"request_hash":"00"}', '\\"', "}", "é\n")
ENTRIES = (
    *(Entry(7, 1_790_000_000_001, 5, event, request_id='é"\n\u2028 x') for event in FROM_SEATS),
    *(Entry(1, 5, 0, SeatActed(0, Pass()), by) for by in ActedBy),
    *(Entry(1, 5, 0, event) for event in OTHERS),
    *(Entry(7, 1, 5, Proposed(2, ',"request":', 7), request_id=request_id) for request_id in REQUEST_IDS),
)
READS = "this engine reads act 1, shuffle 1, propose 1, vote 1, agree 1, compensate 1, end 1"
UNKNOWN = {
    '{"t":"foo","v":2}': "unknown type 'foo' version 2",
    '{"t":"act","v":2,"seat":1,"action":{"type":"pass"}}': "unknown type 'act' version 2",
    '{"seat":1,"action":{"type":"pass"}}': "unknown type None version None",
    "{}": "unknown type None version None",
}
MALFORMED = (
    *("", "[]", "null", "7", '"act"', '{"t":[],"v":1}', '{"t":"act","v":1}', '{"t":"act","v":1,"seat":1,"action":{}}'),
    *(f'{{"t":"shuffle","v":1,"cards":"{cards}","drawn":[]}}' for cards in ("#63", "#256", "#064", "#", "64")),
    *('{"t":"shuffle","v":1,"cards":"XX","drawn":[]}', '{"t":"shuffle","v":1,"cards":["2C"],"drawn":[]}'),
    '{"t":"agree","v":1,"proposal":"redeal","by":9}',
)
REFUSED = dict.fromkeys(MALFORMED, r"malformed \(\w+\)") | {body: f"{what}: {READS}" for body, what in UNKNOWN.items()}


@pytest.mark.parametrize(("body", "entry"), BODIES.items(), ids=BODIES)
def test_the_body_of_an_entry(body: str, entry: Entry) -> None:
    assert encode_body(entry) == body
    assert decode_entry("t1", 2, 5, 9, body) == entry


@pytest.mark.parametrize("entry", ENTRIES, ids=str)
def test_every_entry_is_decoded_from_its_row(entry: Entry) -> None:
    body = encode_body(entry)
    again = decode_entry("t1", entry.sequence, entry.at, entry.deadline, body)
    assert again == entry
    assert again.acted_by is entry.acted_by
    assert type(again.event) is type(entry.event)
    assert "\n" not in body


@pytest.mark.parametrize(("body", "detail"), REFUSED.items(), ids=REFUSED)
def test_an_unknown_or_malformed_body_is_refused_with_its_place(body: str, detail: str) -> None:
    with pytest.raises(UnreadableLog, match=f"^log entry 17 of table t1: {detail}$") as refusal:
        decode_entry("t1", 17, 5, 9, body)
    assert refusal.value.table_id == "t1"


def test_an_archived_log_has_columns_and_hashes_of_request_ids() -> None:
    kept = tuple(as_archived(ENTRIES))
    log = encode_log(map(row_of, ENTRIES))
    assert decode_log("t1", log) == kept
    assert encode_log(map(row_of, kept)) == log


def test_an_archived_log_has_a_line_for_each_block() -> None:
    played = Entry(1, 1_790_000_000_000, 1_790_000_005_000, SeatActed(1, Play(36)), request_id="r")
    log = [played, Entry(2, played.at + 7, 0, ClockCompensated(5)), *(played._replace(sequence=n) for n in (3, 502))]
    first, second = zlib.decompress(encode_log(map(row_of, [*log, *[log[1]] * 497]))).decode().split("\n")
    body, compensated = PLAYED + "}", '{"t":"compensate","v":1,"milliseconds":5}'
    assert json.loads(second) == {
        "v": 2,
        "sequences": [2],
        "times": [played.at + 7],
        "deadlines": [None],
        "bodies": [compensated],
        "requests": "AAAAAAA=",
    }
    columns = json.loads(first)
    assert [columns[name][:4] for name in ("sequences", "times", "deadlines", "bodies")] == [
        [1, 1, 1, 499],
        [played.at, 7, -7, 0],
        [5_000, None, 5_000, 5_000],
        [body, compensated, body, body],
    ]
    assert b64decode(columns["requests"])[:15] == b"".join((HASH_OF_R, bytes(5), HASH_OF_R))


def test_an_archived_entry_is_bounded_whatever_request_ids_clients_choose(seed: int) -> None:
    random = Random(seed)
    log = [Entry(number, 0, 0, SeatActed(1, Pass()), request_id=text_of(random)) for number in range(1, 1_000)]
    assert len(encode_log(map(row_of, log))) < 8 * len(log)


def text_of(random: Random) -> str:
    return "".join(chr(random.randrange(33, 127)) for _ in range(64))


def test_an_archived_log_of_version_1_is_readable() -> None:
    rows = [[entry.sequence, entry.at, entry.deadline, body] for body, entry in BODIES.items()]
    assert decode_log("t1", archived({"v": 1, "entries": rows})) == tuple(BODIES.values())


def archived(content: Any) -> bytes:
    return zlib.compress(json.dumps(content).encode())


COLUMNS = {"v": 2, "sequences": [1], "times": [5], "deadlines": [4], "bodies": ["{}"], "requests": "AAAAAAA="}
CHANGES: tuple[dict[str, Any], ...] = ({"times": []}, {"requests": "AA"}, {"bodies": [7]}, {"times": ["5"]})
REFUSED_LOGS = (
    *((log, r"malformed \([\w.]+\)") for log in (b"", b"x", archived([]), archived({"v": 1}), archived({"v": 2}))),
    *((archived(COLUMNS | changes), r"malformed \([\w.]+\)") for changes in CHANGES),
    (archived({"v": 1, "entries": [[1]]}), r"malformed \(ValueError\)"),
    (archived({"v": 3}), "unknown version 3: this engine reads version 1 and 2"),
    (archived({"entries": []}), "unknown version None: this engine reads version 1 and 2"),
)


@pytest.mark.parametrize(("log", "detail"), REFUSED_LOGS)
def test_an_unknown_or_malformed_archived_log_is_refused(log: bytes, detail: str) -> None:
    with pytest.raises(UnreadableLog, match=f"^archived log of table t1: {detail}$"):
        decode_log("t1", log)


def test_an_entry_of_an_archived_log_is_refused_by_itself() -> None:
    with pytest.raises(UnreadableLog, match="log entry 3 of table t1: unknown type 'foo' version 2"):
        decode_log("t1", archived({"v": 1, "entries": [[3, 5, 9, '{"t":"foo","v":2}']]}))


def test_a_config_is_decoded_from_its_text() -> None:
    seats = (SeatConfig("p0", 'Ünï "x"', ""), SeatConfig("", "Computer", "random"))
    access = TableAccess(Visibility.LINK, WatchPolicy.LINK, 60, ("p7", "p8"), is_matched=True)
    config = make_config("thulla", seats=seats, options={"best_of": 3}, access=access)
    text = encode_config(config)
    assert decode_config(config.table_id, config.game, config.rules_version, config.seed, text) == config
    assert config.seed.hex() not in text


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"v": 4}, "unknown version 4: this engine reads version 1 and 2 and 3"),
        ({"v": None}, "unknown version None: this engine reads version 1 and 2 and 3"),
        ({"clock": [1]}, "malformed (TypeError)"),
        ({"seats": [1]}, "malformed (TypeError)"),
        ({"client_seeds": ["x"]}, "malformed (ValueError)"),
    ],
)
def test_a_configuration_that_is_unknown_or_malformed_is_refused(changes: dict[str, Any], message: str) -> None:
    text = json.dumps(json.loads(encode_config(make_config())) | changes)
    with pytest.raises(UnreadableLog, match="^configuration of table t1: " + re.escape(message)):
        decode_config("t1", "thulla", 1, bytes(32), text)


def test_every_event_that_a_log_may_hold_has_a_format() -> None:
    assert {form.event for form in FORMATS} == {*get_args(LoggedEvent)}
