"""The audit is clean where everything agrees, and red for every kind of fault."""

import copy
import secrets
from collections.abc import Callable

import pytest

from croupier.games.catalogue import GAMES
from croupier_api.v1 import cards_pb2, engine_pb2, table_pb2
from loadtest.faults.audit import Evidence, audit_table
from loadtest.faults.findings import Kind, LedgerLines, Line
from loadtest.faults.records import Heard
from tests.faults.story import true_story

SEATS = 4


@pytest.fixture
def evidence() -> Evidence:
    return true_story("one_ten", SEATS, seed=1)


def found(evidence: Evidence) -> set[Kind]:
    return {finding.kind for finding in audit_table(evidence)}


@pytest.mark.parametrize("game", list(GAMES))
def test_a_true_story_is_clean(game: str) -> None:
    seed = secrets.randbelow(1_000_000)
    print(f"true_story({game!r}, {SEATS}, {seed})")
    story = true_story(game, SEATS, seed)
    assert list(audit_table(story)) == []
    assert story.log is not None
    assert story.record.acknowledged
    assert any("credited" in line.body for line in story.log.lines)
    assert any(line.body.get("by") == 1 for line in story.log.lines)


def with_lines(evidence: Evidence, change: Callable[[list[Line]], None]) -> Evidence:
    assert evidence.log is not None
    lines = [line._replace(body=copy.deepcopy(dict(line.body))) for line in evidence.log.lines]
    change(lines)
    return evidence._replace(log=evidence.log._replace(lines=tuple(lines)))


def place_of_an_action(lines: list[Line], nth: int = 0) -> int:
    return [at for at, line in enumerate(lines) if "request" in line.body][nth]


def test_a_lost_acknowledged_move_is_found(evidence: Evidence) -> None:
    def lose(lines: list[Line]) -> None:
        at = place_of_an_action(lines, -1)
        del lines[at:]

    assert Kind.LOST in found(with_lines(evidence, lose))


def test_a_table_that_the_database_does_not_know_is_found(evidence: Evidence) -> None:
    assert found(evidence._replace(log=None)) == {Kind.LOST}


def test_a_doubled_move_is_found(evidence: Evidence) -> None:
    def double(lines: list[Line]) -> None:
        body = lines[place_of_an_action(lines)].body
        lines.append(Line(len(lines) + 1, lines[-1].at, 0, body))

    assert Kind.DOUBLED in found(with_lines(evidence, double))


def test_one_request_that_was_acknowledged_twice_differently_is_found(evidence: Evidence) -> None:
    first = evidence.record.acknowledged[0]
    evidence.record.acknowledged.append(first._replace(sequence=first.sequence + 1))
    assert Kind.DOUBLED in found(evidence)


def test_another_action_than_the_acknowledged_one_is_found(evidence: Evidence) -> None:
    first = evidence.record.acknowledged[0]
    other = table_pb2.Action(throw_down=table_pb2.ThrowDownAction()).SerializeToString()
    evidence.record.acknowledged[0] = first._replace(action=other)
    assert Kind.ALTERED in found(evidence)


