"""Records in which viewers received wrong messages."""

from collections.abc import Callable
from functools import partial

import grpc

from croupier.games.facts import SPECTATOR
from croupier_api.v1 import cards_pb2, engine_pb2, facts_pb2, tables_pb2
from croupier_client import card_text
from croupier_client.cards import CardValue
from croupier_loadtest.judge.timeouts import MAX_PAUSE_MILLISECONDS
from croupier_loadtest.judge.violations import Invariant
from croupier_loadtest.record import Opened, Received, ReportedViolation, TableRecord, Viewed
from tests.loadtest.judge.played import PlayedTable
from tests.loadtest.judge.viewer_records import (
    SEAT,
    Cases,
    Falsify,
    add_delayed_spectator,
    change_message,
    delay,
    falsify_message,
    receive,
    received_at,
    refused,
    seat_record,
)

MIDDLE = 30
"""The index of a message with an entry."""
SEQUENCE = MIDDLE + 1
Event = engine_pb2.TableEvent


def change_entry(change: Callable[[Event, PlayedTable], object], *, to_all: bool = False) -> Falsify:
    """Change an entry in the middle of the log."""
    return falsify_message(change, MIDDLE, to_all=to_all)


def change_received(change: Callable[[list[Received]], object]) -> Falsify:
    """Change the list of messages to one viewer."""
    return lambda record, _: change(record.viewers[SEAT].received)


def change_resumed(change: Callable[[Event, PlayedTable], object]) -> Falsify:
    """Change the first message of a stream that resumes with nothing missed."""

    def falsify(record: TableRecord, table: PlayedTable) -> None:
        viewer = record.viewers[SEAT] = seat_record(table, SEAT, drops={MIDDLE: MIDDLE})
        index = [received.stream for received in viewer.received].index(1)
        change_message(viewer, index, lambda event: change(event, table))

    return falsify


def send_a_heartbeat(record: TableRecord, table: PlayedTable, offset: int) -> None:
    sequence = len(table.transitions) + offset
    receive(record.viewers[SEAT], table, 1, Event(heartbeat=engine_pb2.Heartbeat(sequence=sequence)))


def add_view(change: Callable[[engine_pb2.Snapshot, PlayedTable], object]) -> Falsify:
    """Change an answer of GetView."""

    def falsify(record: TableRecord, table: PlayedTable) -> None:
        snapshot = table.snapshot(SEAT, SEQUENCE)
        change(snapshot, table)
        record.viewers[SEAT].viewed.append(Viewed(received_at(table, SEQUENCE), snapshot.SerializeToString()))

    return falsify


def hidden_card(table: PlayedTable, sequence: int = SEQUENCE) -> CardValue:
    """Return a card that another seat holds since the deal, and that no other viewer has seen."""
    own = set(table.snapshot(SEAT, 1).view.seats[SEAT].cards)
    messages = [table.event(SEAT, one) for one in range(1, sequence + 1)]
    shown = {card for one in messages for fact in one.update.facts for card in fact.cards_moved.cards}
    return next(card for card in cards_pb2.Card.values()[1:53] if card not in own | shown)


def reveal_moved_card(target: facts_pb2.Place) -> Falsify:
    """Show a viewer a hidden card that was moved to a place."""
    return change_entry(
        lambda message, table: message.update.facts.add(
            cards_moved=facts_pb2.CardsMoved(target=target, cards=[hidden_card(table)], count=1)
        )
    )


def count_additional_card(reason: facts_pb2.MoveReason.ValueType) -> Falsify:
    """Show one viewer an additional card that was moved to a hand face down."""
    moved = facts_pb2.CardsMoved(target=facts_pb2.Place(hand=SEAT + 1), count=1, reason=reason)
    return change_entry(lambda message, _: message.update.facts.add(cards_moved=moved))


def act_late(record: TableRecord, _: PlayedTable) -> None:
    """Let nobody act for long, though all players always act soon."""

    def store_late(event: Event) -> None:
        event.update.stored_unix_ms += MAX_PAUSE_MILLISECONDS

    for viewer in record.viewers:
        viewer.thinks_milliseconds = 1_000
        viewer.sent, viewer.answered = [], []
        delay(viewer, MAX_PAUSE_MILLISECONDS, MIDDLE)
        for index in range(MIDDLE, len(viewer.received)):
            change_message(viewer, index, store_late)


