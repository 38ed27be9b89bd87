"""What came of a rehearsal: checks, figures, a text and JSON."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from rehearsal.plan import Plan
from rehearsal.prometheus import Firing
from rehearsal.usage import PodUse

FORMAT_VERSION = 1
AS_JSON, AS_TEXT = "rehearsal.json", "rehearsal.txt"
ALERT = "CroupierInstanceDown"
"""What must fire when an engine is missing, and clear when it is back."""
LOST = ("following a table", "giving up a table")
"""What the load test calls it when somebody could not play on: a share of calls may fail, but nobody's game."""
ACKNOWLEDGED = "action acknowledged"
MEBIBYTE = 2**20


@dataclass(frozen=True, slots=True)
class Act:
    """Something that was done to the services, in seconds since 1970 UTC."""

    name: str
    began: float
    ended: float


@dataclass(frozen=True, slots=True)
class Check:
    """Something that must be so."""

    name: str
    measured: str
    passed: bool


@dataclass(frozen=True, slots=True)
class PodEnd:
    """How a pod that was replaced ended."""

    name: str
    ended_by_itself: bool
    failed: Mapping[str, int] = field(default_factory=dict)
    """The exit codes, by container, of those that ended by themselves and not with 0."""


@dataclass(frozen=True, slots=True)
class Story:
    """Everything that was seen."""

    command: str
    seconds: float
    """From the first process to the last alert that cleared."""
    started: Mapping[str, int]
    """Pods by deployment."""
    load_code: int
    load: Mapping[str, Any]
    """What the load test found, as its result.json says."""
    load_began: float
    acts: tuple[Act, ...]
    replaced: tuple[PodEnd, ...]
    crashed: str
    """The pod that was killed."""
    restarts: Mapping[str, int]
    """How often containers of a pod were started again, by pod, without the engine that was killed."""
    uses: tuple[PodUse, ...]
    firings: tuple[Firing, ...] | None
    """None where there was no Prometheus."""
    prometheus: str
    """Which one, or why there was none."""
    factor: float
    """So many times shorter were the times of alerts."""


def checks(story: Story, plan: Plan) -> list[Check]:
    """All that must be so."""
    load = story.load
    violations = sum(one["count"] for one in load["violations"])
    broken = [one["name"] for one in load["checks"] if not one["passed"]]
    forced = [one.name for one in story.replaced if not one.ended_by_itself]
    failed = [f"{name} of {one.name} with {code}" for one in story.replaced for name, code in one.failed.items()]
    lost = [one for one in load["failures"] if one["name"].startswith(LOST)]
    restarted = [name for name, count in story.restarts.items() if count]
    last_act = max(one.ended for one in story.acts)
    return [
        Check("violations", str(violations), violations == 0),
        _judged_check(load),
        Check("players who lost their table", _told_failures(lost), not lost),
        Check("limits of the load test", ", ".join(broken) or "kept", story.load_code == 0 and not broken),
        Check(
            "load until the last act was over",
            "yes" if _load_ended(story) >= last_act else "no: take more --seconds",
            _load_ended(story) >= last_act,
        ),
        Check("pods that had to be killed to end", ", ".join(forced) or "none", not forced),
        Check("containers that ended with an error when told to end", ", ".join(failed) or "none", not failed),
        Check("pods that restarted by themselves", ", ".join(restarted) or "none", not restarted),
        _memory_check(story, plan),
        *_alert_checks(story),
    ]


def _judged_check(load: Mapping[str, Any]) -> Check:
    """All that were finished, each with its replay and its sheet: a call for one that fails is no more than that."""
    whole = min(load["tables_judged"], load["tables_proved"], load["checks_made"].get("sheets", 0))
    finished = load["tables_finished"]
    measured = f"{whole} of {finished} with replay and sheet"
    return Check("tables that the referee went through", measured, whole >= finished > 0)


def _told_failures(failures: Iterable[Mapping[str, Any]]) -> str:
    return ", ".join(f"{one['count']} ({one['name']}: {one['first']})" for one in failures) or "none"


def _load_ended(story: Story) -> float:
    seconds: float = story.load["conditions"]["seconds"]
    return story.load_began + seconds


