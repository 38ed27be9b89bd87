"""Records in which viewers received something else than they should."""

from collections.abc import Callable

import grpc

from croupier.games.facts import SPECTATOR
from croupier_api.v1 import cards_pb2, engine_pb2, table_pb2
from croupier_client import card_text
from croupier_client.cards import CardValue
from loadtest.judge.violations import Invariant
from loadtest.record import Noted, Opened, TableRecord, Viewed
from tests.loadtest.judge.played import (
    Falsify,
    Played,
    changed,
    heard,
    heard_at,
    hears,
    refused,
    seat_record,
)

SEAT = 2
MIDDLE = 30
"""A message that tells of an entry, of the number above."""
SEQUENCE = MIDDLE + 1


def told(record: TableRecord, change: Callable[[engine_pb2.PlayResponse], object], viewer: int = SEAT) -> None:
    """Change what one viewer was told in the middle."""
    message = heard(record.viewers[viewer], MIDDLE)
    change(message)
    changed(record.viewers[viewer], MIDDLE, message)


def told_all(record: TableRecord, change: Callable[[engine_pb2.PlayResponse], object]) -> None:
    for viewer in range(len(record.viewers)):
        told(record, change, viewer)


def hidden_card(table: Played, sequence: int) -> CardValue:
    """A card that another seat holds since the deal, and that nobody has seen."""
    own = set(table.snapshot(SEAT, 1).view.seats[SEAT].cards)
    messages = [table.message(SEAT, one) for one in range(1, sequence + 1)]
    shown = {card for one in messages for fact in one.update.facts for card in fact.cards_moved.cards}
    return next(card for card in cards_pb2.Card.values()[1:53] if card not in own | shown)


# The order of entries


def leave_out(record: TableRecord, _: Played) -> None:
    del record.viewers[SEAT].heard[MIDDLE]


def heartbeat_ahead(record: TableRecord, table: Played) -> None:
    beat = engine_pb2.Heartbeat(sequence=len(table.steps) + 1)
    hears(record.viewers[SEAT], table, 1, engine_pb2.PlayResponse(heartbeat=beat))


def begin_without_a_snapshot(record: TableRecord, _: Played) -> None:
    del record.viewers[SEAT].heard[0]


def skip_when_resumed(record: TableRecord, table: Played) -> None:
    record.viewers[SEAT] = seat_record(table, SEAT, drops={MIDDLE: MIDDLE - 3})
    stream = [one.stream for one in record.viewers[SEAT].heard].index(1)
    del record.viewers[SEAT].heard[stream]


def say_twice(record: TableRecord, _: Played) -> None:
    messages = record.viewers[SEAT].heard
    messages.insert(MIDDLE, messages[MIDDLE])


def go_back_to_a_snapshot(record: TableRecord, table: Played) -> None:
    one = record.viewers[SEAT]
    one.heard.insert(MIDDLE, one.heard[0])


def open_with_an_older_snapshot(record: TableRecord, table: Played) -> None:
    one = record.viewers[SEAT]
    one.opened.append(Opened(heard_at(table, len(table.steps)) + 60_000, None))
    one.heard.append(one.heard[0]._replace(at_milliseconds=one.opened[-1].at_milliseconds, stream=1))


# What is hidden


def tell_a_deal(record: TableRecord, table: Played) -> None:
    moved = table_pb2.CardsMoved(target=table_pb2.Place(hand=SEAT + 1), cards=[hidden_card(table, SEQUENCE)], count=1)
    told(record, lambda message: message.update.facts.add(cards_moved=moved))


def tell_the_stock(record: TableRecord, table: Played) -> None:
    moved = table_pb2.CardsMoved(target=table_pb2.Place(pile="stock"), cards=[hidden_card(table, SEQUENCE)], count=1)
    told(record, lambda message: message.update.facts.add(cards_moved=moved))


