"""The verification of replay files."""

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from io import StringIO
from typing import Any, NamedTuple, NoReturn, TextIO

from croupier.engine.core.fold import LIMITS, over_at_limit
from croupier.engine.core.guarded_rules import RulesUnusable, guarded_rules
from croupier.engine.core.log import ActedBy, ClockConfig, SeatConfig, TableConfig
from croupier.engine.core.replay import AUTO, end_fields, header_line, result_line, round_lines, time_text
from croupier.engine.core.shuffles import SEED_BYTES, shuffle, stream_key
from croupier.games.actions import decode_action, encode_action
from croupier.games.cards import card_names
from croupier.games.facts import Seat
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
    completed_options,
    resolve_options,
)
from croupier.games.registry import rules_of

MAX_LINE_CHARACTERS = 64 * 1024
"""The longest lines are the header and shuffles of several packs, with a few thousand characters."""
MAX_LINES = 1_000_000
"""A hundred times the entries of a table by default."""
MAX_FAULT_CHARACTERS = 1_000
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


def verify_replay(text: str) -> ReplaySummary:
    """Verify the text of a replay; see `verify_replay_file`."""
    return verify_replay_file(StringIO(text))


def verify_replay_file(file: TextIO) -> ReplaySummary:
    """Fold a replay again, and check each line, and each deal against the seed; raises ReplayFault.

    The file is read line by line up to the first fault, in bounded memory.
    """
    verifier = _Verifier(file)
    try:
        return verifier.run()
    except RecursionError:
        raise ReplayFault(verifier.line, "this is nested too deeply") from None
    except RulesUnusable as failure:
        error = failure.__context__
        raise ReplayFault(verifier.line, f"the rules failed, by {error!r}") from error


def _config_of(header: dict[str, Any]) -> TableConfig:
    """Return the configuration of a header; raises one of many errors for a malformed one."""
    game, seats, added = rules_of(header["game"], header["rules_version"]), header["seats"], header["client_seeds"]
    options = resolve_options(game, seats, completed_options(game, seats, header["options"]))
    players = tuple(
        SeatConfig(str(who["player_id"]), str(who["name"]), AUTO[ActedBy.BOT] if who["bot"] else "")
        for who in header["players"]
    )
    client_seeds = tuple(bytes.fromhex(added.get(str(seat), "")) for seat in range(seats))
    seed = bytes.fromhex(header["seed"])
    return TableConfig(
        str(header["table_id"]), game.id, game.rules_version, seats, options, _NO_CLOCK, seed, players, client_seeds
    )


def _limit_of(line: dict[str, Any]) -> str:
    """Return the limit that a line names as the end of the table, empty if it is another line."""
    return next((limit for limit in LIMITS if line.get("event") == end_fields(limit)["event"]), "")


def _agreed_proposal(rules: Game, game: State, record: object) -> ProposalAgreed | None:
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
    return time_text(round(moment.timestamp() * 1000)) == text


class _Verifier:
    """Checks the lines in order; those before a line determine its expected content."""

    def __init__(self, file: TextIO) -> None:
        self.line = 0
        """The line that is being checked."""
        self._file = file
        self._at = ""

    def run(self) -> ReplaySummary:
        config = self._config()
        rules = guarded_rules(config)
        game = rules.new(config.seat_count, config.options)
        sequence = rounds = 0
        while not isinstance(awaiting := rules.awaiting(game), GameOver):
            sequence += 1
            line = self._next_line()
            if isinstance(awaiting, SeatsToAct) and (limit := _limit_of(line)):
                self._expect(line, {"seq": sequence, "at": self._time(line), **end_fields(limit)})
                awaiting = over_at_limit(rules, game, config.seat_count, limit)
                break
            event, fields = self._event(config, rules, game, awaiting, line)
            self._expect(line, {"seq": sequence, "at": self._time(line), **fields})
            try:
                game, facts = rules.apply(game, event)
            except IllegalAction as refusal:
                self._fault(f"{refusal} ({refusal.rule})")
            for expected in round_lines(facts):
                rounds += 1
                self._expect(self._next_line(), expected)
        totals = rules.scores(game)
        self._expect(self._next_line(), result_line(awaiting, totals))
        if self._file.readline(1):
            raise ReplayFault(self.line + 1, "nothing may follow the result")
        return ReplaySummary(config.table_id, config.game, sequence, rounds, awaiting.ranking, totals)

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
        rules = rules_of(config.game, config.rules_version)
        options = completed_options(rules, config.seat_count, header["options"])
        self._expect(header | {"options": options}, header_line(config))
        return config

    def _event(
        self, config: TableConfig, rules: Game, game: State, awaiting: SeatsToAct | ShuffleNeeded, line: dict[str, Any]
    ) -> tuple[Event, dict[str, Any]]:
        if isinstance(awaiting, ShuffleNeeded):
            shuffled = shuffle(stream_key(config.seed, config.client_seeds), awaiting)
            return shuffled, {"event": rules.event_record(game, shuffled)}
        if "event" in line and (agreed := _agreed_proposal(rules, game, line["event"])):
            return agreed, {"event": rules.event_record(game, agreed)}
        return self._action(config, rules, awaiting.seats, line)

    def _action(
        self, config: TableConfig, rules: Game, to_act: Sequence[Seat], line: dict[str, Any]
    ) -> tuple[Event, dict[str, Any]]:
        names = card_names(rules.deck)
        try:
            action = decode_action(line.get("action", {}), names)
        except ValueError as fault:
            self._fault(str(fault))
        seat = line.get("seat")
        if type(seat) is not int or seat not in to_act:
            self._fault(f"seat {seat!r} is not to act here")
        fields = {"seat": seat, "action": encode_action(action, names)}
        is_bot = bool(config.seats[seat].bot)
        if "auto" in line or is_bot:
            fields["auto"] = AUTO[ActedBy.BOT if is_bot else ActedBy.TIMEOUT]
        return SeatActed(seat, action), fields

    def _time(self, line: dict[str, Any]) -> str:
        at = line.get("at")
        if not isinstance(at, str) or at < self._at or not _is_time_text(at):
            self._fault("the time is missing, malformed or before that of the line above")
        self._at = at
        return at

    def _next_line(self) -> dict[str, Any]:
        self.line += 1
        if not (text := self._file.readline(MAX_LINE_CHARACTERS + 1)):
            self._fault("the file is empty" if self.line == 1 else "the file ends before the game does")
        if len(text) > MAX_LINE_CHARACTERS or self.line > MAX_LINES:
            self._fault(
                f"the file is no replay: expected at most {MAX_LINES} lines of {MAX_LINE_CHARACTERS} characters"
            )
        try:
            value = json.loads(text)
        except (ValueError, RecursionError):
            self._fault("this is not JSON, or nested too deeply")
        if not isinstance(value, dict):
            self._fault("this is not a JSON object")
        return value

    def _expect(self, line: dict[str, Any], expected: dict[str, Any]) -> None:
        for name in dict.fromkeys((*expected, *line)):
            # Values that are equal in Python, such as 1, 1.0 and true, differ in JSON.
            found, wanted = (
                json.dumps(fields[name], sort_keys=True) if name in fields else "missing" for fields in (line, expected)
            )
            if found != wanted:
                self._fault(f"{name!r} is {found}, but should be {wanted}")

    def _fault(self, message: str) -> NoReturn:
        raise ReplayFault(self.line, message) from None
