"""Checks how late entries are received on open streams and by all seats, and that legal actions come at once."""

from collections.abc import Iterator, Sequence

from croupier_loadtest.judge.log import SLACK_MILLISECONDS, Log
from croupier_loadtest.judge.rows import Row, Rows
from croupier_loadtest.judge.streams import ViewerHistory
from croupier_loadtest.judge.violations import Found, Invariant
from croupier_loadtest.record import DeliveryLimit

END_MILLISECONDS = 5_000
"""A viewer who leaves within this time after the end of a game may miss it."""


def check_delivery(history: ViewerHistory, log: Log, rows: Rows, limit: DeliveryLimit) -> Iterator[Found]:
    """Yield the first entry of each stream that a viewer received too late, or never."""
    if history.record.reads_slowly or (history.record.impaired and not limit.applies_to_impaired):
        return
    for stream, opened in enumerate(history.record.opened):
        arrivals = [
            (message.received.at_milliseconds, message.sequence)
            for message in history.messages
            if message.received.stream == stream
        ]
        if not arrivals:
            continue
        ends = max(
            [arrivals[-1][0], *(closed.at_milliseconds for closed in history.record.closed if closed.stream == stream)]
        )
        begins = opened.after_sequence if opened.after_sequence is not None else arrivals[0][1]
        for row in rows.entries[begins:]:
            stored = _visible(row, log) + history.delay_milliseconds
            if stored >= ends:
                break
            arrived = next((at for at, sequence in arrivals if sequence >= row.sequence), ends)
            late = arrived - max(stored, opened.at_milliseconds)
            if late > limit.max_milliseconds and stored >= limit.since_milliseconds:
                detail = f"{history.name} did not receive a stored entry on an open stream for {late} ms"
                yield Invariant.STREAM_SILENT, row.sequence, detail
                break


def check_end_received(history: ViewerHistory, log: Log, rows: Rows) -> Iterator[Found]:
    """Yield a viewer who stayed to the end of a game and did not receive it."""
    last = len(rows.entries)
    is_missed = (
        history.messages
        and not history.record.impaired
        and max(message.sequence for message in history.messages) < last
    )
    if not is_missed or rows.stored.status != "finished":
        return
    visible = _visible(rows.entries[-1], log) + history.delay_milliseconds
    if not history.record.has_left(visible + END_MILLISECONDS):
        detail = f"{history.name} did not receive the end of the game, {last}"
        yield Invariant.STREAM_SILENT, history.last_received[1], detail


def check_watch_delay(history: ViewerHistory, log: Log) -> Iterator[Found]:
    """Yield the first entry that a spectator knew before the watch delay had passed."""
    delay = history.delay_milliseconds
    for at, sequence in history.seen if delay else ():
        entry = log.entries.get(sequence)
        early = entry.stored_unix_ms + delay - (at - log.clock_offset) if entry is not None else 0
        if early > SLACK_MILLISECONDS:
            yield Invariant.SHOWN_TOO_EARLY, sequence, f"{history.name} knew it {early} ms before the watch delay"
            return


def _visible(row: Row, log: Log) -> int:
    """Return the earliest time at which an entry may be received, by the players' clock."""
    return row.committed if row.committed is not None else row.at + log.clock_offset


def seen_by_all(histories: Sequence[ViewerHistory], until_milliseconds: int | None) -> Iterator[int]:
    """Yield the milliseconds of each acknowledged action from sent to received at the last seat of this record.

    Seats that were not connected then, or read slowly, do not count. Actions that a seat received on a later stream
    are omitted, and so are those sent after `until_milliseconds`.
    """
    seated = [history for history in histories if history.seat is not None and not history.record.reads_slowly]
    for history in seated:
        counted: set[int] = set()
        for answer in history.record.answered:
            sent = history.sent.get(answer.request_id)
            if answer.sequence is None or sent is None or answer.sequence in counted:
                continue
            at = sent[0].at_milliseconds
            if until_milliseconds is not None and at > until_milliseconds:
                continue
            counted.add(answer.sequence)
            connected = [
                other
                for other in seated
                if (opened := other.record.opened) and opened[0].at_milliseconds <= at and not other.record.has_left(at)
            ]
            live = [_received_live(other, answer.sequence, at) for other in connected]
            if live and None not in live:
                yield max(received for received in live if received is not None) - at


def _received_live(history: ViewerHistory, sequence: int, sent_at: int) -> int | None:
    """Return the time at which an entry was received on a stream that was open when it was sent; else None."""
    received, opened = history.received.get(sequence), history.record.opened
    if received is None or received.stream >= len(opened) or opened[received.stream].at_milliseconds > sent_at:
        return None
    return received.at_milliseconds


def check_legal_actions(history: ViewerHistory, log: Log) -> Iterator[Found]:
    """Yield updates without legal actions after which the viewer is to act, unless later updates follow at once.

    The next event of the stream follows at once if it is an entry that was stored before the update was received.
    """
    # By stream: when the last event was received, and its sequence, if it is such an update.
    unfinished: dict[int, tuple[int, int]] = {}
    for message in history.messages:
        received, event = message.received, message.event
        if event.WhichOneof("event_kind") is None:
            continue
        at, sequence = unfinished.pop(received.stream, (0, 0))
        if sequence and not 0 < event.update.stored_unix_ms <= at - log.clock_offset + SLACK_MILLISECONDS:
            yield Invariant.RULES_BROKEN, sequence, f"{history.name} received no legal actions though it was to act"
        has_actions, state = event.update.HasField("legal_actions"), history.states.get(message.sequence)
        is_to_act = state is not None and history.seat in state.view.seats_to_act
        if event.HasField("update") and not has_actions and is_to_act:
            unfinished[received.stream] = received.at_milliseconds, message.sequence
