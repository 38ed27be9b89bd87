"""Sessions, and both channels with services that answer, refuse, or stay unavailable."""

import asyncio
import pickle
import subprocess
import sys
import time
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

import grpc
import pytest
from google.protobuf.duration_pb2 import Duration

from croupier_api.v1 import engine_pb2, errors_pb2, lobby_pb2
from croupier_client import (
    FailedPrecondition,
    IllegalAction,
    PermissionDenied,
    RetryPolicy,
    SequenceError,
    StaleSequence,
    Superseded,
    TimedOut,
    Unauthenticated,
    Unavailable,
    choose_random_action,
    play_game,
)
from croupier_client.session import Session
from tests.client.conftest import SECRET, SHORT_RETRIES, Connect
from tests.client.fake_croupier import FakeCroupier, StreamFault, StreamScript
from tests.client.fake_table import HAND
from tests.client.messages import play, refused
from tests.waiting import until

UNAVAILABLE = refused(grpc.StatusCode.UNAVAILABLE, "no answer", errors_pb2.ERROR_REASON_STORE_UNAVAILABLE)


async def play_all_cards(table: Any) -> None:
    for card in HAND[table.sequence :]:
        assert await table.submit_action(play(card)) == table.sequence


async def test_calls_sign_in_once_by_themselves_and_have_metadata(client_of: Connect) -> None:
    with FakeCroupier() as fake:
        async with client_of(fake) as client:
            assert not client.player
            listed = await asyncio.gather(*(client.list_games() for _ in range(5)))
            assert [game.game for answer in listed for game in answer.games] == ["laying"] * 5
            created = await client.create_table(game="laying", seat_count=2, options={"jokers": True, "points": 3})
            assert dict(created.table.options) == {"jokers": True, "points": 3}
            assert (await client.get_leaderboard(game="laying")).entries[0].position == 1
            assert (await client.get_view(table_id="t1")).snapshot == fake.table.snapshot()
            assert client.player.player_id == f"player of {SECRET}"
    assert fake.calls == ["SignIn", *["ListGames"] * 5, "CreateTable", "GetLeaderboard", "GetView"]
    assert "authorization" not in fake.metadata[0]
    assert "x-table-id" not in fake.metadata[1]
    assert fake.metadata[-1]["x-table-id"] == "t1"
    assert len({metadata["x-request-id"] for metadata in fake.metadata}) == len(fake.metadata)


async def test_a_token_is_refreshed_only_when_it_is_refused(client_of: Connect) -> None:
    with FakeCroupier() as fake:
        async with client_of(fake) as client:
            await client.sign_in()
            fake.access_tokens.clear()
            await client.create_table(game="laying", seat_count=2)
            assert fake.calls == ["SignIn", "CreateTable", "RefreshToken", "CreateTable"]
            fake.access_tokens.clear()
            fake.refresh_tokens.clear()
            await client.list_games()
            assert fake.calls[4:] == ["ListGames", "RefreshToken", "SignIn", "ListGames"]
            assert client.player.name == "Kari"


