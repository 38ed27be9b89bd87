"""The referee's rules beside the engine's: random games that drive both, and all that must be the same at each moment.

The engine's rules are a black box here. A walk of tests.games.walk decides what happens, and after each event the two
tables are compared; now and then something is tried that is most likely refused, and both must agree on that too.
"""

import copy
import os
import secrets
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from random import Random
from typing import NamedTuple

from croupier.games.actions import action_from_json, action_to_json
from croupier.games.cards import notation
from croupier.games.catalogue import GAMES
from croupier.games.facts import Fact, RoundEnded
from croupier.games.interface import CardsShuffled, Event, Game, IllegalAction, ProposalAgreed, SeatActed, State
from loadtest.judge.rules.interface import Act, Illegal, Options, Table
from tests.games.walk import MOST_EVENTS, next_event, sample_options, viewers
from tests.loadtest.rules.attempts import attempt
from tests.loadtest.rules.sameness import engine_legal, equal, same_duties, same_legal
from tests.loadtest.rules.sameness import same_view as same_view  # tests put their own in its place

TRIES = 0.25
"""How likely something is tried between two events."""
MALFORMED = "malformed"
"""Stands for the rule where an action does not even look like one."""

AGREED: Mapping[str, Act] = {
    "restart_same": {"type": "restart_hand", "cards": "same"},
    "restart_new": {"type": "restart_hand", "cards": "new"},
}
"""What seats can agree to, as replays write it (SOLO-RESTART-2)."""

MakeTable = Callable[[int, Options], Table]


@dataclass(slots=True)
class Compared:
    """How much was compared, and how often a refusal named another rule than the engine's, by both ids."""

    games: int = 0
    events: int = 0
    attempts: int = 0
    refused: int = 0
    other_ids: Counter[tuple[str, str]] = field(default_factory=Counter)

    def __str__(self) -> str:
        ids = ", ".join(f"{ours} where the engine says {theirs} ({n}x)" for (theirs, ours), n in self.other_ids.items())
        counts = f"{self.games} games, {self.events} events, {self.attempts} attempts, {self.refused} refused by both"
        return f"{counts}; other ids: {ids or 'none'}"


class Both(NamedTuple):
    """One table twice, and the points and totals of the rounds that the engine told of."""

    game: Game
    state: State
    table: Table
    rounds: list[tuple[list[int], list[int]]]


class Attempt(NamedTuple):
    """Something to try: for the engine an event, None where it cannot be one, and for the referee a call."""

    told: str
    event: Event | None
    on_table: Callable[[Table], object]


def compare_games(game: str, make: MakeTable, nodeid: str, games: int) -> Compared:
    """Play so many random games, or CROUPIER_TEST_REFEREE_GAMES, with random options and numbers of seats on both.

    Prints the command that repeats each game, so that the last one is the game that failed; AssertionError names the
    first difference.
    """
    compared = Compared()
    first = int(os.environ.get("CROUPIER_TEST_SEED") or secrets.randbelow(1 << 31))
    for seed in range(first, first + int(os.environ.get("CROUPIER_TEST_REFEREE_GAMES") or games)):
        print(f"repeat with: CROUPIER_TEST_SEED={seed} CROUPIER_TEST_REFEREE_GAMES=1 .venv/bin/pytest '{nodeid}'")
        compare_game(GAMES[game], make, Random(seed), compared)
    print(compared)
    return compared


def compare_game(game: Game, make: MakeTable, random: Random, compared: Compared) -> None:
    """Play one random game on both, with `random` alone to decide what happens."""
    seats = random.choice(game.seats)
    options = sample_options(game, seats, random)
    print(f"    {game.id}, {seats} seats, {options}")
    both = Both(game, game.new(seats, options), make(seats, options), [])
    same(both)
    for _ in range(MOST_EVENTS):
        if random.random() < TRIES:
            compare_attempt(both, random, compared)
        event = next_event(game, both.state, random)
        if event is None:
            compared.games += 1
            return
        both = applied(both, event)
        same(both)
        compared.events += 1
    raise AssertionError(f"the game has no end within {MOST_EVENTS} events")


