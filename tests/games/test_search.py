"""The searching player: legal, repeatable and honest in every game, and better than the plain players of some."""

import itertools
from collections import Counter
from random import Random
from typing import Any, NamedTuple, NoReturn

import pytest

from croupier.cli.league_table import League, comparisons, seatings, standings
from croupier.games.actions import PLAYS, Keep, Play, Swap
from croupier.games.bots import nearby
from croupier.games.cards import notation
from croupier.games.catalogue import GAMES
from croupier.games.facts import RoundEnded, View
from croupier.games.interface import CardChoice, Game, GameOver, Legal, SeatActed, SeatsToAct, Seen, resolve_options
from croupier.games.search import MOST_ITERATIONS, SearchBot
from tests.games.laws import fits, tables
from tests.games.positions_one_oh_one import ONE_OH_ONE, new, position
from tests.games.seats import decisions, seen

ACTIONS = 40
"""So many actions of each table are looked at."""


def never(bound: int) -> NoReturn:
    raise AssertionError(f"chance was asked for one of {bound}")


@pytest.mark.parametrize("game", GAMES.values(), ids=GAMES)
def test_equal_chance_and_iterations_give_equal_legal_decisions_whatever_others_hold(game: Game, seed: int) -> None:
    search, twins = SearchBot(game, most_iterations=5), 0
    _, start, options, random, _ = next(tables(game, game.seats[-1], seed))
    played = decisions(game, start, options, [game.bots["sensible"]] * game.seats[-1], random)
    for state, given in itertools.islice(played, 0, ACTIONS, 4):
        if given is None:
            break
        twin, seat = game.imagine(given, Random(seed).randrange), given.seat
        seen_by_twin = Seen(seat, options, twin.view(seat), twin.legal_actions(seat))
        twins += any(twin.view(other) != state.view(other) for other in range(game.seats[-1]) if other != seat)
        action = search(given, Random(7).randrange)
        assert action == search(seen_by_twin, Random(7).randrange)
        assert fits(given.legal, action)
    assert twins, "no table was found where others hold other cards"


def test_play_is_thought_on_beyond_the_next_shuffle() -> None:
    hands = "9C KC 8D 9D | 6H 7H AS"
    rest = [text for text in notation(new(2).table.deck) if text not in f"{hands} TC"]
    state = position(hands, f"{' '.join(rest[1:])} TC", rest[0], recycle="shuffle")
    look = seen(ONE_OH_ONE, state, 0, {"recycle": "shuffle"})
    assert fits(look.legal, SearchBot(ONE_OH_ONE, most_iterations=60)(look, Random(1).randrange))


class ToyState(NamedTuple):
    """Seat 0 plays one card out of four, and the round is over."""

    played: int | None = None

    @property
    def awaiting(self) -> SeatsToAct | GameOver:
        return SeatsToAct((0,)) if self.played is None else GameOver(((0,),), "")

    def legal_actions(self, seat: int) -> Legal:
        return Legal(PLAYS[:4])

    def apply(self, event: SeatActed) -> tuple["ToyState", tuple[RoundEnded, ...]]:
        assert isinstance(event.action, Play)
        return ToyState(event.action.card), (RoundEnded(1, (0,), (0,), ("",)),)


class Toy:
    """A game of one decision, whose plain bot is wrong; card c brings `rewards[c]` on average, and is paid by luck."""

    def __init__(self, rewards: tuple[float, ...]) -> None:
        self.rewards, self.random, self.rated = rewards, Random(3), 0
        self.bots = {"plain": lambda seen, choose: PLAYS[0]}

    def imagine(self, seen: Seen, choose: object) -> ToyState:
        return ToyState()

    def rate(self, before: object, after: object) -> tuple[float, ...]:
        assert isinstance(after, ToyState)
        self.rated += 1
        return (float(self.random.random() < self.rewards[after.played or 0]),)


