"""Checks that a viewer learns what they may do as soon as it is their turn."""

from collections.abc import Iterator

from loadtest.judge.log import SLACK_MILLISECONDS
from loadtest.judge.streams import ViewerHistory
from loadtest.judge.violations import Found, Invariant


def turns_without_actions(one: ViewerHistory, ahead: int) -> Iterator[Found]:
    """Updates that leave the legal actions of the viewer to a later one, which does not follow at once.

    The players' clock is `ahead` of the services', in milliseconds.
    """
    left_open: dict[int, tuple[int, int]] = {}
    for received, message in zip(one.record.received, one.messages, strict=True):
        event = message.event
        if event.WhichOneof("event_kind") is None:
            continue
        at, sequence = left_open.pop(received.stream, (0, 0))
        if sequence and not 0 < event.update.stored_unix_ms <= at - ahead + SLACK_MILLISECONDS:
            yield Invariant.RULES_BROKEN, sequence, f"{one.name} was offered no action though it was to act"
        has_actions = event.update.HasField("legal_actions")
        if event.HasField("update") and not has_actions and _is_to_act(one, message.sequence):
            left_open[received.stream] = received.at_milliseconds, message.sequence


def _is_to_act(one: ViewerHistory, sequence: int) -> bool:
    """Whether the viewer is to act after an entry."""
    state = one.states.get(sequence)
    return state is not None and one.seat in state.view.seats_to_act
