"""Records with answers that are wrong, actions that are lost or doubled, and time that is not kept."""

from collections.abc import Callable

from grpc import StatusCode

from croupier_api.v1 import engine_pb2
from loadtest.judge.violations import Invariant
from loadtest.record import Answered, Expected, SeatRecord, Sent, TableRecord, Viewed
from tests.loadtest.judge.played import (
    Asked,
    Falsify,
    Played,
    changed,
    heard,
    heard_at,
    hears,
    play,
    refused,
)

SEAT = 2

ILLEGAL = Expected("illegal card", StatusCode.FAILED_PRECONDITION.value[0], "ILLEGAL_ACTION", by_rule=True)
STALE = Expected("stale", StatusCode.ABORTED.value[0], "STALE_SEQUENCE")
RULE = "THU-PLAY-3"


def own(table: Played, number: int = 5) -> Asked:
    """An action of the seat, some way into the game, when it alone was to act."""
    return [asked for asked in table.asked if asked.seat == SEAT and asked.expected_sequence][number]


def sent_for(one: SeatRecord, asked: Asked) -> Sent:
    return next(sent for sent in one.sent if sent.request_id == asked.request_id)


def tries(one: SeatRecord, like: Sent, answer: Answered, expected: Expected | None = None) -> None:
    """Something else is tried, just before what the player did then."""
    name = f"try-{len(one.sent)}"
    one.sent.append(like._replace(request_id=name, at_milliseconds=like.at_milliseconds - 2, expected=expected))
    one.answered.append(answer._replace(request_id=name, at_milliseconds=like.at_milliseconds - 1))


def illegal_card(table: Played, sequence: int) -> int:
    """A card of the seat's hand that it may not play after an entry, or else one that it does not hold."""
    snapshot = table.snapshot(SEAT, sequence)
    legal = {action.play.card for action in snapshot.legal_actions.actions}
    hand = [card for card in snapshot.view.seats[SEAT].cards if card not in legal]
    return hand[0] if hand else next(card for card in range(1, 53) if card not in snapshot.view.seats[SEAT].cards)


def answer(reason: str, code: StatusCode = StatusCode.FAILED_PRECONDITION, rule: str = "") -> Answered:
    return refused("", 0, code, reason, rule)


def refusing(reason: str, code: StatusCode = StatusCode.FAILED_PRECONDITION, rule: str = "") -> Falsify:
    """What the player did is refused once before it is accepted."""

    def falsify(record: TableRecord, table: Played) -> None:
        one = record.viewers[SEAT]
        tries(one, sent_for(one, own(table)), answer(reason, code, rule))

    falsify.__name__ = f"refuse_with_{reason or code.name}_{rule or 'no_rule'}"
    return falsify


def attempted(expected: Expected, got: Answered) -> Falsify:
    """An illegal card is tried, and answered like this."""

    def falsify(record: TableRecord, table: Played) -> None:
        one, asked = record.viewers[SEAT], own(table)
        assert asked.expected_sequence is not None
        illegal = play(illegal_card(table, asked.expected_sequence)).SerializeToString()
        tries(one, sent_for(one, asked)._replace(action=illegal), got, expected)

    falsify.__name__ = f"answer_{expected.name.replace(' ', '_')}_with_{got.reason or got.code or 'an_acceptance'}"
    return falsify


def accept_an_attempt(record: TableRecord, table: Played) -> None:
    one, asked = record.viewers[SEAT], own(table)
    index = one.sent.index(sent_for(one, asked))
    one.sent[index] = one.sent[index]._replace(expected=ILLEGAL, action=play(1).SerializeToString())


def accept_what_is_stale(record: TableRecord, table: Played) -> None:
    one, asked = record.viewers[SEAT], own(table)
    index = one.sent.index(sent_for(one, asked))
    one.sent[index] = one.sent[index]._replace(expected=STALE, expected_sequence=asked.sequence - 2)


def offer_what_was_not_accepted(record: TableRecord, table: Played) -> None:
    """The seat was told that it may do something else than what is then accepted from it."""
    one, asked = record.viewers[SEAT], own(table)
    message = heard(one, asked.sequence - 2)
    del message.legal_actions.actions[:]
    message.legal_actions.actions.append(play(illegal_card(table, asked.sequence)))
    changed(one, asked.sequence - 2, message)
    record.replays, record.sheet = [], None


def acknowledge_twice(record: TableRecord, table: Played) -> None:
    one, asked = record.viewers[SEAT], own(table)
    one.answered.append(Answered(heard_at(table, asked.sequence), asked.request_id, own(table, 6).sequence))


def refuse_the_repeat(record: TableRecord, table: Played) -> None:
    one, asked = record.viewers[SEAT], own(table)
    sent = sent_for(one, asked)
    one.sent.append(sent._replace(at_milliseconds=sent.at_milliseconds + 100))
    refusal = answer("STALE_SEQUENCE", StatusCode.ABORTED)._replace(request_id=asked.request_id)
    one.answered.append(refusal._replace(at_milliseconds=sent.at_milliseconds + 101))


def acknowledge_what_is_anothers(record: TableRecord, table: Played) -> None:
    one, asked = record.viewers[SEAT], own(table)
    other = next(one for one in table.asked if one.seat != SEAT)
    index = next(i for i, one in enumerate(one.answered) if one.request_id == asked.request_id)
    one.answered[index] = one.answered[index]._replace(sequence=other.sequence)


def acknowledge_another_card(record: TableRecord, table: Played) -> None:
    one, asked = record.viewers[SEAT], own(table)
    index = one.sent.index(sent_for(one, asked))
    one.sent[index] = one.sent[index]._replace(action=play(illegal_card(table, asked.sequence)).SerializeToString())


