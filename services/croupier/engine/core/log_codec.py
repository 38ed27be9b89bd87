"""The stored form of tables: configurations, entries and whole logs, as JSON.

Every stored text names the version `v` of its format, and the body of an entry its type `t` as well:

    {"t":"act","v":1,"seat":1,"action":{"type":"play","card":"QH"},"request":"b1946ac9"}

A stored format stays readable forever. A change gets the next version and its own line in FORMATS.
Every engine has to read a version before any engine writes it.
"""

import json
import zlib
from base64 import b64decode, b64encode
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, astuple
from functools import lru_cache
from itertools import accumulate, pairwise
from json.encoder import encode_basestring_ascii
from typing import Any, NamedTuple, TypeAlias

from croupier.engine.core.log import (
    REQUEST_HASH_BYTES,
    ActedBy,
    AwaySet,
    ClockCompensated,
    ClockConfig,
    Entry,
    LoggedEvent,
    Proposed,
    SeatConfig,
    TableConfig,
    TableEnded,
    Voted,
    request_hash,
)
from croupier.games.actions import PLAYS, Action, decode_action, encode_action
from croupier.games.cards import OWN_CARDS, CardFace, card_names
from croupier.games.interface import CardsShuffled, OptionValue, ProposalAgreed, SeatActed, completed_options
from croupier.games.registry import UnknownRules, rules_of
from croupier.runtime.table_access import SEATED, TableAccess, Visibility, WatchPolicy

CONFIG_VERSION = 4
"""Version 1 had no access: only the players of such a table have access to it. Version 2 had no time of abandonment,
version 3 none for seats that are away."""
LOG_VERSION = 2
"""Version 1 had rows instead of columns, and the request ids in the bodies."""

BLOCK_ROWS = 500
"""The rows of a packed log that are decoded at once, which takes less than a millisecond."""
_NO_REQUEST = bytes(REQUEST_HASH_BYTES)
Fields: TypeAlias = Mapping[str, Any]
Row: TypeAlias = tuple[int, int, int, str]
"""A stored entry: its sequence, time, deadline and body."""
_NAMES = card_names(tuple(CardFace(card, f"#{card + 1}", "", "", "") for card in OWN_CARDS))
"""Cards of custom decks have their numbers in the contract, so that a log can be read without the rules of its game."""
_text = json.JSONEncoder(separators=(",", ":")).encode
_FAULTS = (ValueError, LookupError, TypeError, AttributeError, zlib.error)
"""The errors of decoders for text that is not JSON, and for fields that are missing or of another type."""


class UnreadableLog(Exception):
    """A stored part of the table `table_id` is malformed, or has a format that only a newer engine may know."""

    def __init__(self, table_id: str, part: str, detail: str) -> None:
        super().__init__(f"{part} of table {table_id}: {detail}")
        self.table_id = table_id


def _malformed(table_id: str, part: str, fault: Exception) -> UnreadableLog:
    """Return the error for a malformed text, without quoting it, since it may name hidden cards."""
    return UnreadableLog(table_id, part, f"malformed ({type(fault).__name__})")


# The events of entries


class EventFormat(NamedTuple):
    """A stored format of events; `encode` returns the fields of an event without braces."""

    tag: str
    version: int
    event: type[LoggedEvent]
    encode: Callable[[Any], str]
    decode: Callable[[Fields], LoggedEvent]


@lru_cache(maxsize=4096)
def _action_text(action: Action) -> str:
    return _text(encode_action(action, _NAMES))


_TEXT_OF_PLAY = {id(play): _action_text(play) for play in PLAYS}
"""By identity, since the hash of an action takes longer than all else."""


def _encode_acted(event: SeatActed) -> str:
    # Nearly all entries are actions, and this takes a fifth of the time of encoding a dictionary.
    action = _TEXT_OF_PLAY.get(id(event.action)) or _action_text(event.action)
    return f'"seat":{event.seat},"action":{action}'


def _decode_acted(fields: Fields) -> SeatActed:
    return SeatActed(fields["seat"], decode_action(fields["action"], _NAMES))


def _encode_shuffled(event: CardsShuffled) -> str:
    return _text({"cards": " ".join(map(_NAMES.text, event.cards)), "drawn": event.drawn})[1:-1]


def _decode_shuffled(fields: Fields) -> CardsShuffled:
    return CardsShuffled(tuple(map(_NAMES.card, fields["cards"].split())), tuple(fields["drawn"]))


def _by_names(tag: str, version: int, event: type[Any]) -> EventFormat:
    """Return a format that has the fields of an event by their names, which therefore never change."""

    def decode(fields: Fields) -> LoggedEvent:
        decoded: LoggedEvent = event(*(fields[name] for name in event._fields))
        return decoded

    return EventFormat(tag, version, event, lambda one: _text(one._asdict())[1:-1], decode)


