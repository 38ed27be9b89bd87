"""Records with deals, replays, rules and results that are not true."""

import json
from collections.abc import Callable
from typing import Any

from croupier_api.v1 import engine_pb2, scoring_pb2
from loadtest.judge.violations import Invariant
from loadtest.record import TableRecord
from tests.loadtest.judge.played import Falsify, Played, changed, heard

SEAT = 2
Lines = list[dict[str, Any]]


def rewrite(record: TableRecord, change: Callable[[Lines], object]) -> None:
    """Change the lines of the replay."""
    lines = [json.loads(line) for line in record.replays[0].splitlines()]
    change(lines)
    record.replays[0] = "".join(json.dumps(line) + "\n" for line in lines)


def entries_of(lines: Lines, seat: int = SEAT) -> Lines:
    """The lines that tell what a seat did."""
    return [line for line in lines if line.get("seat") == seat]


# Deals


def commit_to_another_seed(record: TableRecord, _: Played) -> None:
    record.commitment = "00" * 32


def commit_to_another_seed_at_the_table(record: TableRecord, _: Played) -> None:
    for one in record.viewers:
        message = heard(one, 0)
        message.snapshot.table.commitment = "00" * 32
        changed(one, 0, message)


def write_another_commitment(record: TableRecord, _: Played) -> None:
    rewrite(record, lambda lines: lines[0].update(commitment="00" * 32))


def leave_out_what_a_player_added(record: TableRecord, _: Played) -> None:
    rewrite(record, lambda lines: lines[0]["client_seeds"].pop(str(SEAT)))


def exchange_two_cards(record: TableRecord, _: Played) -> None:
    def exchange(lines: Lines) -> None:
        hands = lines[1]["event"]["hands"]
        hands[0][0], hands[1][0] = hands[1][0], hands[0][0]

    rewrite(record, exchange)


# The replay


def tell_two_replays(record: TableRecord, _: Played) -> None:
    record.replays.append(record.replays[0] + "\n")


def write_no_json(record: TableRecord, _: Played) -> None:
    record.replays[0] = record.replays[0].replace("}\n", "\n", 1)


def leave_out_an_entry(record: TableRecord, _: Played) -> None:
    rewrite(record, lambda lines: lines.pop(9))


def write_another_time(record: TableRecord, _: Played) -> None:
    rewrite(record, lambda lines: lines[9].update(at=lines[8]["at"]))


def write_another_player(record: TableRecord, _: Played) -> None:
    rewrite(record, lambda lines: lines[0]["players"][SEAT].update(player_id="somebody"))


def write_another_option(record: TableRecord, _: Played) -> None:
    rewrite(record, lambda lines: lines[0]["options"].update(start="draw"))


def write_that_time_ran_out(record: TableRecord, _: Played) -> None:
    rewrite(record, lambda lines: entries_of(lines)[3].update(auto="timeout"))


def write_another_seed(record: TableRecord, _: Played) -> None:
    rewrite(record, lambda lines: lines[0].update(seed="11" * 32))


def write_nothing_at_the_end(record: TableRecord, _: Played) -> None:
    rewrite(record, lambda lines: lines.pop())


def write_something_twice(record: TableRecord, _: Played) -> None:
    rewrite(record, lambda lines: lines.insert(9, lines[9]))


def write_nonsense(record: TableRecord, _: Played) -> None:
    rewrite(record, lambda lines: lines[9].update(seat="nobody", action=[1]))


# The rules


def _foreign_card(lines: Lines) -> str:
    return str(lines[1]["event"]["hands"][SEAT + 1][0])


def play_a_foreign_card(record: TableRecord, _: Played) -> None:
    rewrite(record, lambda lines: entries_of(lines)[0]["action"].update(card=_foreign_card(lines)))


def let_the_engine_play_a_foreign_card(record: TableRecord, _: Played) -> None:
    def act(lines: Lines) -> None:
        entries_of(lines)[0]["action"].update(card=_foreign_card(lines))
        entries_of(lines)[0]["auto"] = "timeout"

    rewrite(record, act)


def offer_less_than_is_legal(record: TableRecord, table: Played) -> None:
    one = record.viewers[SEAT]
    index = next(i for i in range(1, 60) if len(heard(one, i).legal_actions.actions) > 1)
    message = heard(one, index)
    del message.legal_actions.actions[0]
    changed(one, index, message)


