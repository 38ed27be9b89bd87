"""People who play at pages of the web table by its own buttons and cards, while a spectator records for the judge."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from itertools import count
from random import Random
from typing import TYPE_CHECKING

from croupier_client import CroupierError
from croupier_loadtest.judge.violations import Invariant, Violation
from croupier_loadtest.measures import ACKNOWLEDGED
from croupier_loadtest.mix import draw_entry, matchable
from croupier_loadtest.players.browser import PHONE_SIZE, is_complaint
from croupier_loadtest.players.client import PlayerClient
from croupier_loadtest.players.page_turn import EXPECT, HURRY, TURN, Target, next_target
from croupier_loadtest.players.spectators import watch
from croupier_loadtest.players.user_context import UserContext, count_failure

if TYPE_CHECKING:
    from playwright.async_api import Page

PAGES_PER_TABLE, BOTS_PER_TABLE = 3, 1
PAGE_SEATS = PAGES_PER_TABLE + BOTS_PER_TABLE
ANSWER_SECONDS = 60.0
"""The time for a page to be loaded, to show what is tapped next, or the end of a game."""
DRAWN_SECONDS = 15.0
"""The time for a tap to be drawn."""
TAPS_IGNORED = "page: taps draw nothing"
WAITING_SECONDS = 600.0
"""The longest time until it is a page's turn again: all others use their whole time."""
SETTLING_SECONDS = 0.4
"""A page ignores taps so soon after a change."""
POLL_MILLISECONDS = 200
PAUSE_SECONDS = 1.0
# The policy of the page forbids what Playwright's own waits for a function need, so that these wait within the page.
# The milliseconds from the start of the page's loading until it shows the games.
LOADED = """() => new Promise((resolve) => {
    const look = () => document.querySelector(".game") ? resolve(performance.now()) : requestAnimationFrame(look);
    look();
})"""
# Resolves when the person is to act, or the game is over.
READY = f"""(isHurried) => new Promise((resolve) => {{
    const look = () => {{
        if (isHurried) {HURRY};
        const turn = ({TURN})();
        if (turn.isOver || (turn.isTurn && !turn.isBehind)) resolve();
        else setTimeout(look, {POLL_MILLISECONDS});
    }};
    look();
}})"""
# Begins to measure the milliseconds from a tap until another hand, or for a button other buttons, are drawn; null if
# that takes too long. Of a played card the end of the turn may be drawn before the hand without it.
DRAWING = """([isCard, maxMilliseconds]) => void (globalThis.drawn = new Promise((resolve) => {
    const began = performance.now();
    const shown = () => JSON.stringify([
        isCard || [document.querySelector(".actions")?.dataset.turn, document.querySelector(".buttons")?.textContent],
        [...document.querySelectorAll(".in-hand")].map(({dataset}) => dataset.card),
    ]);
    const before = shown();
    let tapped;
    addEventListener("pointerdown", ({timeStamp}) => { tapped = timeStamp; }, {capture: true, once: true});
    const look = () => {
        const now = performance.now();
        if (tapped !== undefined && shown() !== before) resolve(now - tapped);
        else if (now - began > maxMilliseconds) resolve(null);
        else requestAnimationFrame(look);
    };
    requestAnimationFrame(look);
}))"""
DRAWN = "globalThis.drawn"


async def pages(context: UserContext, name: str) -> None:
    """Play table after table with each other and a bot until the run drains."""
    from playwright.async_api import Error

    watcher = context.guest(f"{name} watcher")
    async with AsyncExitStack() as opened:
        people = [await opened.enter_async_context(_opened_page(context)) for _ in range(PAGES_PER_TABLE)]
        for number in count(1):
            if context.is_stopping:
                return
            try:
                await _play_one(context, people, watcher, context.random(f"{name}/{number}"))
            except CroupierError as error:
                count_failure(context.measures, "a table of pages", error)
                await context.sleep(PAUSE_SECONDS)
            except (Error, TimeoutError) as error:
                context.measures.record_failure(f"page: {type(error).__name__}", str(error))
                await context.sleep(PAUSE_SECONDS)


@asynccontextmanager
async def _opened_page(context: UserContext) -> AsyncIterator["PagePlayer"]:
    """Open a page of a new visitor, who trusts every certificate and sees no animations."""
    assert context.browser is not None
    visitor = await context.browser.new_context(
        viewport=PHONE_SIZE, has_touch=True, ignore_https_errors=True, locale="en", reduced_motion="reduce"
    )
    try:
        visitor.set_default_timeout(ANSWER_SECONDS * 1000)
        yield PagePlayer(context, await visitor.new_page())
    finally:
        await visitor.close()


