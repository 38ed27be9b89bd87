"""Records with wrong answers, times, deals, replays, rules and results."""

import json
from collections.abc import Callable
from typing import Any

from grpc import StatusCode

from croupier_api.v1 import actions_pb2, engine_pb2, scoring_pb2
from croupier_api.v1.engine_pb2 import TableEvent as Event
from croupier_loadtest.judge.violations import Invariant
from croupier_loadtest.record import Answered, Expected, SeatRecord, Sent, TableRecord, Viewed
from tests.loadtest.judge.played import AcceptedAction, PlayedTable
from tests.loadtest.judge.viewer_records import (
    SEAT,
    Cases,
    Falsify,
    change_message,
    falsify_message,
    play,
    reason_of,
    receive,
    received_at,
    refused,
)

ILLEGAL = Expected("illegal card", StatusCode.FAILED_PRECONDITION.value[0], reason_of("ILLEGAL_ACTION"))
STALE = Expected("stale", StatusCode.ABORTED.value[0], reason_of("STALE_SEQUENCE"))
RULE = "THU-PLAY-3"


def own(table: PlayedTable, number: int = 5) -> AcceptedAction:
    """Return an accepted action of the seat, some way into the game, when it alone was to act."""
    return [accepted for accepted in table.accepted if accepted.seat == SEAT and accepted.expected_sequence][number]


def sent_for(viewer: SeatRecord, accepted: AcceptedAction) -> Sent:
    return next(sent for sent in viewer.sent if sent.request_id == accepted.request_id)


def illegal_card(table: PlayedTable, sequence: int) -> int:
    """Return an illegal card of the seat's hand after an entry, or else one that it does not hold."""
    snapshot = table.snapshot(SEAT, sequence)
    legal = {action.play.card for action in snapshot.legal_actions.actions}
    held = snapshot.view.seats[SEAT].cards
    return next(card for card in (*held, *(card for card in range(1, 53) if card not in held)) if card not in legal)


def answer(reason: str, code: StatusCode = StatusCode.FAILED_PRECONDITION, rule: str = "") -> Answered:
    return refused("", 0, code, reason, rule)


def add_attempt(got: Answered, expected: Expected | None = None, **fields: Any) -> Falsify:
    """Let the player attempt the same before its action, or an illegal card if a refusal is expected."""

    def falsify(record: TableRecord, table: PlayedTable) -> None:
        viewer, accepted = record.viewers[SEAT], own(table)
        sent = sent_for(viewer, accepted)
        illegal = play(illegal_card(table, accepted.expected_sequence or 0)).SerializeToString()
        action = illegal if expected else sent.action
        attempt = sent._replace(request_id="try", at_milliseconds=sent.at_milliseconds - 2, action=action)
        viewer.sent.append(attempt._replace(expected=expected, **fields))
        viewer.answered.append(got._replace(request_id="try", at_milliseconds=sent.at_milliseconds - 1))

    return falsify


def change_sent(
    change: Callable[[PlayedTable, AcceptedAction], dict[str, Any]],
    choose: Callable[[PlayedTable], AcceptedAction] = own,
) -> Falsify:
    """Let a player have sent another action than the accepted one."""

    def falsify(record: TableRecord, table: PlayedTable) -> None:
        accepted = choose(table)
        viewer = record.viewers[accepted.seat]
        index = viewer.sent.index(sent_for(viewer, accepted))
        viewer.sent[index] = viewer.sent[index]._replace(**change(table, accepted))

    return falsify


def change_answer(record: TableRecord, accepted: AcceptedAction, **fields: Any) -> None:
    answered = next(viewer.answered for viewer in record.viewers if viewer.seat == accepted.seat)
    index = next(index for index, answer in enumerate(answered) if answer.request_id == accepted.request_id)
    answered[index] = answered[index]._replace(**fields)


def acknowledge_as(sequence: Callable[[PlayedTable], int]) -> Falsify:
    """Acknowledge the player's action as another entry."""
    return lambda record, table: change_answer(record, own(table), sequence=sequence(table))


def offer_an_illegal_action(record: TableRecord, table: PlayedTable) -> None:
    """Replace the legal actions of the seat, of which one is then accepted."""
    accepted = own(table)
    other = actions_pb2.LegalActions(actions=[play(illegal_card(table, accepted.sequence))])
    change_message(
        record.viewers[SEAT], accepted.sequence - 2, lambda message: message.update.legal_actions.CopyFrom(other)
    )
    record.replays, record.sheet = [], None


