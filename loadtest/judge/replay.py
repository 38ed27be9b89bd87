"""The text of a replay: whether it is one, and whether it tells what the viewers heard."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from croupier_api.v1 import engine_pb2, table_pb2
from loadtest.judge.deals import commitment_of
from loadtest.judge.notation import AUTO, CARDS, milliseconds_of
from loadtest.judge.rules.interface import Round
from loadtest.judge.streams import Followed
from loadtest.judge.violations import Found, Invariant

_HEADER_KEYS = {
    "replay", "table_id", "game", "rules_version", "seats", "options", "players", "commitment", "seed", "client_seeds",
}  # fmt: skip
_ACTED_BY = {text: number for number, text in AUTO.items()}
_EVENT_KEYS = ({"seq", "at", "event"}, {"seq", "at", "seat", "action"}, {"seq", "at", "seat", "action", "auto"})


class Untrue(Exception):
    """A text that is no replay."""


class Public(NamedTuple):
    """What is public of an entry: who decided by the contract's number, the time it gives back, the card played."""

    at: int
    seat: int | None
    by: int
    credited: int
    is_aside: bool
    card: str


class Entry(NamedTuple):
    """An entry of a replay with the rounds that it ended."""

    at_milliseconds: int
    line: Mapping[str, Any]
    rounds: list[Round]

    @property
    def public(self) -> Public:
        """What everybody was told of it, too."""
        line = self.line
        by, card = _ACTED_BY.get(line.get("auto", ""), 0), line.get("action", {}).get("card", "")
        return Public(self.at_milliseconds, line.get("seat"), by, 0, False, card)


@dataclass(frozen=True, slots=True)
class Replay:
    """A replay that can be read; whether it is true is another question."""

    header: Mapping[str, Any]
    entries: Sequence[Entry]
    result: Mapping[str, Any] | None
    """None where rounds and result are not written down: in rows of the database."""

    @property
    def rounds(self) -> list[Round]:
        """All rounds."""
        return [ended for entry in self.entries for ended in entry.rounds]

    @property
    def added(self) -> list[bytes]:
        """What each seat added to the shuffles."""
        seeds = self.header["client_seeds"]
        return [bytes.fromhex(seeds.get(str(seat), "")) for seat in range(self.header["seats"])]


def read(text: str) -> Replay:
    """Read a replay; raises Untrue."""
    try:
        lines = [json.loads(line) for line in text.splitlines()]
    except ValueError:
        raise Untrue("a line is no JSON") from None
    if len(lines) < 2 or not all(isinstance(line, dict) for line in lines):
        raise Untrue("there is no header, or a line is no object")
    _check_header(lines[0])
    entries: list[Entry] = []
    for line in lines[1:-1]:
        if set(line) == {"round", "scores", "totals"}:
            _take_round(line, entries)
        else:
            after = entries[-1].at_milliseconds if entries else 0
            entries.append(_entry(line, len(entries) + 1, after, lines[0]["seats"]))
    if set(lines[-1]) != {"result"} or set(lines[-1]["result"]) != {"ranking", "totals"}:
        raise Untrue("the last line is no result")
    return Replay(lines[0], entries, lines[-1]["result"])


def _check_header(header: Mapping[str, Any]) -> None:
    if set(header) != _HEADER_KEYS:
        raise Untrue(f"the header has other keys: {', '.join(set(header) ^ _HEADER_KEYS)}")
    seats = [player.get("seat") for player in header["players"]]
    if header["replay"] != 1 or seats != list(range(header["seats"])):
        raise Untrue("the header has another version, or has not one player for each seat in order")
    try:
        seeds = [bytes.fromhex(header["seed"]), *map(bytes.fromhex, header["client_seeds"].values())]
    except (ValueError, TypeError):
        raise Untrue("a seed of the header is not hexadecimal") from None
    if len(seeds[0]) != 32 or not all(seeds):
        raise Untrue("the seed has not 32 bytes, or an empty one was not left out")


def _entry(line: Mapping[str, Any], number: int, after: int, seats: int) -> Entry:
    at, seat, what = milliseconds_of(line.get("at")), line.get("seat", 0), line.get("event", line.get("action"))
    if set(line) not in _EVENT_KEYS or line["seq"] != number or line.get("auto", "bot") not in AUTO.values():
        raise Untrue(f"what should be entry {number} is something else")
    if at is None or at < after:
        raise Untrue(f"the time of entry {number} is none, or before that of the entry before")
    if type(seat) is not int or not 0 <= seat < seats or not isinstance(what, dict) or "type" not in what:
        raise Untrue(f"entry {number} has a seat that is none, or an event or action that is no object")
    return Entry(at, line, [])


def _take_round(line: Mapping[str, Any], entries: Sequence[Entry]) -> None:
    told = sum(len(entry.rounds) for entry in entries)
    if not entries or line["round"] != told + 1:
        raise Untrue(f"round {line['round']} follows round {told}")
    entries[-1].rounds.append(Round(line["scores"], line["totals"]))


def header_differences(replay: Replay, info: table_pb2.TableInfo, followed: Sequence[Followed]) -> Iterator[str]:
    """Where the header does not tell what everybody was told about the table."""
    header = replay.header
    given = header["options"].items()
    options = {name: value if isinstance(value, str) else json.dumps(value) for name, value in given}
    players = [(who["player_id"], who["name"], who["bot"]) for who in header["players"]]
    pairs = {
        "table": (header["table_id"], info.table_id),
        "game": (header["game"], info.game),
        "version of the rules": (header["rules_version"], info.rules_version),
        "options": (options, dict(info.options.values)),
        "players": (players, [(who.player_id, who.name, bool(who.bot)) for who in info.seats]),
    }
    for what, (it, own) in pairs.items():
        if info.table_id and it != own:
            yield f"the replay's {what} is {it}, what was told at the table {own}"
    for seed in {moment.revealed_seed for one in followed for moment in one.moments.values()} - {""}:
        if seed != header["seed"]:
            yield "the replay's seed is not the one that was revealed at the table"


def played_card(update: engine_pb2.TableUpdate) -> str:
    """The card that an entry plainly shows as played; empty where it shows none."""
    played = [
        fact.cards_moved.cards[0]
        for fact in update.facts
        if fact.cards_moved.reason == table_pb2.MOVE_REASON_PLAY and len(fact.cards_moved.cards) == 1
    ]
    return CARDS.get(played[0], "??") if len(played) == 1 else ""


def seeds_differ(
    replay: Replay, lobby: str, info: table_pb2.TableInfo, followed: Sequence[Followed]
) -> Iterator[Found]:
    """Where commitments and seeds are not what they should be, or a player's own seed is not as it was given."""
    return ((Invariant.DEAL_UNFAIR, 0, detail) for detail in _unfair(replay, lobby, info, followed))


def _unfair(replay: Replay, lobby: str, info: table_pb2.TableInfo, followed: Sequence[Followed]) -> Iterator[str]:
    computed = commitment_of(bytes.fromhex(replay.header["seed"]))
    if replay.header["commitment"] != computed:
        yield "the replay's commitment is not the hash of its seed"
    if info.commitment and info.commitment != computed:
        yield "the seed is not the one that was committed to at the table"
    if lobby and lobby != computed:
        yield "the seed is not the one that the lobby showed the commitment of"

    for one in followed:
        seed = one.record.client_seed
        if seed and one.seat is not None and replay.added[one.seat : one.seat + 1] != [seed]:
            yield f"{one.name} added another seed to the shuffles than the replay tells"
