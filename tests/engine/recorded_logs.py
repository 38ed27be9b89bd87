"""Logs of whole games as a database holds them, with what their rules made of them.

They are written once for each version of each game's rules, and never changed. `python -m tests.engine.recorded_logs`
writes those that are missing.
"""

import hashlib
import json
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from random import Random

from croupier.engine.log import (
    ActedBy,
    Entry,
    Proposed,
    TableConfig,
    TimeCredited,
    Voted,
    body_to_json,
    config_from_json,
    config_to_json,
    entry_from_row,
)
from croupier.engine.proposals import refusal_of
from croupier.engine.replay import write_replay
from croupier.engine.table import Step, TableState, advance, new_table, steps_of
from croupier.engine.voting import steps_when_agreed
from croupier.games.actions import action_to_json
from croupier.games.cards import notation
from croupier.games.catalogue import GAMES, rules_of
from croupier.games.interface import Legal, SeatActed
from tests.engine.fakes import START
from tests.engine.play import ROUNDS, choice, make_config

FOLDER = Path(__file__).parent / "recorded"


def path_of(game: str, rules_version: int) -> Path:
    """The file of a version of a game's rules."""
    return FOLDER / f"{game}-{rules_version}.jsonl"


def write(path: Path, config: TableConfig, entries: Iterable[Entry]) -> None:
    """Write a log with its digest; raises FileExistsError rather than change one."""
    log = list(entries)
    columns = [config.table_id, config.game, config.rules_version, config.seed.hex(), config_to_json(config)]
    rows = [[entry.sequence, entry.at, entry.deadline, body_to_json(entry)] for entry in log]
    with path.open("x") as file:
        for line in (columns, *rows, [digest(config, log)]):
            file.write(json.dumps(line) + "\n")


def read(path: Path) -> tuple[TableConfig, list[Entry], str]:
    """A log, and its digest when it was written."""
    columns, *rows, (expected,) = map(json.loads, path.read_text().splitlines())
    table_id, game, rules_version, seed, text = columns
    config = config_from_json(table_id, game, rules_version, bytes.fromhex(seed), text)
    return config, [entry_from_row(*row) for row in rows], expected


def digest(config: TableConfig, entries: list[Entry]) -> str:
    """SHA-256 of all that the rules make of a log: who may do what after each entry, until when, and the replay."""
    hashed = hashlib.sha256()
    for made in steps_of(config, entries):
        hashed.update(json.dumps(_told(made.after)).encode())
    hashed.update(write_replay(config, entries).encode())
    return hashed.hexdigest()


def _told(table: TableState) -> list[object]:
    legal = [_legal(table.game.legal_actions(seat)) for seat in table.seats_to_act]
    return [table.sequence, table.deadline, table.seats_to_act, legal, table.game.scores, table.clock.reserves]


def _legal(legal: Legal) -> list[object]:
    choices = [[kind.verb.__name__, notation(kind.cards), kind.fewest, kind.most, kind.suits] for kind in legal.choices]
    return [[action_to_json(action) for action in legal.actions], choices]


def play(config: TableConfig, random: Random) -> Iterator[Step]:
    """A game by chance in which time runs out and is given back, and seats agree on whatever can be proposed."""
    at, table = START, new_table(config)
    steps = advance(config, table, at, None)
    while True:
        yield from steps
        table = steps[-1].after
        if table.is_over:
            return
        at += random.randrange(45_000)
        steps = _next_steps(config, table, at, random)


def _next_steps(config: TableConfig, table: TableState, at: int, random: Random) -> list[Step]:
    chance = random.random()
    if chance < 0.04:
        return advance(config, table, at, TimeCredited(random.randrange(1, 5_000)))
    proposals = [
        name for name in rules_of(config.game, config.rules_version).proposals if not refusal_of(table.game, name)
    ]
    if chance < 0.15 and proposals:
        return _agree(config, table, at, random.choice(proposals))
    seat, action = choice(table, random)
    by = random.choice((ActedBy.PLAYER, ActedBy.PLAYER, ActedBy.TIMEOUT))
    request_id = f"r{table.sequence}" if by is ActedBy.PLAYER else ""
    return advance(config, table, at, SeatActed(seat, action), by, request_id)


def _agree(config: TableConfig, table: TableState, at: int, proposal: str) -> list[Step]:
    steps = advance(config, table, at, Proposed(0, proposal, at + 30_000), request_id="p")
    for seat in range(1, config.seat_count):
        vote = Voted(seat, steps[0].entry.sequence, agree=True)
        steps += advance(config, steps[-1].after, at, vote, request_id=f"v{seat}")
    return steps + steps_when_agreed(config, steps[-1].after, at)


def main() -> None:
    """Write the logs that are missing, those of the current rules."""
    for game, rules in GAMES.items():
        path = path_of(game, rules.rules_version)
        if not path.exists():
            config = make_config(game, rules.seats[-1], options=ROUNDS.get(game), table_id=f"recorded-{path.stem}")
            write(path, config, [made.entry for made in play(config, Random(f"recorded {path.stem}"))])
            sys.stdout.write(f"wrote {path}\n")


if __name__ == "__main__":
    main()
