"""Both channels against a fake whose streams break, repeat, leave out, refuse and end."""

import asyncio
from collections.abc import Callable
from functools import partial
from random import Random
from typing import Any, TypeAlias

import grpc
import pytest

from croupier_api.v1 import engine_pb2
from croupier_client import (
    BlockingClient,
    Client,
    Endpoints,
    IllegalAction,
    NotFound,
    PermissionDenied,
    RetryPolicy,
    SequenceError,
    StaleSequence,
    TimedOut,
    Unauthenticated,
    Unavailable,
    play_game,
    random_legal,
)
from tests.client.fakes import (
    HAND,
    HASTY,
    HOUR_MILLISECONDS,
    QUICK,
    UNKNOWN_CARD,
    FakeCroupier,
    Script,
    play,
    refused,
    since_start,
)
from tests.client.threads import InThreads

PATIENCE_SECONDS = 60.0
SECRET = "a secret of this device"


Connects: TypeAlias = Callable[..., Any]
"""Makes a client of a fake, to be used like `Client`."""


@pytest.fixture(params=["asyncio", "blocking"])
def client_of(request: pytest.FixtureRequest) -> Connects:
    """A client of each of the two channels."""

    def connect(fake: FakeCroupier, policy: RetryPolicy = QUICK, clock: Callable[[], int] = since_start) -> Any:
        endpoints = Endpoints.single(fake.address)
        if request.param == "asyncio":
            return Client(endpoints, SECRET, "Kari", policy=policy, clock=clock)
        return InThreads(BlockingClient(endpoints, SECRET, "Kari", policy=policy, clock=clock))

    return connect


# A write that meets the end of a stream may hide how it ended: then the client asks again, and is refused again.
REFUSED_FOR_GOOD = [Script(refuse=grpc.StatusCode.PERMISSION_DENIED, reason="NOT_YOUR_SEAT")] * 9


async def lay_all(table: Any) -> None:
    for card in HAND[table.sequence :]:
        await table.act(play(card))


async def test_calls_sign_in_by_themselves_and_carry_metadata(client_of: Connects) -> None:
    with FakeCroupier() as fake:
        async with client_of(fake) as client:
            assert client.player is None
            assert [game.game for game in (await client.list_games()).games] == ["laying"]
            created = await client.create_table(game="laying", seats=2, options={"jokers": True, "points": 3})
            assert dict(created.table.options.values) == {"jokers": "true", "points": "3"}
            assert (await client.get_leaderboard(game="laying")).lines[0].position == 1
            assert (await client.get_view(table_id="t1")).snapshot == fake.table.snapshot()
            assert client.player is not None
            assert client.player.player_id == f"player of {SECRET}"
    assert fake.calls == ["SignIn", "ListGames", "CreateTable", "GetLeaderboard", "GetView"]
    assert "x-table-id" not in fake.metadata[0]
    assert fake.metadata[-1]["x-table-id"] == "t1"
    assert len({metadata["x-request-id"] for metadata in fake.metadata}) == len(fake.metadata)


async def test_concurrent_calls_sign_in_once(client_of: Connects) -> None:
    with FakeCroupier() as fake:
        async with client_of(fake) as client:
            await asyncio.gather(*(client.list_games() for _ in range(5)))
    assert fake.calls.count("SignIn") == 1


async def test_token_is_refreshed_before_it_ends(client_of: Connects) -> None:
    now = 0
    with FakeCroupier() as fake:
        async with client_of(fake, clock=lambda: now) as client:
            await client.list_games()
            now = HOUR_MILLISECONDS - 1000
            await client.list_games()
    assert fake.calls == ["SignIn", "ListGames", "RefreshToken", "ListGames"]


async def test_token_that_is_not_taken_is_refreshed_once(client_of: Connects) -> None:
    with FakeCroupier() as fake:
        async with client_of(fake) as client:
            await client.list_games()
            fake.end_access_tokens()
            await client.create_table(game="laying", seats=2)
    assert fake.calls == ["SignIn", "ListGames", "CreateTable", "RefreshToken", "CreateTable"]


async def test_refresh_that_fails_leads_to_a_new_sign_in(client_of: Connects) -> None:
    with FakeCroupier() as fake:
        async with client_of(fake) as client:
            await client.sign_in()
            fake.end_access_tokens()
            fake.refresh_tokens.clear()
            await client.list_games()
    assert fake.calls == ["SignIn", "ListGames", "RefreshToken", "SignIn", "ListGames"]


async def test_client_that_stays_unknown_gets_an_error(client_of: Connects) -> None:
    with FakeCroupier(token_milliseconds=HOUR_MILLISECONDS) as fake:
        async with client_of(fake) as client:
            await client.sign_in()
            fake.unary_failures.extend([refused(grpc.StatusCode.UNAUTHENTICATED, "who?")] * 9)
            with pytest.raises(Unauthenticated, match="who"):
                await client.list_games()