def searching(toy: Any, **limits: Any) -> SearchBot:
    """A searching player of a toy, which has no more of a game than it looks at."""
    return SearchBot(toy, **limits)


TOY_SEEN = Seen(0, {}, View(1, "play", None, ()), Legal(PLAYS[:4]))


@pytest.mark.parametrize(
    ("rewards", "expected"),
    [
        pytest.param((0.2, 0.4, 0.9, 0.4), 2, id="takes-what-is-better-than-the-plain-player's-choice"),
        pytest.param((0.8, 0.5, 0.5, 0.5), 0, id="keeps-the-plain-player's-choice-without-a-reason-against-it"),
    ],
)
def test_the_best_action_is_found(rewards: tuple[float, ...], expected: int) -> None:
    assert searching(Toy(rewards), most_iterations=300)(TOY_SEEN, Random(1).randrange) == PLAYS[expected]


@pytest.mark.parametrize(
    ("held", "choice"),
    [
        pytest.param(Keep((1, 2), 3), CardChoice(Keep, (1, 2, 4, 5), 2, 2, (0, 3)), id="as-many"),
        pytest.param(Swap(()), CardChoice(Swap, (1, 2, 4), 0, 2), id="none-yet"),
        pytest.param(Swap((1, 2)), CardChoice(Swap, (1, 1, 2), 0, 3), id="some-of-two-packs"),
    ],
)
def test_what_is_near_a_choice_is_another_choice_one_card_away(held: Keep | Swap, choice: CardChoice) -> None:
    random = Random(4)
    found = {nearby(held, choice, random.randrange) for _ in range(100)}
    assert len(found) > 1
    for action in found:
        assert isinstance(action, type(held))
        assert fits(Legal((), (choice,)), action)
        mine, theirs = Counter(held.cards), Counter(action.cards)
        assert (mine - theirs).total() <= 1
        assert (theirs - mine).total() <= 1


def test_where_no_other_choice_is_there_is_nothing_near() -> None:
    assert nearby(Keep((1, 2), 3), CardChoice(Keep, (1, 2), 2, 2, (3,)), never) is None
    assert nearby(PLAYS[0], CardChoice(Keep, (1, 2), 1, 1, (3,)), never) is None


def test_a_clock_ends_the_thinking() -> None:
    toy, milliseconds = Toy((0.5, 0.5, 0.5, 0.5)), itertools.count(1000)
    searching(toy, thinking_milliseconds=50).timed(lambda: next(milliseconds))(TOY_SEEN, Random(1).randrange)
    assert toy.rated == 49


def test_iterations_end_the_thinking_when_the_clock_stands_still() -> None:
    toy = Toy((0.5, 0.5, 0.5, 0.5))
    searching(toy, most_iterations=30).timed(lambda: 0)(TOY_SEEN, Random(1).randrange)
    assert toy.rated == 30
    assert searching(toy).most_iterations == MOST_ITERATIONS


def test_chance_and_thought_are_left_alone_where_nothing_is_to_be_chosen() -> None:
    only = TOY_SEEN._replace(legal=Legal(PLAYS[2:3]))
    assert searching(Toy(())).timed(lambda: never(1))(only, never) == PLAYS[2]
    assert searching(Toy(()), most_iterations=0)(TOY_SEEN, never) == PLAYS[0]
    with pytest.raises(ValueError, match="nothing to decide"):
        searching(Toy(()))(TOY_SEEN._replace(legal=Legal()), never)


@pytest.mark.slow
def test_search_plays_better_than_sensible() -> None:
    game = GAMES["thulla"]
    bots = {"search": SearchBot(game, most_iterations=15), "sensible": game.bots["sensible"]}
    league = League(game, resolve_options(game, 2, {}), bots, seatings(tuple(bots), 2), "search")
    ranked = standings([league.deal(number) for number in range(5)])
    assert comparisons(ranked) == ["search plays better than sensible: the intervals are apart"], ranked
