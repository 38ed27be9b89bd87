"""The judge: one table, as its viewers lived it and as the records tell it, held against all that must be true."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from croupier_api.v1 import scoring_pb2
from loadtest.judge.actions import acknowledgements_broken, answers_wrong, entries_unasked
from loadtest.judge.credits import times_broken
from loadtest.judge.deadlines import broken_deadlines, waited_in_vain
from loadtest.judge.deals import commitment_of
from loadtest.judge.knowledge import Shown
from loadtest.judge.lag import end_missed, late_entries
from loadtest.judge.ledger import counted_in, ledger_differs
from loadtest.judge.log import Log, log_of, replay_numbers
from loadtest.judge.positions import views_against_rules
from loadtest.judge.proof import Position, Proof, prove
from loadtest.judge.public import disagreements
from loadtest.judge.reach import Timeline
from loadtest.judge.refusals import Bench
from loadtest.judge.replay import (
    Replay,
    Untrue,
    added_differences,
    entry_differences,
    header_differences,
    read,
    seed_differences,
)
from loadtest.judge.results import rounds_told, sheet_differs, told_results_differ
from loadtest.judge.rows import Rows, Unreadable, read_rows
from loadtest.judge.secrecy import secrets_told, views_differ
from loadtest.judge.spans import seen_by_all
from loadtest.judge.standings import Occupant, Outcome
from loadtest.judge.stored import (
    answers_differ,
    received_differs,
    replay_differs,
    rows_broken,
    shown_early,
)
from loadtest.judge.streams import Followed, follow
from loadtest.judge.timeouts import unexcused
from loadtest.judge.violations import Invariant, Violation
from loadtest.record import Noted, TableRecord


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a judge says of a table."""

    violations: tuple[Violation, ...]
    checks_made: Mapping[str, int]
    """How often what was checked: "entries", "views", "refusals", "acknowledgements", "deadlines", "deals", "replays",
    "sheets", "rows", "ledgers"."""
    is_proved: bool
    """Whether the table was played again to its end, from its replay or its rows, by the judge's own rules."""
    seen_by_all_milliseconds: tuple[int, ...]
    """From an action sent to heard at the last of the seats, for the actions that all heard live."""
    outcome: Outcome | None = None
    """How the game ended, for statistics and leaderboards; None unless that is known and nothing contradicts it."""


@dataclass(frozen=True, slots=True)
class _Records:
    """What replay and rows tell, as far as they can be read: where it stands in the log, and what the rules say."""

    base: Replay | None
    """What is played again: the replay, or else the rows."""
    replay: Replay | None
    rows: Rows | None
    numbers: Mapping[int, int]
    proof: Proof | None
    violations: tuple[Violation, ...]


def judge(record: TableRecord) -> Verdict:
    """Judge a table; a function of the record alone. What it raises is a defect of the referee."""
    followed = [follow(record.table_id, viewer, record.seats) for viewer in record.viewers]
    log = log_of(followed)
    for one in followed:
        one.seat = _seat_of(one, log)
    records, timeline = _read_records(record, followed, log), Timeline(log, followed)
    violations = [
        *(Violation(noted.invariant, record.table_id, noted.sequence, noted.detail) for noted in _noted(record)),
        *(found for one in followed for found in one.violations),
        *disagreements(record.table_id, followed),
        *_secrets(record.table_id, followed),
        *broken_deadlines(record.table_id, log, record.late_milliseconds),
        *waited_in_vain(record.table_id, log, followed),
        *records.violations,
        *_actions(record.table_id, followed, log, records, timeline),
        *_views(record, followed, records),
        *_results(record, followed, log, records),
        *_times(record, log, records),
        *unexcused(record.table_id, log, followed, timeline.ahead),
        *_lag(record, followed, records, timeline.ahead),
    ]
    is_proved = records.proof is not None and records.proof.ranking is not None and not records.proof.faults
    seen = seen_by_all(followed, record.timed_until_milliseconds)
    outcome = _outcome(record, log, records) if is_proved else None
    return Verdict(tuple(violations), _checks_made(record, followed, log, records), is_proved, tuple(seen), outcome)


