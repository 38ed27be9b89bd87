"""Golden vectors: excerpts of tables as their viewers receive them, by which a client in any language tests its fold.

`python -m tests.client.vectors` writes clients/vectors; its README describes the files.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from itertools import islice
from pathlib import Path
from random import Random
from types import MappingProxyType
from typing import Any

from google.protobuf.json_format import MessageToDict
from google.protobuf.message import Message

from croupier.conformance.fold import facts_for, known_view
from croupier.conformance.walks import Transition, viewers, walk
from croupier.engine.api.fact_codec import encode_fact, encode_view
from croupier.games.facts import ALL_SEATS, EVERYONE, SPECTATOR, CardsMoved, Viewer
from croupier.games.interface import Game, State, resolve_options
from croupier.games.registry import OWN_GAMES
from tests.engine.play import LIMITS
from tests.games.toy import TOY

FOLDER = Path(__file__).parents[2] / "clients" / "vectors"
GAMES_WITH_VECTORS = (*OWN_GAMES.values(), TOY)
TABLES = 60
"""The number of random tables from which the one with the most kinds of facts in its excerpts is taken."""
MAX_STEPS = 1_000
FIRST, LAST = 18, 6
"""The number of steps of the excerpts at the beginning of a table and at its end."""
STEPS_BETWEEN_VIEWS = 4
NAMES: Mapping[Viewer, str] = MappingProxyType({SPECTATOR: "spectator", ALL_SEATS: "all"})
"""The names of the viewers who are no seat."""


def vectors(game: Game) -> str:
    """Return the file of a game, as JSON lines."""
    seats, options = game.seats[0], resolve_options(game, game.seats[0], LIMITS.get(game.id, {}))
    state = game.new(seats, options)
    walks = (list(islice(walk(game, state, Random(f"{game.id} {seed}")), MAX_STEPS)) for seed in range(TABLES))
    excerpts = max(map(_excerpts, walks), key=_kinds)
    lines = (
        line
        for viewer in (*viewers(seats), ALL_SEATS)
        for excerpt in excerpts
        for line in _lines(game, excerpt, seats, viewer)
    )
    return "".join(json.dumps(line, separators=(",", ":")) + "\n" for line in lines)


def _excerpts(steps: list[Transition]) -> list[list[Transition]]:
    excerpts = steps[:FIRST], steps[max(FIRST, len(steps) - LAST) :]
    return [excerpt for excerpt in excerpts if excerpt]


def _kinds(excerpts: list[list[Transition]]) -> int:
    """Return the number of kinds of facts, by all that matters to a fold."""
    facts = [fact for steps in excerpts for step in steps for fact in step.facts]
    moves = {
        (type(fact.source), type(fact.target), fact.reason, bool(fact.cards), fact.audience == EVERYONE)
        for fact in facts
        if isinstance(fact, CardsMoved)
    }
    return len(moves) + len({(type(fact), fact.audience == EVERYONE) for fact in facts})


def _lines(game: Game, steps: list[Transition], seats: int, viewer: Viewer) -> Iterator[dict[str, Any]]:
    """Yield the view before some steps, and the facts of each, with the view after it now and then."""

    def view_of(state: State) -> Any:
        return _json(encode_view(known_view(partial(game.view, state), seats, viewer)))

    yield {"viewer": NAMES.get(viewer, viewer), "view": view_of(steps[0].before)}
    for number, step in enumerate(steps, start=1):
        line = {"facts": [_json(encode_fact(fact)) for fact in facts_for(step.facts, viewer)]}
        is_checked = number % STEPS_BETWEEN_VIEWS == 1 or number == len(steps)
        yield line | {"view": view_of(step.after)} if is_checked else line


def _json(message: Message) -> Any:
    return MessageToDict(message, preserving_proto_field_name=True)


def write(games: Iterable[Game]) -> None:
    """Write the files of games."""
    for game in games:
        (FOLDER / f"{game.id}.jsonl").write_text(vectors(game), encoding="utf-8")


if __name__ == "__main__":
    write(GAMES_WITH_VECTORS)
