"""Perft: how many lines of actions there are from small positions, counted by the engine's rules and by the judge's.

The counts stand on the rules pages too. A line that ends earlier, with its round, counts on as one.
"""

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from croupier.conformance.perft import by_engine, by_judge, count
from croupier.games.cards import card
from croupier.games.interface import CardsShuffled, State
from croupier.games.registry import OWN_GAMES
from tests.games import dispatch, positions_one_oh_one, positions_one_ten
from tests.games.judge_table import judge_table
from tests.games.positions import acts as played
from tests.games.positions_jossing import section as jossing
from tests.games.positions_one_ten import dealt as bidding
from tests.games.positions_one_ten import position as tricks
from tests.games.positions_solo import BIDDERS, CALLED_UNKNOWN, EIGHTH, FIVE_OF_FIVE, FROKE, MARRIED, TWELFTH, UNKNOWN
from tests.games.positions_solo import dealt as solo
from tests.games.positions_thulla import position as thulla

PACKAGES = Path(__file__).parents[2] / "services" / "croupier" / "games"
ENGINE_LINES, JUDGE_LINES = 600, 250
"""The maximum number of lines that each of the two counts in a short run."""
ALL_ENGINE_LINES, ALL_JUDGE_LINES = 100_000, 2500
Options = dict[str, Any]


class Case(NamedTuple):
    """A position and its counts; `on_page` where the page of the game has them."""

    start: State
    counts: list[int]
    on_page: bool = True
    chooses: bool = False


def one_oh_one(*position: str, **options: Any) -> State:
    state = positions_one_oh_one.position(*position, **options)
    forced = card("7C") if options.get("first_move_any") is False else None
    return state._replace(forced=forced)


def exchange(**options: Any) -> State:
    """Return 110 for two seats with two cards each after the bidding; the swap limit is beyond their hands."""
    start = positions_one_ten.new(2, **options)
    start = start._replace(options=replace(start.options, hand_size=2, tricks=2))
    deck = positions_one_ten.shuffled(start.options, 0, "5S KC | JS AH", "2C 3D 4H JK QD", "KH 2S")
    return played(dispatch.apply(start, CardsShuffled(deck, (0,)))[0], "15 pass")


def numbers(text: str) -> list[int]:
    return [int(number) for number in text.split()]


def case(start: State, counts: str, *, on_page: bool = True, chooses: bool = False) -> Case:
    return Case(start, numbers(counts), on_page, chooses)


ONE = "2C | AC | 5H"
DUEL = "KH 4C 2D 7S | 5H 3C QC 9S"
TWINS = "KH 5C QH QH | KH 5C 4D 2H"
THREE = "2C AC 5H | 3C KH 9S | 4C 6H TS"
FOUR = "AS 2H | KS 3D | QS 4C | 2D 5C"
BIDDER: Options = {"leader": "highest_bidder"}
DEALER_FIRST: Options = {"leader": "highest_bidder_dealer_first"}
PAIR = "2C 9C KD 5H | 3C TC 4D QS"
CUTTER: Options = {"pickup": "cutter", "stall_limit": 3}
AFTER: Options = {"last_card": "safe_after_trick"}
SPARED: Options = {"is_first": True, "opening_trick": "spared"}
ENDING = ("KS 6S 9D | QH 7S 6D", "AC JC TH 9S", "8H")
SIXES = ("6C 8C QD | 9C 7C 8D", "TC", "TD JD JH 9D")
FIRST = ("6C AD 7C | 8C QS 9D | 7D AC 6H", "", "TD JD JH KH KS 8S 6D")
CIRCLE = ("6H 7H 8S | QC 8H KH | AH 9H 9S | KS QH JH", "TH", "6S AS 7S TS JS TD")
COPIES = ("6C 6C 8C QH | 8C QH 7C 7C", "TC 9C", "9D 9D 6D")
RENEGES = "5S JK 2S KC 3H | JS AH 3S 2C QH"
SUITS = "KC 2C QD 3D | AC 4C 5D 2S | TC JK AD KD"
MANY = "5H 2D KC 2H | JH 3D KS 9H | JK 4D QC KH | AH 5D 2C 8H"
LAST: Options = {"decks": 2, "identical_cards": "last"}
SHUFFLE: Options = {"recycle": "shuffle"}
STRICT: Options = {"queen_covers_six": False}
HARMLESS: Options = {"last_card_effects": False}
FORCED: Options = {"first_move_any": False}
DRAWS: Options = {"may_draw_instead": True}
LED: Options = {"force_out": "trump_led"}
HIDDEN = "8D AD QD JD 8H TC 9H KH QC JS QS JC 7D 7H KD TH"
FOUR_OF_FOUR = " ".join(FIVE_OF_FIVE.split()[:16])
PENALTY: Options = {"called_card_rule": "penalty"}
WEDDING = "pass wedding pass pass call:AS trump:S"
FOUR_OF_WEDDING = f"{WEDDING} TD AD 7D QD QC 8D 7S 8S KD 7H KC 9D JD 8H TC 7C"