def forget_known_cards(snapshot: engine_pb2.Snapshot, _: PlayedTable) -> None:
    for seat in snapshot.view.seats:
        seat.ClearField("known_cards")


def send_a_second_snapshot(record: TableRecord, table: PlayedTable) -> None:
    viewer = record.viewers[SEAT]
    snapshot = Event(snapshot=table.snapshot(SEAT, MIDDLE))
    viewer.received.insert(
        MIDDLE,
        viewer.received[MIDDLE]._replace(body=engine_pb2.PlayTableResponse(table_event=snapshot).SerializeToString()),
    )


def skip_when_resumed(record: TableRecord, table: PlayedTable) -> None:
    record.viewers[SEAT] = seat_record(table, SEAT, drops={MIDDLE: MIDDLE - 3})
    stream = [one.stream for one in record.viewers[SEAT].received].index(1)
    del record.viewers[SEAT].received[stream]


def resume_with_a_snapshot(record: TableRecord, table: PlayedTable) -> None:
    """Replace three missed entries by a snapshot."""
    viewer = record.viewers[SEAT] = seat_record(table, SEAT, drops={MIDDLE: MIDDLE - 3})
    first = [one.stream for one in viewer.received].index(1)
    del viewer.received[first + 1 : first + 3]
    change_message(viewer, first, lambda event: event.snapshot.CopyFrom(table.snapshot(SEAT, MIDDLE)))


def open_with_an_older_snapshot(record: TableRecord, table: PlayedTable) -> None:
    viewer = record.viewers[SEAT]
    viewer.opened.append(Opened(received_at(table, len(table.transitions)) + 60_000, None))
    viewer.received.append(viewer.received[0]._replace(at_milliseconds=viewer.opened[-1].at_milliseconds, stream=1))


def show_a_spectator(record: TableRecord, table: PlayedTable) -> None:
    record.viewers[SEAT] = seat_record(table, SPECTATOR)
    reveal_moved_card(facts_pb2.Place(hand=0))(record, table)


def show_before_the_watch_delay(record: TableRecord, table: PlayedTable, index: int = MIDDLE) -> None:
    viewer = add_delayed_spectator(record, table)
    early = viewer.received[index]
    viewer.received[index] = early._replace(at_milliseconds=early.at_milliseconds - 1_000)


def show_in_get_view_before_the_watch_delay(record: TableRecord, table: PlayedTable) -> None:
    viewer = add_delayed_spectator(record, table)
    snapshot = table.snapshot(SPECTATOR, MIDDLE).SerializeToString()
    viewer.viewed.append(Viewed(viewer.received[MIDDLE - 5].at_milliseconds - 1_000, snapshot))


def name_a_card_in_a_refusal(record: TableRecord, table: PlayedTable) -> None:
    viewer = record.viewers[SEAT]
    text = f"seat 3 holds {card_text(hidden_card(table, 5))}"
    answer = refused(
        viewer.sent[0].request_id, viewer.sent[0].at_milliseconds, grpc.StatusCode.UNAVAILABLE, "SERVER_STOPPING"
    )
    viewer.answered.append(answer._replace(message=text))


def repeat_with_changes(record: TableRecord, table: PlayedTable) -> None:
    record.viewers[SEAT] = seat_record(table, SEAT, drops={MIDDLE + 5: MIDDLE - 5})
    change_entry(lambda message, _: setattr(message.update.facts.add().turn_changed, "phase", "play"))(record, table)


def send_the_turn_again(record: TableRecord, table: PlayedTable) -> None:
    receive(record.viewers[SEAT], table, 1, table.turn_state(SEAT, len(table.transitions)))


def begin_with_a_heartbeat(event: Event, _: PlayedTable) -> None:
    event.CopyFrom(Event(heartbeat=engine_pb2.Heartbeat(sequence=event.turn_state.sequence)))


def offer_nothing(record: TableRecord, table: PlayedTable) -> None:
    """Leave an update without legal actions, though the seat takes a while to act."""
    times = [made.entry.at for made in table.transitions]
    index = next(
        index
        for index in range(1, len(times) - 1)
        if table.event(SEAT, index + 1).update.HasField("legal_actions") and times[index + 1] > times[index] + 300
    )
    change_message(record.viewers[SEAT], index, lambda event: event.update.ClearField("legal_actions"))


