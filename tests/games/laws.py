"""Random tables of every game, attempted actions, and tables that bots play, for the tests of laws."""

import itertools
import os
from collections import deque
from collections.abc import Iterator, Sequence
from random import Random
from typing import NamedTuple

import pytest

from croupier.games import choices
from croupier.games.actions import (
    PLAYS,
    Action,
    Bid,
    CallNobody,
    CallPartner,
    Declare,
    Draw,
    KeepCards,
    Lay,
    NameTrump,
    Play,
    SwapCards,
)
from croupier.games.bots import random_of
from croupier.games.choices import ActionChoice, AmountChoice, CardChoice
from croupier.games.facts import Seat
from croupier.games.interface import (
    Bot,
    Event,
    Game,
    GameOver,
    Legal,
    Observation,
    OptionValue,
    OptionValues,
    SeatActed,
    ShuffleNeeded,
    State,
    resolve_options,
)
from croupier.games.registry import OWN_GAMES
from tests.games import dispatch
from tests.games.positions import WORDS
from tests.games.toy import TOY
from tests.games.walk import MAX_EVENTS, TRAITS, Transition, sample_options, shuffle, walk

TABLES = int(os.environ.get("CROUPIER_TEST_TABLES") or 2)
"""The number of random tables of each law by number of seats, tripled for games with one number of seats."""
MAX_TRANSITIONS = 200
"""The number of a table's transitions that slow laws check."""


def _tables_of(*games: Game) -> pytest.MarkDecorator:
    tables = [pytest.param(game, seats, id=f"{game.id}-{seats}") for game in games for seats in game.seats]
    return pytest.mark.parametrize(("game", "seats"), tables)


every_table = _tables_of(*OWN_GAMES.values(), TOY)
every_judged_table = _tables_of(*OWN_GAMES.values())
"""The tables of games that the judge knows too."""


class NewTable(NamedTuple):
    """A table before its first event; half of them are steered to positions that random play hardly ever reaches."""

    game: Game
    state: State
    options: dict[str, OptionValue]
    random: Random
    steered: bool

    def walk(self) -> Iterator[Transition]:
        """Play the game at random to its end."""
        return walk(self.game, self.state, self.random, steered=self.steered)


def tables(game: Game, seats: int, seed: int) -> Iterator[NewTable]:
    """Yield new tables with random options, which are printed: the last line is the table that failed."""
    for number in range(TABLES if len(game.seats) > 1 else TABLES * 3):
        random, steered = Random(f"{seed}/{number}"), number % 2 == 1
        options = sample_options(game, seats, random)
        if steered:
            options |= TRAITS[game.id].steered_options(seats)
        print(f"table {number} of {game.id}, {seats} seats{', steered' * steered}: {options}")
        yield NewTable(game, game.new(seats, options), options, random, steered)


def transitions(game: Game, seats: int, seed: int, most: int = MAX_TRANSITIONS) -> Iterator[tuple[Transition, Random]]:
    """Yield the first transitions of random tables."""
    for table in tables(game, seats, seed):
        for step in itertools.islice(table.walk(), most):
            yield step, table.random


def fits(legal: Legal, action: Action) -> bool:
    """Return whether an action is listed, or completes a choice."""
    return action in legal.actions or any(choices.fits(choice, action) for choice in legal.choices)


def attempted_actions(legal: Legal, random: Random) -> list[Action]:
    """Return all listed actions, every card, actions close to a choice, and every verb with random arguments."""
    some = tuple(random.sample(range(52), random.randrange(1, 6)))
    suit, value, seat = random.randrange(4), random.randrange(53), random.randrange(4)
    odd: list[Action] = [*WORDS.values(), Play(value, suit), KeepCards(some, suit), KeepCards((), suit)]
    odd += [SwapCards(some), SwapCards(()), CallPartner(None), CallPartner(value), CallNobody()]
    odd += [NameTrump(suit, all_tricks=True), NameTrump(suit, all_tricks=False), Play(-1), Play(53)]
    odd += [Bid(random.randrange(-5, 200)), Bid("nonsense"), Draw("stock"), Draw("nonsense")]
    odd += [Lay(some), Lay((), "melds", "melds", seat), Declare("nonsense"), Declare("boast", seat, value, some)]
    return [*legal.actions, *PLAYS, *odd, *(near_choice(choice, random) for choice in legal.choices for _ in range(6))]


def near_choice(choice: ActionChoice, random: Random) -> Action:
    """Return an action of a choice, in which each chosen part may be one that cannot be chosen."""
    allowed = choice.amount.amounts if choice.amount else ()
    beyond = [edge for amount in (*allowed[:1], *allowed[-1:]) for edge in (amount - 1, amount + 1)]
    anything = ActionChoice(
        choice.action,
        choice.cards and _near_cards(choice.cards, random),
        choice.suits and (*choice.suits, random.choice((-1, 4))),
        choice.amount and random.choice((choice.amount, AmountChoice(*[random.choice(beyond)] * 2))),
        choice.seats and (*choice.seats, random.randrange(-1, 5)),
    )
    return random_of(Legal((), (anything,)), random.randrange)


def _near_cards(choice: CardChoice, random: Random) -> CardChoice:
    """Return cards of a choice, perhaps with one too many, one too few, one twice or another one."""
    count = random.randint(max(choice.min_cards - 1, 0), min(choice.max_cards + 1, len(choice.cards)))
    cards = random.sample(choice.cards, count)
    if cards and random.random() < 0.4:
        cards[random.randrange(count)] = random.choice([random.randrange(53), cards[0]])
    return CardChoice(tuple(cards), count, count)


def observation(game: Game, state: State, seat: Seat, options: OptionValues) -> Observation:
    """Return the observation of a seat's bot; omitted options have their defaults."""
    view = dispatch.view(state, seat)
    return Observation(seat, resolve_options(game, len(view.seats), options), view, dispatch.legal_actions(state, seat))


def decisions(
    game: Game, state: State, options: OptionValues, bots: Sequence[Bot], random: Random
) -> Iterator[tuple[State, Observation]]:
    """Yield each decision of bots that play a table; raises AssertionError for illegal actions."""
    for _ in range(MAX_EVENTS):
        awaiting = dispatch.awaiting(state)
        if isinstance(awaiting, GameOver):
            return
        event: Event
        if isinstance(awaiting, ShuffleNeeded):
            event = shuffle(awaiting, random)
        else:
            seat = random.choice(awaiting.seats)
            asked = Observation(seat, options, dispatch.view(state, seat), dispatch.legal_actions(state, seat))
            yield state, asked
            event = SeatActed(seat, bots[seat](asked, random.randrange))
            assert fits(asked.legal, event.action)
        state, _ = dispatch.apply(state, event)
    raise AssertionError("the bots do not come to an end")


def play_out(game: Game, seats: int, options: OptionValues, bots: Sequence[Bot], random: Random) -> None:
    """Let bots play a table to its end."""
    deque(decisions(game, game.new(seats, options), options, bots, random), maxlen=0)