CASES: dict[str, Case] = {
    "thulla-two": case(thulla(PAIR), "4 9 35 65 258 422 1882 1980 2456 2932 6702 6702"),
    "thulla-two-after": case(thulla(PAIR, **AFTER), "4 9 35 65 258 422 1882 2076 2680 3508 8366 9914"),
    "thulla-two-cutter": case(thulla(PAIR, **CUTTER), "4 9 35 71 244 444 1044 1572 3612 5292"),
    "thulla-three": case(thulla(THREE), "3 3 3 6 8 18 24 54 80 180 180"),
    "thulla-three-both": case(
        thulla(THREE, **AFTER, **CUTTER), "3 3 3 6 8 18 28 44 60 68 80 90 100 112 116", on_page=False
    ),
    "thulla-four": case(thulla(FOUR), "2 3 7 8 31 42 187 293 1073 2293 6453 6453"),
    "thulla-four-after": case(thulla(FOUR, **AFTER), "2 3 7 8 31 42 187 289 1069 2298 6490 6639"),
    "thulla-two-spared": case(thulla(PAIR, **SPARED, **AFTER), "4 9 27 45 126 192 616 642 681 733 941"),
    "thulla-four-spared": case(thulla(FOUR, **SPARED), "2 3 5 10 10", on_page=False),
    "thulla-four-stall": case(thulla(FOUR, stall_limit=1), "2 3 3 4 4", on_page=False),
    "jossing-one-card": case(jossing(ONE, "9S"), "6 24 48 48"),
    "jossing-two": case(jossing(DUEL, "9C"), "10 50 200 200 600 950 1900 2700"),
    "jossing-two-bidder": case(jossing(DUEL, "9C", **BIDDER), "10 50 200 280 840 1310 2620 3620"),
    "jossing-two-dealer-first": case(jossing(DUEL, "9C", **DEALER_FIRST), "10 50 200 320 960 1490 2980 4080"),
    "jossing-two-hook": case(jossing(DUEL, "9C", hook=True), "5 20 80 80 240 380 760 1080"),
    "jossing-two-packs": case(jossing(TWINS, "9C", decks=2), "10 50 200 400 1100 1650 3050 3850"),
    "jossing-two-packs-last": case(jossing(TWINS, "9C", **LAST), "10 50 200 400 1000 1450 2750 3500"),
    "jossing-three": case(jossing(THREE, "4H"), "12 96 384 1152 1152 2304 4608 5376 6912"),
    "jossing-three-both": case(jossing(THREE, "4H", hook=True, **BIDDER), "8 32 108 324 426 582 1164 1380 1812"),
    "jossing-four": case(jossing(FOUR, "2S"), "12 108 648 1944 3888 5832 7776"),
    "jossing-four-both": case(jossing(FOUR, "2S", hook=True, **BIDDER), "9 54 162 426 852 1350 1896 2892"),
    "jossing-four-dealer-first": case(
        jossing(FOUR, "2S", hook=True, **DEALER_FIRST), "9 54 162 426 852 1326 1992 3420"
    ),
    "one_oh_one-two": case(
        one_oh_one(*SIXES), "6 13 24 41 47 47 47 48 50 55 69 77 103 119 157 191 246 269 323 375 447 518 624 756"
    ),
    "one_oh_one-two-draws": case(one_oh_one(*SIXES, **DRAWS, finish_on_six=True), "7 19 60 157 341 787 1682 3967"),
    "one_oh_one-ending": case(one_oh_one(*ENDING), "3 7 11 23 36 58 100 152 284 484 798 1365 2270 3925"),
    "one_oh_one-ending-shuffled": case(
        one_oh_one(*ENDING, **SHUFFLE, **STRICT), "3 7 8 19 28 46 74 111 209 338 559 903 1469 2435 4028"
    ),
    "one_oh_one-ending-no-effects": case(
        one_oh_one(*ENDING, **SHUFFLE, **HARMLESS), "3 7 11 23 39 60 92 144 271 455 736 1220 2051 3460 5667"
    ),
    "one_oh_one-first": case(
        one_oh_one(*FIRST), "3 5 24 34 41 55 88 103 108 136 179 225 278 368 510 748 1195 2023 3281 5419"
    ),
    "one_oh_one-first-forced": case(
        one_oh_one(*FIRST, **FORCED), "1 2 12 12 15 20 36 37 40 58 77 103 123 175 247 370 634 1081 1795 3041 4684"
    ),
    "one_oh_one-four": case(one_oh_one(*CIRCLE), "2 3 8 12 36 76 143 234 491 695 1137 1581 2249 2998 3969 5767"),
    "one_oh_one-four-strict": case(
        one_oh_one(*CIRCLE, **STRICT), "2 3 8 12 36 68 127 198 436 585 987 1374 1965 2525 3348 4948"
    ),
    "one_oh_one-twins": case(one_oh_one(*COPIES, deck=104), "6 30 85 202 388 575 762 878 948 1096 1317 1826 3010 6088"),
    "one_oh_one-twins-draws": case(one_oh_one(*COPIES, deck=104, may_draw_instead=True), "7 42 159 533 1629 4440"),
    "one_ten-bids-of-two": case(bidding("|"), "5 18 22 27"),
    "one_ten-bids-of-three": case(bidding("||"), "5 16 48 61 74 75"),
    "one_ten-bids-of-three-holds": case(bidding("||", dealer_match="holds"), "5 16 48 77 118 139 155 159 161"),
    "one_ten-bids-of-four": case(bidding("|||", bid_ladder="round_max", hand_size="10"), "10 56 230 933 2067"),
    "one_ten-reneges": case(tricks(RENEGES, "S"), "5 14 56 159 477 1067 2134 3675"),
    "one_ten-reneges-led": case(tricks(RENEGES, "S", **LED), "5 17 68 210 630 1530 3060 5504"),
    "one_ten-two-reneges": case(tricks(RENEGES, "D"), "5 11 44 104 312 628 1256 2014"),
    "one_ten-plain-suits": case(tricks(SUITS, "S"), "4 10 24 72 143 283 566 888 1420"),
    "one_ten-two-packs": case(tricks("5S JS 2S 2S KC | 5S JS AH KC 2C", "S", decks=2), "4 13 47 136 373 896 1714 3079"),
    "one_ten-four": case(tricks(MANY, "H"), "4 10 21 42 126 277 637 1345 2690 4588 7704 12696"),
    "one_ten-four-led": case(tricks(MANY, "H", **LED), "4 11 29 79 237 562 1407 3645 7290 12998"),
    "one_ten-four-by-led": case(tricks(MANY, "H", forced_out_by="led"), "4 10 26 72 216 501 1306 3532 7064"),
    "one_ten-left-leads": case(tricks(SUITS, "S", first_lead="left_of_bid_winner"), "4 11 30 90 185 345 690 1064 1700"),
    "one_ten-cards-left-over": case(tricks("5S 2S KC | JS AH 3S 2C QH", "S", tricks=3), "3 9 28 60 100 140"),
    "one_ten-exchange": case(exchange(), "88 672 1344 2280 2280", on_page=False, chooses=True),
    "one_ten-exchange-late": case(
        exchange(swap_timing="after_trump"), "84 336 672 1140 1140", on_page=False, chooses=True
    ),
    "solo-auction": case(solo(BIDDERS), "7 28 50 144 271 1923 7663"),
    "solo-auction-keep": case(solo(BIDDERS, solo_keep=True, partner_do=False), "7 28 50 144 268 1675 6751"),
    "solo-auction-clubs": case(solo(BIDDERS, solo_keep=True, do_over_clubs=False), "7 28 45 144 265 1609 6600"),
    "solo-wedding": case(solo(MARRIED, wedding_trump="any_suit"), "7 28 50 143 244 1890 7191"),
    "solo-wedding-binds": case(played(solo(MARRIED, wedding_trump="any_suit"), WEDDING), "8 29 164 884 5720 21318"),
    "solo-wedding-free": case(
        played(solo(MARRIED, wedding_trump="any_suit", wedding_card="free"), WEDDING), "8 29 164 980 6860 24908"
    ),
    "solo-wedding-late": case(
        played(solo(MARRIED, wedding_trump="any_suit"), FOUR_OF_WEDDING),
        "4 16 16 56 200 440 728 2000 3944 7064 7928 15032",
    ),
    "solo-nobody": case(played(solo(EIGHTH, call="may"), "froke pass pass pass"), "8 26 208 362 700 1242 7434"),
    "solo-called-ace": case(played(solo(EIGHTH), FROKE), "8 16 28 56 382 781 1374 2236 13094"),
    "solo-called-ace-penalty": case(
        played(solo(EIGHTH, **PENALTY), f"{FROKE} 9S KS JS 7S"), "7 13 25 59 354 767 1424 2398 11990"
    ),
    "solo-unknown-ace": case(played(solo(UNKNOWN), CALLED_UNKNOWN), "8 11 51 151 1045 1537 5213 11461"),
    "solo-unknown-ace-late": case(
        played(solo(UNKNOWN), f"{CALLED_UNKNOWN} {HIDDEN}"), "4 5 14 42 162 362 882 1938 3834 6474 11754"
    ),
    "solo-five-of-five": case(played(solo(TWELFTH), f"{FROKE} {FOUR_OF_FOUR}"), "4 10 28 100 396 792 1914 5226 10032"),
}