def acknowledge_twice(record: TableRecord, table: PlayedTable) -> None:
    again = Answered(received_at(table, own(table).sequence), own(table).request_id, own(table, 6).sequence)
    record.viewers[SEAT].answered.append(again)


def refuse_the_repeat(record: TableRecord, table: PlayedTable) -> None:
    viewer, accepted = record.viewers[SEAT], own(table)
    at = sent_for(viewer, accepted).at_milliseconds + 100
    viewer.sent.append(sent_for(viewer, accepted)._replace(at_milliseconds=at))
    viewer.answered.append(refused(accepted.request_id, at + 1, StatusCode.ABORTED, "STALE_SEQUENCE"))


def lose_an_acknowledged_action(record: TableRecord, table: PlayedTable) -> None:
    """Let no viewer receive an acknowledged action; all wait, and ask for views."""
    accepted = own(table)
    for viewer in record.viewers:
        del viewer.received[accepted.sequence - 1 :]
        viewer.answered = [answer for answer in viewer.answered if (answer.sequence or 0) <= accepted.sequence]
        answered = {answer.request_id for answer in viewer.answered}
        viewer.sent = [sent for sent in viewer.sent if sent.request_id in answered]
        looked_at = received_at(table, accepted.sequence) + 20_000
        viewer.viewed = [Viewed(looked_at, table.snapshot(viewer.seat or 0, accepted.sequence - 1).SerializeToString())]
    record.replays, record.sheet, record.is_finished = [], None, False


def add_an_entry_without_request(record: TableRecord, table: PlayedTable) -> None:
    viewer, name = record.viewers[SEAT], own(table).request_id
    viewer.sent = [sent for sent in viewer.sent if sent.request_id != name]
    viewer.answered = [answer for answer in viewer.answered if answer.request_id != name]


# Time


def change_all(record: TableRecord, sequence: int, **fields: Any) -> None:
    """Change the fields of an entry for all viewers."""
    for viewer in record.viewers:
        change_message(viewer, sequence - 1, lambda message: message.update.MergeFrom(engine_pb2.TableUpdate(**fields)))


def time_out_early(record: TableRecord, table: PlayedTable) -> None:
    change_all(record, own(table).sequence, acted_by=engine_pb2.ACTED_BY_TIMEOUT)


def promise_less_time(record: TableRecord, table: PlayedTable) -> None:
    """Set a deadline that is too early, at which the engine acts."""
    sequence = own(table).sequence
    at = table.transitions[sequence - 1].entry.at
    change_all(record, sequence - 1, clock=engine_pb2.TurnClock(deadline_unix_ms=at))
    time_out_early(record, table)


def wait_too_long(record: TableRecord, table: PlayedTable) -> None:
    sequence = own(table).sequence
    change_all(record, sequence, stored_unix_ms=table.transitions[sequence - 2].entry.deadline + 3_000)


def wait_beyond_the_deadline(record: TableRecord, table: PlayedTable) -> None:
    sequence = own(table).sequence
    deadline = table.transitions[sequence - 1].entry.deadline
    for viewer in record.viewers:
        del viewer.received[sequence:]
        receive(viewer, table, sequence, engine_pb2.TableEvent(heartbeat=engine_pb2.Heartbeat(sequence=sequence)))
        viewer.received[-1] = viewer.received[-1]._replace(at_milliseconds=deadline + 60_000)
    record.replays, record.sheet, record.is_finished = [], None, False