async def _play_one(
    context: UserContext, people: Sequence["PagePlayer"], watcher: PlayerClient, random: Random
) -> None:
    """Play a game; raises CroupierError, TimeoutError, or an error of Playwright."""
    await asyncio.gather(*(person.load() for person in people))
    host, *guests = people
    games = [entry for entry in context.settings.games if PAGE_SEATS in entry.seats]
    table_id = await host.create(draw_entry(matchable(games), random).game)
    for guest in guests:
        await guest.join(table_id)
    await asyncio.gather(*(person.get_ready() for person in people))
    table = (await watcher.get_table(table_id=table_id)).table
    playing = [asyncio.create_task(person.play(Random(random.random()))) for person in people]
    try:
        await watch(context, watcher, table, lambda: any(map(_has_failed, playing)), is_counter=True)
        _, late = await asyncio.wait(playing, timeout=ANSWER_SECONDS)
    finally:
        for task in playing:
            task.cancel()
        ends = await asyncio.gather(*playing, return_exceptions=True)
    if late:
        detail = f"{len(late)} pages do not show the end of the game"
        context.measures.record_violations([Violation(Invariant.PAGE_BROKEN, table_id, 0, detail)])
    for end in ends:
        if isinstance(end, Exception):
            raise end


def _has_failed(task: asyncio.Task[None]) -> bool:
    return task.done() and task.exception() is not None


class PagePlayer:
    """A person at a page, who is the same at every table; all methods raise TimeoutError, or an error of Playwright."""

    def __init__(self, context: UserContext, page: "Page") -> None:
        self._context = context
        self._page = page
        endpoints = context.settings.endpoints
        self._address = f"{'http' if endpoints.tls is None else 'https'}://{endpoints.lobby}/"
        self._ignored_taps = 0
        page.on("console", lambda message: self._complain(message.type, message.text))
        page.on("pageerror", lambda error: self._complain("error", str(error)))

    @property
    def _table_id(self) -> str:
        return self._page.url.partition("#/t/")[2]

    def _complain(self, kind: str, text: str) -> None:
        if is_complaint(kind, text):
            self._context.measures.record_violations([Violation(Invariant.PAGE_BROKEN, self._table_id, 0, text)])

    async def load(self) -> None:
        """Load the page, and measure the time until it shows the games."""
        await self._page.goto(self._address)
        async with asyncio.timeout(ANSWER_SECONDS):
            milliseconds = await self._page.evaluate(LOADED)
        self._context.measures.record_time("page loaded", milliseconds / 1000)

    async def create(self, game: str) -> str:
        """Create a table that everyone may watch, and return its id."""
        page = self._page
        await page.evaluate("(game) => { location.hash = `#/new/${game}`; }", game)
        await page.get_by_label("Everyone may find").check()
        for name, number in (("Seats", PAGE_SEATS), ("Bots", BOTS_PER_TABLE)):
            # A game with one number of seats does not ask for it.
            if await (numbers := page.get_by_role("group", name=name, exact=True)).count():
                await numbers.get_by_role("button", name=f"{number}", exact=True).click()
        await page.get_by_role("button", name="Create the table").click()
        await page.locator(".waiting-room").wait_for()
        return self._table_id

    async def join(self, table_id: str) -> None:
        """Take a seat."""
        await self._page.evaluate("(id) => { location.hash = `#/t/${id}`; }", table_id)
        await self._page.get_by_role("button", name="Take a seat").click()
        await self._page.locator(".waiting-room").wait_for()

    async def get_ready(self) -> None:
        """Be ready, and wait for the first hand."""
        await self._page.get_by_role("button", name="I am ready").click()
        await self._page.locator(".hand").wait_for()

    async def play(self, random: Random) -> None:
        """Play a game to its end by the actions that the page offers."""
        page, think_time = self._page, self._context.settings.scenario.think_time
        while True:
            async with asyncio.timeout(WAITING_SECONDS):
                await page.evaluate(READY, self._context.is_stopping)
            await self._context.sleep(think_time.seconds(random))
            await asyncio.sleep(SETTLING_SECONDS)
            turn = await page.evaluate(TURN)
            if turn["isOver"]:
                return
            if turn["isCovered"]:
                await page.keyboard.press("Escape")
            elif not turn["isBehind"] and (target := next_target(turn, random)) is not None:
                await self._tap(target, acts=target["isMain"] or (target["isCard"] and target["isPressed"]))

    async def _tap(self, target: Target, *, acts: bool) -> None:
        """Tap, and measure the time to the drawn card if the tap plays one, or confirms a choice."""
        await self._page.evaluate(EXPECT, target["index"])
        if not acts:
            await self._page.touchscreen.tap(target["x"], target["y"])
            return
        measures = self._context.measures
        await self._page.evaluate(DRAWING, [target["isCard"], DRAWN_SECONDS * 1000])
        await self._page.touchscreen.tap(target["x"], target["y"])
        milliseconds = await self._page.evaluate(DRAWN)
        if milliseconds is None:
            # A page ignores one that comes just after a change, but not the next one too.
            self._ignored_taps += 1
            if self._ignored_taps > 1:
                after = await self._page.evaluate(TURN)
                measures.record_failure(TAPS_IGNORED, f"within {DRAWN_SECONDS:g} s: {target}, then {after}")
            return
        self._ignored_taps = 0
        measures.count("actions")
        for name in (ACKNOWLEDGED, "tap to card drawn"):
            measures.record_time(name, milliseconds / 1000)
