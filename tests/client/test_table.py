"""The table's state machine: sequences, actions under way, and what a new stream asks for."""

import pytest

from croupier_api.v1 import engine_pb2, table_pb2
from croupier_client import FailedPrecondition, FoldError, LimitReached, SequenceError, StaleSequence, Table
from croupier_client.backlog import Backlog
from croupier_client.table import MOST_UNANSWERED
from tests.client.fakes import HAND, FakeTable, play, refusing, told


def opened_table() -> tuple[Table, FakeTable]:
    """A table that has seen the fake's snapshot; its actions are called a0, a1, ..."""
    names = iter(range(1000))
    table, fake = Table("t1", lambda: f"a{next(names)}"), FakeTable()
    table.receive(engine_pb2.PlayResponse(snapshot=fake.snapshot()))
    return table, fake


def lay_next(fake: FakeTable) -> engine_pb2.TableUpdate:
    fake.submit(engine_pb2.SubmitActionRequest(request_id=f"r{fake.laid}", action=play(HAND[fake.laid])))
    return fake.updates[-1]


def test_snapshot_sets_everything() -> None:
    table, fake = opened_table()
    assert (table.seat, table.sequence, table.info.game, table.opened) == (0, 0, "laying", True)
    assert table.view == fake.view()
    assert table.to_act
    assert not table.finished
    lay_next(fake)
    table.receive_snapshot(fake.snapshot())
    assert (table.sequence, table.view) == (1, fake.view())


def test_seat_of_a_spectator_is_none() -> None:
    table = Table("t1")
    table.receive(engine_pb2.WatchTableResponse(snapshot=engine_pb2.Snapshot(sequence=5)))
    assert table.seat is None
    assert not table.to_act


def test_whole_game_is_followed_and_nothing_is_submitted_after_its_end() -> None:
    table, fake = opened_table()
    for _ in HAND:
        update = lay_next(fake)
        assert table.receive(told(update)) == update
        assert table.view == fake.view()
        assert table.sequence == fake.laid
        assert table.facts == update.facts
    assert table.finished
    assert table.ranking == ((0,), (1,))
    assert table.revealed_seed == "5eed"
    assert not table.to_act
    with pytest.raises(FailedPrecondition, match="over"):
        table.submit(play(HAND[0]))
    assert table.unanswered() == ()


def test_rounds_are_kept() -> None:
    table, _ = opened_table()
    ended = table_pb2.RoundEnded(round=1, points=[1, 2], totals=[3, 4], notes=["a", "b"])
    table.receive(told(engine_pb2.TableUpdate(sequence=1, facts=[table_pb2.Fact(round_ended=ended)])))
    assert table.rounds == [ended]


PROPOSAL = engine_pb2.Proposal(sequence=7, name="again", proposer=1, agreed_seats=[1], expires_milliseconds=9)


def test_what_is_proposed_is_what_the_last_message_says() -> None:
    table, fake = opened_table()
    assert table.proposal is None
    fake.proposal = PROPOSAL
    table.receive(engine_pb2.PlayResponse(snapshot=fake.snapshot()))
    assert table.proposal == PROPOSAL
    agreed = engine_pb2.Proposal(sequence=7, name="again", proposer=1, agreed_seats=[0, 1])
    table.receive(told(engine_pb2.TableUpdate(sequence=1, seat=0, proposal=agreed)))
    assert table.proposal == agreed
    table.receive(told(engine_pb2.TableUpdate(sequence=2)))
    assert table.proposal is None


def test_a_vote_names_what_is_proposed_and_there_is_none_on_nothing() -> None:
    table, fake = opened_table()
    with pytest.raises(FailedPrecondition, match="nothing is proposed"):
        table.voting(agree=True)
    fake.proposal = PROPOSAL
    table.receive(engine_pb2.PlayResponse(snapshot=fake.snapshot()))
    call = table.voting(agree=False)
    assert call.request == engine_pb2.VoteRequest(table_id="t1", request_id="a0", proposal_sequence=7)
    again = table.proposing("again")
    assert again.request == engine_pb2.ProposeRequest(table_id="t1", request_id="a1", proposal="again")


def trick_taken(sequence: int, seat: int) -> engine_pb2.PlayResponse:
    fact = table_pb2.Fact(trick_taken=table_pb2.TrickTaken(seat=seat))
    return told(engine_pb2.TableUpdate(sequence=sequence, facts=[fact]))


