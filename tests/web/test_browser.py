"""A browser and the native client play at the same table over TLS."""

import asyncio
import json
import re
import secrets
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random
from typing import Any

import pytest

from croupier.cli.launcher.background import started_services
from croupier.cli.launcher.gateway import GatewayChoice
from croupier.cli.launcher.supervisor import SupervisorSettings, running_services
from croupier_api.v1 import tables_pb2
from croupier_client import BlockingClient, BlockingTable, Endpoints, Tls, choose_random_action, play_game_blocking
from tests.programs import program
from tests.web.chromium import ANSWER_SECONDS, Page, opened_page, pin
from tests.web.conftest import WebDeployment, served_page

OTHER_PIN = "A" * 43 + "="
TABLES = 8
UPDATES = 10
"""At each table, before the page leaves it."""

pytestmark = [pytest.mark.browser, pytest.mark.gateway, pytest.mark.slow]


@contextmanager
def opened_form(
    page_port: int, folder: Path, *, host: str = "127.0.0.1", trusted: str = OTHER_PIN, language: str = "en"
) -> Iterator[Page]:
    """Open the page in a browser that trusts one self-signed certificate."""
    chromium = program("chromium", "google-chrome", install="apt-get install chromium")
    profile = folder / "profile"
    profile.mkdir()
    address = f"http://{host}:{page_port}/page/index.html?language={language}"
    with opened_page(str(chromium), profile, address, trusted) as page:
        yield page


def sign_in(page: Page, address: str, **values_by_field: str) -> tuple[str, str]:
    """Sign in at a gateway; returns the page's state, "ready" or "failed", and its text."""
    fill_in(page, **{"address": address, "name": "Web", **values_by_field})
    page.evaluate("document.getElementById('sign-in').requestSubmit()")
    return state_of(page, "ready", "failed")


def request_table(page: Page, game: str, *, autoplay: bool, **values_by_field: Any) -> None:
    """Choose a game, fill its form in and send it; the page plays random actions if `autoplay` is true."""
    fill_in(page, game=game)
    page.evaluate("document.getElementById('game').dispatchEvent(new Event('change'))")
    fill_in(page, **values_by_field)
    set_autoplay(page, autoplay)
    page.evaluate("document.getElementById('new-table').requestSubmit()")


def fill_in(page: Page, **values_by_field: Any) -> None:
    values = json.dumps(values_by_field)
    page.evaluate(f"Object.entries({values}).forEach(([id, value]) => document.getElementById(id).value = value)")


def set_autoplay(page: Page, autoplay: bool) -> None:
    page.evaluate(f"document.getElementById('autoplay').checked = {json.dumps(autoplay)}")


def lines(page: Page, list_id: str) -> list[str]:
    shown: list[str] = page.evaluate(f"[...document.querySelectorAll('#{list_id} li')].map((line) => line.textContent)")
    return shown


def opened_table(page: Page) -> str:
    """Return the id of the table as soon as the page shows it."""
    table_id, words = page.until(
        "(document.getElementById('table').textContent || document.body.dataset.state === 'failed')"
        " && [document.getElementById('table').textContent, document.getElementById('status').textContent]"
    )
    assert table_id, words
    return str(table_id)


def outcome(page: Page) -> tuple[str, str]:
    """Return the page's final state, for programs and for people."""
    return state_of(page, "over", "failed")


def state_of(page: Page, *states: str) -> tuple[str, str]:
    """Wait for one of some states of the page, and return it with the text for people."""
    state_and_text = "[document.body.dataset.state, document.getElementById('status').textContent]"
    state, words = page.until(f"{json.dumps(states)}.includes(document.body.dataset.state) && {state_and_text}")
    return state, words


def begun_table(page: Page, client: BlockingClient, *, autoplay: bool) -> str:
    """Open a table of Thulla on the page, join it as the other player, and return its id once the cards are dealt."""
    request_table(page, "thulla", autoplay=autoplay, seats=2, bots=0)
    table_id = opened_table(page)
    client.join_table(table_id=table_id)
    client.set_ready(table_id=table_id)
    # The page gets ready when it sees that all seats are taken.
    changes = client.watch_tables(table_id=table_id)
    next(change for change in changes if change.table.state == tables_pb2.TABLE_STATE_PLAYING)
    return table_id


