"""Records with wrong deals, replays, rules and results."""

import json
from collections.abc import Callable
from typing import Any

from croupier_api.v1 import engine_pb2, scoring_pb2
from loadtest.judge.violations import Invariant
from loadtest.record import TableRecord
from tests.loadtest.judge.played import PlayedTable
from tests.loadtest.judge.viewer_records import SEAT, Cases, Falsify, change_message, falsify_message

OTHER_SEED = "11" * 32
Lines = list[dict[str, Any]]
Event = engine_pb2.TableEvent


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
        "enter_another_headline": change_sheet(lambda sheet: setattr(sheet.rounds[0], "headline", "a walkover")),
        "enter_another_player": change_sheet(lambda sheet: setattr(sheet.result.seats[0], "player_id", "another")),
        "enter_another_conduct": change_sheet(lambda sheet: setattr(sheet.result.conduct[0], "timeouts", 99)),
        "enter_no_conduct": change_sheet(lambda sheet: sheet.result.ClearField("conduct")),
        "rank_a_bot": change_sheet(lambda sheet: sheet.result.ranked_seats.append(1)),
        "rank_one_player_less": change_sheet(lambda sheet: sheet.result.ranked_seats.pop()),
        "enter_another_end": change_sheet(lambda sheet: setattr(sheet.result.end_time, "seconds", 1)),
    },
}
