"""The records of viewers at played tables, and their changes."""

from collections.abc import Callable, Mapping
from functools import lru_cache
from hashlib import sha256
from random import Random
from typing import TypeAlias

import grpc
import pytest
from _pytest.mark import ParameterSet

from croupier.engine.api.action_codec import encode_action
from croupier.engine.api.game_texts import rules_page
from croupier.engine.api.table_codec import encode_game
from croupier.games.facts import SPECTATOR
from croupier.games.registry import installed_games
from croupier.runtime.translations import ENGLISH
from croupier_api.v1 import actions_pb2, cards_pb2, engine_pb2
from croupier_api.v1.errors_pb2 import ErrorReason
from croupier_loadtest.judge.streams import MAX_RESUMED_ENTRIES
from croupier_loadtest.judge.verdict import judge
from croupier_loadtest.judge.violations import Invariant
from croupier_loadtest.players.described_games import described_game
from croupier_loadtest.record import (
    Answered,
    DescribedGame,
    Opened,
    Received,
    SeatRecord,
    Sent,
    SentRequest,
    TableRecord,
    Viewed,
)
from tests.loadtest.judge.played import CLOCK_OFFSET, TABLE, PlayedTable

Falsify: TypeAlias = Callable[[TableRecord, PlayedTable], object]
"""Falsifies the record of a table in one way."""
Cases: TypeAlias = Mapping[Invariant, Mapping[str, Falsify]]
"""By the invariant to be found, the falsifications by name."""
SEAT = 2
"""The seat of the player whose record most falsifications change."""
ANSWER_AFTER = 3
RECEIVED_AFTER = 5
DELAY_SECONDS = 30


def parameters(*cases: Cases) -> list[ParameterSet]:
    """Return the invariant and the falsification of each case, as parameters of a test."""
    return [
        pytest.param(invariant, falsify, id=name)
        for each in cases
        for invariant, ways in each.items()
        for name, falsify in ways.items()
    ]


def found(record: TableRecord) -> set[Invariant]:
    """Return the invariants that the judge finds violated in a record."""
    return {violation.invariant for violation in judge(record).violations}


def record_of(table: PlayedTable, viewers: tuple[int, ...] | None = None) -> TableRecord:
    """Return the record of all people at a table, or of these viewers, without lost streams."""
    config = table.config
    described = described_by_the_engine(config.game)
    record = TableRecord(TABLE, config.game, config.seat_count, sha256(config.seed).hexdigest(), described)
    record.viewers = [seat_record(table, viewer) for viewer in (table.people if viewers is None else viewers)]
    if table.last.after.is_over:
        record.is_finished = True
        record.replays = [table.replay]
        record.sheet = table.sheet.SerializeToString()
    return record


@lru_cache
def described_by_the_engine(game: str) -> DescribedGame:
    """Return what players know of a game by the contract."""
    rules = installed_games()[game]
    return described_game(encode_game(rules), rules_page(rules, ENGLISH).markdown)


def stored_record(table: PlayedTable) -> TableRecord:
    """Return the same record with the rows of the databases."""
    record = record_of(table)
    record.stored, record.outages = table.stored, tuple(table.outages)
    record.max_entries = table.max_entries
    record.ledger = table.ledger if table.last.after.is_over else None
    return record


def seat_record(
    table: PlayedTable, viewer: int, begins_at: int = 1, drops: dict[int, int | None] | None = None
) -> SeatRecord:
    """Return the record of one viewer from a sequence on; `drops` has the sequences after which the stream is lost.

    The next stream resumes after the given sequence, or for None begins with a snapshot.
    """
    is_seated = viewer != SPECTATOR
    one = SeatRecord(f"player-{viewer}" if is_seated else "spectator", viewer if is_seated else None)
    one.client_seed = table.config.client_seeds[viewer] if is_seated else b""
    _open(one, table, viewer, begins_at, None)
    for sequence in range(begins_at, len(table.transitions) + 1):
        if sequence > begins_at:
            receive(one, table, sequence, table.event(viewer, sequence))
        if drops and sequence in drops:
            _open(one, table, viewer, sequence, drops[sequence])
    for accepted in table.accepted:
        if accepted.seat == viewer:
            at = accepted.at + CLOCK_OFFSET
            action = encode_action(accepted.action).SerializeToString()
            one.sent.append(Sent(at - 1, accepted.request_id, action, accepted.expected_sequence))
            one.answered.append(Answered(at + ANSWER_AFTER, accepted.request_id, accepted.sequence))
    for request in (it for it in table.requested if it.seat == viewer):
        at = request.at + CLOCK_OFFSET
        one.sent_requests.append(SentRequest(at - 1, request.request_id, request.body))
        one.answered.append(Answered(at + ANSWER_AFTER, request.request_id, request.sequence))
    return one


