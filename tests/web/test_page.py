"""The web table in a browser, as the gateway serves it: whole games by taps and by keys, and what surrounds them."""

import json
import secrets
import time
from itertools import cycle, product
from pathlib import Path
from random import Random

import pytest
from playwright.sync_api import Browser, expect

from croupier.cli.launcher.background import started_services
from croupier.games.registry import OWN_GAMES
from croupier_client import choose_random_action
from croupier_loadtest.installed import mix_entry
from croupier_loadtest.players.page_turn import TURN
from tests.web.browsers import ANSWER_MILLISECONDS, DESKTOP, LANDSCAPE, PHONE, opened_page, quiet_page
from tests.web.conftest import WebDeployment, served_page
from tests.web.native_players import host, open_invitation, play_in_background
from tests.web.page_players import GAME_SECONDS, POLL_MILLISECONDS, act, act_next, play_to_the_end

pytestmark = [pytest.mark.browser, pytest.mark.gateway, pytest.mark.slow]
TABLES = 8
UPDATES = 10
"""At each table, before the page leaves it."""
LANGUAGES = ("en", "nb-NO", "ru")
WHOLE_GAMES = [
    (game, means, language)
    for (game, means), language in zip(product(OWN_GAMES, ("taps", "keys")), cycle(LANGUAGES), strict=False)
]
"""Each language has games by taps and by keys."""
MANY_CARDS = 20
"""Of a hand; in one row of a phone each would show 14 pixels."""
# Cards of the hand that do not show 24 x 24 pixels at their left upper corner.
COVERED_CARDS = """[...document.querySelectorAll(".in-hand")].filter((card) => {
    const {left, top} = card.getBoundingClientRect();
    const isSeen = ([x, y]) => card.contains(document.elementFromPoint(left + x, top + y));
    return ![[1, 8], [23, 8], [1, 31], [23, 31]].every(isSeen);
}).map(({dataset}) => dataset.card)"""
# Buttons of which the middle or an edge is under something else.
COVERED_BUTTONS = """[...document.querySelectorAll(".buttons button")].filter((button) => {
    const {left, right, top, bottom} = button.getBoundingClientRect();
    const [x, y] = [(left + right) / 2, (top + bottom) / 2];
    const isSeen = ([x, y]) => button.contains(document.elementFromPoint(x, y));
    return ![[x, y], [left + 8, y], [right - 8, y], [x, top + 4], [x, bottom - 4]].every(isSeen);
}).map(({textContent}) => textContent)"""
HANDSHAKE = """new Promise((resolve) => {{
    const socket = new WebSocket({address});
    socket.onopen = () => resolve("open");
    socket.onerror = () => resolve("refused");
}})"""


@pytest.mark.parametrize(("game", "means", "language"), WHOLE_GAMES)
def test_a_person_plays_a_game_to_its_end(
    deployment: WebDeployment, browser: Browser, game: str, means: str, language: str
) -> None:
    """With a native player and bots: all that is needed is on the first screen, and no error is in the console."""
    seed, entry = secrets.randbelow(2**32), mix_entry(OWN_GAMES[game])
    print(f"the seed is {seed}; put it in place of secrets.randbelow to repeat it")
    seats = 4 if 4 in entry.seats else entry.seats[0]
    by_keys = means == "keys"
    context = {"reduced_motion": "reduce", "locale": language}
    with (
        host(deployment) as client,
        quiet_page(browser, deployment.address, DESKTOP if by_keys else PHONE, **context) as page,
    ):
        page.locator(".game").first.wait_for()
        bots = [""] * (seats - 2)
        table_id = open_invitation(
            page, client, game=game, seat_count=seats, options=dict.fromkeys(entry.bounds, 1), bots=bots
        )
        native = play_in_background(client, table_id, seed)
        assert play_to_the_end(page, Random(seed), by_keys=by_keys) > 0
        native.join(GAME_SECONDS)
        assert not native.is_alive()
        assert page.locator(".ranking li").count() == seats
        assert not page.evaluate("document.documentElement.scrollWidth > innerWidth")


