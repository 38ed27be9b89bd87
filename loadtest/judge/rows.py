"""The rows of a table's log as the engines' database has them, read without the engine's code.

`config` is a JSON object: "seat_count", "options", "clock" (milliseconds for an action, of reserve, before a computer
player acts), "seats" (each a list of player id, name, and kind of computer player or "") and "client_seeds"
(hexadecimal, by seat). The `body` of a row is one of these JSON objects, of which what players ask for has their
"request" too:

    {"seat": 0, "action": {"type": "play", "card": "QH"}, "by": 1}    by is 1 for a time-out, 2 for a computer player
    {"cards": "2C 9H ...", "drawn": [3]}                              a shuffle, in the order in which cards come
    {"agreed": "restart_same"}                                        what all seats agreed to
    {"seat": 0, "proposed": "restart_same", "expires": 1763700000000} a proposal
    {"seat": 1, "proposal": 17, "agree": true}                        a vote on the proposal of an entry
    {"credited": 2000}                                                milliseconds that are given back
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, NamedTuple

from loadtest.judge.deals import commitment_of
from loadtest.judge.notation import AUTO
from loadtest.judge.replay import Entry, Public, Replay
from loadtest.record import StoredTable

_BODIES: Sequence[Mapping[str, type]] = (
    {"seat": int, "action": dict},
    {"cards": str, "drawn": list},
    {"agreed": str},
    {"seat": int, "proposed": str, "expires": int},
    {"seat": int, "proposal": int, "agree": bool},
    {"credited": int},
)
_OF_ANY_BODY: Mapping[str, type] = {"by": int, "request": str}
_AGREED = {"restart_same": "same", "restart_new": "new"}
"""Which cards a hand is played again with, by what seats agreed to."""


class Unreadable(Exception):
    """A row that has not the format above; `sequence` is that of its entry, 0 for the table's own row."""

    def __init__(self, sequence: int, detail: str) -> None:
        super().__init__(sequence, detail)
        self.sequence = sequence
        self.detail = detail


class Row(NamedTuple):
    """An entry; times in milliseconds since 1970 UTC."""

    sequence: int
    at: int
    deadline: int
    body: Mapping[str, Any]
    committed: int | None

    @property
    def actor(self) -> int | None:
        """The seat whose action this is."""
        return self.body["seat"] if "action" in self.body else None

    @property
    def credited(self) -> int:
        """The milliseconds that are given back."""
        return int(self.body.get("credited", 0))

    @property
    def is_aside(self) -> bool:
        """Whether this is no event of the game: a proposal, a vote, or time that is given back."""
        return not {"action", "cards", "agreed"} & self.body.keys()

    @property
    def by(self) -> int:
        """Who decided, by the contract's numbers."""
        return int(self.body.get("by", 0))

    @property
    def public(self) -> Public:
        """What everybody was told of it."""
        card = self.body.get("action", {}).get("card", "")
        return Public(self.at, self.body.get("seat"), self.by, self.credited, self.is_aside, card)

    @property
    def line(self) -> Mapping[str, Any]:
        """The event as replays write it, only that a shuffle keeps its cards and numbers."""
        if "cards" in self.body:
            return {"cards": self.body["cards"].split(), "drawn": self.body["drawn"]}
        if (agreed := self.body.get("agreed")) is not None:
            restarted = {"type": "restart_hand", "cards": _AGREED.get(agreed)}
            return {"event": restarted if agreed in _AGREED else {"type": agreed}}
        line = {"seat": self.body["seat"], "action": self.body["action"]}
        return line | ({"auto": AUTO[self.by]} if self.by in AUTO else {})


@dataclass(frozen=True, slots=True)
class Rows:
    """All rows of a table, in order."""

    stored: StoredTable
    config: Mapping[str, Any]
    entries: Sequence[Row]
    by_sequence: Mapping[int, Row]
    events: Sequence[Row]
    """Those that a replay tells."""
    numbers: Mapping[int, int]
    """The number in a replay of each of their sequences."""

    @property
    def is_whole(self) -> bool:
        """Whether the sequences count 1, 2, 3, ..."""
        return [row.sequence for row in self.entries] == list(range(1, len(self.entries) + 1))

    def replay(self, table_id: str) -> Replay:
        """The events as a replay that tells neither rounds nor a result."""
        config, stored = self.config, self.stored
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
            "options": config["options"],
            "players": players,
            "commitment": commitment_of(stored.seed),
            "seed": stored.seed.hex(),
            "client_seeds": {str(seat): added for seat, added in enumerate(config["client_seeds"]) if added},
        }
        return Replay(header, [Entry(row.at, row.line, []) for row in self.events], None)


def read_rows(stored: StoredTable) -> Rows:
    """Read all rows; raises Unreadable."""
    try:
        config = json.loads(stored.config)
        _check_config(config)
    except (ValueError, KeyError, TypeError) as error:
        raise Unreadable(0, f"the table's configuration cannot be read: {error!r}") from None
    entries = list(_entries(stored, config["seat_count"]))
    events = [row for row in entries if not row.is_aside]
    numbers = {row.sequence: number for number, row in enumerate(events, start=1)}
    return Rows(stored, config, entries, {row.sequence: row for row in entries}, events, numbers)


def _check_config(config: Mapping[str, Any]) -> None:
    """Raises ValueError, KeyError or TypeError for a configuration of another form."""
    seats, seeds, clock = config["seats"], config["client_seeds"], config["clock"]
    if not len(seats) == len(seeds) == config["seat_count"] or len(clock) != 3:
        raise ValueError("it has not its number of seats or seeds, or no clock")
    for part in chain(*seats, map(bytes.fromhex, seeds)):
        if not isinstance(part, str | bytes):
            raise TypeError(f"{part!r} is no text")
    if {len(seat) for seat in seats} != {3} or {type(part) for part in clock} != {int}:
        raise ValueError("a seat has not three parts, or the clock has other parts than milliseconds")
    if not isinstance(config["options"], dict):
        raise TypeError("the options are no object")


def _entries(stored: StoredTable, seats: int) -> Iterator[Row]:
    for entry in stored.entries:
        try:
            body = json.loads(entry.body)
        except ValueError:
            raise Unreadable(entry.sequence, "the body is no JSON") from None
        if not isinstance(body, dict) or not _is_known(body, seats):
            raise Unreadable(entry.sequence, f"the body is none that is known: {entry.body[:200]}")
        yield Row(entry.sequence, entry.at, entry.deadline, body, entry.committed_milliseconds)


def _is_known(body: Mapping[str, Any], seats: int) -> bool:
    """Whether a body has the keys of one of those above, and values of their types."""
    if "seat" in body and not (type(body["seat"]) is int and 0 <= body["seat"] < seats):
        return False
    shape = next((shape for shape in _BODIES if shape.keys() == body.keys() - _OF_ANY_BODY.keys()), None)
    if shape is None:
        return False
    types = {**shape, **_OF_ANY_BODY}
    return all(isinstance(value, types[key]) for key, value in body.items())
