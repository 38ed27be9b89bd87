"""Every entry is soon received on every stream that is open."""

from collections.abc import Iterator

from loadtest.judge.rows import Row, Rows
from loadtest.judge.streams import Followed
from loadtest.judge.violations import Invariant, Violation
from loadtest.record import Lag


def late_entries(table_id: str, one: Followed, rows: Rows, lag: Lag, ahead: int) -> Iterator[Violation]:
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
                yield Violation(Invariant.STREAM_SILENT, table_id, row.sequence, detail)
                break


def end_missed(table_id: str, one: Followed, rows: Rows) -> Iterator[Violation]:
    """A viewer who stayed to the end of a game, and never received it."""
    record, last = one.record, len(rows.entries)
    is_present = one.messages and not record.hampered and record.left_milliseconds is None
    if is_present and rows.stored.status == "finished" and max(it.sequence for it in one.messages) < last:
        detail = f"{one.name} never received the end of the game, with {last}"
        yield Violation(Invariant.STREAM_SILENT, table_id, one.last_heard[1], detail)


def _visible(row: Row, ahead: int) -> int:
    """From when on an entry may be received, by the players' clock."""
    return row.committed if row.committed is not None else row.at + ahead