@pytest.mark.parametrize(
    ("wrong", "expected", "got"),
    [
        *((trick_taken(sequence, 0), 2, sequence) for sequence in (0, 1, 3, 9)),
        (engine_pb2.PlayResponse(heartbeat=engine_pb2.Heartbeat(sequence=2)), 1, 2),
        (engine_pb2.PlayResponse(snapshot=FakeTable().snapshot()), 1, 0),
    ],
)
def test_gap_or_repeat_is_a_fault_and_changes_nothing(wrong: engine_pb2.PlayResponse, expected: int, got: int) -> None:
    table, fake = opened_table()
    table.receive(told(lay_next(fake)))
    with pytest.raises(SequenceError) as caught:
        table.receive(wrong)
    assert (caught.value.expected, caught.value.got) == (expected, got)
    assert (table.sequence, table.view) == (1, fake.view())


def test_a_fact_that_does_not_fit_or_comes_before_a_snapshot_changes_nothing() -> None:
    with pytest.raises(SequenceError):
        Table("t1").receive(trick_taken(1, 0))
    table, fake = opened_table()
    with pytest.raises(FoldError):
        table.receive(trick_taken(1, 7))
    assert (table.sequence, table.view) == (0, fake.view())


def test_reaction_is_an_event_and_a_heartbeat_is_not() -> None:
    table, _ = opened_table()
    reaction = engine_pb2.Reaction(seat=1, reaction="wow")
    assert table.receive(engine_pb2.PlayResponse(reaction=reaction)) == reaction
    assert table.receive(engine_pb2.PlayResponse(heartbeat=engine_pb2.Heartbeat())) is None


def test_time_given_back_is_news_without_facts() -> None:
    table, fake = opened_table()
    clock = engine_pb2.TurnClock(deadline_milliseconds=99)
    update = engine_pb2.TableUpdate(sequence=1, credited_milliseconds=4_000, clock=clock)
    legal = table.legal_actions
    assert table.receive(engine_pb2.PlayResponse(update=update, legal_actions=legal)) == update
    assert (table.sequence, table.view, table.clock, table.legal_actions) == (1, fake.view(), clock, legal)


def test_a_stream_that_moves_counts_when_the_next_one_brings_something() -> None:
    table, _ = opened_table()
    notice = engine_pb2.PlayResponse(resume_notice=engine_pb2.ResumeNotice())
    assert table.receive(notice) is None
    assert (table.is_moving, table.resumes) == (True, 0)
    table.watch_request()
    table.receive(notice)
    assert (table.is_moving, table.resumes) == (False, 0)
    table.watch_request()
    for _ in range(2):
        table.receive(engine_pb2.PlayResponse(heartbeat=engine_pb2.Heartbeat()))
    assert (table.is_moving, table.resumes) == (False, 1)


def test_actions_stay_unanswered_in_order_until_their_answers_come() -> None:
    table, _ = opened_table()
    first, second = table.submit(play(HAND[0])), table.submit(play(HAND[1]), expected_sequence=0)
    assert table.unanswered() == (first, second)
    assert (first.request_id, second.request_id) == ("a0", "a1")
    assert (first.HasField("expected_sequence"), second.expected_sequence) == (False, 0)
    table.receive(engine_pb2.PlayResponse(answer=engine_pb2.ActionAnswer(request_id="a0", sequence=1)))
    assert table.unanswered() == (second,)
    table.forget("a1")
    assert table.unanswered() == ()


def test_action_is_settled_when_it_is_in_the_view() -> None:
    table, fake = opened_table()
    request = table.submit(play(HAND[0]))
    assert not table.settled(request.request_id)
    answer = fake.submit(request)
    table.receive(engine_pb2.PlayResponse(answer=answer))
    assert not table.settled(request.request_id)
    table.receive(told(fake.updates[0]))
    assert table.settled(request.request_id)
    assert table.take_outcome(request.request_id) == 1


def test_refusal_is_raised_once_and_means_nothing_to_others() -> None:
    table, _ = opened_table()
    table.submit(play(HAND[0]))
    for request_id in ("a0", "of another life"):
        table.receive_answer(refusing(request_id, 10, "STALE_SEQUENCE", "moved on"))
    assert table.settled("a0")
    with pytest.raises(StaleSequence, match="moved on"):
        table.take_outcome("a0")
    assert not table.settled("a0")
    assert not table.settled("of another life")


def test_actions_under_way_are_bounded() -> None:
    table, _ = opened_table()
    for _ in range(MOST_UNANSWERED):
        table.submit(play(HAND[0]))
    with pytest.raises(LimitReached):
        table.submit(play(HAND[0]))
    assert len(table.unanswered()) == MOST_UNANSWERED


def test_backlog_is_bounded_and_says_what_it_dropped() -> None:
    backlog = Backlog(limit=2)
    for seat in range(5):
        backlog.put(engine_pb2.Reaction(seat=seat))
    backlog.put(None)
    with pytest.raises(LimitReached, match="3 events"):
        backlog.take()
    assert [backlog.take(), backlog.take()] == [engine_pb2.Reaction(seat=3), engine_pb2.Reaction(seat=4)]
    assert not backlog
