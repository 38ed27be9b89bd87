"""The records of the tables that users of this process play at or watch, until all of them have left."""

import time
from collections.abc import Awaitable, Callable
from random import Random

from loadtest.measures import Measures
from loadtest.record import SeatRecord, TableRecord
from loadtest.scenarios import Behaviour


def wall_milliseconds() -> int:
    """Return milliseconds since 1970 UTC."""
    return time.time_ns() // 1_000_000


class TableRecords:
    """Records by table; the last user at a table submits its record to the judge."""

    def __init__(self, measures: Measures, submit: Callable[[TableRecord], Awaitable[None]]) -> None:
        self._measures = measures
        self.submit = submit
        """Submits a record to the judge, as soon as there is room."""
        self._records: dict[str, TableRecord] = {}
        self._present: dict[str, int] = {}
        self._counted: set[str] = set()

    def __len__(self) -> int:
        return len(self._records)

    def add_viewer(
        self,
        record: TableRecord,
        player_id: str,
        behaviour: Behaviour,
        client_seed: bytes = b"",
        *,
        is_counter: bool = False,
    ) -> SeatRecord:
        """Add a viewer to a table; `record` is kept if the table is new here.

        Of all players at a table, who may be in several processes, one has `is_counter` set.
        """
        kept = self._records.setdefault(record.table_id, record)
        if is_counter:
            self._counted.add(record.table_id)
            self._measures.count("tables opened")
        kept.commitment = kept.commitment or record.commitment
        viewer = SeatRecord(
            player_id, behaviour=behaviour.value, client_seed=client_seed, reads_slowly=behaviour is Behaviour.SLOW
        )
        kept.viewers.append(viewer)
        self._present[record.table_id] = self._present.get(record.table_id, 0) + 1
        return viewer

    def mark_finished(self, table_id: str) -> None:
        """Record that a viewer has received the end of a game."""
        self._records[table_id].is_finished = True

    def has_active_players(self, table_id: str) -> bool:
        """Return whether a game is not over, and one of its players here has not left."""
        record = self._records[table_id]
        has_players = any(viewer.seat is not None and viewer.left_milliseconds is None for viewer in record.viewers)
        return has_players and not record.is_finished

    def leave(self, table_id: str) -> TableRecord | None:
        """Remove a viewer; returns the record if it was the last one, who has to submit it."""
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
            self._measures.count("unobserved tables")
        received = {sequence for viewer in record.viewers for sequence in viewer.timeouts}
        self._measures.count(f"timeouts {record.game}", len(received))

    def running(self) -> list[TableRecord]:
        """Return the records of all tables that have viewers here; they still grow."""
        return list(self._records.values())

    def end_timing(self) -> None:
        """Record that from now on actions are not timed, because players have no think time any more."""
        for record in self._records.values():
            record.timed_until_milliseconds = wall_milliseconds()

    def remaining(self) -> list[TableRecord]:
        """Remove and return the records that were not submitted, once all users have stopped."""
        records = list(self._records.values())
        for record in records:
            self._count_end(record)
        self._records.clear()
        self._present.clear()
        self._counted.clear()
        return records

    def other_table(self, player_id: str, random: Random) -> TableRecord | None:
        """Return a running table that was opened here and where this player has no seat; None without one.

        Tables that are only watched here are omitted: the player may have a seat there from an earlier run.
        """
        others = [
            record
            for record in list(self._records.values())[:50]
            if record.table_id in self._counted
            and not record.is_finished
            and all(viewer.player_id != player_id for viewer in record.viewers)
        ]
        return random.choice(others) if others else None
