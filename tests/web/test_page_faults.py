"""Pages at one table with a native player, through faults of engine, gateway and network: they draw what is there."""

import json
import secrets
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from random import Random
from typing import Any

import pytest
from playwright.sync_api import Browser, Page

from croupier_client import BlockingClient, BlockingTable
from croupier_loadtest.players.page_turn import TURN
from tests.web.browsers import DESKTOP, disturbed_page, quiet_page
from tests.web.conftest import WebDeployment
from tests.web.drawn_table import expect_view, own_secret
from tests.web.native_players import get_ready, host, open_invitation, play_in_background, take_seat
from tests.web.page_players import GAME_SECONDS, act, act_next

pytestmark = [pytest.mark.browser, pytest.mark.gateway, pytest.mark.slow]
ACTIONS_BEFORE, ACTIONS_AFTER = 5, 3
"""Of a fault, which comes in the middle of a trick."""
CUTS, GAMES = 50, 5
"""One game may be too short for so many cuts."""


@contextmanager
def proxied(port: int) -> Iterator[tuple[int, Callable[[], None]]]:
    """Open a way to a port; yields its own port, and a function that resets its connections."""
    pipe = subprocess.PIPE
    command = [sys.executable, "-m", "croupier_loadtest.faults.proxy"]
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        commands, answers = process.stdin, process.stdout

        def execute(operation: str, *arguments: object) -> Any:
            line = json.dumps({"route": "page", "operation": operation, "arguments": arguments})
            print(line, file=commands, flush=True)
            return json.loads(answers.readline())

        yield execute("open", "127.0.0.1", "127.0.0.1", port), lambda: execute("reset")


@contextmanager
def player_of(page: Page, deployment: WebDeployment) -> Iterator[BlockingClient]:
    """Sign in as the player of a page."""
    with BlockingClient(deployment.endpoints, own_secret(page), "Page") as player:
        yield player


def is_in_trick(table: BlockingTable) -> bool:
    return any(pile.name == "trick" for pile in table.view.piles)


def play_together(pages: Mapping[Page, bool], random: Random) -> None:
    """Play a game to its end on pages, each from its own seat: by keys or by taps."""
    deadline, playing = time.monotonic() + GAME_SECONDS, dict(pages)
    while playing:
        for page, by_keys in list(playing.items()):
            turn = page.evaluate(TURN)
            assert time.monotonic() < deadline, turn
            if turn["isOver"]:
                del playing[page]
            else:
                act_next(page, turn, random, by_keys=by_keys)


def test_two_pages_and_a_native_player_play_a_game(deployment: WebDeployment, browser: Browser) -> None:
    seed = secrets.randbelow(2**32)
    print(f"the seed is {seed}; put it in place of secrets.randbelow to repeat it")
    with (
        host(deployment) as client,
        quiet_page(browser, deployment.address, reduced_motion="reduce") as phone,
        quiet_page(browser, deployment.address, DESKTOP, reduced_motion="reduce") as desktop,
    ):
        created = client.create_table(game="thulla", seat_count=3).table
        for page in (phone, desktop):
            page.locator(".game").first.wait_for()
            take_seat(page, created.invite_code)
        # A seat that is taken resets who is ready, so the last page gets ready first.
        for page in (desktop, phone):
            get_ready(page)
        client.set_ready(table_id=created.table_id)
        for page in (phone, desktop):
            page.locator(".hand").wait_for()
        native = play_in_background(client, created.table_id, seed)
        play_together({phone: False, desktop: True}, Random(seed))
        native.join(GAME_SECONDS)
        assert not native.is_alive()
        for page in (phone, desktop):
            with player_of(page, deployment) as player:
                expect_view(page, player, created.table_id)


@pytest.mark.parametrize("instance", ["engine", "gateway"])
def test_a_page_continues_after_a_process_was_killed(
    deployment: WebDeployment, browser: Browser, instance: str
) -> None:
    """Both players act while the process starts again: no action is lost, or counted twice."""
    random = Random(1)
    with host(deployment) as client, disturbed_page(browser, deployment.address) as page:
        table_id = open_invitation(page, client, game="thulla", seat_count=2)
        with player_of(page, deployment) as player, client.play_table(table_id) as table:
            for _ in range(ACTIONS_BEFORE):
                act(page, table, random)
            while not is_in_trick(table):
                # The cards decide where a trick ends.
                act(page, table, random)
            expect_view(page, player, table_id)
            with page.expect_websocket(timeout=1000 * GAME_SECONDS):
                deployment.services.kill(instance)
                for _ in range(ACTIONS_AFTER):
                    act(page, table, random)
            expect_view(page, player, table_id)


def test_a_page_is_cut_off_in_the_middle_of_tricks(deployment: WebDeployment, browser: Browser) -> None:
    """Each time a player acts while the page has no connection."""
    random, cuts = Random(1), 0
    with (
        host(deployment) as client,
        proxied(deployment.port) as (port, reset),
        disturbed_page(browser, f"https://localhost:{port}") as page,
    ):
        table_id = open_invitation(page, client, game="thulla", seat_count=2, options={"best_of": GAMES})
        with player_of(page, deployment) as player, client.play_table(table_id) as table:
            while cuts < CUTS:
                assert not table.is_finished, cuts
                if is_in_trick(table):
                    with page.expect_websocket(timeout=1000 * GAME_SECONDS):
                        reset()
                        act(page, table, random)
                    cuts += 1
                else:
                    act(page, table, random)
                expect_view(page, player, table_id)
