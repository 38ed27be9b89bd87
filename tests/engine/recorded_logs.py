"""Logs of whole games as a database holds them, with what their rules made of them.

They are written once for each version of each game's rules, and never changed. `python -m tests.engine.recorded_logs`
writes those that are missing.
"""

import hashlib
import json
import sys
from pathlib import Path
from random import Random

from croupier.engine.log import Entry, TableConfig, body_to_json, config_from_json, config_to_json, entry_from_row
from croupier.engine.replay import write_replay
from croupier.engine.table import TableState, steps_of
from croupier.games.actions import action_to_json
from croupier.games.cards import notation
from croupier.games.catalogue import GAMES
from croupier.games.interface import Legal
from tests.engine.play import ROUNDS, make_config, whole_log

FOLDER = Path(__file__).parent / "recorded"


def path_of(game: str, rules_version: int) -> Path:
    """The file of a version of a game's rules."""
    return FOLDER / f"{game}-{rules_version}.jsonl"


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


def main() -> None:
    """Write the logs that are missing, those of the current rules."""
    for game, rules in GAMES.items():
        path = path_of(game, rules.rules_version)
        if path.exists():
            continue
        config = make_config(game, rules.seats[-1], options=ROUNDS.get(game), table_id=f"recorded-{path.stem}")
        log = whole_log(config, Random(f"recorded {path.stem}"))
        columns = [config.table_id, config.game, config.rules_version, config.seed.hex(), config_to_json(config)]
        rows = [[entry.sequence, entry.at, entry.deadline, body_to_json(entry)] for entry in log]
        path.write_text("".join(json.dumps(line) + "\n" for line in (columns, *rows, [digest(config, log)])))
        sys.stdout.write(f"wrote {path}\n")


if __name__ == "__main__":
    main()
