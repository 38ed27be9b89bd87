"""The judge: one table, as its viewers lived it and as the records tell it, held against all that must be true."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from croupier_api.v1 import scoring_pb2
from loadtest.judge.actions import acknowledgements_broken, answers_wrong, entries_unasked
from loadtest.judge.credits import times_broken
from loadtest.judge.deadlines import broken_deadlines, waited_in_vain
from loadtest.judge.knowledge import Shown
from loadtest.judge.lag import end_missed, late_entries
from loadtest.judge.ledger import counted_in, ledger_differs
from loadtest.judge.log import Log, log_of
from loadtest.judge.positions import views_against_rules
from loadtest.judge.public import disagreements
from loadtest.judge.reach import Timeline
from loadtest.judge.records import Records, read_records
from loadtest.judge.refusals import Bench
from loadtest.judge.results import rounds_told, sheet_differs, told_results_differ
from loadtest.judge.secrecy import secrets_told, views_differ
from loadtest.judge.spans import seen_by_all
from loadtest.judge.standings import Occupant, Outcome
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


def judge(record: TableRecord) -> Verdict:
    """Judge a table; a function of the record alone. What it raises is a defect of the judge."""
    followed = [follow(record.table_id, viewer, record.seats) for viewer in record.viewers]
    log = log_of(followed)
    for one in followed:
        one.seat = _seat_of(one, log)
    records, timeline = read_records(record, followed, log), Timeline(log, followed)
    violations = [
        *(Violation(noted.invariant, record.table_id, noted.sequence, noted.detail) for noted in _noted(record)),
        *(found for one in followed for found in one.violations),
        *disagreements(record.table_id, followed),
        *_secrets(record.table_id, followed),
        *broken_deadlines(record.table_id, log, record.late_milliseconds),
        *(waited_in_vain(record.table_id, log, followed) if record.late_milliseconds is not None else ()),
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


def _outcome(record: TableRecord, log: Log, records: Records) -> Outcome | None:
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
    return Outcome(
        record.table_id, record.game, seats, ranking, dict(counted_in(rounds)), base.entries[-1].at_milliseconds
    )


def _seat_of(one: Followed, log: Log) -> int | None:
    """Where a viewer sits, also if he himself was never told because no stream of his ever began."""
    sitting = [seat for seat, who in enumerate(log.info.seats) if who.player_id == one.record.player_id]
    return one.seat if one.seat is not None or not sitting else sitting[0]


def _noted(record: TableRecord) -> Iterator[Noted]:
    return (noted for viewer in record.viewers for noted in viewer.noted)


def _secrets(table_id: str, followed: Iterable[Followed]) -> Iterator[Violation]:
    shown: dict[bytes, Shown] = {}
    for one in followed:
        yield from secrets_told(table_id, one, shown)
        yield from views_differ(table_id, one)


def _actions(
    table_id: str, followed: Sequence[Followed], log: Log, records: Records, timeline: Timeline
) -> Iterator[Violation]:
    positions = records.positions
    by_player: dict[str, list[Bench]] = defaultdict(list)
    for one in followed:
        bench = Bench(one, log, timeline, records.numbers, positions)
        by_player[one.record.player_id].append(bench)
        yield from answers_wrong(table_id, bench)
        yield from acknowledgements_broken(table_id, bench, records.replay, has_rows=records.rows is not None)
    for benches in by_player.values():
        seat = next((bench.one.seat for bench in benches if bench.one.seat is not None), None)
        if seat is not None:
            yield from entries_unasked(table_id, seat, benches, records.replay)


def _views(record: TableRecord, followed: Iterable[Followed], records: Records) -> Iterator[Violation]:
    positions = records.positions
    for one in followed if positions else ():
        yield from views_against_rules(record.table_id, record.game, one, records.numbers, positions)


def _results(record: TableRecord, followed: Sequence[Followed], log: Log, records: Records) -> Iterator[Violation]:
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


def _times(record: TableRecord, log: Log, records: Records) -> Iterator[Violation]:
    rows = records.rows
    if rows is None:
        return iter(())
    positions = records.positions
    to_act = {sequence: list(moment.view.seats_to_act) for sequence, moment in log.moments.items()}
    number = 0
    for row in rows.entries:
        number = rows.numbers.get(row.sequence, number)
        if (position := positions.get(number)) is not None:
            to_act[row.sequence] = sorted(position.legal)
    return times_broken(record.table_id, rows, to_act, record.outages, record.late_milliseconds)


def _lag(record: TableRecord, followed: Sequence[Followed], records: Records, ahead: int) -> Iterator[Violation]:
    for one in followed if records.rows is not None else ():
        assert records.rows is not None
        if record.is_finished:
            yield from end_missed(record.table_id, one, records.rows)
        if record.lag is not None:
            yield from late_entries(record.table_id, one, records.rows, record.lag, ahead)


def _checks_made(record: TableRecord, followed: Sequence[Followed], log: Log, records: Records) -> Mapping[str, int]:
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