every_case = pytest.mark.parametrize("case", CASES.values(), ids=CASES)


def compare(case: Case, engine_lines: int, judge_lines: int) -> None:
    """Compare both counts with the case, up to these numbers of lines."""
    start, counts, _, chooses = case
    game, few = dispatch.rules(start), [number for number in counts if number <= engine_lines]
    assert count(start, len(few), lambda state: by_engine(game, state, chooses=chooses)) == few
    fewer = [number for number in counts if number <= judge_lines]
    assert count(judge_table(start), len(fewer), lambda table: by_judge(table, chooses=chooses)) == fewer


@every_case
def test_the_number_of_lines(case: Case) -> None:
    compare(case, ENGINE_LINES, JUDGE_LINES)


@pytest.mark.slow
@every_case
def test_the_number_of_long_lines(case: Case) -> None:
    compare(case, ALL_ENGINE_LINES, ALL_JUDGE_LINES)


@pytest.mark.parametrize("game", OWN_GAMES)
def test_the_pages_have_the_same_numbers(game: str) -> None:
    counts = [case.counts for name, case in CASES.items() if name.startswith(game) and case.on_page]
    for page in (PACKAGES / game / "texts").glob("rules.*.md"):
        _check_numbers(page, counts)


def _check_numbers(page: Path, counts: Sequence[list[int]]) -> None:
    counts_on_pages = re.findall(r"\| (\d+(?:,? \d+){3,}) \|$", page.read_text(), re.MULTILINE)
    assert sorted(numbers(line.replace(",", "")) for line in counts_on_pages) == sorted(counts)
