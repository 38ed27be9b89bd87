"""Both services over gRPC on loopback: what they answer, and what they refuse."""

from typing import Any, TypeVar

import pytest
from google.protobuf.message import Message

from croupier.scoring.codec import read_round_entry
from croupier_api.v1 import scoring_pb2 as pb
from croupier_api.v1 import table_pb2
from tests.contract.house import computer, person
from tests.scoring.house import ANNA_AND_BEN, FINISHED, House, result_entry, round_entry
from tests.serving import Refusal, refusal


async def test_a_score_sheet(house: House) -> None:
    for number in (2, 1):
        await house.enter(round_entry(number=number))
    before = await house.ask("GetScoreSheet", pb.GetScoreSheetRequest(table_id="t1"))
    assert not before.HasField("result")
    await house.enter(result_entry())
    sheet = await house.ask("GetScoreSheet", pb.GetScoreSheetRequest(table_id="t1"))
    expected = pb.GetScoreSheetResponse(table_id="t1", game="jossing", seats=ANNA_AND_BEN, result=result_entry())
    expected.rounds.extend(round_entry(number=number).round for number in (1, 2))
    assert sheet == expected


async def test_the_order_within_a_group_of_a_ranking_has_no_meaning(house: House) -> None:
    await house.enter(result_entry(ranking=((1, 0),)))
    await house.enter(result_entry(ranking=((0, 1),)))
    sheet = await house.ask("GetScoreSheet", pb.GetScoreSheetRequest(table_id="t1"))
    assert list(sheet.result.ranking[0].seats) == [0, 1]


async def test_statistics_of_the_caller_and_of_others(house: House) -> None:
    await house.enter(result_entry("t1"))
    await house.enter(result_entry("t2", ranking=((1,), (0,))))
    await house.enter(result_entry("t3", ranking=((0, 1),), game="110"))
    own = await house.ask("GetPlayerStatistics", pb.GetPlayerStatisticsRequest(), "anna")
    jossing = pb.GameStatistics(game="jossing", games_finished=2, games_won=1, win_rate=0.5, average_place=1.5)
    one_ten = pb.GameStatistics(game="110", games_finished=1, games_won=1, win_rate=1.0, average_place=1.0)
    assert own == pb.GetPlayerStatisticsResponse(player_id="anna", games=[one_ten, jossing])
    named = pb.GetPlayerStatisticsRequest(player_id="anna")
    assert await house.ask("GetPlayerStatistics", named, "ben") == own
    nobody = pb.GetPlayerStatisticsRequest(player_id="carl")
    assert await house.ask("GetPlayerStatistics", nobody) == pb.GetPlayerStatisticsResponse(player_id="carl")


async def test_a_round_may_have_as_much_as_fits(house: House) -> None:
    entry = round_with(
        headline="x" * 1000,
        details={f"{number:064}": "x" * 500 for number in range(64)},
        counts=[count("x" * 64, seat=1, amount=10_000)] * 64,
    )
    for request in (entry, result_entry()):
        await house.enter(request)
    sheet = await house.ask("GetScoreSheet", pb.GetScoreSheetRequest(table_id="t1"))
    assert sheet.rounds[:] == [entry.round]
    answer = await house.ask("GetPlayerStatistics", pb.GetPlayerStatisticsRequest(player_id="ben"))
    assert dict(answer.games[0].counts) == {"x" * 64: 640_000}
    board = await house.ask("GetLeaderboard", pb.GetLeaderboardRequest(game="jossing"))
    assert [dict(line.statistics.counts) for line in board.lines] == [{}, {"x" * 64: 640_000}]


def test_details_have_one_order_whatever_the_message_has() -> None:
    entry = round_with(details={f"{number:02}": "x" for number in reversed(range(64))})
    _, read = read_round_entry(entry)
    assert [name for name, _ in read.details] == [f"{number:02}" for number in range(64)]


async def test_a_leaderboard_page_by_page(house: House) -> None:
    seats = (person("carl"), computer(), person("anna"), person("ben"))
    await house.enter(result_entry("t1", ((1,), (3,), (0, 2)), seats))
    request = pb.GetLeaderboardRequest(game="jossing", page_size=1)
    seen = []
    for _ in seats:
        page = await house.ask("GetLeaderboard", request)
        seen += [(line.position, line.player_id, line.name) for line in page.lines]
        request.page_token = page.next_page_token
        if not page.next_page_token:
            break
    assert seen == [(1, "ben", "Ben"), (2, "anna", "Anna"), (3, "carl", "Carl")]
    whole = await house.ask("GetLeaderboard", pb.GetLeaderboardRequest(game="jossing", page_size=3))
    assert not whole.next_page_token
    assert whole.lines[0].statistics == pb.GameStatistics(game="jossing", games_finished=1, average_place=2.0)