def show_the_seed(message: engine_pb2.TableUpdate | engine_pb2.Snapshot, table: PlayedTable) -> None:
    message.revealed_seed = table.config.seed.hex()


def _later(message: Event, _: PlayedTable) -> None:
    message.update.clock.deadline_unix_ms += 5


def show_presences(*presences: engine_pb2.Presence, viewer: int = SEAT) -> Falsify:
    """Let a viewer receive presences in the middle of the log."""

    def falsify(record: TableRecord, table: PlayedTable) -> None:
        if viewer == SPECTATOR:
            record.viewers[SEAT] = seat_record(table, SPECTATOR)
        received = record.viewers[SEAT].received
        for presence in presences:
            body = engine_pb2.PlayTableResponse(table_event=Event(presence=presence)).SerializeToString()
            received.insert(MIDDLE, received[MIDDLE - 1]._replace(body=body))

    return falsify


def present(*seats: int, spectators: int = 0) -> engine_pb2.Presence:
    return engine_pb2.Presence(connected_seats=seats, spectator_count=spectators)


STREAMS: Cases = {
    Invariant.PRESENCE_WRONG: {
        "leave_the_viewer_out": show_presences(present(0, 1)),
        "leave_the_spectator_out": show_presences(present(0, 1), viewer=SPECTATOR),
        "connect_a_seat_that_is_not_there": show_presences(present(SEAT, 99)),
        "connect_a_seat_twice": show_presences(present(SEAT, SEAT)),
        "send_the_same_presence_again": show_presences(present(SEAT), present(SEAT)),
    },
    Invariant.SHOWN_TOO_EARLY: {
        "show_before_the_watch_delay": show_before_the_watch_delay,
        "show_a_snapshot_before_the_watch_delay": partial(show_before_the_watch_delay, index=0),
        "show_in_get_view_before_the_watch_delay": show_in_get_view_before_the_watch_delay,
    },
    Invariant.SEQUENCE_GAP: {
        "omit": change_received(lambda messages: messages.pop(MIDDLE)),
        "heartbeat_ahead": partial(send_a_heartbeat, offset=1),
        "begin_without_a_snapshot": change_received(lambda messages: messages.pop(0)),
        "skip_when_resumed": skip_when_resumed,
        "resume_with_a_snapshot": resume_with_a_snapshot,
        "skip_in_a_turn_state": change_resumed(lambda event, _: setattr(event.turn_state, "sequence", SEQUENCE)),
        "resume_with_a_heartbeat": change_resumed(begin_with_a_heartbeat),
    },
    Invariant.SEQUENCE_REPEAT: {
        "heartbeat_behind": partial(send_a_heartbeat, offset=-1),
        "send_a_second_snapshot": send_a_second_snapshot,
        "send_twice": change_received(lambda messages: messages.insert(MIDDLE, messages[MIDDLE])),
        "go_back_to_a_snapshot": change_received(lambda messages: messages.insert(MIDDLE, messages[0])),
        "open_with_an_older_snapshot": open_with_an_older_snapshot,
        "send_the_turn_again": send_the_turn_again,
    },
    Invariant.HIDDEN_CARD_SEEN: {
        "show_a_deal": reveal_moved_card(facts_pb2.Place(hand=SEAT + 1)),
        "show_the_stock": reveal_moved_card(facts_pb2.Place(pile="stock")),
        "show_a_spectator": show_a_spectator,
        "open_a_hand": change_entry(
            lambda message, table: message.update.facts.add(hand_revealed={"seat": 3, "cards": [hidden_card(table)]})
        ),
        "offer_a_foreign_card": change_entry(
            lambda message, table: message.update.legal_actions.actions.add(play={"card": hidden_card(table)})
        ),
        "show_a_hand_in_a_snapshot": falsify_message(
            lambda message, table: message.snapshot.view.seats[3].cards.append(hidden_card(table, 1)), 0
        ),
        "know_a_hidden_card_in_a_snapshot": falsify_message(
            lambda message, table: message.snapshot.view.seats[3].known_cards.append(hidden_card(table, 1)), 0
        ),
        "know_a_hidden_card_in_get_view": add_view(
            lambda snapshot, table: snapshot.view.seats[3].known_cards.append(hidden_card(table))
        ),
        "show_a_hand_in_get_view": add_view(
            lambda snapshot, table: snapshot.view.seats[3].cards.append(hidden_card(table))
        ),
        "write_a_card_down": change_entry(
            lambda message, table: message.update.facts.add(
                mark_changed={"mark": {"name": "hint", "value": {"word": f"it is {card_text(hidden_card(table))}"}}}
            )
        ),
        "name_a_card_in_a_refusal": name_a_card_in_a_refusal,
        "offer_a_foreign_card_when_resumed": change_resumed(
            lambda event, table: event.turn_state.legal_actions.actions.add(play={"card": hidden_card(table)})
        ),
    },
    Invariant.SEED_SHOWN_EARLY: {
        "show_the_seed": change_entry(lambda message, table: show_the_seed(message.update, table), to_all=True),
        "show_the_seed_in_a_snapshot": falsify_message(
            lambda message, table: show_the_seed(message.snapshot, table), 0
        ),
        "show_the_seed_in_get_view": add_view(lambda snapshot, table: show_the_seed(snapshot, table)),
    },
    Invariant.VIEW_DIFFERS: {
        "send_an_impossible_fact": change_entry(lambda message, _: message.update.facts.add(trick_taken={"seat": 99})),
        "see_another_view": add_view(lambda snapshot, _: setattr(snapshot.view.seats[0], "card_count", 99)),
        "forget_known_cards": add_view(forget_known_cards),
        "see_another_clock": add_view(lambda snapshot, _: setattr(snapshot.clock, "deadline_unix_ms", 1)),
        "repeat_with_changes": repeat_with_changes,
        "hide_an_own_card": falsify_message(lambda message, _: message.snapshot.view.seats[SEAT].cards.pop(0), 0),
        "miscount_a_pile": falsify_message(
            lambda message, _: message.snapshot.view.piles.add(name="waste", count=2), 0, to_all=True
        ),
        "send_an_unknown_fact": change_entry(lambda message, _: message.update.facts.add()),
        "finish_a_table_early": falsify_message(
            lambda message, _: setattr(message.snapshot.table, "state", tables_pb2.TABLE_STATE_FINISHED), 0
        ),
        "resume_with_another_clock": change_resumed(lambda event, _: event.turn_state.clock.reserve_ms.append(1)),
        "resume_with_a_proposal": change_resumed(lambda event, _: setattr(event.turn_state.proposal, "sequence", 7)),
        "count_the_clock_wrongly": change_entry(_later, to_all=True),
    },
    Invariant.PUBLIC_FACTS_DIFFER: {
        "send_one_another_phase": change_entry(
            lambda message, _: message.update.facts.add(turn_changed={"phase": "nap"})
        ),
        "send_one_another_time": change_entry(lambda message, _: setattr(message.update, "stored_unix_ms", 1)),
        "send_one_another_seat": change_entry(
            lambda message, _: setattr(message.update, "acted_by", engine_pb2.ACTED_BY_BOT)
        ),
        "count_another_deal_for_one": count_additional_card(facts_pb2.MOVE_REASON_DEAL),
        "count_another_draw_for_one": count_additional_card(facts_pb2.MOVE_REASON_DRAW),
        "count_another_penalty_for_one": count_additional_card(facts_pb2.MOVE_REASON_PENALTY),
        "promise_one_another_seed": falsify_message(
            lambda message, _: setattr(message.snapshot.table, "seed_commitment", "00" * 32), 0
        ),
    },
    Invariant.RULES_BROKEN: {"offer_nothing": offer_nothing},
    Invariant.TABLE_PAUSED: {"act_late": act_late},
    Invariant.STREAM_SILENT: {
        "report_a_violation": lambda record, _: record.viewers[SEAT].reported.append(
            ReportedViolation(Invariant.STREAM_SILENT, 7, "nothing came")
        ),
    },
}
NEED_A_REPLAY = ("hide_an_own_card", "miscount_a_pile")
"""Falsifications that only the rules find."""