ANSWERS: Cases = {
    Invariant.LEGAL_REFUSED: {
        "refuse_with_ILLEGAL_ACTION": add_attempt(answer("ILLEGAL_ACTION", rule=RULE)),
        "refuse_with_NOT_YOUR_TURN": add_attempt(answer("NOT_YOUR_TURN", rule=RULE)),
        "refuse_with_a_former_reason": add_attempt(answer("NOT_YOUR_TURN", rule=RULE), expected_sequence=None),
        "refuse_with_STALE_SEQUENCE": add_attempt(answer("STALE_SEQUENCE", StatusCode.ABORTED)),
        "refuse_with_TABLE_FINISHED": add_attempt(answer("TABLE_FINISHED")),
    },
    Invariant.WRONG_REFUSAL: {
        "refuse_with_NOT_SEATED": add_attempt(answer("NOT_SEATED", StatusCode.PERMISSION_DENIED)),
        "refuse_with_ILLEGAL_ACTION_and_another_code": add_attempt(answer("ILLEGAL_ACTION", StatusCode.INTERNAL, RULE)),
        "refuse_an_illegal_card_with_NOT_YOUR_TURN": add_attempt(answer("NOT_YOUR_TURN", rule=RULE), ILLEGAL),
        "refuse_an_illegal_card_with_STALE_SEQUENCE": add_attempt(
            answer("STALE_SEQUENCE", StatusCode.ABORTED), ILLEGAL
        ),
        "refuse_an_illegal_card_with_another_code": add_attempt(
            answer("ILLEGAL_ACTION", StatusCode.ABORTED, RULE), ILLEGAL
        ),
    },
    Invariant.REFUSAL_WITHOUT_REASON: {
        "refuse_without_a_reason": add_attempt(answer("UNSPECIFIED", StatusCode.UNKNOWN))
    },
    Invariant.REFUSAL_WITHOUT_RULE: {
        "refuse_without_a_rule": add_attempt(answer("ILLEGAL_ACTION")),
        "refuse_by_a_rule_on_no_page": add_attempt(answer("ILLEGAL_ACTION", rule="THU-PLAY-77")),
        "refuse_an_illegal_card_without_a_rule": add_attempt(answer("ILLEGAL_ACTION"), ILLEGAL),
    },
    Invariant.ILLEGAL_ACCEPTED: {
        "accept_an_attempt": change_sent(lambda *_: {"expected": ILLEGAL, "action": play(1).SerializeToString()}),
        "accept_a_stale_action": change_sent(
            lambda _, accepted: {"expected": STALE, "expected_sequence": accepted.sequence - 2}
        ),
        "offer_an_illegal_action": offer_an_illegal_action,
    },
    Invariant.REPEAT_DIFFERS: {"acknowledge_twice": acknowledge_twice, "refuse_the_repeat": refuse_the_repeat},
    Invariant.ACKNOWLEDGED_LOST: {
        "acknowledge_an_entry_of_another": acknowledge_as(
            lambda table: next(accepted.sequence for accepted in table.accepted if accepted.seat != SEAT)
        ),
        "acknowledge_a_missing_entry": acknowledge_as(lambda table: len(table.transitions) + 5),
        "acknowledge_another_card": change_sent(
            lambda table, accepted: {"action": play(illegal_card(table, accepted.sequence)).SerializeToString()}
        ),
        "lose_an_acknowledged_action": lose_an_acknowledged_action,
    },
    Invariant.ACTION_DUPLICATED: {"add_an_entry_without_request": add_an_entry_without_request},
    Invariant.TIMEOUT_TOO_EARLY: {
        "time_out_early": time_out_early,
        "promise_less_time": promise_less_time,
    },
    Invariant.DEADLINE_MISSED: {"wait_too_long": wait_too_long, "wait_beyond_the_deadline": wait_beyond_the_deadline},
}


# Deals, replays, rules and results

OTHER_SEED = "11" * 32
Lines = list[dict[str, Any]]


def change_replay(change: Callable[[Lines], object]) -> Falsify:
    def falsify(record: TableRecord, _: PlayedTable) -> None:
        lines = [json.loads(line) for line in record.replays[0].splitlines()]
        change(lines)
        record.replays[0] = "".join(json.dumps(line) + "\n" for line in lines)

    return falsify


def change_sheet(change: Callable[[scoring_pb2.GetScoreSheetResponse], object]) -> Falsify:
    def falsify(record: TableRecord, _: PlayedTable) -> None:
        sheet = scoring_pb2.GetScoreSheetResponse.FromString(record.sheet or b"")
        change(sheet)
        record.sheet = sheet.SerializeToString()

    return falsify


def offer_less_than_is_legal(record: TableRecord, table: PlayedTable) -> None:
    offered = [table.event(SEAT, sequence).update.legal_actions.actions for sequence in range(2, 60)]
    index = next(index for index, actions in enumerate(offered, 1) if len(actions) > 1)
    change_message(record.viewers[SEAT], index, lambda message: message.update.legal_actions.actions.pop(0))


def _exchange_two_cards(lines: Lines) -> None:
    hands = lines[1]["event"]["hands"]
    hands[0][0], hands[1][0] = hands[1][0], hands[0][0]


def _played_by(lines: Lines, number: int = 0) -> dict[str, Any]:
    """Return a line with an action of the seat."""
    return [line for line in lines if line.get("seat") == SEAT][number]


def _play_a_foreign_card(lines: Lines, **fields: Any) -> None:
    action = {"type": "play", "card": lines[1]["event"]["hands"][SEAT + 1][0]}
    _played_by(lines).update(fields, action=action)


def _give_the_turn_to_another_seat(event: Event, _: PlayedTable) -> None:
    to_act = event.snapshot.view.seats_to_act
    to_act[0] ^= 1