def acknowledge_what_never_came(record: TableRecord, table: Played) -> None:
    one, asked = record.viewers[SEAT], own(table)
    index = next(i for i, one in enumerate(one.answered) if one.request_id == asked.request_id)
    one.answered[index] = one.answered[index]._replace(sequence=len(table.steps) + 5)


def acknowledge_and_forget(record: TableRecord, table: Played) -> None:
    """Nobody ever hears of an action that was acknowledged; all wait, and look at the table now and then."""
    asked = own(table)
    for one in record.viewers:
        del one.heard[asked.sequence - 1 :]
        one.answered = [answer for answer in one.answered if (answer.sequence or 0) <= asked.sequence]
        told = {answer.request_id for answer in one.answered}
        one.sent = [sent for sent in one.sent if sent.request_id in told]
        looked_at = heard_at(table, asked.sequence) + 20_000
        one.viewed = [Viewed(looked_at, table.snapshot(one.seat or 0, asked.sequence - 1).SerializeToString())]
    record.replays, record.sheet, record.is_finished = [], None, False


def enter_what_was_not_sent(record: TableRecord, table: Played) -> None:
    one, name = record.viewers[SEAT], own(table).request_id
    one.sent = [sent for sent in one.sent if sent.request_id != name]
    one.answered = [answer for answer in one.answered if answer.request_id != name]


# Time


def tell_all(record: TableRecord, sequence: int, change: Callable[[engine_pb2.TableUpdate], object]) -> None:
    for one in record.viewers:
        message = heard(one, sequence - 1)
        change(message.update)
        changed(one, sequence - 1, message)


def play_for_somebody_in_time(record: TableRecord, table: Played) -> None:
    tell_all(record, own(table).sequence, lambda update: setattr(update, "acted_by", engine_pb2.ACTED_BY_TIMEOUT))


def promise_less_time(record: TableRecord, table: Played) -> None:
    """The deadline that is told is too early, and the engine keeps to it."""
    asked = own(table)
    at = table.steps[asked.sequence - 1].entry.at
    tell_all(record, asked.sequence - 1, lambda update: setattr(update.clock, "deadline_milliseconds", at))
    play_for_somebody_in_time(record, table)


def wait_too_long(record: TableRecord, table: Played) -> None:
    sequence = own(table).sequence
    deadline = table.steps[sequence - 2].entry.deadline
    tell_all(record, sequence, lambda update: setattr(update, "at_milliseconds", deadline + 3_000))


def wait_in_vain(record: TableRecord, table: Played) -> None:
    sequence = own(table).sequence
    deadline = table.steps[sequence - 1].entry.deadline
    for one in record.viewers:
        del one.heard[sequence:]
        hears(one, table, sequence, engine_pb2.PlayResponse(heartbeat=engine_pb2.Heartbeat(sequence=sequence)))
        one.heard[-1] = one.heard[-1]._replace(at_milliseconds=deadline + 60_000)
    record.replays, record.sheet, record.is_finished = [], None, False


ANSWERS: dict[Falsify, Invariant] = {
    refusing("ILLEGAL_ACTION", rule=RULE): Invariant.LEGAL_REFUSED,
    refusing("NOT_YOUR_TURN", rule=RULE): Invariant.LEGAL_REFUSED,
    refusing("STALE_SEQUENCE", StatusCode.ABORTED): Invariant.LEGAL_REFUSED,
    refusing("TABLE_FINISHED"): Invariant.LEGAL_REFUSED,
    refusing("NOT_YOUR_TABLE", StatusCode.PERMISSION_DENIED): Invariant.WRONG_REFUSAL,
    refusing("ILLEGAL_ACTION", StatusCode.INTERNAL, RULE): Invariant.WRONG_REFUSAL,
    refusing("", StatusCode.UNKNOWN): Invariant.REFUSAL_WITHOUT_REASON,
    refusing("ILLEGAL_ACTION"): Invariant.REFUSAL_WITHOUT_RULE,
    refusing("ILLEGAL_ACTION", rule="THU-PLAY-77"): Invariant.REFUSAL_WITHOUT_RULE,
    attempted(ILLEGAL, answer("NOT_YOUR_TURN", rule=RULE)): Invariant.WRONG_REFUSAL,
    attempted(ILLEGAL, answer("STALE_SEQUENCE", StatusCode.ABORTED)): Invariant.WRONG_REFUSAL,
    attempted(ILLEGAL, answer("ILLEGAL_ACTION")): Invariant.REFUSAL_WITHOUT_RULE,
    attempted(ILLEGAL, answer("ILLEGAL_ACTION", StatusCode.ABORTED, RULE)): Invariant.WRONG_REFUSAL,
    accept_an_attempt: Invariant.ILLEGAL_ACCEPTED,
    accept_what_is_stale: Invariant.ILLEGAL_ACCEPTED,
    offer_what_was_not_accepted: Invariant.ILLEGAL_ACCEPTED,
    acknowledge_twice: Invariant.REPEAT_DIFFERS,
    refuse_the_repeat: Invariant.REPEAT_DIFFERS,
    acknowledge_what_is_anothers: Invariant.ACKNOWLEDGED_LOST,
    acknowledge_another_card: Invariant.ACKNOWLEDGED_LOST,
    acknowledge_and_forget: Invariant.ACKNOWLEDGED_LOST,
    acknowledge_what_never_came: Invariant.ACKNOWLEDGED_LOST,
    enter_what_was_not_sent: Invariant.ACTION_DOUBLED,
    play_for_somebody_in_time: Invariant.PLAYED_FOR_TOO_EARLY,
    promise_less_time: Invariant.PLAYED_FOR_TOO_EARLY,
    wait_too_long: Invariant.DEADLINE_MISSED,
    wait_in_vain: Invariant.DEADLINE_MISSED,
}
