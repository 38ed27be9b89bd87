"""The table's state machine: sequences, unanswered actions, and the request of a new stream."""

import pytest
from google.protobuf.timestamp_pb2 import Timestamp

from croupier_api.v1 import engine_pb2, errors_pb2, facts_pb2, games_pb2
from croupier_client import FailedPrecondition, FoldError, FollowedTable, LimitReached, SequenceError, StaleSequence
from croupier_client.backlog import MAX_UNREAD, Backlog
from croupier_client.table import MAX_UNANSWERED
from tests.client.fake_table import HAND, FakeTable, update_message
from tests.client.messages import STALE, event_message, play


def opened_table() -> tuple[FollowedTable, FakeTable]:
    """Return a table after the fake's snapshot; its request ids are a0, a1, ..."""
    names = iter(range(1000))
    table, fake = FollowedTable("t1", lambda: f"a{next(names)}"), FakeTable()
    table.receive(event_message(snapshot=fake.snapshot()))
    return table, fake


def play_next(fake: FakeTable) -> engine_pb2.TableUpdate:
    fake.submit(
        engine_pb2.SubmitActionRequest(request_id=f"r{fake.played_count}", action=play(HAND[fake.played_count]))
    )
    return fake.updates[-1]


def test_snapshot_sets_everything() -> None:
    table, fake = opened_table()
    assert (table.seat, table.sequence, table.table.game, table.is_open) == (0, 0, "laying", True)
    assert table.view == fake.view()
    assert table.is_to_act
    assert not table.is_finished
    assert table.expected_sequence == 0
    play_next(fake)
    table.receive_snapshot(fake.snapshot())
    assert (table.sequence, table.view) == (1, fake.view())
    spectator = FollowedTable("t1", link="a link")
    assert spectator.watch_request() == engine_pb2.WatchTableRequest(table_id="t1", link="a link")
    spectator.receive(event_message(snapshot=engine_pb2.Snapshot(sequence=5)))
    assert (spectator.seat, spectator.is_to_act) == (None, False)


def test_a_whole_game_is_followed_and_nothing_is_submitted_after_its_end() -> None:
    table, fake = opened_table()
    for _ in HAND:
        update = play_next(fake)
        message = update_message(update)
        assert table.receive(message) == message.table_event.update
        assert table.view == fake.view()
        assert table.sequence == fake.played_count
    assert table.is_finished
    assert table.ranking == ((0,), (1,))
    assert table.revealed_seed == "5eed"
    assert not table.is_to_act
    with pytest.raises(FailedPrecondition, match="over"):
        table.action_request(play(HAND[0]))
    assert table.unanswered_requests() == ()


def test_rounds_are_kept() -> None:
    table, _ = opened_table()
    notes = [facts_pb2.Note(phrases=[facts_pb2.Phrase(word=word)]) for word in ("a", "b")]
    score = facts_pb2.RoundScore(round=1, points=[1, 2], totals=[3, 4], notes=notes)
    ended = facts_pb2.Fact(round_ended=facts_pb2.RoundEnded(score=score))
    table.receive(update_message(engine_pb2.TableUpdate(sequence=1, facts=[ended])))
    assert table.round_scores == [score]


PROPOSAL = engine_pb2.Proposal(sequence=7, name="again", proposer=1, agreed_seats=[1], expiry_time=Timestamp(seconds=9))


def test_the_proposal_is_that_of_the_last_message() -> None:
    table, fake = opened_table()
    assert table.proposal is None
    fake.proposal = PROPOSAL
    table.receive(event_message(snapshot=fake.snapshot()))
    assert table.proposal == PROPOSAL
    agreed = engine_pb2.Proposal(sequence=7, name="again", proposer=1, agreed_seats=[0, 1])
    table.receive(update_message(engine_pb2.TableUpdate(sequence=1, seat=0, proposal=agreed)))
    assert table.proposal == agreed
    table.receive(update_message(engine_pb2.TableUpdate(sequence=2)))
    assert table.proposal is None


def test_a_vote_names_the_proposal_and_needs_one() -> None:
    table, fake = opened_table()
    with pytest.raises(FailedPrecondition, match="no proposal") as caught:
        table.vote_rpc(agree=True)
    assert caught.value.reason == errors_pb2.ERROR_REASON_NO_PROPOSAL
    fake.proposal = PROPOSAL
    table.receive(event_message(snapshot=fake.snapshot()))
    votes = [table.vote_rpc(agree=agree).request for agree in (True, False)]
    assert votes == [
        engine_pb2.CastVoteRequest(table_id="t1", request_id=f"a{number}", proposal_sequence=7, vote=vote)
        for number, vote in enumerate((engine_pb2.VOTE_AGREE, engine_pb2.VOTE_DECLINE))
    ]
    again = table.proposal_rpc("again").request
    assert again == engine_pb2.CreateProposalRequest(table_id="t1", request_id="a2", proposal="again")


def test_a_call_to_leave_or_return_has_its_own_id_and_says_which() -> None:
    table, _ = opened_table()
    assert [table.away_rpc(is_away=is_away).request for is_away in (True, False)] == [
        engine_pb2.SetAwayRequest(table_id="t1", request_id=f"a{number}", is_away=is_away)
        for number, is_away in enumerate((True, False))
    ]


