"""The rows of a table's log in the engines' database, read without the code of the engine.

`config` is a JSON object: the version "v", "seat_count", "options", "clock" (milliseconds for an action, of reserve,
before a bot acts, from version 3 until a table ends whose people are all away, and from version 4 for an action of a
seat that is away), "seats" (each a list of player id, name, and kind of bot or "") and "client_seeds" (hexadecimal, by
seat). The `body` of a row is a JSON object, of which "t" is the type and "v" the version, such as
{"t": "act", "v": 1, "seat": 0, "action": {"type": "pass"}, "by": 1}.
Requests of players have a "request" id, actions of the engine for a seat have "by": 1 for a time-out, 2 for a bot. In
the archive a "request_hash" replaces the request id.
"""

import hashlib
import json
import zlib
from base64 import b64decode
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, chain
from typing import Any, NamedTuple

from croupier_loadtest.judge.clock import AWAY_MILLISECONDS, Absences, ClockSettings, PublicEntry
from croupier_loadtest.judge.deals import commitment_of
from croupier_loadtest.judge.notation import AUTO, cards_put
from croupier_loadtest.judge.replay import Replay, ReplayEntry
from croupier_loadtest.judge.rules.interface import ABANDONED
from croupier_loadtest.judge.rules.registry import table_of
from croupier_loadtest.record import StoredEntry, StoredTable

_ARCHIVE_VERSION = 2
_HASH_BYTES = 5
_CLOCK_PARTS = {1: 3, 2: 3, 3: 4, 4: 5}
"""The number of times in the clock, by the version of the configuration."""
_WATCH_POLICIES = {"public": ("anyone", "link", "nobody"), "link": ("link", "nobody"), "seated": ("nobody",)}
"""The watch policies of each visibility."""
_MAX_DELAY_SECONDS = 300
_REQUEST = {"request": str, "request_hash": str}
_BODIES: Mapping[tuple[str, int], Mapping[str, type]] = {
    ("act", 1): {"seat": int, "action": dict, "by": int, **_REQUEST},
    ("shuffle", 1): {"cards": str, "drawn": list},  # "2C 9H ...", in the order of the cards, and the drawn numbers
    ("agree", 1): {"proposal": str},  # such as "restart_same", to which all seats agreed
    ("propose", 1): {"seat": int, "proposal": str, "expires_at": int, **_REQUEST},
    ("vote", 1): {"seat": int, "proposal_sequence": int, "agree": bool, **_REQUEST},
    ("away", 1): {"seat": int, "is_away": bool, **_REQUEST},
    ("compensate", 1): {"milliseconds": int},
    ("end", 1): {"limit": str},  # "entries", "rounds" or "abandoned"
}
"""By type and version the other keys of a body, with the types of their values."""
_OPTIONAL = frozenset({"by", *_REQUEST})
_EVENTS = frozenset({"act", "shuffle", "agree", "end"})
"""The types of entries that are in a replay."""


class UnreadableRow(Exception):
    """A row is not in the format above; the arguments are the sequence of its entry, 0 for the table, and a detail."""


class Row(NamedTuple):
    """An entry; times in milliseconds since 1970 UTC."""

    sequence: int
    at: int
    deadline: int
    body: Mapping[str, Any]
    committed: int | None

    @property
    def tag(self) -> str:
        """The type, one of those above."""
        return str(self.body["t"])

    @property
    def request_hash(self) -> str | None:
        """The hash of the id of a player's request; None for an entry of the engine."""
        return archived_body(self.body).get("request_hash")

    @property
    def is_meta(self) -> bool:
        """Whether this is in no replay: a proposal, a vote, a player who leaves or returns, or a compensation."""
        return self.tag not in _EVENTS

    @property
    def by(self) -> int:
        """The contract's number for the cause: the player, a time-out or a bot."""
        return int(self.body.get("by", 0))

    @property
    def public(self) -> PublicEntry:
        """The public part of the entry."""
        body, is_end = self.body, self.body.get("limit") == ABANDONED
        seat, compensation, cards = body.get("seat"), body.get("milliseconds", 0), cards_put(body.get("action", {}))
        return PublicEntry(self.at, seat, self.by, compensation, self.is_meta, is_end, cards, body.get("is_away"))

    @property
    def line(self) -> Mapping[str, Any]:
        """The event in replay notation; a shuffle and an agreed proposal as they are stored, without the rules."""
        if self.tag == "shuffle":
            return {"cards": self.body["cards"].split(), "drawn": self.body["drawn"]}
        if self.tag == "agree":
            return {"agreed": self.body["proposal"]}
        if self.tag == "end":
            return {"event": {"type": "end", "limit": self.body["limit"]}}
        line = {"seat": self.body["seat"], "action": self.body["action"]}
        return line | ({"auto": AUTO[self.by]} if self.by in AUTO else {})