def left_seats_become(table: BlockingTable, seats: list[int]) -> None:
    while list(table.clock.left_seats) != seats:
        table.wait_for_change(timeout_seconds=ANSWER_SECONDS)


def click(page: Page, button_id: str) -> None:
    """Click a button at the table as soon as it is shown."""
    page.until(f"!document.getElementById('at-table').hidden && !document.getElementById('{button_id}').hidden")
    page.evaluate(f"document.getElementById('{button_id}').click()")


def until_buttons_react(page: Page) -> None:
    """Wait for a timer of the page: its buttons do not react for 300 milliseconds after they changed."""
    page.evaluate("new Promise((resolve) => setTimeout(resolve, 400))")


def until_remark(page: Page, seat: int, remark: str) -> None:
    """Wait until the line of a seat ends with a remark, or has none of absence if that is empty."""
    line = f"document.querySelectorAll('#scores li')[{seat}]"
    page.until(f"{line} && (/, (left|away)$/.exec({line}.textContent)?.[1] ?? '') === {json.dumps(remark)}")


def test_a_person_leaves_their_seat_in_a_browser_and_returns_when_they_look_at_the_page(
    deployment: WebDeployment, tmp_path: Path
) -> None:
    endpoints = Endpoints.single(f"localhost:{deployment.port}", Tls(deployment.authority.read_bytes()))
    with (
        opened_form(deployment.page_port, tmp_path, trusted=pin(deployment.certificate)) as page,
        BlockingClient(endpoints, secrets.token_urlsafe(), "Native") as client,
    ):
        assert sign_in(page, deployment.address) == ("ready", "choose a game")
        with client.play_table(begun_table(page, client, autoplay=False)) as table:
            click(page, "leave")
            left_seats_become(table, [0])
            until_remark(page, 0, "left")
            page.until("document.getElementById('status').textContent.startsWith('the computer plays for you')")
            assert page.evaluate("document.getElementById('leave').hidden")
            page.evaluate("document.getElementById('return').focus()")
            click(page, "return")
            left_seats_become(table, [])
            # The focus of a person who plays by keyboard goes on to the other button.
            page.until("document.getElementById('return').hidden && document.activeElement.id === 'leave'")
            table.set_away(is_away=True)
            until_remark(page, 1, "left")
            table.set_away(is_away=False)
            until_remark(page, 1, "")
            click(page, "leave")
            left_seats_become(table, [0])
            page.evaluate("window.dispatchEvent(new PageTransitionEvent('pageshow', {persisted: true}))")
            left_seats_become(table, [])
            until_remark(page, 0, "")
            said = [line for line in lines(page, "log") if re.fullmatch("(Web|Native): (leaves|returns)", line)]
        events = ["leaves", "returns"]
        assert said[::-1] == [f"{who}: {event}" for who in ("Web", "Native", "Web") for event in events]


def test_a_person_comes_back_and_plays_again(deployment: WebDeployment, tmp_path: Path) -> None:
    endpoints = Endpoints.single(f"localhost:{deployment.port}", Tls(deployment.authority.read_bytes()))
    with (
        opened_form(deployment.page_port, tmp_path, trusted=pin(deployment.certificate)) as page,
        BlockingClient(endpoints, secrets.token_urlsafe(), "Native") as client,
    ):
        assert sign_in(page, deployment.address) == ("ready", "choose a game")
        with client.play_table(begun_table(page, client, autoplay=False)) as table:
            until_table(page, "Thulla, Web, Native, begun")
            click(page, "leave")
            left_seats_become(table, [0])
            # The list and the URL have the table after a reload, and the player keeps their name without typing it.
            page.reload_by("location.reload()")
            page.until("document.body.dataset.state === 'playing'")
            left_seats_become(table, [])
            assert page.evaluate("document.getElementById('player-name').textContent") == "You are Web"
            until_table(page, "Thulla, Web, Native, begun")
            set_autoplay(page, True)
            client.set_away(table_id=table.table_id, request_id="1", is_away=True)
            page.until("document.body.dataset.state === 'over'")
        following = client.rematch(table_id=table.table_id).table
        until_table(page, "Thulla, Web, Native, over, played again")
        page.until("document.getElementById('again').textContent === 'Play again: another player waits'")
        page.evaluate("document.getElementById('again').click()")
        page.until(f"document.getElementById('table').textContent === '{following.table_id}'")
        assert page.evaluate("location.hash.slice(1)") == following.table_id
        client.set_ready(table_id=following.table_id)
        page.until("document.body.dataset.state === 'playing'")
        assert client.get_table(table_id=following.table_id).table.seats[1].name == "Web"


