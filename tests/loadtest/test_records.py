"""The records of a finished game against what its players heard: replay, rules, score sheet."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from croupier_api.v1 import engine_pb2, scoring_pb2
from loadtest.court import Court, Invariant
from tests.loadtest.recording import Listener, Recording, recorded_game

SEAT = 1
Lines = list[dict[str, Any]]
Sheet = scoring_pb2.GetScoreSheetResponse


@pytest.fixture
def game() -> Recording:
    return recorded_game()


def listener_of(game: Recording, messages: list[engine_pb2.PlayResponse] | None = None) -> Listener:
    listener = Listener(Court(8)).hear(*(messages or game.messages(SEAT)))
    for sequence, action in game.actions(SEAT):
        listener.referee.accepted(action, sequence)
    return listener


def swap_two_plays(lines: Lines) -> None:
    lines[2]["action"], lines[6]["action"] = lines[6]["action"], lines[2]["action"]


def another_seed(lines: Lines) -> None:
    lines[0]["seed"] = "00" * 32


def another_result(lines: Lines) -> None:
    lines[-1]["result"]["ranking"].reverse()


def an_entry_less(lines: Lines) -> None:
    del lines[10]


@pytest.mark.parametrize("tamper", [swap_two_plays, another_seed, another_result, an_entry_less])
def test_a_replay_that_the_rules_do_not_confirm_is_found(game: Recording, tamper: Callable[[Lines], None]) -> None:
    lines = [json.loads(line) for line in game.replay.splitlines()]
    tamper(lines)
    listener = listener_of(game)
    assert listener.referee.check_replay("".join(json.dumps(line) + "\n" for line in lines)) is None
    assert set(listener.court.counts) == {Invariant.REPLAY_UNTRUE}


def test_a_true_replay_of_another_game_is_found(game: Recording) -> None:
    listener = listener_of(game)
    listener.referee.check_replay(recorded_game(2).replay)
    assert {Invariant.REPLAY_UNTRUE, Invariant.ACKNOWLEDGED_LOST} <= set(listener.court.counts)


def with_time_given_back(game: Recording, after: int) -> Listener:
    """A player whose stream has one entry more after this one, by which time was given back."""
    messages = game.messages(SEAT)
    at = messages[after - 1].update.at_milliseconds
    clock = engine_pb2.TurnClock(deadline_milliseconds=99_000)
    credit = engine_pb2.TableUpdate(sequence=after + 1, at_milliseconds=at, credited_milliseconds=500, clock=clock)
    legal = messages[after - 1].legal_actions
    for message in messages[after:]:
        message.update.sequence += 1
    messages.insert(after, engine_pb2.PlayResponse(update=credit, legal_actions=legal))
    listener = Listener(Court(8)).hear(*messages)
    for sequence, action in game.actions(SEAT):
        listener.referee.accepted(action, sequence + (sequence > after))
    return listener


@pytest.mark.parametrize("before_the_end", [1, 2, 5, 30])
def test_time_that_was_given_back_is_no_entry_of_the_replay(game: Recording, before_the_end: int) -> None:
    listener = with_time_given_back(game, len(game.steps) - before_the_end)
    proof = listener.referee.check_replay(game.replay)
    assert proof is not None
    listener.referee.check_sheet(game.sheet, proof)
    assert not listener.court.counts, listener.court.first


def test_two_players_who_get_different_replays_are_found(game: Recording) -> None:
    court = Court(8)
    for text in (game.replay, game.replay.replace("Player 0", "Player X")):
        Listener(court).hear(*game.messages(SEAT)).referee.check_replay(text)
    assert set(court.counts) == {Invariant.REPLAY_UNTRUE}


def test_an_acknowledged_action_that_is_not_in_the_replay_is_found(game: Recording) -> None:
    listener = listener_of(game)
    _, action = next(game.actions(SEAT))
    listener.referee.accepted(action, len(game.steps))
    listener.court.counts.clear()
    listener.referee.check_replay(game.replay)
    assert set(listener.court.counts) == {Invariant.ACKNOWLEDGED_LOST}


def test_an_entry_that_the_stream_told_otherwise_is_found(game: Recording) -> None:
    messages = game.messages(SEAT)
    messages[20].update.at_milliseconds += 1
    listener = listener_of(game, messages)
    listener.referee.check_replay(game.replay)
    assert set(listener.court.counts) == {Invariant.REPLAY_UNTRUE}
    assert listener.court.first[Invariant.REPLAY_UNTRUE].sequence == 21


def test_a_stream_that_shows_another_view_than_the_rules_is_found(game: Recording) -> None:
    messages = game.messages(SEAT)
    turn = next(fact.turn_changed for fact in messages[-2].update.facts if fact.HasField("turn_changed"))
    turn.phase = "another phase"
    listener = listener_of(game, messages)
    listener.referee.check_replay(game.replay)
    assert set(listener.court.counts) == {Invariant.VIEW_DIFFERS}


def test_a_legal_action_that_was_not_offered_is_found(game: Recording) -> None:
    messages = game.messages(SEAT)
    last = max(sequence for sequence, _ in game.actions(SEAT) if sequence > len(game.steps) - 4)
    del messages[last - 2].legal_actions.actions[0]
    listener = listener_of(game, messages)
    listener.referee.check_replay(game.replay)
    assert set(listener.court.counts) == {Invariant.VIEW_DIFFERS}


def test_a_stream_that_tells_another_result_than_the_replay_is_found(game: Recording) -> None:
    messages = game.messages(SEAT)
    ended = next(fact.game_ended for fact in messages[-1].update.facts if fact.HasField("game_ended"))
    first, last = list(ended.ranking[0].seats), list(ended.ranking[-1].seats)
    ended.ranking[0].seats[:], ended.ranking[-1].seats[:] = last, first
    listener = listener_of(game, messages)
    listener.referee.check_replay(game.replay)
    assert Invariant.RESULT_DIFFERS in listener.court.counts


def other_ranking(sheet: Sheet) -> None:
    del sheet.result.ranking[0]


def other_totals(sheet: Sheet) -> None:
    sheet.result.totals[0] += 1


def other_players(sheet: Sheet) -> None:
    sheet.result.seats[0].player_id = "somebody"


def other_points(sheet: Sheet) -> None:
    sheet.rounds[0].points[0] += 1


def a_round_less(sheet: Sheet) -> None:
    del sheet.rounds[0]


def other_headline(sheet: Sheet) -> None:
    sheet.rounds[0].headline += "!"


def other_details(sheet: Sheet) -> None:
    sheet.rounds[0].details["reason"] = "another"


def other_counts(sheet: Sheet) -> None:
    sheet.rounds[0].counts[0].amount += 1


SHEETS = [
    *(other_ranking, other_totals, other_players, other_points, a_round_less),
    *(other_headline, other_details, other_counts),
]


@pytest.mark.parametrize("tamper", SHEETS)
def test_a_score_sheet_that_differs_is_found(game: Recording, tamper: Callable[[Sheet], None]) -> None:
    listener, sheet = listener_of(game), game.sheet
    proof = listener.referee.check_replay(game.replay)
    assert proof is not None
    tamper(sheet)
    listener.referee.check_sheet(sheet, proof)
    assert set(listener.court.counts) == {Invariant.RESULT_DIFFERS}
