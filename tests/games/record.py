"""Record playthroughs: a random table for each number of seats and each other value of an option, one file each.

`python -m tests.games.record` writes those that are missing; `python -m tests.games.record --again` all of them, which
is right only after a deliberate change of a game's rules or facts.

A file has JSON lines: the table, every event with a hash of its facts, and the result.
"""

import hashlib
import json
import sys
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict, is_dataclass
from pathlib import Path
from random import Random
from typing import Any

from croupier.conformance.tables import drawn_values
from croupier.conformance.walks import walk
from croupier.games.actions import decode_action, encode_action
from croupier.games.facts import Fact, GameEnded
from croupier.games.interface import (
    CardsShuffled,
    Event,
    Game,
    GameOver,
    InvalidOption,
    OptionValue,
    ProposalAgreed,
    SeatActed,
    State,
    completed_options,
    resolve_options,
)
from croupier.games.registry import OWN_GAMES
from tests.games import dispatch

FOLDER = Path(__file__).parent / "playthroughs"
Line = dict[str, Any]


def playthroughs(game: Game) -> Iterator[tuple[str, int, dict[str, OptionValue]]]:
    """Return name, seats and options of each playthrough of a game; no two have the same options and seats."""
    usual = game.seats[len(game.seats) // 2]
    ending = {
        option.name: drawn[-1]
        for option in game.options(usual)
        if option.default not in (drawn := drawn_values(game, option))
    }
    plain = resolve_options(game, usual, ending)
    for seats in game.seats:
        yield f"seats-{seats}", seats, resolve_options(game, seats, ending)
    for option in game.options(usual):
        allowed = drawn_values(game, option)
        values = {allowed[0], option.default, allowed[-1]} if isinstance(allowed, range) else allowed
        for value in sorted(set(values) & {*allowed}, key=str):
            with suppress(InvalidOption):
                chosen = resolve_options(game, usual, ending | {option.name: value})
                if chosen != plain:
                    yield f"{option.name}-{str(value).lower()}", usual, chosen


def recorded(game: Game, seats: int, options: Mapping[str, OptionValue], random: Random) -> list[Line]:
    """Return the lines of a table played at random."""
    state = game.new(seats, options)
    header: Line = {"game": game.id, "rules_version": game.rules_version, "seats": seats, "options": dict(options)}
    lines = [header]
    for step in walk(game, state, random):
        lines.append(encode_event(step.event) | {"facts": facts_hash(step.facts)})
        state = step.after
    return [*lines, result(state)]


def result(state: State) -> Line:
    over = dispatch.awaiting(state)
    assert isinstance(over, GameOver)
    ranking = [list(group) for group in over.ranking]
    return {"scores": list(dispatch.scores(state)), "ranking": ranking, "reason": over.reason}


def encode_event(event: Event) -> Line:
    """Return the JSON of an event; a shuffle has the numbers of its cards."""
    if isinstance(event, SeatActed):
        return {"seat": event.seat, "action": encode_action(event.action)}
    if isinstance(event, ProposalAgreed):
        return {"agreed": event.proposal}
    return {"cards": list(event.cards), "drawn": list(event.drawn)}


def decode_event(line: Line) -> Event:
    if "seat" in line:
        return SeatActed(line["seat"], decode_action(line["action"]))
    if "agreed" in line:
        return ProposalAgreed(line["agreed"])
    return CardsShuffled(tuple(line["cards"]), tuple(line["drawn"]))


def facts_hash(facts: tuple[Fact, ...]) -> str:
    """Return sixteen hexadecimal digits of a hash over facts, audiences and order."""
    return hashlib.sha256(facts_text(facts).encode()).hexdigest()[:16]


def facts_text(facts: tuple[Fact, ...]) -> str:
    """Return the facts as text, for the hash and for people."""
    return "\n".join(json.dumps([type(fact).__name__, _recorded_fields(fact)], default=_plain) for fact in facts)


def _recorded_fields(fact: Fact) -> tuple[object, ...]:
    # No game ends void by itself, and the first recordings do not have the field.
    return fact[:-1] if isinstance(fact, GameEnded) else fact


def _plain(value: object) -> object:
    if is_dataclass(value) and not isinstance(value, type):
        return [type(value).__name__, asdict(value)]
    raise TypeError(f"{value!r} is no part of a fact")


def recorded_tables(game: Game) -> Iterator[tuple[State, Iterator[tuple[State, tuple[Fact, ...]]]]]:
    """Yield the first state of all recorded tables of a game, and the states after each event with its facts."""
    for path in sorted((FOLDER / game.id).glob("*.jsonl")):
        header, *lines, _ = [json.loads(line) for line in path.read_text().splitlines()]
        state = game.new(header["seats"], completed_options(game, header["seats"], header["options"]))
        yield state, _steps(game, state, lines)


def _steps(game: Game, state: State, lines: list[Line]) -> Iterator[tuple[State, tuple[Fact, ...]]]:
    for line in lines:
        state, facts = game.apply(state, decode_event(line))
        yield state, facts


def recorded_steps(game: Game) -> Iterator[tuple[State, tuple[Fact, ...]]]:
    """Yield the state after each event of all recorded tables of a game, and the facts of the event."""
    for _, steps in recorded_tables(game):
        yield from steps


def main(again: bool) -> None:
    """Write the files."""
    for game in OWN_GAMES.values():
        for name, seats, options in playthroughs(game):
            path = FOLDER / game.id / f"{name}.jsonl"
            if again or not path.exists():
                path.parent.mkdir(parents=True, exist_ok=True)
                lines = recorded(game, seats, options, Random(f"{game.id}/{name}"))
                path.write_text("".join(json.dumps(line, separators=(",", ":")) + "\n" for line in lines))
                print(f"{path.relative_to(FOLDER)}: {len(lines)} lines")


if __name__ == "__main__":
    main(again="--again" in sys.argv[1:])
