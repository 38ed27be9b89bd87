"""What has to be true some time after the last game: all reports have arrived, and nothing is left over."""

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from loadtest.record import TableRecord
from loadtest.simulation.replica import Replica
from loadtest.simulation.surroundings import Surroundings

_PLAYING = "SELECT table_id, state FROM lobby_tables WHERE state != 'FINISHED'"
_WAITING = "SELECT ticket_id FROM lobby_tickets WHERE table_id IS NULL AND stream_id IS NOT NULL"


def unknown_results(world: Surroundings) -> Iterator[str]:
    """Tables whose result, or any report, scoring does not have yet."""
    known = {table_id for (table_id,) in world.databases["scoring"].raw.execute("SELECT table_id FROM results")}
    yield from (f"{record.table_id} has no result" for record in world.observer.opened if record.table_id not in known)
    late = world.databases["engine"].raw.execute("SELECT table_id FROM tables WHERE reports_done < reports_due")
    yield from (f"{table_id} has reports that are due" for (table_id,) in late)


def unfinished(world: Surroundings) -> Iterator[str]:
    """Tables that the lobby does not know as finished."""
    opened = {record.table_id for record in world.observer.opened}
    for table_id, state in world.databases["lobby"].raw.execute(_PLAYING):
        # The answer to its host got lost where no game was ever played, and they formed another.
        if table_id in opened or state not in ("FORMING", "CLOSED"):
            yield f"{table_id} is {state} in the lobby"


def left_over(world: Surroundings, replicas: Sequence[Replica]) -> Iterator[str]:
    """What is still in memory, under way or waiting when all games are over."""
    for call in world.network.open_calls:
        yield f"call {call.number} {call.method} of {call.client.name}"
    for replica in replicas:
        if replica.process.alive:
            yield from (f"{count} {kind} of {replica.name}" for kind, count in replica.pending().items() if count)
    yield from (f"ticket {ticket_id}" for (ticket_id,) in world.databases["lobby"].raw.execute(_WAITING))


def wrongly_seated(records: Sequence[TableRecord], wanted: Mapping[str, int]) -> Iterator[str]:
    """Players that do not sit at as many tables as they asked for; `wanted` counts by player id."""
    seated: Counter[str] = Counter()
    for record in records:
        assert record.stored is not None
        seated.update(player_id for player_id, _, _ in json.loads(record.stored.config)["seats"] if player_id)
    for player_id in sorted(seated.keys() | wanted.keys()):
        if seated[player_id] != wanted.get(player_id, 0):
            yield f"player {player_id} sits at {seated[player_id]} tables and wanted {wanted.get(player_id, 0)}"