def tell_a_spectator(record: TableRecord, table: Played) -> None:
    record.viewers[SEAT] = seat_record(table, SPECTATOR)
    moved = table_pb2.CardsMoved(target=table_pb2.Place(hand=0), cards=[hidden_card(table, SEQUENCE)], count=1)
    told(record, lambda message: message.update.facts.add(cards_moved=moved))


def open_a_hand(record: TableRecord, table: Played) -> None:
    revealed = table_pb2.HandRevealed(seat=SEAT + 1, cards=[hidden_card(table, SEQUENCE)])
    told(record, lambda message: message.update.facts.add(hand_revealed=revealed))


def offer_a_foreign_card(record: TableRecord, table: Played) -> None:
    card = hidden_card(table, SEQUENCE)
    told(record, lambda message: message.legal_actions.actions.add(play={"card": card}))


def show_a_hand_in_a_snapshot(record: TableRecord, table: Played) -> None:
    message = heard(record.viewers[SEAT], 0)
    message.snapshot.view.seats[SEAT + 1].cards.append(hidden_card(table, 1))
    changed(record.viewers[SEAT], 0, message)


def show_a_hand_in_get_view(record: TableRecord, table: Played) -> None:
    snapshot = table.snapshot(SEAT, SEQUENCE)
    snapshot.view.seats[SEAT + 1].cards.append(hidden_card(table, SEQUENCE))
    record.viewers[SEAT].viewed.append(Viewed(heard_at(table, SEQUENCE), snapshot.SerializeToString()))


def write_a_card_down(record: TableRecord, table: Played) -> None:
    text = card_text(hidden_card(table, SEQUENCE))
    told(record, lambda message: message.update.facts.add(marked={"mark": {"name": "hint", "value": f"it is {text}"}}))


def name_a_card_in_a_refusal(record: TableRecord, table: Played) -> None:
    one = record.viewers[SEAT]
    text = f"seat 3 holds {card_text(hidden_card(table, 5))}"
    answer = refused(one.sent[0].request_id, one.sent[0].at_milliseconds, grpc.StatusCode.UNAVAILABLE, "DRAINING")
    one.answered.append(answer._replace(message=text))


def show_the_seed(record: TableRecord, table: Played) -> None:
    told_all(record, lambda message: setattr(message.update, "revealed_seed", table.config.seed.hex()))


def show_the_seed_in_a_snapshot(record: TableRecord, table: Played) -> None:
    message = heard(record.viewers[SEAT], 0)
    message.snapshot.revealed_seed = table.config.seed.hex()
    changed(record.viewers[SEAT], 0, message)


# What the facts add up to


def tell_what_does_not_fit(record: TableRecord, _: Played) -> None:
    told(record, lambda message: message.update.facts.add(trick_taken={"seat": 99}))


def see_another_view(record: TableRecord, table: Played) -> None:
    snapshot = table.snapshot(SEAT, SEQUENCE)
    snapshot.view.seats[0].card_count += 1
    record.viewers[SEAT].viewed.append(Viewed(heard_at(table, SEQUENCE), snapshot.SerializeToString()))


def see_another_clock(record: TableRecord, table: Played) -> None:
    snapshot = table.snapshot(SEAT, SEQUENCE)
    snapshot.clock.deadline_milliseconds += 1
    record.viewers[SEAT].viewed.append(Viewed(heard_at(table, SEQUENCE), snapshot.SerializeToString()))


def tell_again_otherwise(record: TableRecord, table: Played) -> None:
    record.viewers[SEAT] = seat_record(table, SEAT, drops={MIDDLE + 5: MIDDLE - 5})
    told(record, lambda message: setattr(message.update.facts.add().turn_changed, "phase", "play"))


def hide_an_own_card(record: TableRecord, table: Played) -> None:
    message = heard(record.viewers[SEAT], 0)
    del message.snapshot.view.seats[SEAT].cards[0]
    changed(record.viewers[SEAT], 0, message)


