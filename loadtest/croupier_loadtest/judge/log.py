"""The log of a table as all viewers together received it, the numbers of its entries in a replay, and their times."""

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

from croupier_api.v1 import engine_pb2, facts_pb2, tables_pb2
from croupier_loadtest.judge.clock import PublicEntry
from croupier_loadtest.judge.notation import cards_of
from croupier_loadtest.judge.rules.interface import ABANDONED
from croupier_loadtest.judge.streams import ViewerHistory, ViewerState
from croupier_loadtest.record import Answered, Sent

SLACK_MILLISECONDS = 250
"""The tolerance for clocks and network delays."""


class SequenceRange(NamedTuple):
    """The sequences after one of which the engine judged an action; if not `is_certain`, it may be a later one."""

    first: int
    last: int
    is_certain: bool


@dataclass(frozen=True, slots=True)
class Log:
    """The entries of a table that any viewer received; it may have gaps."""

    entries: Mapping[int, engine_pb2.TableUpdate]
    """By sequence, as the first viewer received them."""
    public: Mapping[int, PublicEntry]
    """The public parts of entries by ascending sequence."""
    states: Mapping[int, ViewerState]
    """By sequence the state of some viewer, of which only the public part may be used."""
    last: int
    """The highest sequence that any viewer received."""
    ended: int | None
    """The sequence of the end of the game; None unless a viewer received it."""
    info: tables_pb2.PlayedTable
    view_times: Sequence[tuple[int, int]]
    """The time of each answer of GetView, with the sequence of its snapshot."""
    clock_offset: int
    """The most milliseconds by which the players' clock is ahead of the services'.

    It is 0 if that is not known, because all viewers are delayed spectators.
    """
    sent_times: Sequence[tuple[int, int]]
    """The sequence of each acknowledged action, with the time at which it was sent."""
    received_times: Sequence[tuple[int, int]]
    """Ascending times by the players' clock, each with the highest sequence that was received until then."""
    stored_times: Sequence[tuple[int, int]]
    """The same for entries when they were stored."""

    def seats_to_act(self, sequence: int) -> list[int] | None:
        """Return the seats to act after an entry; None where the log does not show them."""
        state = self.states.get(sequence)
        return list(state.view.seats_to_act) if state is not None else None

    def stored_milliseconds(self, sequence: int, received: int) -> int:
        """Return the time at which an entry was stored at the latest, by the players' clock; `received` if unknown."""
        entry = self.public.get(sequence)
        return min(received, entry.at + self.clock_offset) if entry is not None else received

    def requested_by(self, seat: int) -> list[int]:
        """Return the sequences at which a seat's own player acted, left or returned."""
        return [
            sequence
            for sequence, entry in self.public.items()
            if entry.seat == seat and not entry.by and (not entry.is_meta or entry.is_away is not None)
        ]

    def possible_sequences(self, sent: Sent, answered: Answered) -> SequenceRange:
        """Return the sequences after which an action may have been judged; the first was received before it was sent.

        It is 0 if nothing had been received then.
        """
        first = _highest_until(self.received_times, sent.at_milliseconds)
        last = max(first, _highest_until(self.stored_times, answered.at_milliseconds + SLACK_MILLISECONDS))
        later = [sequence for sequence, at in self.sent_times if at > answered.at_milliseconds]
        is_certain = last < self.last or self.ended is not None or bool(later)
        if later:
            last = max(first, min(last, min(later) - 1))
        return SequenceRange(first, last, is_certain)


def log_of(histories: Sequence[ViewerHistory]) -> Log:
    """Return the log of the entries that any of these viewers received, who get their seats by the table's data."""
    info = next((history.info for history in histories if history.info.table_id), tables_pb2.PlayedTable())
    player_ids = [player.player_id for player in info.seats]
    for history in histories:
        # Also without a message to the viewer.
        if history.seat is None and history.record.player_id in player_ids:
            history.seat = player_ids.index(history.record.player_id)
    entries: dict[int, engine_pb2.TableUpdate] = {}
    states: dict[int, ViewerState] = {}
    with_facts: set[int] = set()
    for history in histories:
        for sequence, update in history.updates.items():
            entries.setdefault(sequence, update)
            if update.facts:
                with_facts.add(sequence)
        for sequence, state in history.states.items():
            states.setdefault(sequence, state)
    public = {sequence: _public(update, sequence in with_facts) for sequence, update in sorted(entries.items())}
    last = max([*entries, *states], default=0)
    ended = min((sequence for sequence, state in states.items() if state.view.ranking), default=None)
    view_times = [(at, snapshot.sequence) for history in histories for at, snapshot in history.views]
    return Log(entries, public, states, last, ended, info, view_times, *_times(histories, public))


