"""The replay and the rows of a table: read, held against what was received and each other, and played again."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from loadtest.judge.deals import commitment_of
from loadtest.judge.log import Log, replay_numbers
from loadtest.judge.proof import Position, Proof, prove
from loadtest.judge.replay import (
    Replay,
    Untrue,
    added_differences,
    entry_differences,
    header_differences,
    read,
    seed_differences,
)
from loadtest.judge.rows import Rows, Unreadable, read_rows
from loadtest.judge.stored import answers_differ, received_differs, replay_differs, rows_broken, shown_early
from loadtest.judge.streams import Followed
from loadtest.judge.violations import Invariant, Violation
from loadtest.record import TableRecord


@dataclass(frozen=True, slots=True)
class Records:
    """What replay and rows tell, as far as they can be read: where it stands in the log, and what the rules say."""

    base: Replay | None
    """What is played again: the replay, or else the rows."""
    replay: Replay | None
    rows: Rows | None
    numbers: Mapping[int, int]
    proof: Proof | None
    violations: tuple[Violation, ...]

    @property
    def positions(self) -> Mapping[int, Position]:
        """The table by the number of the event before it; empty where there is no proof."""
        return dict(enumerate(self.proof.positions)) if self.proof is not None else {}


def read_records(record: TableRecord, followed: Sequence[Followed], log: Log) -> Records:
    """Read the replay and the rows, hold them against what was heard and each other, and play the game again."""
    name, violations = record.table_id, list[Violation]()
    rows, replay = _rows_of(record, violations), _replay_of(record, violations)
    whole = rows if rows is not None and rows.is_whole else None
    base = replay or (whole.replay(name) if whole is not None else None)
    if base is None:
        found = _rows_differ(name, rows, None, followed, log, None) if rows is not None else ()
        return Records(None, None, None, {}, None, (*violations, *found))
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
    return Records(base, replay, whole, numbers, proof, tuple(violations))


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
