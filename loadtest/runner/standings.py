"""Whether leaderboards and statistics can be compared with the outcomes of a run."""

from loadtest.runner.collector import Collector
from loadtest.runner.options import Options
from loadtest.scenarios import Scenario


def not_compared(options: Options, scenario: Scenario, collector: Collector) -> str:
    """Why standings cannot be compared with all outcomes, in a few words; empty if they can."""
    finished, known = collector.counts["tables finished"], len(collector.outcomes)
    if options.shared:
        return "others use these services too"
    if options.endpoints is not None and not options.is_seed_drawn:
        return "by this seed, players may have had earlier games"
    if scenario.judged_share < 1:
        return "not every table is judged"
    if known < finished or not known:
        return f"{finished} games were finished, and {known} have an outcome"
    return ""
