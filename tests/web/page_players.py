"""Players of the web table: by taps on a touch screen, and by the keyboard alone."""

import time
from random import Random
from typing import Any

from playwright.sync_api import Page

from croupier_client import BlockingTable, choose_random_action
from croupier_loadtest.players.page_turn import EXPECT, HURRY, TURN, Target, next_target

GAME_SECONDS = 240.0
POLL_MILLISECONDS = 30
MAX_TABS = 60
# Which key leads from the focused element to the one with a number: Enter if it is that one, null if it reacts no more,
# as when the end of the game covers it.
NEXT_KEY = """(index) => {
    const numbered = [...document.querySelectorAll(".buttons button"), ...document.querySelectorAll(".in-hand")];
    const [from, to] = [document.activeElement, numbered[index]];
    if (to === undefined || to.disabled || document.querySelector("dialog[open]")) return null;
    if (from === to) return "Enter";
    const isBefore = (from.compareDocumentPosition(to) & Node.DOCUMENT_POSITION_FOLLOWING) !== 0;
    const areInHand = from.matches(".in-hand") && to.matches(".in-hand");
    return areInHand ? (isBefore ? "ArrowRight" : "ArrowLeft") : (isBefore ? "Tab" : "Shift+Tab");
}"""


def play_to_the_end(page: Page, random: Random, *, by_keys: bool = False) -> int:
    """Play a game whose table the page shows, and return the number of actions on it; all that reacts is in sight."""
    deadline, taps = time.monotonic() + GAME_SECONDS, 0
    while not (turn := page.evaluate(TURN))["isOver"]:
        assert time.monotonic() < deadline, turn
        taps += act_next(page, turn, random, by_keys=by_keys)
    page.evaluate(EXPECT, None)
    return taps


def act_next(page: Page, turn: dict[str, Any], random: Random, *, by_keys: bool = False) -> bool:
    """Tap once in the turn that `TURN` has read, or wait a moment; returns whether the tap was an action or a part."""
    target = next_target(turn, random)
    if turn["isBehind"]:
        page.evaluate(HURRY)
    if turn["isBehind"] or target is None:
        page.wait_for_timeout(POLL_MILLISECONDS)
        return False
    if turn["isCovered"]:
        page.keyboard.press("Escape")
        return False
    assert turn["outside"] == [], f"outside of the first screen: {turn}"
    if by_keys:
        press(page, target)
    else:
        page.evaluate(EXPECT, target["index"])
        page.touchscreen.tap(target["x"], target["y"])
    return True


def act(page: Page, table: BlockingTable, random: Random) -> None:
    """Let the one whose turn it is act: the native player, else the page."""
    if table.is_to_act:
        table.submit_action(choose_random_action(table, random), expected_sequence=table.expected_sequence)
        return
    seen, deadline = table.sequence, time.monotonic() + GAME_SECONDS
    while table.sequence == seen:
        turn = page.evaluate(TURN)
        assert time.monotonic() < deadline, turn
        act_next(page, turn, random)
    page.evaluate(EXPECT, None)


def press(page: Page, target: Target) -> None:
    """Reach a button or a card by Tab and the arrow keys, and press Enter."""
    for _ in range(MAX_TABS):
        if (key := page.evaluate(NEXT_KEY, target["index"])) is None:
            return
        page.keyboard.press(key)
        if key == "Enter":
            return
    raise AssertionError(f"the keyboard does not reach {target}")
