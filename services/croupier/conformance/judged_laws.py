"""Laws of a game with a judge: both implementations agree on whole games, on refusals and on the number of lines."""

from functools import partial

from croupier.conformance.comparison import ComparedTable
from croupier.conformance.law import Law, LawBroken, require, require_equal
from croupier.conformance.perft import compare_counts
from croupier.conformance.tables import SampledTable
from croupier.conformance.walks import some_viewers
from croupier.games.interface import completed_options
from croupier_loadtest.judge.rules.interface import JudgeTable

TRIES = 0.15
"""The probability of an attempt between two events."""
COUNTS = 0.02
"""The probability that lines are counted from a position."""
ATTEMPTS_AT_END = 10


def judged_laws(judge: type[JudgeTable]) -> tuple[Law[SampledTable], ...]:
    """Return the laws of a game whose second implementation this is."""
    remedy = (
        "Read the rules page where the two differ, and change the one that does not follow it, or the page if both "
        "can be read there."
    )
    return (
        Law("judge", remedy, partial(check_comparison, judge)),
        Law("perft", remedy, partial(check_perft, judge)),
        Law(
            "earlier options",
            "Give the judge's `earlier_options` the values that options of the game have as `earlier`.",
            partial(check_earlier_options, judge),
        ),
    )


def check_comparison(judge: type[JudgeTable], table: SampledTable) -> None:
    """Play a table to its end by both, and attempt other actions at both."""
    compared = ComparedTable.new(table.game, judge, table.seats, table.options)
    compared.compare()
    for _, event, after, facts in table.walk():
        if table.random.random() < TRIES:
            compared.compare_attempt(table.random)
        compared, compared_facts = compared.apply(event, some_viewers(table.seats, table.random))
        require((compared.state, compared_facts) == (after, facts), f"{event} has another effect in a replay")
    for _ in range(ATTEMPTS_AT_END):
        compared.compare_attempt(table.random)
    ranked = sorted(seat for group in compared.table.ranking or () for seat in group)
    require_equal("the seats in the judge's ranking", ranked, list(range(table.seats)))


def check_perft(judge: type[JudgeTable], table: SampledTable) -> None:
    """Count lines by both from some positions of a table."""
    compared = ComparedTable.new(table.game, judge, table.seats, table.options)
    for step in table.some_transitions():
        compared, _ = compared.apply(step.event, some_viewers(table.seats, table.random))
        if table.random.random() < COUNTS:
            compare_counts(compared)


def check_earlier_options(judge: type[JudgeTable], table: SampledTable) -> None:
    """Compare the options of a table that was opened before the later ones existed."""
    options = table.game.options(table.seats)
    stored = {option.name: table.options[option.name] for option in options if option.earlier is None}
    completed = completed_options(table.game, table.seats, stored)
    if dict(judge(table.seats, stored).options) != completed:
        raise LawBroken(f"the judge completes {stored} by {judge.earlier_options}, the game to {completed}")
