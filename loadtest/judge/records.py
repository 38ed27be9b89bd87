"""The replay and the rows of a table: read, held against what was received and each other, and played again."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from loadtest.judge.log import Log, replay_numbers
from loadtest.judge.proof import Position, Proof, prove
from loadtest.judge.replay import Replay, Untrue, entry_differences, header_differences, read, seeds_differ
from loadtest.judge.rows import Rows, Unreadable, read_rows
from loadtest.judge.stored import answers_differ, received_differs, replay_differs, rows_broken, shown_early
from loadtest.judge.streams import Followed
from loadtest.judge.violations import Found, Invariant
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
    found: tuple[Found, ...]

    @property
    def positions(self) -> Mapping[int, Position]:
        """The table by the number of the event before it; empty where there is no proof."""
        return dict(enumerate(self.proof.positions)) if self.proof is not None else {}


def read_records(record: TableRecord, followed: Sequence[Followed], log: Log) -> Records:
    """Read the replay and the rows, hold them against what was heard and each other, and play the game again."""
    found: list[Found] = []
    rows, replay = _rows_of(record, found), _replay_of(record, found)
    whole = rows if rows is not None and rows.is_whole else None
    stored = whole.replay(record.table_id) if whole is not None else None
    base = replay or stored
    if base is None:
        found += _rows_differ(rows, None, followed, log)
        return Records(None, None, None, {}, None, tuple(found))
    headers = [(Invariant.REPLAY_UNTRUE, 0, detail) for detail in header_differences(base, log.info, followed)]
    numbers = whole.numbers if whole is not None else replay_numbers(log, len(base.entries))
    found += [*headers, *seeds_differ(base, record.commitment, log.info, followed)]
    proof = prove(base) if not headers else None
    if replay is not None:
        found += entry_differences(replay, log, numbers)
    found += _rows_differ(rows, proof, followed, log)
    if replay is not None and whole is not None and stored is not None:
        found += replay_differs(whole, stored, replay, proof)
    sequences = {number: sequence for sequence, number in numbers.items()}
    for invariant, number, detail in proof.faults if proof is not None else ():
        is_log = replay is None and invariant is Invariant.REPLAY_UNTRUE
        found.append((Invariant.LOG_BROKEN if is_log else invariant, sequences.get(number, number), detail))
    return Records(base, replay, whole, numbers, proof, tuple(found))


def _rows_of(record: TableRecord, found: list[Found]) -> Rows | None:
    """The rows of the table, if there are any that can be read."""
    try:
        return read_rows(record.stored) if record.stored is not None else None
    except Unreadable as fault:
        found.append((Invariant.LOG_BROKEN, fault.sequence, fault.detail))
        return None


def _replay_of(record: TableRecord, found: list[Found]) -> Replay | None:
    """The replay, if there is one that can be read."""
    if len(set(record.replays)) > 1:
        found.append((Invariant.REPLAY_UNTRUE, 0, "two viewers got different replays"))
    try:
        return read(record.replays[0]) if record.replays else None
    except Untrue as untrue:
        found.append((Invariant.REPLAY_UNTRUE, 0, str(untrue)))
        return None


def _rows_differ(rows: Rows | None, proof: Proof | None, followed: Sequence[Followed], log: Log) -> Iterator[Found]:
    if rows is None:
        return
    yield from rows_broken(rows, proof)
    yield from received_differs(rows, log)
    for one in followed:
        yield from shown_early(one, rows)
        yield from answers_differ(one, rows)
