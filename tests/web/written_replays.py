"""Replays of random tables as the engine writes them, with their shuffles, for the TypeScript client's verification."""

import json
from dataclasses import replace
from random import Random
from typing import Any

from croupier.conformance.tables import sample_options
from croupier.engine.core.fold import new_table
from croupier.engine.core.replay_verification import verify_replay
from croupier.engine.core.shuffles import MAX_CLIENT_SEED_BYTES
from croupier.games.cards import notation
from croupier.games.interface import ShuffleNeeded
from croupier.games.registry import OWN_GAMES
from tests.engine.folds import write_replay
from tests.engine.play import make_config, walk

MAX_ENTRIES = 1_000


def written_replays(seed: str) -> str:
    """Return a JSON array with a replay of each game at each number of seats."""
    random = Random(seed)
    return json.dumps([_written(game, seats, random) for game in OWN_GAMES for seats in OWN_GAMES[game].seats])


def _written(game: str, seats: int, random: Random) -> dict[str, Any]:
    config = make_config(game, seats, options=sample_options(OWN_GAMES[game], seats, random), seed=random.randbytes(32))
    added = (random.randbytes(random.randrange(MAX_CLIENT_SEED_BYTES + 1)) for _ in range(seats))
    config = replace(config, client_seeds=tuple(added))
    transitions = list(walk(config, random, MAX_ENTRIES))
    text = write_replay(config, [transition.entry for transition in transitions])
    assert verify_replay(text)
    tables = [new_table(config), *(transition.after for transition in transitions)]
    deals = [
        {"round": due.round_number, "shuffle": due.shuffle_number, "cards": notation(due.cards)}
        for due in (table.awaiting for table in tables)
        if isinstance(due, ShuffleNeeded)
    ]
    return {"text": text, "commitment": config.commitment, "deals": deals}