def _change_ranking(event: Event, _: PlayedTable) -> None:
    ranking = next(fact.game_ended.ranking for fact in event.update.facts if fact.HasField("game_ended"))
    for group, seats in zip(ranking, [list(group.seats) for group in reversed(ranking)], strict=True):
        group.seats[:] = seats


def _change_scores(event: Event, _: PlayedTable) -> None:
    next(fact.round_ended.score for fact in event.update.facts if fact.HasField("round_ended")).totals[0] += 1


def _change_a_round(lines: Lines) -> None:
    next(line for line in lines if "round" in line)["scores"][0] += 1


RECORDS: Cases = {
    Invariant.DEAL_UNFAIR: {
        "commit_to_another_seed": lambda record, _: setattr(record, "commitment", OTHER_SEED),
        "commit_to_another_seed_at_the_table": falsify_message(
            lambda event, _: setattr(event.snapshot.table, "seed_commitment", OTHER_SEED), 0, to_all=True
        ),
        "write_another_commitment": change_replay(lambda lines: lines[0].update(commitment=OTHER_SEED)),
        "omit_a_client_seed": change_replay(lambda lines: lines[0]["client_seeds"].pop(str(SEAT))),
        "exchange_two_cards": change_replay(_exchange_two_cards),
        "write_another_seed": change_replay(lambda lines: lines[0].update(seed=OTHER_SEED)),
    },
    Invariant.REPLAY_DIFFERS: {
        "send_two_replays": lambda record, _: record.replays.append(record.replays[0] + "\n"),
        "write_no_json": lambda record, _: record.replays.insert(0, record.replays.pop().replace("}\n", "\n", 1)),
        "omit_an_entry": change_replay(lambda lines: lines.pop(9)),
        "write_another_time": change_replay(lambda lines: lines[9].update(at=lines[8]["at"])),
        "write_another_player": change_replay(lambda lines: lines[0]["players"][SEAT].update(player_id="another")),
        "write_another_option": change_replay(lambda lines: lines[0]["options"].update(start="draw")),
        "write_a_time_out": change_replay(lambda lines: _played_by(lines, 3).update(auto="timeout")),
        "write_nothing_at_the_end": change_replay(lambda lines: lines.pop()),
        "write_something_twice": change_replay(lambda lines: lines.insert(9, lines[9])),
        "write_nonsense": change_replay(lambda lines: lines[9].update(seat="unknown", action=[1])),
    },
    Invariant.ILLEGAL_ACCEPTED: {"play_a_foreign_card": change_replay(_play_a_foreign_card)},
    Invariant.RULES_BROKEN: {
        "let_the_engine_play_a_foreign_card": change_replay(lambda lines: _play_a_foreign_card(lines, auto="timeout")),
        "offer_less_than_is_legal": offer_less_than_is_legal,
        "give_the_turn_to_another_seat": falsify_message(_give_the_turn_to_another_seat, 0, to_all=True),
    },
    Invariant.RESULT_DIFFERS: {
        "change_the_ranking": falsify_message(_change_ranking, -1, to_all=True),
        "change_the_scores": falsify_message(_change_scores, -1, to_all=True),
        "write_another_result": change_replay(lambda lines: lines[-1]["result"]["ranking"].reverse()),
        "write_another_round": change_replay(_change_a_round),
        "enter_another_total": change_sheet(lambda sheet: sheet.result.totals.insert(0, 99)),
        "enter_a_round_twice": change_sheet(lambda sheet: sheet.rounds.append(sheet.rounds[0])),
        "enter_another_headline": change_sheet(lambda sheet: sheet.rounds[0].headline.add(word="walkover")),
        "enter_another_player": change_sheet(lambda sheet: setattr(sheet.result.seats[0], "player_id", "another")),
        "enter_another_conduct": change_sheet(lambda sheet: setattr(sheet.result.conduct[0], "timeouts", 99)),
        "enter_no_conduct": change_sheet(lambda sheet: sheet.result.ClearField("conduct")),
        "enter_another_outcome": change_sheet(lambda sheet: sheet.result.outcomes.reverse()),
        "enter_no_outcomes": change_sheet(lambda sheet: sheet.result.ClearField("outcomes")),
        "rank_a_bot": change_sheet(lambda sheet: sheet.result.ranked_seats.append(1)),
        "rank_one_player_less": change_sheet(lambda sheet: sheet.result.ranked_seats.pop()),
        "enter_another_end": change_sheet(lambda sheet: setattr(sheet.result.end_time, "seconds", 1)),
    },
}
