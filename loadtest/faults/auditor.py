"""The audit in a process of its own, so that it does not slow the players whom it is about."""

import asyncio
import os
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from types import TracebackType
from typing import Self, TypeVar

from loadtest.faults.audit import Evidence, audit_table, check_promises
from loadtest.faults.findings import Finding
from loadtest.faults.reading import Databases, read_interruptions, read_ledger, read_logs
from loadtest.faults.records import TableRecord

NICENESS = 5
Found = TypeVar("Found")


class Auditor:
    """Audits tables of one house."""

    def __init__(self, databases: Databases) -> None:
        self._databases = databases
        self._process = ProcessPoolExecutor(1, get_context("spawn"), os.nice, (NICENESS,))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._process.shutdown(cancel_futures=True)

    async def reported(self, table_ids: Sequence[str]) -> set[str]:
        """Of which of these tables the ledger has the result."""
        return await self._run(_reported, self._databases, list(table_ids))

    async def promises(self, records: Sequence[TableRecord]) -> list[Finding]:
        """Whether what was acknowledged at tables, also those whose games go on, is in their logs."""
        # What is promised is taken first, the log is read after it: so everything must be there.
        known = [TableRecord(it.table_id, it.game, it.seats, acknowledged=list(it.acknowledged)) for it in records]
        return await self._run(_promises, self._databases, known)

    async def tables(self, records: Sequence[TableRecord], replays: Mapping[str, str]) -> list[Finding]:
        """Everything about tables; replays are there of those whose games are over."""
        return await self._run(_tables, self._databases, list(records), dict(replays))

    async def _run(self, audit: Callable[..., Found], *arguments: object) -> Found:
        return await asyncio.get_running_loop().run_in_executor(self._process, audit, *arguments)


def _reported(databases: Databases, table_ids: Sequence[str]) -> set[str]:
    ledger = asyncio.run(read_ledger(databases.scoring, table_ids))
    return {table_id for table_id, lines in ledger.items() if lines.results}


def _promises(databases: Databases, records: Sequence[TableRecord]) -> list[Finding]:
    logs = asyncio.run(read_logs(databases.engine, [record.table_id for record in records]))
    return [finding for record in records for finding in check_promises(record, logs.get(record.table_id))]


def _tables(databases: Databases, records: Sequence[TableRecord], replays: Mapping[str, str]) -> list[Finding]:
    ledger = asyncio.run(read_ledger(databases.scoring, list(replays)))
    logs = asyncio.run(read_logs(databases.engine, [record.table_id for record in records]))
    interruptions = asyncio.run(read_interruptions(databases.engine))
    findings: list[Finding] = []
    for record in records:
        table_id = record.table_id
        evidence = Evidence(record, logs.get(table_id), ledger.get(table_id), replays.get(table_id), interruptions)
        findings += audit_table(evidence)
    return findings