def test_a_void_result_has_no_places(tmp_path: Path, browser: Browser) -> None:
    """The table ends at a limit before its first round does; the page says so then, and when it is opened later."""
    with (
        started_services(tmp_path, gateway=[], extra_flags={"engine": ["--max-table-entries=3"]}) as services,
        quiet_page(browser, f"http://{services.addresses['gateway']['listen']}", reduced_motion="reduce") as page,
    ):
        page.locator(".game").filter(has_text="Thulla").get_by_role("button", name="Play", exact=True).click()
        page.locator(".hand").wait_for()
        play_to_the_end(page, Random(1))
        for _ in range(2):
            expect(page.get_by_text("The result is void.")).to_be_visible()
            assert (page.locator(".ranking li").count() > 1, page.locator(".rank").count()) == (True, 0)
            page.reload()


def test_from_the_link_to_the_first_card(deployment: WebDeployment, browser: Browser) -> None:
    """Two taps after the link was opened the hand is there."""
    with quiet_page(browser, deployment.address) as page:
        page.locator(".game").filter(has_text="Thulla").get_by_role("button", name="Play", exact=True).click()
        expect(page.locator(".hand .in-hand").first).to_be_visible()
        page.reload()
        expect(page.locator(".hand .in-hand").first).to_be_visible()


def test_a_person_keeps_the_name_that_they_chose(deployment: WebDeployment, browser: Browser) -> None:
    with quiet_page(browser, deployment.address) as page:
        page.get_by_role("button", name="Settings").click()
        page.get_by_label("Name").fill("Kari")
        with page.expect_response("**/UpdatePlayer"):
            page.get_by_role("button", name="Save").click()
        page.reload()
        expect(page.get_by_text("You are Kari")).to_be_visible()


def test_names_of_others_are_texts(deployment: WebDeployment, browser: Browser) -> None:
    with host(deployment, "<b>Native</b>") as client, quiet_page(browser, deployment.address) as page:
        open_invitation(page, client, game="thulla", seat_count=2)
        expect(page.locator(".seat .name").filter(has_text="<b>Native</b>")).to_have_count(1)


def test_a_late_tap_plays_nothing(deployment: WebDeployment, browser: Browser) -> None:
    """The engine acts before the tap reaches it, as when the time is up."""
    with host(deployment) as client, quiet_page(browser, deployment.address) as page:
        table_id = open_invitation(page, client, game="thulla", seat_count=2)
        with client.play_table(table_id) as table:
            while 1 not in table.view.seats_to_act:
                table.submit_action(choose_random_action(table, Random(table.sequence)))
            expect(page.locator(".actions")).to_have_attribute("data-turn", "true")
            # The page is cut off from what happens, and its tap arrives all the same.
            page.evaluate("window.late = document.querySelector('.in-hand[data-playable=true]')")
            page.get_by_role("button", name="Menu").click()
            page.get_by_role("button", name="Let the computer play for me").click()
            table.wait_for_turn(timeout_seconds=ANSWER_MILLISECONDS / 1000)
            sequence = table.sequence
            page.evaluate("window.late.click(); window.late.click()")
            expect(page.locator(".actions")).to_have_attribute("data-turn", "false")
            assert client.get_view(table_id=table_id).snapshot.sequence == sequence


def test_a_choice_outlives_the_action_of_another(deployment: WebDeployment, browser: Browser) -> None:
    """Both seats exchange cards at once: the person has chosen one when the other exchanges."""
    random = Random(1)
    with host(deployment) as client, quiet_page(browser, deployment.address) as page:
        table_id = open_invitation(page, client, game="one_ten", seat_count=2)
        with client.play_table(table_id) as table:
            while len(table.view.seats_to_act) < 2:
                act(page, table, random)
            page.locator(".hand[data-choosing=true] .in-hand[data-playable=true]").last.click()
            chosen = page.locator(".in-hand[aria-pressed=true]")
            expect(chosen).to_have_count(1)
            table.submit_action(choose_random_action(table, random))
            other = page.locator(".seat[data-to-act=false]").filter(has_text="Native")
            expect(other).to_have_count(1)
            expect(page.locator(".table-screen[data-newest=true]")).to_have_count(1)
            expect(chosen).to_have_count(1)
            act(page, table, random)
            expect(chosen).to_have_count(0)


