"""The screens of the page for everyone: axe finds nothing serious, cards are in sight, and it is installable."""

import json
import re
import struct
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, Page

from clients.typescript.build import FOLDER, PAGE
from croupier.games.registry import OWN_GAMES
from croupier_loadtest.players.page_turn import TURN
from tests.web.browsers import DESKTOP, LANDSCAPE, PHONE
from tests.web.pictures import SCREENS, THEMES, VIEWPORTS, Screen, Stage, opened_stage

pytestmark = [pytest.mark.browser, pytest.mark.gateway, pytest.mark.slow]
AXE = FOLDER / "node_modules" / "axe-core" / "axe.min.js"
# Cards, piles and seats are named by the texts on them, as "7♣" and "Ola: 20, cards: 8", but axe reads what is drawn in
# the order of the document: "77" and "8O Ola 20".
SERIOUS = """async () => (await axe.run()).violations
    .filter(({impact}) => ["serious", "critical"].includes(impact))
    .flatMap(({id, nodes}) => nodes.map(({html, failureSummary}) => ({id, html, failureSummary})))
    .filter(({id, html}) => id !== "label-content-name-mismatch" || !/class="(in-hand|pile|seat)"/.test(html))"""


@pytest.fixture(scope="module")
def stage() -> Iterator[Stage]:
    with opened_stage() as opened:
        yield opened


def serious_findings(page: Page) -> list[Any]:
    page.add_script_tag(path=AXE)
    found: list[Any] = page.evaluate(SERIOUS)
    return found


@pytest.mark.parametrize("size", VIEWPORTS)
@pytest.mark.parametrize("screen", SCREENS, ids=lambda screen: screen.name)
def test_axe_finds_nothing_serious(stage: Stage, browser: Browser, screen: Screen, size: str) -> None:
    # The policy of the page would refuse the script of axe.
    with stage.shown(browser, screen, size, bypass_csp=True) as page:
        for theme in THEMES:
            page.emulate_media(color_scheme=theme)
            assert serious_findings(page) == [], theme


@pytest.mark.parametrize("game", OWN_GAMES)
def test_the_hand_and_the_legal_cards_are_on_the_first_screen(stage: Stage, browser: Browser, game: str) -> None:
    """While it is one's turn, on a phone, held upright and on its side, and on a desktop."""
    (screen,) = (each for each in SCREENS if each.address == f"#/t/{{{game}}}" and not (each.taps or each.is_offline))
    with stage.shown(browser, screen, "phone") as page:
        for viewport in (PHONE, LANDSCAPE, DESKTOP):
            page.set_viewport_size(viewport)
            turn = page.evaluate(TURN)
            assert turn["isTurn"], viewport
            assert turn["targets"], viewport
            assert turn["outside"] == [], viewport
            assert not page.evaluate("document.documentElement.scrollWidth > innerWidth"), viewport


def test_the_page_is_installable() -> None:
    """By its manifest; browsers need no service worker any more."""
    (name,) = re.findall(r'<link rel="manifest" href="./([\w.]+)"', (PAGE / "index.html").read_text())
    manifest = json.loads((PAGE / name).read_text())
    assert manifest["name"] == manifest["short_name"] == "croupier"
    assert (manifest["start_url"], manifest["display"]) == ("./", "standalone")
    sizes = {icon["sizes"]: PAGE / icon["src"] for icon in manifest["icons"] if icon["type"] == "image/png"}
    assert sizes.keys() == {"192x192", "512x512"}
    for size, path in sizes.items():
        # The header of a PNG has the width and height from its byte 16 on.
        assert struct.unpack(">II", path.read_bytes()[16:24]) == tuple(map(int, size.split("x")))
