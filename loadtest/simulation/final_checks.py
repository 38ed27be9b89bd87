"""Checks after the last game: all reports have arrived, and no resources are leaked."""

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from loadtest.record import TableRecord
from loadtest.simulation.replica import Replica
from loadtest.simulation.world import World

_PLAYING = "SELECT table_id, state FROM lobby_tables WHERE state != 'FINISHED'"
_WAITING = "SELECT ticket_id FROM lobby_tickets WHERE table_id IS NULL AND stream_id IS NOT NULL"


def missing_results(world: World) -> Iterator[str]:
    """Tables with a result or a report that scoring does not have yet."""
    known = {table_id for (table_id,) in world.databases["scoring"].raw.execute("SELECT table_id FROM results")}
    yield from (f"{record.table_id} has no result" for record in world.observer.opened if record.table_id not in known)
    late = world.databases["engine"].raw.execute("SELECT table_id FROM tables WHERE reports_done < reports_due")
    yield from (f"{table_id} has reports that are due" for (table_id,) in late)


def unfinished(world: World) -> Iterator[str]:
    """Tables that are not finished in the lobby."""
    opened = {record.table_id for record in world.observer.opened}
    for table_id, state in world.databases["lobby"].raw.execute(_PLAYING):
        # Without a game the host has lost the answer, and has created another table.
        if table_id in opened or state not in ("FORMING", "CLOSED"):
            yield f"{table_id} is {state} in the lobby"


def leaked_resources(world: World, replicas: Sequence[Replica]) -> Iterator[str]:
    """Tables in memory, calls, tasks and tickets that remain when all games are over."""
    for call in world.network.open_calls:
        yield f"call {call.number} {call.method} of {call.client.name}"
    for replica in replicas:
        if replica.process.alive:
            yield from (f"{count} {kind} of {replica.name}" for kind, count in replica.pending().items() if count)
    yield from (f"ticket {ticket_id}" for (ticket_id,) in world.databases["lobby"].raw.execute(_WAITING))


def wrongly_seated(records: Sequence[TableRecord], wanted: Mapping[str, int]) -> Iterator[str]:
    """Players with more or fewer seats than they asked for; `wanted` are the numbers by player id."""
    seated: Counter[str] = Counter()
    for record in records:
        assert record.stored is not None
        seated.update(player_id for player_id, _, _ in json.loads(record.stored.config)["seats"] if player_id)
    for player_id in sorted(seated.keys() | wanted.keys()):
        if seated[player_id] != wanted.get(player_id, 0):
            yield f"player {player_id} has {seated[player_id]} seats and asked for {wanted.get(player_id, 0)}"
