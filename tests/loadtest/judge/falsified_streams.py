"""Records in which viewers received something else than they should."""

from collections.abc import Callable

import grpc

from croupier.games.facts import SPECTATOR
from croupier_api.v1 import cards_pb2, engine_pb2, table_pb2
from croupier_client import card_text
from croupier_client.cards import CardValue
from loadtest.judge.violations import Invariant
from loadtest.record import Heard, Noted, Opened, TableRecord, Viewed
from tests.loadtest.judge.played import Cases, Falsify, Played, heard_at, hears, hears_instead, refused, seat_record

SEAT = 2
MIDDLE = 30
"""A message that tells of an entry, of the number above."""
SEQUENCE = MIDDLE + 1
Message = engine_pb2.PlayResponse


def told(change: Callable[[Message, Played], object], index: int = MIDDLE, *, to_all: bool = False) -> Falsify:
    """One viewer receives another message than he should, or all do."""

    def falsify(record: TableRecord, table: Played) -> None:
        for one in record.viewers if to_all else record.viewers[SEAT : SEAT + 1]:
            hears_instead(one, index, lambda message: change(message, table))

    return falsify


def heard(change: Callable[[list[Heard]], object]) -> Falsify:
    """One viewer receives other messages."""
    return lambda record, _: change(record.viewers[SEAT].heard)


def beat(ahead: int) -> Falsify:
    """A heartbeat names another sequence than the last."""

    def falsify(record: TableRecord, table: Played) -> None:
        sequence = len(table.steps) + ahead
        hears(record.viewers[SEAT], table, 1, Message(heartbeat=engine_pb2.Heartbeat(sequence=sequence)))

    return falsify


def viewed(change: Callable[[engine_pb2.Snapshot, Played], object]) -> Falsify:
    """GetView shows something else than the stream."""

    def falsify(record: TableRecord, table: Played) -> None:
        snapshot = table.snapshot(SEAT, SEQUENCE)
        change(snapshot, table)
        record.viewers[SEAT].viewed.append(Viewed(heard_at(table, SEQUENCE), snapshot.SerializeToString()))

    return falsify


def hidden_card(table: Played, sequence: int = SEQUENCE) -> CardValue:
    """A card that another seat holds since the deal, and that nobody has seen."""
    own = set(table.snapshot(SEAT, 1).view.seats[SEAT].cards)
    messages = [table.message(SEAT, one) for one in range(1, sequence + 1)]
    shown = {card for one in messages for fact in one.update.facts for card in fact.cards_moved.cards}
    return next(card for card in cards_pb2.Card.values()[1:53] if card not in own | shown)


def moved_to(target: table_pb2.Place) -> Falsify:
    """A viewer is told which hidden card came to a place."""
    return told(
        lambda message, table: message.update.facts.add(
            cards_moved=table_pb2.CardsMoved(target=target, cards=[hidden_card(table)], count=1)
        )
    )


def counted(reason: table_pb2.MoveReason.ValueType) -> Falsify:
    """One viewer is told of a card more that came to a hand face down."""
    moved = table_pb2.CardsMoved(target=table_pb2.Place(hand=SEAT + 1), count=1, reason=reason)
    return told(lambda message, _: message.update.facts.add(cards_moved=moved))


def send_a_second_snapshot(record: TableRecord, table: Played) -> None:
    one = record.viewers[SEAT]
    snapshot = Message(snapshot=table.snapshot(SEAT, MIDDLE))
    one.heard.insert(MIDDLE, one.heard[MIDDLE]._replace(body=snapshot.SerializeToString()))


def skip_when_resumed(record: TableRecord, table: Played) -> None:
    record.viewers[SEAT] = seat_record(table, SEAT, drops={MIDDLE: MIDDLE - 3})
    stream = [one.stream for one in record.viewers[SEAT].heard].index(1)
    del record.viewers[SEAT].heard[stream]


def open_with_an_older_snapshot(record: TableRecord, table: Played) -> None:
    one = record.viewers[SEAT]
    one.opened.append(Opened(heard_at(table, len(table.steps)) + 60_000, None))
    one.heard.append(one.heard[0]._replace(at_milliseconds=one.opened[-1].at_milliseconds, stream=1))


def tell_a_spectator(record: TableRecord, table: Played) -> None:
    record.viewers[SEAT] = seat_record(table, SPECTATOR)
    moved_to(table_pb2.Place(hand=0))(record, table)


def name_a_card_in_a_refusal(record: TableRecord, table: Played) -> None:
    one = record.viewers[SEAT]
    text = f"seat 3 holds {card_text(hidden_card(table, 5))}"
    answer = refused(one.sent[0].request_id, one.sent[0].at_milliseconds, grpc.StatusCode.UNAVAILABLE, "DRAINING")
    one.answered.append(answer._replace(message=text))


