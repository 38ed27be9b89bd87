"""Replay files: a finished table as JSON lines, and the verification of such files.

They hold the events of the game without proposals, votes and compensations, so that sequences in a file may be lower
than those in the log. docs/replay-format.md describes the format, which differs from that of stored logs.
"""

import gzip
import json
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import Any, NamedTuple, NoReturn

from croupier.engine.core.fold import new_table, transition_of
from croupier.engine.core.limits import LIMITS, over_at_limit
from croupier.engine.core.log import (
    ActedBy,
    ClockConfig,
    Entry,
    NonGameEvent,
    SeatConfig,
    TableConfig,
    TableEnded,
)
from croupier.engine.core.log_codec import Row, decode_entry
from croupier.engine.core.shuffles import SEED_BYTES, shuffle, stream_key
from croupier.games.actions import decode_action, encode_action
from croupier.games.cards import card_names
from croupier.games.facts import Fact, RoundEnded, Seat
from croupier.games.interface import (
    Event,
    Game,
    GameOver,
    IllegalAction,
    InvalidOption,
    ProposalAgreed,
    SeatActed,
    SeatsToAct,
    ShuffleNeeded,
    State,
    resolve_options,
)
from croupier.games.registry import rules_of

REPLAY_VERSION = 1
MAX_REPLAY_CHARACTERS = 64 * 1024 * 1024
MAX_FAULT_CHARACTERS = 1_000
MEMBER_LINES = 256
_AUTO = {ActedBy.TIMEOUT: "timeout", ActedBy.BOT: "bot"}
_HEADER_KEYS = {
    "replay", "table_id", "game", "rules_version", "seats", "options", "players", "commitment", "seed", "client_seeds",
}  # fmt: skip
_NO_CLOCK = ClockConfig(0, 0, 0)


class ReplayFault(ValueError):
    """A fault of a replay in line `line`, from 1."""

    def __init__(self, line: int, message: str) -> None:
        super().__init__(f"line {line}: {message[:MAX_FAULT_CHARACTERS]}")
        self.line = line


class ReplaySummary(NamedTuple):
    """The summary of a valid replay."""

    table_id: str
    game: str
    entries: int
    rounds: int
    ranking: tuple[tuple[int, ...], ...]
    totals: tuple[int, ...]


def write_replay(config: TableConfig, entries: Iterable[Entry]) -> str:
    """Return the replay file of a finished table."""
    replay = ReplayFold(config)
    for entry in entries:
        replay.add_entry(entry)
    return replay_text(replay.result())


def replay_text(replay: bytes) -> str:
    """Return the replay file that a ReplayFold has compressed."""
    return gzip.decompress(replay).decode()


class ReplayFold:
    """The fold of a log into its replay file, compressed by gzip."""

    def __init__(self, config: TableConfig) -> None:
        self._config = config
        self._table = new_table(config)
        self._sequence = 0
        self._members: list[bytes] = []
        self._lines = [_line_text(_header(config))]

    @property
    def table_id(self) -> str:
        """The id of the table."""
        return self._config.table_id

    def add(self, row: Row) -> None:
        """Add the row of the next entry; an entry that was added before changes nothing."""
        if row[0] > self._table.sequence:
            self.add_entry(decode_entry(self.table_id, *row))

    def add_entry(self, entry: Entry) -> None:
        """Add the next entry."""
        if isinstance(entry.event, TableEnded) or not isinstance(entry.event, NonGameEvent):
            self._sequence += 1
            fields = _event_fields(self._table.rules, self._table.game, entry.event, entry.acted_by)
            self._lines.append(_line_text({"seq": self._sequence, "at": _time_text(entry.at), **fields}))
        transition = transition_of(self._config, self._table, entry)
        self._table = transition.after
        self._lines += map(_line_text, _round_lines(transition.facts))
        if len(self._lines) >= MEMBER_LINES:
            self._compress()

    def result(self) -> bytes:
        """Return the whole file for replay_text; no bytes without any entry."""
        if not self._table.sequence:
            return b""
        if isinstance(over := self._table.awaiting, GameOver):
            self._lines.append(_line_text(_result_line(over, self._table.scores)))
        self._compress()
        return b"".join(self._members)

    def _compress(self) -> None:
        # Members of a gzip file may follow each other, so that the file can be compressed in parts.
        self._members.append(gzip.compress("".join(self._lines).encode(), mtime=0))
        self._lines = []