async def test_only_idempotent_calls_are_tried_again(client_of: Connects) -> None:
    unavailable = refused(grpc.StatusCode.UNAVAILABLE, "draining", "DRAINING")
    with FakeCroupier() as fake:
        async with client_of(fake) as client:
            await client.sign_in()
            fake.unary_failures.extend([unavailable] * 3)
            await client.list_games()
            assert not fake.unary_failures
            fake.unary_failures.append(unavailable)
            with pytest.raises(Unavailable) as caught:
                await client.create_table(game="laying", seats=2)
    assert caught.value.reason == "DRAINING"
    assert fake.calls.count("CreateTable") == 1


async def test_refused_call_tells_everything(client_of: Connects) -> None:
    with FakeCroupier() as fake:
        async with client_of(fake) as client:
            await client.sign_in()
            fake.unary_failures.append(refused(grpc.StatusCode.NOT_FOUND, "no such table", "UNKNOWN_TABLE", "R-1"))
            with pytest.raises(NotFound) as caught:
                await client.get_view(table_id="t9")
    assert (caught.value.message, caught.value.reason, caught.value.rule) == ("no such table", "UNKNOWN_TABLE", "R-1")


async def test_quick_match_survives_a_lost_connection(client_of: Connects) -> None:
    with FakeCroupier(Script(end_early=True)) as fake:
        async with client_of(fake) as client:
            assert (await client.quick_match_until_seated(game="laying", seats=2)).table_id == "t1"
            assert (await client.quick_match_until_seated(game="laying", seats=2, request_id="mine")).table_id == "t1"
    first, again, other = fake.wishes
    assert first == again != other == "mine"


async def test_quick_match_shows_how_the_wish_stands(client_of: Connects) -> None:
    with FakeCroupier() as fake:
        async with client_of(fake) as client:
            assert [answer.waiting async for answer in client.quick_match(game="laying", seats=2)] == [1, 2]


async def test_whole_game(client_of: Connects) -> None:
    with FakeCroupier() as fake:
        async with client_of(fake) as client, client.play("t1") as table:
            assert table.view == fake.table.view()
            assert [await table.act(play(card)) for card in HAND] == [1, 2, 3, 4]
            assert table.view == fake.table.view()
            assert table.ranking == ((0,), (1,))
            kinds = [type(event).__name__ async for event in table]
    assert kinds == ["Snapshot", "Reaction"] + ["TableUpdate"] * 4


async def test_bot_plays_a_game(client_of: Connects) -> None:
    with FakeCroupier(Script(drop_at_action=2)) as fake:
        async with client_of(fake) as client, client.play("t1") as table:
            await play_game(table, partial(random_legal, random=Random(1)))
            assert table.finished
            assert table.revealed_seed == "5eed"


async def test_bot_decides_anew_when_others_were_faster(client_of: Connects) -> None:
    with FakeCroupier() as fake:
        async with client_of(fake) as client, client.play("t1") as table:
            await table.act(play(HAND[0]))
            with pytest.raises(StaleSequence):
                await table.act(play(HAND[1]), expected_sequence=0)
            await table.act(play(HAND[1]), expected_sequence=1)


async def test_act_waits_until_the_action_is_in_the_view(client_of: Connects) -> None:
    with FakeCroupier(Script(answer_first=True)) as fake:
        async with client_of(fake) as client, client.play("t1") as table:
            for card in HAND:
                assert await table.act(play(card)) == table.sequence


async def test_proposals_and_votes_are_sent_until_answered_and_wait_until_seen(
    client_of: Connects,
) -> None:
    with FakeCroupier() as fake:
        fake.table.proposal = engine_pb2.Proposal(sequence=7, name="again")
        async with client_of(fake) as client, client.play("t1") as table:
            fake.unary_failures.append(refused(grpc.StatusCode.UNAVAILABLE, "lost"))
            proposing = asyncio.create_task(table.propose("again"))
            voting = asyncio.create_task(table.vote(agree=True))
            for _ in range(2):
                assert await asyncio.to_thread(fake.heard.acquire, timeout=PATIENCE_SECONDS)
            assert not proposing.done()
            assert not voting.done()
            await table.act(play(HAND[0]))
            assert (await proposing, await voting) == (1, 1)
    assert len(fake.said) == 3
    proposed = [said for said in fake.said if isinstance(said, engine_pb2.ProposeRequest)]
    voted = [said for said in fake.said if isinstance(said, engine_pb2.VoteRequest)]
    assert all((request.table_id, request.proposal) == ("t1", "again") for request in proposed)
    assert all((request.proposal_sequence, request.agree) == (7, True) for request in voted)
    assert len({request.request_id for request in proposed}) == len({request.request_id for request in voted}) == 1


async def test_a_proposal_that_is_refused_tells_why(client_of: Connects) -> None:
    with FakeCroupier() as fake:
        async with client_of(fake) as client, client.play("t1") as table:
            fake.unary_failures.append(
                refused(grpc.StatusCode.FAILED_PRECONDITION, "not now", "ILLEGAL_ACTION", "LAY-2")
            )
            with pytest.raises(IllegalAction) as caught:
                await table.propose("again")
            assert caught.value.rule == "LAY-2"


