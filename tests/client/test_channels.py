"""Both channels where services answer, refuse, and stay away for good."""

import asyncio
from functools import partial
from random import Random
from typing import Any

import grpc
import pytest

from croupier_api.v1 import engine_pb2, lobby_pb2
from croupier_client import (
    IllegalAction,
    PermissionDenied,
    SequenceError,
    StaleSequence,
    TimedOut,
    Unauthenticated,
    Unavailable,
    play_game,
    random_legal,
)
from tests.client.conftest import SECRET, Connects
from tests.client.fakes import HAND, HASTY, HOUR_MILLISECONDS, FakeCroupier, Fault, Script, play, refused
from tests.waiting import until

UNAVAILABLE = refused(grpc.StatusCode.UNAVAILABLE, "draining", "DRAINING")


async def lay_all(table: Any) -> None:
    for card in HAND[table.sequence :]:
        assert await table.act(play(card)) == table.sequence


async def test_calls_sign_in_once_by_themselves_and_carry_metadata(client_of: Connects) -> None:
    with FakeCroupier() as fake:
        async with client_of(fake) as client:
            assert not client.player
            listed = await asyncio.gather(*(client.list_games() for _ in range(5)))
            assert [game.game for answer in listed for game in answer.games] == ["laying"] * 5
            created = await client.create_table(game="laying", seats=2, options={"jokers": True, "points": 3})
            assert dict(created.table.options.values) == {"jokers": "true", "points": "3"}
            assert (await client.get_leaderboard(game="laying")).lines[0].position == 1
            assert (await client.get_view(table_id="t1")).snapshot == fake.table.snapshot()
            assert client.player.player_id == f"player of {SECRET}"
    assert fake.calls == ["SignIn", *["ListGames"] * 5, "CreateTable", "GetLeaderboard", "GetView"]
    assert "authorization" not in fake.metadata[0]
    assert "x-table-id" not in fake.metadata[1]
    assert fake.metadata[-1]["x-table-id"] == "t1"
    assert len({metadata["x-request-id"] for metadata in fake.metadata}) == len(fake.metadata)


async def test_a_token_is_exchanged_when_it_is_refused_and_before_it_ends(client_of: Connects) -> None:
    now = 0
    with FakeCroupier() as fake:
        async with client_of(fake, clock=lambda: now) as client:
            await client.sign_in()
            fake.access_tokens.clear()
            await client.create_table(game="laying", seats=2)
            assert fake.calls == ["SignIn", "CreateTable", "RefreshToken", "CreateTable"]
            fake.access_tokens.clear()
            fake.refresh_tokens.clear()
            await client.list_games()
            assert fake.calls[4:] == ["ListGames", "RefreshToken", "SignIn", "ListGames"]
            now = HOUR_MILLISECONDS - 1000
            await client.list_games()
            assert fake.calls[8:] == ["RefreshToken", "ListGames"]
            assert client.player.name == "Kari"


async def test_only_idempotent_calls_are_tried_again_and_a_token_is_refused_once(client_of: Connects) -> None:
    with FakeCroupier() as fake:
        async with client_of(fake) as client:
            await client.sign_in()
            fake.unary_failures.extend([UNAVAILABLE] * 3)
            await client.list_games()
            assert not fake.unary_failures
            fake.unary_failures.append(UNAVAILABLE)
            with pytest.raises(Unavailable) as caught:
                await client.create_table(game="laying", seats=2)
            assert (caught.value.message, caught.value.reason) == ("draining", "DRAINING")
            assert fake.calls.count("CreateTable") == 1
            fake.unary_failures.extend([refused(grpc.StatusCode.UNAUTHENTICATED, "who?")] * 9)
            with pytest.raises(Unauthenticated, match="who"):
                await client.list_games()


async def test_quick_match_shows_how_the_wish_stands_and_survives_a_lost_connection(client_of: Connects) -> None:
    with FakeCroupier(Script(), Script(Fault.DROP)) as fake:
        async with client_of(fake) as client:
            assert [answer.waiting async for answer in client.quick_match(game="laying", seats=2)] == [1, 2]
            assert (await client.quick_match_until_seated(game="laying", seats=2)).table_id == "t1"
            assert (await client.quick_match_until_seated(game="laying", seats=2, request_id="mine")).table_id == "t1"
    _, first, again, other = (request.request_id for request in fake.asked(lobby_pb2.QuickMatchRequest))
    assert first == again != other == "mine"


async def test_whole_game(client_of: Connects) -> None:
    with FakeCroupier() as fake:
        async with client_of(fake) as client, client.play("t1") as table:
            assert table.view == fake.table.view()
            await lay_all(table)
            assert table.view == fake.table.view()
            assert table.ranking == ((0,), (1,))
            kinds = [type(event).__name__ async for event in table]
    assert kinds == ["Snapshot", "Reaction"] + ["TableUpdate"] * 4


