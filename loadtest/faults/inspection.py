"""When which table is audited: after every fault what was promised, the rest when it is over and scoring knows it."""

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass, field

from croupier_client import CroupierError
from loadtest.faults.auditor import Auditor
from loadtest.faults.findings import Finding, Kind
from loadtest.faults.records import TableRecord
from loadtest.faults.swarm import Swarm

LEDGER_SECONDS = 60.0
"""How long reports may be under way to scoring while all services are there; then the audit says what is missing."""
POLL_SECONDS = 0.5


@dataclass(slots=True)
class Inspection:
    """Audits the tables of a swarm."""

    swarm: Swarm
    auditor: Auditor
    acknowledged: int = 0
    """Actions at the tables that were taken from the swarm."""
    finished: int = 0
    _awaited: list[TableRecord] = field(default_factory=list)
    """Tables that are over, of which scoring has not heard when it was looked last."""

    async def look(self) -> list[Finding]:
        """Audit what can be: wholly the tables that are over and reported, of others what was promised."""
        over = self.swarm.take_finished()
        self.acknowledged += sum(len(record.acknowledged) for record in over)
        self.finished += sum(record.finished for record in over)
        self._awaited += over
        reported = await self.auditor.reported([record.table_id for record in self._awaited])
        ready = [record for record in self._awaited if record.table_id in reported]
        self._awaited = [record for record in self._awaited if record.table_id not in reported]
        found, self.swarm.findings = self.swarm.findings, []
        found += await self.auditor.promises([*self.swarm.playing.values(), *self._awaited])
        return found + await self._audit(ready)

    async def finish(self) -> list[Finding]:
        """Audit everything, when all faults are over: what scoring has not heard of by now is missing."""
        found, deadline = await self.look(), time.monotonic() + LEDGER_SECONDS
        while self._awaited and time.monotonic() < deadline:
            await asyncio.sleep(POLL_SECONDS)
            found += await self.look()
        return found + await self._audit(self._awaited) + await self._audit(list(self.swarm.playing.values()))

    async def _audit(self, records: Sequence[TableRecord]) -> list[Finding]:
        asked = await asyncio.gather(*(self._replay(record) for record in records if record.finished))
        replays = {table_id: answer for table_id, answer in asked if isinstance(answer, str)}
        refused = [(table_id, answer) for table_id, answer in asked if table_id not in replays]
        missing = [Finding(Kind.REPLAY, table_id, 0, f"it cannot be had: {answer}") for table_id, answer in refused]
        return missing + await self.auditor.tables(records, replays)

    async def _replay(self, record: TableRecord) -> tuple[str, str | CroupierError]:
        # Whoever has a seat may ask, as may everybody else.
        client = self.swarm.clients[hash(record.table_id) % len(self.swarm.clients)]
        try:
            return record.table_id, (await client.get_replay(table_id=record.table_id)).replay
        except CroupierError as error:
            return record.table_id, error