def miscount_a_pile(record: TableRecord, table: Played) -> None:
    for one in record.viewers:
        message = heard(one, 0)
        message.snapshot.view.piles.add(name="waste", count=2)
        changed(one, 0, message)


def count_the_clock_wrongly(record: TableRecord, _: Played) -> None:
    def later(message: engine_pb2.PlayResponse) -> None:
        message.update.clock.deadline_milliseconds += 5

    told_all(record, later)


# What all are told alike


def tell_one_another_phase(record: TableRecord, _: Played) -> None:
    told(record, lambda message: message.update.facts.add(turn_changed={"phase": "nap"}))


def tell_one_another_time(record: TableRecord, _: Played) -> None:
    told(record, lambda message: setattr(message.update, "at_milliseconds", message.update.at_milliseconds + 1))


def tell_one_another_seat(record: TableRecord, _: Played) -> None:
    told(record, lambda message: setattr(message.update, "acted_by", engine_pb2.ACTED_BY_BOT))


def promise_one_another_seed(record: TableRecord, _: Played) -> None:
    message = heard(record.viewers[SEAT], 0)
    message.snapshot.table.commitment = "00" * 32
    changed(record.viewers[SEAT], 0, message)


def note_what_a_player_saw(record: TableRecord, _: Played) -> None:
    record.viewers[SEAT].noted.append(Noted(Invariant.STREAM_SILENT, 7, "nothing came"))


STREAMS: dict[Falsify, Invariant] = {
    leave_out: Invariant.SEQUENCE_GAP,
    heartbeat_ahead: Invariant.SEQUENCE_GAP,
    begin_without_a_snapshot: Invariant.SEQUENCE_GAP,
    skip_when_resumed: Invariant.SEQUENCE_GAP,
    say_twice: Invariant.SEQUENCE_REPEAT,
    go_back_to_a_snapshot: Invariant.SEQUENCE_REPEAT,
    open_with_an_older_snapshot: Invariant.SEQUENCE_REPEAT,
    tell_a_deal: Invariant.HIDDEN_CARD_SEEN,
    tell_the_stock: Invariant.HIDDEN_CARD_SEEN,
    tell_a_spectator: Invariant.HIDDEN_CARD_SEEN,
    open_a_hand: Invariant.HIDDEN_CARD_SEEN,
    offer_a_foreign_card: Invariant.HIDDEN_CARD_SEEN,
    show_a_hand_in_a_snapshot: Invariant.HIDDEN_CARD_SEEN,
    show_a_hand_in_get_view: Invariant.HIDDEN_CARD_SEEN,
    write_a_card_down: Invariant.HIDDEN_CARD_SEEN,
    name_a_card_in_a_refusal: Invariant.HIDDEN_CARD_SEEN,
    show_the_seed: Invariant.SEED_SHOWN_EARLY,
    show_the_seed_in_a_snapshot: Invariant.SEED_SHOWN_EARLY,
    tell_what_does_not_fit: Invariant.VIEW_DIFFERS,
    see_another_view: Invariant.VIEW_DIFFERS,
    see_another_clock: Invariant.VIEW_DIFFERS,
    tell_again_otherwise: Invariant.VIEW_DIFFERS,
    hide_an_own_card: Invariant.VIEW_DIFFERS,
    miscount_a_pile: Invariant.VIEW_DIFFERS,
    count_the_clock_wrongly: Invariant.VIEW_DIFFERS,
    tell_one_another_phase: Invariant.PUBLIC_FACTS_DIFFER,
    tell_one_another_time: Invariant.PUBLIC_FACTS_DIFFER,
    tell_one_another_seat: Invariant.PUBLIC_FACTS_DIFFER,
    promise_one_another_seed: Invariant.PUBLIC_FACTS_DIFFER,
    note_what_a_player_saw: Invariant.STREAM_SILENT,
}
NEED_A_REPLAY = frozenset({hide_an_own_card, miscount_a_pile})
"""What is only found by the rules."""
