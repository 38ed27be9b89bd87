"""The audit of a table: all that its clients saw against all that the services have on record."""

import json
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from croupier.engine.log import config_from_json, entry_from_row
from croupier.engine.table import new_table, step
from croupier.games.facts import Fact
from loadtest.faults.findings import Finding, Kind, LedgerLines, StoredLog
from loadtest.faults.log_checks import SeatClocks, broken_promises, gaps, unexcused_time_outs
from loadtest.faults.record_checks import ledger_differences, replay_differences
from loadtest.faults.records import TableRecord
from loadtest.faults.stream_checks import Entitlement, gaps_heard, hidden_cards


class Evidence(NamedTuple):
    """What there is about a table; of one whose game goes on there is no ledger and no replay to look at."""

    record: TableRecord
    log: StoredLog | None
    ledger: LedgerLines | None
    replay: str | None
    interruptions: Sequence[tuple[int, int]] = ()
    """From when to when engines were missing, milliseconds since 1970 UTC."""


def check_promises(record: TableRecord, log: StoredLog | None) -> Iterator[Finding]:
    """What can be told of a log without the rules, quickly: no gap, and every acknowledged action once."""
    if log is None:
        yield Finding(Kind.LOST, record.table_id, 0, "the database does not know this table")
        return
    yield from gaps(log)
    yield from broken_promises(log, record.acknowledged)


def audit_table(evidence: Evidence) -> Iterator[Finding]:
    """Everything that is wrong with a table."""
    record, log = evidence.record, evidence.log
    yield from check_promises(record, log)
    if log is None:
        return
    yield from unexcused_time_outs(log, record)
    yield from hidden_cards(log.table_id, record.streams)
    facts: list[Fact] = []
    totals: list[int] = []
    clocks = SeatClocks(log, record.first_heard(), evidence.interruptions)
    try:
        yield from _fold(log, record, clocks, facts, totals)
    except Exception as fault:  # noqa: BLE001 - a log that the rules refuse is what an audit is there to find
        yield Finding(Kind.ALTERED, log.table_id, 0, f"its log cannot be followed: {fault!r}")
        return
    if evidence.ledger is not None:
        yield from ledger_differences(log, facts, totals, evidence.ledger)
    if evidence.replay is not None:
        yield from replay_differences(log, evidence.replay)


def _fold(
    log: StoredLog, record: TableRecord, clocks: SeatClocks, facts: list[Fact], totals: list[int]
) -> Iterator[Finding]:
    """Go through a log by the rules, and hold every stream against it; collects its facts and the last totals."""
    config = config_from_json(log.table_id, log.game, log.rules_version, log.seed, log.config)
    entitled = Entitlement(config, record.streams)
    table = new_table(config)
    for line in log.lines:
        made = step(config, table, entry_from_row(line.sequence, line.at, line.deadline, json.dumps(line.body)))
        table = made.after
        facts.extend(made.facts)
        yield from clocks.pass_entry(line, table.seats_to_act)
        yield from entitled.differences(made)
    totals.extend(table.game.scores)
    if table.is_over != (log.status == "finished"):
        yield Finding(Kind.STUCK, log.table_id, table.sequence, f"its status is {log.status}, its game says otherwise")
    for stream in record.streams:
        yield from gaps_heard(log.table_id, stream, table.sequence, table.is_over and record.finished)