def _line_text(line: dict[str, Any]) -> str:
    return json.dumps(line, separators=(",", ":")) + "\n"


def _header(config: TableConfig) -> dict[str, Any]:
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
        return _end_fields(event.limit)
    if not isinstance(event, SeatActed):
        return {"event": rules.event_record(before, event)}
    fields: dict[str, Any] = {"seat": event.seat, "action": encode_action(event.action, card_names(rules.deck))}
    return fields | {"auto": _AUTO[acted_by]} if acted_by in _AUTO else fields


def _end_fields(limit: str) -> dict[str, Any]:
    return {"event": {"type": "end", "limit": limit}}


def _round_lines(facts: Sequence[Fact]) -> list[dict[str, Any]]:
    return [
        {"round": fact.score.round_number, "scores": list(fact.score.points), "totals": list(fact.score.totals)}
        for fact in facts
        if isinstance(fact, RoundEnded)
    ]


def _result_line(over: GameOver, totals: tuple[int, ...]) -> dict[str, Any]:
    result = {"ranking": [list(group) for group in over.ranking], "totals": list(totals)}
    return {"result": result | {"void": True} if over.is_void else result}


def _time_text(at: int) -> str:
    moment = datetime.fromtimestamp(at / 1000, UTC)
    return moment.strftime("%Y-%m-%dT%H:%M:%S.") + f"{at % 1000:03d}Z"


def verify_replay(text: str) -> ReplaySummary:
    """Fold a replay again, and check each line, and each deal against the seed; raises ReplayFault."""
    if len(text) > MAX_REPLAY_CHARACTERS:
        raise ReplayFault(1, "the file is larger than any replay")
    lines = [_parsed(number, line) for number, line in enumerate(text.splitlines(), start=1)]
    if not lines:
        raise ReplayFault(1, "the file is empty")
    verifier = _Verifier(lines)
    try:
        return verifier.run()
    except RecursionError:
        raise ReplayFault(verifier.line, "this is nested too deeply") from None


def _parsed(number: int, line: str) -> dict[str, Any]:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        raise ReplayFault(number, "this is not JSON, or nested too deeply") from None
    if not isinstance(value, dict):
        raise ReplayFault(number, "this is not a JSON object")
    return value


def _config_of(header: dict[str, Any]) -> TableConfig:
    """Return the configuration of a header; raises one of many errors for a malformed one."""
    game, seats, added = rules_of(header["game"], header["rules_version"]), header["seats"], header["client_seeds"]
    options = resolve_options(game, seats, header["options"])
    players = tuple(
        SeatConfig(str(who["player_id"]), str(who["name"]), _AUTO[ActedBy.BOT] if who["bot"] else "")
        for who in header["players"]
    )
    client_seeds = tuple(bytes.fromhex(added.get(str(seat), "")) for seat in range(seats))
    seed = bytes.fromhex(header["seed"])
    return TableConfig(
        str(header["table_id"]), game.id, game.rules_version, seats, options, _NO_CLOCK, seed, players, client_seeds
    )


def _limit_of(line: dict[str, Any]) -> str:
    """Return the limit that a line names as the end of the table, empty if it is another line."""
    return next((limit for limit in LIMITS if line.get("event") == _end_fields(limit)["event"]), "")


def agreed_proposal(rules: Game, game: State, record: object) -> ProposalAgreed | None:
    """Return the proposal of a record in a replay, None if no proposal that is possible now has this record."""
    for proposal in map(ProposalAgreed, rules.proposals):
        try:
            if rules.event_record(game, proposal) == record:
                return proposal
        except IllegalAction:
            continue
    return None


def _is_time_text(text: str) -> bool:
    try:
        moment = datetime.strptime(text, "%Y-%m-%dT%H:%M:%S.%fZ").replace(tzinfo=UTC)
    except ValueError:
        return False
    return _time_text(round(moment.timestamp() * 1000)) == text


