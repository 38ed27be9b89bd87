"""The time from the address of a table to a card that can be played, in a browser with a quarter of a core."""

import secrets
import statistics
import time
from typing import Any

from google.protobuf.duration_pb2 import Duration
from playwright.async_api import Browser

from benchmarks.measurement import Row
from benchmarks.services import services
from croupier.gateway.envoy import find_envoy
from croupier_api.v1.tables_pb2 import TimeControl
from croupier_client import Client, Endpoints
from croupier_loadtest.players.browser import PHONE_SIZE, BrowserMissing, started_browser

ROUNDS = 5
SLOWDOWN = 4
PLAYABLE = ".in-hand[data-playable=true]"
TIMES = TimeControl(action_time=Duration(seconds=3600))


async def compare() -> list[Row]:
    """Open a table whose player has to act, each time with an empty cache."""
    try:
        find_envoy()
        async with started_browser() as browser:
            loads = await _loads(browser)
    except (ValueError, BrowserMissing) as missing:
        return [Row("page", "skipped", str(missing))]
    seconds, received = zip(*loads, strict=True)
    figures = f"{statistics.median(seconds):.2f} s ({min(seconds):.2f} to {max(seconds):.2f}) to a playable card"
    return [Row("page", f"CPU / {SLOWDOWN}", f"{figures}, {max(received) / 1000:.0f} KB")]


async def _loads(browser: Browser) -> list[tuple[float, float]]:
    with services(gateway=()) as started:
        address = started.addresses["gateway"]["listen"]
        secret = secrets.token_urlsafe()
        table_id = await _table_to_act_at(address, secret)
        return [await _load(browser, f"http://{address}", table_id, secret) for _ in range(ROUNDS)]


async def _table_to_act_at(address: str, secret: str) -> str:
    """Return the id of a table of Thulla at which the player of this device has to act."""
    async with Client(Endpoints.single(address), secret, "Kari") as client:
        created = await client.create_table(
            game="thulla", seat_count=3, bots=["", ""], is_ready=True, time_control=TIMES
        )
        async with client.play_table(created.table.table_id) as table:
            await table.wait_for_turn()
        return created.table.table_id


async def _load(browser: Browser, origin: str, table_id: str, secret: str) -> tuple[float, float]:
    """Return the seconds from the navigation to a card that can be played, and the bytes received meanwhile."""
    kept = {"name": f"croupier device secret {origin}", "value": secret}
    state: Any = {"cookies": [], "origins": [{"origin": origin, "localStorage": [kept]}]}
    context = await browser.new_context(viewport=PHONE_SIZE, has_touch=True, locale="en", storage_state=state)
    page = await context.new_page()
    devtools = await context.new_cdp_session(page)
    received = list[float]()
    devtools.on("Network.dataReceived", lambda event: received.append(event["encodedDataLength"]))
    await devtools.send("Network.enable")
    await devtools.send("Emulation.setCPUThrottlingRate", {"rate": SLOWDOWN})
    began = time.perf_counter()
    await page.goto(f"{origin}/#/t/{table_id}")
    await page.wait_for_selector(PLAYABLE)
    seconds = time.perf_counter() - began
    await context.close()
    return seconds, sum(received)
