"""Parses replays, and compares their headers and seeds with what the viewers received."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from croupier_api.v1 import tables_pb2
from croupier_loadtest.judge.clock import PublicEntry
from croupier_loadtest.judge.deals import commitment_of
from croupier_loadtest.judge.notation import AUTO, Deck, cards_put, milliseconds_of
from croupier_loadtest.judge.rules.interface import ABANDONED, Round
from croupier_loadtest.judge.streams import ViewerHistory
from croupier_loadtest.judge.violations import Found, Invariant

_HEADER_KEYS = {
    "replay", "table_id", "game", "rules_version", "seats", "options", "players", "commitment", "seed", "client_seeds",
}  # fmt: skip
_ACTED_BY = {text: number for number, text in AUTO.items()}
_EVENT_KEYS = ({"seq", "at", "event"}, {"seq", "at", "seat", "action"}, {"seq", "at", "seat", "action", "auto"})


class InvalidReplay(Exception):
    """The text is not a replay."""


class ReplayEntry(NamedTuple):
    """An entry of a replay with the rounds that it ended."""

    at_milliseconds: int
    line: Mapping[str, Any]
    rounds: list[Round]

    @property
    def public(self) -> PublicEntry:
        """The public part of the entry."""
        seat, by = self.line.get("seat"), _ACTED_BY.get(self.line.get("auto", ""), 0)
        is_abandonment = self.line.get("event", {}).get("limit") == ABANDONED
        cards = cards_put(self.line.get("action", {}))
        return PublicEntry(self.at_milliseconds, seat, by, 0, False, is_abandonment, cards)


@dataclass(frozen=True, slots=True)
class Replay:
    """A parsed replay, which may still be wrong."""

    header: Mapping[str, Any]
    entries: Sequence[ReplayEntry]
    result: Mapping[str, Any] | None
    """None for a replay made from rows, which have neither rounds nor a result."""

    @property
    def rounds(self) -> list[Round]:
        """All rounds."""
        return [ended for entry in self.entries for ended in entry.rounds]

    def line(self, number: int) -> Mapping[str, Any]:
        """Return the line of an entry by its number; empty without such an entry."""
        return self.entries[number - 1].line if 1 <= number <= len(self.entries) else {}

    @property
    def added(self) -> list[bytes]:
        """The client seed of each seat."""
        seeds = self.header["client_seeds"]
        return [bytes.fromhex(seeds.get(str(seat), "")) for seat in range(self.header["seats"])]


def read(text: str, deck: Deck) -> Replay:
    """Parse a replay of a game with this deck; raises InvalidReplay."""
    try:
        lines = [json.loads(line) for line in text.splitlines()]
    except ValueError:
        raise InvalidReplay("a line is not JSON") from None
    if len(lines) < 2 or not all(isinstance(line, dict) for line in lines):
        raise InvalidReplay("there is no header, or a line is not an object")
    _check_header(lines[0])
    entries: list[ReplayEntry] = []
    for line in lines[1:-1]:
        if set(line) == {"round", "scores", "totals"}:
            before = sum(len(entry.rounds) for entry in entries)
            if not entries or line["round"] != before + 1:
                raise InvalidReplay(f"round {line['round']} follows round {before}")
            entries[-1].rounds.append(Round(line["scores"], line["totals"]))
        else:
            after = entries[-1].at_milliseconds if entries else 0
            if deck.own:
                line |= {part: deck.read(line[part]) for part in ("event", "action") if part in line}
            entries.append(_entry(line, len(entries) + 1, after, lines[0]["seats"]))
    if set(lines[-1]) != {"result"} or set(lines[-1]["result"]) - {"void"} != {"ranking", "totals"}:
        raise InvalidReplay("the last line is not a result")
    return Replay(lines[0], entries, lines[-1]["result"])


def _check_header(header: Mapping[str, Any]) -> None:
    if set(header) != _HEADER_KEYS:
        raise InvalidReplay(f"the header's keys differ: {', '.join(set(header) ^ _HEADER_KEYS)}")
    seats = [player.get("seat") for player in header["players"]]
    if header["replay"] != 1 or seats != list(range(header["seats"])):
        raise InvalidReplay("the header's version or its players by seat are wrong")
    try:
        seeds = [bytes.fromhex(header["seed"]), *map(bytes.fromhex, header["client_seeds"].values())]
    except (ValueError, TypeError):
        raise InvalidReplay("a seed of the header is not hexadecimal") from None
    if len(seeds[0]) != 32 or not all(seeds):
        raise InvalidReplay("the seed does not have 32 bytes, or a client seed is empty")


def _entry(line: Mapping[str, Any], number: int, after: int, seats: int) -> ReplayEntry:
    at, seat, body = milliseconds_of(line.get("at")), line.get("seat", 0), line.get("event", line.get("action"))
    if set(line) not in _EVENT_KEYS or line["seq"] != number or line.get("auto", "bot") not in AUTO.values():
        raise InvalidReplay(f"entry {number} has wrong keys, or another number")
    if at is None or at < after:
        raise InvalidReplay(f"the time of entry {number} is invalid or decreases")
    if type(seat) is not int or not 0 <= seat < seats or not isinstance(body, dict) or "type" not in body:
        raise InvalidReplay(f"entry {number} has an invalid seat, event or action")
    return ReplayEntry(at, line, [])


def compare_header(replay: Replay, info: tables_pb2.PlayedTable, histories: Sequence[ViewerHistory]) -> Iterator[str]:
    """Yield the differences between the header and the table's data that the viewers received."""
    header = replay.header
    players = [(player["player_id"], player["name"], player["bot"]) for player in header["players"]]
    values = {name: info.options[name] for name in info.options.fields}
    # As JSON, in which true and 1 differ, with integers as a replay has them.
    options = {name: int(value) if isinstance(value, float) else value for name, value in values.items()}
    pairs = {
        "table": (header["table_id"], info.table_id),
        "game": (header["game"], info.game),
        "version of the rules": (header["rules_version"], info.rules_version),
        "options": tuple(json.dumps(one, sort_keys=True) for one in (header["options"], options)),
        "players": (players, [(seat.player_id, seat.name, bool(seat.bot)) for seat in info.seats]),
    }
    for name, (value, own) in pairs.items():
        if info.table_id and value != own:
            yield f"the replay's {name} is {value}, the table's {own}"
    for seed in {state.revealed_seed for history in histories for state in history.states.values()} - {""}:
        if seed != header["seed"]:
            yield "the replay's seed differs from the revealed seed"


def check_seeds(
    replay: Replay, lobby_commitment: str, info: tables_pb2.PlayedTable, histories: Sequence[ViewerHistory]
) -> Iterator[Found]:
    """Yield wrong commitments and seeds, and client seeds that differ from the players' own."""
    computed = commitment_of(bytes.fromhex(replay.header["seed"]))
    if replay.header["commitment"] != computed:
        yield Invariant.DEAL_UNFAIR, 0, "the replay's commitment is not the hash of its seed"
    if info.seed_commitment and info.seed_commitment != computed:
        yield Invariant.DEAL_UNFAIR, 0, "the seed does not match the table's commitment"
    if lobby_commitment and lobby_commitment != computed:
        yield Invariant.DEAL_UNFAIR, 0, "the seed does not match the lobby's commitment"
    for history in histories:
        seed = history.record.client_seed
        if seed and history.seat is not None and replay.added[history.seat : history.seat + 1] != [seed]:
            yield Invariant.DEAL_UNFAIR, 0, f"the client seed of {history.name} differs from the replay's"
