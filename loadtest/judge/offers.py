"""Checks that viewers receive their legal actions with the entry that begins their turn."""

from collections.abc import Iterator

from loadtest.judge.log import SLACK_MILLISECONDS
from loadtest.judge.streams import ViewerHistory
from loadtest.judge.violations import Found, Invariant


def check_offers(history: ViewerHistory, clock_offset: int) -> Iterator[Found]:
    """Yield updates that leave the legal actions of the viewer to a later one, which does not follow at once.

    The players' clock is `clock_offset` milliseconds ahead of the services'.
    """
    left_open: dict[int, tuple[int, int]] = {}
    for received, message in zip(history.record.received, history.messages, strict=True):
        event = message.event
        if event.WhichOneof("event_kind") is None:
            continue
        at, sequence = left_open.pop(received.stream, (0, 0))
        if sequence and not 0 < event.update.stored_unix_ms <= at - clock_offset + SLACK_MILLISECONDS:
            yield Invariant.RULES_BROKEN, sequence, f"{history.name} was offered no action though it was to act"
        has_actions = event.update.HasField("legal_actions")
        if event.HasField("update") and not has_actions and _is_to_act(history, message.sequence):
            left_open[received.stream] = received.at_milliseconds, message.sequence


def _is_to_act(history: ViewerHistory, sequence: int) -> bool:
    """Return whether the viewer is to act after an entry."""
    state = history.states.get(sequence)
    return state is not None and history.seat in state.view.seats_to_act
