"""The judge: one table, as its viewers lived it and as the records tell it, held against all that must be true."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from croupier_api.v1 import scoring_pb2
from loadtest.judge.actions import acknowledgements_broken, answers_wrong, entries_unasked
from loadtest.judge.deadlines import broken_deadlines, waited_in_vain
from loadtest.judge.deals import commitment_of
from loadtest.judge.knowledge import Shown
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
from loadtest.judge.results import sheet_differs, told_results_differ
from loadtest.judge.secrecy import secrets_told, views_differ
from loadtest.judge.spans import seen_by_all
from loadtest.judge.streams import Followed, follow
from loadtest.judge.violations import Invariant, Violation
from loadtest.record import Noted, TableRecord


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a finished table adds to standings."""

    table_id: str
    game: str


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a judge says of a table."""

    violations: tuple[Violation, ...]
    checks_made: Mapping[str, int]
    """How often what was checked: "entries", "views", "refusals", "acknowledgements", "deadlines", "deals", "replays",
    "sheets"."""
    is_proved: bool
    """Whether the table was played again, from its replay to its end, by the referee's own rules."""
    seen_by_all_milliseconds: tuple[int, ...]
    """From an action sent to heard at the last of the seats, for the actions that all heard live."""
    outcome: Outcome | None = None
    """What the table adds to standings; None if its end was not seen."""


@dataclass(frozen=True, slots=True)
class _Records:
    """What the replay tells, as far as it can be read: where it stands in the log, and what the rules say of it."""

    replay: Replay | None
    numbers: Mapping[int, int]
    proof: Proof | None
    violations: tuple[Violation, ...]


def judge(record: TableRecord) -> Verdict:
    """Judge a table; a function of the record alone. What it raises is a defect of the referee."""
    followed = [follow(record.table_id, viewer) for viewer in record.viewers]
    log = log_of(followed)
    for one in followed:
        one.seat = _seat_of(one, log)
    records = _read_records(record, followed, log)
    violations = [
        *(Violation(noted.invariant, record.table_id, noted.sequence, noted.detail) for noted in _noted(record)),
        *(found for one in followed for found in one.violations),
        *disagreements(record.table_id, followed),
        *_secrets(record.table_id, followed),
        *broken_deadlines(record.table_id, log),
        *waited_in_vain(record.table_id, log, followed),
        *records.violations,
        *_actions(record.table_id, followed, log, records),
        *_views(record, followed, records),
        *_results(record, followed, log, records),
    ]
    is_proved = records.proof is not None and records.proof.ranking is not None and not records.proof.faults
    seen = seen_by_all(followed, record.timed_until_milliseconds)
    outcome = Outcome(record.table_id, record.game) if record.sheet is not None else None
    return Verdict(tuple(violations), _checks_made(record, followed, log, records), is_proved, tuple(seen), outcome)


def _seat_of(one: Followed, log: Log) -> int | None:
    """Where a viewer sits, also if he himself was never told because no stream of his ever began."""
    sitting = [seat for seat, who in enumerate(log.info.seats) if who.player_id == one.record.player_id]
    return one.seat if one.seat is not None or not sitting else sitting[0]


def _noted(record: TableRecord) -> Iterator[Noted]:
    return (noted for viewer in record.viewers for noted in viewer.noted)


def _read_records(record: TableRecord, followed: Sequence[Followed], log: Log) -> _Records:
    """Read the replay, hold it against what was heard, and play it again."""
    if not record.replays:
        return _Records(None, {}, None, ())
    name = record.table_id
    violations = [
        Violation(Invariant.REPLAY_UNTRUE, name, 0, "two viewers got different replays")
        for other in record.replays[1:]
        if other != record.replays[0]
    ]
    try:
        replay = read(record.replays[0])
    except Untrue as untrue:
        return _Records(None, {}, None, (*violations, Violation(Invariant.REPLAY_UNTRUE, name, 0, untrue.detail)))
    headers = [Violation(Invariant.REPLAY_UNTRUE, name, 0, it) for it in header_differences(replay, log.info, followed)]
    numbers = replay_numbers(log, len(replay.entries))
    violations += [*headers, *_unfair(record, replay, followed, log)]
    violations += entry_differences(name, replay, log, numbers)
    proof = prove(replay) if not headers else None
    sequences = {number: sequence for sequence, number in numbers.items()}
    for fault in proof.faults if proof is not None else ():
        violations.append(Violation(fault.invariant, name, sequences.get(fault.number, fault.number), fault.detail))
    return _Records(replay, numbers, proof, tuple(violations))


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


def _actions(table_id: str, followed: Sequence[Followed], log: Log, records: _Records) -> Iterator[Violation]:
    timeline, positions = Timeline(log, followed), _positions(records)
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
    checks["deals"] = records.proof.deals if records.proof is not None else 0
    checks["replays"] = len(record.replays)
    checks["sheets"] = int(record.sheet is not None)
    return checks
