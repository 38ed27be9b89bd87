"""Checks how late entries are received on open streams, and by all seats of a table."""

from collections.abc import Iterator, Sequence

from loadtest.judge.rows import Row, Rows
from loadtest.judge.streams import ViewerHistory
from loadtest.judge.violations import Found, Invariant
from loadtest.record import LagLimit

END_MILLISECONDS = 5_000
"""A viewer who leaves so soon after the end of a game may miss it."""


def late_entries(one: ViewerHistory, rows: Rows, lag: LagLimit, ahead: int) -> Iterator[Found]:
    """The first entry of each stream that a viewer received too late, or never.

    The players' clock is `ahead` of the services', in milliseconds.
    """
    if one.record.reads_slowly or (one.record.impaired and not lag.applies_to_impaired):
        return
    for stream, opened in enumerate(one.record.opened):
        arrivals = [
            (received.at_milliseconds, message.sequence)
            for received, message in zip(one.record.received, one.messages, strict=True)
            if received.stream == stream
        ]
        if not arrivals:
            continue
        ends = max(
            [arrivals[-1][0], *(closed.at_milliseconds for closed in one.record.closed if closed.stream == stream)]
        )
        begins = opened.after_sequence if opened.after_sequence is not None else arrivals[0][1]
        for row in rows.entries[begins:]:
            stored = _visible(row, ahead)
            if stored >= ends:
                break
            arrived = next((at for at, sequence in arrivals if sequence >= row.sequence), ends)
            late = arrived - max(stored, opened.at_milliseconds)
            if late > lag.max_milliseconds and stored >= lag.since_milliseconds:
                detail = f"{one.name} did not receive a stored entry on an open stream for {late} ms"
                yield Invariant.STREAM_SILENT, row.sequence, detail
                break


def end_missed(one: ViewerHistory, rows: Rows, ahead: int) -> Iterator[Found]:
    """A viewer who stayed to the end of a game and did not receive it."""
    last = len(rows.entries)
    is_missed = one.messages and not one.record.impaired and max(message.sequence for message in one.messages) < last
    if not is_missed or rows.stored.status != "finished":
        return
    if not one.record.has_left(_visible(rows.entries[-1], ahead) + END_MILLISECONDS):
        yield (
            Invariant.STREAM_SILENT,
            one.last_received[1],
            f"{one.name} did not receive the end of the game, {last}",
        )


def _visible(row: Row, ahead: int) -> int:
    """The earliest time at which an entry may be received, by the players' clock."""
    return row.committed if row.committed is not None else row.at + ahead


def seen_by_all(histories: Sequence[ViewerHistory], until_milliseconds: int | None) -> Iterator[int]:
    """For each acknowledged action the milliseconds from sent to received at the last seat of this record.

    Seats that were not connected then, or read slowly, do not count. Actions that a seat received on a later stream
    are left out, and so are those sent after `until_milliseconds`.
    """
    seated = [one for one in histories if one.seat is not None and not one.record.reads_slowly]
    for one in seated:
        counted: set[int] = set()
        for answer in one.record.answered:
            sent = one.sent.get(answer.request_id)
            if answer.sequence is None or sent is None or answer.sequence in counted:
                continue
            at = sent[0].at_milliseconds
            if until_milliseconds is not None and at > until_milliseconds:
                continue
            counted.add(answer.sequence)
            live = [_received_live(other, answer.sequence, at) for other in seated if _is_connected(other, at)]
            if live and None not in live:
                yield max(received for received in live if received is not None) - at


def _is_connected(one: ViewerHistory, at: int) -> bool:
    """Whether a viewer had opened a stream and had not left at a time."""
    opened = one.record.opened
    return bool(opened) and opened[0].at_milliseconds <= at and not one.record.has_left(at)


def _received_live(one: ViewerHistory, sequence: int, sent_at: int) -> int | None:
    """The time at which a viewer received an entry on a stream that was open when it was sent; else None."""
    received, opened = one.received.get(sequence), one.record.opened
    if received is None or received.stream >= len(opened) or opened[received.stream].at_milliseconds > sent_at:
        return None
    return received.at_milliseconds
