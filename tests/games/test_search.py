"""The searching player: legal, repeatable and honest in every game, and better than the plain players of some."""

from collections import Counter
from collections.abc import Mapping
from itertools import count
from random import Random
from typing import Any, NamedTuple, NoReturn

import pytest

from croupier.cli.league_table import League, comparisons, seatings, standings
from croupier.games.actions import PLAYS, Keep, Play, Swap
from croupier.games.bots import nearby
from croupier.games.catalogue import GAMES, bots_of
from croupier.games.facts import RoundEnded, View, Viewer
from croupier.games.interface import (
    Awaiting,
    CardChoice,
    Event,
    Game,
    GameOver,
    Legal,
    OptionValues,
    SeatActed,
    SeatsToAct,
    Seen,
    ShuffleNeeded,
    State,
    resolve_options,
)
from croupier.games.search import MOST_ITERATIONS, SearchBot
from tests.games.laws import every_table, fits, tables
from tests.games.walk import shuffle

ACTIONS = 40
"""So many actions of each table are looked at."""


def never(bound: int) -> NoReturn:
    raise AssertionError(f"chance was asked for one of {bound}")


def decisions(game: Game, seats: int, seed: int) -> list[tuple[State, Seen]]:
    """What the seats that were to act saw at the beginning of a table with random options, sensibly played."""
    _, state, options, random, _ = next(tables(game, seats, seed))
    found: list[tuple[State, Seen]] = []
    while len(found) < ACTIONS and not isinstance(awaiting := state.awaiting, GameOver):
        if isinstance(awaiting, ShuffleNeeded):
            state, _ = state.apply(shuffle(awaiting, random))
            continue
        seat = random.choice(awaiting.seats)
        seen = Seen(seat, options, state.view(seat), state.legal_actions(seat))
        found.append((state, seen))
        state, _ = state.apply(SeatActed(seat, game.bots["sensible"](seen, random.randrange)))
    return found


@every_table
def test_every_game_has_a_searching_player_that_acts_legally(game: Game, seats: int, seed: int) -> None:
    assert {"sensible", "random", "search"} == set(bots_of(game))
    search = SearchBot(game, most_iterations=2)
    for state, seen in decisions(game, seats, seed):
        action = search(seen, Random(seed).randrange)
        assert fits(seen.legal, action)
        state.apply(SeatActed(seen.seat, action))


@pytest.mark.parametrize("game", GAMES.values(), ids=GAMES)
def test_equal_chance_and_iterations_give_equal_decisions_whatever_others_hold(game: Game, seed: int) -> None:
    search, twins = SearchBot(game, most_iterations=5), 0
    for state, seen in decisions(game, game.seats[-1], seed)[::4]:
        twin = game.imagine(seen, Random(seed).randrange)
        seen_by_twin = Seen(seen.seat, seen.options, twin.view(seen.seat), twin.legal_actions(seen.seat))
        twins += any(twin.view(other) != state.view(other) for other in range(game.seats[-1]) if other != seen.seat)
        assert search(seen, Random(7).randrange) == search(seen_by_twin, Random(7).randrange)
    assert twins, "no table was found where others hold other cards"


class ToyState(NamedTuple):
    """Seat 0 plays one card out of four, and the round is over."""

    played: int | None = None
    before: bool = False

    @property
    def awaiting(self) -> Awaiting:
        return SeatsToAct((0,)) if self.played is None else GameOver(((0,),), "")

    @property
    def scores(self) -> tuple[int, ...]:
        return (0,)

    def legal_actions(self, seat: int) -> Legal:
        return Legal(PLAYS[:4])

    def apply(self, event: Event) -> tuple["ToyState", tuple[RoundEnded, ...]]:
        assert isinstance(event, SeatActed)
        assert isinstance(event.action, Play)
        return ToyState(event.action.card), (RoundEnded(1, (0,), (0,), ("",)),)

    def view(self, viewer: Viewer) -> View:
        return View(1, "play", None, ())

    def event_record(self, event: Event) -> dict[str, Any]:
        raise NotImplementedError


class Toy:
    """A game of one decision, whose plain bot is wrong; card c brings `rewards[c]` on average, and is paid by luck."""

    id = name = summary = "toy"
    rules_version = 1
    seats = range(1, 2)
    names: Mapping[str, str] = {}
    proposals: Mapping[str, str] = {}

    def __init__(self, rewards: tuple[float, ...]) -> None:
        self.rewards, self.random, self.rated = rewards, Random(3), 0
        self.bots = {"plain": lambda seen, choose: PLAYS[0]}

    def options(self, seats: int) -> tuple[()]:
        return ()

    def check(self, seats: int, options: OptionValues) -> None: ...

    def new(self, seats: int, options: OptionValues) -> State:
        return ToyState()

    def imagine(self, seen: Seen, choose: object) -> State:
        return ToyState()

    def rate(self, before: State, after: State) -> tuple[float, ...]:
        assert isinstance(after, ToyState)
        self.rated += 1
        return (float(self.random.random() < self.rewards[after.played or 0]),)


TOY_SEEN = Seen(0, {}, View(1, "play", None, ()), Legal(PLAYS[:4]))


@pytest.mark.parametrize(
    ("rewards", "expected"),
    [
        pytest.param((0.2, 0.4, 0.9, 0.4), 2, id="takes-what-is-better-than-the-plain-player's-choice"),
        pytest.param((0.8, 0.5, 0.5, 0.5), 0, id="keeps-the-plain-player's-choice-without-a-reason-against-it"),
    ],
)
def test_the_best_action_is_found(rewards: tuple[float, ...], expected: int) -> None:
    assert SearchBot(Toy(rewards), most_iterations=300)(TOY_SEEN, Random(1).randrange) == PLAYS[expected]


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
    toy, milliseconds = Toy((0.5, 0.5, 0.5, 0.5)), count(1000)
    SearchBot(toy, thinking_milliseconds=50).timed(lambda: next(milliseconds))(TOY_SEEN, Random(1).randrange)
    assert toy.rated == 49


def test_iterations_end_the_thinking_when_the_clock_stands_still() -> None:
    toy = Toy((0.5, 0.5, 0.5, 0.5))
    SearchBot(toy, most_iterations=30).timed(lambda: 0)(TOY_SEEN, Random(1).randrange)
    assert toy.rated == 30
    assert SearchBot(toy).most_iterations == MOST_ITERATIONS


def test_what_has_no_alternative_is_done_at_once() -> None:
    only = TOY_SEEN._replace(legal=Legal(PLAYS[2:3]))
    assert SearchBot(Toy(())).timed(lambda: never(1))(only, never) == PLAYS[2]


def test_without_time_the_plain_player_decides() -> None:
    assert SearchBot(Toy(()), most_iterations=0)(TOY_SEEN, never) == PLAYS[0]


def test_nothing_to_decide_is_an_error() -> None:
    with pytest.raises(ValueError, match="nothing to decide"):
        SearchBot(Toy(()))(TOY_SEEN._replace(legal=Legal()), never)


@pytest.mark.slow
def test_search_plays_better_than_sensible() -> None:
    game = GAMES["thulla"]
    bots = {"search": SearchBot(game, most_iterations=15), "sensible": game.bots["sensible"]}
    league = League(game, resolve_options(game, 2, {}), bots, seatings(tuple(bots), 2), "search")
    ranked = standings([league.deal(number) for number in range(5)])
    assert comparisons(ranked) == ["search plays better than sensible: the intervals are apart"], ranked
