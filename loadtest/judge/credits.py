"""The clock counted from the rows alone: nobody is played for too early or late, and outages are given back, once."""

from collections.abc import Iterator, Mapping, Sequence

from loadtest.judge.clock import Clock, Passed, Times
from loadtest.judge.deadlines import THINKING_MILLISECONDS
from loadtest.judge.rows import Row, Rows
from loadtest.judge.violations import Invariant, Violation
from loadtest.record import Outage

BY_TIMEOUT = 1
Found = tuple[Invariant, str]


def overlap_milliseconds(outages: Sequence[Outage], since: int, until: int) -> int:
    """How much of a time lies in any of some outages, which may overlap."""
    total = 0
    for began, ended in sorted(outages):
        began, ended = max(began, since), min(ended, until)
        if began < ended:
            total += ended - began
            since = ended
    return total


def times_broken(
    table_id: str, rows: Rows, to_act: Mapping[int, Sequence[int]], outages: Sequence[Outage], late: int | None
) -> Iterator[Violation]:
    """What is wrong with the times in rows; `to_act` says by sequence who is to act after it, as far as it is known."""
    walk = _Walk(rows, outages, late)
    for row in rows.entries:
        seats = to_act.get(row.sequence)
        for invariant, detail in walk.pass_row(row):
            yield Violation(invariant, table_id, row.sequence, detail)
        if seats is None:
            return
        walk.go_on(row, seats)
        counted = walk.clock.deadline
        if row.deadline != counted:
            detail = f"the deadline that is stored is {row.deadline}, counted from the log it is {counted}"
            yield Violation(Invariant.LOG_BROKEN, table_id, row.sequence, detail)


class _Walk:
    """The clock of a table on its way through the rows."""

    def __init__(self, rows: Rows, outages: Sequence[Outage], late: int | None) -> None:
        config = rows.config
        bots = frozenset(seat for seat, (_, _, bot) in enumerate(config["seats"]) if bot)
        action, reserve, bot_delay = config["clock"]
        times = Times(action, reserve, bot_delay, bots)
        self.clock = Clock(times, [times.reserve] * config["seat_count"])
        self._outages = outages
        self._late = late

    def pass_row(self, row: Row) -> Iterator[Found]:
        """Judge a row before the clock goes on."""
        if row.credited:
            yield from self._credit(row)
            return
        yield from self._lateness(row)
        if row.actor is not None and row.by:
            yield from self._played_for(row, row.actor)

    def go_on(self, row: Row, to_act: Sequence[int]) -> None:
        """Pass a row, after which these seats are to act."""
        self.clock.go_on(Passed(row.at, row.actor, row.by == BY_TIMEOUT, row.credited, row.is_aside), to_act)

    def _lateness(self, row: Row) -> Iterator[Found]:
        deadline = self.clock.deadline
        if not deadline or self._late is None:
            return
        patience = self._late + THINKING_MILLISECONDS * any(seat in self.clock.times.bots for seat in self.clock.since)
        late = row.at - deadline - overlap_milliseconds(self._outages, deadline, row.at)
        if late > patience:
            yield Invariant.DEADLINE_MISSED, f"the table was waited for until {late} ms after the deadline"

    def _played_for(self, row: Row, seat: int) -> Iterator[Found]:
        clock, deadline = self.clock, self.clock.deadline_of(seat)
        if deadline is None:
            return
        if row.at < deadline:
            detail = f"seat {seat} was played for {deadline - row.at} ms before its time was over"
            yield Invariant.PLAYED_FOR_TOO_EARLY, detail
        if seat in clock.away or seat in clock.times.bots:
            return
        given = clock.given.get(seat, 0)
        began = deadline - clock.allowed(seat) - given
        lost = overlap_milliseconds(self._outages, began, deadline) - given
        if lost > 0:
            yield Invariant.CREDIT_WRONG, f"seat {seat} lost {lost} ms in an outage, which were not given back"

    def _credit(self, row: Row) -> Iterator[Found]:
        # The seat that has waited longest decides, since it was asked: an outage may become known late.
        given, since = self.clock.given, self.clock.since
        waiting = [(at - given.get(seat, 0), given.get(seat, 0)) for seat, at in since.items() if at is not None]
        asked, before = min(waiting, default=(row.at, 0))
        due = overlap_milliseconds(self._outages, asked, row.at) - before
        if not 0 < row.credited <= due:
            detail = f"{row.credited} ms were given back, of which engines were missing for {due} ms"
            yield Invariant.CREDIT_WRONG, detail