FORMATS = (
    EventFormat("act", 1, SeatActed, _encode_acted, _decode_acted),
    EventFormat("shuffle", 1, CardsShuffled, _encode_shuffled, _decode_shuffled),
    _by_names("propose", 1, Proposed),
    _by_names("vote", 1, Voted),
    _by_names("agree", 1, ProposalAgreed),
    _by_names("away", 1, AwaySet),
    _by_names("compensate", 1, ClockCompensated),
    _by_names("end", 1, TableEnded),
)
"""The formats that engines read; of several for one class they write the last."""
_WRITTEN = {one.event: (f'{{"t":"{one.tag}","v":{one.version},', one.encode) for one in FORMATS}
_READ = {(one.tag, one.version): one.decode for one in FORMATS}


# Entries


def encode_body(entry: Entry, *, has_request: bool = True) -> str:
    """Return an entry's event, the origin of its decision and the request if it has one, as one line."""
    head, encode = _WRITTEN[type(entry.event)]
    acted_by = f',"by":{int(entry.acted_by)}' if entry.acted_by else ""
    request = _encode_request(entry.request_id) if has_request else ""
    return f"{head}{encode(entry.event)}{acted_by}{request}}}"


def _encode_request(request_id: str | bytes) -> str:
    """Return the end of a body; _split_request relies on it."""
    # The request id is escaped as _text() would do it, in half of the time.
    if isinstance(request_id, bytes):
        return f',"request_hash":"{request_id.hex()}"'
    return f',"request":{encode_basestring_ascii(request_id)}' if request_id else ""


def _split_request(body: str) -> tuple[str, bytes]:
    """Return a body without its request, and the hash of the request's id."""
    # Neither text can be within a value, where quotes are escaped.
    rest, separator, request = body.partition(',"request":')
    if separator:
        return rest + "}", request_hash(json.loads(request[:-1]))
    rest, separator, request = body.partition(',"request_hash":"')
    return (rest + "}", bytes.fromhex(request[:-2])) if separator else (body, _NO_REQUEST)


def decode_entry(table_id: str, sequence: int, at: int, deadline: int, body: str) -> Entry:
    """Return the entry that a row of the database holds.

    Raises UnreadableLog for a type or version that is not in FORMATS, and for a body that is malformed.
    """
    try:
        fields = json.loads(body)
        tag, version = fields.get("t"), fields.get("v")
        if (decode := _READ.get((tag, version))) is not None:
            request_id = (
                bytes.fromhex(fields["request_hash"]) if "request_hash" in fields else fields.get("request", "")
            )
            return Entry(sequence, at, deadline, decode(fields), ActedBy(fields.get("by", 0)), request_id)
    except _FAULTS as fault:
        raise _malformed(table_id, f"log entry {sequence}", fault) from None
    known = ", ".join(f"{known_tag} {number}" for known_tag, number in _READ)
    detail = f"unknown type {tag!r} version {version!r}: this engine reads {known}"
    raise UnreadableLog(table_id, f"log entry {sequence}", detail)


# Whole logs and configurations


class LogPart(NamedTuple):
    """Consecutive entries of a log as they are stored: packed by LogPacker, and after them single rows."""

    packed: tuple[bytes, ...] = ()
    rows: tuple[Row, ...] = ()


def row_of(entry: Entry) -> Row:
    """Return the row of an entry."""
    return entry.sequence, entry.at, entry.deadline, encode_body(entry)


def rows_of(table_id: str, part: LogPart) -> Iterator[Row]:
    """Yield the rows of a part of a log; raises UnreadableLog."""
    for log in part.packed:
        yield from decode_rows(table_id, log)
    yield from part.rows


class LogPacker:
    """Packs a log in steps into one compressed value, which keeps only the hashes of request ids.

    It has a line of columns for each BLOCK_ROWS rows, with times as differences. So its size depends on what happened
    at the table, not on the ids that clients choose.
    """

    def __init__(self) -> None:
        self._compressor = zlib.compressobj()
        self._packed: list[bytes] = []
        self._block: list[Row] = []

    def add(self, row: Row) -> None:
        """Add the row of the next entry."""
        if len(self._block) == BLOCK_ROWS:
            self._pack(b"\n")
        self._block.append(row)

    def packed(self) -> bytes:
        """Return the whole log; called once."""
        self._pack(b"")
        return b"".join((*self._packed, self._compressor.flush()))

    def _pack(self, end: bytes) -> None:
        self._packed.append(self._compressor.compress(_text(_columns_of(self._block)).encode() + end))
        self._block = []


def encode_log(entries: Sequence[Entry]) -> bytes:
    """Return a log of at most BLOCK_ROWS entries as a LogPacker packs their rows, in less time."""
    return zlib.compress(_text(_columns(entries, [_split_entry(entry) for entry in entries])).encode())


def _split_entry(entry: Entry) -> tuple[str, bytes]:
    """Return what _split_request returns for the body of an entry."""
    request_id = entry.request_id
    hashed = request_id if isinstance(request_id, bytes) else request_hash(request_id) if request_id else _NO_REQUEST
    return encode_body(entry, has_request=False), hashed


