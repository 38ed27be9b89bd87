"""Logs of whole games as a database holds them, with the replays and digests of their recording.

`recorded/README.md` describes the files. `python -m tests.engine.recorded_logs` adds those that are missing, for games
or versions of rules that have none, and changes no other.
"""

import hashlib
import json
from collections.abc import Iterable
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

from croupier.engine.core.fold import TableState
from croupier.engine.core.log import Entry, TableConfig
from croupier.engine.core.log_codec import decode_config, decode_entry, encode_body, encode_config
from croupier.games.actions import KeepCards, encode_action
from croupier.games.bots import with_empty_swaps
from croupier.games.cards import notation
from croupier.games.interface import Legal
from croupier.games.registry import OWN_GAMES
from tests.engine.folds import transitions_of, write_replay
from tests.engine.play import ROUNDS, make_config, whole_log

FOLDER = Path(__file__).parent / "recorded"


class Recorded(NamedTuple):
    """A recorded log: the texts of its configuration and bodies as they are stored, and what they hold."""

    config_text: str
    bodies: list[str]
    config: TableConfig
    entries: list[Entry]
    digest: str
    """The first line of its file: the result of `digest` at its recording."""
    replay: str


def names() -> list[str]:
    """Return all recorded logs: the game and the version of its rules, and perhaps a word for special content."""
    return sorted(path.stem for path in FOLDER.glob("*.log"))


def read(name: str) -> Recorded:
    lines = (FOLDER / f"{name}.log").read_text(encoding="utf-8").splitlines()
    table_id, game, rules_version, seed, text = lines[1].split("\t")
    config = decode_config(table_id, game, int(rules_version), bytes.fromhex(seed), text)
    rows = [line.split("\t") for line in lines[2:]]
    entries = [
        decode_entry(table_id, int(sequence), int(at), int(deadline), body) for sequence, at, deadline, body in rows
    ]
    replay = (FOLDER / f"{name}.jsonl").read_bytes().decode()
    return Recorded(text, [row[-1] for row in rows], config, entries, lines[0], replay)


def write(name: str, config: TableConfig, entries: Iterable[Entry]) -> None:
    log = list(entries)
    columns = (config.table_id, config.game, config.rules_version, config.seed.hex(), encode_config(config))
    rows = [(entry.sequence, entry.at, entry.deadline, encode_body(entry)) for entry in log]
    replay = write_replay(config, log)
    lines = [digest(config, log, replay), *("\t".join(map(str, row)) for row in (columns, *rows))]
    (FOLDER / f"{name}.log").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    (FOLDER / f"{name}.jsonl").write_bytes(replay.encode())


def replay_today(recorded: Recorded) -> str:
    """Return the replay that is written today, without the options that came after the recording."""
    header, _, lines = write_replay(recorded.config, recorded.entries).partition("\n")
    return f"{without_later_options(json.loads(header), recorded)}\n{lines}"


def without_later_options(fields: dict[str, Any], recorded: Recorded) -> str:
    """Return the JSON of a header or a configuration without the options that came after the recording."""
    names = json.loads(recorded.config_text)["options"]
    fields["options"] = {name: fields["options"][name] for name in names}
    return json.dumps(fields, separators=(",", ":"))


def digest(config: TableConfig, entries: list[Entry], replay: str) -> str:
    """SHA-256 of the fold of a log: legal actions, deadline and scores after each entry, and the replay."""
    hashed = hashlib.sha256()
    for transition in transitions_of(config, entries):
        hashed.update(json.dumps(_described(transition.after)).encode())
    hashed.update(replay.encode())
    return hashed.hexdigest()


def _described(table: TableState) -> list[object]:
    legal = [_legal(table.legal_actions(seat)) for seat in table.seats_to_act]
    return [table.sequence, table.deadline, table.seats_to_act, legal, table.scores, table.clock.reserves]


def _legal(legal: Legal) -> list[object]:
    """Return legal actions in the form of the first recording, in which standing pat is a swap of no cards."""
    legal = with_empty_swaps(legal)
    choices = [
        [
            "Keep" if isinstance(choice.action, KeepCards) else "Swap",
            notation(choice.cards.cards),
            choice.cards.min_cards,
            choice.cards.max_cards,
            choice.suits,
        ]
        for choice in legal.choices
        if choice.cards
    ]
    return [[encode_action(action) for action in legal.actions], choices]


def main() -> None:
    """Record what is missing."""
    for game, rules in OWN_GAMES.items():
        name = f"{game}-{rules.rules_version}"
        if name not in names():
            config = make_config(game, rules.seats[-1], options=ROUNDS.get(game), table_id=f"recorded-{name}")
            write(name, config, whole_log(config, Random(f"recorded {name}")))
            print(f"recorded {name}")


if __name__ == "__main__":
    main()
