"""The blocking channel under gevent, in a process of its own."""

import subprocess
import sys
from pathlib import Path

from tests.client.fake_croupier import FakeCroupier, StreamFault, StreamScript

GREENLETS = """
import sys
from gevent import monkey
monkey.patch_all()
import grpc.experimental.gevent
grpc.experimental.gevent.init_gevent()
import gevent
from random import Random
from croupier_client import BlockingClient, Endpoints, choose_random_action, play_game_blocking

def game(address):
    with BlockingClient(Endpoints.single(address), "a secret of this device") as client:
        with client.play_table("t1") as table:
            play_game_blocking(table, lambda seen: choose_random_action(seen, Random()))
            return table.ranking

games = [gevent.spawn(game, address) for address in sys.argv[1:]]
gevent.joinall(games, timeout=60, raise_error=True)
print([game.value for game in games])
"""


def test_greenlets_play_under_gevent() -> None:
    broken = StreamScript(StreamFault.DROP, at_action=2)
    with FakeCroupier(broken) as first, FakeCroupier(broken) as second:
        done = subprocess.run(
            [sys.executable, "-c", GREENLETS, first.address, second.address],
            capture_output=True,
            text=True,
            timeout=90,
            cwd=Path(__file__).parent,
            check=False,
        )
    assert done.stdout.strip() == "[((0,), (1,)), ((0,), (1,))]", done.stderr
