"""Pictures of the page: `python -m tests.web.pictures docs/pictures` makes those again that the docs show.

Chromium takes them of services on this machine, where seeded players sit at tables with seeded shuffles; only ids,
codes and clocks differ the next time. With --all every screen is taken on phone and desktop, light and dark.
"""

import argparse
import base64
import re
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from playwright.sync_api import Browser, Page, ViewportSize

from croupier.cli.launcher.background import started_services
from croupier.games.registry import OWN_GAMES
from croupier_loadtest.players.page_turn import HURRY
from tests.web.browsers import DESKTOP, PHONE, opened_browser, opened_page
from tests.web.pictured_tables import NAMES, device_secret, forming_table, played_tables, players

ROOT = Path(__file__).parents[2]
SHOWN_IN = (ROOT / "README.md", *(ROOT / "docs").glob("*.md"))
SHOWN = re.compile(r"pictures/([\w-]+)\.webp")
VIEWPORTS: Mapping[str, ViewportSize] = {"phone": PHONE, "desktop": DESKTOP}
THEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")
QUALITY = 80
BESIDE = ("solo-desktop-dark", "jossing-phone-light")
"""What the picture of the README has side by side."""
SETTLED = """() => document.querySelector(".table-screen")?.dataset.newest !== "false"
    && document.getAnimations().every((each) => each.playState !== "running")"""


@dataclass(frozen=True, slots=True)
class Screen:
    """A screen of the page: its address, with ids of tables by name, what shows that it is there, and further taps."""

    name: str
    address: str
    ready: str
    taps: tuple[str, ...] = ()
    is_offline: bool = False


SCREENS = (
    # Taken first: the lobby removes a player who no longer follows a forming table.
    Screen("waiting-room", "#/t/{waiting}", ".waiting-room"),
    Screen("home", "#/", ".my-tables"),
    Screen("new-table", "#/new/one_ten", ".new-table .chips"),
    *(Screen(game.replace("_", "-"), f"#/t/{{{game}}}", ".in-hand") for game in OWN_GAMES),
    Screen("menu", "#/t/{solo}", ".in-hand", ("Menu",)),
    Screen("rules", "#/t/{solo}", ".in-hand", ("Menu", "Rules")),
    Screen("settings", "#/", ".my-tables", ("Settings",)),
    Screen("result", "#/t/{finished}", ".ranking"),
    Screen("replay", "#/r/{finished}?step=30&eyes=all", ".proof-badge[data-proved=true]"),
    Screen("dead-link", "#/t/nonsense", "text=There is no such table"),
    Screen("offline", "#/t/{thulla}", ".in-hand", is_offline=True),
)
DEVELOPERS = Screen("developers", "?dev=4#/new/thulla", ".dev-seat:nth-child(4) iframe")


@dataclass(frozen=True, slots=True)
class Stage:
    """Running services, and the ids of the tables that screens show by their names."""

    address: str
    tables: Mapping[str, str]

    @contextmanager
    def shown(self, browser: Browser, screen: Screen, size: str, **context: Any) -> Iterator[Page]:
        """Open a screen as the first player, and wait until nothing moves."""
        secret = {"name": f"croupier device secret {self.address}", "value": device_secret(NAMES[0])}
        state = {"origins": [{"origin": self.address, "localStorage": [secret]}], "cookies": []}
        url = f"{self.address}/{screen.address.format(**self.tables)}"
        context |= {"storage_state": state, "reduced_motion": "reduce"}
        with opened_page(browser, url, VIEWPORTS[size], **context) as opened:
            page = opened.page
            page.locator(screen.ready).first.wait_for()
            for name in screen.taps:
                page.get_by_role("button", name=name, exact=True).first.click()
            if screen.is_offline:
                page.context.set_offline(True)
                page.locator(".connection[data-status=offline]").wait_for()
            for seat in page.frames[1:]:
                seat.locator(".in-hand").first.wait_for()
            page.evaluate(HURRY)
            page.wait_for_function(SETTLED)
            yield page


@contextmanager
def opened_stage() -> Iterator[Stage]:
    """Run services with tables at their moments."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        flags = {"engine": ["--shuffle-seed=pictures"]}
        services = stack.enter_context(started_services(folder, gateway=[], extra_flags=flags))
        address = services.addresses["gateway"]["listen"]
        clients = stack.enter_context(players(address))
        tables = stack.enter_context(played_tables(clients))
        yield Stage(f"http://{address}", {**tables, "waiting": forming_table(clients)})


def shown_pictures() -> frozenset[str]:
    """Return the names of the pictures that the docs show."""
    return frozenset(name for page in SHOWN_IN for name in SHOWN.findall(page.read_text()))


def every_view() -> tuple[tuple[Screen, str], ...]:
    """Return each screen with each size of it."""
    return *((screen, size) for screen in SCREENS for size in VIEWPORTS), (DEVELOPERS, "desktop")


def every_picture() -> frozenset[str]:
    """Return the names of all pictures of screens."""
    return frozenset(f"{screen.name}-{size}-{theme}" for screen, size in every_view() for theme in THEMES)


def take(page: Page) -> bytes:
    """Return what a page shows as WebP."""
    answer = page.context.new_cdp_session(page).send("Page.captureScreenshot", {"format": "webp", "quality": QUALITY})
    return base64.b64decode(answer["data"])


def take_all(names: Iterable[str], folder: Path) -> None:
    """Write these pictures, and those that the picture of the README has."""
    wanted = {*names, *BESIDE}
    with opened_stage() as stage, opened_browser() as browser:
        for screen, size in every_view():
            paths = {theme: f"{screen.name}-{size}-{theme}" for theme in THEMES}
            if wanted.isdisjoint(paths.values()):
                continue
            with stage.shown(browser, screen, size, device_scale_factor=2 if size == "phone" else 1) as page:
                for theme in THEMES:
                    page.emulate_media(color_scheme=theme)
                    if paths[theme] in wanted:
                        (folder / f"{paths[theme]}.webp").write_bytes(take(page))
        (folder / "beside.webp").write_bytes(beside(browser, [folder / f"{name}.webp" for name in BESIDE]))


def beside(browser: Browser, pictures: Iterable[Path]) -> bytes:
    """Return pictures of one height side by side."""
    sources = [f"data:image/webp;base64,{base64.b64encode(each.read_bytes()).decode()}" for each in pictures]
    images = "".join(f'<img src="{source}" height="600">' for source in sources)
    style = "display: inline-flex; gap: 24px; margin: 0; background: transparent"
    page = browser.new_page(viewport=ViewportSize(width=1276, height=600))
    page.set_content(f'<body style="{style}">{images}</body>', wait_until="load")
    try:
        return take(page)
    finally:
        page.close()


def main(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.web.pictures", description=__doc__)
    parser.add_argument("folder", type=Path, help="where to write the pictures, such as docs/pictures")
    parser.add_argument("--all", action="store_true", help="every screen, also those that no page of the docs shows")
    chosen = parser.parse_args(arguments)
    chosen.folder.mkdir(parents=True, exist_ok=True)
    take_all(every_picture() if chosen.all else shown_pictures(), chosen.folder)


if __name__ == "__main__":
    main(sys.argv[1:])