def applied(both: Both, event: Event) -> Both:
    """Both after an event that the rules allow."""
    game, state, table, rounds = both
    after, told = state.apply(event)
    match event:
        case SeatActed(seat, action):
            table.act(seat, action_to_json(action))
        case CardsShuffled(cards, drawn):
            written = table.shuffled(notation(cards), list(drawn))
            equal("event of the replay", ordered(state.event_record(event)), ordered(written))
        case ProposalAgreed(proposal):
            equal("event of the replay", state.event_record(event), AGREED[proposal])
            table.agree(dict(AGREED[proposal]))
    return Both(game, after, table, [*rounds, *scored(told)])


def scored(told: Iterable[Fact]) -> list[tuple[list[int], list[int]]]:
    """Points and totals of the rounds that ended."""
    return [(list(fact.points), list(fact.totals)) for fact in told if isinstance(fact, RoundEnded)]


def ordered(event: Act) -> Act:
    """An event with its hands ascending, since the order inside a hand means nothing."""
    return event | ({"hands": [sorted(hand) for hand in event["hands"]]} if "hands" in event else {})


def compare_attempt(both: Both, random: Random, compared: Compared) -> None:
    """Try something on copies: both refuse it and nothing has changed, or both take it and are the same after it."""
    told, event, on_table = (
        proposed(both, random) if both.game.proposals and random.random() < 0.1 else acted(both, random)
    )
    trial = both._replace(table=copy.deepcopy(both.table))
    theirs, ours = engine_refusal(both.state, event), referee_refusal(trial.table, on_table)
    assert (theirs is None) == (ours is None), f"{told}: refused by the engine: {theirs}, by the referee: {ours}"
    compared.attempts += 1
    if event is not None and theirs is None:
        after, known = both.state.apply(event)
        trial = trial._replace(state=after, rounds=[*both.rounds, *scored(known)])
    if theirs is not None and ours is not None:
        compared.refused += 1
        if theirs not in (ours, MALFORMED):
            compared.other_ids[theirs, ours] += 1
    same(trial)


def proposed(both: Both, random: Random) -> Attempt:
    """Something that all seats may have agreed to."""
    event = ProposalAgreed(random.choice(list(both.game.proposals)))
    return Attempt(str(event), event, lambda table: table.agree(dict(AGREED[event.proposal])))


def acted(both: Both, random: Random) -> Attempt:
    """An action of any seat."""
    seats = range(len(both.state.scores))
    seat = random.choice(seats)
    action = attempt([engine_legal(both.state, each) for each in seats], random)
    event: Event | None = None
    with suppress(ValueError):
        event = SeatActed(seat, action_from_json(action))
    return Attempt(f"seat {seat} tried {action}", event, lambda table: table.act(seat, action))


def engine_refusal(state: State, event: Event | None) -> str | None:
    """The rule by which the engine refuses an event; None if it takes it."""
    if event is None:
        return MALFORMED
    try:
        state.apply(event)
    except IllegalAction as illegal:
        return illegal.rule
    return None


def referee_refusal(table: Table, on_table: Callable[[Table], object]) -> str | None:
    """The rule by which the referee refuses; None if it does not."""
    try:
        on_table(table)
    except Illegal as illegal:
        return illegal.rule
    return None


def same(both: Both) -> None:
    """Everything that can be known of the two tables at a moment is the same; AssertionError names what is not."""
    state, table = both.state, both.table
    same_duties(state, table)
    for seat in range(len(state.scores)):
        same_legal(state, seat, table)
    for viewer in viewers(len(state.scores)):
        same_view(state.view(viewer), viewer, table)
    equal("scores", list(state.scores), table.scores)
    equal("rounds", both.rounds, [(points, totals) for points, totals in table.rounds])
