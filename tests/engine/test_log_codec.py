"""Stored logs: values with type and version, of which unknown ones are refused by name, and their packed forms."""

import json
import re
import tracemalloc
import zlib
from base64 import b64decode
from collections.abc import Sequence
from dataclasses import replace
from random import Random
from typing import Any, get_args

import pytest

from croupier.engine.cluster.housekeeping import packed_log
from croupier.engine.core.folded_table import FoldedTable
from croupier.engine.core.history import CHUNK, History, PackedLog
from croupier.engine.core.log import (
    ActedBy,
    AwaySet,
    ClockCompensated,
    Entry,
    LoggedEvent,
    Proposed,
    SeatConfig,
    TableEnded,
    Voted,
    request_hash,
)
from croupier.engine.core.log_codec import (
    FORMATS,
    LogPart,
    Row,
    UnreadableLog,
    decode_config,
    decode_entry,
    decode_log,
    decode_rows,
    encode_body,
    encode_config,
    encode_log,
    row_of,
)
from croupier.engine.core.replay import ReplayFold
from croupier.games.actions import PLAYS, Declare, Lay, Pass, Play, encode_action
from croupier.games.interface import CardsShuffled, ProposalAgreed, SeatActed
from croupier.games.registry import OWN_GAMES
from croupier.runtime.table_access import TableAccess, Visibility, WatchPolicy
from tests.engine.databases import entry
from tests.engine.fakes import MemoryTableStore
from tests.engine.folds import as_archived, folded_table, packed_rows
from tests.engine.play import ROUNDS, every_game, make_config, whole_log
from tests.engine.test_message_codecs import ACTIONS

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
    *(Proposed(2, 'ö"', 7), Voted(1, 5, agree=True), Voted(0, 5, agree=False), AwaySet(1, is_away=True)),
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
READS = "this engine reads act 1, shuffle 1, propose 1, vote 1, agree 1, away 1, compensate 1, end 1"
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


@pytest.mark.parametrize("suit", [None, 2])
def test_a_play_of_each_card_has_its_notation(suit: int | None) -> None:
    for plain in PLAYS:
        for play in (plain, Play(plain.card, suit)):
            body = encode_body(Entry(2, 5, 0, SeatActed(1, play)))
            assert json.loads(body) == {"t": "act", "v": 1, "seat": 1, "action": encode_action(play)}


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
    log = packed_rows(map(row_of, ENTRIES))
    assert decode_log("t1", log) == kept
    assert encode_log(ENTRIES) == packed_rows(map(row_of, kept)) == encode_log(kept) == log


def test_an_archived_log_has_a_line_for_each_block() -> None:
    played = Entry(1, 1_790_000_000_000, 1_790_000_005_000, SeatActed(1, Play(36)), request_id="r")
    log = [played, Entry(2, played.at + 7, 0, ClockCompensated(5)), *(played._replace(sequence=n) for n in (3, 502))]
    first, second = zlib.decompress(packed_rows(map(row_of, [*log, *[log[1]] * 497]))).decode().split("\n")
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
    assert len(packed_rows(map(row_of, log))) < 8 * len(log)


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


@every_game
def test_an_option_that_a_stored_table_lacks_has_its_value_for_earlier_tables(game: str) -> None:
    config = make_config(game)
    options = OWN_GAMES[game].options(config.seat_count)
    always = {option.name: config.options[option.name] for option in options if option.earlier is None}
    text = json.dumps(json.loads(encode_config(config)) | {"options": always})
    decoded = decode_config(config.table_id, game, config.rules_version, config.seed, text)
    assert decoded.options == always | {option.name: option.earlier for option in options if option.earlier is not None}
    assert replace(decoded, options=config.options) == config


def test_the_options_of_unknown_rules_stay_as_they_are_stored() -> None:
    config = make_config("one_ten")
    options = {"hand_size": "5", "newest": 7}
    text = json.dumps(json.loads(encode_config(config)) | {"options": options})
    assert decode_config("t1", "one_ten", 9, config.seed, text).options == options


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"v": 5}, "unknown version 5: this engine reads version 1 and 2 and 3 and 4"),
        ({"v": None}, "unknown version None: this engine reads version 1 and 2 and 3 and 4"),
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


