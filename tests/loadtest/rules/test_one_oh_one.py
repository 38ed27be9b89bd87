"""The referee's 101 beside the engine's rules in random games, and its lines as the rules page counts them."""

import copy
import re
from itertools import count
from pathlib import Path
from random import Random
from typing import Any

import pytest

from croupier.games.actions import action_to_json
from croupier.games.cards import NOTATION
from croupier.games.interface import CardsShuffled, Event, Game, SeatActed, SeatsToAct, State
from loadtest.judge.rules.one_oh_one import OneOhOneTable
from tests.games.walk import next_event
from tests.loadtest.rules import comparison
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
    compare_games("one_oh_one", OneOhOneTable, request.node.nodeid, 2)


def test_games_of_players_who_hurry_go_as_with_the_engine(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(comparison, "next_event", hurried_event)
    monkeypatch.setattr(comparison, "ordered", lambda event: event)  # 101-DEAL-2: the order in hands has a meaning

    compare_games("one_oh_one", OneOhOneTable, request.node.nodeid, 10)


def hurried_event(game: Game, state: State, random: Random) -> Event | None:
    """A random event of short rounds, which reach the ends of games that play by chance seldom sees.

    Seats draw only if they must, the odd ones keep their queens, and often one seat is dealt all queens.
    """
    event = next_event(game, state, random)
    if isinstance(event, CardsShuffled) and random.random() < 0.5:
        return CardsShuffled(queens_together(event.cards, len(state.scores), random), event.drawn)
    if not isinstance(state.awaiting, SeatsToAct) or random.random() < 0.05:
        return event
    (seat,) = state.awaiting.seats
    plays = [action for action in state.legal_actions(seat).actions if action_to_json(action)["type"] == "play"]
    others = [action for action in plays if action_to_json(action)["card"][0] != "Q"]
    if seat % 2 and others:
        plays = others
    return SeatActed(seat, random.choice(plays)) if plays else event


def queens_together(cards: tuple[Any, ...], seats: int, random: Random) -> tuple[Any, ...]:
    """The cards in such an order that one of so many seats is dealt the first four queens."""
    queens = [card for card in cards if NOTATION[card][0] == "Q"]
    order = [card for card in cards if NOTATION[card][0] != "Q"]
    first = random.randrange(seats)
    for turn, queen in enumerate(queens[:4]):
        order.insert(first + turn * seats, queen)
    return (*order, *queens[4:])
