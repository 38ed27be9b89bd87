"""The referee's 110 beside the worked positions and the counted lines of its page."""

import copy
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from loadtest.judge.rules.interface import Act, Illegal, Options
from loadtest.judge.rules.one_ten import OneTenTable
from loadtest.judge.rules.one_ten.bidding import Bidding
from loadtest.judge.rules.one_ten.cards import pack, playable
from loadtest.judge.rules.one_ten.exchange import Exchange
from loadtest.judge.rules.one_ten.play import Play
from loadtest.judge.rules.one_ten.round import OneTenRound
from loadtest.judge.rules.one_ten.scoring import taker

PAGE = Path("docs/rules/one_ten.md").read_text(encoding="utf-8")
DEFAULTS: Options = {
    "hand_size": "auto",
    "decks": 1,
    "bid_ladder": "short",
    "dealer_match": "wins",
    "swap_timing": "during",
    "force_out": "any_trick",
    "bonus_counts_for_bid": True,
    "bonus_forfeit": "bid",
    "max_rounds": 0,
}
MOST_LINES = 700
"""So many lines of the page are counted at most for each position, to be done at once."""
HANDS = ["5S JS KC QD 2H", "2S 3S 4C TD QH", "KD KH 9D 2D 5C"]
"""The hands of the round that the page works out, by seat."""
PLAYED = "5S 2S 9D JS 3S 2D KC 4C 5C QD TD KD KH 2H QH"
"""Its cards as they are played."""
DIAMONDS_FIRST = "QD TD KD KH 2H QH 5C KC 4C 5S 2S 9D JS 3S 2D"
"""The same cards if seat 0 leads a diamond first."""


def rows(first: int, last: int) -> list[list[str]]:
    """The cells of the page's rows from 110-EX-first to 110-EX-last, without the id."""
    found = re.findall(r"^\| \*\*110-EX-(\d+)\*\* \|(.*)\|$", PAGE, re.MULTILINE)
    return [[cell.strip() for cell in rest.split("|")] for number, rest in found if first <= int(number) <= last]


def spelled(text: str) -> list[str]:
    """The cards between backquotes."""
    return [card for cards in re.findall(r"`([2-9TJQKA][\w ]*)`", text) for card in cards.split()]


def dealt(hands: list[str], options: Mapping[str, Any], dealer: int) -> OneTenTable:
    """A table after a deal of these hands, with the rest of the pack as it comes."""
    table = OneTenTable(len(hands), {**DEFAULTS, **options})
    split = [hand.split() for hand in hands]
    order = [
        split[(dealer + 1 + step) % len(hands)][index] for index in range(len(split[0])) for step in range(len(hands))
    ]
    table.shuffled(order + [card for card in pack(1) if card not in order], [dealer])
    return table


def options_said(text: str) -> dict[str, Any]:
    """Options as the page names them: `decks` 2."""
    values: dict[str, Any] = {"false": False, "true": True, "2": 2}
    return {name: values.get(value, value) for name, value in re.findall(r"`(\w+)` (\w+)", text)}


def new_bidding(seats: int, options: Mapping[str, Any]) -> Bidding:
    """Before the first call, seat 0 being the dealer."""
    return dealt_round(OneTenTable(seats, {**DEFAULTS, **options})).bidding


def dealt_round(table: OneTenTable) -> OneTenRound:
    """The first round of a table, with the cards unshuffled."""
    table.shuffled(table.pack, [0])
    assert table.round is not None
    return table.round


def worked_round(bidder: int, bid: int, played: str, scores: list[int], **options: Any) -> OneTenTable:
    """The page's round after its last card."""
    table = dealt(HANDS, {"hand_size": "5", **options}, (bidder - 1) % 3)
    table.scores = scores
    acts: list[Act] = [{"type": "bid", "amount": bid}, {"type": "pass"}, {"type": "pass"}]
    for act in acts:
        table.act(table.to_act[0], act)
    for seat, hand in enumerate(HANDS):
        keep: Act = {"type": "keep", "cards": hand.split(), "trump": "S"}
        table.act(seat, keep if seat == bidder else {"type": "swap", "cards": []})
    for card in played.split():
        table.act(table.to_act[0], {"type": "play", "card": card})
    return table


@pytest.mark.parametrize(("trump", "trick", "hand", "may"), rows(1, 16))
@pytest.mark.parametrize("force_out", ["any_trick", "trump_led"])
def test_cards_may_be_played_as_the_page_says(trump: str, trick: str, hand: str, may: str, force_out: str) -> None:
    usual, otherwise, led = may.partition("with `trump_led`")
    expected = led if otherwise and force_out == "trump_led" else usual
    allowed = spelled(hand) if "anything" in expected else spelled(expected)

    _, cards = playable(spelled(hand), spelled(trick), trump, force_out)

    assert sorted(cards) == sorted(allowed)


