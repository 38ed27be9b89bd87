"""Playthroughs of Gin Rummy: recorded tables, each event with a hash of its facts.

`PYTHONPATH=. python tests/gin_playthroughs.py`, in the package's folder, records them again, which is right only after
a deliberate change of the rules or facts.
"""

import hashlib
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from random import Random
from types import MappingProxyType
from typing import Any

from croupier.conformance.walks import walk
from croupier.games.actions import decode_action, encode_action
from croupier.games.facts import Fact
from croupier.games.interface import CardsShuffled, Event, OptionValue, SeatActed
from croupier_gin_rummy.steering import strong_hands
from gin_table import GIN_RUMMY, new

FOLDER = Path(__file__).parent / "playthroughs"
VARIED: dict[str, OptionValue] = {
    "knock": "upcard",
    "big_gin": True,
    "gin_bonus": 25,
    "undercut_bonus": 25,
    "next_dealer": "alternate",
}
TABLES: Mapping[str, Mapping[str, OptionValue]] = MappingProxyType(
    {"default": {}, "varied": VARIED | {"target": 150}, "max_rounds": {"max_rounds": 4, "end_bonuses": False}}
)
"""The options of each playthrough that are not the default ones."""
Line = dict[str, Any]


def recorded(name: str) -> list[Line]:
    """Return the lines of a table, played at random and steered: its events, and its scores."""
    random, state, lines = Random(name), new(**TABLES[name]), list[Line]()
    for step in walk(GIN_RUMMY, state, random, lambda at, event: strong_hands(at, event, random.randrange)):
        lines.append(_encoded(step.event) | {"facts": hash_of(step.facts)})
        state = step.after
    return [*lines, {"scores": list(GIN_RUMMY.scores(state))}]


def _encoded(event: Event) -> Line:
    if isinstance(event, SeatActed):
        return {"seat": event.seat, "action": encode_action(event.action)}
    assert isinstance(event, CardsShuffled)
    return {"cards": list(event.cards), "drawn": list(event.drawn)}


def decoded(line: Line) -> Event:
    """Return the event of a line."""
    if "seat" in line:
        return SeatActed(line["seat"], decode_action(line["action"]))
    return CardsShuffled(tuple(line["cards"]), tuple(line["drawn"]))


def hash_of(facts: Iterable[Fact]) -> str:
    """Return sixteen hexadecimal digits of a hash over facts, audiences and order."""
    return hashlib.sha256("\n".join(map(repr, facts)).encode()).hexdigest()[:16]


if __name__ == "__main__":
    for table in TABLES:
        texts = [json.dumps(line, separators=(",", ":")) for line in recorded(table)]
        (FOLDER / f"{table}.jsonl").write_text("\n".join(texts) + "\n")
