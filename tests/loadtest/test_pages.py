"""Load tests by pages of the web table: a run of three pages, a missing browser, and complaints of a console."""

import sys
from pathlib import Path

import pytest

from croupier_loadtest.players.browser import CHROMIUM, BrowserMissing, is_complaint, started_browser
from croupier_loadtest.players.page_turn import EXPECT
from tests.loadtest.running import TIME_LIMITS, run_load_test
from tests.programs import program

DRAWN = """
<button class="in-hand" id="card"></button><button class="in-hand" id="other"></button><button id="result"></button>
<script>addEventListener("click", ({target}) => window.hits.push(target.id))</script>
"""


@pytest.mark.slow
@pytest.mark.gateway
@pytest.mark.browser
async def test_three_pages_of_a_browser_play_a_game_that_the_judge_plays_again(tmp_path: Path) -> None:
    program(*CHROMIUM, install="apt-get install chromium")
    # One game, which begins within the run and ends after it.
    outcome = await run_load_test(
        ["--tables=1", "--run-time=40", "--think=0", "--grace=400", "--mix=thulla", "--seed=1"], tmp_path, "pages"
    )
    result, counts = outcome.result, {one["name"]: one["count"] for one in outcome.result["latencies"]}
    assert outcome.named <= TIME_LIMITS, str(outcome)
    assert result["failures"] == [], str(outcome)
    assert result["tables_finished"] == result["tables_judged"] == result["tables_verified"] > 0, str(outcome)
    assert counts["tap to card drawn"] > 0


@pytest.mark.slow
@pytest.mark.browser
async def test_a_tap_that_comes_late_does_nothing_to_what_lies_there_by_then() -> None:
    program(*CHROMIUM, install="apt-get install chromium")
    async with started_browser() as browser:
        page = await browser.new_page()
        await page.set_content(DRAWN)
        for expected, hits in ((0, ["card"]), (1, ["other"]), (2, []), (None, ["card", "other", "result"])):
            await page.evaluate("window.hits = []")
            await page.evaluate(EXPECT, expected)
            for name in ("card", "other", "result"):
                await page.locator(f"#{name}").click()
            assert await page.evaluate("window.hits") == hits, expected


async def test_a_missing_chromium_is_named_with_its_package(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("playwright")
    monkeypatch.setenv("PATH", "")
    with pytest.raises(BrowserMissing, match="apt-get install chromium"):
        await started_browser().__aenter__()


async def test_a_missing_playwright_is_named_with_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "playwright.async_api", None)
    with pytest.raises(BrowserMissing, match=r"pip install 'croupier\[pages\]'"):
        await started_browser().__aenter__()


@pytest.mark.parametrize(
    ("kind", "text", "is_fault"),
    [
        ("error", "Uncaught TypeError", True),
        ("warning", "the policy refuses a script", True),
        ("log", "a line", False),
        ("error", "Failed to load resource: net::ERR_NETWORK_CHANGED", False),
    ],
)
def test_errors_and_warnings_are_faults_of_the_page(kind: str, text: str, is_fault: bool) -> None:
    assert is_complaint(kind, text) == is_fault