class _Verifier:
    """Checks the lines in order; those before a line determine its expected content."""

    def __init__(self, lines: list[dict[str, Any]]) -> None:
        self._lines = lines
        self._next = 0
        self._rounds = 0
        self._at = ""

    @property
    def line(self) -> int:
        """The line that is being checked."""
        return self._next

    def run(self) -> ReplaySummary:
        config = self._config()
        rules = rules_of(config.game, config.rules_version)
        game = rules.new(config.seat_count, config.options)
        sequence = 0
        while not isinstance(awaiting := rules.awaiting(game), GameOver):
            sequence += 1
            line = self._next_line()
            if isinstance(awaiting, SeatsToAct) and (limit := _limit_of(line)):
                self._expect(line, {"seq": sequence, "at": self._time(line), **_end_fields(limit)})
                awaiting = over_at_limit(rules, game, config.seat_count)
                break
            event, fields = self._event(config, rules, game, awaiting, line)
            self._expect(line, {"seq": sequence, "at": self._time(line), **fields})
            game, facts = self._applied(rules, game, event)
            for expected in _round_lines(facts):
                self._rounds += 1
                self._expect(self._next_line(), expected)
        totals = rules.scores(game)
        self._expect(self._next_line(), _result_line(awaiting, totals))
        if self._next < len(self._lines):
            self._fault_at(self._next + 1, "nothing may follow the result")
        return ReplaySummary(config.table_id, config.game, sequence, self._rounds, awaiting.ranking, totals)

    def _config(self) -> TableConfig:
        header = self._next_line()
        if set(header) != _HEADER_KEYS:
            self._fault(f"the header needs exactly the keys {', '.join(sorted(_HEADER_KEYS))}")
        try:
            config = _config_of(header)
        except (InvalidOption, ValueError, TypeError, AttributeError, LookupError) as fault:
            raise ReplayFault(1, f"invalid header: {fault!r}") from None
        if len(config.seats) != config.seat_count or len(config.seed) != SEED_BYTES:
            self._fault(f"the header needs one player for each seat and a seed of {SEED_BYTES} bytes")
        self._expect(header, _header(config))
        return config

    def _event(
        self, config: TableConfig, rules: Game, game: State, awaiting: SeatsToAct | ShuffleNeeded, line: dict[str, Any]
    ) -> tuple[Event, dict[str, Any]]:
        if isinstance(awaiting, ShuffleNeeded):
            shuffled = shuffle(stream_key(config.seed, config.client_seeds), awaiting)
            return shuffled, {"event": rules.event_record(game, shuffled)}
        if "event" in line and (agreed := agreed_proposal(rules, game, line["event"])):
            return agreed, {"event": rules.event_record(game, agreed)}
        return self._action(config, rules, awaiting.seats, line)

    def _action(
        self, config: TableConfig, rules: Game, to_act: Sequence[Seat], line: dict[str, Any]
    ) -> tuple[Event, dict[str, Any]]:
        names = card_names(rules.deck)
        try:
            action = decode_action(line.get("action", {}), names)
        except ValueError as fault:
            raise ReplayFault(self._next, str(fault)) from None
        seat = line.get("seat")
        if type(seat) is not int or seat not in to_act:
            self._fault(f"seat {seat!r} is not to act here")
        fields = {"seat": seat, "action": encode_action(action, names)}
        is_bot = bool(config.seats[seat].bot)
        if "auto" in line or is_bot:
            fields["auto"] = _AUTO[ActedBy.BOT if is_bot else ActedBy.TIMEOUT]
        return SeatActed(seat, action), fields

    def _applied(self, rules: Game, game: State, event: Event) -> tuple[State, tuple[Fact, ...]]:
        try:
            return rules.apply(game, event)
        except IllegalAction as refusal:
            raise ReplayFault(self._next, f"{refusal} ({refusal.rule})") from None

    def _time(self, line: dict[str, Any]) -> str:
        at = line.get("at")
        if not isinstance(at, str) or at < self._at or not _is_time_text(at):
            self._fault("the time is missing, malformed or before that of the line above")
        self._at = at
        return at

    def _next_line(self) -> dict[str, Any]:
        if self._next == len(self._lines):
            self._fault_at(self._next + 1, "the file ends before the game does")
        self._next += 1
        return self._lines[self._next - 1]

    def _expect(self, line: dict[str, Any], expected: dict[str, Any]) -> None:
        # Values that are equal in Python, such as 1, 1.0 and true, differ in JSON.
        if line != expected or json.dumps(line, sort_keys=True) != json.dumps(expected, sort_keys=True):
            self._fault(f"this should be {json.dumps(expected)}")

    def _fault(self, message: str) -> NoReturn:
        self._fault_at(self._next, message)

    def _fault_at(self, line: int, message: str) -> NoReturn:
        raise ReplayFault(line, message)