async def test_bot_plays_a_game(client_of: Connects) -> None:
    with FakeCroupier(Script(Fault.DROP, at_action=2)) as fake:
        async with client_of(fake) as client, client.play("t1") as table:
            await play_game(table, partial(random_legal, random=Random(1)))
            assert table.finished
            assert table.revealed_seed == "5eed"


async def test_proposals_and_votes_are_sent_until_answered_and_wait_until_seen(client_of: Connects) -> None:
    refusal = refused(grpc.StatusCode.FAILED_PRECONDITION, "not now", "ILLEGAL_ACTION", "LAY-2")
    with FakeCroupier() as fake:
        fake.table.proposal = engine_pb2.Proposal(sequence=7, name="again")
        async with client_of(fake) as client, client.play("t1") as table:
            fake.unary_failures.append(refusal)
            with pytest.raises(IllegalAction) as caught:
                await table.propose("never")
            assert caught.value.rule == "LAY-2"
            fake.unary_failures.append(UNAVAILABLE)
            proposing = asyncio.create_task(table.propose("again"))
            voting = asyncio.create_task(table.vote(agree=True))
            await until(lambda: fake.calls.count("Propose") + fake.calls.count("Vote") == 4)
            # Its answer comes after those to the calls before.
            await client.list_games()
            assert not proposing.done()
            assert not voting.done()
            await table.act(play(HAND[0]))
            assert (await proposing, await voting) == (1, 1)
    proposed, voted = fake.asked(engine_pb2.ProposeRequest)[1:], fake.asked(engine_pb2.VoteRequest)
    assert len(proposed) + len(voted) == 3
    assert all((request.table_id, request.proposal) == ("t1", "again") for request in proposed)
    assert all((request.proposal_sequence, request.agree) == (7, True) for request in voted)
    assert len({request.request_id for request in proposed}) == len({request.request_id for request in voted}) == 1


async def test_a_refused_action_tells_why_and_leaves_the_stream_open(client_of: Connects) -> None:
    with FakeCroupier() as fake:
        async with client_of(fake) as client, client.play("t1") as table:
            with pytest.raises(IllegalAction) as caught:
                await table.act(play(HAND[1]))
            assert (caught.value.rule, caught.value.message) == ("LAY-1", "lay the lowest card")
            await table.act(play(HAND[0]), expected_sequence=0)
            with pytest.raises(StaleSequence):
                await table.act(play(HAND[1]), expected_sequence=0)
            await lay_all(table)
    assert fake.calls.count("Play") == 1


async def test_a_table_that_one_may_not_play_at(client_of: Connects) -> None:
    # A write that meets the end of a stream may hide how it ended: then the client asks again, and is refused again.
    refusal = Script(Fault.DROP, at_action=0, drop_code=grpc.StatusCode.PERMISSION_DENIED)
    with FakeCroupier(*[refusal] * 9) as fake:
        async with client_of(fake) as client:
            with pytest.raises(PermissionDenied):
                async with client.play("t1"):
                    pytest.fail("the table opened")


@pytest.mark.parametrize("fault", [Fault.END, Fault.MOVE])
async def test_patience_ends_with_streams_that_bring_nothing(client_of: Connects, fault: Fault) -> None:
    with FakeCroupier(*[Script(fault, at_action=0)] * 999) as fake:
        async with client_of(fake, policy=HASTY) as client:
            with pytest.raises(Unavailable, match="ended before the game was over"):
                async with client.play("t1"):
                    pytest.fail("the table opened")
    assert fake.calls.count("Play") < 99


async def test_patience_ends_with_nobody_there(client_of: Connects) -> None:
    with FakeCroupier() as fake:
        async with client_of(fake, policy=HASTY) as client:
            await client.sign_in()
            fake.stop()
            with pytest.raises(Unavailable):
                async with client.play("t1"):
                    pytest.fail("the table opened")
            with pytest.raises(Unavailable):
                await client.list_games()


async def test_waiting_has_a_limit(client_of: Connects) -> None:
    with FakeCroupier() as fake:
        async with client_of(fake) as client, client.play("t1") as table:
            with pytest.raises(TimedOut):
                await table.changed(timeout_seconds=0.01)
            await table.act(play(HAND[0]))
            await table.changed(after=0)


async def test_a_gap_ends_the_table(client_of: Connects) -> None:
    with FakeCroupier(Script(skew=1)) as fake:
        async with client_of(fake) as client, client.play("t1") as table:
            with pytest.raises(SequenceError):
                await lay_all(table)
            assert table.sequence == 0
            with pytest.raises(SequenceError):
                await table.changed()
            with pytest.raises(SequenceError):
                [event async for event in table]


async def test_closing_lets_go_of_those_who_wait(client_of: Connects) -> None:
    with FakeCroupier() as fake:
        async with client_of(fake) as client:
            async with client.watch("t1") as table:
                waiting = asyncio.create_task(table.changed())
                await client.list_games()
            await waiting
            async with client.play("t1") as played:
                pass
            with pytest.raises(Unavailable, match="closed"):
                await played.act(play(HAND[0]))
