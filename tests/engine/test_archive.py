"""Finished tables: who has acted there, and the archive, whose answers are the same as before."""

from random import Random
from typing import Any

import pytest
from sqlalchemy import func, select, update

from croupier.engine.cluster.housekeeping import ARCHIVE_RETRY_MILLISECONDS, RetentionPolicy, packed_log
from croupier.engine.core.log import ActedBy
from croupier.engine.core.log_codec import decode_entry
from croupier.engine.storage.port import SequenceTaken, StoredTable, TableChange, TableStatus, append_durably, log_rows
from croupier.engine.storage.schema import ARCHIVE, ENTRIES, TABLES
from croupier.engine.storage.sql_store import SqlTableStore
from croupier.runtime.database.database import Database
from tests.databases import execute
from tests.engine.databases import LoadedTable, archive_finished, entries_of, entry, loaded, opened
from tests.engine.fakes import START, EngineHarness
from tests.engine.folds import as_archived
from tests.engine.play import ROUNDS, bots, make_config, people, whole_log

ENDED = START + 2
LAST = TableChange(2, finished=True)


async def finished(store: SqlTableStore, table_id: str = "t1", reports_done: int = 2) -> None:
    """Store a table that ended at ENDED."""
    await opened(store, table_id)
    await append_durably(store, table_id, [entry(2)], LAST)
    await store.set_reports_done(table_id, reports_done)


async def rows(database: Database) -> list[int]:
    """Return the numbers of rows of tables, entries and the archive."""
    counts = [select(func.count()).select_from(table) for table in (TABLES, ENTRIES, ARCHIVE)]
    return [(await execute(database, count))[0][0] for count in counts]


async def answers(store: SqlTableStore, last: int) -> list[Any]:
    return [
        await store.find("t1"),
        [as_archived(await entries_of(store, "t1", sequence)) for sequence in (0, 1, last, last + 5)],
        as_archived((await store.entries_beyond({"t1": last - 1, "nowhere": 0}, 10))["t1"]),
        await store.statuses(["t1", "nowhere"]),
        await store.statuses([]),
        await store.open_counts(),
        await store.claim_unreported(START + 10**12, START, 10),
        await store.claim_overdue(START + 10**12, START, 10),
        await store.prepare(make_config(seed=b"x" * 32), START),
    ]


@pytest.mark.parametrize("game", ["solo", "thulla"])
async def test_an_archived_table_has_the_same_answers(
    store: SqlTableStore, database: Database, game: str, seed: int
) -> None:
    config = make_config(game, options=ROUNDS[game])
    log = whole_log(config, Random(seed))
    await store.prepare(config, START)
    await store.open(config, log[:1])
    for start in range(1, len(log) - 1, 7):
        await append_durably(store, "t1", log[start : min(start + 7, len(log) - 1)], None)
    await append_durably(store, "t1", log[-1:], LAST)
    await store.set_reports_done("t1", 2)
    before = await answers(store, len(log))
    assert await archive_finished(store, log[-1].at + 1) == 1
    assert await rows(database) == [0, 0, 1]
    assert await answers(store, len(log)) == before
    assert await loaded(store) == LoadedTable("finished", config, tuple(as_archived(log)))


async def test_only_old_tables_without_due_reports_are_archived(store: SqlTableStore, database: Database) -> None:
    for number in range(5):
        await finished(store, f"t{number}")
    await finished(store, "unreported", reports_done=1)
    await opened(store, "open")
    await store.prepare(make_config(table_id="prepared"), START)
    assert await archive_finished(store, ENDED) == 0
    assert await archive_finished(store, ENDED + 1) == 5
    assert await archive_finished(store, ENDED + 1) == 0
    assert await rows(database) == [3, 3, 5]
    for done in (2, 1):
        await store.set_reports_done("unreported", done)
        assert await store.reports_done("unreported") == 2
    assert await archive_finished(store, ENDED + 1) == 1
    statuses = {"t0": "finished", "unreported": "finished", "open": "open", "prepared": "prepared"}
    assert {name: found.status for name, found in (await store.statuses(list(statuses))).items()} == statuses
    assert await store.delete_archived(ENDED, 10) == 0
    assert [await store.delete_archived(ENDED + 1, 4) for _ in range(3)] == [4, 2, 0]
    assert await rows(database) == [2, 1, 0]


async def test_tables_that_were_never_opened_are_deleted_by_age_or_by_id(
    store: SqlTableStore, database: Database
) -> None:
    prepared = ("closed", "t0", "t1", "t2")
    for name in prepared:
        await store.prepare(make_config(table_id=name), START)
    await opened(store, "open")
    await finished(store, "over")
    named = ["closed", "open", "over", "unknown"]
    assert [await store.discard_prepared(named) for _ in range(2)] == [1, 0]
    assert await store.discard_prepared([]) == 0
    assert await store.delete_prepared(START, 2) == 0
    assert await rows(database) == [5, 3, 0]
    assert [await store.delete_prepared(START + 1, 2) for _ in range(3)] == [2, 1, 0]
    found = await store.statuses([*prepared, *named])
    assert {name: one.status for name, one in found.items()} == {"open": "open", "over": "finished"}
    assert await rows(database) == [2, 3, 0]


async def test_a_table_has_the_network_of_its_creator_until_its_end(store: SqlTableStore, database: Database) -> None:
    network = "2001:db8:1::/56"
    for _ in range(2):
        await store.prepare(make_config(), START, network)
        assert await store.find("t1") == StoredTable("prepared", make_config(), network=network)
    await store.open(make_config(), [entry(1)])
    await append_durably(store, "t1", [entry(2)], TableChange(1, finished=False))
    assert await store.find("t1") == StoredTable("open", make_config(), network=network)
    await append_durably(store, "t1", [entry(3)], LAST)
    assert await store.find("t1") == StoredTable("finished", make_config(), entry(3).at)
    assert await execute(database, select(TABLES.c.network)) == [(None,)]