def until_table(page: Page, text: str) -> None:
    """Wait until the list of the player's tables has one with this text."""
    page.until(f"[...document.querySelectorAll('#tables li')].some((line) => line.textContent.startsWith({text!r}))")


def test_a_person_looks_at_a_table_renames_moves_to_another_device_and_is_deleted(
    deployment: WebDeployment, tmp_path: Path
) -> None:
    endpoints = Endpoints.single(f"localhost:{deployment.port}", Tls(deployment.authority.read_bytes()))
    with (
        opened_form(deployment.page_port, tmp_path, trusted=pin(deployment.certificate)) as page,
        BlockingClient(endpoints, secrets.token_urlsafe(), "Native") as client,
    ):
        code = client.create_device_code().device_code
        assert sign_in(page, deployment.address, **{"device-code-in": code}) == ("ready", "choose a game")
        assert client.get_player().player.device_count == 2
        with BlockingClient(endpoints, secrets.token_urlsafe(), "Host") as host:
            hosted = host.create_table(game="thulla", seat_count=3).table
            submit(page, "look", code=hosted.invite_code)
            page.until(
                "document.getElementById('found-table').textContent.startsWith('Thulla, Host, free, free, 30 s')"
            )
            assert [seat.name for seat in host.get_table(table_id=hosted.table_id).table.seats] == ["Host", "", ""]
            submit(page, "join")
            until_table(page, "Thulla, Host, Web, free, not begun")
            submit(page, "rename", **{"new-name": "Kari"})
            until_table(page, "Thulla, Host, Kari, free, not begun")
        page.evaluate("document.getElementById('device').click()")
        assert len(page.until("document.getElementById('device-code').textContent")) == 12
        page.reload_by("document.getElementById('sign-out-all').click()")
        assert sign_in(page, deployment.address, name="") == ("ready", "choose a game")
        assert page.evaluate("document.getElementById('player-name').textContent") == "You are Kari"
        submit(page, "delete", **{"delete-name": "Web"})
        page.until("document.getElementById('status').textContent.includes('nothing is deleted')")
        fill_in(page, **{"delete-name": "Kari"})
        page.reload_by("document.getElementById('delete').requestSubmit()")
        assert page.evaluate("localStorage.length") == 0


def submit(page: Page, form_id: str, **values_by_field: str) -> None:
    fill_in(page, **values_by_field)
    page.evaluate(f"document.getElementById({form_id!r}).requestSubmit()")


def test_a_late_tap_in_a_browser_is_shown_as_such_and_plays_nothing(deployment: WebDeployment, tmp_path: Path) -> None:
    endpoints = Endpoints.single(f"localhost:{deployment.port}", Tls(deployment.authority.read_bytes()))
    with (
        opened_form(deployment.page_port, tmp_path, trusted=pin(deployment.certificate)) as page,
        BlockingClient(endpoints, secrets.token_urlsafe(), "Native") as client,
    ):
        assert sign_in(page, deployment.address) == ("ready", "choose a game")
        with client.play_table(begun_table(page, client, autoplay=False)) as table:
            while 0 not in table.view.seats_to_act:
                table.submit_action(choose_random_action(table, Random(table.sequence)))
            page.until("document.querySelector('#actions > button') !== null")
            until_buttons_react(page)
            assert page.evaluate("(window.late = document.querySelector('#actions > button')) !== null")
            # The engine acts before the tap reaches it, as when the time is up.
            click(page, "leave")
            assert table.wait_for_turn(timeout_seconds=ANSWER_SECONDS)
            page.evaluate("window.late.click()")
            page.until("document.getElementById('status').textContent.startsWith('too late: ')")
            assert client.get_view(table_id=table.table_id).snapshot.sequence == table.sequence