def test_a_gap_in_the_log_is_found(evidence: Evidence) -> None:
    def leave_out(lines: list[Line]) -> None:
        del lines[len(lines) // 2]

    assert Kind.GAP in found(with_lines(evidence, leave_out))


def test_time_that_runs_backwards_is_found(evidence: Evidence) -> None:
    def turn_back(lines: list[Line]) -> None:
        lines[5] = lines[5]._replace(at=lines[4].at - 1)

    assert Kind.GAP in found(with_lines(evidence, turn_back))


def changed_message(evidence: Evidence, seat: int, change: Callable[[engine_pb2.TableUpdate], bool]) -> Evidence:
    """The first update of a seat's stream for which `change` changes something and says so."""
    stream = evidence.record.streams[seat]
    for at, message in enumerate(stream.messages):
        if isinstance(message, Heard):
            update = engine_pb2.TableUpdate.FromString(message.update)
            if change(update):
                stream.messages[at] = message._replace(update=update.SerializeToString(deterministic=True))
                return evidence
    raise AssertionError("there is no such message")


def test_a_card_too_many_is_found_by_two_checks(evidence: Evidence) -> None:
    def show_a_dealt_card(update: engine_pb2.TableUpdate) -> bool:
        for fact in update.facts:
            moved = fact.cards_moved
            if moved.reason == table_pb2.MOVE_REASON_DEAL and moved.target.HasField("hand") and not moved.cards:
                moved.cards.append(cards_pb2.CARD_AS)
                return True
        return False

    kinds = found(changed_message(evidence, 1, show_a_dealt_card))
    assert {Kind.HIDDEN_CARD, Kind.STREAM} <= kinds


def test_another_time_than_the_logs_is_found_in_a_stream(evidence: Evidence) -> None:
    def be_late(update: engine_pb2.TableUpdate) -> bool:
        update.at_milliseconds += 1
        return True

    assert found(changed_message(evidence, 0, be_late)) == {Kind.STREAM}


def test_a_message_that_never_came_is_found(evidence: Evidence) -> None:
    del evidence.record.streams[0].messages[4]
    assert Kind.STREAM in found(evidence)


def test_a_message_that_came_twice_is_found(evidence: Evidence) -> None:
    messages = evidence.record.streams[0].messages
    messages.insert(4, messages[4])
    assert Kind.STREAM in found(evidence)


def test_a_stream_that_missed_the_end_is_found(evidence: Evidence) -> None:
    (missed,) = [stream for stream in evidence.record.streams if stream.seat == 0]
    missed.hampered = False
    del missed.messages[-1]
    assert Kind.STREAM in found(evidence)


def test_an_early_time_out_is_found(evidence: Evidence) -> None:
    def be_early(lines: list[Line]) -> None:
        at = next(at for at, line in enumerate(lines) if line.body.get("by") == 1)
        lines[at] = lines[at]._replace(at=lines[at].at - 1)

    assert Kind.EARLY_TIME_OUT in found(with_lines(evidence, be_early))


def test_a_time_out_that_is_early_by_the_clock_of_the_players_is_found(evidence: Evidence) -> None:
    assert evidence.log is not None
    at = next(line.sequence for line in evidence.log.lines if line.body.get("by") == 1)
    for stream in evidence.record.streams:
        stream.messages = [
            message._replace(at=message.at - 5.0) if message.sequence == at else message for message in stream.messages
        ]
    assert found(evidence) == {Kind.EARLY_TIME_OUT}


def test_a_time_out_of_a_player_who_was_there_is_found(evidence: Evidence) -> None:
    for stream in evidence.record.streams:
        stream.hampered = False
    assert found(evidence) == {Kind.UNEXCUSED_TIME_OUT}


def test_more_time_given_back_than_was_missing_is_found(evidence: Evidence) -> None:
    def be_generous(lines: list[Line]) -> None:
        at = next(at for at, line in enumerate(lines) if "credited" in line.body)
        lines[at] = lines[at]._replace(body={"credited": 1_000_000})

    assert Kind.CREDIT in found(with_lines(evidence, be_generous))


def test_time_given_back_while_all_engines_were_there_is_found(evidence: Evidence) -> None:
    assert found(evidence._replace(interruptions=())) == {Kind.CREDIT}


def without_round(ledger: LedgerLines) -> LedgerLines:
    return ledger._replace(rounds=ledger.rounds[1:])


def without_result(ledger: LedgerLines) -> LedgerLines:
    return ledger._replace(results=())


def with_round_counted_twice(ledger: LedgerLines) -> LedgerLines:
    return ledger._replace(counts=tuple((seat, name, 2 * amount) for seat, name, amount in ledger.counts))


def with_player_twice(ledger: LedgerLines) -> LedgerLines:
    return ledger._replace(players=ledger.players + ledger.players[:1])


@pytest.mark.parametrize("falsify", [without_round, without_result, with_round_counted_twice, with_player_twice])
def test_a_ledger_that_is_wrong_is_found(evidence: Evidence, falsify: Callable[[LedgerLines], LedgerLines]) -> None:
    assert evidence.ledger is not None
    assert found(evidence._replace(ledger=falsify(evidence.ledger))) == {Kind.SCORING}


def test_a_replay_without_its_last_action_is_found(evidence: Evidence) -> None:
    assert evidence.replay is not None
    lines = evidence.replay.splitlines(keepends=True)
    last = max(at for at, line in enumerate(lines) if '"action"' in line)
    assert found(evidence._replace(replay="".join(lines[:last] + lines[last + 1 :]))) == {Kind.REPLAY}


def test_a_status_that_the_game_contradicts_is_found(evidence: Evidence) -> None:
    assert evidence.log is not None
    assert Kind.STUCK in found(evidence._replace(log=evidence.log._replace(status="open")))
