"""Bots play legally in every game, and the best one plays better than a random one."""

from collections import Counter
from collections.abc import Mapping
from random import Random

import pytest

from croupier.games.actions import UNCHOSEN, Action, KeepCards, Lay, StandPat, SwapCards
from croupier.games.bots import random_legal
from croupier.games.choices import ActionChoice, CardChoice, cards_of
from croupier.games.facts import View
from croupier.games.interface import Bot, Game, Legal, Observation, OptionValue
from croupier.games.registry import GAMES, bots_of
from croupier.games.search import SearchBot
from tests.games.laws import every_table, fits, tables
from tests.games.seats import is_significantly_better, places, play_out

VARIED: Mapping[str, dict[str, OptionValue]] = {
    "thulla": {"pickup": "cutter", "last_card": "safe_after_trick"},
    "one_ten": {"swap_timing": "after_trump", "force_out": "trump_led"},
    "jossing": {"scoring": "modern", "hook": True, "leader": "highest_bidder"},
    "one_oh_one": {"deck": 52, "queen_covers_six": False},
    "solo": {"called_card_rule": "penalty", "ranking": "out_order"},
}
LEAGUE_OPTIONS: Mapping[str, dict[str, OptionValue]] = {"one_ten": {"max_rounds": 30}}
"""Options with which random play comes to an end."""
EMPTY = View(0, "", None, ())


def rarely_searching(game: Game) -> Bot:
    """Return a bot that searches for one decision in thirty, so that long tables end soon."""
    bots = [SearchBot(game, max_iterations=1), *[SearchBot(game, max_iterations=0)] * 29]
    return lambda observation, randrange: bots[randrange(30)](observation, randrange)


@every_table
def test_bots_play_every_table_to_its_end(game: Game, seats: int, seed: int) -> None:
    bots = bots_of(game) | {"search": rarely_searching(game)}
    assert list(bots) == ["sensible", "random", "search"]
    for table in tables(game, seats, seed):
        if table.steered:
            continue  # Bots reach positions that random walks do not.
        chosen = [table.random.choice([*bots.values()]) for _ in range(seats)]
        play_out(game, seats, table.options, chosen, table.random)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("game", "seats", "options"),
    [pytest.param(game, seats, {}, id=f"{game.id}-{seats}") for game in GAMES.values() for seats in game.seats]
    + [pytest.param(GAMES[name], GAMES[name].seats[0], VARIED[name], id=f"{name}-varied") for name in VARIED],
)
def test_sensible_play_beats_random_play_significantly(game: Game, seats: int, options: dict[str, OptionValue]) -> None:
    bots = bots_of(game)
    ends = LEAGUE_OPTIONS.get(game.id, {}) | options
    games = 120 if game.id == "thulla" else 40
    assert is_significantly_better(places(game, seats, ends, bots["sensible"], bots["random"], games))


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


@pytest.mark.parametrize("bot", [bot for game in GAMES.values() for bot in bots_of(game).values()])
def test_a_bot_with_nothing_to_decide_raises_an_error(bot: Bot) -> None:
    with pytest.raises(ValueError, match="nothing to decide"):
        bot(Observation(0, {}, EMPTY, Legal()), Random(1).randrange)