def add_delayed_spectator(
    record: TableRecord, table: PlayedTable, begins_at: int = 5, drops: dict[int, int | None] | None = None
) -> SeatRecord:
    """Give the table of a record a watch delay and a spectator, whose record is returned; see `seat_record`."""
    one, later = seat_record(table, SPECTATOR, begins_at, drops), DELAY_SECONDS * 1000
    one.opened = [opened._replace(at_milliseconds=opened.at_milliseconds + later) for opened in one.opened]
    delay(one, later)
    record.viewers.append(one)
    for viewer in record.viewers:
        change_message(
            viewer, 0, lambda event: setattr(event.snapshot.table.access.watch_delay, "seconds", DELAY_SECONDS)
        )
    return one


def _open(record: SeatRecord, table: PlayedTable, viewer: int, sequence: int, after: int | None) -> None:
    """Open a stream at a sequence, with a snapshot or with the missed entries."""
    record.opened.append(Opened(received_at(table, sequence), after))
    if after is None or sequence - after > MAX_RESUMED_ENTRIES:
        receive(record, table, sequence, engine_pb2.TableEvent(snapshot=table.snapshot(viewer, sequence)))
        return
    if after == sequence:
        receive(record, table, sequence, table.turn_state(viewer, sequence))
    for again in range(after + 1, sequence):
        receive(record, table, sequence, table.event(viewer, again, is_missed=True))
    if after < sequence:
        receive(record, table, sequence, table.event(viewer, sequence))


def receive(viewer: SeatRecord, table: PlayedTable, sequence: int, event: engine_pb2.TableEvent) -> None:
    """Receive an event when an entry is stored."""
    body = engine_pb2.PlayTableResponse(table_event=event).SerializeToString()
    viewer.received.append(Received(received_at(table, sequence), len(viewer.opened) - 1, body))


def received_at(table: PlayedTable, sequence: int) -> int:
    return table.transitions[max(0, sequence - 1)].entry.at + CLOCK_OFFSET + RECEIVED_AFTER


def add_views(viewer: SeatRecord, table: PlayedTable, step: int) -> None:
    """Add answers of GetView at every `step` entries."""
    for sequence in range(1, len(table.transitions) + 1, step):
        snapshot = table.snapshot(SPECTATOR if viewer.seat is None else viewer.seat, sequence).SerializeToString()
        viewer.viewed.append(Viewed(received_at(table, sequence), snapshot))


def refused(request_id: str, at: int, code: grpc.StatusCode, reason: str, rule: str = "") -> Answered:
    """Return a refusal with a message that names no card."""
    number: int = code.value[0]
    return Answered(at, request_id, None, number, reason_of(reason), rule, "this cannot be done")


def reason_of(name: str) -> ErrorReason.ValueType:
    """Return the reason of a name without prefix."""
    return ErrorReason.Value(f"ERROR_REASON_{name}")


def unreliable_record(table: PlayedTable, seed: int) -> TableRecord:
    """Return the record of some players and two spectators, who join late, lose streams and resume them."""
    random, last, seats = Random(f"unreliable {seed}"), len(table.transitions), table.people
    record = record_of(table, ())
    for viewer in (*random.sample(seats, random.randint(1, len(seats))), SPECTATOR, SPECTATOR):
        begins_at = random.randint(1, last) if viewer == SPECTATOR else 1
        drops: dict[int, int | None] = {}
        for sequence in range(begins_at, last):
            if random.random() < 0.1:
                drops[sequence] = random.choice((None, sequence, random.randint(begins_at, sequence)))
        record.viewers.append(seat_record(table, viewer, begins_at, drops))
        add_views(record.viewers[-1], table, 5)
    return record


# Changes of records


def change_message(viewer: SeatRecord, index: int, change: Callable[[engine_pb2.TableEvent], object]) -> None:
    """Change the event of a received message."""
    message = engine_pb2.PlayTableResponse.FromString(viewer.received[index].body)
    change(message.table_event)
    viewer.received[index] = viewer.received[index]._replace(body=message.SerializeToString())


def delay(viewer: SeatRecord, milliseconds: int, since: int = 0) -> None:
    """Let a viewer receive all messages from an index on so much later."""
    viewer.received[since:] = [
        received._replace(at_milliseconds=received.at_milliseconds + milliseconds)
        for received in viewer.received[since:]
    ]


def falsify_message(
    change: Callable[[engine_pb2.TableEvent, PlayedTable], object], index: int, *, to_all: bool = False
) -> Falsify:
    """Change a message to one viewer, or to all."""

    def falsify(record: TableRecord, table: PlayedTable) -> None:
        for one in record.viewers if to_all else record.viewers[SEAT : SEAT + 1]:
            change_message(one, index, lambda event: change(event, table))

    return falsify


def play(card: int) -> actions_pb2.Action:
    return actions_pb2.Action(play=actions_pb2.PlayAction(card=cards_pb2.Card.ValueType(card)))
