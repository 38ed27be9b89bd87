"""The blocking channel against the same fake; under gevent in a process of its own."""

import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from random import Random

import grpc
import pytest

from croupier_api.v1 import engine_pb2
from croupier_client import (
    BlockingClient,
    BlockingTable,
    Endpoints,
    IllegalAction,
    PermissionDenied,
    RetryPolicy,
    SequenceError,
    TimedOut,
    Unauthenticated,
    Unavailable,
    play_game_blocking,
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

SECRET = "a secret of this device"
PATIENCE_SECONDS = 5.0


def client_of(fake: FakeCroupier, policy: RetryPolicy = QUICK) -> BlockingClient:
    return BlockingClient(Endpoints.single(fake.address), SECRET, "Kari", policy=policy, clock=since_start)


def lay_all(table: BlockingTable) -> None:
    for card in HAND[table.sequence :]:
        table.act(play(card))


def test_calls_sign_in_by_themselves() -> None:
    with FakeCroupier() as fake, client_of(fake) as client:
        assert [game.game for game in client.list_games().games] == ["laying"]
        assert client.create_table(game="laying", seats=2).table.table_id == "t1"
        assert client.quick_match_until_seated(game="laying", seats=2).table_id == "t1"
        assert client.sign_in().player_id == f"player of {SECRET}"
    assert fake.calls == ["SignIn", "ListGames", "CreateTable", "QuickMatch", "SignIn"]


def test_threads_sign_in_once() -> None:
    with FakeCroupier() as fake, client_of(fake) as client:
        threads = [threading.Thread(target=client.list_games) for _ in range(5)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert fake.calls.count("SignIn") == 1
    assert fake.calls.count("ListGames") == 5


def test_tokens_are_kept_fresh() -> None:
    now = 0
    with FakeCroupier() as fake:
        with BlockingClient(Endpoints.single(fake.address), SECRET, policy=QUICK, clock=lambda: now) as client:
            client.list_games()
            now = HOUR_MILLISECONDS - 1000
            client.list_games()
        assert fake.calls == ["SignIn", "ListGames", "RefreshToken", "ListGames"]


def test_token_that_is_not_taken() -> None:
    with FakeCroupier() as fake, client_of(fake) as client:
        client.list_games()
        fake.end_access_tokens()
        client.create_table(game="laying", seats=2)
        assert fake.calls[2:] == ["CreateTable", "RefreshToken", "CreateTable"]
        fake.end_access_tokens()
        fake.refresh_tokens.clear()
        client.list_games()
        assert fake.calls[5:] == ["ListGames", "RefreshToken", "SignIn", "ListGames"]
        fake.unary_failures.extend([refused(grpc.StatusCode.UNAUTHENTICATED, "who?")] * 9)
        with pytest.raises(Unauthenticated):
            client.list_games()


def test_only_idempotent_calls_are_tried_again() -> None:
    unavailable = refused(grpc.StatusCode.UNAVAILABLE, "draining", "DRAINING")
    with FakeCroupier() as fake, client_of(fake) as client:
        client.sign_in()
        fake.unary_failures.extend([unavailable] * 3)
        client.list_games()
        fake.unary_failures.append(unavailable)
        with pytest.raises(Unavailable):
            client.create_table(game="laying", seats=2)
    assert fake.calls.count("CreateTable") == 1


def test_quick_match_survives_a_lost_connection() -> None:
    with FakeCroupier(Script(end_early=True)) as fake, client_of(fake) as client:
        assert [answer.waiting for answer in client.quick_match(game="laying", seats=2)] == [1, 1, 2]
        assert client.quick_match_until_seated(game="laying", seats=2, request_id="mine").table_id == "t1"
    first, again, other = fake.wishes
    assert first == again != other == "mine"


def test_whole_game() -> None:
    with FakeCroupier() as fake, client_of(fake) as client, client.play("t1") as table:
        assert table.view == fake.table.view()
        assert [table.act(play(card)) for card in HAND] == [1, 2, 3, 4]
        assert table.view == fake.table.view()
        assert [type(event).__name__ for event in table] == ["Snapshot", "Reaction"] + ["TableUpdate"] * 4


def test_bot_plays_a_game() -> None:
    scripts = [Script(answer_first=True, drop_at_action=2), Script(busy_at_action=1)]
    with FakeCroupier(*scripts) as fake, client_of(fake) as client, client.play("t1") as table:
        play_game_blocking(table, partial(random_legal, random=Random(1)))
        assert table.ranking == ((0,), (1,))


def test_proposals_and_votes_wait_until_they_are_seen() -> None:
    with FakeCroupier() as fake:
        fake.table.proposal = engine_pb2.Proposal(sequence=7, name="again")
        with client_of(fake) as client, client.play("t1") as table, ThreadPoolExecutor() as threads:
            proposing = threads.submit(table.propose, "again")
            voting = threads.submit(table.vote, agree=False)
            for _ in range(2):
                assert fake.heard.acquire(timeout=PATIENCE_SECONDS)
            assert not proposing.done()
            assert not voting.done()
            table.act(play(HAND[0]))
            assert (proposing.result(PATIENCE_SECONDS), voting.result(PATIENCE_SECONDS)) == (1, 1)
    said = {type(request): request for request in fake.said}
    voted = said[engine_pb2.VoteRequest]
    assert voted == engine_pb2.VoteRequest(table_id="t1", request_id=voted.request_id, proposal_sequence=7)


def test_refused_action_leaves_the_stream_open() -> None:
    with FakeCroupier() as fake, client_of(fake) as client, client.play("t1") as table:
        with pytest.raises(IllegalAction):
            table.act(UNKNOWN_CARD)
        lay_all(table)
        assert fake.calls.count("Play") == 1


@pytest.mark.parametrize("apply_first", [True, False])
def test_action_survives_a_lost_stream(apply_first: bool) -> None:
    broken = Script(drop_at_action=1, apply_first=apply_first)
    with FakeCroupier(Script(drop_at_action=2, apply_first=apply_first), broken, broken) as fake:
        with client_of(fake) as client, client.play("t1") as table:
            lay_all(table)
            assert table.view == fake.table.view()
        assert fake.table.submitted.count(fake.table.submitted[1]) == (4 if apply_first else 1)
        assert len(fake.table.answers) == len(HAND)


def test_last_answer_is_asked_for_when_the_game_took_it_along() -> None:
    with FakeCroupier(Script(swallow_last_answer=True)) as fake, client_of(fake) as client:
        with client.play("t1") as table:
            lay_all(table)
        assert fake.calls[-1] == "SubmitAction"


def test_action_survives_a_restart_of_the_service() -> None:
    with FakeCroupier() as fake, client_of(fake) as client, client.play("t1") as table:
        table.act(play(HAND[0]))
        fake.stop()
        restart = threading.Thread(target=fake.start)
        restart.start()
        assert table.act(play(HAND[1])) == 2
        restart.join()
        lay_all(table)


@pytest.mark.parametrize("skew", [1, -1])
def test_gap_or_repeat_ends_the_table(skew: int) -> None:
    with FakeCroupier(Script(skew=skew)) as fake, client_of(fake) as client, client.play("t1") as table:
        with pytest.raises(SequenceError):
            table.act(play(HAND[0]))
        with pytest.raises(SequenceError):
            table.changed()
        with pytest.raises(SequenceError):
            list(table)


def test_table_that_one_may_not_play_at() -> None:
    refusals = [Script(refuse=grpc.StatusCode.PERMISSION_DENIED, reason="NOT_YOUR_SEAT")] * 9
    with FakeCroupier(*refusals) as fake, client_of(fake) as client, pytest.raises(PermissionDenied), client.play("t1"):
        pytest.fail("the table opened")


def test_patience_ends_with_streams_that_end_at_once() -> None:
    streams = [Script(end_at_once=True)] * 999
    with FakeCroupier(*streams) as fake, client_of(fake, HASTY) as client:
        with pytest.raises(Unavailable, match="ended before the game was over"), client.play("t1"):
            pytest.fail("the table opened")
        assert fake.calls.count("Play") < 99


def test_patience_ends() -> None:
    fake = FakeCroupier()
    with BlockingClient(Endpoints.single(fake.address), SECRET, policy=HASTY) as client:
        client.sign_in()
        fake.stop()
        with pytest.raises(Unavailable), client.play("t1"):
            pytest.fail("the table opened")
        with pytest.raises(Unavailable):
            client.list_games()


def test_waiting_has_a_limit() -> None:
    with FakeCroupier() as fake, client_of(fake) as client, client.play("t1") as table:
        with pytest.raises(TimedOut):
            table.changed(timeout_seconds=0.01)
        table.act(play(HAND[0]))
        table.changed(after=0)
        assert table.your_turn(timeout_seconds=0)


def test_spectator_follows_to_the_end() -> None:
    with (
        FakeCroupier(Script(), Script(end_early=True)) as fake,
        client_of(fake) as client,
        client.play("t1") as played,
        client.watch("t1") as watched,
    ):
        lay_all(played)
        fake.hold.set()
        updates = [event.sequence for event in watched if isinstance(event, engine_pb2.TableUpdate)]
        assert updates == [1, 2, 3, 4]
        assert watched.view == played.view


def test_closing_lets_go_of_those_who_wait() -> None:
    with FakeCroupier() as fake, client_of(fake) as client:
        with client.watch("t1") as table:
            waiting = threading.Thread(target=table.changed)
            waiting.start()
        waiting.join(5)
        assert not waiting.is_alive()
        with client.play("t1") as played:
            pass
        with pytest.raises(Unavailable, match="closed"):
            played.act(play(HAND[0]))


GREENLETS = """
import sys
from gevent import monkey
monkey.patch_all()
import grpc.experimental.gevent
grpc.experimental.gevent.init_gevent()
import gevent
from random import Random
from croupier_client import BlockingClient, Endpoints, play_game_blocking, random_legal

def game(address):
    with BlockingClient(Endpoints.single(address), "a secret of this device") as client:
        with client.play("t1") as table:
            play_game_blocking(table, lambda seen: random_legal(seen, Random()))
            return table.ranking

games = [gevent.spawn(game, address) for address in sys.argv[1:]]
gevent.joinall(games, timeout=20, raise_error=True)
print([game.value for game in games])
"""


def test_greenlets_play_under_gevent() -> None:
    broken = Script(drop_at_action=2)
    with FakeCroupier(broken) as first, FakeCroupier(broken) as second:
        done = subprocess.run(
            [sys.executable, "-c", GREENLETS, first.address, second.address],
            capture_output=True,
            text=True,
            timeout=30,
            cwd=Path(__file__).parent,
            check=False,
        )
    assert done.stdout.strip() == "[((0,), (1,)), ((0,), (1,))]", done.stderr
