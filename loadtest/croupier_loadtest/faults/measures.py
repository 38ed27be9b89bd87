"""How long players waited: pauses and takeovers where no player has left; long pauses are printed while they last."""

import asyncio
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import NamedTuple

from croupier_api.v1 import engine_pb2
from croupier_loadtest.judge.log import log_of
from croupier_loadtest.judge.notation import Deck
from croupier_loadtest.judge.streams import history_of
from croupier_loadtest.judge.timeouts import pauses
from croupier_loadtest.players.recorder import wall_milliseconds
from croupier_loadtest.process.judge_queue import transcript_of
from croupier_loadtest.record import SeatRecord, TableRecord
from croupier_loadtest.scenarios import Behaviour

LAG_STEP_SECONDS = 0.05
BREAK_MILLISECONDS = 2_000
"""A stream that is resumed within this time after the kill of an engine was broken by it."""
LONG_PAUSE_SECONDS = 20.0
"""A pause that lasts longer is printed."""
POLL_SECONDS = 2.0
MAX_PRINTED = 4
"""The tables that are described at a time: a fault of all engines makes all tables pause."""
MAX_LINE_CHARACTERS = 300
"""A snapshot is much longer."""


class Move(NamedTuple):
    """An entry with the times at which a viewer first received it, and it was stored; milliseconds since 1970 UTC."""

    received: int
    stored: int
    sequence: int
    seat: int | None
    """The seat that acted; None for an entry that is no action."""


class Steps(NamedTuple):
    """The steps of a takeover in seconds, for the player who acted first after it."""

    noticed: float
    """From the kill to the first attempt to open another stream."""
    retried: float
    """Until the attempt that succeeded: attempts that failed, and the delays before others."""
    opened: float
    """Until its first message: the connection, the load of the table, and missed entries."""
    acted: float
    """Until their action was stored and received: think time and commit."""


class Takeover(NamedTuple):
    """The seconds from a kill to the next action at a table; `steps` is None if no player of this run acted."""

    seconds: float
    steps: Steps | None


def moves(record: TableRecord, since: int) -> list[Move]:
    """Return the received entries of a table in order: from the last action received before `since` on."""
    found: dict[int, Move] = {}
    for viewer in record.viewers:
        for received in reversed(viewer.received):
            at, event = received.at_milliseconds, engine_pb2.PlayTableResponse.FromString(received.body).table_event
            # A stream after sequence 0 reads a finished game again.
            if viewer.opened[received.stream].after_sequence == 0 or not event.HasField("update"):
                continue
            update = event.update
            seat = update.seat if update.HasField("seat") else None
            move = Move(at, update.stored_unix_ms, update.sequence, seat)
            found[update.sequence] = min(move, found.get(update.sequence, move))
            if at < since and seat is not None:
                break
    return [found[sequence] for sequence in sorted(found)]


def last_action(record: TableRecord) -> Move | None:
    """Return the last action at a table; None before the first."""
    acted = (move for move in moves(record, sys.maxsize) if move.seat is not None)
    return max(acted, key=lambda move: move.sequence, default=None)


def longest_pause(records: Iterable[TableRecord], since: int) -> float:
    """Return the longest pause in seconds between two actions at a table that ended after `since`; 0 without any."""
    pauses = (pause for record in records if not _has_leavers(record) for pause in _pauses(record, since))
    return max(pauses, default=0) / 1000


def _pauses(record: TableRecord, since: int) -> Iterator[int]:
    """Yield the milliseconds between two stored actions where all entries between them were received.

    Others may have been followed by actions that nobody watched; and the time of receipt may be that of a viewer who
    catches up.
    """
    acted: Move | None = None
    sequence = 0
    for move in moves(record, since):
        if move.sequence != sequence + 1:
            acted = None
        sequence = move.sequence
        if move.seat is not None:
            if acted is not None and move.stored > since:
                yield move.stored - acted.stored
            acted = move


def takeovers(records: Iterable[TableRecord], killed: int) -> list[Takeover]:
    """Return the seconds until the next action was stored and received, for each table that lost a stream to a kill.

    `killed` is the time of the kill in milliseconds since 1970 UTC. Where the next action is that of a player who
    exceeds their time on purpose, the table waited for them.
    """
    found = []
    for record in records:
        if _has_leavers(record) or not any(_was_resumed(viewer, killed) for viewer in record.viewers):
            continue
        later = (move for move in moves(record, killed) if move.stored > killed and move.seat is not None)
        if (first := next(later, None)) is None:
            continue
        actor = next((viewer for viewer in record.viewers if viewer.seat == first.seat), None)
        if actor is None or actor.behaviour != Behaviour.LATE:
            steps = None if actor is None else _steps(actor, killed, first)
            found.append(Takeover((first.received - killed) / 1000, steps))
    return found


