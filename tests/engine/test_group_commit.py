"""The group commit: which appends share a commit, the order of outcomes, and the end."""

import asyncio
from collections.abc import Mapping, Sequence
from functools import partial
from typing import NamedTuple

import pytest
from prometheus_client import CollectorRegistry

from croupier.engine.core.log import TableConfig
from croupier.engine.metrics import EngineMetrics
from croupier.engine.storage.group_commit import GroupCommit
from croupier.engine.storage.port import SequenceTaken
from croupier.engine.storage.sql_store import append_of
from croupier.engine.storage.writer import Append
from croupier.runtime.outcomes import Callback
from croupier.runtime.server.tasks import end_tasks
from tests.engine.databases import entry
from tests.engine.fakes import StoreDown
from tests.engine.play import within_timeout
from tests.waiting import settled


class Write(NamedTuple):
    tables: list[str]
    done: Callback[Sequence[int]]


class HeldWriter:
    """EntryWriter whose writes a test ends."""

    def __init__(self) -> None:
        self.writes: list[Write] = []
        self.is_closed = False
        self.fault: Exception | None = None

    async def open(self, append: Append, config: TableConfig) -> bool:
        raise NotImplementedError

    async def claim_overdue(self, before: int, until: int, limit: int) -> list[str]:
        raise NotImplementedError

    async def postpone(self, table_ids: Sequence[str], until: int) -> None:
        raise NotImplementedError

    def write(self, appends: Sequence[Append], done: Callback[Sequence[int]]) -> None:
        if self.fault:
            raise self.fault
        self.writes.append(Write([append.table_id for append in appends], done))

    def close(self) -> None:
        self.is_closed = True


class Commits:
    """A group commit on a held writer, and the outcomes of its appends in their order."""

    def __init__(self) -> None:
        self.writer = HeldWriter()
        self.announced: list[Mapping[str, int]] = []
        self.commits = GroupCommit(self.writer, self.announced.append, EngineMetrics(CollectorRegistry()))
        self.outcomes: list[tuple[str, Exception | None]] = []
        self.running = asyncio.create_task(self.commits.run())

    def append(self, *table_ids: str) -> None:
        for table_id in table_ids:
            self.commits.append(append_of(table_id, [entry(2)], None), partial(self._settled, table_id))

    def _settled(self, table_id: str, error: Exception | None) -> None:
        self.outcomes.append((table_id, error))

    @property
    def tables(self) -> list[list[str]]:
        return [write.tables for write in self.writer.writes]


@pytest.fixture
async def group() -> Commits:
    group = Commits()
    await settled()
    return group


async def test_appends_of_one_step_share_a_commit_and_those_that_come_meanwhile_the_next(group: Commits) -> None:
    asyncio.get_running_loop().call_soon(group.append, "t2")
    group.append("t1")
    assert group.tables == []
    await settled()
    group.append("t3")
    group.append("t1", "t4")
    await settled()
    assert group.tables == [["t1", "t2"]]
    group.writer.writes[0].done(())
    assert group.tables == [["t1", "t2"], ["t3", "t1", "t4"]]
    assert group.outcomes == [("t1", None), ("t2", None)]


async def test_the_next_commit_begins_before_the_outcomes_of_one_are_processed(group: Commits) -> None:
    begun: list[int] = []
    group.commits.append(append_of("t1", [entry(2)], None), lambda _: begun.append(len(group.writer.writes)))
    await settled()
    group.append("t2")
    group.writer.writes[0].done(())
    assert begun == [2]


async def test_other_engines_know_of_a_commit_before_its_outcomes_are_processed(group: Commits) -> None:
    known: list[int] = []
    group.commits.append(append_of("t1", [entry(2)], None), lambda _: known.append(len(group.announced)))
    await settled()
    group.writer.writes[0].done(())
    assert known == [1]
    assert group.announced == [{"t1": 2}]


async def test_losers_of_a_race_fail_and_the_others_are_written_again(group: Commits) -> None:
    group.append("t1", "t2", "t3")
    await settled()
    group.writer.writes[0].done([0, 2])
    assert group.tables == [["t1", "t2", "t3"], ["t2"]]
    assert [(name, type(error)) for name, error in group.outcomes] == [("t1", SequenceTaken), ("t3", SequenceTaken)]
    group.writer.writes[1].done([0])
    group.append("t4")
    await settled()
    assert group.tables[2:] == [["t4"]]


async def test_a_failed_write_is_the_outcome_of_its_appends_alone(group: Commits) -> None:
    group.append("t1", "t2")
    await settled()
    group.append("t3")
    down = StoreDown()
    group.writer.writes[0].done(down)
    group.writer.writes[1].done(())
    assert group.outcomes == [("t1", down), ("t2", down), ("t3", None)]


async def test_a_write_that_cannot_begin_fails_its_appends_and_keeps_no_other_from_its_own(group: Commits) -> None:
    group.writer.fault = fault = RuntimeError("can't start new thread")
    group.append("t1", "t1")
    await settled()
    assert group.outcomes == [("t1", fault)] * 2
    group.writer.fault = None
    group.append("t2")
    await settled()
    group.writer.writes[0].done(())
    assert group.outcomes[2:] == [("t2", None)]


async def test_writes_that_cannot_begin_fail_in_their_order_however_many_wait(group: Commits) -> None:
    group.writer.fault, failed = RuntimeError("can't start new thread"), list[int]()

    def fail(number: int, _: Exception | None) -> None:
        failed.append(number)

    for number in range(500):
        # Each needs a commit of its own.
        group.commits.append(append_of("t1", [entry(2)], None), partial(fail, number))
    await settled()
    assert failed == [*range(500)]


async def test_an_outcome_that_cannot_be_processed_keeps_no_other_from_its_own(group: Commits) -> None:
    faults: list[object] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: faults.append(context["exception"]))
    fault = ValueError("a defect")

    def fails(_: Exception | None) -> None:
        raise fault

    group.commits.append(append_of("t0", [entry(2)], None), fails)
    group.append("t1")
    await settled()
    group.writer.writes[0].done(())
    assert (group.outcomes, faults) == ([("t1", None)], [fault])


@pytest.mark.parametrize("count", [0, 1])
async def test_it_ends_once_all_waiting_appends_are_stored(group: Commits, count: int) -> None:
    group.append(*["t1"] * count * 2)
    group.commits.close()
    await settled()
    for number in range(2 * count):
        assert not group.running.done()
        assert not group.writer.is_closed
        group.writer.writes[number].done(())
    await within_timeout(group.running)
    assert group.commits.ended.is_set()
    assert group.writer.is_closed


async def test_no_outcome_is_reported_after_its_end(group: Commits) -> None:
    group.append("t1")
    await settled()
    await end_tasks([group.running])
    group.writer.writes[0].done(())
    assert group.outcomes == []


async def test_a_commit_that_takes_long_is_not_responsive(group: Commits) -> None:
    loop, now = asyncio.get_running_loop(), 0.0
    loop.follow(lambda: now)  # type: ignore[attr-defined]
    group.append("t1")
    await settled()
    now = 0.9
    assert group.commits.is_responsive()
    now = 1.0
    assert not group.commits.is_responsive()
    group.writer.writes[0].done(())
    assert group.commits.is_responsive()