_Times: TypeAlias = list[tuple[int, int]]


def _times(histories: Sequence[ViewerHistory], public: Mapping[int, PublicEntry]) -> tuple[int, _Times, _Times, _Times]:
    """Return the offset of clocks, and the times at which entries were sent, received and stored, as the log has them.

    Nothing is received before it was stored.
    """
    stored = {sequence: entry.at for sequence, entry in public.items()}
    acknowledged = [
        (history.sent.get(answer.request_id), answer.at_milliseconds, answer.sequence)
        for history in histories
        for answer in history.record.answered
        if answer.sequence is not None
    ]
    prompt = _first_received([history for history in histories if not history.delay_milliseconds])
    known = [*prompt.items(), *((sequence, at) for _, at, sequence in acknowledged)]
    offset = min((at - stored[sequence] for sequence, at in known if sequence in stored), default=0)
    sent_times = [(sequence, sent[0].at_milliseconds) for sent, _, sequence in acknowledged if sent]
    stored_times = _ascending({sequence: at + offset for sequence, at in stored.items()})
    return offset, sent_times, _ascending(_first_received(histories)), stored_times


def _public(update: engine_pb2.TableUpdate, has_facts: bool) -> PublicEntry:
    """Return the public part of an entry: entries without facts for any viewer are no events of the game."""
    seat = update.seat if update.HasField("seat") else None
    is_meta = not has_facts and (seat is not None or bool(update.compensated_ms))
    is_end = any(fact.game_ended.reason == ABANDONED for fact in update.facts if fact.HasField("game_ended"))
    # The one card that the seat shows as played, or the cards that it shows as laid.
    moves = [fact.cards_moved for fact in update.facts if _is_of(fact.cards_moved, seat)]
    played = [one for one in moves if one.reason == facts_pb2.MOVE_REASON_PLAY and len(one.cards) == 1]
    shown = played or [one for one in moves if one.reason == facts_pb2.MOVE_REASON_LAY]
    cards = tuple(sorted(cards_of(shown[0].cards))) if len(shown) == 1 else ()
    is_away = update.is_away if update.HasField("is_away") else None
    return PublicEntry(
        update.stored_unix_ms, seat, update.acted_by, update.compensated_ms, is_meta, is_end, cards, is_away
    )


def _is_of(moved: facts_pb2.CardsMoved, seat: int | None) -> bool:
    """Return whether cards left the hand of a seat."""
    return moved.source.HasField("hand") and moved.source.hand == seat


def replay_numbers(log: Log, events: int) -> dict[int, int]:
    """Return the number that each event, by its sequence, has in a replay with so many events, where it is known.

    A replay numbers the events only. How many meta entries the gaps of the log have is known, but not where.
    """
    last = log.ended if log.ended is not None else log.last
    unknown = last - events - sum(entry.is_meta for sequence, entry in log.public.items() if sequence <= last)
    numbers = _numbers(log, range(1, last + 1), 0, 1, has_unknown_meta=unknown != 0)
    backwards = _numbers(log, range(last, 0, -1), events + 1, -1, has_unknown_meta=unknown != 0)
    return backwards | numbers


def _numbers(log: Log, sequences: Iterable[int], number: int, step: int, *, has_unknown_meta: bool) -> dict[int, int]:
    """Return the numbers of events, of the first `number` + `step`; with unknown meta entries up to the first gap."""
    numbers: dict[int, int] = {}
    for sequence in sequences:
        # The first entry is always a shuffle: before it there is nothing to propose or to compensate.
        if has_unknown_meta and sequence not in log.entries and sequence != 1:
            break
        if sequence not in log.public or not log.public[sequence].is_meta:
            number += step
            numbers[sequence] = number
    return numbers


def _first_received(histories: Sequence[ViewerHistory]) -> dict[int, int]:
    received: dict[int, int] = {}
    for history in histories:
        for sequence, state in history.states.items():
            received[sequence] = min(received.get(sequence, state.received_milliseconds), state.received_milliseconds)
        for sequence, message in history.received.items():
            received[sequence] = min(received.get(sequence, message.at_milliseconds), message.at_milliseconds)
    return received


def _ascending(times: dict[int, int]) -> list[tuple[int, int]]:
    """Return the times in ascending order, each with the highest sequence up to then."""
    highest, found = 0, []
    for at, sequence in sorted((at, sequence) for sequence, at in times.items()):
        highest = max(highest, sequence)
        found.append((at, highest))
    return found


def _highest_until(ascending: Sequence[tuple[int, int]], at: int) -> int:
    """Return the highest sequence up to a time, that time included; 0 if there is none."""
    index = bisect_right(ascending, at, key=lambda one: one[0])
    return ascending[index - 1][1] if index else 0