@dataclass(frozen=True, slots=True)
class Rows:
    """All rows of a table, in order."""

    stored: StoredTable
    config: Mapping[str, Any]
    entries: Sequence[Row]
    by_sequence: Mapping[int, Row]
    numbers: Mapping[int, int]
    """The numbers in a replay by sequence."""
    absences: Mapping[int, Absences]
    """The absences after each entry, by sequence."""

    @property
    def clock_settings(self) -> ClockSettings:
        """The times of the clock; tables of earlier versions are never abandoned."""
        clock: list[int] = self.config["clock"]
        action, _, bot_delay, abandoned, away = [*clock, *(0, AWAY_MILLISECONDS)[len(clock) - 3 :]]
        bots = frozenset(seat for seat, (_, _, bot) in enumerate(self.config["seats"]) if bot)
        return ClockSettings(action, bot_delay, bots, abandoned, away)

    @property
    def is_whole(self) -> bool:
        """Whether the sequences are 1, 2, 3, ..."""
        return [row.sequence for row in self.entries] == list(range(1, len(self.entries) + 1))

    def replay(self, table_id: str) -> Replay:
        """Return the events as a replay without rounds and result."""
        config, stored = self.config, self.stored
        # A table that was opened before an option existed keeps its rules.
        rules = table_of(stored.game, stored.rules_version)
        earlier, events = (rules.earlier_options, rules.proposal_events) if rules is not None else ({}, {})
        players = [
            {"seat": seat, "player_id": player_id, "name": name, "bot": bool(bot)}
            for seat, (player_id, name, bot) in enumerate(config["seats"])
        ]
        header = {
            "replay": 1,
            "table_id": table_id,
            "game": stored.game,
            "rules_version": stored.rules_version,
            "seats": config["seat_count"],
            "options": {**earlier, **config["options"]},
            "players": players,
            "commitment": commitment_of(stored.seed),
            "seed": stored.seed.hex(),
            "client_seeds": {str(seat): added for seat, added in enumerate(config["client_seeds"]) if added},
        }
        entries = [ReplayEntry(row.at, _with_event(row.line, events), []) for row in self.entries if not row.is_meta]
        return Replay(header, entries, None)


