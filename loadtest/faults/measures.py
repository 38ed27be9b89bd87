"""How long players waited: pauses and takeovers where no player has left; long pauses are printed while they last."""

import asyncio
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from croupier_api.v1 import actions_pb2, engine_pb2
from loadtest.judge.log import Timeline, log_of
from loadtest.judge.notation import Deck
from loadtest.judge.streams import ViewerHistory, history_of
from loadtest.judge.timeouts import pauses
from loadtest.players.recorder import wall_milliseconds
from loadtest.record import SeatRecord, TableRecord
from loadtest.scenarios import Behaviour

LAG_STEP_SECONDS = 0.05
BREAK_MILLISECONDS = 2_000
"""A stream that is resumed within this time after the kill of an engine was broken by it."""
LONG_PAUSE_SECONDS = (20.0, 60.0, 120.0, 240.0)
"""A pause is printed when it has lasted for each of these times."""
POLL_SECONDS = 2.0
MAX_PRINTED = 4
"""The tables that are described at a time: a fault of all engines makes all tables pause."""


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
    table_id: str
    game: str
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

    `killed` is the time of the kill in milliseconds since 1970 UTC.
    """
    found = []
    for record in records:
        if _has_leavers(record) or not any(_was_resumed(viewer, killed) for viewer in record.viewers):
            continue
        later = (move for move in moves(record, killed) if move.stored > killed and move.seat is not None)
        if (first := next(later, None)) is not None:
            steps = next((_steps(it, killed, first) for it in record.viewers if it.seat == first.seat), None)
            found.append(Takeover((first.received - killed) / 1000, record.table_id, record.game, steps))
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


def format_takeover(takeover: Takeover) -> str:
    """Return a takeover as one line, with what it waited for."""
    line = f"{takeover.seconds:.1f} s: table {takeover.table_id} of {takeover.game}"
    if (steps := takeover.steps) is None:
        return line
    return (
        f"{line}: lost stream noticed after {steps.noticed:.1f} s, retries {steps.retried:.1f} s, "
        f"new stream opened {steps.opened:.1f} s, acted {steps.acted:.1f} s"
    )


def _has_leavers(record: TableRecord) -> bool:
    return any(viewer.behaviour == Behaviour.LEAVER for viewer in record.viewers)


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
        self._printed: dict[str, tuple[int, int]] = {}
        """By table, the action before its last printed pause, and how often that was printed."""

    async def run(self) -> None:
        """Watch until cancelled."""
        while True:
            await asyncio.sleep(POLL_SECONDS)
            self.look(wall_milliseconds())

    def look(self, now: int) -> None:
        """Print the pauses that have become long, at a time in milliseconds since 1970 UTC."""
        running = list(self._running())
        long = [record for record in running if self._has_become_long(record, now)]
        self._printed = {it.table_id: self._printed[it.table_id] for it in running if it.table_id in self._printed}
        for record in long[:MAX_PRINTED]:
            for line in describe_pause(record, now):
                self._print(f"    {line}")
        if len(long) > MAX_PRINTED:
            self._print(f"    so do {len(long) - MAX_PRINTED} other tables")

    def _has_become_long(self, record: TableRecord, now: int) -> bool:
        acted = last_action(record)
        if acted is None or record.is_finished:
            return False
        sequence, times = self._printed.get(record.table_id, (0, 0))
        times = times if sequence == acted.sequence else 0
        if times == len(LONG_PAUSE_SECONDS) or now - acted.received < LONG_PAUSE_SECONDS[times] * 1000:
            return False
        self._printed[record.table_id] = acted.sequence, times + 1
        return True


def describe_pause(record: TableRecord, now: int) -> Iterator[str]:
    """Yield lines on the last pause of a table, and on each seat that is to act; nothing if none is."""
    histories = [history_of(viewer, record.seats, Deck(record.deck)) for viewer in record.viewers]
    log = log_of(histories)
    last = next(reversed([*pauses(log, Timeline(log, histories).clock_offset, now)]), None)
    if last is None or last.ended != now:
        return
    deadline = log.states[log.last].clock.deadline_unix_ms if log.last in log.states else 0
    ends = f"its deadline is in {_seconds(deadline - now)}" if deadline else "it has no deadline"
    yield (
        f"table {record.table_id} of {record.game}: no action for {_seconds(now - last.began)} after entry "
        f"{last.sequence}, now at entry {log.last}; {ends}"
    )
    for seat in last.seats:
        seated = [history for history in histories if history.seat == seat]
        yield from (f"  {_describe_seat(history, now)}" for history in seated)
        if not seated:
            occupant = log.info.seats[seat].bot if seat < len(log.info.seats) else ""
            yield f"  seat {seat}: {f'a bot, {occupant}' if occupant else 'no player of this run'}"


def _describe_seat(history: ViewerHistory, now: int) -> str:
    record = history.record
    parts = [f"{history.name}: {record.behaviour} player {record.player_id}"]
    if record.left_milliseconds is not None:
        parts.append(f"left {_ago(record.left_milliseconds, now)}")
    parts += ["may be kept from acting by the run"] * record.impaired
    return "; ".join([*parts, _describe_stream(record, now), _describe_received(history), _describe_sent(record, now)])


def _describe_stream(record: SeatRecord, now: int) -> str:
    if not record.opened:
        return "opened no stream"
    number, opened = len(record.opened), record.opened[-1]
    after = "" if opened.after_sequence is None else f" after entry {opened.after_sequence}"
    began = f"stream {number} opened {_ago(opened.at_milliseconds, now)}{after}"
    mine = [received for received in record.received if received.stream == number - 1]
    if not mine:
        return f"{began}, no message on it"
    event = engine_pb2.PlayTableResponse.FromString(mine[-1].body).table_event
    kind = event.WhichOneof("event_kind") or "answer"
    return f"{began}, {len(mine)} messages on it, the last {_ago(mine[-1].at_milliseconds, now)}: {kind}"


def _describe_received(history: ViewerHistory) -> str:
    last = max((message.sequence for message in history.messages), default=0)
    state = history.states.get(last)
    legal = state.legal_actions if state is not None else None
    offered = len(legal.actions) + len(legal.choices) if legal is not None else 0
    return f"has entry {last} with {offered} legal actions"


def _describe_sent(record: SeatRecord, now: int) -> str:
    if not record.sent:
        return "sent nothing"
    sent = record.sent[-1]
    verb = actions_pb2.Action.FromString(sent.action).WhichOneof("verb")
    expected = "" if sent.expected_sequence is None else f" for entry {sent.expected_sequence}"
    answers = [answer for answer in record.answered if answer.request_id == sent.request_id]
    fate = "not answered"
    if answers:
        answer = answers[-1]
        outcome = f"entry {answer.sequence}" if answer.sequence is not None else f"refused: {answer.message}"
        fate = f"answered {_ago(answer.at_milliseconds, now)} ({outcome})"
    return f"last sent {verb}{expected} {_ago(sent.at_milliseconds, now)}, {fate}"


def _ago(at: int, now: int) -> str:
    return f"{_seconds(now - at)} ago"


def _seconds(milliseconds: int) -> str:
    return f"{milliseconds / 1000:.1f} s"
