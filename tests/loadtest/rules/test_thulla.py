"""The referee's Thulla beside the engine's, and beside the positions and counts of its page."""

import pytest

from croupier.games.catalogue import GAMES
from croupier.games.interface import resolve_options
from loadtest.judge.rules.interface import Illegal, Options
from loadtest.judge.rules.thulla import ThullaTable
from tests.loadtest.rules.comparison import compare_games
from tests.loadtest.rules.counting import counted

MOST_LINES = 3000


def test_random_games_go_as_the_engine_says(request: pytest.FixtureRequest) -> None:
    compare_games("thulla", ThullaTable, request.node.nodeid, games=14)


def position(hands: dict[int, str], options: Options, seats: int = 0, out: str = "") -> ThullaTable:
    """A table in mid-game, the first seat that is named on lead."""
    seats = seats or max(hands) + 1
    table = ThullaTable(seats, resolve_options(GAMES["thulla"], seats, options))
    for seat, hand in hands.items():
        table.hands[seat] = hand.split()
    table.out = [int(seat) for seat in out.split()]
    table.round_number, table.phase = 1, "play"
    table.begin_trick(min(hands))
    return table


def play(table: ThullaTable, told: str) -> None:
    """Plays as the page tells them, "0:7H 1:KH"."""
    for seat, _, card in (one.partition(":") for one in told.split()):
        table.act(int(seat), {"type": "play", "card": card})


AFTER_TRICK: Options = {"last_card": "safe_after_trick"}

LEADS: list[tuple[str, dict[int, str], Options, str, int, str]] = [
    ("EX-3", {0: "7H 2S", 1: "KH 3S", 2: "4D 4S"}, {}, "0:7H 1:KH 2:4D", 1, "3S 7H KH 4D"),
    ("EX-3", {0: "7H 2S", 1: "KH 3S", 2: "4D 4S"}, {"pickup": "cutter"}, "0:7H 1:KH 2:4D", 2, "4S 7H KH 4D"),
    ("EX-6", {0: "KH", 1: "5H 6C", 2: "9H 3D 4D"}, {}, "0:KH 1:5H 2:9H", 1, "6C"),
    ("EX-7", {0: "5H 2C", 1: "KH", 2: "4D 7S"}, {}, "0:5H 1:KH 2:4D", 0, "2C 5H KH 4D"),
    ("EX-7", {0: "5H 2C", 1: "KH", 2: "4D 7S"}, AFTER_TRICK, "0:5H 1:KH 2:4D", 1, "5H KH 4D"),
    ("EX-8", {0: "KH", 1: "4D 9C", 2: "3H 8S"}, {}, "0:KH 1:4D", 1, "9C"),
    ("EX-8", {0: "KH", 1: "4D 9C", 2: "3H 8S"}, AFTER_TRICK, "0:KH 1:4D", 0, "KH 4D"),
    ("EX-12", {0: "5H 2C", 1: "4D", 2: "7S 8S"}, {"pickup": "cutter"}, "0:5H 1:4D", 2, "7S 8S"),
    ("EX-12", {0: "5H 2C", 1: "4D", 2: "7S 8S"}, {"pickup": "cutter", **AFTER_TRICK}, "0:5H 1:4D", 1, "5H 4D"),
]


@pytest.mark.parametrize(("name", "hands", "options", "told", "leader", "hand"), LEADS)
def test_who_leads_next_and_with_what(
    name: str, hands: dict[int, str], options: Options, told: str, leader: int, hand: str
) -> None:
    table = position(hands, options)
    play(table, told)
    assert table.to_act == [leader]
    assert sorted(table.hands[leader]) == sorted(hand.split())


CIRCLE = "0:2H 1:2C 0:2C 1:3C 2:2D 1:2D 2:3D 0:2H 2:2H 0:3H 1:2C"

