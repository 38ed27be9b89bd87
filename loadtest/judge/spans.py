"""How long it takes until an action has been seen by all who sit at its table."""

from collections.abc import Iterator, Sequence

from loadtest.judge.streams import Followed


def seen_by_all(followed: Sequence[Followed], until_milliseconds: int | None) -> Iterator[int]:
    """For each acknowledged action the milliseconds from sent to heard at the last seat of this record.

    Seats that were not connected then, or read slowly, do not count; actions that were heard late, on a stream opened
    after them, are left out, and so are those that were sent after a time.
    """
    seated = [one for one in followed if one.seat is not None and not one.record.reads_slowly]
    for one in seated:
        sent_at: dict[str, int] = {}
        for sent in one.record.sent:
            sent_at.setdefault(sent.request_id, sent.at_milliseconds)
        told: set[int] = set()
        for answer in one.record.answered:
            at = sent_at.get(answer.request_id)
            is_late = at is not None and until_milliseconds is not None and at > until_milliseconds
            if answer.sequence is None or at is None or is_late or answer.sequence in told:
                continue
            told.add(answer.sequence)
            heard = [other.heard_at.get(answer.sequence) for other in seated if _is_connected(other, at)]
            live = [came for came in heard if came is not None]
            if live and len(live) == len(heard) and all(_is_live(other, answer.sequence, at) for other in seated):
                yield max(live) - at


def _is_connected(one: Followed, at: int) -> bool:
    """Whether a viewer had a stream by then and had not left."""
    opened, left = one.record.opened, one.record.left_milliseconds
    return bool(opened) and opened[0].at_milliseconds <= at and (left is None or left > at)


def _is_live(one: Followed, sequence: int, sent_at: int) -> bool:
    """Whether a viewer heard of an entry on a stream that was open when it was sent, or does not count."""
    stream = one.heard_on.get(sequence)
    opened = one.record.opened
    if not _is_connected(one, sent_at) or stream is None or stream >= len(opened):
        return not _is_connected(one, sent_at)
    return opened[stream].at_milliseconds <= sent_at
