"""Replay files: a finished table as JSON lines.

They hold the events of the game without proposals, votes, compensations, and players who leave or return, so that
sequences in a file may be lower than those in the log. docs/replay-format.md describes the format, which differs from
that of stored logs.
"""

import gzip
import json
import zlib
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import Any

from croupier.engine.core.fold import new_table, transition_of
from croupier.engine.core.guarded_rules import RulesWatch
from croupier.engine.core.log import ActedBy, NonGameEvent, TableConfig, TableEnded
from croupier.engine.core.log_codec import Row, decode_entry
from croupier.games.actions import encode_action
from croupier.games.cards import card_names
from croupier.games.facts import Fact, RoundEnded
from croupier.games.interface import Event, Game, GameOver, SeatActed, State

REPLAY_VERSION = 1
MEMBER_LINES = 256
"""A member of the gzip file has at least this many lines, except for the last."""
GZIP_WBITS = 16 + zlib.MAX_WBITS
PART_BYTES = 4096
"""The compressed bytes of a part; JSON lines are ten to twenty times as long."""
AUTO = {ActedBy.TIMEOUT: "timeout", ActedBy.BOT: "bot"}
"""The names of decisions that are not the player's."""


def replay_parts(replay: bytes) -> Iterator[str]:
    """Yield the replay file that a ReplayFold has compressed in parts of whole lines, some tens of kilobytes each.

    Between two parts it keeps no copy of the rest, because many readers may be slow at once.
    """
    member, line = zlib.decompressobj(GZIP_WBITS), b""
    for start in range(0, len(replay), PART_BYTES):
        compressed = replay[start : start + PART_BYTES]
        while compressed:
            line += member.decompress(compressed)
            compressed = member.unused_data
            if member.eof:
                member = zlib.decompressobj(GZIP_WBITS)
        lines, end, line = line.rpartition(b"\n")
        if lines:
            yield (lines + end).decode()


class ReplayFold:
    """The fold of a log into its replay file, compressed by gzip."""

    def __init__(self, config: TableConfig, watch: RulesWatch | None = None) -> None:
        self._config = config
        self._table = new_table(config, watch)
        self._sequence = 0
        self._members: list[bytes] = []
        self._lines = [_line_text(header_line(config))]

    def add(self, row: Row) -> None:
        """Add the row of the next entry; raises UnreadableLog."""
        entry = decode_entry(self._config.table_id, *row)
        if isinstance(entry.event, TableEnded) or not isinstance(entry.event, NonGameEvent):
            self._sequence += 1
            fields = _event_fields(self._table.rules, self._table.game, entry.event, entry.acted_by)
            self._lines.append(_line_text({"seq": self._sequence, "at": time_text(entry.at), **fields}))
        transition = transition_of(self._config, self._table, entry)
        self._table = transition.after
        self._lines += map(_line_text, round_lines(transition.facts))
        if len(self._lines) >= MEMBER_LINES:
            self._compress()

    def result(self) -> bytes:
        """Return the whole file for replay_parts; no bytes without any entry."""
        if not self._table.sequence:
            return b""
        if isinstance(over := self._table.awaiting, GameOver):
            self._lines.append(_line_text(result_line(over, self._table.scores)))
        self._compress()
        return b"".join(self._members)

    def _compress(self) -> None:
        # Members of a gzip file may follow each other, so that the file can be compressed in parts.
        self._members.append(gzip.compress("".join(self._lines).encode(), mtime=0))
        self._lines = []


def _line_text(line: dict[str, Any]) -> str:
    return json.dumps(line, separators=(",", ":")) + "\n"


def header_line(config: TableConfig) -> dict[str, Any]:
    """Return the first line of a replay."""
    return {
        "replay": REPLAY_VERSION,
        "table_id": config.table_id,
        "game": config.game,
        "rules_version": config.rules_version,
        "seats": config.seat_count,
        "options": dict(config.options),
        "players": [
            {"seat": seat, "player_id": who.player_id, "name": who.name, "bot": bool(who.bot)}
            for seat, who in enumerate(config.seats)
        ],
        "commitment": config.commitment,
        "seed": config.seed.hex(),
        "client_seeds": {str(seat): added.hex() for seat, added in enumerate(config.client_seeds) if added},
    }


def _event_fields(rules: Game, before: State, event: Event | TableEnded, acted_by: ActedBy) -> dict[str, Any]:
    if isinstance(event, TableEnded):
        return end_fields(event.limit)
    if not isinstance(event, SeatActed):
        return {"event": rules.event_record(before, event)}
    fields: dict[str, Any] = {"seat": event.seat, "action": encode_action(event.action, card_names(rules.deck))}
    return fields | {"auto": AUTO[acted_by]} if acted_by in AUTO else fields


def end_fields(limit: str) -> dict[str, Any]:
    """Return the fields of the end of a table at a limit."""
    return {"event": {"type": "end", "limit": limit}}


def round_lines(facts: Sequence[Fact]) -> list[dict[str, Any]]:
    """Return the lines of the rounds that end with these facts."""
    return [
        {"round": fact.score.round_number, "scores": list(fact.score.points), "totals": list(fact.score.totals)}
        for fact in facts
        if isinstance(fact, RoundEnded)
    ]


def result_line(over: GameOver, totals: tuple[int, ...]) -> dict[str, Any]:
    """Return the last line of a replay."""
    result = {"ranking": [list(group) for group in over.ranking], "totals": list(totals)}
    return {"result": result | {"void": True} if over.is_void else result}


def time_text(at: int) -> str:
    """Return a time in milliseconds since 1970 UTC as text."""
    moment = datetime.fromtimestamp(at / 1000, UTC)
    return moment.strftime("%Y-%m-%dT%H:%M:%S.") + f"{at % 1000:03d}Z"
