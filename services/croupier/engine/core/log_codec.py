"""The stored form of tables: configurations, entries and whole logs, as JSON.

Every stored text names the version `v` of its format, and the body of an entry its type `t` as well:

    {"t":"act","v":1,"seat":1,"action":{"type":"play","card":"QH"},"request":"b1946ac9"}

A stored format stays readable forever. A change gets the next version and its own line in FORMATS.
Every engine has to read a version before any engine writes it.
"""

import json
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, astuple
from functools import lru_cache
from typing import Any, NamedTuple, TypeAlias

from croupier.engine.core.log import (
    ActedBy,
    ClockCompensated,
    ClockConfig,
    Entry,
    LoggedEvent,
    Proposed,
    SeatConfig,
    TableConfig,
    TableEnded,
    Voted,
)
from croupier.games.actions import Action, decode_action, encode_action
from croupier.games.cards import OWN_CARDS, CardFace, card_names
from croupier.games.interface import CardsShuffled, ProposalAgreed, SeatActed
from croupier.runtime.table_access import SEATED, TableAccess, Visibility, WatchPolicy

CONFIG_VERSION = 3
"""Version 1 had no access: only the players of such a table have access to it. Version 2 had no time of abandonment."""
LOG_VERSION = 1

_LOG_HEAD = f'{{"v":{LOG_VERSION},"entries":['
_DECODER = json.JSONDecoder()
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


def _encode_acted(event: SeatActed) -> str:
    # Nearly all entries are actions, and this takes a fifth of the time of encoding a dictionary.
    return f'"seat":{event.seat},"action":{_action_text(event.action)}'


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
    _by_names("compensate", 1, ClockCompensated),
    _by_names("end", 1, TableEnded),
)
"""The formats that engines read; of several for one class they write the last."""
_WRITTEN = {one.event: (f'{{"t":"{one.tag}","v":{one.version},', one.encode) for one in FORMATS}
_READ = {(one.tag, one.version): one.decode for one in FORMATS}


# Entries


def encode_body(entry: Entry) -> str:
    """Return an entry's event, the origin of its decision and the request, as one line."""
    head, encode = _WRITTEN[type(entry.event)]
    acted_by = f',"by":{int(entry.acted_by)}' if entry.acted_by else ""
    request = f',"request":{_text(entry.request_id)}' if entry.request_id else ""
    return f"{head}{encode(entry.event)}{acted_by}{request}}}"


def decode_entry(table_id: str, sequence: int, at: int, deadline: int, body: str) -> Entry:
    """Return the entry that a row of the database holds.

    Raises UnreadableLog for a type or version that is not in FORMATS, and for a body that is malformed.
    """
    try:
        fields = json.loads(body)
        tag, version = fields.get("t"), fields.get("v")
        if (decode := _READ.get((tag, version))) is not None:
            by, request_id = ActedBy(fields.get("by", 0)), fields.get("request", "")
            return Entry(sequence, at, deadline, decode(fields), by, request_id)
    except _FAULTS as fault:
        raise _malformed(table_id, f"log entry {sequence}", fault) from None
    known = ", ".join(f"{known_tag} {number}" for known_tag, number in _READ)
    detail = f"unknown type {tag!r} version {version!r}: this engine reads {known}"
    raise UnreadableLog(table_id, f"log entry {sequence}", detail)


# Whole logs and configurations


class LogPart(NamedTuple):
    """Consecutive entries of a log as they are stored: packed by encode_log, and after them single rows."""

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
    """Packs a log in steps into one compressed value."""

    def __init__(self) -> None:
        self._compressor = zlib.compressobj()
        self._packed = [self._compressor.compress(_LOG_HEAD.encode())]
        self._separator = ""

    def add(self, *rows: Row) -> None:
        """Add the rows of the next entries, at least one."""
        self._packed.append(self._compressor.compress(f"{self._separator}{_text(rows)[1:-1]}".encode()))
        self._separator = ","

    def packed(self) -> bytes:
        """Return the whole log; called once."""
        return b"".join((*self._packed, self._compressor.compress(b"]}"), self._compressor.flush()))


def encode_log(rows: Iterable[Row]) -> bytes:
    """Return a log as one compressed value."""
    packer = LogPacker()
    packer.add(*rows)
    return packer.packed()


def decode_rows(table_id: str, log: bytes) -> Iterator[Row]:
    """Yield the rows of a log that encode_log returned, each decoded when it is read; raises UnreadableLog."""
    with _reading(table_id, "archived log"):
        text = zlib.decompress(log).decode()
        if not text.startswith(_LOG_HEAD):
            # An unknown version, or JSON in another form.
            for sequence, at, deadline, body in _fields_of(table_id, "archived log", text, LOG_VERSION)["entries"]:
                yield sequence, at, deadline, body
            return
        position = len(_LOG_HEAD)
        while not text.startswith("]", position):
            (sequence, at, deadline, body), position = _DECODER.raw_decode(text, position)
            yield sequence, at, deadline, body
            position += text.startswith(",", position)


def decode_log(table_id: str, log: bytes) -> tuple[Entry, ...]:
    """Return the entries of a log that encode_log returned; raises UnreadableLog."""
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
        }
    )


def decode_config(table_id: str, game: str, rules_version: int, seed: bytes, text: str) -> TableConfig:
    """Return the configuration that encode_config returned, with its columns; raises UnreadableLog."""
    with _reading(table_id, "configuration"):
        fields = _fields_of(table_id, "configuration", text, 1, 2, CONFIG_VERSION)
        return TableConfig(
            table_id=table_id,
            game=game,
            rules_version=rules_version,
            seat_count=fields["seat_count"],
            options=fields["options"],
            clock=ClockConfig(*fields["clock"]),
            seed=seed,
            seats=tuple(SeatConfig(*seat) for seat in fields["seats"]),
            client_seeds=tuple(bytes.fromhex(added) for added in fields["client_seeds"]),
            access=_decode_access(fields["access"]) if fields["v"] > 1 else SEATED,
        )


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
