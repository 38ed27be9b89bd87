"""Bots play legally in every game, decide sensibly in plain positions, and the best one beats a random one."""

from collections import Counter
from collections.abc import Mapping
from random import Random
from typing import Any

import pytest

from benchmarks.matches import MIN_DEALS, League, comparisons, standings
from croupier.conformance.attempts import fits
from croupier.conformance.tables import observation
from croupier.games.actions import UNCHOSEN, Action, KeepCards, Lay, Play, StandPat, SwapCards
from croupier.games.bots import random_legal
from croupier.games.choices import ActionChoice, CardChoice, cards_of
from croupier.games.facts import View
from croupier.games.interface import (
    Bot,
    Game,
    Legal,
    Observation,
    OptionValue,
    OptionValues,
    RandomSource,
    State,
    resolve_options,
)
from croupier.games.registry import OWN_GAMES, bots_of
from croupier.games.search import SearchBot
from tests.games import positions, positions_one_oh_one
from tests.games.positions import acts, to_act
from tests.games.positions_jossing import section
from tests.games.positions_one_ten import dealt as bidding
from tests.games.positions_one_ten import position as trick
from tests.games.positions_solo import (
    ALONE,
    BIDDERS,
    EIGHTH,
    FIVE_OF_FIVE,
    FROKE,
    MARRIED,
    NINTH,
    TWELFTH,
    UNKNOWN,
    VOID,
    exchanged,
)
from tests.games.positions_solo import dealt as solo
from tests.games.positions_thulla import position as thulla

VARIED: Mapping[str, dict[str, OptionValue]] = {
    "thulla": {"pickup": "cutter", "last_card": "safe_after_trick"},
    "one_ten": {"swap_timing": "after_trump", "force_out": "trump_led"},
    "jossing": {"scoring": "modern", "hook": True, "leader": "highest_bidder"},
    "one_oh_one": {"deck": 52, "queen_covers_six": False},
    "solo": {"called_card_rule": "penalty", "call": "may", "do_over_clubs": False, "ranking": "out_order"},
}
LEAGUE_OPTIONS: Mapping[str, dict[str, OptionValue]] = {"one_ten": {"max_rounds": 30}}
"""Options with which random play comes to an end."""
EMPTY = View(0, "", None, ())


@pytest.mark.parametrize("game", OWN_GAMES.values(), ids=OWN_GAMES)
def test_every_game_has_three_bots(game: Game) -> None:
    assert list(bots_of(game)) == ["sensible", "random", "search"]


def bids_sensibly(observation: Observation, randrange: RandomSource) -> Action:
    """Return sensible bids and calls of Solo, and random card plays."""
    playing = isinstance(observation.legal.actions[0], Play)
    return (
        random_legal(observation, randrange) if playing else OWN_GAMES["solo"].bots["sensible"](observation, randrange)
    )


