"""The searching bot is legal, repeatable and fair in every game, and better than the sensible bots of some."""

import itertools
from collections import Counter
from random import Random
from typing import Any, NoReturn

import pytest

from croupier.conformance.attempts import fits
from croupier.conformance.tables import decisions, observation, tables
from croupier.games.actions import PLAYS, UNCHOSEN, Action, Bid, KeepCards, Play, StandPat, SwapCards
from croupier.games.bots import random_neighbour
from croupier.games.cards import notation
from croupier.games.choices import ActionChoice, AmountChoice, CardChoice, cards_of
from croupier.games.facts import RoundEnded, RoundScore, View
from croupier.games.interface import Game, GameOver, Legal, Observation, SeatActed, SeatsToAct
from croupier.games.registry import OWN_GAMES
from croupier.games.search import MAX_ITERATIONS, SearchBot
from tests.games import dispatch
from tests.games.positions_one_oh_one import ONE_OH_ONE, new, position


def never(bound: int) -> NoReturn:
    raise AssertionError(f"chance was asked for one of {bound}")


@pytest.mark.parametrize("game", OWN_GAMES.values(), ids=OWN_GAMES)
def test_equal_seeds_and_iterations_yield_equal_legal_decisions_for_any_hidden_cards(game: Game, seed: int) -> None:
    search, twins = SearchBot(game, max_iterations=5), 0
    table = next(tables(game, game.seats[-1], seed, 1))
    start, options, random = table.state, table.options, table.random
    played = decisions(game, start, options, [game.bots["sensible"]] * game.seats[-1], random)
    for state, given in itertools.islice(played, 0, 40, 4):
        twin, seat = game.determinize(given, Random(seed).randrange), given.seat
        seen_by_twin = Observation(seat, options, dispatch.view(twin, seat), dispatch.legal_actions(twin, seat))
        others = [other for other in range(game.seats[-1]) if other != seat]
        twins += any(dispatch.view(twin, other) != dispatch.view(state, other) for other in others)
        action = search(given, Random(7).randrange)
        assert action == search(seen_by_twin, Random(7).randrange)
        assert fits(given.legal, action)
    assert twins, "no table was found where others hold other cards"


def test_search_continues_beyond_the_next_shuffle() -> None:
    hands = "9C KC 8D 9D | 6H 7H AS"
    rest = [text for text in notation(new(2).options.deck) if text not in f"{hands} TC"]
    state = position(hands, f"{' '.join(rest[1:])} TC", rest[0], recycle="shuffle")
    observed = observation(ONE_OH_ONE, state, 0, {"recycle": "shuffle"})
    assert fits(observed.legal, SearchBot(ONE_OH_ONE, max_iterations=60)(observed, Random(1).randrange))


class OneDecision:
    """A game in which seat 0 plays one of four cards, which is the state then, and the round is over.

    Its plain bot is wrong; card c yields `rewards[c]` on average, with noise.
    """

    def __init__(self, rewards: tuple[float, ...]) -> None:
        self.rewards, self.random, self.evaluations = rewards, Random(3), 0
        self.bots: dict[str, Any] = {"plain": lambda observation, randrange: PLAYS[0]}

    def awaiting(self, state: int | None) -> SeatsToAct | GameOver:
        return SeatsToAct((0,)) if state is None else GameOver(((0,),), "")

    def legal_actions(self, state: int | None, seat: int) -> Legal:
        return Legal(PLAYS[:4])

    def apply(self, state: int | None, event: SeatActed) -> tuple[int, tuple[RoundEnded, ...]]:
        assert isinstance(event.action, Play)
        return event.action.card, (RoundEnded(RoundScore(1, (0,), (0,))),)

    def determinize(self, observation: Observation, randrange: object) -> None:
        return None

    def evaluate(self, before: object, after: int | None) -> tuple[float, ...]:
        self.evaluations += 1
        return (float(self.random.random() < self.rewards[after or 0]),)


def searching(game: Any, **limits: Any) -> SearchBot:
    """Return a searching bot of a game that has only the parts which the search uses."""
    return SearchBot(game, **limits)


OBSERVED = Observation(0, {}, View(1, "play", None, ()), Legal(PLAYS[:4]))


