"""Players of the web table: by taps on a touch screen, and by the keyboard alone."""

import time
from random import Random
from typing import Any, TypedDict

from playwright.sync_api import Page

from croupier_client import BlockingTable, choose_random_action

GAME_SECONDS = 240.0
POLL_MILLISECONDS = 30
MAX_TABS = 60
HURRY = "document.dispatchEvent(new Event('visibilitychange'))"
"""The page shows the newest state at once, as to a person who comes back to it: a game would take minutes otherwise."""
TURN = """() => {
    const all = (selector) => [...document.querySelectorAll(selector)];
    const numbered = [...all(".buttons button"), ...all(".in-hand")];
    const outside = numbered.filter((element) => {
        const {left, right, top, bottom} = element.getBoundingClientRect();
        // Buttons that need scrolling are not in sight either.
        const lowest = element.closest(".buttons")?.getBoundingClientRect().bottom ?? innerHeight;
        return left < -1 || top < 0 || right > innerWidth + 1 || bottom > lowest + 1;
    }).map((element) => element.getAttribute("aria-label") ?? element.textContent);
    const described = (element) => {
        const {left, top, width, height} = element.getBoundingClientRect();
        return {
            index: numbered.indexOf(element),
            isCard: element.matches(".in-hand"),
            isPressed: element.getAttribute("aria-pressed") === "true",
            isMain: element.matches(".main"),
            x: left + Math.min(width / 2, 12),
            y: top + Math.min(height / 2, 24),
        };
    };
    return {
        isOver: document.querySelector(".ranking") !== null,
        // Cards that fly are not where they can be tapped.
        isBehind: document.querySelector(".table-screen")?.dataset.newest === "false"
            || document.getAnimations().some((each) => each.playState === "running"),
        // A tap that came late, after the button went, has opened what lies there.
        isCovered: document.querySelector("dialog[open]") !== null,
        isTurn: document.querySelector(".actions")?.dataset.turn === "true",
        isChoosing: document.querySelector(".hand")?.dataset.choosing === "true",
        outside,
        targets: [...all(".buttons button:not(:disabled)"), ...all(".in-hand[data-playable=true]")].map(described),
    };
}"""


# Which key leads from the focused element to the one with a number: Enter if it is that one, null if it reacts no more.
NEXT_KEY = """(index) => {
    const numbered = [...document.querySelectorAll(".buttons button"), ...document.querySelectorAll(".in-hand")];
    const [from, to] = [document.activeElement, numbered[index]];
    if (to === undefined || to.disabled) return null;
    if (from === to) return "Enter";
    const isBefore = (from.compareDocumentPosition(to) & Node.DOCUMENT_POSITION_FOLLOWING) !== 0;
    const areInHand = from.matches(".in-hand") && to.matches(".in-hand");
    return areInHand ? (isBefore ? "ArrowRight" : "ArrowLeft") : (isBefore ? "Tab" : "Shift+Tab");
}"""


class Target(TypedDict):
    """A button or a card that reacts."""

    index: int
    isCard: bool
    isPressed: bool
    isMain: bool
    x: float
    y: float


def play_to_the_end(page: Page, random: Random, *, by_keys: bool = False) -> int:
    """Play a game whose table the page shows, and return the number of actions on it; all that reacts is in sight."""
    deadline, taps = time.monotonic() + GAME_SECONDS, 0
    while not (turn := page.evaluate(TURN))["isOver"]:
        assert time.monotonic() < deadline, turn
        taps += act_next(page, turn, random, by_keys=by_keys)
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


def next_target(turn: dict[str, Any], random: Random) -> Target | None:
    """Return what to tap next: a confirmation, a lifted card again, or anything else that reacts."""
    targets: list[Target] = turn["targets"] if turn["isTurn"] else []
    if main := [target for target in targets if target["isMain"]]:
        return random.choice(main)
    lifted = [target for target in targets if target["isCard"] and target["isPressed"]]
    if lifted and not turn["isChoosing"]:
        return lifted[0]
    others = [target for target in targets if not target["isPressed"]]
    return random.choice(others) if others else None


def press(page: Page, target: Target) -> None:
    """Reach a button or a card by Tab and the arrow keys, and press Enter."""
    for _ in range(MAX_TABS):
        if (key := page.evaluate(NEXT_KEY, target["index"])) is None:
            return
        page.keyboard.press(key)
        if key == "Enter":
            return
    raise AssertionError(f"the keyboard does not reach {target}")