ENDS: list[tuple[str, dict[int, str], Options, str, list[int], list[int]]] = [
    ("EX-9", {0: "9C", 1: "3C 4C KD"}, {"scoring": "points"}, "0:9C", [0, 1], [0, 17]),
    ("EX-9", {0: "9C", 1: "3C 4C KD"}, {"scoring": "points", **AFTER_TRICK}, "0:9C 1:3C", [0, 1], [0, 14]),
    ("EX-10", {0: "9H QS AS", 1: "4D"}, {"scoring": "points"}, "0:9H 1:4D", [1, 0], [21, 0]),
    ("EX-10", {0: "9H QS AS", 1: "4D"}, {"scoring": "cards", **AFTER_TRICK}, "0:9H 1:4D", [1, 0], [4, 0]),
    ("EX-11", {0: "9H", 1: "QH"}, {"scoring": "cards"}, "0:9H", [0, 1], [0, 1]),
    ("EX-11", {0: "9H", 1: "QH"}, {"scoring": "cards", **AFTER_TRICK}, "0:9H 1:QH", [0, 1], [0, 0]),
    ("EX-11", {0: "QH", 1: "9H"}, {"scoring": "cards", **AFTER_TRICK}, "0:QH 1:9H", [1, 0], [0, 0]),
    (
        "EX-13",
        {0: "5H 6H 7H", 1: "2S 3S"},
        {"pickup": "cutter", "stall_limit": 2, "scoring": "points"},
        "0:5H 1:2S 1:3S 0:6H",
        [1, 0],
        [16, 7],
    ),
    (
        "EX-15",
        {0: "KH", 1: "5H 6C", 2: "9H 3D 4D"},
        {"scoring": "cards_each_out"},
        "0:KH 1:5H 2:9H 1:6C",
        [0, 1, 2],
        [0, 2, 5],
    ),
    ("EX-16", {0: "9C", 1: "TC", 2: "3C 4C 5C"}, {"scoring": "cards"}, "0:9C 1:TC", [0, 1, 2], [0, 0, 3]),
    (
        "EX-20",
        {0: "2H 3H 4H", 1: "2C 3C 4C", 2: "2D 3D 4D"},
        {"scoring": "cards", "stall_limit": 4},
        CIRCLE,
        [1, 2, 0],
        [4, 2, 3],
    ),
]


@pytest.mark.parametrize(("name", "hands", "options", "told", "order", "scores"), ENDS)
def test_how_a_game_ends(
    name: str, hands: dict[int, str], options: Options, told: str, order: list[int], scores: list[int]
) -> None:
    table = position(hands, options)
    play(table, told)
    assert (table.orders, table.scores) == ([order], scores)


def test_the_seat_next_to_lead_is_the_worst_of_equals() -> None:
    table = position({0: "2H 9H", 2: "5C 6C", 3: "AC 2D"}, {}, out="1")
    table.end_stalled(leader=2)
    assert table.orders == [[1, 0, 2, 3]]  # THU-EX-14


@pytest.mark.parametrize(
    ("scoring", "orders", "totals", "ranking"),
    [
        ("none", [[0, 1, 2], [0, 2, 1]], [2, 0, 0], [[0], [1, 2]]),
        ("none", [[0, 1, 2], [1, 2, 0], [2, 1, 0]], [1, 1, 1], [[1], [2], [0]]),
        ("cards", [[0, 1, 2], [0, 1, 2], [0, 1, 2]], [0, 7, 5], [[0], [2], [1]]),
    ],
)
def test_how_a_match_is_ranked(
    scoring: str, orders: list[list[int]], totals: list[int], ranking: list[list[int]]
) -> None:
    table = position({0: "2H"}, {"best_of": 3, "scoring": scoring}, seats=3)
    table.orders, table.scores = orders, totals
    assert table.match_is_decided()
    assert table.ranked() == ranking  # THU-EX-17


@pytest.mark.parametrize(
    ("told", "rule"),
    [("1:KH", "THU-PLAY-1"), ("0:2C", "THU-PLAY-2"), ("0:5H 1:3S", "THU-PLAY-3"), ("0:5H 1:KH 0:7H", "THU-PLAY-1")],
)
def test_a_refusal_names_its_rule(told: str, rule: str) -> None:
    table = position({0: "5H 7H", 1: "KH 3S", 2: "9H 2D"}, {})
    with pytest.raises(Illegal) as refused:
        play(table, told)
    assert refused.value.rule == rule


TWO = {0: "2C 9C KD 5H", 1: "3C TC 4D QS"}
FOUR = {0: "AS 2H", 1: "KS 3D", 2: "QS 4C", 3: "2D 5C"}


@pytest.mark.parametrize(
    ("hands", "options", "told"),
    [
        (TWO, {}, "4 9 35 65 258 422 1882 1980 2456 2932 6702 6702"),
        (TWO, AFTER_TRICK, "4 9 35 65 258 422 1882 2076 2680 3508 8366 9914"),
        (TWO, {"pickup": "cutter", "stall_limit": 3}, "4 9 35 71 244 444 1044 1572 3612 5292"),
        ({0: "2C AC 5H", 1: "3C KH 9S", 2: "4C 6H TS"}, {}, "3 3 3 6 8 18 24 54 80 180 180"),
        (FOUR, {}, "2 3 7 8 31 42 187 293 1073 2293 6453 6453"),
        (FOUR, AFTER_TRICK, "2 3 7 8 31 42 187 289 1069 2298 6490 6639"),
    ],
)
def test_lines_are_as_many_as_the_page_tells(hands: dict[int, str], options: Options, told: str) -> None:
    assert counted(position(hands, options), told, MOST_LINES)