def _with_event(line: Mapping[str, Any], events: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a line with the event of an agreed proposal in place of its name, if the rules have one."""
    return {"event": events[line["agreed"]]} if line.get("agreed") in events else line


def request_hash(request_id: str) -> str:
    """Return the hash that the archive keeps of a request id, in hexadecimal."""
    return hashlib.blake2s(request_id.encode(), digest_size=_HASH_BYTES).hexdigest()


def archived_body(body: Mapping[str, Any]) -> dict[str, Any]:
    """Return the body that the archive keeps of a body: with the hash of a request id in place of the id."""
    kept = dict(body)
    if "request" in kept:
        kept["request_hash"] = request_hash(kept.pop("request"))
    return kept


def archived_entries(log: bytes) -> Iterator[StoredEntry]:
    """Yield the entries of a log in the archive.

    It is compressed; each line is a JSON object with a version and columns of some entries, sequences and times as
    differences. `requests` has the hashes of their request ids in a row, zeros for entries without one.
    """
    for line in zlib.decompress(log).splitlines():
        columns = json.loads(line)
        if columns["v"] != _ARCHIVE_VERSION:
            raise ValueError(f"unknown version {columns['v']!r} of an archived log: expected {_ARCHIVE_VERSION}")
        numbers = (accumulate(columns["sequences"]), accumulate(columns["times"]), columns["deadlines"])
        for sequence, at, remaining, body, hashed in zip(
            *numbers, columns["bodies"], _hashes(columns["requests"]), strict=True
        ):
            request = f',"request_hash":"{hashed.hex()}"' if any(hashed) else ""
            yield StoredEntry(sequence, at, 0 if remaining is None else at + remaining, f"{body[:-1]}{request}}}")


def _hashes(requests: str) -> Iterator[bytes]:
    hashes = b64decode(requests)
    for start in range(0, len(hashes), _HASH_BYTES):
        yield hashes[start : start + _HASH_BYTES]


def read_rows(stored: StoredTable) -> Rows:
    """Read all rows; raises UnreadableRow."""
    try:
        config = json.loads(stored.config)
        _check_config(config)
    except (ValueError, KeyError, TypeError) as error:
        raise UnreadableRow(0, f"the table's configuration cannot be read: {error!r}") from None
    entries = list(_entries(stored, config["seat_count"]))
    numbers = {row.sequence: number for number, row in enumerate((it for it in entries if not it.is_meta), start=1)}
    absences = accumulate((row.public for row in entries), Absences.after, initial=Absences())
    by_sequence = dict(zip((0, *(row.sequence for row in entries)), absences, strict=True))
    return Rows(stored, config, entries, {row.sequence: row for row in entries}, numbers, by_sequence)


def _check_config(config: Mapping[str, Any]) -> None:
    """Check a configuration; raises ValueError, KeyError or TypeError."""
    if config["v"] not in _CLOCK_PARTS:
        raise ValueError(f"it has version {config['v']!r}, known are {[*_CLOCK_PARTS]}")
    if config["v"] > 1:
        _check_access(config["access"])
    seats, seeds, clock = config["seats"], config["client_seeds"], config["clock"]
    if not len(seats) == len(seeds) == config["seat_count"] or len(clock) != _CLOCK_PARTS[config["v"]]:
        raise ValueError("the numbers of seats, seeds and clock values do not match")
    for part in chain(*seats, map(bytes.fromhex, seeds)):
        if not isinstance(part, str | bytes):
            raise TypeError(f"{part!r} is not a text")
    if {len(seat) for seat in seats} != {3} or {type(part) for part in clock} != {int}:
        raise ValueError("a seat does not have three parts, or the clock is not in milliseconds")
    if not isinstance(config["options"], dict):
        raise TypeError("the options are not an object")


def _check_access(access: Mapping[str, Any]) -> None:
    """Check the access of a configuration; raises ValueError, KeyError or TypeError."""
    allowed = _WATCH_POLICIES[access["visibility"]]
    delay = access["watch_delay_seconds"]
    if access["watch_policy"] not in allowed or type(delay) is not int or not 0 <= delay <= _MAX_DELAY_SECONDS:
        raise ValueError("the watch policy or the watch delay is not one of this visibility")
    if type(access["is_matched"]) is not bool or not all(isinstance(it, str) for it in access["removed_players"]):
        raise TypeError("is_matched is not a boolean, or a removed player is not a string")


def _entries(stored: StoredTable, seats: int) -> Iterator[Row]:
    for entry in stored.entries:
        try:
            body = json.loads(entry.body)
        except ValueError:
            raise UnreadableRow(entry.sequence, "the body is not JSON") from None
        if not isinstance(body, dict) or not _is_known(body, seats):
            raise UnreadableRow(entry.sequence, f"unknown body: {entry.body[:200]}")
        yield Row(entry.sequence, entry.at, entry.deadline, body, entry.committed_milliseconds)


def _is_known(body: Mapping[str, Any], seats: int) -> bool:
    """Return whether a body has the keys of its type and version, and values of their types."""
    tag, version = body.get("t"), body.get("v")
    if not isinstance(tag, str) or type(version) is not int or (tag, version) not in _BODIES:
        return False
    types, fields = _BODIES[tag, version], {key: value for key, value in body.items() if key not in ("t", "v")}
    if not types.keys() - _OPTIONAL <= fields.keys() <= types.keys():
        return False
    if any(type(value) is not types[key] for key, value in fields.items()):
        return False
    return "seat" not in fields or 0 <= fields["seat"] < seats
