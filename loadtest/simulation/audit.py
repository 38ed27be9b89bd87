"""What has to hold once faults have stopped and everybody has played to the end."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from croupier.engine.fact_codec import encode_view
from croupier.engine.log import entry_from_row
from croupier.engine.packing import unpacked
from croupier.engine.reports import ResultReport, reports_of
from loadtest.simulation.database import SimulatedDatabase
from loadtest.simulation.engine_replica import EngineReplica
from loadtest.simulation.network import Network
from loadtest.simulation.players import Person
from loadtest.simulation.record import TableRecord
from loadtest.simulation.referee import Referee
from loadtest.simulation.replica import Replica
from loadtest.simulation.replicas import LobbyReplica


def stored_logs(engines: SimulatedDatabase) -> dict[str, list[Any]]:
    """Every log as the database has it, in the archive or not."""
    logs: dict[str, list[Any]] = {}
    rows = engines.raw.execute("SELECT table_id, sequence, at, deadline, body FROM entries ORDER BY table_id, sequence")
    for table_id, *row in rows:
        logs.setdefault(table_id, []).append(entry_from_row(*row))
    for table_id, log in engines.raw.execute("SELECT table_id, log FROM archive"):
        logs.setdefault(table_id, []).extend(unpacked(log))
    return logs


def wrong_logs(referee: Referee, engines: SimulatedDatabase) -> Iterator[str]:
    """Tables whose logs are not what was committed."""
    logs = stored_logs(engines)
    for table_id, record in referee.tables.items():
        if logs.get(table_id) != record.entries:
            yield f"{table_id} is not in the database as it was committed"
    yield from (f"{table_id} was never opened" for table_id in logs.keys() - referee.tables.keys())


def unfinished(referee: Referee, lobby: SimulatedDatabase) -> Iterator[str]:
    """Tables that engine or lobby do not know as finished, and tickets that are left over."""
    for table_id, record in referee.tables.items():
        if not record.state.is_over:
            yield f"{table_id} is still on"
    for table_id, state in lobby.raw.execute("SELECT table_id, state FROM lobby_tables"):
        if state == "FORMING" and table_id not in referee.tables:
            continue  # Its host never heard of it, and formed another.
        if state not in ("FINISHED", "CLOSED"):
            yield f"{table_id} is {state} in the lobby"
        elif state == "CLOSED" and table_id in referee.tables:
            yield f"{table_id} was played and is closed in the lobby"


def waiting_tickets(lobby: SimulatedDatabase) -> Iterator[str]:
    """Wishes for a match that are left over."""
    query = "SELECT ticket_id FROM lobby_tickets WHERE table_id IS NULL AND stream_id IS NOT NULL"
    yield from (f"ticket {ticket_id} waits" for (ticket_id,) in lobby.raw.execute(query))


def unsettled(referee: Referee, scoring: SimulatedDatabase) -> Iterator[str]:
    """Rounds and results that scoring has not, has otherwise than the logs say, or has without a log."""
    rounds = {
        (table_id, number): (json.loads(points), json.loads(totals))
        for table_id, number, points, totals in scoring.raw.execute(
            "SELECT table_id, round, points, totals FROM rounds"
        )
    }
    results = {
        table_id: (json.loads(ranking), json.loads(totals), finished)
        for table_id, ranking, totals, finished in scoring.raw.execute(
            "SELECT table_id, ranking, totals, finished FROM results"
        )
    }
    due_rounds, due_results, counts = _due(referee.tables)
    if rounds != due_rounds:
        yield f"rounds: there are {rounds}, due are {due_rounds}"
    if results != due_results:
        yield f"results: there are {results}, due are {due_results}"
    counted = {
        (table_id, seat, name): amount
        for table_id, seat, name, amount in scoring.raw.execute("SELECT table_id, seat, name, amount FROM seat_counts")
    }
    if counted != counts:
        yield f"counts: there are {counted}, due are {counts}"


def _due(tables: Mapping[str, TableRecord]) -> tuple[dict[Any, Any], dict[Any, Any], dict[Any, int]]:
    rounds: dict[Any, Any] = {}
    results: dict[Any, Any] = {}
    counts: dict[Any, int] = {}
    for table_id, record in tables.items():
        for report in reports_of(record.config, record.entries):
            if isinstance(report, ResultReport):
                ranking = [list(group) for group in report.ended.ranking]
                results[table_id] = (ranking, list(report.totals), report.finished_at)
                continue
            ended = report.round
            rounds[table_id, ended.round_number] = (list(ended.points), list(ended.totals))
            for count in ended.counts:
                key = (table_id, count.seat, count.name)
                counts[key] = counts.get(key, 0) + count.amount
    return rounds, results, counts


def wrong_seats(referee: Referee, matched: Mapping[str, int]) -> Iterator[str]:
    """Players who sit at more tables than they asked for; `matched` says how many, by player."""
    seats: dict[str, int] = dict.fromkeys(matched, 0)
    for record in referee.tables.values():
        for seat in record.config.seats:
            if seat.player_id:
                seats[seat.player_id] = seats.get(seat.player_id, 0) + 1
    for player_id, count in seats.items():
        if count != matched.get(player_id):
            yield f"player {player_id} sits at {count} tables and wanted {matched.get(player_id)}"


def wrong_views(referee: Referee, people: Sequence[Person]) -> Iterator[str]:
    """People whose view of the end is not what the rules give them."""
    for person in people:
        table = person.final
        if table is None:
            continue
        record = referee.tables[table.table_id]
        viewer = record.viewer(referee.players[person.name])
        if table.view != encode_view(record.state.game.view(viewer)) or table.sequence != record.state.sequence:
            yield f"{person.name} at {table.table_id} has another view of the end"


def left_over(replicas: Sequence[Replica], network: Network) -> Iterator[str]:
    """What is still in memory or under way when nobody plays any more."""
    for call in network.open_calls:
        yield f"call {call.number} {call.method} of {call.client.name}"
    for replica in replicas:
        if isinstance(replica, EngineReplica) and replica.process.alive:
            yield from (f"{what} of {replica.name}" for what in _left_in_engine(replica))
        elif isinstance(replica, LobbyReplica) and replica.process.alive and replica.lobby is not None:
            matching, feed = replica.lobby.matching, replica.lobby.feed
            if matching._waiters or matching._openings or feed.followed:
                yield f"waiting people of {replica.name}"


def _left_in_engine(replica: EngineReplica) -> Iterator[str]:
    if replica.engine is None or replica.players is None:
        return
    engine = replica.engine
    kept = {
        "open tables in memory": engine.tables._live,
        "loading tables": engine.tables._loading,
        "streams": replica.players._places,
        "audiences": [table for table in engine.tables._finished.values() if table.audience],
        "background tasks": engine.services.background._tasks,
        "reports": engine.services.reporter._due,
        "appends": engine.store._waiting,
        "tables behind": engine.follower._behind,
    }
    yield from (name for name, things in kept.items() if things)
