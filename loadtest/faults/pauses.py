"""Watches running tables for long pauses, and describes the seats that are to act: what they have received and sent."""

import asyncio
from collections.abc import Callable, Iterable, Iterator

from croupier_api.v1 import actions_pb2, engine_pb2
from loadtest.faults.measures import last_action
from loadtest.judge.log import Timeline, log_of
from loadtest.judge.notation import Deck
from loadtest.judge.streams import ViewerHistory, history_of
from loadtest.judge.timeouts import pauses
from loadtest.players.tables import wall_milliseconds
from loadtest.record import SeatRecord, TableRecord

LONG_PAUSE_SECONDS = (20.0, 60.0, 120.0, 240.0)
"""A pause is printed when it has lasted for each of these times."""
POLL_SECONDS = 2.0
MAX_PRINTED = 4
"""The tables that are described at a time: a fault of all engines makes all tables pause."""


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