async def test_action_that_could_not_be_stored_is_sent_again(client_of: Connects) -> None:
    with FakeCroupier(Script(busy_at_action=2)) as fake:
        async with client_of(fake) as client, client.play("t1") as table:
            await lay_all(table)
    assert fake.calls.count("Play") == 1


async def test_refused_action_leaves_the_stream_open(client_of: Connects) -> None:
    with FakeCroupier() as fake:
        async with client_of(fake) as client, client.play("t1") as table:
            with pytest.raises(IllegalAction) as caught:
                await table.act(UNKNOWN_CARD)
            assert (caught.value.rule, caught.value.message) == ("LAY-1", "lay the lowest card")
            await lay_all(table)
    assert fake.calls.count("Play") == 1


@pytest.mark.parametrize("apply_first", [True, False])
@pytest.mark.parametrize(
    "code", [grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.RESOURCE_EXHAUSTED, grpc.StatusCode.INTERNAL]
)
async def test_action_survives_a_lost_stream(client_of: Connects, apply_first: bool, code: grpc.StatusCode) -> None:
    broken = Script(drop_at_action=1, apply_first=apply_first, drop_code=code)
    with FakeCroupier(Script(drop_at_action=2, apply_first=apply_first), broken, broken) as fake:
        async with client_of(fake) as client, client.play("t1") as table:
            await lay_all(table)
            assert table.view == fake.table.view()
        first, second = fake.table.submitted[0], fake.table.submitted[1]
        assert fake.table.submitted.count(first) == 1
        assert fake.table.submitted.count(second) == (4 if apply_first else 1)
        assert [watch.after_sequence for watch in fake.watched[1:]] == [1] + [2 if apply_first else 1] * 2
    assert not fake.watched[0].HasField("after_sequence")


async def test_stream_that_ends_too_early_is_opened_again(client_of: Connects) -> None:
    with FakeCroupier(Script(end_early=True), Script(end_early=True)) as fake:
        async with client_of(fake) as client, client.play("t1") as table:
            await lay_all(table)
    assert fake.calls.count("Play") == 3


async def test_last_answer_is_asked_for_when_the_game_took_it_along(client_of: Connects) -> None:
    with FakeCroupier(Script(swallow_last_answer=True)) as fake:
        async with client_of(fake) as client, client.play("t1") as table:
            await lay_all(table)
            assert table.sequence == len(HAND)
    assert fake.calls[-1] == "SubmitAction"
    assert len(fake.table.answers) == len(HAND)


async def test_action_survives_a_restart_of_the_service(client_of: Connects) -> None:
    with FakeCroupier() as fake:
        async with client_of(fake) as client, client.play("t1") as table:
            await table.act(play(HAND[0]))
            await asyncio.to_thread(fake.stop)
            acting = asyncio.create_task(table.act(play(HAND[1])))
            await asyncio.to_thread(fake.start)
            assert await acting == 2
            await lay_all(table)


async def test_token_ends_while_the_table_is_played(client_of: Connects) -> None:
    with FakeCroupier(Script(drop_at_action=1)) as fake:
        async with client_of(fake) as client, client.play("t1") as table:
            fake.end_access_tokens()
            await lay_all(table)
    assert fake.calls[:3] == ["SignIn", "Play", "Play"]
    assert fake.calls[-2:] == ["RefreshToken", "Play"]


@pytest.mark.parametrize("skew", [1, -1])
async def test_gap_or_repeat_ends_the_table(client_of: Connects, skew: int) -> None:
    with FakeCroupier(Script(skew=skew)) as fake:
        async with client_of(fake) as client, client.play("t1") as table:
            with pytest.raises(SequenceError):
                await table.act(play(HAND[0]))
            assert table.sequence == 0
            with pytest.raises(SequenceError):
                await table.changed()
            with pytest.raises(SequenceError):
                [event async for event in table]


async def test_table_that_one_may_not_play_at(client_of: Connects) -> None:
    with FakeCroupier(*REFUSED_FOR_GOOD) as fake:
        async with client_of(fake) as client:
            with pytest.raises(PermissionDenied):
                async with client.play("t1"):
                    pytest.fail("the table opened")


async def test_patience_ends_with_streams_that_end_at_once(client_of: Connects) -> None:
    with FakeCroupier(*[Script(end_at_once=True)] * 999) as fake:
        async with client_of(fake, HASTY) as client:
            with pytest.raises(Unavailable, match="ended before the game was over"):
                async with client.play("t1"):
                    pytest.fail("the table opened")
    assert fake.calls.count("Play") < 99


async def test_patience_ends(client_of: Connects) -> None:
    with FakeCroupier() as fake:
        async with client_of(fake, HASTY) as client:
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


async def test_spectator_follows_to_the_end(client_of: Connects) -> None:
    with FakeCroupier(Script(), Script(end_early=True)) as fake:
        async with client_of(fake) as client, client.play("t1") as played, client.watch("t1") as watched:
            await lay_all(played)
            fake.hold.set()
            updates = [event.sequence async for event in watched if isinstance(event, engine_pb2.TableUpdate)]
            assert updates == [1, 2, 3, 4]
            assert watched.view == played.view


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
