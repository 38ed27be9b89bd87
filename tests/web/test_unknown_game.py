"""Games that the page does not know, to their end."""

import secrets
import time
from collections.abc import Iterator, Mapping
from random import Random

import pytest
from playwright.sync_api import Browser, Page

from croupier.cli.launcher.background import BackgroundServices, started_services
from croupier_client import BlockingClient, Endpoints
from croupier_loadtest.players.page_turn import TURN
from tests.installed_packages import with_games_installed
from tests.tables import QUICK_BOTS
from tests.web.browsers import DESKTOP, LANDSCAPE, PHONE, quiet_page
from tests.web.native_players import open_invitation, play_in_background
from tests.web.page_players import GAME_SECONDS, act_next, play_to_the_end

# Piles that are seen on each other, on their neighbours' names, on the own points or on the others at the table; rows
# of many piles scroll, and the middle of the table ends where buttons need its place.
OVERLAPS = """() => {
    const piles = [...document.querySelectorAll(".felt .pile")];
    const others = [...document.querySelectorAll(".own-state, .avatar, .seat .score, .seat .marks, .in-trick")];
    const seen = (element) => {
        const own = element.getBoundingClientRect();
        const around = [".laid", ".felt[data-full='true']"].flatMap((frame) => element.closest(frame) ?? []);
        const boxes = [own, ...around.map((frame) => frame.getBoundingClientRect())];
        const top = Math.max(...boxes.map((box) => box.top));
        return {left: own.left, right: own.right, top, bottom: Math.min(...boxes.map((box) => box.bottom))};
    };
    const isOver = (one, other) => {
        const [a, b] = [seen(one), seen(other)];
        return Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1
            && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 1;
    };
    return piles.flatMap((pile, index) => [...piles.slice(index + 1), ...others]
        .filter((other) => isOver(pile, other))
        .map((other) => `${pile.innerText} / ${other.innerText}`));
}"""
TAPS_BEFORE_A_LOOK = 6
pytestmark = [pytest.mark.browser, pytest.mark.gateway, pytest.mark.slow]
GAMES: Mapping[str, tuple[int, Mapping[str, int]]] = {
    "toy": (4, {}),
    "president": (4, {"rounds": 2}),
    "gin_rummy": (2, {"max_rounds": 1}),
}
"""Of each game its seats, and options for a short table."""


@pytest.fixture(scope="module")
def services(tmp_path_factory: pytest.TempPathFactory) -> Iterator[BackgroundServices]:
    """Start services with the games of other packages."""
    folder = tmp_path_factory.mktemp("services")
    with pytest.MonkeyPatch.context() as patch:
        for name, value in with_games_installed(folder).items():
            patch.setenv(name, value)
        with started_services(folder / "data", gateway=[]) as started:
            yield started


@pytest.mark.parametrize("by_keys", [False, True], ids=["taps", "keys"])
@pytest.mark.parametrize("game", GAMES)
def test_the_page_plays_a_game_that_it_does_not_know(
    services: BackgroundServices, browser: Browser, game: str, by_keys: bool
) -> None:
    """The toy has a deck of its own, piles with owners, teams and an auction, President has sets, Gin Rummy draws."""
    seed = secrets.randbelow(2**32)
    print(f"the seed is {seed}; put it in place of secrets.randbelow to repeat it")
    address = services.addresses["gateway"]["listen"]
    seats, options = GAMES[game]
    with (
        BlockingClient(Endpoints.single(address), secrets.token_urlsafe(), "Native") as client,
        quiet_page(browser, f"http://{address}", DESKTOP if by_keys else PHONE, reduced_motion="reduce") as page,
    ):
        page.locator(".game").first.wait_for()
        table = {"game": game, "seat_count": seats, "options": options, "time_control": QUICK_BOTS}
        table_id = open_invitation(page, client, **table, bots=[""] * (seats - 2))
        native = play_in_background(client, table_id, seed)
        random = Random(seed)
        taps = expect_apart(page, random)
        assert taps + play_to_the_end(page, random, by_keys=by_keys) > 0
        native.join(GAME_SECONDS)
        assert not native.is_alive()
        assert page.locator(".ranking li").count() == seats


def expect_apart(page: Page, random: Random) -> int:
    """Play a little, and look at piles and marks of seats on a phone, held upright and on its side, and a desktop.

    Returns the number of taps. Somebody may have ended the game by then.
    """
    own = page.viewport_size
    assert own is not None
    taps, lying, deadline = 0, page.locator(".felt .pile, .in-trick"), time.monotonic() + GAME_SECONDS
    while not (turn := page.evaluate(TURN))["isOver"] and (taps < TAPS_BEFORE_A_LOOK or lying.count() == 0):
        assert time.monotonic() < deadline, turn
        taps += act_next(page, turn, random, by_keys=own == DESKTOP)
    for viewport in (PHONE, LANDSCAPE, DESKTOP):
        page.set_viewport_size(viewport)
        assert page.evaluate(OVERLAPS) == [], viewport
    page.set_viewport_size(own)
    return taps