def content(table: FoldedTable) -> tuple[object, ...]:
    entries = as_archived(table.entries)
    recent = [list(table.transitions_after(max(0, table.state.sequence - missed)) or ()) for missed in (0, 1, 9, 256)]
    shown = [[each._replace(entry=entries[each.entry.sequence - 1]) for each in transitions] for transitions in recent]
    return table.config, table.state, entries, table.reports, shown


def answers(table: FoldedTable, entries: Sequence[Entry]) -> list[int | None]:
    """Return the answers of a table to repeated requests, and to requests with the hashes of their ids."""
    return [
        table.answer_to(request, request_id)
        for entry, request in requests_of(entries)
        for request_id in (str(entry.request_id), request_hash(str(entry.request_id)).hex())
    ]


def requests_of(entries: Sequence[Entry]) -> list[tuple[Entry, SeatActed]]:
    return [(entry, entry.event) for entry in entries if entry.request_id and isinstance(entry.event, SeatActed)]


class StoredRows(MemoryTableStore):
    def __init__(self, *rows: Row) -> None:
        super().__init__()
        self._rows = rows

    async def log_after(self, table_id: str, sequence: int, limit: int) -> LogPart:
        return LogPart(rows=tuple(row for row in self._rows if row[0] > sequence)[:limit])


@every_game
async def test_rows_have_the_result_of_a_direct_fold(game: str, seed: int) -> None:
    """Also when they were packed in between."""
    config = make_config(game, options=ROUNDS.get(game))
    entries = whole_log(config, Random(seed))
    rows = [row_of(entry) for entry in entries]
    direct = folded_table(config, entries)
    table, archived = FoldedTable(config), FoldedTable(config)
    for row in rows:
        table.add(row)
    packed = await packed_log(StoredRows(*rows), config.table_id)
    assert (packed.log, packed.entries) == (packed_rows(rows), len(rows))
    assert list(decode_log(config.table_id, packed.log)) == as_archived(entries)
    for row in decode_rows(config.table_id, packed.log):
        archived.add(row)
    answered = answers(direct, entries)
    assert None in answered
    assert answered[::2] == [entry.sequence for entry, _ in requests_of(entries)]
    for folded in (table, archived):
        assert (content(folded), answers(folded, entries)) == (content(direct), answered)


async def test_a_log_with_an_unknown_format_is_not_folded() -> None:
    config, row = make_config(), (1, 1, 0, '{"t":"foo","v":1}')
    for fold in (FoldedTable(config), ReplayFold(config)):
        with pytest.raises(UnreadableLog) as fault:
            fold.add(row)
        assert fault.value.table_id == config.table_id
    with pytest.raises(UnreadableLog, match="log entry 1 of table t1: unknown type 'foo'"):
        await packed_log(StoredRows(row), "t1")


async def test_a_log_without_entries_is_packed_and_one_with_a_gap_is_not() -> None:
    assert await packed_log(StoredRows(), "t1") == PackedLog(packed_rows([]), 0)
    with pytest.raises(UnreadableLog, match="log entry 1 of table t1: missing"):
        await packed_log(StoredRows(row_of(whole_log(make_config(), Random(1))[1])), "t1")


@pytest.mark.parametrize("length", [0, 1, CHUNK, 2 * CHUNK - 1, 2 * CHUNK, 2 * CHUNK + 1, 5 * CHUNK + 7])
def test_a_history_is_a_list_of_its_entries(length: int) -> None:
    history, entries = History("t1"), [entry(number, deadline=number) for number in range(1, length + 1)]
    for each in entries:
        history.append(each)
    assert len(history) == length
    assert list(history) == entries
    assert list(history.after(length // 3)) == entries[length // 3 :]
    assert [history[place] for place in range(-length, length)] == entries * 2
    for beyond in (length, -length - 1):
        with pytest.raises(IndexError):
            history[beyond]


def test_packed_entries_use_a_fraction_of_the_memory(seed: int) -> None:
    random = Random(seed)
    tracemalloc.start()
    try:
        history, before = History("t1"), tracemalloc.get_traced_memory()[0]
        for number in range(1, 20 * CHUNK):
            history.append(entry(number, request=random.randbytes(16).hex(), deadline=number))
        used = tracemalloc.get_traced_memory()[0] - before
    finally:
        tracemalloc.stop()
    # An unpacked entry uses more than twice as much.
    assert used < 250 * 20 * CHUNK