def _steps(viewer: SeatRecord, killed: int, first: Move) -> Steps:
    """Return the steps until the first action; a stream that was not lost needed none but the last."""
    attempts = [opened.at_milliseconds for opened in viewer.opened if opened.at_milliseconds >= killed]
    numbers = range(len(viewer.opened) - len(attempts), len(viewer.opened))
    answered = next((it for it in viewer.received if it.stream in numbers), None)
    if not attempts or answered is None:
        times = [killed] * 4
    else:
        times = [killed, attempts[0], viewer.opened[answered.stream].at_milliseconds, answered.at_milliseconds]
    times = [min(at, first.received) for at in (*times, first.received)]
    return Steps(*((later - earlier) / 1000 for earlier, later in pairwise(times)))


def _has_leavers(record: TableRecord) -> bool:
    return any(viewer.behaviour in (Behaviour.LEAVER, Behaviour.AWAY) for viewer in record.viewers)


def _was_resumed(viewer: SeatRecord, killed: int) -> bool:
    # Flaky players lose streams without a fault.
    return viewer.behaviour != Behaviour.FLAKY and any(
        opened.after_sequence and killed <= opened.at_milliseconds <= killed + BREAK_MILLISECONDS
        for opened in viewer.opened
    )


class EventLoopLag:
    """Measures the lag of the harness's event loop."""

    def __init__(self) -> None:
        self._max_seconds = 0.0

    async def measure(self) -> None:
        """Measure until cancelled."""
        while True:
            began = time.monotonic()
            await asyncio.sleep(LAG_STEP_SECONDS)
            self._max_seconds = max(self._max_seconds, time.monotonic() - began - LAG_STEP_SECONDS)

    def take(self) -> float:
        """Return the longest lag in seconds since the last call."""
        taken, self._max_seconds = self._max_seconds, 0.0
        return taken


def percentile(values: Sequence[float], share: float) -> float:
    """Return the value that this share of all does not exceed; 0 without any."""
    return sorted(values)[min(len(values) - 1, int(len(values) * share))] if values else 0.0


class PauseWatch:
    """Prints each pause of a table once it is long, while it lasts."""

    def __init__(self, running: Callable[[], Iterable[TableRecord]], print_line: Callable[[str], None]) -> None:
        self._running = running
        self._print = print_line
        self._long: dict[str, int] = {}
        """The long pauses: by table, the last action before."""

    async def run(self) -> None:
        """Watch until cancelled."""
        while True:
            await asyncio.sleep(POLL_SECONDS)
            self.look(wall_milliseconds())

    def look(self, now: int) -> None:
        """Print the pauses that have become long, at a time in milliseconds since 1970 UTC."""
        last_actions = {it.table_id: (it, last_action(it)) for it in self._running() if not it.is_finished}
        long = {
            table_id: (record, acted.sequence)
            for table_id, (record, acted) in last_actions.items()
            if acted is not None and now - acted.received >= LONG_PAUSE_SECONDS * 1000
        }
        new = [record for table_id, (record, sequence) in long.items() if self._long.get(table_id) != sequence]
        self._long = {table_id: sequence for table_id, (_, sequence) in long.items()}
        for record in new[:MAX_PRINTED]:
            for line in describe_pause(record, now):
                self._print(f"    {line}")
        if len(new) > MAX_PRINTED:
            self._print(f"    so do {len(new) - MAX_PRINTED} other tables")


def describe_pause(record: TableRecord, now: int) -> Iterator[str]:
    """Yield a line on the last pause of a table, and what the seats to act last received and sent; nothing without."""
    histories = [history_of(viewer, record.seats, Deck(record.described.deck)) for viewer in record.viewers]
    log = log_of(histories)
    last = next(reversed([*pauses(log, now)]), None)
    if last is None or last.ended != now:
        return
    deadline = log.states[log.last].clock.deadline_unix_ms if log.last in log.states else 0
    yield (
        f"table {record.table_id} of {record.game} at {now}: no action for {(now - last.began) / 1000:.1f} s after "
        f"entry {last.sequence}, now at entry {log.last}; to act: {last.seats}, deadline {deadline or 'none'}"
    )
    for viewer in record.viewers:
        if viewer.seat in last.seats:
            yield f"  seat {viewer.seat}: {viewer.behaviour} player, left at {viewer.left_milliseconds}"
            sent, answered, received = viewer.sent[-1:], viewer.answered[-1:], viewer.received[-2:]
            latest = replace(viewer, sent=sent, answered=answered, received=received)
            for line in transcript_of(replace(record, viewers=[latest])).splitlines()[1:]:
                yield f"    {line[:MAX_LINE_CHARACTERS]}"