def test_a_player_who_leaves_is_an_event_without_facts() -> None:
    table, fake = opened_table()
    clock = engine_pb2.TurnClock(away_seats=[1], left_seats=[1])
    update = engine_pb2.TableUpdate(sequence=1, seat=1, is_away=True, clock=clock, legal_actions=table.legal_actions)
    assert table.receive(event_message(update=update)) == update
    assert (table.sequence, table.view, table.clock) == (1, fake.view(), clock)


def test_an_action_expects_the_sequence_only_where_the_viewer_alone_is_to_act() -> None:
    table, _ = opened_table()
    assert table.expected_sequence == 0
    several = facts_pb2.Fact(turn_changed=facts_pb2.TurnChanged(phase="swap", seats_to_act=[0, 1]))
    table.receive(update_message(engine_pb2.TableUpdate(sequence=1, facts=[several])))
    assert table.expected_sequence is None


def test_a_stream_that_resumed_without_a_missed_entry_has_the_legal_actions_at_once() -> None:
    table, _ = opened_table()
    view, legal = table.view, table.legal_actions
    table.receive(event_message(update=engine_pb2.TableUpdate(sequence=1)))
    assert not table.is_to_act
    table.watch_request()
    state = engine_pb2.TurnState(sequence=1, legal_actions=legal, proposal=PROPOSAL)
    state.clock.deadline_unix_ms = 99
    assert table.receive(event_message(turn_state=state)) is None
    assert (table.legal_actions, table.clock, table.proposal) == (legal, state.clock, PROPOSAL)
    assert (table.sequence, table.view, table.resume_count) == (1, view, 1)


def test_the_time_left_is_that_of_the_server_counted_from_the_arrival() -> None:
    now = 77
    table, fake = FollowedTable("t1", monotonic=lambda: now), FakeTable()
    assert (table.seconds_left, table.proposal_seconds_left) == (None, None)
    table.receive(event_message(snapshot=fake.snapshot()))
    clock = engine_pb2.TurnClock(deadline_unix_ms=1_060_000, server_unix_ms=1_030_000)
    proposal = engine_pb2.Proposal(expiry_time=Timestamp(seconds=1_035))
    now += 9_000
    state = engine_pb2.TurnState(sequence=0, clock=clock, proposal=proposal)
    table.receive(event_message(turn_state=state))
    assert (table.seconds_left, table.proposal_seconds_left) == (30, 5)
    now += 10_500
    assert (table.seconds_left, table.proposal_seconds_left) == (19.5, 0)
    table.receive(event_message(update=engine_pb2.TableUpdate(sequence=1)))
    assert (table.seconds_left, table.proposal_seconds_left) == (None, None)


def trick_taken(sequence: int, seat: int) -> engine_pb2.PlayTableResponse:
    fact = facts_pb2.Fact(trick_taken=facts_pb2.TrickTaken(seat=seat))
    return update_message(engine_pb2.TableUpdate(sequence=sequence, facts=[fact]))


@pytest.mark.parametrize(
    ("wrong", "expected", "got"),
    [
        *((trick_taken(sequence, 0), 2, sequence) for sequence in (0, 1, 3, 9)),
        (event_message(heartbeat=engine_pb2.Heartbeat(sequence=2)), 1, 2),
        *((event_message(turn_state=engine_pb2.TurnState(sequence=sequence)), 1, sequence) for sequence in (0, 2)),
        (event_message(snapshot=FakeTable().snapshot()), 1, 0),
    ],
)
def test_gap_or_repeat_is_a_fault_and_changes_nothing(
    wrong: engine_pb2.PlayTableResponse, expected: int, got: int
) -> None:
    table, fake = opened_table()
    table.receive(update_message(play_next(fake)))
    with pytest.raises(SequenceError) as caught:
        table.receive(wrong)
    assert (caught.value.expected, caught.value.got) == (expected, got)
    assert (table.sequence, table.view) == (1, fake.view())


def test_a_fact_that_does_not_fit_or_comes_before_a_snapshot_changes_nothing() -> None:
    with pytest.raises(SequenceError):
        FollowedTable("t1").receive(trick_taken(1, 0))
    table, fake = opened_table()
    with pytest.raises(FoldError):
        table.receive(trick_taken(1, 7))
    assert (table.sequence, table.view) == (0, fake.view())


def test_a_reaction_is_an_event_but_a_heartbeat_and_an_event_of_a_newer_kind_are_not() -> None:
    table, fake = opened_table()
    reaction = engine_pb2.SeatReaction(seat=1, reaction=games_pb2.REACTION_WOW)
    assert table.receive(event_message(reaction=reaction)) == reaction
    assert table.receive(event_message(heartbeat=engine_pb2.Heartbeat())) is None
    assert table.receive(event_message()) is None
    assert (table.sequence, table.view) == (0, fake.view())