def _outcome(record: TableRecord, log: Log, records: _Records) -> Outcome | None:
    """The result by the judge's rules, with what the rounds count as viewers or the score sheet tell it."""
    base, proof = records.base, records.proof
    assert base is not None
    assert proof is not None
    sheet = scoring_pb2.GetScoreSheetResponse.FromString(record.sheet or b"")
    told = rounds_told(log.entries)
    rounds = told if len(told) == len(proof.rounds) else sheet.rounds
    if len(rounds) != len(proof.rounds):
        return None
    seats = tuple(Occupant("" if who["bot"] else who["player_id"], who["name"]) for who in base.header["players"])
    ranking = tuple(map(tuple, proof.ranking or ()))
    return Outcome(record.table_id, record.game, seats, ranking, counted_in(rounds), base.entries[-1].at_milliseconds)


def _seat_of(one: Followed, log: Log) -> int | None:
    """Where a viewer sits, also if he himself was never told because no stream of his ever began."""
    sitting = [seat for seat, who in enumerate(log.info.seats) if who.player_id == one.record.player_id]
    return one.seat if one.seat is not None or not sitting else sitting[0]


def _noted(record: TableRecord) -> Iterator[Noted]:
    return (noted for viewer in record.viewers for noted in viewer.noted)


def _read_records(record: TableRecord, followed: Sequence[Followed], log: Log) -> _Records:
    """Read the replay and the rows, hold them against what was heard and each other, and play the game again."""
    name, violations = record.table_id, list[Violation]()
    rows, replay = _rows_of(record, violations), _replay_of(record, violations)
    whole = rows if rows is not None and rows.is_whole else None
    base = replay or (whole.replay(name) if whole is not None else None)
    if base is None:
        found = _rows_differ(name, rows, None, followed, log, None) if rows is not None else ()
        return _Records(None, None, None, {}, None, (*violations, *found))
    headers = [Violation(Invariant.REPLAY_UNTRUE, name, 0, it) for it in header_differences(base, log.info, followed)]
    numbers = whole.numbers if whole is not None else replay_numbers(log, len(base.entries))
    violations += [*headers, *_unfair(record, base, followed, log)]
    proof = prove(base) if not headers else None
    if replay is not None:
        violations += entry_differences(name, replay, log, numbers)
    if rows is not None:
        violations += _rows_differ(name, rows, replay if whole is not None else None, followed, log, proof)
    sequences = {number: sequence for sequence, number in numbers.items()}
    for fault in proof.faults if proof is not None else ():
        is_log = replay is None and fault.invariant is Invariant.REPLAY_UNTRUE
        invariant = Invariant.LOG_BROKEN if is_log else fault.invariant
        violations.append(Violation(invariant, name, sequences.get(fault.number, fault.number), fault.detail))
    return _Records(base, replay, whole, numbers, proof, tuple(violations))


def _rows_of(record: TableRecord, violations: list[Violation]) -> Rows | None:
    """The rows of the table, if there are any that can be read."""
    if record.stored is None:
        return None
    try:
        return read_rows(record.stored)
    except Unreadable as fault:
        violations.append(Violation(Invariant.LOG_BROKEN, record.table_id, fault.sequence, fault.detail))
        return None


def _replay_of(record: TableRecord, violations: list[Violation]) -> Replay | None:
    """The replay, if there is one that can be read."""
    for other in record.replays[1:]:
        if other != record.replays[0]:
            detail = "two viewers got different replays"
            violations.append(Violation(Invariant.REPLAY_UNTRUE, record.table_id, 0, detail))
    try:
        return read(record.replays[0]) if record.replays else None
    except Untrue as untrue:
        violations.append(Violation(Invariant.REPLAY_UNTRUE, record.table_id, 0, untrue.detail))
        return None


def _rows_differ(
    table_id: str, rows: Rows, replay: Replay | None, followed: Sequence[Followed], log: Log, proof: Proof | None
) -> Iterator[Violation]:
    yield from rows_broken(table_id, rows, proof)
    yield from received_differs(table_id, rows, log)
    if replay is not None:
        yield from replay_differs(table_id, rows, replay, proof)
    for one in followed:
        yield from shown_early(table_id, one, rows)
        yield from answers_differ(table_id, one, rows)


def _unfair(record: TableRecord, replay: Replay, followed: Sequence[Followed], log: Log) -> Iterator[Violation]:
    computed = commitment_of(bytes.fromhex(replay.header["seed"]))
    found = [
        *seed_differences(replay, record.commitment, log.info, computed),
        *added_differences(replay, followed),
    ]
    return (Violation(Invariant.DEAL_UNFAIR, record.table_id, 0, detail) for detail in found)


