"""The tables at which people of this process sit: their records, until everybody has left and they are judged."""

import time
from collections.abc import Awaitable, Callable
from random import Random

from loadtest.measures import Measures
from loadtest.record import SeatRecord, TableRecord
from loadtest.scenarios import Manner


def wall_milliseconds() -> int:
    """Milliseconds since 1970 UTC."""
    return time.time_ns() // 1_000_000


class Tables:
    """Records by table; whoever leaves a table last has its records read and hands it to the judge."""

    def __init__(self, measures: Measures, hand_over: Callable[[TableRecord], Awaitable[None]]) -> None:
        self._measures = measures
        self.see_off = hand_over
        """Hands a record to the judge, as soon as there is room."""
        self._records: dict[str, TableRecord] = {}
        self._present: dict[str, int] = {}
        self._counted: set[str] = set()

    def __len__(self) -> int:
        return len(self._records)

    def sit_down(
        self, record: TableRecord, player_id: str, manner: Manner, client_seed: bytes = b"", *, counts: bool = False
    ) -> SeatRecord:
        """Somebody follows a table from now on; `record` is taken if nobody here has followed it before.

        Of all people at a table, who may be spread over several processes, one `counts` it.
        """
        kept = self._records.setdefault(record.table_id, record)
        if counts:
            self._counted.add(record.table_id)
            self._measures.count("tables opened")
        kept.commitment = kept.commitment or record.commitment
        viewer = SeatRecord(player_id, manner=manner.value, client_seed=client_seed, reads_slowly=manner is Manner.SLOW)
        kept.viewers.append(viewer)
        self._present[record.table_id] = self._present.get(record.table_id, 0) + 1
        return viewer

    def finished(self, table_id: str) -> None:
        """Somebody saw the end of a game."""
        self._records[table_id].is_finished = True

    def is_played(self, table_id: str) -> bool:
        """Whether a game is on, and one of its players here has not left it."""
        record = self._records[table_id]
        is_anybody_there = any(one.seat is not None and one.left_milliseconds is None for one in record.viewers)
        return is_anybody_there and not record.is_finished

    def leave(self, table_id: str) -> TableRecord | None:
        """Somebody follows a table no longer; gives its record if he was the last, who is to see it off."""
        self._present[table_id] -= 1
        if self._present[table_id]:
            return None
        del self._present[table_id]
        record = self._records.pop(table_id)
        self._count_end(record)
        return record

    def _count_end(self, record: TableRecord) -> None:
        if record.table_id not in self._counted:
            return
        self._counted.remove(record.table_id)
        if record.is_finished:
            self._measures.count("tables finished")
            self._measures.count(f"finished {record.game}")
        else:
            self._measures.count("unheard tables")
        heard = {sequence for viewer in record.viewers for sequence in viewer.timeouts}
        self._measures.count(f"timeouts {record.game}", len(heard))

    def running(self) -> list[TableRecord]:
        """The records of the tables that somebody here follows; they grow as long as that is so."""
        return list(self._records.values())

    def hurry(self) -> None:
        """From now on nobody thinks any more."""
        for record in self._records.values():
            record.timed_until_milliseconds = wall_milliseconds()

    def remaining(self) -> list[TableRecord]:
        """The records of tables that nobody has seen off, once all people have been stopped; they are forgotten."""
        records = list(self._records.values())
        for record in records:
            self._count_end(record)
        self._records.clear()
        self._present.clear()
        self._counted.clear()
        return records

    def elsewhere(self, player_id: str, random: Random) -> TableRecord | None:
        """A table in play that was opened here and where this player has no seat.

        At tables that are only watched here he may sit from an earlier run, under the same name.
        """
        others = [
            record
            for record in list(self._records.values())[:50]
            if record.table_id in self._counted
            and not record.is_finished
            and all(viewer.player_id != player_id for viewer in record.viewers)
        ]
        return random.choice(others) if others else None