def test_a_person_leaves_their_seat_and_returns(deployment: WebDeployment, browser: Browser) -> None:
    with host(deployment) as client, quiet_page(browser, deployment.address) as page:
        table_id = open_invitation(page, client, game="thulla", seat_count=2)
        with client.play_table(table_id) as table:
            for button, left in (("Let the computer play for me", [1]), ("Play on myself", [])):
                page.get_by_role("button", name="Menu").click()
                page.get_by_role("button", name=button).click()
                while list(table.clock.left_seats) != left:
                    table.wait_for_change(timeout_seconds=ANSWER_MILLISECONDS / 1000)


def test_the_same_people_play_again_by_one_tap(deployment: WebDeployment, browser: Browser) -> None:
    with host(deployment) as client, quiet_page(browser, deployment.address) as page:
        page.locator(".game").first.wait_for()
        table_id = open_invitation(page, client, game="thulla", seat_count=4, bots=["", ""])
        native = play_in_background(client, table_id, 1)
        play_to_the_end(page, Random(1))
        native.join(GAME_SECONDS)
        page.get_by_role("button", name="Play again").click()
        page.wait_for_url(lambda url: "#/t/" in url and table_id not in url)
        expect(page.locator(".seats li")).to_have_count(4)


@pytest.mark.parametrize(("language", "play"), [("nb-NO", "Spill"), ("ru", "Играть")])
def test_the_page_is_in_the_language_of_the_browser(
    deployment: WebDeployment, browser: Browser, language: str, play: str
) -> None:
    visitor = browser.new_context(viewport=PHONE, ignore_https_errors=True, locale=language)
    page = visitor.new_page()
    page.goto(deployment.address)
    page.locator(".game").filter(has_text="Thulla").get_by_role("button", name=play, exact=True).click()
    page.locator(".hand").wait_for()
    assert page.evaluate("document.documentElement.lang") == language[:2]
    visitor.close()


@pytest.mark.parametrize(
    ("address", "sentence"),
    [
        ("#/t/nonsense", "There is no such table"),
        ("#/j/NONSENSE", "There is no such table"),
        ("#/r/nonsense", "There is no such table"),
        ("#/new/nonsense", "This server does not have the game"),
    ],
)
def test_a_dead_link_has_a_sentence_and_a_way_on(
    deployment: WebDeployment, browser: Browser, address: str, sentence: str
) -> None:
    with opened_page(browser, f"{deployment.address}/{address}") as opened:
        expect(opened.page.get_by_text(sentence)).to_be_visible()
        opened.page.get_by_role("button", name="All games").last.click()
        opened.page.locator(".game").first.wait_for()


def test_the_policy_of_the_page_refuses_what_is_not_its_own(deployment: WebDeployment, browser: Browser) -> None:
    elsewhere = f"127.0.0.1:{deployment.page_port}"
    with opened_page(browser, deployment.address) as opened:
        page = opened.page
        page.evaluate(
            "document.head.append(Object.assign(document.createElement('script'), {textContent: 'window.ran = 1'}))"
        )
        assert page.evaluate("window.ran === undefined")
        page.evaluate("document.body.setAttribute('style', 'color: rgb(1, 2, 3)')")
        assert page.evaluate("getComputedStyle(document.body).color") != "rgb(1, 2, 3)"
        assert page.evaluate(f"fetch('http://{elsewhere}/', {{mode: 'no-cors'}}).catch(() => null)") is None
        assert page.evaluate(HANDSHAKE.format(address=json.dumps(f"ws://{elsewhere}/"))) == "refused"
        assert len([line for line in opened.complaints if "Content Security Policy" in line]) >= 4