async def enter_results(house: House) -> None:
    carl_and_anna = (person("carl"), person("anna"))
    await house.enter(result_entry("a", finished=FINISHED + 1))
    await house.enter(result_entry("b", finished=FINISHED + 3, game="solo"))
    await house.enter(result_entry("c", finished=FINISHED + 2, seats=carl_and_anna))
    await house.enter(result_entry("d", finished=FINISHED + 2, seats=carl_and_anna))
    await house.enter(result_entry("e", finished=FINISHED, seats=(computer(), computer())))


@pytest.mark.parametrize("page_size", [2, 100])
@pytest.mark.parametrize(
    ("game", "player_id", "expected"),
    [
        ("", "", ["b", "d", "c", "a", "e"]),
        ("jossing", "", ["d", "c", "a", "e"]),
        ("", "ben", ["b", "a"]),
        ("jossing", "anna", ["d", "c", "a"]),
        ("solo", "carl", []),
        ("canasta", "", []),
    ],
)
async def test_results_newest_first(
    house: House, game: str, player_id: str, page_size: int, expected: list[str]
) -> None:
    await enter_results(house)
    request = pb.ListResultsRequest(game=game, player_id=player_id, page_size=page_size)
    pages: list[list[str]] = []
    # One page more than there are results at most: a listing that never ends fails here.
    while (not pages or request.page_token) and len(pages) <= len(expected):
        page = await house.ask("ListResults", request)
        pages.append([result.table_id for result in page.results])
        request.page_token = page.next_page_token
    assert [table_id for page in pages for table_id in page] == expected
    assert all(len(page) == page_size for page in pages[:-1])
    assert len(pages) == max(1, -(-len(expected) // page_size))


async def test_entering_twice_and_differently(house: House) -> None:
    for _ in range(2):
        await house.enter(round_entry())
        await house.enter(result_entry())
    other_round = round_entry()
    other_round.round.points[0] += 1
    conflict = Refusal("ALREADY_EXISTS", "LEDGER_CONFLICT", "")
    assert await refusal(house.enter(other_round)) == conflict
    assert await refusal(house.enter(result_entry(ranking=((1,), (0,))))) == conflict
    for kind in ("round", "result"):
        assert [house.entries(kind, outcome) for outcome in ("new", "repeated", "conflict")] == [1.0, 1.0, 1.0]
    assert (await house.ask("ListResults", pb.ListResultsRequest())).results[:] == [result_entry()]


Entry = TypeVar("Entry", bound=Message)


def altered(entry: Entry, **changes: Any) -> Entry:
    """The entry with some fields replaced."""
    for name, value in changes.items():
        entry.ClearField(name)
        entry.MergeFrom(type(entry)(**{name: value}))
    return entry


def round_with(**changes: Any) -> pb.RecordRoundRequest:
    """An entry of a round with some fields of its line replaced."""
    entry = round_entry()
    altered(entry.round, **changes)
    return entry


def count(name: str = "bids_made", seat: int = 0, amount: int = 1) -> table_pb2.SeatCount:
    return table_pb2.SeatCount(name=name, seat=seat, amount=amount)


NEITHER = table_pb2.SeatInfo(name="Nobody")
BOTH = table_pb2.SeatInfo(player_id="anna", bot="random")
BAD_ENTRIES: list[tuple[pb.RecordRoundRequest | pb.TableResult, str]] = [
    (altered(round_entry(), table_id=""), "table_id"),
    (altered(round_entry(), table_id="x" * 65), "table_id"),
    (altered(round_entry(), table_id="a\nb"), "table_id"),
    (altered(round_entry(), table_id="a\0b"), "table_id"),
    (altered(round_entry(), game=""), "game"),
    (altered(round_entry(), game="x" * 33), "game"),
    (altered(round_entry(), seats=[]), "seats"),
    (round_entry(seats=(computer(),) * 31), "seats"),
    (round_entry(seats=(person("anna"), person("anna"))), "seats"),
    (round_entry(seats=(person("anna"), NEITHER)), "seats[1]"),
    (round_entry(seats=(BOTH, person("ben"))), "seats[0]"),
    (round_entry(seats=(person("a" * 65), person("ben"))), "seats[0].player_id"),
    (round_entry(seats=(computer("x" * 65), person("ben"))), "seats[0].bot"),
    (round_entry(seats=(person("anna"), person("ben", "B" * 65))), "seats[1].name"),
    (round_entry(seats=(person("anna"), person("ben", "B\0"))), "seats[1].name"),
    (pb.RecordRoundRequest(table_id="t1", game="solo", seats=ANNA_AND_BEN), "round.round"),
    (round_with(round=10_001), "round.round"),
    (round_with(points=[1]), "round.points"),
    (round_with(points=[1, 2, 3]), "round.points"),
    (round_with(totals=[]), "round.totals"),
    (round_with(notes=["one"]), "round.notes"),
    (round_with(notes=["", "x" * 1001]), "round.notes[1]"),
    (round_with(headline="x" * 1001), "round.headline"),
    (round_with(headline="\0"), "round.headline"),
    (round_with(details={str(number): "" for number in range(65)}), "round.details"),
    (round_with(details={"": "x"}), "round.details"),
    (round_with(details={"a\nb": "x"}), "round.details"),
    (round_with(details={"x" * 65: "x"}), "round.details"),
    (round_with(details={"trump": "x" * 1001}), "round.details[trump]"),
    (round_with(details={"trump": "\0"}), "round.details[trump]"),
    (round_with(counts=[count()] * 65), "round.counts"),
    (round_with(counts=[count(), count("")]), "round.counts[1].name"),
    (round_with(counts=[count("a\tb")]), "round.counts[0].name"),
    (round_with(counts=[count("x" * 65)]), "round.counts[0].name"),
    (round_with(counts=[count(seat=2)]), "round.counts[0].seat"),
    (round_with(counts=[count(amount=0)]), "round.counts[0].amount"),
    (round_with(counts=[count(amount=10_001)]), "round.counts[0].amount"),
    (pb.TableResult(), "result.table_id"),
    (altered(result_entry(), game=""), "result.game"),
    (altered(result_entry(), seats=[]), "result.seats"),
    (result_entry(seats=(person("anna"), NEITHER)), "result.seats[1]"),
    (result_entry(ranking=()), "result.ranking"),
    (result_entry(ranking=((0,),)), "result.ranking"),
    (result_entry(ranking=((0,), (1,), (1,))), "result.ranking"),
    (result_entry(ranking=((0,), (1, 2))), "result.ranking"),
    (result_entry(ranking=((0,), (), (1,))), "result.ranking"),
    (altered(result_entry(), totals=[1]), "result.totals"),
    (altered(result_entry(), finished_milliseconds=0), "result.finished_milliseconds"),
    (altered(result_entry(), finished_milliseconds=-1), "result.finished_milliseconds"),
]


async def test_bad_entries_are_named_and_enter_nothing(house: House) -> None:
    for entry, field in BAD_ENTRIES:
        assert await refusal(house.enter(entry)) == Refusal("INVALID_ARGUMENT", "MALFORMED_FIELD", field)
    unknown = await refusal(house.ask("GetScoreSheet", pb.GetScoreSheetRequest(table_id="t1")))
    assert unknown == Refusal("NOT_FOUND", "UNKNOWN_TABLE")
    assert not (await house.ask("ListResults", pb.ListResultsRequest())).results


BAD_QUESTIONS = [
    ("GetScoreSheet", pb.GetScoreSheetRequest(), "table_id"),
    ("GetScoreSheet", pb.GetScoreSheetRequest(table_id="x" * 65), "table_id"),
    ("GetScoreSheet", pb.GetScoreSheetRequest(table_id="\0"), "table_id"),
    ("GetPlayerStatistics", pb.GetPlayerStatisticsRequest(player_id="x" * 65), "player_id"),
    ("GetPlayerStatistics", pb.GetPlayerStatisticsRequest(player_id="\0"), "player_id"),
    ("GetLeaderboard", pb.GetLeaderboardRequest(), "game"),
    ("GetLeaderboard", pb.GetLeaderboardRequest(game="x" * 33), "game"),
    ("GetLeaderboard", pb.GetLeaderboardRequest(game="solo", page_size=101), "page_size"),
    ("GetLeaderboard", pb.GetLeaderboardRequest(game="solo", page_token="elsewhere"), "page_token"),
    ("ListResults", pb.ListResultsRequest(game="x" * 33), "game"),
    ("ListResults", pb.ListResultsRequest(player_id="x" * 65), "player_id"),
    ("ListResults", pb.ListResultsRequest(player_id="\0"), "player_id"),
    ("ListResults", pb.ListResultsRequest(page_size=4_294_967_295), "page_size"),
    ("ListResults", pb.ListResultsRequest(page_token="elsewhere"), "page_token"),
]


async def test_bad_questions_are_refused(house: House) -> None:
    for method, request, field in BAD_QUESTIONS:
        refused = await refusal(house.ask(method, request))
        assert (refused.code, refused.field) == ("INVALID_ARGUMENT", field)
