"""The referee's Jøssing beside the engine's, and beside the positions and counts of its page."""

import pytest

from croupier.games.catalogue import GAMES
from croupier.games.interface import resolve_options
from loadtest.judge.rules.interface import Illegal, Options
from loadtest.judge.rules.jossing import JossingTable
from tests.loadtest.rules.comparison import compare_games
from tests.loadtest.rules.counting import counted

MOST_LINES = 700


def test_random_games_go_as_the_engine_says(request: pytest.FixtureRequest) -> None:
    compare_games("jossing", JossingTable, request.node.nodeid, games=7)


def new(seats: int, options: Options) -> JossingTable:
    """A table before its first deal."""
    return JossingTable(seats, resolve_options(GAMES["jossing"], seats, options))


def position(hands: list[str], indicator: str, options: Options, dealer: int = 0) -> JossingTable:
    """A table in which bids are awaited."""
    table = new(len(hands), options)
    table.hands = [hand.split() for hand in hands]
    table.indicator, table.dealer = indicator, dealer
    table.round_number, table.phase = 1, "bid"
    return table


def bid(table: JossingTable, bids: dict[int, int]) -> None:
    """Bids, in this order."""
    for seat, amount in bids.items():
        table.act(seat, {"type": "bid", "amount": amount})


def play(table: JossingTable, told: str) -> None:
    """Plays as the page tells them, "0:KH 1:4H"."""
    for seat, _, card in (one.partition(":") for one in told.split()):
        table.act(int(seat), {"type": "play", "card": card})


@pytest.mark.parametrize(
    ("seats", "options", "sizes"),
    [
        (6, {}, [1, 2, 3, 4, 5, 6, 7, 8]),
        (7, {"game_type": "up_and_down"}, [1, 2, 3, 4, 5, 6, 7, 7, 6, 5, 4, 3, 2, 1]),
        (8, {"game_type": "up_and_down"}, [1, 2, 3, 4, 5, 6, 6, 5, 4, 3, 2, 1]),
        (8, {"decks": 2}, [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]),
        (5, {"game_type": "up_and_down"}, [*range(1, 11), *range(10, 0, -1)]),
    ],
)
def test_how_large_the_sections_are(seats: int, options: Options, sizes: list[int]) -> None:
    table = new(seats, options)
    assert [table.cards_each(section) for section in range(1, table.sections + 1)] == sizes  # JOS-EX-2


@pytest.mark.parametrize(
    ("bids", "leader"), [([2, 2, 0, 1], 0), ([0, 0, 0, 0], 2), ([0, 3, 1, 2], 1), ([1, 3, 0, 3], 3)]
)
@pytest.mark.parametrize("rule", ["left_of_dealer", "highest_bidder"])
def test_who_leads_first(rule: str, bids: list[int], leader: int) -> None:
    table = position(["2C 3C 4C", "2D 3D 4D", "2H 3H 4H", "2S 3S 4S"], "AS", {"leader": rule}, dealer=1)
    bid(table, dict(enumerate(bids)))
    assert table.to_act == [leader if rule == "highest_bidder" else 2]  # JOS-EX-4


@pytest.mark.parametrize(
    ("trump", "told", "options", "winner"),
    [
        ("S", "2:9D 3:KD 0:AC 1:3D", {}, 3),
        ("S", "2:9D 3:KD 0:2S 1:AD", {}, 0),
        ("S", "2:9D 3:4S 0:2S 1:AD", {}, 3),
        ("D", "2:9D 3:KC 0:TD 1:AS", {}, 0),
        ("H", "2:2C 3:AD 0:AS 1:KD", {}, 2),
        ("C", "0:KH 1:KH 2:4H", {"decks": 2}, 0),
        ("C", "0:KH 1:KH 2:4H", {"decks": 2, "identical_cards": "last"}, 1),
        ("C", "0:AH 1:3C 2:3C", {"decks": 2}, 1),
        ("C", "0:AH 1:3C 2:3C", {"decks": 2, "identical_cards": "last"}, 2),
        ("C", "0:KH 1:KH 2:AH", {"decks": 2, "identical_cards": "last"}, 2),
    ],
)
def test_who_wins_a_trick(trump: str, told: str, options: Options, winner: int) -> None:
    table = new(4, options)
    table.indicator = f"5{trump}"
    table.trick = [(card, int(seat)) for seat, _, card in (one.partition(":") for one in told.split())]
    assert table.winner() == winner  # JOS-EX-6, JOS-EX-7