def test_a_browser_and_a_native_client_finish_a_game(deployment: WebDeployment, tmp_path: Path) -> None:
    seed = secrets.randbelow(2**32)
    print(f"the seed of the native player is {seed}; put it in place of secrets.randbelow to repeat it")
    endpoints = Endpoints.single(f"localhost:{deployment.port}", Tls(deployment.authority.read_bytes()))
    with (
        opened_form(deployment.page_port, tmp_path, trusted=pin(deployment.certificate)) as page,
        BlockingClient(endpoints, secrets.token_urlsafe(), "<b>Native</b>") as client,
    ):
        assert sign_in(page, deployment.address) == ("ready", "choose a game")
        with client.play_table(begun_table(page, client, autoplay=True)) as table:
            play_game_blocking(table, lambda seen: choose_random_action(seen, Random(seed + seen.sequence)))
            names = [seat.name for seat in table.table.seats]
            ranking = ", ".join(f"{place}. {names[seat]}" for place, (seat,) in enumerate(table.ranking, start=1))
        assert outcome(page) == ("over", f"the game is over: {ranking}")
        assert [line.partition(": ")[0] for line in lines(page, "scores")] == names
    # A name is shown as text and is not interpreted as HTML.
    assert names == ["Web", "<b>Native</b>"]


async def test_the_page_shows_a_game_that_it_does_not_know(tmp_path: Path) -> None:
    """The toy of the rules' tests: its own deck, piles with owners, teams, an auction with a range of amounts."""
    with served_page() as page_port:
        settings = SupervisorSettings(
            command=(sys.executable, "-m", "tests.web.toy_service"),
            grace_seconds=0,
            gateway=GatewayChoice().flags,
            extra_flags={"gateway": [f"--allowed-origins=http://127.0.0.1:{page_port}"]},
        )
        async with running_services(tmp_path / "services", settings=settings) as services:
            address = f"http://{services.addresses['gateway']['listen']}"
            await asyncio.to_thread(play_toy, address, page_port, tmp_path)


def play_toy(address: str, page_port: int, folder: Path) -> None:
    """Play a table of the toy, the first bid as a person does."""
    with opened_form(page_port, folder) as page:
        assert sign_in(page, address)[0] == "ready"
        request_table(page, "toy", autoplay=False, seats=4, bots=3)
        assert page.until("document.querySelector('#actions form legend')?.textContent") == "bid"
        assert page.evaluate("document.querySelector('#actions > button').textContent") == "pass"
        piles = lines(page, "piles")
        # By role: stock, waste, what belongs to the seats.
        assert re.fullmatch(r"stock, cards: [0-9]+, face down", piles[0])
        assert re.fullmatch(r"waste: (red|blue) [0-9]+", piles[1])
        assert re.fullmatch(r"reserve \(Web\): (red|blue) [0-9]+, face down", piles[2])
        assert [line.partition(")")[2] for line in piles[3:]] == [", cards: 1, face down"] * 3
        react(page)
        set_autoplay(page, True)
        page.evaluate("document.querySelector('#actions input').value = 20")
        until_buttons_react(page)
        page.evaluate("document.querySelector('#actions form').requestSubmit()")
        state, text = outcome(page)
        assert (state, text.partition(":")[0]) == ("over", "the game is over")
        known = lines(page, "known")
        assert re.fullmatch(r"Web and .+ against .+ and .+", known[0])
        assert "Web: bid 20" in known
        assert any(re.search(r"(red|blue) [0-9]+", line) for line in lines(page, "log"))
        assert not any("newer than this page" in line for line in [*known, *lines(page, "log")])
        (played,) = page.evaluate("[...document.querySelectorAll('#rounds summary')].map((line) => line.textContent)")
        assert played.startswith("round 1: ")
        assert "points: Web " in page.evaluate("document.querySelector('#rounds ul').textContent")


