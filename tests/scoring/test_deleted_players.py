"""The results of a deleted player stay, without the name, whenever the reports come."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from croupier.runtime.database.database import Database
from croupier.runtime.errors import AlreadyExists
from croupier.scoring.deleted_players import BATCH_SIZE, remove_name
from croupier.scoring.ledger import Ledger, Result, Round, Seat, Sheet
from croupier.scoring.schema import METADATA
from croupier.scoring.standings import Scope
from croupier.scoring.standings_store import StandingsStore
from croupier_internal.v1 import scoring_control_pb2 as control_pb
from tests.contract.deployment import CALL_SECONDS
from tests.databases import execute, on_both_databases
from tests.scoring.deployment import ScoringHarness, result_entry, score_sheet
from tests.scoring.test_ledger import FIRST, RESULT, SECOND, SHEET, record
from tests.serving import refusal

ADA, BEN = Seat("ada", "Ada Lovelace", ""), Seat("ben", "Ben", "")


def sheet_of(table_id: str, *seats: Seat) -> Sheet:
    return replace(SHEET, table_id=table_id, seats=(seats[0], SHEET.seats[1], *seats[1:]))


async def tables_of_database_with(database: Database, text: str) -> set[str]:
    """Return the tables of the database with a text in a row."""
    found = set()
    for table in METADATA.tables:
        rows = await execute(database, f"SELECT * FROM {table}")  # noqa: S608 - names of ours
        found |= {table for row in rows if text in str(row)}
    return found


async def remove_all(database: Database, player_id: str, playing: Sequence[str] = ()) -> list[str]:
    removed: list[str] = []
    while table_ids := await remove_name(database, player_id, playing, removed[-1] if removed else ""):
        removed += table_ids
    return removed


@on_both_databases
async def test_the_name_goes_and_everything_else_stays(ledger: Ledger) -> None:
    count = BATCH_SIZE + 2
    ids = [f"t{number:03}" for number in range(count)]
    for number, table_id in enumerate(ids):
        seats = (ADA, BEN) if number % 2 else (BEN, ADA)
        await ledger.record_round(sheet_of(table_id, *seats), FIRST)
        end = RESULT.end_milliseconds + number * 86_400_000
        await ledger.record_result(sheet_of(table_id, *seats), replace(RESULT, end_milliseconds=end))
    await ledger.record_result(sheet_of("of others", BEN, Seat("eve", "Eve", "")), RESULT)
    standings = StandingsStore(ledger.database)
    before = [await standings.statistics("ada", scope) for scope in Scope]
    for _ in range(2):
        assert await remove_all(ledger.database, "ada") == ids
    assert await tables_of_database_with(ledger.database, ADA.name) == set()
    assert [await standings.statistics("ada", scope) for scope in Scope] == before
    names = {entry.player_id: entry.name for entry in await standings.leaderboard("solo", None, 10)}
    assert (names["ada"], names["ben"]) == ("", "Ben")
    assert (await score_sheet(ledger, ids[1])).sheet.seats == (replace(ADA, name=""), *sheet_of("", ADA, BEN).seats[1:])


@on_both_databases
@pytest.mark.parametrize("has_begun", [True, False])
async def test_reports_after_the_deletion_are_recorded_without_the_name(ledger: Ledger, has_begun: bool) -> None:
    sheet = sheet_of("t1", ADA, BEN)
    reports: list[tuple[Round | Result, bool]] = [(FIRST, not has_begun), (SECOND, True), (RESULT, True)]
    if has_begun:
        await ledger.record_round(sheet, FIRST)
    await remove_all(ledger.database, "ada", ["t1"])
    for entry, is_new in (*reports, (FIRST, False), (RESULT, False)):
        assert await record(ledger, entry, sheet) is is_new
    assert await tables_of_database_with(ledger.database, ADA.name) == set()
    # Later tables are none of theirs, but reports of them may come late.
    await ledger.record_result(sheet_of("t2", ADA, BEN), replace(RESULT, end_milliseconds=RESULT.end_milliseconds + 1))
    assert await tables_of_database_with(ledger.database, ADA.name) == set()


async def test_a_report_that_was_under_way_does_not_conflict_and_goes_with_the_second_pass(ledger: Ledger) -> None:
    sheet = sheet_of("t1", ADA, BEN)
    await remove_all(ledger.database, "ada")
    await ledger.record_round(sheet, FIRST)
    await remove_all(ledger.database, "ada", ["t1"])
    assert await ledger.record_result(sheet, RESULT)
    assert await tables_of_database_with(ledger.database, ADA.name) == set()


@pytest.mark.parametrize("names", [("", ADA.name), (ADA.name, "")], ids=["removed", "not yet removed"])
async def test_a_name_that_is_removed_during_a_report_is_no_conflict(ledger: Ledger, names: tuple[str, str]) -> None:
    """The report has read that the player is not deleted, or is, and the sheet is different then."""
    for name, entry in zip(names, (FIRST, SECOND), strict=True):
        assert await record(ledger, entry, sheet_of("t1", replace(ADA, name=name), BEN))


@pytest.mark.parametrize(
    "other", [Seat("ada", "Ada L", ""), Seat("eve", "", ""), Seat("ada", "", "random")], ids=["name", "player", "bot"]
)
async def test_other_seats_than_those_of_the_ledger_are_still_refused(ledger: Ledger, other: Seat) -> None:
    await ledger.record_round(sheet_of("t1", ADA, BEN), FIRST)
    with pytest.raises(AlreadyExists):
        await ledger.record_round(sheet_of("t1", other, BEN), SECOND)


async def test_a_player_without_games_leaves_nothing(ledger: Ledger) -> None:
    assert await remove_all(ledger.database, "ada") == []
    assert await tables_of_database_with(ledger.database, "ada") == set()


async def test_the_call_is_for_engines_and_bounded(harness: ScoringHarness) -> None:
    await harness.record(result_entry())
    request = control_pb.RemovePlayerNameRequest(player_id="anna")
    call = harness.control.RemovePlayerName
    answer = await call(request, metadata=harness.keys.engine(), timeout=CALL_SECONDS)
    assert list(answer.table_ids) == ["t1"]
    request.after_table_id = "t1"
    assert not (await call(request, metadata=harness.keys.engine(), timeout=CALL_SECONDS)).table_ids
    refused = await refusal(call(request, metadata=harness.keys.player("anna"), timeout=CALL_SECONDS))
    assert refused.code == "UNAUTHENTICATED"
    request.playing_table_ids.extend(["t"] * 501)
    refused = await refusal(call(request, metadata=harness.keys.engine(), timeout=CALL_SECONDS))
    assert refused == ("INVALID_ARGUMENT", "INVALID_FIELD", "playing_table_ids")
