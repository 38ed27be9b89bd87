"""Checks that viewers who are to act receive their legal actions at once."""

from collections.abc import Iterator

from loadtest.judge.log import SLACK_MILLISECONDS
from loadtest.judge.streams import ViewerHistory
from loadtest.judge.violations import Found, Invariant


def check_legal_actions(history: ViewerHistory, clock_offset: int) -> Iterator[Found]:
    """Yield updates without legal actions after which the viewer is to act, unless later updates follow at once.

    The next event of the stream follows at once if it is an entry that was stored before the update was received. The
    players' clock is at most `clock_offset` milliseconds ahead of the services'.
    """
    # By stream: when the last event was received, and its sequence, if it is such an update.
    unfinished: dict[int, tuple[int, int]] = {}
    for received, message in zip(history.record.received, history.messages, strict=True):
        event = message.event
        if event.WhichOneof("event_kind") is None:
            continue
        at, sequence = unfinished.pop(received.stream, (0, 0))
        if sequence and not 0 < event.update.stored_unix_ms <= at - clock_offset + SLACK_MILLISECONDS:
            yield Invariant.RULES_BROKEN, sequence, f"{history.name} received no legal actions though it was to act"
        has_actions = event.update.HasField("legal_actions")
        if event.HasField("update") and not has_actions and _is_to_act(history, message.sequence):
            unfinished[received.stream] = received.at_milliseconds, message.sequence


def _is_to_act(history: ViewerHistory, sequence: int) -> bool:
    """Return whether the viewer is to act after an entry."""
    state = history.states.get(sequence)
    return state is not None and history.seat in state.view.seats_to_act
