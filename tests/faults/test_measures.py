"""The measures of pauses and takeovers, at tables with known times, and the description of long pauses."""

from typing import Any

import pytest

from croupier_api.v1 import engine_pb2
from croupier_loadtest.faults.measures import (
    LONG_PAUSE_SECONDS,
    MAX_PRINTED,
    PauseWatch,
    Steps,
    Takeover,
    last_action,
    longest_pause,
    percentile,
    takeovers,
)
from croupier_loadtest.record import Opened, Received, SeatRecord, TableRecord
from croupier_loadtest.scenarios import Behaviour
from tests.loadtest.judge.played import EventRates, played
from tests.loadtest.judge.viewer_records import record_of

KILLED = 100_000


def message(**event: Any) -> bytes:
    return engine_pb2.PlayTableResponse(table_event=engine_pb2.TableEvent(**event)).SerializeToString()


def action(sequence: int, received: int, stored: int | None = None) -> Received:
    update = engine_pb2.TableUpdate(sequence=sequence, seat=0, stored_unix_ms=stored or received)
    return Received(received, 0, message(update=update))


def table(*received: Received, resumed: int = KILLED + 100, behaviour: Behaviour = Behaviour.STEADY) -> TableRecord:
    """Return a table whose viewer received these messages, and resumed the stream once."""
    viewer = SeatRecord("p", 0, behaviour, [Opened(0, None), Opened(resumed, 1)], received=list(received))
    return TableRecord("t", "solo", 4, viewers=[viewer])


def actions(*received: int) -> list[Received]:
    return [action(sequence, at) for sequence, at in enumerate(received, start=1)]


def seconds(record: TableRecord) -> list[float]:
    return [takeover.seconds for takeover in takeovers([record], KILLED)]


def test_a_takeover_lasts_from_the_kill_to_the_first_receipt_of_the_next_stored_action() -> None:
    assert seconds(table(*actions(99_000, 99_900, 101_500, 103_000))) == [1.5]
    stored_before_the_kill = action(1, 100_200, stored=KILLED - 1)
    assert seconds(table(stored_before_the_kill, action(2, 102_000))) == [2.0]
    record = table(*actions(99_000, 104_000))
    record.viewers.append(SeatRecord("q", 1, opened=[Opened(0, None)], received=actions(99_000, 103_000)))
    assert seconds(record) == [3.0]


def test_a_takeover_ends_with_no_action_of_a_player_who_exceeds_their_time_on_purpose() -> None:
    record = table(*actions(99_000, 105_500), behaviour=Behaviour.LATE)
    record.viewers.append(SeatRecord("q", 1, opened=[Opened(0, None)], received=actions(99_000, 105_500)))
    assert seconds(record) == []
    record.viewers[0].seat, record.viewers[1].seat = 1, 0
    assert seconds(record) == [5.5]


def test_tables_without_a_broken_stream_and_those_with_leavers_do_not_count() -> None:
    received = actions(99_000, 101_000)
    assert seconds(table(*received, resumed=98_000)) == []
    assert seconds(table(*received, resumed=104_000)) == []
    assert seconds(table(*received, behaviour=Behaviour.LEAVER)) == []
    assert seconds(table(*received, behaviour=Behaviour.FLAKY)) == []


def test_the_longest_pause_is_one_that_ended_after_the_fault_began() -> None:
    tables = [table(*actions(10_000, 50_000, 51_000, 54_000)), table(*actions(50_000, 52_000))]
    assert longest_pause(tables, since=50_500) == 3.0
    assert longest_pause([], since=0) == 0.0


def test_a_pause_is_unknown_where_nobody_received_the_entries_between() -> None:
    players = table(*actions(10_000, 11_000))
    spectator = SeatRecord("s", None, opened=[Opened(60_000, None)], received=[action(5, 61_000), action(6, 62_000)])
    players.viewers.append(spectator)
    assert longest_pause([players], since=60_000) == 1.0