def test_a_page_of_another_origin_gets_no_websocket(deployment: WebDeployment, browser: Browser) -> None:
    address = json.dumps(f"wss://localhost:{deployment.port}/v1/tables/t/play")
    with opened_page(browser, f"http://localhost:{deployment.page_port}/tests/") as foreign:
        assert foreign.page.evaluate(HANDSHAKE.format(address=address)) == "refused"
    with opened_page(browser, deployment.address) as own:
        assert own.page.evaluate(HANDSHAKE.format(address=address)) == "open"


def test_a_hand_of_fifteen_fits_a_phone(deployment: WebDeployment, browser: Browser) -> None:
    with host(deployment) as client, quiet_page(browser, deployment.address) as page:
        open_invitation(page, client, game="thulla", seat_count=3, bots=[""])
        cards = page.evaluate(TURN)
        assert cards["outside"] == []
        assert page.locator(".in-hand").count() >= 15


def test_nothing_lies_over_the_actions_of_eight_seats(deployment: WebDeployment, browser: Browser) -> None:
    """On a phone, held upright and on its side, and on a desktop; the page has the last seat."""
    random = Random(1)
    with host(deployment) as client, quiet_page(browser, deployment.address) as page:
        table_id = open_invitation(page, client, game="one_ten", seat_count=8, bots=[""] * 6)
        with client.play_table(table_id) as table:
            seen = table.sequence
            while list(table.view.seats_to_act) != [7]:
                if table.is_to_act:
                    table.submit_action(choose_random_action(table, random))
                else:
                    table.wait_for_change(after=seen)
                seen = table.sequence
        page.locator(".actions[data-turn=true]").wait_for()
        for viewport in (PHONE, LANDSCAPE, DESKTOP):
            page.set_viewport_size(viewport)
            assert page.evaluate(COVERED_BUTTONS) == [], viewport


def test_a_hand_of_many_cards_has_two_rows_on_a_phone(deployment: WebDeployment, browser: Browser) -> None:
    """Both seats draw, the page by its only button."""
    random = Random(1)
    with host(deployment) as client, quiet_page(browser, deployment.address) as page:
        options = {"deck": 52, "may_draw_instead": True}
        table_id = open_invitation(page, client, game="one_oh_one", seat_count=2, options=options)
        with client.play_table(table_id) as table:
            while page.locator(".in-hand").count() < MANY_CARDS or list(table.view.seats_to_act) != [1]:
                if table.is_to_act:
                    draws = [action for action in table.legal_actions.actions if action.HasField("draw")]
                    table.submit_action(draws[0] if draws else choose_random_action(table, random))
                    continue
                turn = page.evaluate(TURN)
                buttons = [target for target in turn["targets"] if not target["isCard"]]
                act_next(page, turn | {"targets": buttons or turn["targets"]}, random)
            # Once the cards have come to rest.
            deadline = time.monotonic() + GAME_SECONDS
            while (turn := page.evaluate(TURN))["isBehind"]:
                assert time.monotonic() < deadline, turn
                page.wait_for_timeout(POLL_MILLISECONDS)
            assert turn["outside"] == []
            assert page.evaluate(COVERED_CARDS) == []


def test_a_page_without_tls_follows_more_tables_than_it_has_connections(tmp_path: Path, browser: Browser) -> None:
    """Each stream over gRPC-Web takes one of the six connections of the browser: the sixth table stands still there."""
    with served_page() as page_port:
        flags = {"gateway": [f"--allowed-origins=http://127.0.0.1:{page_port}"]}
        with (
            started_services(tmp_path / "services", gateway=[], extra_flags=flags) as services,
            opened_page(browser, f"http://127.0.0.1:{page_port}/tests/") as opened,
        ):
            arguments = f"'http://{services.addresses['gateway']['listen']}', {TABLES}, {UPDATES}, 'websocket'"
            playing = f"import('/tests/many_tables.js').then(({{playTables}}) => playTables({arguments}))"
            assert opened.page.evaluate(playing) == [UPDATES] * TABLES