def _memory_check(story: Story, plan: Plan) -> Check:
    limits = {one.name: one.pod.needs.memory_limit for one in plan.deployments}
    beyond = [one.name for one in story.uses if 0 < limits[one.owner] < one.memory_bytes]
    # Who was never looked at was not within it.
    if unseen := sorted(story.restarts.keys() - {one.name for one in story.uses}):
        beyond = [f"not measured: {', '.join(unseen)}", *beyond]
    return Check("pods beyond their memory limit", ", ".join(beyond) or "none", not beyond)


def _alert_checks(story: Story) -> list[Check]:
    if story.firings is None:
        return []
    killed = story.acts[-1].began
    fired = [one for one in story.firings if (one.alert, one.of) == (ALERT, story.crashed) and one.since >= killed]
    cleared = [one for one in fired if one.until is not None]
    left = sorted({one.alert for one in story.firings if one.until is None})
    return [
        Check(f"{ALERT} of {story.crashed} fired and cleared", "yes" if cleared else "no", bool(cleared)),
        Check("alerts that still fire", ", ".join(left) or "none", not left),
    ]


def latency(load: Mapping[str, Any]) -> Mapping[str, float]:
    """The latencies of actions, in milliseconds."""
    found = [one for one in load["latencies"] if one["name"] == ACKNOWLEDGED]
    return found[0] if found else {"p50": 0.0, "p99": 0.0, "most": 0.0}


def slowest_milliseconds(story: Story, act: Act) -> float:
    """The 99th percentile of the slowest second while something was done: with few actions that is the longest."""
    slices = [
        one["p99"] for one in story.load["moments"] if act.began <= story.load_began + one["seconds"] <= act.ended + 2
    ]
    return max(slices, default=0.0)


def text(story: Story, found: Sequence[Check]) -> str:
    """What people read."""
    load, timing = story.load, latency(story.load)
    started = ", ".join(f"{count} {name}" for name, count in story.started.items())
    lines = [
        f"started     {started}, PostgreSQL; {story.seconds:.0f} seconds in all",
        f"load        {load['tables_opened']} tables opened, {load['tables_finished']} finished, {load['actions']:,} "
        f"actions in {load['conditions']['seconds']:.0f} s, {load['actions_per_second']:.1f} a second",
        f"latency     p50 {timing['p50']:.1f} ms, p99 {timing['p99']:.0f} ms, at most {timing['most']:.0f} ms "
        "from sent to acknowledged, through the door",
        *(
            f"{'during':12}{one.name}, {one.ended - one.began:.0f} s: slowest {_slowest(story, one)}"
            for one in story.acts
        ),
        *_alert_lines(story),
        *(
            f"{'uses':12}{one.name}: {one.memory_bytes / MEBIBYTE:.0f} MiB at most, {one.cores:.2f} cores on average"
            for one in story.uses
        ),
        *(f"{'kept' if one.passed else 'NOT KEPT':12}{one.name}: {one.measured}" for one in found),
        f"repeat      {story.command}",
        f"verdict     {'nothing was lost' if passed(found) else 'not as it should be'}",
    ]
    return "\n".join(lines)


def _slowest(story: Story, act: Act) -> str:
    return f"{slowest_milliseconds(story, act):.0f} ms"


def _alert_lines(story: Story) -> list[str]:
    if story.firings is None:
        return [f"alerts      {story.prometheus}"]
    head = f"alerts      {story.prometheus}; times of rules divided by {story.factor:g}"
    return [head, *(f"{'':12}{_told(one, story.load_began)}" for one in story.firings)]


def _told(one: Firing, began: float) -> str:
    until = "and fires still" if one.until is None else f"cleared {one.until - one.since:.0f} s later"
    return f"{one.alert} {one.of} fired {one.since - began:+.0f} s, {until}"


def passed(found: Iterable[Check]) -> bool:
    """Whether all is as it should be."""
    return all(one.passed for one in found)


def write(story: Story, found: Sequence[Check], folder: Path) -> None:
    """Leave everything in a folder, as text and as JSON."""
    told = {"format": FORMAT_VERSION, "passed": passed(found), "checks": [asdict(one) for one in found]}
    timing = {one.name: slowest_milliseconds(story, one) for one in story.acts}
    (folder / AS_JSON).write_text(json.dumps({**told, "slowest_milliseconds": timing, **asdict(story)}, indent=1))
    (folder / AS_TEXT).write_text(text(story, found) + "\n")


def forget(folder: Path) -> None:
    """Remove what an earlier rehearsal left in a folder, so that nobody takes it for that of one which failed."""
    for name in (AS_JSON, AS_TEXT):
        (folder / name).unlink(missing_ok=True)
