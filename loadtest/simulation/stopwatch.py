"""The clock of a table as its rules are written down, counted anew and apart from the engine's own way of counting."""

from collections.abc import Iterable, Sequence

from croupier.engine.log import ActedBy, Entry, TableConfig, TimeCredited
from croupier.games.facts import Seat
from croupier.games.interface import ProposalAgreed, SeatActed
from loadtest.simulation.verdict import Verdict

AWAY_MILLISECONDS = 3_000
"""A seat that did not act in time gets this long for each action from then on."""
Span = tuple[int, int]
"""From when to when, in milliseconds."""


def overlap_milliseconds(spans: Iterable[Span], since: int, until: int) -> int:
    """How much of a time lies in any of some spans."""
    total = 0
    for began, ended in sorted(spans):
        began, ended = max(began, since), min(ended, until)
        if began < ended:
            total += ended - began
            since = ended
    return total


class Stopwatch:
    """Times the seats of one table; `interruptions` gives what the roll of engines says now."""

    def __init__(self, config: TableConfig, verdict: Verdict) -> None:
        self._config = config
        self._verdict = verdict
        count = config.seat_count
        self._started: list[int | None] = [None] * count
        self._credits = [0] * count
        self._reserves = [config.clock.reserve_milliseconds] * count
        self._away = [False] * count
        self.credited_milliseconds = 0
        self.tolerance_milliseconds = 0

    def note(self, entry: Entry, to_act: Sequence[Seat], interruptions: Iterable[Span]) -> None:
        """Take in an entry, after which some seats are to act, and judge it."""
        actor: Seat | None = None
        if isinstance(entry.event, TimeCredited):
            self._credit(entry, entry.event.milliseconds, interruptions)
            return
        if isinstance(entry.event, SeatActed):
            actor = entry.event.seat
            self._acted(entry, actor, interruptions)
        elif not isinstance(entry.event, ProposalAgreed) and not to_act:
            return
        anew = isinstance(entry.event, ProposalAgreed)
        for seat in range(self._config.seat_count):
            if seat not in to_act:
                self._started[seat] = None
            elif self._started[seat] is None or seat == actor or anew:
                self._started[seat] = entry.at
                self._credits[seat] = 0

    def _acted(self, entry: Entry, seat: Seat, interruptions: Iterable[Span]) -> None:
        started, clock = self._started[seat], self._config.clock
        if started is None:
            self._verdict.fail("only who is to act acts", f"seat {seat} acted in {self._where(entry)}")
            return
        used = entry.at - started - self._credits[seat]
        if self._config.seats[seat].bot:
            early = used < clock.bot_delay_milliseconds
            self._verdict.expect(not early, "no seat is played for too early", "computer player", self._where(entry))
            return
        if entry.acted_by is not ActedBy.PLAYER:
            allowed = clock.action_milliseconds + self._reserves[seat]
            if self._away[seat]:
                allowed = min(AWAY_MILLISECONDS, clock.action_milliseconds)
            else:
                self._check_served(entry, seat, started, allowed, interruptions)
            self._verdict.expect(
                used >= allowed,
                "no seat is played for too early",
                f"seat {seat} had used {used} of {allowed} ms in {self._where(entry)}",
            )
        if not self._away[seat]:
            overtime = max(0, used - clock.action_milliseconds)
            self._reserves[seat] = max(0, self._reserves[seat] - overtime)
        self._away[seat] = entry.acted_by is ActedBy.TIMEOUT

    def _check_served(
        self, entry: Entry, seat: Seat, started: int, allowed: int, interruptions: Iterable[Span]
    ) -> None:
        """Nobody's time runs out while he has not been served for all of it."""
        credited = self._credits[seat]
        lost = overlap_milliseconds(interruptions, started, started + allowed + credited) - credited
        self._verdict.expect(
            lost <= self.tolerance_milliseconds,
            "nobody loses time that was not served",
            f"seat {seat} lost {lost} ms in {self._where(entry)}",
        )

    def _credit(self, entry: Entry, milliseconds: int, interruptions: Iterable[Span]) -> None:
        waiting = [(started, self._credits[seat]) for seat, started in enumerate(self._started) if started is not None]
        since, credited = min(waiting, default=(entry.at, 0))
        due = overlap_milliseconds(interruptions, since, entry.at) - credited
        self._verdict.expect(
            0 < milliseconds <= due,
            "time is given back once, and only what nobody served",
            f"{milliseconds} ms were given back and {due} were due in {self._where(entry)}",
        )
        for seat, started in enumerate(self._started):
            if started is not None:
                self._credits[seat] += milliseconds
        self.credited_milliseconds += milliseconds

    def _where(self, entry: Entry) -> str:
        return f"{self._config.table_id} entry {entry.sequence} {entry}"