@pytest.mark.parametrize(
    ("bids", "amounts"), [([1, 0, 1], [0, 2, 3]), ([2, 2, 1], [0, 1, 2, 3]), ([0, 0, 0], [0, 1, 2])]
)
def test_the_hook_forbids_one_number(bids: list[int], amounts: list[int]) -> None:
    hands = ["2C 3C 4C", "2D 3D 4D", "2H 3H 4H", "2S 3S 4S"]
    table = position(hands, "AS", {"hook": True}, dealer=2)
    assert table.to_act == [0, 1, 3]
    bid(table, dict(zip([0, 1, 3], bids, strict=True)))
    assert [action["amount"] for action in table.legal(2).actions] == amounts  # JOS-EX-8


@pytest.mark.parametrize(("scoring", "scores"), [("classic", [12, 10]), ("modern", [15, 5])])
def test_what_a_section_is_worth(scoring: str, scores: list[int]) -> None:
    table = position(["AH 2S", "KH QH"], "9S", {"scoring": scoring}, dealer=1)
    bid(table, {0: 2, 1: 0})
    play(table, "0:AH 1:KH 0:2S 1:QH")
    assert (table.scores, table.phase) == (scores, "deal")  # JOS-EX-11


@pytest.mark.parametrize(
    ("action", "rule"),
    [
        ({"type": "bid", "amount": 3}, "JOS-BID-2"),
        ({"type": "bid", "amount": -1}, "JOS-BID-2"),
        ({"type": "bid", "amount": 1.0}, "JOS-BID-2"),
        ({"type": "bid", "amount": True}, "JOS-BID-2"),
        ({"type": "bid"}, "JOS-ACT-1"),
        ({"type": "bid", "bid": "solo"}, "JOS-ACT-1"),
        ({"type": "pass"}, "JOS-ACT-1"),
        ({"type": "play", "card": "AH"}, "JOS-BID-1"),
    ],
)
def test_a_refusal_names_its_rule(action: dict[str, object], rule: str) -> None:
    table = position(["AH 2S", "KH QH"], "9S", {})
    with pytest.raises(Illegal) as refused:
        table.act(0, action)
    assert refused.value.rule == rule  # JOS-EX-10


TWO = ["KH 4C 2D 7S", "5H 3C QC 9S"]
TWINS = ["KH 5C QH QH", "KH 5C 4D 2H"]
THREE = ["2C AC 5H", "3C KH 9S", "4C 6H TS"]
FOUR = ["AS 2H", "KS 3D", "QS 4C", "2D 5C"]
BIDDER_AND_HOOK: Options = {"hook": True, "leader": "highest_bidder"}


@pytest.mark.parametrize(
    ("hands", "indicator", "options", "told"),
    [
        (["2C", "AC", "5H"], "9S", {}, "6 24 48 48"),
        (TWO, "9C", {}, "10 50 200 200 600 950 1900 2700"),
        (TWO, "9C", {"leader": "highest_bidder"}, "10 50 200 280 840 1310 2620 3620"),
        (TWO, "9C", {"hook": True}, "5 20 80 80 240 380 760 1080"),
        (TWINS, "9C", {"decks": 2}, "10 50 200 400 1100 1650 3050 3850"),
        (TWINS, "9C", {"decks": 2, "identical_cards": "last"}, "10 50 200 400 1000 1450 2750 3500"),
        (THREE, "4H", {}, "12 96 384 1152 1152 2304 4608 5376 6912"),
        (THREE, "4H", BIDDER_AND_HOOK, "8 32 108 324 426 582 1164 1380 1812"),
        (FOUR, "2S", {}, "12 108 648 1944 3888 5832 7776"),
        (FOUR, "2S", BIDDER_AND_HOOK, "9 54 162 426 852 1350 1896 2892"),
    ],
)
def test_lines_are_as_many_as_the_page_tells(hands: list[str], indicator: str, options: Options, told: str) -> None:
    assert counted(position(hands, indicator, options), told, MOST_LINES)
