"""Checks that the presence is that of players and spectators, the viewer among them, and that it has changed."""

from collections.abc import Iterator

from croupier_api.v1 import engine_pb2
from croupier_loadtest.judge.streams import ViewerHistory
from croupier_loadtest.judge.violations import Found, Invariant


def check_presence(history: ViewerHistory) -> Iterator[Found]:
    """Yield the wrong presences on the streams of a viewer."""
    shown: dict[int, engine_pb2.Presence] = {}
    for message in history.messages:
        event = message.event.snapshot if message.event.HasField("snapshot") else message.event
        if not event.HasField("presence"):
            continue
        presence, stream = event.presence, message.received.stream
        if fault := _fault(history, presence):
            yield Invariant.PRESENCE_WRONG, message.sequence, f"{history.name}: {fault}"
        elif shown.get(stream) == presence:
            yield Invariant.PRESENCE_WRONG, message.sequence, f"{history.name}: the presence is sent again unchanged"
        shown[stream] = presence


def _fault(history: ViewerHistory, presence: engine_pb2.Presence) -> str:
    """Return the fault of a presence; empty if it has none."""
    seats, table = list(presence.connected_seats), history.info.seats
    if seats != sorted(set(seats)):
        return f"the connected seats {seats} are not ascending"
    if table and any(seat >= len(table) or table[seat].bot for seat in seats):
        return f"the connected seats {seats} have no players"
    if history.seat is not None and history.seat not in seats:
        return "the presence does not have the seat of the stream itself"
    if history.seat is None and not history.delay_milliseconds and not presence.spectator_count:
        return "the presence does not count the spectator of the stream itself"
    return ""