@pytest.mark.parametrize(("trump", "cards", "taken_by"), rows(17, 22))
def test_tricks_are_taken_as_the_page_says(trump: str, cards: str, taken_by: str) -> None:
    trick = [(card, seat) for seat, card in enumerate(spelled(cards))]

    assert f"seat {taker(trick, trump)}" == taken_by


@pytest.mark.parametrize(
    ("seats", "calls", "options", "to_speak", "may", "winner"),
    [
        (3, "", {}, 1, "15 20 25 30 pass", None),
        (3, "15 pass", {}, 0, "20 25 30 match pass", None),
        (3, "15 pass 20 25", {}, 0, "30 match pass", None),
        (3, "15 20 match", {}, None, "", 0),
        (3, "15 20 match", {"dealer_match": "holds"}, 1, "25 30 pass", None),
        (4, "30", {}, 0, "match pass", None),
        (4, "15 pass 20 pass 30", {}, None, "", 1),
        (3, "pass pass", {}, 0, "15 20 25 30", None),
        (3, "15 pass pass", {}, None, "", 1),
    ],
)
def test_bidding_goes_as_the_page_says(
    seats: int, calls: str, options: dict[str, Any], to_speak: int | None, may: str, winner: int | None
) -> None:
    bidding = new_bidding(seats, options)
    for call in calls.split():
        bidding.call({"type": "bid", "amount": int(call)} if call.isdigit() else {"type": call})

    assert bidding.speaker == to_speak
    assert bidding.winner == winner
    assert to_speak is None or [str(act.get("amount", act["type"])) for act in bidding.legal()] == may.split()


@pytest.mark.parametrize(("swapped", "reshuffles"), [(3, True), (2, False)])
def test_put_away_cards_help_out_when_the_stock_is_short(swapped: int, reshuffles: bool) -> None:
    hands = [["2C"], *[[f"{rank}{suit}" for rank in "3456"] for suit in "CDH"]]
    exchange_round = OneTenRound(3, hands, spelled("`KH QH JH TH 9H`"), [f"{rank}S" for rank in "23456789"], DEFAULTS)
    exchange_round.exchange = Exchange(hands, 0, exchange_round.kitty, "during")
    exchange_round.act(0, {"type": "keep", "cards": ["2C"], "trump": "S"})
    for seat, number in [(1, 3), (2, swapped), (3, 3)]:
        exchange_round.act(seat, {"type": "swap", "cards": hands[seat][:number]})

    assert sorted(exchange_round.to_reshuffle) == (["9H", "JH", "KH", "QH", "TH"] if reshuffles else [])
    if reshuffles:
        with pytest.raises(Illegal, match="110-SWAP-6"):
            exchange_round.act(0, {"type": "play", "card": "2C"})
        assert [len(hand) for hand in hands] == [1, 1, 1, 1]
        exchange_round.reshuffled(["JH", "KH", "QH", "TH", "9H"])
        assert hands[3] == ["6H", "8S", "9S", "JH"]
        assert hands[1] == ["6C", "2S", "3S", "4S"]
    assert len(exchange_round.stock) == (4 if reshuffles else 0)
    assert exchange_round.to_act == [0]


@pytest.mark.parametrize(("bid", "before", "said", "points", "after"), rows(36, 44))
def test_rounds_are_scored_as_on_the_page(bid: str, before: str, said: str, points: str, after: str) -> None:
    table = worked_round(0, int(bid), PLAYED, [int(score) for score in before.split()], **options_said(said))

    assert table.rounds[0].points == [int(change) for change in points.split()]
    assert table.scores == [int(score) for score in after.split()]


def test_a_bid_winner_who_failed_loses_what_he_bid() -> None:
    table = worked_round(2, 15, "KH 2H QH KD QD TD 9D 5S 2S JS 3S 2D KC 4C 5C", [0, 0, 0])

    assert table.rounds[0].points == [20, 0, -15]


@pytest.mark.parametrize(
    ("number", "played", "ranking"),
    [
        (46, PLAYED, [[0], [2], [1]]),
        (47, DIAMONDS_FIRST, [[2], [0], [1]]),
        (48, PLAYED, [[2], [0], [1]]),
        (49, PLAYED, [[0], [1, 2]]),
    ],
)
def test_games_are_won_as_on_the_page(number: int, played: str, ranking: list[list[int]]) -> None:
    [(before, bid, after, _)] = rows(number, number)

    table = worked_round(0, int(bid), played, [int(score) for score in before.split()])

    assert table.scores == [int(score) for score in after.split()]
    assert table.ranking == ranking
    assert table.shuffle_wanted is None