def tell_again_otherwise(record: TableRecord, table: Played) -> None:
    record.viewers[SEAT] = seat_record(table, SEAT, drops={MIDDLE + 5: MIDDLE - 5})
    told(lambda message, _: setattr(message.update.facts.add().turn_changed, "phase", "play"))(record, table)


def show_the_seed(told: engine_pb2.TableUpdate | engine_pb2.Snapshot, table: Played) -> None:
    told.revealed_seed = table.config.seed.hex()


def _later(message: Message, _: Played) -> None:
    message.update.clock.deadline_milliseconds += 5


STREAMS: Cases = {
    Invariant.SEQUENCE_GAP: {
        "leave_out": heard(lambda messages: messages.pop(MIDDLE)),
        "heartbeat_ahead": beat(1),
        "begin_without_a_snapshot": heard(lambda messages: messages.pop(0)),
        "skip_when_resumed": skip_when_resumed,
    },
    Invariant.SEQUENCE_REPEAT: {
        "heartbeat_behind": beat(-1),
        "send_a_second_snapshot": send_a_second_snapshot,
        "say_twice": heard(lambda messages: messages.insert(MIDDLE, messages[MIDDLE])),
        "go_back_to_a_snapshot": heard(lambda messages: messages.insert(MIDDLE, messages[0])),
        "open_with_an_older_snapshot": open_with_an_older_snapshot,
    },
    Invariant.HIDDEN_CARD_SEEN: {
        "tell_a_deal": moved_to(table_pb2.Place(hand=SEAT + 1)),
        "tell_the_stock": moved_to(table_pb2.Place(pile="stock")),
        "tell_a_spectator": tell_a_spectator,
        "open_a_hand": told(
            lambda message, table: message.update.facts.add(hand_revealed={"seat": 3, "cards": [hidden_card(table)]})
        ),
        "offer_a_foreign_card": told(
            lambda message, table: message.legal_actions.actions.add(play={"card": hidden_card(table)})
        ),
        "show_a_hand_in_a_snapshot": told(
            lambda message, table: message.snapshot.view.seats[3].cards.append(hidden_card(table, 1)), 0
        ),
        "show_a_hand_in_get_view": viewed(
            lambda snapshot, table: snapshot.view.seats[3].cards.append(hidden_card(table))
        ),
        "write_a_card_down": told(
            lambda message, table: message.update.facts.add(
                marked={"mark": {"name": "hint", "value": f"it is {card_text(hidden_card(table))}"}}
            )
        ),
        "name_a_card_in_a_refusal": name_a_card_in_a_refusal,
    },
    Invariant.SEED_SHOWN_EARLY: {
        "show_the_seed": told(lambda message, table: show_the_seed(message.update, table), to_all=True),
        "show_the_seed_in_a_snapshot": told(lambda message, table: show_the_seed(message.snapshot, table), 0),
        "show_the_seed_in_get_view": viewed(lambda snapshot, table: show_the_seed(snapshot, table)),
    },
    Invariant.VIEW_DIFFERS: {
        "tell_what_does_not_fit": told(lambda message, _: message.update.facts.add(trick_taken={"seat": 99})),
        "see_another_view": viewed(lambda snapshot, _: setattr(snapshot.view.seats[0], "card_count", 99)),
        "see_another_clock": viewed(lambda snapshot, _: setattr(snapshot.clock, "deadline_milliseconds", 1)),
        "tell_again_otherwise": tell_again_otherwise,
        "hide_an_own_card": told(lambda message, _: message.snapshot.view.seats[SEAT].cards.pop(0), 0),
        "miscount_a_pile": told(
            lambda message, _: message.snapshot.view.piles.add(name="waste", count=2), 0, to_all=True
        ),
        "count_the_clock_wrongly": told(_later, to_all=True),
    },
    Invariant.PUBLIC_FACTS_DIFFER: {
        "tell_one_another_phase": told(lambda message, _: message.update.facts.add(turn_changed={"phase": "nap"})),
        "tell_one_another_time": told(lambda message, _: setattr(message.update, "at_milliseconds", 1)),
        "tell_one_another_seat": told(lambda message, _: setattr(message.update, "acted_by", engine_pb2.ACTED_BY_BOT)),
        "count_another_deal_for_one": counted(table_pb2.MOVE_REASON_DEAL),
        "count_another_draw_for_one": counted(table_pb2.MOVE_REASON_DRAW),
        "count_another_penalty_for_one": counted(table_pb2.MOVE_REASON_PENALTY),
        "promise_one_another_seed": told(
            lambda message, _: setattr(message.snapshot.table, "commitment", "00" * 32), 0
        ),
    },
    Invariant.STREAM_SILENT: {
        "note_what_a_player_saw": lambda record, _: record.viewers[SEAT].noted.append(
            Noted(Invariant.STREAM_SILENT, 7, "nothing came")
        ),
    },
}
NEED_A_REPLAY = ("hide_an_own_card", "miscount_a_pile")
"""What is only found by the rules."""