def ask_another_seat(record: TableRecord, _: Played) -> None:
    for one in record.viewers:
        message = heard(one, 0)
        message.snapshot.view.seats_to_act[:] = [(message.snapshot.view.seats_to_act[0] + 1) % 4]
        changed(one, 0, message)


# Results


def _last_facts(record: TableRecord, change: Callable[[engine_pb2.TableUpdate], object]) -> None:
    for one in record.viewers:
        message = heard(one, len(one.heard) - 1)
        change(message.update)
        changed(one, len(one.heard) - 1, message)


def rank_otherwise(record: TableRecord, _: Played) -> None:
    def turn(update: engine_pb2.TableUpdate) -> None:
        ended = next(fact.game_ended for fact in update.facts if fact.HasField("game_ended"))
        groups = [list(group.seats) for group in ended.ranking]
        for group, seats in zip(ended.ranking, reversed(groups), strict=True):
            group.seats[:] = seats

    _last_facts(record, turn)


def score_otherwise(record: TableRecord, _: Played) -> None:
    def add(update: engine_pb2.TableUpdate) -> None:
        ended = next(fact.round_ended for fact in update.facts if fact.HasField("round_ended"))
        ended.totals[0] += 1

    _last_facts(record, add)


def write_another_result(record: TableRecord, _: Played) -> None:
    rewrite(record, lambda lines: lines[-1]["result"]["ranking"].reverse())


def write_another_round(record: TableRecord, _: Played) -> None:
    def add(lines: Lines) -> None:
        ended = next(line for line in lines if "round" in line)
        ended["scores"][0] += 1

    rewrite(record, add)


def _enter(record: TableRecord, change: Callable[[scoring_pb2.GetScoreSheetResponse], object]) -> None:
    assert record.sheet is not None
    sheet = scoring_pb2.GetScoreSheetResponse.FromString(record.sheet)
    change(sheet)
    record.sheet = sheet.SerializeToString()


def enter_another_total(record: TableRecord, _: Played) -> None:
    _enter(record, lambda sheet: sheet.result.totals.insert(0, 99))


def enter_a_round_twice(record: TableRecord, _: Played) -> None:
    _enter(record, lambda sheet: sheet.rounds.append(sheet.rounds[0]))


def enter_another_headline(record: TableRecord, _: Played) -> None:
    _enter(record, lambda sheet: setattr(sheet.rounds[0], "headline", "a walkover"))


def enter_another_player(record: TableRecord, _: Played) -> None:
    _enter(record, lambda sheet: setattr(sheet.result.seats[0], "player_id", "somebody"))


RECORDS: dict[Falsify, Invariant] = {
    commit_to_another_seed: Invariant.DEAL_UNFAIR,
    commit_to_another_seed_at_the_table: Invariant.DEAL_UNFAIR,
    write_another_commitment: Invariant.DEAL_UNFAIR,
    leave_out_what_a_player_added: Invariant.DEAL_UNFAIR,
    exchange_two_cards: Invariant.DEAL_UNFAIR,
    write_another_seed: Invariant.DEAL_UNFAIR,
    tell_two_replays: Invariant.REPLAY_UNTRUE,
    write_no_json: Invariant.REPLAY_UNTRUE,
    leave_out_an_entry: Invariant.REPLAY_UNTRUE,
    write_another_time: Invariant.REPLAY_UNTRUE,
    write_another_player: Invariant.REPLAY_UNTRUE,
    write_another_option: Invariant.REPLAY_UNTRUE,
    write_that_time_ran_out: Invariant.REPLAY_UNTRUE,
    write_nothing_at_the_end: Invariant.REPLAY_UNTRUE,
    write_something_twice: Invariant.REPLAY_UNTRUE,
    write_nonsense: Invariant.REPLAY_UNTRUE,
    play_a_foreign_card: Invariant.ILLEGAL_ACCEPTED,
    let_the_engine_play_a_foreign_card: Invariant.RULES_BROKEN,
    offer_less_than_is_legal: Invariant.RULES_BROKEN,
    ask_another_seat: Invariant.RULES_BROKEN,
    rank_otherwise: Invariant.RESULT_DIFFERS,
    score_otherwise: Invariant.RESULT_DIFFERS,
    write_another_result: Invariant.RESULT_DIFFERS,
    write_another_round: Invariant.RESULT_DIFFERS,
    enter_another_total: Invariant.RESULT_DIFFERS,
    enter_a_round_twice: Invariant.RESULT_DIFFERS,
    enter_another_headline: Invariant.RESULT_DIFFERS,
    enter_another_player: Invariant.RESULT_DIFFERS,
}