def test_a_page_without_tls_follows_more_tables_than_it_has_connections(tmp_path: Path) -> None:
    """Each stream over gRPC-Web takes one of the six connections of the browser: the sixth table stands still there."""
    with served_page() as page_port:
        flags = {"gateway": [f"--allowed-origins=http://127.0.0.1:{page_port}"]}
        with (
            started_services(tmp_path / "services", gateway=[], extra_flags=flags) as services,
            opened_form(page_port, tmp_path) as page,
        ):
            arguments = f"'http://{services.addresses['gateway']['listen']}', {TABLES}, {UPDATES}, 'websocket'"
            playing = f"import('/tests/many_tables.js').then(({{playTables}}) => playTables({arguments}))"
            assert page.evaluate(playing) == [UPDATES] * TABLES


def react(page: Page) -> None:
    """Send the first reaction, and wait until the events have it."""
    emoji = page.until("document.querySelector('#reactions button')?.textContent")
    page.evaluate("document.querySelector('#reactions button').click()")
    page.until(f"[...document.querySelectorAll('#log li')].some((line) => line.textContent === 'Web: ' + {emoji!r})")


def test_the_page_is_well_formed(deployment: WebDeployment, tmp_path: Path) -> None:
    """Ids are unique, each field has a label, and the default address is that of `croupier up`."""
    with opened_form(deployment.page_port, tmp_path, trusted=pin(deployment.certificate)) as page:
        assert sign_in(page, deployment.address)[0] == "ready"
        names = page.evaluate("[...document.querySelectorAll('[id]')].map((part) => part.id)")
        assert sorted(names) == sorted(set(names))
        assert page.evaluate(
            "[...document.querySelectorAll('input, select')].every((field) => field.labels.length === 1)"
        )
        assert page.evaluate("document.getElementById('address').defaultValue") == "http://127.0.0.1:7700"


def test_the_page_and_the_game_are_in_the_language_of_the_address(deployment: WebDeployment, tmp_path: Path) -> None:
    trusted = pin(deployment.certificate)
    with opened_form(deployment.page_port, tmp_path, trusted=trusted, language="nb-NO") as page:
        assert sign_in(page, deployment.address)[0] == "ready"
        request_table(page, "thulla", autoplay=False, seats=2, bots=1)
        recommended = page.evaluate("document.getElementById('recommended').textContent")
        assert recommended == "beste antall spillere: 3, 4, 5"
        assert "Første utspill" in page.evaluate("document.getElementById('options').textContent")
        page.until("document.getElementById('scores').textContent.includes(' kort')")
        assert page.evaluate("document.getElementById('at-table').lang") == "nb"


def test_a_page_of_another_origin_is_refused(deployment: WebDeployment, tmp_path: Path) -> None:
    """The same page from the same server, under a host name that the gateway does not allow."""
    with opened_form(deployment.page_port, tmp_path, host="localhost", trusted=pin(deployment.certificate)) as page:
        assert sign_in(page, deployment.address)[0] == "failed"
        assert reaches(page, deployment)


def test_a_browser_trusts_no_certificate_but_the_one_that_is_pinned(deployment: WebDeployment, tmp_path: Path) -> None:
    with opened_form(deployment.page_port, tmp_path) as page:
        assert sign_in(page, deployment.address)[0] == "failed"
        assert not reaches(page, deployment)


def reaches(page: Page, deployment: WebDeployment) -> bool:
    """Return whether any answer reaches the page, also one that it may not read."""
    asked = f"fetch({json.dumps(deployment.address + '/healthz')}, {{mode: 'no-cors'}})"
    is_reached: bool = page.evaluate(f"{asked}.then(() => true, () => false)")
    return is_reached