def plays_better(game: Game, seats: int, options: OptionValues, bots: dict[str, Bot], tables: int) -> bool:
    """Return whether the first of two bots, alone among others of the second, plays significantly better."""
    one, other = bots
    seatings = tuple(tuple(one if seat == own else other for seat in range(seats)) for own in range(seats))
    league = League(game, resolve_options(game, seats, options), bots, seatings, "league")
    ranked = standings([league.deal(number) for number in range(max(tables // seats, MIN_DEALS))])
    return comparisons(ranked) == [f"{one} plays better than {other}: the intervals are apart"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("game", "seats", "options"),
    [pytest.param(game, seats, {}, id=f"{game.id}-{seats}") for game in OWN_GAMES.values() for seats in game.seats]
    + [pytest.param(OWN_GAMES[name], OWN_GAMES[name].seats[0], VARIED[name], id=f"{name}-varied") for name in VARIED],
)
def test_sensible_play_beats_random_play_significantly(game: Game, seats: int, options: dict[str, OptionValue]) -> None:
    ends = LEAGUE_OPTIONS.get(game.id, {}) | options
    bots = {name: game.bots[name] for name in ("sensible", "random")}
    assert plays_better(game, seats, ends, bots, tables=120 if game.id == "thulla" else 40)


@pytest.mark.slow
def test_sensible_card_play_of_solo_wins_among_players_with_the_same_bidding() -> None:
    bots: dict[str, Bot] = {"sensible": OWN_GAMES["solo"].bots["sensible"], "bidder": bids_sensibly}
    assert plays_better(OWN_GAMES["solo"], 4, {}, bots, tables=80)


def test_search_decides_where_a_game_may_have_no_end() -> None:
    options: dict[str, Any] = {"stall_limit": 0, "last_card": "safe_after_trick"} | CUTTER
    observed = observation(OWN_GAMES["thulla"], thulla("6C | 9H 6S", leader=1, **options), 1, options)
    assert fits(observed.legal, SearchBot(OWN_GAMES["thulla"], max_iterations=5)(observed, Random(1).randrange))


@pytest.mark.slow
def test_search_plays_better_than_sensible() -> None:
    game = OWN_GAMES["thulla"]
    bots: dict[str, Bot] = {"search": SearchBot(game, max_iterations=15), "sensible": game.bots["sensible"]}
    assert plays_better(game, 2, {}, bots, tables=10)


def picked_at_random(legal: Legal) -> Counter[Action]:
    """Return how often the random bot takes each action in 3000 decisions."""
    random = Random(5)
    return Counter(random_legal(Observation(0, {}, EMPTY, legal), random.randrange) for _ in range(3000))


def test_random_picks_each_action_and_each_choice() -> None:
    lay = ActionChoice(Lay(()), CardChoice((1, 2, 3), 1, 3))
    keep = ActionChoice(KeepCards((), UNCHOSEN), CardChoice((1, 2, 2), 2, 2), (0, 3))
    legal = Legal((StandPat(),), (lay, keep))
    picked = picked_at_random(legal)
    assert all(fits(legal, action) for action in picked)
    assert len(picked) == 1 + 7 + 2 * 2
    assert 900 < picked[StandPat()] < 1100


def test_random_stands_pat_as_often_as_it_swaps_each_number_of_cards() -> None:
    legal = Legal((StandPat(),), (ActionChoice(SwapCards(()), CardChoice((1, 2, 3), 1, 2)),))
    picked = picked_at_random(legal)
    assert all(fits(legal, action) for action in picked)
    assert len(picked) == 1 + 3 + 3
    counts = Counter[int]()
    for action, times in picked.items():
        counts[len(cards_of(action))] += times
    assert all(900 < counts[number] < 1100 for number in range(3))


@pytest.mark.parametrize("bot", [bot for game in OWN_GAMES.values() for bot in bots_of(game).values()])
def test_a_bot_with_nothing_to_decide_raises_an_error(bot: Bot) -> None:
    with pytest.raises(ValueError, match="nothing to decide"):
        bot(Observation(0, {}, EMPTY, Legal()), Random(1).randrange)


CUTTER: dict[str, Any] = {"pickup": "cutter"}
SPARED: dict[str, Any] = {"opening_trick": "spared"}
FREE: dict[str, Any] = {"deck": 52, "may_draw_instead": True}
TRUMPS_FIRST = "5S JS JK AS KS||||"
WEAK_HAND = "6C 7D 9C 8H 4H||||"
STRONG = "QC QS 7C AC KC JC TC AD | 9C 8C 7D 8D 9D TD JD QD | KD 7H 8H 9H TH JH QH KH | AH 7S 8S 9S TS JS KS AS"
GOOD = "QC 7H AH KH QH 8C AD KD | 8H 9H TC KC 7D 8D 9D TD | QS JH AC 7C AS KS JS TS | TH JD QD JC 9C 7S 8S 9S"
CLUBS = "QC 7C AC KC JC 8H AD KD | 8C 9C TC 7D 8D 9D TD JD | QD 7H 9H TH JH QH KH AH | QS 7S 8S 9S TS JS KS AS"
WEAK = "QC QS 7D 8D 7H 8H 7S 8S | 7C 8C 9C TC JC KC AC 9D | TD JD QD KD AD 9H TH JH | QH KH AH 9S TS JS KS AS"
HEARTS = exchanged(EIGHTH, "8C TH", "9C 8D")
LOOKING = f"{FROKE} KH TH 8H 7S AH 7D 9H 8S QC 8D JH"
WINNERS = "solo_clubs pass pass pass trump:C 7C 9C 7H 7S QC 8C 8H 8S QS 7D 9H 9S AC 8D TH TS KC 9D JH JS"
WEDDING = "pass wedding pass pass call:AS trump:C 7C QC 7D TC QS 7H JC 8C"
"""With the fifth hands: seat 1 is on lead to the third trick, and the called card is unplayed."""
PENALTY: dict[str, Any] = {"called_card_rule": "penalty"}
FREE_WEDDING: dict[str, Any] = {"wedding_card": "free"}
MAY: dict[str, Any] = {"call": "may"}
CLUBS_OVER_DO: dict[str, Any] = {"do_over_clubs": False}
PLAIN: dict[str, Any] = {"through_factor": 1}


def shedding(held: str, top: str, others: str = "8D 8H 8S | 7D 7H 7S") -> State:
    """Return 101 where seat 0 holds these cards, and may draw instead."""
    return positions_one_oh_one.position(f"{held} | {others}", f"2D {top}", "3C 3D 3H", **FREE)


DECISIONS: Mapping[str, list[Any]] = {
    "thulla": [
        pytest.param(thulla("5H AH 2S | 3H 4H | 6H 7H"), "", {}, "AH", id="leads-high-where-all-follow"),
        pytest.param(thulla("5H AH 2S | 3C 4H | 6D 7D"), "", {}, "2S", id="leads-low-where-a-cut-is-likely"),
        pytest.param(thulla("9H 3D | 2H 7H KH | 4C 5C 6C"), "0:9H", {}, "7H", id="stays-below-a-cut"),
        pytest.param(thulla("9H 3D | 2H 7H KH"), "0:9H", {}, "KH", id="plays-high-as-the-last"),
        pytest.param(
            thulla("9H 3D | 2H 7H KH | 4C 5C 6C", is_first=True, **SPARED),
            "0:9H",
            SPARED,
            "KH",
            id="high-where-cuts-are-spared",
        ),
        pytest.param(thulla("9H 2S 3S 4S | 2C AD 3S"), "0:9H", {}, "AD", id="cuts-with-a-dangerous-card"),
        pytest.param(thulla("9H 3D | 5H 4C", **CUTTER), "", CUTTER, "3D", id="baits-the-cutter"),
    ],
    "jossing": [
        pytest.param(section("AH KH QH | 2C 3C 4D", "2H"), "", {}, "0:3", id="high-trumps-are-tricks"),
        pytest.param(section("AC KC QH | 2C 3C 4D | 2S 3S 5D", "2H"), "", {}, "1:0", id="low-cards-are-none"),
        pytest.param(section("2C | 4C", "2H"), "", {}, "1:1", id="the-leader-wins-with-a-low-card"),
        pytest.param(section("2C | 4C | 5C | 6C", "2H"), "", {}, "2:0", id="but-not-without-the-lead"),
        pytest.param(section("AH KH | 2C 3C", "2H", hook=True), "1:0", {"hook": True}, "0:1", id="heeds-the-hook"),
        pytest.param(section("5C AS | 9C KC", "QH"), "1:0 0:1 9C", {}, "0:5C", id="keeps-the-sure-trick"),
        pytest.param(section("AC 2S | 9C KC", "QH"), "1:0 0:1 9C", {}, "0:AC", id="takes-what-it-needs"),
        pytest.param(section("TC 5C | 9C KC", "QH"), "1:0 0:0 9C", {}, "0:5C", id="stays-below-when-it-has-enough"),
        pytest.param(section("5C AC | KC 2C", "QH"), "1:0 0:0 KC", {}, "0:5C", id="does-not-win-against-its-bid"),
        pytest.param(section("AS 2D | 9C KC", "QH"), "1:0 0:0 9C", {}, "0:AS", id="throws-what-might-win"),
        pytest.param(section("3H 4H | 9C KC", "QH"), "1:1 0:2 9C", {}, "0:3H", id="ruffs-when-it-needs-all"),
    ],
    "one_oh_one": [
        pytest.param(shedding("AC JC 9D", "TC"), "", FREE, "AC", id="sheds-what-costs-most"),
        pytest.param(shedding("8C QD 9H", "TC"), "", FREE, "8C", id="keeps-its-queen"),
        pytest.param(shedding("7C TC 9D", "KC", "8D | 7D 7H 7S"), "", FREE, "7C", id="hits-who-is-nearly-out"),
        pytest.param(shedding("KS JS TS", "9S"), "", FREE, "KS", id="hits-hard"),
        pytest.param(shedding("QD 8H 9H AH JS", "TC"), "", FREE, "QD/H", id="orders-its-longest-suit"),
        pytest.param(shedding("6C JC 9D", "TC"), "", FREE, "6C", id="a-six-with-its-cover"),
        pytest.param(shedding("6C 9C QS", "TC"), "", FREE, "6C", id="a-six-and-two-more"),
        pytest.param(shedding("6S 9S 9D", "6H"), "", FREE, "6S", id="covers-with-the-nine"),
        pytest.param(shedding("6D 9S 8S", "9D"), "", FREE, "9S", id="no-six-without-a-cover"),
        pytest.param(shedding("2C QD QH", "TC"), "", FREE, "QD/C", id="not-left-with-queens-alone"),
        pytest.param(shedding("QC", "TC"), "", FREE, "QC/C", id="ends-the-round"),
        pytest.param(shedding("6C 8C", "TC", "8D 8H | 7D 7H 7S"), "", FREE, "6C", id="a-six-before-the-end"),
        pytest.param(shedding("8D 9H", "TC", "8D 8H | 7D 7H 7S"), "", FREE, "draw", id="draws-when-it-must"),
        pytest.param(shedding("2C 9H", "TC", "8D 8H | 7D 7H 7S"), "", FREE, "2C", id="and-only-then"),
    ],
    "one_ten": [
        pytest.param(bidding(TRUMPS_FIRST), "pass pass pass 25", {}, "match", id="matches-with-a-strong-hand"),
        pytest.param(bidding(TRUMPS_FIRST), "pass pass pass pass", {}, "15", id="bids-no-more-than-needed"),
        pytest.param(bidding(WEAK_HAND), "pass pass pass pass", {}, "15", id="bids-because-it-must"),
        pytest.param(bidding(WEAK_HAND), "pass pass pass 25", {}, "pass", id="passes-with-a-weak-hand"),
        pytest.param(trick("5S 2D 3D | JS 7C 8C"), "", {}, "5S", id="leads-the-highest-trump-after-winning-the-bid"),
        pytest.param(trick("2D | KD 3D 4D"), "2D", {}, "3D", id="takes-no-more-dearly-than-needed-as-the-last"),
        pytest.param(trick("KD | 5S 3D AD"), "KD", {}, "AD", id="guards-the-five-in-a-plain-trick"),
        pytest.param(trick("5S | 2S 3S TS"), "5S", {}, "TS", id="throws-the-lowest-under-a-certain-winner"),
        pytest.param(
            bidding("5D JD 2C 7H 9C||||", "AD KD 9D 8S 4C"),
            "pass pass pass pass 15",
            {},
            "keep:5D,9D,JD,KD,AD/D",
            id="keeps-trumps",
        ),
        pytest.param(bidding("5D JK 2H 9C 8S||||"), "1:30 0:pass", {}, "0:swap:9C,2H,8S", id="swaps-weak-plain-cards"),
    ],
    "solo": [
        pytest.param(solo(STRONG), "", {}, "solo_do_clubs", id="bids-what-it-can-win-alone"),
        pytest.param(solo(GOOD), "", {}, "solo", id="bids-a-solo"),
        pytest.param(solo(HEARTS), "", {}, "froke", id="bids-a-froke"),
        pytest.param(solo(BIDDERS), "", {}, "iss", id="bids-an-iss"),
        pytest.param(solo(WEAK), "", {}, "wedding", id="bids-the-wedding"),
        pytest.param(solo(EIGHTH), "pass pass pass", {}, "pass", id="passes-with-little"),
        pytest.param(solo(MARRIED), "froke pass pass iss", {}, "wedding", id="calls-the-wedding-it-owes"),
        pytest.param(solo(EIGHTH), "froke pass pass pass", {}, "trump:H", id="names-its-longest-suit"),
        pytest.param(solo(EIGHTH), "froke pass pass pass trump:H", {}, "call:AD", id="calls-its-shortest-suit"),
        pytest.param(solo(UNKNOWN), "froke pass pass pass trump:D", {}, "call:unknown", id="calls-the-unknown-ace"),
        pytest.param(solo(EIGHTH, **MAY), "froke pass pass pass trump:H", MAY, "call:AD", id="calls-where-it-need-not"),
        pytest.param(
            solo(GOOD, **MAY), "froke pass pass pass trump:H", MAY, "call:nobody", id="plays-alone-what-it-can-win"
        ),
        pytest.param(solo(GOOD, **MAY), "froke pass pass pass trump:H!", MAY, "call:AC", id="needs-a-partner-for-a-do"),
        pytest.param(solo(TWELFTH), FROKE, {}, "QC", id="draws-trumps"),
        pytest.param(solo(EIGHTH), f"{FROKE} TD 8D QD", {}, "KD", id="wins-as-cheaply-as-can-be"),
        pytest.param(solo(EIGHTH, **MAY), f"{ALONE} TD 8D QD", MAY, "9D", id="leaves-a-trick-to-another-defender"),
        pytest.param(solo(EIGHTH), f"{FROKE} 9S KS TS", {}, "7S", id="plays-low-where-it-cannot-win"),
        pytest.param(solo(TWELFTH), f"{FROKE} {FIVE_OF_FIVE}", {}, "throw_down", id="throws-down-what-is-not-sure"),
        pytest.param(solo(NINTH), f"{LOOKING} JS", {}, "9C", id="looks-for-its-partner"),
        pytest.param(solo(MARRIED), WEDDING, {}, "TS", id="brings-out-the-card-that-binds-in-a-wedding"),
        pytest.param(solo(MARRIED, **FREE_WEDDING), WEDDING, FREE_WEDDING, "AC", id="draws-trumps-where-it-does-not"),
        pytest.param(
            solo(MARRIED, **PENALTY),
            f"{WEDDING} AC 8H KC 9C AD 8D QD TD KD 9H",
            PENALTY,
            "AS",
            id="plays-the-called-card-of-a-wedding-in-time",
        ),
        pytest.param(
            solo(CLUBS, dealer=0, **CLUBS_OVER_DO),
            "pass pass solo_do",
            CLUBS_OVER_DO,
            "solo_clubs",
            id="overrules-a-do-with-clubs",
        ),
        pytest.param(solo(CLUBS, dealer=0), "pass pass solo_do", {}, "pass", id="lets-a-do-stand-by-default"),
        pytest.param(
            solo(VOID, **PENALTY),
            f"{LOOKING} 7C 7H KC QH TC TD KD",
            PENALTY,
            "AC",
            id="plays-the-called-card-where-nobody-forces-it",
        ),
        pytest.param(solo(STRONG), WINNERS, {}, "AD", id="goes-through-with-nothing-but-winners"),
        pytest.param(solo(STRONG, **PLAIN), WINNERS, PLAIN, "throw_down", id="throws-down-winners-that-pay-nothing"),
    ],
}
"""By game: start, line, options, and the action of the sensible bot."""


@pytest.mark.parametrize(
    ("game", "start", "line", "options", "expected"),
    [
        pytest.param(OWN_GAMES[name], *case.values, id=f"{name}-{case.id}")
        for name in DECISIONS
        for case in DECISIONS[name]
    ],
)
def test_sensible_decisions_in_plain_positions(
    game: Game, start: State, line: str, options: dict[str, OptionValue], expected: str
) -> None:
    state = acts(start, line)
    seat, text = (int(expected[0]), expected[2:]) if expected[1:2] == ":" else (to_act(state) or 0, expected)
    assert game.bots["sensible"](observation(game, state, seat, options), Random(1).randrange) == positions.action(text)