def _columns_of(rows: Sequence[Row]) -> Fields:
    return _columns(rows, [_split_request(body) for *_, body in rows])


def _columns(rows: Sequence[Row | Entry], split: Sequence[tuple[str, bytes]]) -> Fields:
    """Return the columns of rows or entries, which both begin with sequence, time and deadline."""
    times = [row[1] for row in rows]
    return {
        "v": LOG_VERSION,
        "sequences": _differences([row[0] for row in rows]),
        "times": _differences(times),
        "deadlines": [row[2] - row[1] if row[2] else None for row in rows],
        "bodies": [body for body, _ in split],
        "requests": b64encode(b"".join([hashed for _, hashed in split])).decode(),
    }


def _differences(numbers: Sequence[int]) -> list[int]:
    return [after - before for before, after in pairwise((0, *numbers))]


def decode_rows(table_id: str, log: bytes) -> Iterator[Row]:
    """Yield the rows of a packed log, each block decoded when it is read; raises UnreadableLog."""
    with _reading(table_id, "archived log"):
        for line in zlib.decompress(log).split(b"\n"):
            fields = _fields_of(table_id, "archived log", line, 1, LOG_VERSION)
            rows = fields["entries"] if fields["v"] == 1 else _rows_of_columns(fields)
            yield from ((sequence, at, deadline, body) for sequence, at, deadline, body in rows)


def _rows_of_columns(fields: Fields) -> Iterator[Row]:
    hashes = b64decode(fields["requests"])
    sequences, times = accumulate(fields["sequences"]), accumulate(fields["times"])
    columns = zip(sequences, times, fields["deadlines"], fields["bodies"], strict=True)
    for number, (sequence, at, remaining, body) in enumerate(columns):
        hashed = hashes[number * REQUEST_HASH_BYTES : (number + 1) * REQUEST_HASH_BYTES]
        request = _encode_request(hashed) if hashed != _NO_REQUEST else ""
        yield sequence, at, 0 if remaining is None else at + remaining, f"{body[:-1]}{request}}}"


def decode_log(table_id: str, log: bytes) -> tuple[Entry, ...]:
    """Return the entries of a packed log; raises UnreadableLog."""
    return tuple([decode_entry(table_id, *row) for row in decode_rows(table_id, log)])


def encode_config(config: TableConfig) -> str:
    """Return the part of a configuration that has no columns of its own in the database."""
    clock = config.clock
    return _text(
        {
            "v": CONFIG_VERSION,
            "seat_count": config.seat_count,
            "options": dict(config.options),
            "clock": list(astuple(clock)),
            "seats": [[seat.player_id, seat.name, seat.bot] for seat in config.seats],
            "client_seeds": [seed.hex() for seed in config.client_seeds],
            "access": asdict(config.access),
            **({"package": config.package} if config.package else {}),
        }
    )


def decode_config(table_id: str, game: str, rules_version: int, seed: bytes, text: str) -> TableConfig:
    """Return the configuration that encode_config returned, with its columns; raises UnreadableLog."""
    with _reading(table_id, "configuration"):
        fields = _fields_of(table_id, "configuration", text, 1, 2, 3, CONFIG_VERSION)
        return TableConfig(
            table_id=table_id,
            game=game,
            rules_version=rules_version,
            seat_count=fields["seat_count"],
            options=_decode_options(game, rules_version, fields["seat_count"], fields["options"]),
            clock=ClockConfig(*fields["clock"]),
            seed=seed,
            seats=tuple(SeatConfig(*seat) for seat in fields["seats"]),
            client_seeds=tuple(bytes.fromhex(added) for added in fields["client_seeds"]),
            access=_decode_access(fields["access"]) if fields["v"] > 1 else SEATED,
            package=str(fields.get("package", "")),
        )


def _decode_options(game: str, rules_version: int, seats: int, stored: Fields) -> dict[str, OptionValue]:
    """Return all options of a table, if its rules are known here; others are refused when it is loaded."""
    try:
        return completed_options(rules_of(game, rules_version), seats, stored)
    except UnknownRules:
        return dict(stored)


def _decode_access(fields: Fields) -> TableAccess:
    return TableAccess(
        Visibility(fields["visibility"]),
        WatchPolicy(fields["watch_policy"]),
        fields["watch_delay_seconds"],
        tuple(fields["removed_players"]),
        fields["is_matched"],
    )


@contextmanager
def _reading(table_id: str, part: str) -> Iterator[None]:
    """Raise UnreadableLog for the many errors that a malformed text causes."""
    try:
        yield
    except _FAULTS as fault:
        raise _malformed(table_id, part, fault) from None


def _fields_of(table_id: str, part: str, text: str | bytes, *known: int) -> Fields:
    fields: Fields = json.loads(text)
    if (version := fields.get("v")) not in known:
        readable = " and ".join(map(str, known))
        raise UnreadableLog(table_id, part, f"unknown version {version!r}: this engine reads version {readable}")
    return fields
