"""Which defect is found in which scenario, and under which name: an invariant or a limit."""

from collections.abc import Mapping
from typing import NamedTuple

SMALL = ("--tables=2", "--seconds=4", "--think=0", "--grace=20", "--silence=2", "--seed=1", "--mix=solo,thulla")
"""A run that takes as little as can be: of games that end soon."""
PATIENT = "--silence=20"
"""For services without a defect: how late a stream may be on a machine on which other tests run too."""
CHEATS = "--manners=cheat"
DUPLICATES = "--manners=duplicate"
LEAVERS = "--manners=leaver,steady"
FLAKY = "--manners=flaky"
STAYERS = "--manners=steady,flaky,duplicate"
"""People whose games end, however soon: nobody waits for the time of those who left to run out."""


class Case(NamedTuple):
    """A run that must turn red by a defect, and name it so."""

    scenario: str
    defect: str
    named: str
    flags: tuple[str, ...] = ()

    @property
    def arguments(self) -> list[str]:
        """The command line of the load test."""
        return [self.scenario, *SMALL, *self.flags]


CASES: tuple[Case, ...] = (
    # A little of everything: secrecy, order, fairness, rules, scores.
    Case("smoke", "skip", "sequence_gap"),
    Case("smoke", "leak-hand", "hidden_card_seen"),
    Case("smoke", "leak-to-spectators", "hidden_card_seen", ("--seconds=8",)),
    Case("smoke", "show-seed", "seed_shown_early"),
    Case("smoke", "miscount", "view_differs"),
    Case("smoke", "tell-seats-apart", "public_facts_differ"),
    Case("smoke", "fewer-choices", "rules_broken"),
    Case("smoke", "shuffle-badly", "deal_unfair"),
    Case("smoke", "commit-to-nothing", "deal_unfair"),
    Case("smoke", "cut-milliseconds", "replay_untrue"),
    Case("smoke", "cut-replay", "replay_untrue"),
    Case("smoke", "rename-players", "replay_untrue"),
    Case("smoke", "add-a-point", "result_differs"),
    Case("smoke", "report-other-totals", "result_differs"),
    Case("smoke", "swap-points", "result_differs"),
    Case("smoke", "report-no-results", "result_missing"),
    Case("smoke", "crash", "internal_error"),
    Case("smoke", "fail-now-and-then", "failed calls"),
    Case("smoke", "count-no-results", "metrics_differ"),
    Case("smoke", "charge-reserves-twice", "view_differs", ("--manners=late", "--seconds=12")),
    Case("smoke", "leak-every-seventh-resumed", "hidden_card_seen", (STAYERS, "--mix=one_ten,solo")),
    # People who think: time.
    Case("evening", "play-early", "played_for_too_early", ("--think=1.5",)),
    Case("evening", "play-late", "deadline_missed", (LEAVERS, "--grace=30")),
    Case("evening", "play-never", "deadline_missed", (LEAVERS, "--grace=30")),
    Case("evening", "miscount-reserves", "view_differs"),
    # Matching and opening.
    Case("rush", "drop-client-seeds", "deal_unfair"),
    Case("rush", "show-other-commitments", "deal_unfair"),
    Case("rush", "count-matches-twice", "metrics_differ"),
    Case("rush", "crash-in-matching", "internal_error"),
    Case("rush", "lose-results", "result_missing"),
    # What is resumed.
    Case("storm", "resume-late", "sequence_gap", (FLAKY,)),
    Case("storm", "resume-early", "sequence_repeat", (FLAKY,)),
    Case("storm", "resume-with-everything", "hidden_card_seen", (FLAKY,)),
    Case("storm", "count-no-resumes", "metrics_differ", (FLAKY,)),
    Case("storm", "hush", "stream_silent"),
    Case("storm", "lose-tables", "table_lost", (FLAKY,)),
    # What must be refused, and what is sent again.
    Case("abuse", "take-stale", "illegal_accepted", (CHEATS,)),
    Case("abuse", "take-any-card", "illegal_accepted", (CHEATS, "--mix=thulla")),
    Case("abuse", "take-strangers", "wrong_refusal", (CHEATS,)),
    Case("abuse", "refuse-without-text", "refusal_without_reason", (CHEATS,)),
    Case("abuse", "refuse-without-rule", "refusal_without_rule", (CHEATS,)),
    Case("abuse", "refuse-by-strange-rule", "refusal_without_rule", (CHEATS,)),
    Case("abuse", "refuse-for-another-reason", "wrong_refusal", (CHEATS,)),
    Case("abuse", "refuse-with-another-code", "wrong_refusal", (DUPLICATES,)),
    Case("abuse", "tell-in-refusals", "hidden_card_seen", (CHEATS,)),
    Case("abuse", "crash-at-rubbish", "internal_error", (CHEATS,)),
    Case("abuse", "forget-requests", "repeat_differs", (DUPLICATES,)),
    Case("abuse", "answer-otherwise", "repeat_differs", (DUPLICATES,)),
    Case("abuse", "count-repeats", "metrics_differ", (DUPLICATES,)),
    Case("abuse", "count-refusals-twice", "metrics_differ", (CHEATS,)),
    # As many moves as there can be: those that are lost, and those that take long.
    Case("ceiling", "lose", "acknowledged_lost", ("--judged=1",)),
    Case("ceiling", "exchange", "acknowledged_lost", ("--judged=1",)),
    Case("ceiling", "double", "action_doubled", ("--judged=1",)),
    Case("ceiling", "refuse-legal", "legal_refused", ("--judged=1",)),
    Case("ceiling", "leave-seeds-out", "deal_unfair", ("--judged=1",)),
    Case("ceiling", "dawdle", "99 of 100 actions"),
    # Hours: what grows.
    Case("soak", "keep-memory", "engine memory", (STAYERS,)),
    Case("soak", "keep-files", "engine files", (STAYERS,)),
    Case("soak", "keep-streams", "engine streams", (STAYERS,)),
    Case("soak", "keep-tables", "engine tables", (STAYERS,)),
)
BY_NAME: Mapping[str, Case] = {f"{case.scenario}/{case.defect}": case for case in CASES}
