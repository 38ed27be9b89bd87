"""The judge: one table, as its viewers lived it and as the records tell it, held against all that must be true."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from croupier_api.v1 import scoring_pb2
from loadtest.judge.answers import Bench, acknowledgements_broken, answers_wrong, entries_unasked
from loadtest.judge.deadlines import broken_deadlines, times_broken, waited_in_vain
from loadtest.judge.knowledge import Shown
from loadtest.judge.lag import end_missed, late_entries, seen_by_all
from loadtest.judge.log import Log, Timeline, log_of
from loadtest.judge.positions import views_against_rules
from loadtest.judge.public import disagreements
from loadtest.judge.records import Records, read_records
from loadtest.judge.results import counted_in, ledger_differs, results_differ, rounds_told
from loadtest.judge.secrecy import secrets_told, views_differ
from loadtest.judge.standings import Occupant, Outcome
from loadtest.judge.streams import Followed, follow
from loadtest.judge.timeouts import unexcused
from loadtest.judge.violations import Found, Invariant, Violation
from loadtest.record import TableRecord


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
    followed = [follow(viewer, record.seats) for viewer in record.viewers]
    log = log_of(followed)
    for one in followed:
        one.seat = _seat_of(one, log)
    records, timeline = read_records(record, followed, log), Timeline(log, followed)
    found = [
        *(noted for viewer in record.viewers for noted in viewer.noted),
        *(it for one in followed for it in one.found),
        *disagreements(followed),
        *_of_viewers(record, followed, records),
        *broken_deadlines(log, record.late_milliseconds),
        *(waited_in_vain(log, followed, timeline.ahead) if record.late_milliseconds is not None else ()),
        *records.found,
        *_actions(followed, log, records, timeline),
        *_results(record, followed, log, records),
        *_times(record, log, records),
        *unexcused(log, followed, timeline.ahead),
        *_lag(record, followed, records, timeline.ahead),
    ]
    violations = tuple(Violation(invariant, record.table_id, *where) for invariant, *where in found)
    is_proved = records.proof is not None and records.proof.ranking is not None and not records.proof.faults
    seen = tuple(seen_by_all(followed, record.timed_until_milliseconds))
    outcome = _outcome(record, log, records) if is_proved else None
    return Verdict(violations, _checks_made(record, followed, log, records), is_proved, seen, outcome)


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


def _of_viewers(record: TableRecord, followed: Iterable[Followed], records: Records) -> Iterator[Found]:
    shown: dict[bytes, Shown] = {}
    positions = records.positions
    for one in followed:
        yield from secrets_told(one, shown)
        yield from views_differ(one)
        yield from views_against_rules(record.game, one, records.numbers, positions)


def _actions(followed: Sequence[Followed], log: Log, records: Records, timeline: Timeline) -> Iterator[Found]:
    positions = records.positions
    by_player: dict[str, list[Bench]] = defaultdict(list)
    for one in followed:
        bench = Bench(one, log, timeline, records.numbers, positions)
        by_player[one.record.player_id].append(bench)
        yield from answers_wrong(bench)
        yield from acknowledgements_broken(bench, records.replay, has_rows=records.rows is not None)
    for benches in by_player.values():
        seat = next((bench.one.seat for bench in benches if bench.one.seat is not None), None)
        if seat is not None:
            yield from entries_unasked(seat, benches, records.replay)


def _results(record: TableRecord, followed: Sequence[Followed], log: Log, records: Records) -> Iterator[Found]:
    sheet = scoring_pb2.GetScoreSheetResponse.FromString(record.sheet) if record.sheet is not None else None
    for detail in results_differ(followed, records.replay, sheet):
        yield Invariant.RESULT_DIFFERS, log.last, detail
    proof = records.proof
    if record.ledger is not None and proof is not None and proof.ranking is not None:
        for detail in ledger_differs(record.ledger, log, proof.rounds, proof.ranking, proof.positions[-1].scores):
            yield Invariant.LEDGER_DIFFERS, log.last, detail


def _times(record: TableRecord, log: Log, records: Records) -> Iterator[Found]:
    rows, positions, number = records.rows, records.positions, 0
    if rows is None:
        return iter(())
    to_act = {sequence: list(moment.view.seats_to_act) for sequence, moment in log.moments.items()}
    for row in rows.entries:
        number = rows.numbers.get(row.sequence, number)
        if (position := positions.get(number)) is not None:
            to_act[row.sequence] = sorted(position.legal)
    return times_broken(rows, to_act, record.outages, record.late_milliseconds)


def _lag(record: TableRecord, followed: Sequence[Followed], records: Records, ahead: int) -> Iterator[Found]:
    rows = records.rows
    for one in followed if rows is not None else ():
        assert rows is not None
        if record.is_finished:
            yield from end_missed(one, rows, ahead)
        if record.lag is not None:
            yield from late_entries(one, rows, record.lag, ahead)


def _checks_made(record: TableRecord, followed: Sequence[Followed], log: Log, records: Records) -> Mapping[str, int]:
    checks = Counter[str]()
    for one in followed:
        checks["entries"] += len(one.updates)
        checks["views"] += len(one.views) + sum(sequence in records.numbers for sequence in one.moments)
        for answer in one.record.answered:
            checks["acknowledgements" if answer.sequence is not None else "refusals"] += 1
    before = [log.moments[sequence - 1] for sequence in log.entries if sequence - 1 in log.moments]
    checks["deadlines"] = sum(moment.clock.deadline_milliseconds > 0 for moment in before)
    checks["deals"] = len(records.proof.shuffles) if records.proof is not None else 0
    checks["rows"] = len(records.rows.entries) if records.rows is not None else 0
    checks["ledgers"] = int(record.ledger is not None)
    checks["replays"] = len(record.replays)
    checks["sheets"] = int(record.sheet is not None)
    return checks