@pytest.mark.parametrize("ahead_milliseconds", [-3_600_000, 0, 365 * 86_400_000])
async def test_a_device_whose_clock_is_wrong_signs_in_once(client_of: Connect, ahead_milliseconds: int) -> None:
    with FakeCroupier() as fake:
        async with client_of(fake, clock=lambda: time.time_ns() // 1_000_000 + ahead_milliseconds) as client:
            for _ in range(20):
                await client.list_games()
    assert fake.calls == ["SignIn", *["ListGames"] * 20]


async def test_a_sign_in_that_the_client_makes_by_itself_keeps_the_name_of_another_device(client_of: Connect) -> None:
    with FakeCroupier() as fake:
        async with client_of(fake) as client:
            await client.sign_in()
            fake.name = "Karin"
            fake.access_tokens.clear()
            fake.refresh_tokens.clear()
            await client.list_games()
            assert fake.calls[-3:] == ["RefreshToken", "SignIn", "ListGames"]
            assert (await client.sign_in()).name == fake.name == "Karin"
            assert (await client.sign_in("Kari")).name == fake.name == "Kari"


async def test_a_rename_here_and_on_another_device_is_known(client_of: Connect) -> None:
    with FakeCroupier() as fake:
        async with client_of(fake) as client:
            await client.update_player(name="Karin")
            assert client.player.name == "Karin"
            fake.name = "Kaja"
            fake.access_tokens.clear()
            await client.list_games()
            assert client.player.name == "Kaja"


@pytest.mark.parametrize("all_devices", [False, True])
async def test_a_client_that_signs_out_forgets_its_tokens(client_of: Connect, all_devices: bool) -> None:
    with FakeCroupier() as fake:
        async with client_of(fake) as client:
            await client.sign_in()
            refresh_token = client.session.tokens.refresh_token
            fake.unary_failures.append(UNAVAILABLE)
            await client.sign_out(all_devices=all_devices)
            assert (client.player, client.session.tokens) == (None, None)
            assert fake.calls == ["SignIn", "SignOut", "SignOut"]
            request = lobby_pb2.SignOutRequest(refresh_token=refresh_token, all_devices=all_devices)
            assert fake.requests_of(lobby_pb2.SignOutRequest) == [request] * 2
            # Only a token names the player whose devices are signed out.
            await client.sign_out(all_devices=all_devices)
            assert fake.calls[3:] == (["SignIn", "SignOut"] if all_devices else [])
            await client.list_games()
            assert fake.calls[-2:] == ["SignIn", "ListGames"]


async def test_a_client_that_deletes_its_player_signs_in_as_a_new_one(client_of: Connect) -> None:
    with FakeCroupier() as fake:
        async with client_of(fake) as client:
            await client.delete_player()
            assert (client.player, client.session.tokens) == (None, None)
            await client.list_games()
    assert fake.calls == ["SignIn", "DeletePlayer", "SignIn", "ListGames"]


async def test_a_device_code_is_for_one_sign_in(client_of: Connect) -> None:
    with FakeCroupier() as fake:
        async with client_of(fake) as client:
            await client.sign_in(device_code="ABCD")
            await client.sign_in()
    assert [request.device_code for request in fake.requests_of(lobby_pb2.SignInRequest)] == ["ABCD", ""]


async def test_an_id_token_is_for_one_sign_in_and_the_device_secret_for_those_after_it(client_of: Connect) -> None:
    with FakeCroupier() as fake:
        async with client_of(fake) as client:
            await client.sign_in(id_token="signed by the provider")
            await client.sign_in()
    requests = fake.requests_of(lobby_pb2.SignInRequest)
    assert [request.id_token for request in requests] == ["signed by the provider", ""]
    assert requests[0].device_secret == requests[1].device_secret != ""


async def test_only_repeatable_calls_are_retried_and_a_token_is_refused_once(client_of: Connect) -> None:
    with FakeCroupier() as fake:
        async with client_of(fake) as client:
            await client.sign_in()
            fake.unary_failures.extend([UNAVAILABLE] * 3)
            await client.list_games()
            assert not fake.unary_failures
            fake.unary_failures.append(UNAVAILABLE)
            await client.create_table(game="laying", seat_count=2)
            assert fake.calls.count("CreateTable") == 2
            fake.unary_failures.append(UNAVAILABLE)
            with pytest.raises(Unavailable) as caught:
                await client.add_bot(table_id="t")
            assert (caught.value.message, caught.value.reason_name) == ("no answer", "STORE_UNAVAILABLE")
            assert fake.calls.count("AddBot") == 1
            fake.unary_failures.extend([refused(grpc.StatusCode.UNAUTHENTICATED, "who?")] * 9)
            with pytest.raises(Unauthenticated, match="who"):
                await client.list_games()


@pytest.mark.parametrize("later", ["set_ready", "leave_table"])
async def test_a_retry_does_not_undo_a_later_change_of_the_seat(client_of: Connect, later: str) -> None:
    """It fails with the error that it would be retried for."""
    slow = RetryPolicy(first_delay_seconds=6, max_delay_seconds=6)
    with FakeCroupier() as fake:
        async with client_of(fake, policy=slow) as client:
            await client.sign_in()
            fake.unary_failures.append(UNAVAILABLE)
            readying = asyncio.create_task(client.set_ready(table_id="t1"))
            await until(lambda: not fake.unary_failures)
            await getattr(client, later)(table_id="t1", **({"is_ready": False} if later == "set_ready" else {}))
            with pytest.raises(Unavailable):
                await readying
            await client.set_ready(table_id="t1")
    assert fake.calls.count("SetReady") == 2 + (later == "set_ready")


async def test_find_match_reports_its_progress_and_survives_a_lost_connection(client_of: Connect) -> None:
    with FakeCroupier(StreamScript(), StreamScript(StreamFault.DROP)) as fake:
        async with client_of(fake) as client:
            assert [answer.waiting_count async for answer in client.find_match(game="laying", seat_count=2)] == [1, 2]
            assert (await client.wait_for_match(game="laying", seat_count=2)).table_id == "t1"
            assert (await client.wait_for_match(game="laying", seat_count=2, request_id="mine")).table_id == "t1"
    _, first, again, other = (request.request_id for request in fake.requests_of(lobby_pb2.FindMatchRequest))
    assert first == again != other == "mine"


async def test_a_match_without_a_table_is_called_again_with_the_same_request(client_of: Connect) -> None:
    """At once, or after a delay if the stream had no answer."""
    empty = StreamScript(StreamFault.END, at_action=0)
    with FakeCroupier(StreamScript(StreamFault.END), empty, StreamScript(StreamFault.END)) as fake:
        async with client_of(fake) as client:
            assert (await client.wait_for_match(game="laying", seat_count=2)).table_id == "t1"
    assert fake.calls == ["SignIn", *["FindMatch"] * 4]
    assert len({request.request_id for request in fake.requests_of(lobby_pb2.FindMatchRequest)}) == 1


async def test_whole_game(player_of: Connect) -> None:
    with FakeCroupier() as fake:
        async with player_of(fake) as client, client.play_table("t1") as table:
            assert table.view == fake.table.view()
            await play_all_cards(table)
            assert table.view == fake.table.view()
            assert table.ranking == ((0,), (1,))
            kinds = [type(event).__name__ async for event in table]
    assert kinds == ["Snapshot", "SeatReaction"] + ["TableUpdate"] * 4


async def test_bot_plays_a_game(player_of: Connect) -> None:
    with FakeCroupier(StreamScript(StreamFault.DROP, at_action=2)) as fake:
        async with player_of(fake) as client, client.play_table("t1") as table:
            await play_game(table, partial(choose_random_action, random=Random(1)))
            assert table.is_finished
            assert table.revealed_seed == "5eed"


async def test_proposals_and_votes_are_sent_until_answered_and_wait_until_seen(player_of: Connect) -> None:
    refusal = refused(grpc.StatusCode.FAILED_PRECONDITION, "not now", errors_pb2.ERROR_REASON_ILLEGAL_ACTION, "LAY-2")
    with FakeCroupier() as fake:
        fake.table.proposal = engine_pb2.Proposal(sequence=7, name="again")
        async with player_of(fake) as client, client.play_table("t1") as table:
            fake.unary_failures.append(refusal)
            with pytest.raises(IllegalAction) as caught:
                await table.create_proposal("never")
            assert caught.value.rule == "LAY-2"
            fake.unary_failures.append(UNAVAILABLE)
            proposing = asyncio.create_task(table.create_proposal("again"))
            voting = asyncio.create_task(table.cast_vote(agree=True))
            await until(lambda: fake.calls.count("CreateProposal") + fake.calls.count("CastVote") == 4)
            # Its answer comes after those to the earlier calls.
            await client.list_games()
            assert not proposing.done()
            assert not voting.done()
            await table.submit_action(play(HAND[0]))
            assert (await proposing, await voting) == (1, 1)
    proposed, voted = (
        fake.requests_of(engine_pb2.CreateProposalRequest)[1:],
        fake.requests_of(engine_pb2.CastVoteRequest),
    )
    assert len(proposed) + len(voted) == 3
    assert all((request.table_id, request.proposal) == ("t1", "again") for request in proposed)
    assert all((request.proposal_sequence, request.vote) == (7, engine_pb2.VOTE_AGREE) for request in voted)
    assert len({request.request_id for request in proposed}) == len({request.request_id for request in voted}) == 1


@pytest.mark.parametrize("is_away", [True, False])
async def test_a_player_leaves_and_returns_once_and_waits_until_that_is_seen(player_of: Connect, is_away: bool) -> None:
    over = errors_pb2.ERROR_REASON_TABLE_FINISHED
    refusal = refused(grpc.StatusCode.FAILED_PRECONDITION, "the game is over", over)
    with FakeCroupier() as fake:
        async with player_of(fake) as client, client.play_table("t1") as table:
            fake.unary_failures.append(UNAVAILABLE)
            leaving = asyncio.create_task(table.set_away(is_away=is_away))
            await until(lambda: fake.calls.count("SetAway") == 2)
            # Its answer comes after those to the earlier calls.
            await client.list_games()
            assert not leaving.done()
            await table.submit_action(play(HAND[0]))
            assert await leaving == 1
            fake.unary_failures.append(refusal)
            with pytest.raises(FailedPrecondition):
                await table.set_away(is_away=is_away)
    *repeated, refused_one = fake.requests_of(engine_pb2.SetAwayRequest)
    assert len({request.request_id for request in repeated}) == 1
    assert refused_one.request_id != repeated[0].request_id
    assert all((request.table_id, request.is_away) == ("t1", is_away) for request in repeated)
    assert all(request.HasField("is_away") for request in repeated)


async def test_a_refused_action_raises_its_refusal_and_leaves_the_stream_open(player_of: Connect) -> None:
    with FakeCroupier() as fake:
        async with player_of(fake) as client, client.play_table("t1") as table:
            with pytest.raises(IllegalAction) as caught:
                await table.submit_action(play(HAND[1]))
            assert (caught.value.rule, caught.value.message) == ("LAY-1", "play the lowest card")
            await table.submit_action(play(HAND[0]), expected_sequence=0)
            with pytest.raises(StaleSequence):
                await table.submit_action(play(HAND[1]), expected_sequence=0)
            await play_all_cards(table)
    assert fake.calls.count("PlayTable") == 1


async def test_a_table_without_a_seat_for_the_player(player_of: Connect) -> None:
    # A write after the end of a stream may hide its status: then the client tries again, and is refused again.
    refusal = StreamScript(StreamFault.DROP, at_action=0, drop_code=grpc.StatusCode.PERMISSION_DENIED)
    with FakeCroupier(*[refusal] * 9) as fake:
        async with player_of(fake) as client:
            with pytest.raises(PermissionDenied):
                async with client.play_table("t1"):
                    pytest.fail("the table opened")


@pytest.mark.parametrize("fault", [StreamFault.END, StreamFault.MOVE])
async def test_retries_end_with_streams_without_messages(player_of: Connect, fault: StreamFault) -> None:
    with FakeCroupier(*[StreamScript(fault, at_action=0)] * 999) as fake:
        async with player_of(fake, policy=SHORT_RETRIES) as client:
            with pytest.raises(Unavailable, match=r"ended before the game was over|the connection broke"):
                async with client.play_table("t1"):
                    pytest.fail("the table opened")
    assert fake.calls.count("PlayTable") < 99


async def test_a_superseded_stream_is_not_opened_again(player_of: Connect) -> None:
    with FakeCroupier(StreamScript(StreamFault.SUPERSEDE, at_action=2)) as fake:
        async with player_of(fake) as client, client.play_table("t1") as table:
            with pytest.raises(Superseded, match="replaced"):
                await play_all_cards(table)
            with pytest.raises(Superseded):
                await table.wait_for_change()
    assert fake.calls.count("PlayTable") == 1


async def test_retries_end_without_a_server(player_of: Connect) -> None:
    with FakeCroupier() as fake:
        async with player_of(fake, policy=SHORT_RETRIES) as client:
            await client.sign_in()
            fake.stop()
            with pytest.raises(Unavailable):
                async with client.play_table("t1"):
                    pytest.fail("the table opened")
            with pytest.raises(Unavailable):
                await client.list_games()


async def test_waiting_has_a_time_out(player_of: Connect) -> None:
    with FakeCroupier() as fake:
        async with player_of(fake) as client, client.play_table("t1") as table:
            with pytest.raises(TimedOut):
                await table.wait_for_change(timeout_seconds=0.01)
            await table.submit_action(play(HAND[0]))
            await table.wait_for_change(after=0)


async def test_a_gap_ends_the_table(player_of: Connect) -> None:
    with FakeCroupier(StreamScript(skew=1)) as fake:
        async with player_of(fake) as client, client.play_table("t1") as table:
            with pytest.raises(SequenceError):
                await play_all_cards(table)
            assert table.sequence == 0
            with pytest.raises(SequenceError):
                await table.wait_for_change()
            with pytest.raises(SequenceError):
                [event async for event in table]


async def test_closing_wakes_waiting_tasks(player_of: Connect) -> None:
    with FakeCroupier() as fake:
        async with player_of(fake) as client:
            async with client.watch_table("t1") as table:
                waiting = asyncio.create_task(table.wait_for_change())
                await client.list_games()
            await waiting
            async with client.play_table("t1") as played:
                pass
            with pytest.raises(Unavailable, match="closed"):
                await played.submit_action(play(HAND[0]))


def signed_in_session() -> Session:
    tokens = lobby_pb2.Tokens(access_token="access", access_lifetime=Duration(seconds=900), refresh_token="refresh")
    answer = lobby_pb2.SignInResponse(player=lobby_pb2.Player(player_id="p", name="Kari"), tokens=tokens)
    return Session("secret", "Kari").signed_in(answer)


def test_a_token_is_used_until_it_is_refused_also_after_it_was_stored() -> None:
    session = pickle.loads(pickle.dumps(signed_in_session()))  # noqa: S301 - it is this test's own
    assert (session.needs_refresh, session.needs_sign_in, session.access_token) == (False, False, "access")
    refused = session.rejected("access")
    assert (refused.needs_refresh, refused.needs_sign_in) == (True, False)
    assert refused.refresh_rpc().request == lobby_pb2.RefreshTokenRequest(refresh_token="refresh")
    assert refused.refresh_failed().needs_sign_in


def test_rejection_of_an_older_token_is_ignored() -> None:
    session = signed_in_session()
    assert session.rejected("the one before") == session


def test_secrets_are_not_in_the_text_of_a_session() -> None:
    text = repr(signed_in_session())
    assert "secret" not in text
    assert "access" not in text
    assert "Kari" in text


GREENLETS = """
import sys
from gevent import monkey
monkey.patch_all()
import grpc.experimental.gevent
grpc.experimental.gevent.init_gevent()
import gevent
from random import Random
from croupier_client import BlockingClient, Endpoints, choose_random_action, play_game_blocking

def game(addresses):
    services, sockets = addresses.split()
    endpoints = Endpoints(services, services, services, websocket=sockets)
    with BlockingClient(endpoints, "a secret of this device", transport=sys.argv[1]) as client:
        with client.play_table("t1") as table:
            play_game_blocking(table, lambda seen: choose_random_action(seen, Random()))
            return table.ranking

games = [gevent.spawn(game, address) for address in sys.argv[2:]]
gevent.joinall(games, timeout=60, raise_error=True)
print([game.value for game in games])
"""


@pytest.mark.parametrize("transport", ["grpc", "websocket"])
def test_greenlets_play_under_gevent(transport: str) -> None:
    broken = StreamScript(StreamFault.DROP, at_action=2)
    with FakeCroupier(broken) as first, FakeCroupier(broken) as second:
        done = subprocess.run(
            [
                *(sys.executable, "-c", GREENLETS, transport),
                *(f"{fake.address} {fake.socket_address}" for fake in (first, second)),
            ],
            capture_output=True,
            text=True,
            timeout=90,
            cwd=Path(__file__).parent,
            check=False,
        )
    assert done.stdout.strip() == "[((0,), (1,)), ((0,), (1,))]", done.stderr