def test_the_presence_is_that_of_the_snapshot_and_then_of_the_last_event() -> None:
    fake, table = FakeTable(), FollowedTable("t1")
    snapshot = fake.snapshot()
    del snapshot.table.seats[:]
    for seat in ({"name": "Ada"}, {"bot": "quick"}, {"name": "Cleo"}):
        snapshot.table.seats.add(**seat)
    table.receive(event_message(snapshot=snapshot))
    assert (table.presence, table.offline_seats) == (None, frozenset())
    presence = engine_pb2.Presence(connected_seats=[0], spectator_count=3)
    assert table.receive(event_message(presence=presence)) == presence
    assert (table.presence, table.offline_seats) == (presence, frozenset({2}))
    table.watch_request()
    table.receive(event_message(turn_state=engine_pb2.TurnState()))
    assert table.presence == presence
    snapshot.presence.connected_seats.extend([0, 2])
    table.receive(event_message(snapshot=snapshot))
    assert (table.presence, table.offline_seats) == (snapshot.presence, frozenset())


def test_compensated_time_is_an_event_without_facts() -> None:
    table, fake = opened_table()
    clock, legal = engine_pb2.TurnClock(deadline_unix_ms=99), table.legal_actions
    update = engine_pb2.TableUpdate(sequence=1, compensated_ms=4_000, clock=clock, legal_actions=legal)
    assert table.receive(event_message(update=update)) == update
    assert (table.sequence, table.view, table.clock, table.legal_actions) == (1, fake.view(), clock, legal)


def test_a_resume_counts_when_the_next_stream_has_a_message() -> None:
    table, _ = opened_table()
    notice = event_message(resume_notice=engine_pb2.ResumeNotice())
    assert table.receive(notice) is None
    assert (table.is_moving, table.resume_count) == (True, 0)
    table.watch_request()
    table.receive(notice)
    assert (table.is_moving, table.resume_count) == (False, 0)
    table.watch_request()
    for _ in range(2):
        table.receive(event_message(heartbeat=engine_pb2.Heartbeat()))
    assert (table.is_moving, table.resume_count) == (False, 1)


def test_a_resumed_stream_begins_with_a_snapshot_in_place_of_many_missed_updates() -> None:
    table, fake = opened_table()
    assert table.watch_request().after_sequence == 0
    snapshot = fake.snapshot()
    snapshot.sequence = 300
    snapshot.view.phase = "a later phase"
    assert table.receive(event_message(snapshot=snapshot)) == snapshot
    assert (table.sequence, table.view, table.resume_count) == (300, snapshot.view, 1)
    update = engine_pb2.TableUpdate(sequence=301)
    assert table.receive(event_message(update=update)) == update
    assert table.watch_request().after_sequence == 301


def test_actions_stay_unanswered_in_order_until_their_answers_come() -> None:
    table, _ = opened_table()
    first, second = table.action_request(play(HAND[0])), table.action_request(play(HAND[1]), expected_sequence=0)
    assert table.unanswered_requests() == (first, second)
    assert (first.request_id, second.request_id) == ("a0", "a1")
    assert (first.HasField("expected_sequence"), second.expected_sequence) == (False, 0)
    table.receive(engine_pb2.PlayTableResponse(answer=engine_pb2.ActionAnswer(request_id="a0", sequence=1)))
    assert table.unanswered_requests() == (second,)
    table.forget("a1")
    assert table.unanswered_requests() == ()


def test_action_is_settled_when_it_is_in_the_view() -> None:
    table, fake = opened_table()
    request = table.action_request(play(HAND[0]))
    assert not table.is_settled(request.request_id)
    answer = fake.submit(request)
    table.receive(engine_pb2.PlayTableResponse(answer=answer))
    assert not table.is_settled(request.request_id)
    table.receive(update_message(fake.updates[0]))
    assert table.is_settled(request.request_id)
    assert table.take_outcome(request.request_id) == 1


def test_a_refusal_is_raised_once_and_affects_no_other_action() -> None:
    table, _ = opened_table()
    table.action_request(play(HAND[0]))
    for request_id in ("a0", "of another client"):
        table.receive_answer(engine_pb2.ActionAnswer(request_id=request_id, refusal=STALE))
    assert table.is_settled("a0")
    with pytest.raises(StaleSequence, match="moved on"):
        table.take_outcome("a0")
    assert not table.is_settled("a0")
    assert not table.is_settled("of another client")


def test_unanswered_actions_are_limited() -> None:
    table, _ = opened_table()
    for _ in range(MAX_UNANSWERED):
        table.action_request(play(HAND[0]))
    with pytest.raises(LimitReached):
        table.action_request(play(HAND[0]))
    assert len(table.unanswered_requests()) == MAX_UNANSWERED


def test_the_backlog_is_limited_and_reports_dropped_events() -> None:
    backlog = Backlog()
    for seat in range(MAX_UNREAD + 3):
        backlog.put(engine_pb2.SeatReaction(seat=seat))
    backlog.put(None)
    with pytest.raises(LimitReached, match="3 events"):
        backlog.take()
    kept = [backlog.take() for _ in range(MAX_UNREAD)]
    assert kept == [engine_pb2.SeatReaction(seat=seat) for seat in range(3, MAX_UNREAD + 3)]
    assert not backlog
