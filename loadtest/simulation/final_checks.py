"""Checks after the last game: all reports have arrived, and no resources are leaked."""

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from loadtest.record import TableRecord
from loadtest.simulation.environment import Environment
from loadtest.simulation.replica import Replica

_PLAYING = "SELECT table_id, state FROM lobby_tables WHERE state != 'FINISHED'"
_WAITING = "SELECT ticket_id FROM lobby_tickets WHERE table_id IS NULL AND stream_id IS NOT NULL"


def missing_results(environment: Environment) -> Iterator[str]:
    """Yield tables with a result or a report that scoring does not have yet."""
    known = {table_id for (table_id,) in environment.databases["scoring"].raw.execute("SELECT table_id FROM results")}
    yield from (
        f"{record.table_id} has no result" for record in environment.observer.opened if record.table_id not in known
    )
    late = environment.databases["engine"].raw.execute("SELECT table_id FROM tables WHERE reports_done < reports_due")
    yield from (f"{table_id} has reports that are due" for (table_id,) in late)


def unfinished(environment: Environment) -> Iterator[str]:
    """Yield tables that are not finished in the lobby."""
    opened = {record.table_id for record in environment.observer.opened}
    for table_id, state in environment.databases["lobby"].raw.execute(_PLAYING):
        # Without a game the host has lost the answer, and has created another table.
        if table_id in opened or state not in ("FORMING", "CLOSED"):
            yield f"{table_id} is {state} in the lobby"


def leaked_resources(environment: Environment, replicas: Sequence[Replica]) -> Iterator[str]:
    """Yield tables in memory, calls, tasks and tickets that remain when all games are over.

    Each lobby keeps one stream of ended tables.
    """
    following: set[str] = set()
    for call in environment.network.open_calls:
        if call.method.endswith("/WatchEndedTables") and call.client.name not in following:
            following.add(call.client.name)
            continue
        yield f"call {call.number} {call.method} of {call.client.name}"
    for replica in replicas:
        if replica.process.alive:
            yield from (f"{count} {kind} of {replica.name}" for kind, count in replica.pending().items() if count)
    yield from (f"ticket {ticket_id}" for (ticket_id,) in environment.databases["lobby"].raw.execute(_WAITING))


def wrongly_seated(records: Sequence[TableRecord], requested: Mapping[str, int]) -> Iterator[str]:
    """Yield players with more or fewer seats than requested; `requested` are the numbers by player id."""
    seated: Counter[str] = Counter()
    for record in records:
        assert record.stored is not None
        seated.update(player_id for player_id, _, _ in json.loads(record.stored.config)["seats"] if player_id)
    for player_id in sorted(seated.keys() | requested.keys()):
        if seated[player_id] != requested.get(player_id, 0):
            yield f"player {player_id} has {seated[player_id]} seats and requested {requested.get(player_id, 0)}"
