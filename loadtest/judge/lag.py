"""How soon entries are received: on every stream that is open, and by all who sit at the table."""

from collections.abc import Iterator, Sequence

from loadtest.judge.rows import Row, Rows
from loadtest.judge.streams import Followed
from loadtest.judge.violations import Found, Invariant
from loadtest.record import Lag

END_MILLISECONDS = 5_000
"""A viewer who leaves so soon after the end of a game may have missed it."""


def late_entries(one: Followed, rows: Rows, lag: Lag, ahead: int) -> Iterator[Found]:
    """The first entry of each stream that a viewer received too late, or never.

    The players' clock is `ahead` of the services', in milliseconds.
    """
    if one.record.reads_slowly or (one.record.hampered and not lag.is_of_hampered):
        return
    for stream, opened in enumerate(one.record.opened):
        received = [
            (heard.at_milliseconds, message.sequence)
            for heard, message in zip(one.record.heard, one.messages, strict=True)
            if heard.stream == stream
        ]
        if not received:
            continue
        ends = max([received[-1][0], *(it.at_milliseconds for it in one.record.closed if it.stream == stream)])
        begins = opened.after_sequence if opened.after_sequence is not None else received[0][1]
        for row in rows.entries[begins:]:
            stored = _visible(row, ahead)
            if stored >= ends:
                break
            came = next((at for at, sequence in received if sequence >= row.sequence), ends)
            late = came - max(stored, opened.at_milliseconds)
            if late > lag.most_milliseconds and stored >= lag.since_milliseconds:
                detail = f"{one.name} had a stream for {late} ms on which a stored entry was not received"
                yield Invariant.STREAM_SILENT, row.sequence, detail
                break


def end_missed(one: Followed, rows: Rows, ahead: int) -> Iterator[Found]:
    """A viewer who stayed to the end of a game, and never received it."""
    last = len(rows.entries)
    is_missed = one.messages and not one.record.hampered and max(it.sequence for it in one.messages) < last
    if not is_missed or rows.stored.status != "finished":
        return
    if not one.record.has_left(_visible(rows.entries[-1], ahead) + END_MILLISECONDS):
        yield Invariant.STREAM_SILENT, one.last_heard[1], f"{one.name} never received the end of the game, with {last}"


def _visible(row: Row, ahead: int) -> int:
    """From when on an entry may be received, by the players' clock."""
    return row.committed if row.committed is not None else row.at + ahead


def seen_by_all(followed: Sequence[Followed], until_milliseconds: int | None) -> Iterator[int]:
    """For each acknowledged action the milliseconds from sent to heard at the last seat of this record.

    Seats that were not connected then, or read slowly, do not count; actions that were heard late, on a stream opened
    after them, are left out, and so are those that were sent after a time.
    """
    seated = [one for one in followed if one.seat is not None and not one.record.reads_slowly]
    for one in seated:
        told: set[int] = set()
        for answer in one.record.answered:
            sent = one.sent.get(answer.request_id)
            if answer.sequence is None or sent is None or answer.sequence in told:
                continue
            at = sent[0].at_milliseconds
            if until_milliseconds is not None and at > until_milliseconds:
                continue
            told.add(answer.sequence)
            live = [_live(other, answer.sequence, at) for other in seated if _is_connected(other, at)]
            if live and None not in live:
                yield max(heard for heard in live if heard is not None) - at


def _is_connected(one: Followed, at: int) -> bool:
    """Whether a viewer had a stream by then and had not left."""
    opened = one.record.opened
    return bool(opened) and opened[0].at_milliseconds <= at and not one.record.has_left(at)


def _live(one: Followed, sequence: int, sent_at: int) -> int | None:
    """When a viewer heard of an entry on a stream that was open when it was sent."""
    heard, opened = one.heard.get(sequence), one.record.opened
    if heard is None or heard.stream >= len(opened) or opened[heard.stream].at_milliseconds > sent_at:
        return None
    return heard.at_milliseconds
