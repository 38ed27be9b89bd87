"""What a page of the web table shows and reacts to, and what a player there taps next."""

from random import Random
from typing import Any, TypedDict

MORE_CARDS = 0.5
"""The share of taps that go on choosing cards where the choice could be confirmed."""
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
        // Of a card that is not the last one of a row the next one leaves a strip, narrow in a hand of many cards.
        const next = element.matches(".in-hand") ? element.nextElementSibling?.getBoundingClientRect().left : undefined;
        return {
            index: numbered.indexOf(element),
            isCard: element.matches(".in-hand"),
            isPressed: element.getAttribute("aria-pressed") === "true",
            isMain: element.matches(".main"),
            x: left + Math.min(next > left ? next - left : width, 24) / 2,
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

EXPECT = """(index) => {
    const numbered = [...document.querySelectorAll(".buttons button"), ...document.querySelectorAll(".in-hand")];
    const isGuarded = window.expected !== undefined;
    window.expected = index === null ? null : numbered[index] ?? document.createElement("p");
    if (!isGuarded) addEventListener("click", (event) => {
        if (window.expected?.contains(event.target) === false) event.stopImmediatePropagation();
    }, true);
}"""
"""From now on the page ignores clicks on anything but the element with a number; null ends that.

So a tap that comes late does nothing to what lies there by then, such as the buttons of the result.
"""


class Target(TypedDict):
    """A button or a card that reacts."""

    index: int
    isCard: bool
    isPressed: bool
    isMain: bool
    x: float
    y: float


def next_target(turn: dict[str, Any], random: Random) -> Target | None:
    """Return what to tap next: a confirmation, often after more cards, a lifted card again, or anything else."""
    targets: list[Target] = turn["targets"] if turn["isTurn"] else []
    others = [target for target in targets if not (target["isMain"] or target["isPressed"])]
    main = [target for target in targets if target["isMain"]]
    if main and not (others and turn["isChoosing"] and random.random() < MORE_CARDS):
        return random.choice(main)
    lifted = [target for target in targets if target["isCard"] and target["isPressed"]]
    if lifted and not turn["isChoosing"]:
        return lifted[0]
    return random.choice(others) if others else None
