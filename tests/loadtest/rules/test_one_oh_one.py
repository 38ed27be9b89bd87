"""The referee's 101 beside the engine's rules in random games, and its lines as the rules page counts them."""

import copy
import re
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from loadtest.referee.rules.one_oh_one import OneOhOneTable
from tests.loadtest.rules.comparison import compare_games
from tests.loadtest.rules.one_oh_one_positions import position

PAGE = Path("docs/rules/one_oh_one.md")
MOST_LINES = 250
"""So many lines of the page are counted at most for each position, to be done in a second."""


def counted_positions() -> list[Any]:
    """The rows under "Counting lines" on the page: hands, pile, stock, options, lines of 1, 2, 3, ... actions."""
    chapter = PAGE.read_text(encoding="utf-8").partition("## Counting lines")[2]
    rows = []
    cards: tuple[list[str], str, str] = ([], "", "")
    for line in chapter.splitlines():
        cells = [cell.strip() for cell in line.split("|")[1:-1]]
        if len(cells) != 5 or not cells[4][:1].isdigit():
            continue
        if cells[0] != "the same":
            cards = (re.findall("`(.*?)`", cells[0]), cells[1].strip("`"), cells[2].strip("`"))
        options = {name: said(value) for name, value in re.findall(r"`(\w+)` (\w+)", cells[3])}
        rows.append((*cards, options, [int(number) for number in cells[4].split()]))
    return rows


def said(value: str) -> bool | int | str:
    if value in ("on", "off"):
        return value == "on"
    return int(value) if value.isdigit() else value


def lines(table: OneOhOneTable, depth: int) -> int:
    """In how many ways the next actions can go; a line that ends the round counts on as one."""
    if depth == 0 or table.rounds:
        return 1
    wanted = table.shuffle_wanted
    if wanted is not None:
        table.shuffled(wanted.cards, [])  # they come in the order that the page sorts them in
        return lines(table, depth)
    seat = table.to_act[0]
    found = 0
    for act in table.legal(seat).actions:
        after = copy.deepcopy(table)
        after.act(seat, act)
        found += lines(after, depth - 1)
    return found


@pytest.mark.parametrize(("hands", "pile", "stock", "options", "expected"), counted_positions())
def test_lines_are_as_many_as_the_page_counts(
    hands: list[str], pile: str, stock: str, options: dict[str, Any], expected: list[int]
) -> None:
    for depth, number in zip(count(1), expected, strict=False):
        if number > MOST_LINES:
            break
        assert lines(position(hands, pile, stock, **options), depth) == number


def test_the_page_has_lines_to_count() -> None:
    assert len(counted_positions()) == 11


def test_random_games_go_as_with_the_engine(request: pytest.FixtureRequest) -> None:
    compare_games("one_oh_one", OneOhOneTable, request.node.nodeid, 8)
