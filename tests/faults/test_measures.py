"""The measures of pauses and takeovers, at tables with known times."""

from typing import Any

from croupier_api.v1 import engine_pb2
from loadtest.faults.measures import (
    Steps,
    Takeover,
    format_takeover,
    last_action,
    longest_pause,
    percentile,
    takeovers,
)
from loadtest.record import Opened, Received, SeatRecord, TableRecord
from loadtest.scenarios import Behaviour

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


def test_a_takeover_lasts_from_the_kill_to_the_next_stored_action() -> None:
    assert seconds(table(*actions(99_000, 99_900, 101_500, 103_000))) == [1.5]


def test_an_action_that_was_stored_before_the_kill_does_not_end_a_takeover() -> None:
    assert seconds(table(action(1, 100_200, stored=KILLED - 1), action(2, 102_000))) == [2.0]


def test_the_first_receipt_of_an_action_counts() -> None:
    record = table(*actions(99_000, 104_000))
    record.viewers.append(SeatRecord("q", 1, opened=[Opened(0, None)], received=actions(99_000, 103_000)))
    assert seconds(record) == [3.0]


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
    assert takeover.steps == Steps(noticed=0.3, retried=1.2, opened=1.0, acted=0.4)
    assert format_takeover(takeover) == (
        "2.9 s: table t of solo: lost stream noticed after 0.3 s, retries 1.2 s, new stream opened 1.0 s, acted 0.4 s"
    )


def test_a_player_whose_stream_was_not_lost_only_acts() -> None:
    record = table(*actions(99_000, 101_000))
    record.viewers[0].seat = 1
    record.viewers.append(SeatRecord("q", 0, opened=[Opened(0, None)], received=actions(99_000, 101_000)))
    assert [takeover.steps for takeover in takeovers([record], KILLED)] == [Steps(0.0, 0.0, 0.0, 1.0)]


def test_a_takeover_by_a_seat_without_a_player_has_no_steps() -> None:
    record = table(*actions(99_000, 101_000))
    record.viewers[0].seat = 1
    (takeover,) = takeovers([record], KILLED)
    assert takeover == Takeover(1.0, "t", "solo", None)
    assert format_takeover(takeover) == "1.0 s: table t of solo"


def test_a_percentile_is_one_of_the_values() -> None:
    assert percentile([3.0, 1.0, 2.0], 0.5) == 2.0
    assert percentile([float(value) for value in range(100)], 0.99) == 99.0
    assert percentile([], 0.99) == 0.0