def _secrets(table_id: str, followed: Iterable[Followed]) -> Iterator[Violation]:
    shown: dict[bytes, Shown] = {}
    for one in followed:
        yield from secrets_told(table_id, one, shown)
        yield from views_differ(table_id, one)


def _actions(
    table_id: str, followed: Sequence[Followed], log: Log, records: _Records, timeline: Timeline
) -> Iterator[Violation]:
    positions = _positions(records)
    by_player: dict[str, list[Bench]] = defaultdict(list)
    for one in followed:
        bench = Bench(one, log, timeline, records.numbers, positions)
        by_player[one.record.player_id].append(bench)
        yield from answers_wrong(table_id, bench)
        yield from acknowledgements_broken(table_id, bench, records.replay)
    for benches in by_player.values():
        seat = next((bench.one.seat for bench in benches if bench.one.seat is not None), None)
        if seat is not None:
            yield from entries_unasked(table_id, seat, benches, records.replay)


def _positions(records: _Records) -> Mapping[int, Position]:
    return dict(enumerate(records.proof.positions)) if records.proof is not None else {}


def _views(record: TableRecord, followed: Iterable[Followed], records: _Records) -> Iterator[Violation]:
    positions = _positions(records)
    for one in followed if positions else ():
        yield from views_against_rules(record.table_id, record.game, one, records.numbers, positions)


def _results(record: TableRecord, followed: Sequence[Followed], log: Log, records: _Records) -> Iterator[Violation]:
    sheet = scoring_pb2.GetScoreSheetResponse.FromString(record.sheet) if record.sheet is not None else None
    for one in followed:
        found = list(told_results_differ(one, records.replay)) if records.replay is not None else []
        if sheet is not None:
            found += sheet_differs(sheet, one, records.replay)
        for detail in found:
            yield Violation(Invariant.RESULT_DIFFERS, record.table_id, log.last, detail)
    proof = records.proof
    if record.ledger is not None and proof is not None and proof.ranking is not None:
        for detail in ledger_differs(record.ledger, log, proof.rounds, proof.ranking, proof.positions[-1].scores):
            yield Violation(Invariant.LEDGER_DIFFERS, record.table_id, log.last, detail)


def _times(record: TableRecord, log: Log, records: _Records) -> Iterator[Violation]:
    rows = records.rows
    if rows is None:
        return iter(())
    positions = _positions(records)
    to_act = {sequence: list(moment.view.seats_to_act) for sequence, moment in log.moments.items()}
    number = 0
    for row in rows.entries:
        number = rows.numbers.get(row.sequence, number)
        if (position := positions.get(number)) is not None:
            to_act[row.sequence] = sorted(position.legal)
    return times_broken(record.table_id, rows, to_act, record.outages, record.late_milliseconds)


def _lag(record: TableRecord, followed: Sequence[Followed], records: _Records, ahead: int) -> Iterator[Violation]:
    for one in followed if records.rows is not None else ():
        assert records.rows is not None
        if record.is_finished:
            yield from end_missed(record.table_id, one, records.rows)
        if record.lag is not None:
            yield from late_entries(record.table_id, one, records.rows, record.lag, ahead)


def _checks_made(record: TableRecord, followed: Sequence[Followed], log: Log, records: _Records) -> Mapping[str, int]:
    checks = Counter[str]()
    for one in followed:
        checks["entries"] += len(one.updates)
        checks["views"] += len(one.record.viewed) + sum(sequence in records.numbers for sequence in one.moments)
        for answer in one.record.answered:
            checks["acknowledgements" if answer.sequence is not None else "refusals"] += 1
    checks["deadlines"] = sum(
        log.moments[sequence - 1].clock.deadline_milliseconds > 0
        for sequence in log.entries
        if sequence - 1 in log.moments
    )
    checks["deals"] = len(records.proof.shuffles) if records.proof is not None else 0
    checks["rows"] = len(records.rows.entries) if records.rows is not None else 0
    checks["ledgers"] = int(record.ledger is not None)
    checks["replays"] = len(record.replays)
    checks["sheets"] = int(record.sheet is not None)
    return checks
