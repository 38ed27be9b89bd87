"""Computer players: all of them play legally in every game, and the best plays better than chance."""

from collections import Counter
from collections.abc import Mapping
from random import Random

import pytest

from croupier.games.actions import Keep, Swap
from croupier.games.bots import random_legal
from croupier.games.catalogue import GAMES, bots_of
from croupier.games.facts import View
from croupier.games.interface import Bot, CardChoice, Game, Legal, OptionValue, Seen
from croupier.games.search import SearchBot
from tests.games.laws import every_table, fits, tables
from tests.games.seats import places, play_out, surely_better_than_even

VARIED: Mapping[str, dict[str, OptionValue]] = {
    "thulla": {"pickup": "cutter", "last_card": "safe_after_trick"},
    "one_ten": {"swap_timing": "after_trump", "force_out": "trump_led"},
    "jossing": {"scoring": "modern", "hook": True, "leader": "highest_bidder"},
    "one_oh_one": {"deck": 52, "queen_covers_six": False},
    "solo": {"called_card_rule": "penalty", "ranking": "out_order"},
}
LEAGUE_OPTIONS: Mapping[str, dict[str, OptionValue]] = {"one_ten": {"max_rounds": 30}}
"""With what play by chance comes to an end."""
EMPTY = View(0, "", None, ())


def seldom_searching(game: Game) -> Bot:
    """The searching player, which thinks about a decision in thirty, so that long tables come to an end soon."""
    bots = [SearchBot(game, most_iterations=1), *[SearchBot(game, most_iterations=0)] * 29]
    return lambda seen, choose: bots[choose(30)](seen, choose)


@every_table
def test_bots_play_every_table_to_its_end(game: Game, seats: int, seed: int) -> None:
    bots = bots_of(game) | {"search": seldom_searching(game)}
    assert list(bots) == ["sensible", "random", "search"]
    for table in tables(game, seats, seed):
        if table.steered:
            continue  # Bots go their own way.
        chosen = [table.random.choice([*bots.values()]) for _ in range(seats)]
        play_out(game, seats, table.options, chosen, table.random)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("game", "seats", "options"),
    [pytest.param(game, seats, {}, id=f"{game.id}-{seats}") for game in GAMES.values() for seats in game.seats]
    + [pytest.param(GAMES[name], GAMES[name].seats[0], VARIED[name], id=f"{name}-varied") for name in VARIED],
)
def test_sensible_play_beats_chance_beyond_doubt(game: Game, seats: int, options: dict[str, OptionValue]) -> None:
    bots = bots_of(game)
    ends = LEAGUE_OPTIONS.get(game.id, {}) | options
    games = 120 if game.id == "thulla" else 40
    assert surely_better_than_even(places(game, seats, ends, bots["sensible"], bots["random"], games))


def test_random_picks_each_action_and_each_choice() -> None:
    legal = Legal((Swap(()),), (CardChoice(Swap, (1, 2, 3), 1, 3), CardChoice(Keep, (1, 2, 2), 2, 2, (0, 3))))
    random = Random(5)
    picked = Counter(random_legal(Seen(0, {}, EMPTY, legal), random.randrange) for _ in range(3000))
    assert all(fits(legal, action) for action in picked)
    assert len(picked) == 1 + 7 + 2 * 2
    assert 900 < picked[Swap(())] < 1100


@pytest.mark.parametrize("bot", [bot for game in GAMES.values() for bot in bots_of(game).values()])
def test_a_bot_with_nothing_to_decide_says_so(bot: Bot) -> None:
    with pytest.raises(ValueError, match="nothing to decide"):
        bot(Seen(0, {}, EMPTY, Legal()), Random(1).randrange)
