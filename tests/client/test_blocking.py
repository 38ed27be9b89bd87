"""What only the blocking channel has: a bot of its own, under gevent in a process of its own."""

import subprocess
import sys
from pathlib import Path

from tests.client.fakes import FakeCroupier, Fault, Script

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
gevent.joinall(games, timeout=60, raise_error=True)
print([game.value for game in games])
"""


def test_greenlets_play_under_gevent() -> None:
    broken = Script(Fault.DROP, at_action=2)
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