async def test_nothing_can_be_appended_to_an_archived_or_deleted_table(
    store: SqlTableStore, database: Database
) -> None:
    await finished(store)
    await opened(store, "t2")
    await archive_finished(store, ENDED + 1)
    before = await loaded(store)
    for late in ([entry(3)], [entry(2)], [entry(3), entry(4)]):
        with pytest.raises(SequenceTaken):
            await append_durably(store, "t1", late, LAST)
    await append_durably(store, "t2", [entry(2)], None)
    assert await loaded(store) == before
    assert await rows(database) == [1, 2, 1]
    assert not await store.open(make_config(), [entry(1)])
    assert await store.reports_done("t1") in (0, 2)
    await store.set_reports_done("t1", 2)
    await store.delete_archived(ENDED + 1, 10)
    assert await store.find("t1") is None
    assert await store.statuses(["t1"]) == {}
    assert await entries_of(store, "t1") == ()
    with pytest.raises(SequenceTaken):
        await append_durably(store, "t1", [entry(3)], None)


async def test_a_table_is_claimed_by_one_engine_and_again_after_a_time(store: SqlTableStore) -> None:
    for number in range(3):
        await finished(store, f"t{number}")
    first, second = [await store.claim_finished(ENDED + 1, START, START + 100, 2) for _ in range(2)]
    assert (len(first), len(second)) == (2, 1)
    assert {*first, *second} == {"t0", "t1", "t2"}
    assert await store.claim_finished(ENDED + 1, START + 100, START + 200, 5) == []
    assert set(await store.claim_finished(ENDED + 1, START + 101, START + 200, 5)) == {"t0", "t1", "t2"}


async def test_a_log_that_differs_from_its_packed_form_is_kept(store: SqlTableStore, database: Database) -> None:
    await finished(store)
    packed = await packed_log(store, "t1")
    with pytest.raises(ValueError, match="the log has 2 entries: expected 1"):
        await store.archive("t1", packed._replace(entries=1))
    assert await rows(database) == [1, 2, 0]
    for _ in range(2):
        await store.archive("t1", packed)
    assert await rows(database) == [0, 0, 1]


@pytest.mark.parametrize("bad", [(2, "{"), (2, '{"t":"foo","v":1}'), (3, '{"t":"compensate","v":1,"milliseconds":5}')])
async def test_a_table_that_cannot_be_archived_keeps_no_other_one_from_it(
    store: SqlTableStore, database: Database, engine: EngineHarness, bad: tuple[int, str]
) -> None:
    for name in ("t0", "bad", "t2"):
        await finished(store, name)
    sequence, body = bad
    change = update(ENTRIES).where(ENTRIES.c.table_id == "bad", ENTRIES.c.sequence == 2)
    await execute(database, change.values(sequence=sequence, body=body))
    retention = RetentionPolicy(1, 1_000, 1_000, 0)
    housekeeper = engine.housekeeper(engine.tables(store=store), retention, store)
    engine.clock.advance(1_003)
    await housekeeper.archive()
    await housekeeper.archive()

    def counts() -> list[float]:
        return [engine.count(f"croupier_{name}_total") for name in ("tables_archived", "archive_failures")]

    assert await store.statuses(["t0", "bad", "t2"]) == dict.fromkeys(("t0", "bad", "t2"), TableStatus("finished"))
    assert await rows(database) == [1, 2, 2]
    assert counts() == [2, 1]
    assert [fields["table_id"] for level, _, fields in engine.logger.lines if level == "error"] == ["bad"]
    engine.clock.advance(ARCHIVE_RETRY_MILLISECONDS)
    await housekeeper.archive()
    assert counts() == [2, 1]
    engine.clock.advance(1)
    await housekeeper.archive()
    assert counts() == [2, 2]


async def test_a_table_that_is_archived_between_two_pages_is_read_as_a_whole(
    store: SqlTableStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("croupier.engine.storage.port.PAGE_ROWS", 1)
    await finished(store)
    expected = (await loaded(store)).entries
    reading = log_rows(store, "t1")
    rows = [await anext(reading)]
    await store.archive("t1", await packed_log(store, "t1"))
    rows += [row async for row in reading]
    assert [decode_entry("t1", *row) for row in rows] == list(expected)


@pytest.mark.parametrize("absent", [0, 1, None])
async def test_players_have_acted_whose_requests_are_in_the_log(store: SqlTableStore, absent: int | None) -> None:
    """Time-outs and bots have no request, and its id may have any characters."""
    config = make_config("thulla", 3, seats=(*people(2), *bots(1)))
    log = []
    for one in whole_log(config, Random(1)):
        seat = getattr(one.event, "seat", None)
        is_own = seat in (0, 1) and seat != absent
        request_id, by = (f'{{"t":"act","v":1,"seat":{absent},', ActedBy.PLAYER) if is_own else ("", ActedBy.TIMEOUT)
        log.append(one if seat is None else one._replace(request_id=request_id, acted_by=by))
    await store.prepare(config, START)
    await store.open(config, log[:1])
    await append_durably(store, config.table_id, log[1:-1], None)
    # None is asked for a game that is played.
    assert await store.acted_players([config.table_id, "unknown"]) == {}
    await append_durably(store, config.table_id, log[-1:], TableChange(0, finished=True))
    acted = [f"p{seat}" for seat in range(2) if seat != absent]
    assert await store.acted_players([config.table_id, "unknown"]) == {config.table_id: acted}
    await archive_finished(store, log[-1].at + 1)
    assert await store.acted_players([config.table_id]) == {config.table_id: ["p0", "p1"]}