def test_a_viewer_who_catches_up_makes_no_pause() -> None:
    record = table(*actions(10_000, 50_000, 51_000, 52_000))
    late = [action(sequence, 53_000, stored) for sequence, stored in enumerate((10_000, 50_000, 51_000, 52_000), 1)]
    late[0] = late[0]._replace(at_milliseconds=10_000)
    record.viewers.append(SeatRecord("q", 1, opened=[Opened(0, None)], received=late))
    assert longest_pause([record], since=51_500) == 1.0


def test_entries_without_an_action_do_not_end_a_pause() -> None:
    compensated = message(update=engine_pb2.TableUpdate(sequence=2, stored_unix_ms=15_000, compensated_ms=5_000))
    record = table(action(1, 10_000), Received(15_000, 0, compensated), action(3, 30_000))
    assert longest_pause([record], since=0) == 20.0
    record.viewers[0].received.pop()
    assert (last := last_action(record)) is not None
    assert last.sequence == 1


def test_the_steps_of_a_takeover_are_those_of_the_player_who_acted_first() -> None:
    record = table(action(1, 99_000))
    opened = [Opened(0, None), *(Opened(at, 1) for at in (KILLED + 300, KILLED + 900, KILLED + 1_500))]
    turn = message(turn_state=engine_pb2.TurnState(sequence=1))
    received = [Received(KILLED + 2_500, 3, turn), action(2, KILLED + 2_900)._replace(stream=3)]
    record.viewers[0] = SeatRecord("p", 0, Behaviour.STEADY, opened, received=[action(1, 99_000), *received])
    (takeover,) = takeovers([record], KILLED)
    assert takeover == Takeover(2.9, Steps(noticed=0.3, retried=1.2, opened=1.0, acted=0.4))


def test_a_player_whose_stream_was_not_lost_only_acts_and_a_seat_without_a_player_has_no_steps() -> None:
    record = table(*actions(99_000, 101_000))
    record.viewers[0].seat = 1
    assert takeovers([record], KILLED) == [Takeover(1.0, None)]
    record.viewers.append(SeatRecord("q", 0, opened=[Opened(0, None)], received=actions(99_000, 101_000)))
    assert takeovers([record], KILLED) == [Takeover(1.0, Steps(0.0, 0.0, 0.0, 1.0))]


def test_a_percentile_is_one_of_the_values() -> None:
    assert percentile([3.0, 1.0, 2.0], 0.5) == 2.0
    assert percentile([float(value) for value in range(100)], 0.99) == 99.0
    assert percentile([], 0.99) == 0.0


LONG = round(LONG_PAUSE_SECONDS * 1000)


def watched(*, is_finished: bool = False) -> tuple[list[TableRecord], int]:
    """Return more tables than are described at a time, and when the last message was received there."""
    table = played() if is_finished else played(rates=EventRates(max_entries=20))
    records = [record_of(table) for _ in range(MAX_PRINTED + 2)]
    for number, record in enumerate(records):
        record.table_id = f"table-{number}"
    return records, max(viewer.received[-1].at_milliseconds for viewer in records[0].viewers)


def test_a_long_pause_is_described_once_with_what_the_seat_to_act_received_and_sent() -> None:
    (record, *_), acted = watched()
    printed: list[str] = []
    watch = PauseWatch(lambda: [record], printed.append)
    watch.look(acted + LONG - 1)
    assert not printed
    for _ in range(2):
        watch.look(acted + LONG)
    about_table, about_seat, *transcript = printed
    assert not any("no action for" in line for line in transcript)
    assert "table table-0 of thulla" in about_table
    assert "no action for 20.0 s after entry 20, now at entry 20; to act: [" in about_table
    assert "deadline 1" in about_table
    assert " player, left at None" in about_seat
    assert [any(f'"{kind}":' in line for line in transcript) for kind in ("sent", "answered", "received")] == [True] * 3


@pytest.mark.parametrize("is_finished", [False, True])
def test_of_many_tables_the_first_are_described_and_finished_ones_are_not(is_finished: bool) -> None:
    records, acted = watched(is_finished=is_finished)
    printed: list[str] = []
    PauseWatch(lambda: records, printed.append).look(acted + LONG)
    described = [line for line in printed if "no action for" in line]
    assert len(described) == (0 if is_finished else MAX_PRINTED)
    assert printed[-1:] == ([] if is_finished else ["    so do 2 other tables"])
