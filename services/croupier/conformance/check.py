"""The check of a game: all laws on sampled tables, the coverage of its walks, and a report."""

import secrets
import sysconfig
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from typing import NamedTuple

from croupier.conformance.coverage import MAX_TABLES, Coverage, covered
from croupier.conformance.description_laws import DESCRIPTION_LAWS
from croupier.conformance.hidden_cards import HIDDEN_CARDS_LAW
from croupier.conformance.judged_laws import judged_laws
from croupier.conformance.law import Law, LawBroken, require
from croupier.conformance.play_laws import PLAY_LAWS
from croupier.conformance.result_laws import RESULT_LAWS
from croupier.conformance.tables import SampledTable, tables
from croupier.conformance.twins import TWINS_LAW
from croupier.games.interface import Game
from croupier_loadtest.judge.rules.interface import JudgeTable

TABLES = 3
"""The number of tables of each law by number of seats, so that each style of play has one."""
TABLE_LAWS = (*PLAY_LAWS, HIDDEN_CARDS_LAW, TWINS_LAW, *RESULT_LAWS)
"""The laws of tables of every game."""
COVERAGE = "coverage"
ERROR_REMEDY = "Mend the error: rules raise nothing but IllegalAction, for an action or an event that they refuse."
LIBRARY = (sysconfig.get_path("stdlib"),)
COVERAGE_REMEDY = (
    "Let a bot or random play come to what is named, by other defaults or a steered walk in `sampling`, or take out of "
    "code and words what cannot happen."
)


class Failure(NamedTuple):
    """A law that does not hold: what was found, at which table, and what to change."""

    law: str
    found: str
    remedy: str
    table: str = ""


class Checked(NamedTuple):
    """A law that was checked, and its failure; None if it holds."""

    law: str
    failure: Failure | None

    def lines(self, seconds: float | None = None) -> Iterator[str]:
        """Yield the law, with the time of its check if that is given, what was found, and what to change."""
        line = f"{'FAILED' if self.failure else 'holds':>6}  {self.law}"
        yield line if seconds is None else f"{line:<24} {seconds:6.1f} s"
        if self.failure:
            yield from (f"        {found}" for found in self.failure.found.splitlines())
            yield from [f"        at a table with {self.failure.table}"] if self.failure.table else []
            yield f"        To mend it: {self.failure.remedy}"


class Report(NamedTuple):
    """The result of a check: the laws that were checked, and what walks have reached."""

    game: str
    seed: int
    checked: tuple[Checked, ...]
    coverage: Coverage | None
    is_judged: bool

    @property
    def failures(self) -> tuple[Failure, ...]:
        """The laws that do not hold."""
        return tuple(checked.failure for checked in self.checked if checked.failure)

    @property
    def holds(self) -> bool:
        """Whether all laws hold."""
        return not self.failures

    @property
    def repeat(self) -> str:
        """The command that repeats the check."""
        return f"croupier games {self.game} --check --seed {self.seed}"

    def lines(self) -> Iterator[str]:
        """Yield the report line by line."""
        for checked in self.checked:
            yield from checked.lines()
        yield from self.last_lines()

    def last_lines(self) -> Iterator[str]:
        """Yield what follows the laws: what walks have reached, and how to repeat them."""
        if self.coverage:
            yield from coverage_lines(self.coverage)
        yield f"The rules were {'' if self.is_judged else 'not '}compared with a second implementation."
        yield f"Repeat with: {self.repeat}"


def coverage_lines(coverage: Coverage) -> Iterator[str]:
    """Yield by kind how often walks reached each thing, of options only their number."""
    kinds: dict[str, Counter[str]] = {}
    for thing, number in coverage.reached.items():
        kind, _, name = thing.partition(" ")
        kinds.setdefault(kind, Counter())[name] = number
    yield f"{coverage.tables} tables reached:"
    for kind in ("action", "fact", "phase", "pile", "meld", "call", "contract", "reason", "rule"):
        if kind in kinds:
            yield f"        {kind}: {', '.join(f'{name} {number:,}' for name, number in sorted(kinds[kind].items()))}"
    yield f"        option: {len(kinds.get('option', ()))} values"


def check_game(
    game: Game,
    judge: type[JudgeTable] | None = None,
    seed: int | None = None,
    count: int = TABLES,
    on_checked: Callable[[Checked], object] = lambda _: None,
) -> Report:
    """Check all laws of a game, with a judge also against it; `count` is the number of tables by law and seats.

    Every table is played from the seed, by default a new one. The report has no failure if all laws hold.
    `on_checked` is called with each law as soon as it was checked.
    """
    seed = secrets.randbelow(1 << 31) if seed is None else seed
    checked: list[Checked] = []
    for law in _laws_checked(game, judge, seed, count):
        checked.append(law)
        on_checked(law)
    coverage, failure = _coverage(game, seed)
    checked.append(Checked(COVERAGE, failure))
    on_checked(checked[-1])
    return Report(game.id, seed, tuple(checked), coverage, judge is not None)


def _laws_checked(game: Game, judge: type[JudgeTable] | None, seed: int, count: int) -> Iterator[Checked]:
    for law in DESCRIPTION_LAWS:
        yield Checked(law.name, failure_of(law.name, law.remedy, partial(law.check, game)))
    for of_tables in (*TABLE_LAWS, *(judged_laws(judge) if judge else ())):
        yield Checked(of_tables.name, _failure_at_tables(of_tables, game, seed, count))


def _failure_at_tables(law: Law[SampledTable], game: Game, seed: int, count: int) -> Failure | None:
    """Return the first failure of a law at the tables of all numbers of seats."""
    played: list[SampledTable] = []

    def check() -> None:
        for seats in game.seats:
            for table in tables(game, seats, seed, count):
                played.append(table)
                law.check(table)

    failure = failure_of(law.name, law.remedy, check)
    return failure._replace(table=str(played[-1])) if failure and played else failure


def failure_of(name: str, remedy: str, check: Callable[[], object]) -> Failure | None:
    """Return the failure of the law of this name, which a check finds, if there is one."""
    try:
        check()
    except LawBroken as broken:
        return Failure(name, str(broken), broken.remedy or remedy)
    except Exception as error:  # noqa: BLE001 - rules that raise break any law
        place = _place_of(error)
        found = f"{type(error).__name__}: {error} (line {place.lineno} of {place.filename})"
        return Failure(name, found, ERROR_REMEDY)
    return None


def _place_of(error: Exception) -> traceback.FrameSummary:
    """Return where an error was raised, or where the library was called that raised it."""
    frames = traceback.extract_tb(error.__traceback__)
    ours = [frame for frame in frames if not frame.filename.startswith((*LIBRARY, "<"))]
    return (ours or frames)[-1]


def _coverage(game: Game, seed: int) -> tuple[Coverage | None, Failure | None]:
    reached: list[Coverage] = []

    def check() -> None:
        reached.append(covered(game, seed))
        missing = reached[0].missing
        require(not missing, f"{MAX_TABLES} tables did not reach: {', '.join(missing)}")

    failure = failure_of(COVERAGE, COVERAGE_REMEDY, check)
    return (reached[0] if reached else None), failure