@pytest.mark.parametrize(
    ("rewards", "expected"),
    [
        pytest.param((0.2, 0.4, 0.9, 0.4), 2, id="takes-what-is-better-than-the-plain-player's-choice"),
        pytest.param((0.8, 0.5, 0.5, 0.5), 0, id="keeps-the-plain-player's-choice-without-a-reason-against-it"),
    ],
)
def test_the_best_action_is_found(rewards: tuple[float, ...], expected: int) -> None:
    assert searching(OneDecision(rewards), max_iterations=300)(OBSERVED, Random(1).randrange) == PLAYS[expected]


def keep(cards: tuple[int, ...], count: int, *suits: int) -> ActionChoice:
    """Return the choice of this number of cards, and of one of the suits."""
    return ActionChoice(KeepCards((), UNCHOSEN), CardChoice(cards, count, count), suits)


def swap(cards: tuple[int, ...], most: int) -> ActionChoice:
    """Return the choice of up to this number of cards, possibly none."""
    return ActionChoice(SwapCards(()), CardChoice(cards, 0, most))


@pytest.mark.parametrize(
    ("held", "choice"),
    [
        pytest.param(KeepCards((1, 2), 3), keep((1, 2, 4, 5), 2, 0, 3), id="as-many"),
        pytest.param(StandPat(), swap((1, 2, 4), 2), id="none-yet"),
        pytest.param(SwapCards((1,)), swap((1, 2), 1), id="one-of-one"),
        pytest.param(SwapCards((1, 2)), swap((1, 1, 2), 3), id="some-of-two-packs"),
    ],
)
def test_neighbours_of_a_choice_are_choices_one_card_away(held: Action, choice: ActionChoice) -> None:
    random = Random(4)
    found = {random_neighbour(held, choice, random.randrange) for _ in range(100)}
    assert len(found) > 1
    for action in found:
        assert action is not None
        assert fits(Legal((), (choice,)), action)
        mine, theirs = Counter(cards_of(held)), Counter(cards_of(action))
        assert (mine - theirs).total() <= 1
        assert (theirs - mine).total() <= 1


def test_an_only_choice_has_no_neighbours() -> None:
    assert random_neighbour(KeepCards((1, 2), 3), keep((1, 2), 2, 3), never) is None
    assert random_neighbour(PLAYS[0], keep((1, 2), 1, 3), never) is None
    assert random_neighbour(Bid(5), ActionChoice(Bid(UNCHOSEN), amount=AmountChoice(5, 9)), never) is None


def test_a_clock_ends_the_search() -> None:
    game, milliseconds = OneDecision((0.5, 0.5, 0.5, 0.5)), itertools.count(1000)
    searching(game, thinking_milliseconds=50).timed(lambda: next(milliseconds))(OBSERVED, Random(1).randrange)
    assert game.evaluations == 49


def test_iterations_end_the_search_when_the_clock_stands_still() -> None:
    game = OneDecision((0.5, 0.5, 0.5, 0.5))
    searching(game, max_iterations=30).timed(lambda: 0)(OBSERVED, Random(1).randrange)
    assert game.evaluations == 30
    assert searching(game).max_iterations == MAX_ITERATIONS


def test_an_only_legal_action_uses_no_randomness_and_no_search() -> None:
    only = OBSERVED._replace(legal=Legal(PLAYS[2:3]))
    assert searching(OneDecision(())).timed(lambda: never(1))(only, never) == PLAYS[2]
    assert searching(OneDecision(()), max_iterations=0)(OBSERVED, never) == PLAYS[0]
    with pytest.raises(ValueError, match="nothing to decide"):
        searching(OneDecision(()))(OBSERVED._replace(legal=Legal()), never)


def test_a_choice_that_can_be_completed_in_one_way_needs_no_search() -> None:
    game, choice = OneDecision(()), keep((1, 2), 2, 3)
    game.bots = {"first": lambda observation, _: KeepCards((1, 2), 3)}
    only = OBSERVED._replace(legal=Legal((), (choice,)))
    assert searching(game)(only, Random(1).randrange) == KeepCards((1, 2), 3)
