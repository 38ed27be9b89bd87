"""The laws of all games for President, its page, and a recorded table."""

import json
import os
import re
from hashlib import sha256
from pathlib import Path
from random import Random
from typing import Any

import pytest

from croupier.conformance import check_game
from croupier.conformance.comparison import ComparedTable
from croupier.conformance.description_laws import defined_rules
from croupier.conformance.walks import walk
from croupier.games.actions import decode_action, encode_action
from croupier.games.facts import Fact
from croupier.games.interface import CardsShuffled, Event, SeatActed
from croupier_president.judge import PresidentTable
from president_positions import PRESIDENT, SINGLE, compared, new, options_of

TESTS = Path(__file__).parent
PLAYTHROUGH = TESTS / "playthrough.jsonl"


def test_president_obeys_all_laws(seed: int) -> None:
    report = check_game(PRESIDENT, PresidentTable, seed)
    assert report.holds, "\n".join(report.lines())


def test_each_rule_of_the_page_has_a_test() -> None:
    source = "".join(path.read_text() for path in TESTS.glob("test_*.py"))
    names = [*re.findall(r"def test_(\w+)", source), *re.findall(r'\bid=f?"([^"]+)"', source)]
    tested = {rule for name in names for rule in re.findall(r"PRES-[A-Z]+-\d+", name.replace("_", "-"))}
    assert sorted(tested ^ set(defined_rules(PRESIDENT))) == []


@pytest.mark.parametrize("action", [{}, {"type": "fly"}, {"type": "lay"}, {"type": "lay", "cards": "TS"}], ids=str)
def test_PRES_LAY_1_PRES_LAY_2_the_judge_refuses_malformed_actions(action: dict[str, Any]) -> None:
    assert compared(SINGLE).refusal_of_action(1, action) in ("PRES-LAY-1", "PRES-LAY-2")


def test_a_playthrough_replays_fact_by_fact() -> None:
    if os.environ.get("CROUPIER_RECORD_AGAIN"):
        record()
    options, *lines = [json.loads(line) for line in PLAYTHROUGH.read_text().splitlines()]
    table = ComparedTable.new(PRESIDENT, PresidentTable, 5, options)
    for number, line in enumerate(lines, start=2):
        table, facts = table.apply(decoded(line))
        assert digest(facts) == line["facts"], f"line {number} now gives {facts}"
    assert table.table.ranking is not None


def record() -> None:
    """Record a random table: its options, and each event with a digest of its facts."""
    state = new(5, passing="final", rounds=2)
    lines: list[dict[str, Any]] = [dict(options_of(state.options))]
    lines += [encoded(step.event) | {"facts": digest(step.facts)} for step in walk(PRESIDENT, state, Random(1))]
    PLAYTHROUGH.write_text("".join(json.dumps(line, separators=(",", ":")) + "\n" for line in lines))


def encoded(event: Event) -> dict[str, Any]:
    """Return the JSON of an event."""
    if isinstance(event, SeatActed):
        return {"seat": event.seat, "action": encode_action(event.action)}
    assert isinstance(event, CardsShuffled)
    return event._asdict()


def decoded(line: dict[str, Any]) -> Event:
    """Return the event of a line."""
    if "seat" in line:
        return SeatActed(line["seat"], decode_action(line["action"]))
    return CardsShuffled(tuple(line["cards"]), tuple(line["drawn"]))


def digest(facts: tuple[Fact, ...]) -> str:
    """Return sixteen hexadecimal digits of a hash over facts, audiences and order."""
    return sha256(repr(facts).encode()).hexdigest()[:16]
