"""A league of bots: seatings, tables played by the rules alone, and statistics of the results."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import sqrt
from random import Random
from statistics import NormalDist, fmean, stdev
from typing import NamedTuple, TypeAlias

from croupier.games import interface
from croupier.games.facts import Seat
from croupier.games.interface import Game, GameOver, Observation, SeatActed, ShuffleNeeded, State

Seating: TypeAlias = tuple[str, ...]
"""The name of the bot on each seat."""

MAX_ACTIONS = 200_000
"""A longer table counts as one without end."""
MIN_DEALS = 5
"""With fewer independent deals an interval would be meaningless."""
CONFIDENCE = 0.95


class EndlessTable(Exception):
    """The bots do not come to an end."""


class Outcome(NamedTuple):
    """The outcome of a table for a seat: its place from 1, its share of the first place, and its points."""

    bot: str
    place: float
    first: float
    points: int


class Standing(NamedTuple):
    """A bot in the league; `margin` is half the 95 percent interval of its place, None if unknown."""

    bot: str
    games: int
    place: float
    margin: float | None
    first: float
    points: float


@dataclass(frozen=True, slots=True)
class League:
    """A game with resolved options, and the bots that play it."""

    game: Game
    options: interface.OptionValues
    bots: Mapping[str, interface.Bot]
    seatings: tuple[Seating, ...]
    seed: str

    def deal(self, number: int) -> tuple[Outcome, ...]:
        """Play one deal once in every seating; the same number has the same cards in every seating.

        Raises EndlessTable.
        """
        tables = (self._table(number, seating) for seating in self.seatings)
        return tuple(outcome for outcomes in tables for outcome in outcomes)

    def _table(self, number: int, seating: Seating) -> Iterator[Outcome]:
        randoms = [Random(f"{self.seed}/{number}/{' '.join(seating)}/{seat}") for seat in range(len(seating))]
        state = self.game.new(len(seating), self.options)
        for _ in range(MAX_ACTIONS):
            awaiting = self.game.awaiting(state)
            if isinstance(awaiting, GameOver):
                return outcomes_of(seating, awaiting, self.game.scores(state))
            if isinstance(awaiting, ShuffleNeeded):
                state, _ = self.game.apply(state, self._shuffled(number, awaiting))
            else:
                seat = awaiting.seats[0]
                state, _ = self.game.apply(state, self._decided(state, seat, self.bots[seating[seat]], randoms[seat]))
        raise EndlessTable(f"deal {number} of {self.game.name} has no end after {MAX_ACTIONS} actions")

    def _decided(self, state: State, seat: Seat, bot: interface.Bot, random: Random) -> SeatActed:
        observation = Observation(seat, self.options, self.game.view(state, seat), self.game.legal_actions(state, seat))
        return SeatActed(seat, bot(observation, random.randrange))

    def _shuffled(self, number: int, due: ShuffleNeeded) -> interface.CardsShuffled:
        random = Random(f"{self.seed}/{number}/{due.round_number}/{due.shuffle_number}")
        return interface.CardsShuffled(
            tuple(random.sample(due.cards, len(due.cards))), tuple(map(random.randrange, due.draw_bounds))
        )


def seatings(bots: Sequence[str], seats: int) -> tuple[Seating, ...]:
    """Return every distinct order of the names, which are repeated in turn until each seat has one."""
    return tuple(_orders(Counter(bots[seat % len(bots)] for seat in range(seats)), seats))


def _orders(left: Counter[str], seats: int) -> Iterator[Seating]:
    if not seats:
        yield ()
    for name in list(left):
        if left[name]:
            left[name] -= 1
            for rest in _orders(left, seats - 1):
                yield (name, *rest)
            left[name] += 1


def outcomes_of(seating: Seating, over: GameOver, points: Sequence[int]) -> Iterator[Outcome]:
    """Yield the outcomes: tied seats get the average of their places, and share a first place evenly."""
    above = 0
    for group in over.ranking:
        for seat in group:
            first = 0.0 if above else 1 / len(group)
            yield Outcome(seating[seat], above + (len(group) + 1) / 2, first, points[seat])
        above += len(group)


def standings(deals: Sequence[Sequence[Outcome]]) -> list[Standing]:
    """Return the bots, best average place first; the outcomes of one deal count as one observation."""
    names = dict.fromkeys(outcome.bot for deal in deals for outcome in deal)
    return sorted((_standing(name, deals) for name in names), key=lambda standing: standing.place)


def _standing(name: str, deals: Sequence[Sequence[Outcome]]) -> Standing:
    own = [[outcome for outcome in deal if outcome.bot == name] for deal in deals]
    games = [outcome for deal in own for outcome in deal]
    return Standing(
        bot=name,
        games=len(games),
        place=fmean(outcome.place for outcome in games),
        margin=margin([fmean(outcome.place for outcome in deal) for deal in own]),
        first=fmean(outcome.first for outcome in games),
        points=fmean(outcome.points for outcome in games),
    )


def margin(values: Sequence[float]) -> float | None:
    """Return half the 95 percent interval of the mean of independent values; None for fewer than MIN_DEALS."""
    if len(values) < MIN_DEALS:
        return None
    return student_quantile((1 + CONFIDENCE) / 2, len(values) - 1) * stdev(values) / sqrt(len(values))


def student_quantile(probability: float, degrees: int) -> float:
    """Return Student's t by its expansion around the normal one (Abramowitz and Stegun 26.7.5), from 4 degrees on."""
    z = NormalDist().inv_cdf(probability)
    terms = (
        (z**3 + z) / 4,
        (5 * z**5 + 16 * z**3 + 3 * z) / 96,
        (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384,
        (79 * z**9 + 776 * z**7 + 1482 * z**5 - 1920 * z**3 - 945 * z) / 92160,
    )
    return z + sum(term / float(degrees) ** power for power, term in enumerate(terms, start=1))


def comparisons(ranked: Sequence[Standing]) -> list[str]:
    """Return a sentence for every two bots: whether their intervals are apart."""
    return [_comparison(better, worse) for better, worse in combinations(ranked, 2)]


def _comparison(better: Standing, worse: Standing) -> str:
    pair = f"{better.bot} and {worse.bot}"
    if better.margin is None or worse.margin is None:
        return f"{pair}: too few deals to tell, {MIN_DEALS} are the fewest"
    if better.place + better.margin < worse.place - worse.margin:
        return f"{better.bot} plays better than {worse.bot}: the intervals are apart"
    return f"{pair}: the intervals overlap"