def counted_lines() -> list[Any]:
    """The rows of numbers on the page that begin with hands: hands, trump, options, lines of 1, 2, 3, ... cards."""
    found: list[Any] = []
    for line in PAGE.partition("## Numbers")[2].splitlines():
        start, said, numbers = ([cell.strip() for cell in line.split("|")[1:-1]] or [""] * 3)[:3]
        hands = re.findall(r"`(.*?)`", start) or (found[-1][0] if start.startswith("the same") else [])
        if hands:
            trump = start.partition(";")[2].strip()[:1].upper() or found[-1][1]
            found.append((hands, trump, options_said(said), [int(number) for number in numbers.split()]))
    return found


@pytest.mark.parametrize(("hands", "trump", "options", "expected"), counted_lines())
def test_tricks_have_as_many_lines_as_the_page_counts(
    hands: list[str], trump: str, options: dict[str, Any], expected: list[int]
) -> None:
    play = Play([hand.split() for hand in hands], 0, trump, str({**DEFAULTS, **options}["force_out"]))

    few = [number for number in expected if number <= MOST_LINES]
    assert [lines_of(play, depth) for depth in range(1, len(few) + 1)] == few


def lines_of(play: Play, depth: int) -> int:
    """In how many ways the next cards can be played; a line that ends the round counts on as one."""
    if depth == 0 or play.is_over:
        return 1
    seat = play.to_act[0]
    found = 0
    for act in play.legal(seat).actions:
        after = copy.deepcopy(play)
        after.act(seat, act)
        found += lines_of(after, depth - 1)
    return found


@pytest.mark.parametrize(
    ("seats", "options", "expected"),
    [
        (2, {}, "5 18 22 27"),
        (3, {}, "5 16 48 61 74 75"),
        (3, {"dealer_match": "holds"}, "5 16 48 77 118 139 155 159 161"),
        (4, {"bid_ladder": "round_max"}, "10 56 230 933"),
    ],
)
def test_biddings_have_as_many_lines_as_the_page_counts(seats: int, options: dict[str, Any], expected: str) -> None:
    bidding = new_bidding(seats, options)

    assert " ".join(str(biddings(bidding, depth + 1)) for depth in range(len(expected.split()))) == expected


def biddings(bidding: Bidding, depth: int) -> int:
    """In how many ways the next calls can go; a line that ends the bidding counts on as one."""
    if depth == 0 or bidding.speaker is None:
        return 1
    found = 0
    for act in bidding.legal():
        after = copy.deepcopy(bidding)
        after.call(act)
        found += biddings(after, depth - 1)
    return found


def test_the_page_has_lines_to_count() -> None:
    assert len(counted_lines()) == 7


@pytest.mark.parametrize(
    ("seat", "act", "rule"),
    [
        (0, {"type": "swap", "cards": ["2C"]}, "110-SWAP-2"),
        (0, {"type": "swap", "cards": ["5S", "JS", "KC", "QD"]}, "110-SWAP-2"),
        (0, {"type": "swap", "cards": ["5S", "5S"]}, "110-SWAP-2"),
        (0, {"type": "swap", "cards": None}, "110-SWAP-2"),
        (0, {"type": "pass"}, "110-SWAP-3"),
        (1, {"type": "swap", "cards": []}, "110-KEEP-2"),
        (1, {"type": "keep", "cards": ["2S", "3S", "4C", "TD"], "trump": "S"}, "110-KEEP-2"),
        (1, {"type": "keep", "cards": ["2S", "3S", "4C", "TD", "KD"], "trump": "S"}, "110-KEEP-2"),
        (1, {"type": "keep", "cards": ["2S", "3S", "4C", "TD", "QH"], "trump": "X"}, "110-KEEP-3"),
        (2, {"type": "swap", "cards": []}, "110-SWAP-1"),
    ],
)
def test_what_the_exchange_does_not_allow_is_refused_and_changes_nothing(seat: int, act: Act, rule: str) -> None:
    table = dealt(HANDS, {"hand_size": "5"}, 0)
    calls: list[Act] = [{"type": "bid", "amount": 15}, {"type": "pass"}, {"type": "pass"}]
    for call in calls:
        table.act(table.to_act[0], call)
    table.act(2, {"type": "swap", "cards": []})
    before = copy.deepcopy((table.hands, table.piles, table.to_act))

    with pytest.raises(Illegal) as refused:
        table.act(seat, act)

    assert refused.value.rule == rule
    assert (table.hands, table.piles, table.to_act) == before
