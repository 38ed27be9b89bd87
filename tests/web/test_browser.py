"""A person in a browser and one with the native client play at the same table, with TLS on."""

import json
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random
from typing import Any

import pytest

from croupier_client import BlockingClient, Endpoints, Tls, play_game_blocking, random_legal
from tests.programs import program
from tests.web.chromium import Page, opened_page, pin
from tests.web.conftest import House

OTHER_PIN = "A" * 43 + "="

pytestmark = [pytest.mark.browser, pytest.mark.gateway, pytest.mark.slow]


@contextmanager
def at_the_page(house: House, folder: Path, *, host: str = "127.0.0.1", trusted: str | None = None) -> Iterator[Page]:
    """The page, in a browser that trusts the door's certificate, or another one, and no other that is self-made."""
    chromium = program("chromium", "google-chrome", install="apt-get install chromium")
    profile = folder / "profile"
    profile.mkdir()
    url = f"http://{host}:{house.page_port}/index.html"
    with opened_page(str(chromium), profile, url, trusted or pin(house.certificate)) as page:
        yield page


def ask_for_a_table(page: Page, house: House, **wishes: Any) -> None:
    """Fill the form in and send it; all moves are made by chance."""
    values = {"address": house.address, "name": "Web", **wishes}
    page.evaluate(
        f"Object.entries({json.dumps(values)}).forEach(([id, value]) => document.getElementById(id).value = value);"
        "document.getElementById('chance').checked = true; document.querySelector('form').requestSubmit()"
    )


def opened_table(page: Page) -> str:
    """The id of the table as soon as the page shows it."""
    table_id, words = page.until(
        "(document.getElementById('table').textContent || document.body.dataset.state === 'failed')"
        " && [document.getElementById('table').textContent, document.getElementById('says').textContent]"
    )
    assert table_id, words
    return str(table_id)


def outcome(page: Page) -> tuple[str, str]:
    """How it went in the end, for programs and for people."""
    said = "[document.body.dataset.state, document.getElementById('says').textContent]"
    state, words = page.until(f"['over', 'failed'].includes(document.body.dataset.state) && {said}")
    return state, words


def test_a_browser_and_a_native_client_finish_a_game(house: House, tmp_path: Path) -> None:
    seed = secrets.randbelow(2**32)
    print(f"the seed of the native player is {seed}; put it in place of secrets.randbelow to repeat it")
    endpoints = Endpoints.single(f"localhost:{house.port}", Tls(house.authority.read_bytes()))
    with (
        at_the_page(house, tmp_path) as page,
        BlockingClient(endpoints, secrets.token_urlsafe(), "<b>Native</b>") as client,
    ):
        ask_for_a_table(page, house, game="thulla", seats=2, bots=0)
        table_id = opened_table(page)
        client.join_table(table_id=table_id)
        client.set_ready(table_id=table_id)
        with client.play(table_id) as table:
            play_game_blocking(table, lambda seen: random_legal(seen, Random(seed + seen.sequence)))
            names = [seat.name for seat in table.info.seats]
            told = ", then ".join(" and ".join(names[seat] for seat in group) for group in table.ranking)
        assert outcome(page) == ("over", f"the game is over: {told}")
        shown = page.evaluate("[...document.querySelectorAll('#scores li')].map((line) => line.textContent)")
        assert [line.rpartition(": ")[0] for line in shown] == names
    # A name is shown as it was given, and is no part of the page.
    assert names == ["Web", "<b>Native</b>"]


def test_the_page_is_whole_as_it_comes(house: House, tmp_path: Path) -> None:
    """Each part has a name of its own, each field a label, and the door is looked for where `croupier up` opens it."""
    with at_the_page(house, tmp_path) as page:
        names = page.evaluate("[...document.querySelectorAll('[id]')].map((part) => part.id)")
        assert sorted(names) == sorted(set(names))
        assert page.evaluate("[...document.querySelectorAll('input')].every((field) => field.labels.length === 1)")
        assert page.evaluate("document.getElementById('address').value") == "http://127.0.0.1:7700"


def test_a_page_of_another_origin_is_refused(house: House, tmp_path: Path) -> None:
    """The same page and server, but under a name that the door was not told."""
    with at_the_page(house, tmp_path, host="localhost") as page:
        ask_for_a_table(page, house)
        assert outcome(page)[0] == "failed"
        assert reaches(page, house)


def test_a_browser_trusts_no_certificate_but_the_one_that_is_pinned(house: House, tmp_path: Path) -> None:
    with at_the_page(house, tmp_path, trusted=OTHER_PIN) as page:
        ask_for_a_table(page, house)
        assert outcome(page)[0] == "failed"
        assert not reaches(page, house)


def reaches(page: Page, house: House) -> bool:
    """Whether an answer of any kind comes back to a page, one that it may not read included."""
    asked = f"fetch({json.dumps(house.address + '/healthz')}, {{mode: 'no-cors'}})"
    is_reached: bool = page.evaluate(f"{asked}.then(() => true, () => false)")
    return is_reached
