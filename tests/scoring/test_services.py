"""Both services over gRPC on loopback: answers, pages and refusals."""

from collections.abc import Sequence
from typing import Any, TypeVar

import pytest
from google.protobuf.message import Message
from google.protobuf.timestamp_pb2 import Timestamp

from croupier.runtime.paging import encode_page_token
from croupier.scoring.codec import decode_round
from croupier_api.v1 import facts_pb2, games_pb2, tables_pb2
from croupier_api.v1 import scoring_pb2 as pb
from croupier_internal.v1 import scoring_control_pb2 as control_pb
from tests.contract.deployment import bot_seat, person
from tests.scoring.deployment import (
    ANNA_AND_BEN,
    END_MILLISECONDS,
    PUBLIC,
    ScoringHarness,
    listed,
    result_entry,
    round_entry,
)
from tests.serving import Refusal, refusal

WON_ONE = pb.Figure(name="games_won", value=1)


async def test_a_score_sheet_has_its_rounds_in_order_and_the_result(harness: ScoringHarness) -> None:
    for number in (2, 1):
        await harness.record(round_entry(number=number))
    before = await harness.ask("GetScoreSheet", pb.GetScoreSheetRequest(table_id="t1"))
    assert not before.HasField("result")
    await harness.record(result_entry())
    sheet = await harness.ask("GetScoreSheet", pb.GetScoreSheetRequest(table_id="t1"))
    result = listed(result_entry())
    expected = pb.GetScoreSheetResponse(table_id="t1", game="jossing", seats=ANNA_AND_BEN, result=result)
    expected.rounds.extend(round_entry(number=number).score for number in (1, 2))
    assert sheet == expected


async def test_the_order_within_a_group_of_a_ranking_has_no_meaning(harness: ScoringHarness) -> None:
    await harness.record(result_entry(ranking=((1, 0),)))
    await harness.record(result_entry(ranking=((0, 1),)))
    sheet = await harness.ask("GetScoreSheet", pb.GetScoreSheetRequest(table_id="t1"))
    assert list(sheet.result.ranking[0].seats) == [0, 1]


async def test_statistics_of_the_caller_and_of_others(harness: ScoringHarness) -> None:
    await harness.record(result_entry("t1"))
    await harness.record(result_entry("t2", ranking=((1,), (0,))))
    await harness.record(result_entry("t3", ranking=((0, 1),), game="110"))
    own = await harness.ask("GetPlayerStatistics", pb.GetPlayerStatisticsRequest(), "anna")
    jossing = pb.GameStatistics(game="jossing", games_finished=2, games_won=1, win_rate=0.5, average_place=1.5)
    one_ten = pb.GameStatistics(game="110", games_finished=1, games_won=1, win_rate=1.0, average_place=1.0)
    for statistics, lost in ((jossing, 1), (one_ten, 0)):
        statistics.MergeFrom(pb.GameStatistics(figure=WON_ONE, outcomes={"won": 1, "lost": lost}))
    assert own == pb.GetPlayerStatisticsResponse(player_id="anna", games=[one_ten, jossing])
    me = pb.GetPlayerStatisticsRequest(player_id="me")
    assert await harness.ask("GetPlayerStatistics", me, "anna") == own
    by_me = await harness.ask("ListResults", pb.ListResultsRequest(player_id="me"), "anna")
    assert [result.table_id for result in by_me.results] == ["t3", "t2", "t1"]
    assert not (await harness.ask("ListResults", pb.ListResultsRequest(player_id="me"), "carl")).results
    named = pb.GetPlayerStatisticsRequest(player_id="anna")
    assert await harness.ask("GetPlayerStatistics", named, "ben") == own
    without_games = pb.GetPlayerStatisticsRequest(player_id="carl")
    assert await harness.ask("GetPlayerStatistics", without_games) == pb.GetPlayerStatisticsResponse(player_id="carl")


async def test_a_round_of_maximum_size_is_recorded(harness: ScoringHarness) -> None:
    entry = round_with(
        headline=[phrase(f"{number:064}") for number in range(16)],
        details=[detail(f"{number:064}", word="x" * 64) for number in range(64)],
        counts=[count("x" * 64, seat=1, amount=10_000)] * 64,
    )
    for request in (entry, result_entry()):
        await harness.record(request)
    sheet = await harness.ask("GetScoreSheet", pb.GetScoreSheetRequest(table_id="t1"))
    assert sheet.rounds[:] == [entry.score]
    answer = await harness.ask("GetPlayerStatistics", pb.GetPlayerStatisticsRequest(player_id="ben"))
    assert dict(answer.games[0].counts) == {"x" * 64: 640_000}
    board = await harness.ask("GetLeaderboard", pb.GetLeaderboardRequest(game="jossing"))
    assert [dict(entry.statistics.counts) for entry in board.entries] == [{}, {"x" * 64: 640_000}]


def test_texts_of_a_later_version_are_kept_as_they_are() -> None:
    later = b"\xfa\x06\x03new"
    entry = round_with(details=[facts_pb2.Mark.FromString(detail("trump").SerializeToString() + later)])
    _, read = decode_round(entry)
    assert later in read.texts
    assert facts_pb2.RoundScore.FromString(read.texts).details[:] == entry.score.details[:]


SEATED = tables_pb2.TableAccess(visibility=tables_pb2.VISIBILITY_SEATED)


async def record_results(harness: ScoringHarness) -> None:
    carl_and_anna = (person("carl"), person("anna"))
    await harness.record(result_entry("a", end_milliseconds=END_MILLISECONDS + 1))
    await harness.record(result_entry("b", end_milliseconds=END_MILLISECONDS + 3, game="solo"))
    await harness.record(result_entry("c", end_milliseconds=END_MILLISECONDS + 2, seats=carl_and_anna))
    await harness.record(result_entry("d", end_milliseconds=END_MILLISECONDS + 2, seats=carl_and_anna))
    await harness.record(result_entry("e", end_milliseconds=END_MILLISECONDS, seats=(bot_seat(), bot_seat())))


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
async def test_results_are_listed_newest_first(
    harness: ScoringHarness, game: str, player_id: str, page_size: int, expected: list[str]
) -> None:
    await record_results(harness)
    request = pb.ListResultsRequest(game=game, player_id=player_id, page_size=page_size)
    pages: list[list[str]] = []
    # The limit of pages makes a listing without end fail.
    while (not pages or request.page_token) and len(pages) <= len(expected):
        page = await harness.ask("ListResults", request)
        pages.append([result.table_id for result in page.results])
        request.page_token = page.next_page_token
    assert [table_id for page in pages for table_id in page] == expected
    assert all(len(page) == page_size for page in pages[:-1])
    assert len(pages) == max(1, -(-len(expected) // page_size))


async def test_own_results_are_listed_in_pages_across_visibilities(harness: ScoringHarness) -> None:
    for number in range(7):
        result = result_entry(f"t{number}", end_milliseconds=END_MILLISECONDS + number)
        access = PUBLIC if number % 3 else SEATED
        await harness.record(control_pb.RecordResultRequest(result=result, access=access))
    request, seen = pb.ListResultsRequest(player_id="anna", page_size=2), []
    for _ in range(4):
        page = await harness.ask("ListResults", request)
        seen += [result.table_id for result in page.results]
        request.page_token = page.next_page_token
    assert seen == [f"t{number}" for number in reversed(range(7))]
    assert not request.page_token


async def test_a_void_result_is_listed_and_counts_nowhere(harness: ScoringHarness) -> None:
    void = altered(result_entry(), is_void=True)
    await harness.record(round_entry())
    await harness.record(void)
    assert (await harness.ask("ListResults", pb.ListResultsRequest())).results[:] == [void]
    assert not (await harness.ask("GetPlayerStatistics", pb.GetPlayerStatisticsRequest())).games
    assert not (await harness.ask("GetLeaderboard", pb.GetLeaderboardRequest(game="jossing"))).entries


async def test_a_repeated_entry_is_accepted_and_a_different_one_refused(harness: ScoringHarness) -> None:
    for _ in range(2):
        await harness.record(round_entry())
        await harness.record(result_entry())
    other_round = round_entry()
    other_round.score.points[0] += 1
    conflict = Refusal("ALREADY_EXISTS", "LEDGER_CONFLICT", "")
    assert await refusal(harness.record(other_round)) == conflict
    assert await refusal(harness.record(result_entry(ranking=((1,), (0,))))) == conflict
    for kind in ("round", "result"):
        assert [harness.entries(kind, outcome) for outcome in ("new", "repeated", "conflict")] == [1.0, 1.0, 1.0]
    assert (await harness.ask("ListResults", pb.ListResultsRequest())).results[:] == [listed(result_entry())]


Entry = TypeVar("Entry", bound=Message)


def altered(entry: Entry, **changes: Any) -> Entry:
    """Return the entry with some fields replaced."""
    for name, value in changes.items():
        entry.ClearField(name)
        entry.MergeFrom(type(entry)(**{name: value}))
    return entry


def round_with(**changes: Any) -> control_pb.RecordRoundRequest:
    """Return an entry of a round with some fields of its score replaced."""
    entry = round_entry()
    altered(entry.score, **changes)
    return entry


def phrase(word: str = "contract", argument: str = "contract", value: str = "solo") -> facts_pb2.Phrase:
    """Return a phrase with one argument, a word."""
    parameters = [facts_pb2.Parameter(name=argument, value=facts_pb2.Value(word=value))]
    return facts_pb2.Phrase(word=word, parameters=parameters)


def note(*words: str) -> facts_pb2.Note:
    return facts_pb2.Note(phrases=map(phrase, words))


def detail(name: str = "trump", word: str = "none", points: Sequence[int] = ()) -> facts_pb2.Mark:
    """Return a detail with a word, or with points if there are some."""
    value = facts_pb2.Value(points=facts_pb2.PointList(points=points)) if points else facts_pb2.Value(word=word)
    return facts_pb2.Mark(name=name, value=value)


def count(name: str = "bids_made", seat: int = 0, amount: int = 1) -> facts_pb2.SeatCount:
    return facts_pb2.SeatCount(name=name, seat=seat, amount=amount)


NO_TIMES = [Timestamp(seconds=seconds) for seconds in (-(2**63), -1, 0, 253_402_300_800, 2**63 - 1)]
UNKNOWN_ACCESS = tables_pb2.TableAccess(visibility=tables_pb2.Visibility.ValueType(9))
NEITHER = tables_pb2.PlayedSeat(name="No player")
BOTH = tables_pb2.PlayedSeat(player_id="anna", bot="random")
NO_WINNERS = games_pb2.Standing(
    outcomes=["escaped", "buck"],
    leaderboard=games_pb2.LeaderboardOrder(figure="escape_rate", counted="escaped", of=["escaped", "buck"]),
)


def with_outcomes(*outcomes: str, is_void: bool = False, **changes: Any) -> control_pb.RecordResultRequest:
    """Return a result with these outcomes, of a game without winners with some fields of its standing replaced."""
    result = altered(result_entry(), outcomes=outcomes, is_void=is_void)
    standing = games_pb2.Standing.FromString(NO_WINNERS.SerializeToString())
    return control_pb.RecordResultRequest(result=result, standing=altered(standing, **changes), access=PUBLIC)


INVALID_ENTRIES: list[tuple[control_pb.RecordRoundRequest | control_pb.RecordResultRequest | pb.GameResult, str]] = [
    (altered(round_entry(), table_id=""), "table_id"),
    (altered(round_entry(), table_id="x" * 65), "table_id"),
    (altered(round_entry(), table_id="a\0b"), "table_id"),
    (altered(round_entry(), game=""), "game"),
    (altered(round_entry(), game="x" * 33), "game"),
    (altered(round_entry(), seats=[]), "seats"),
    (round_entry(seats=(bot_seat(),) * 31), "seats"),
    (round_entry(seats=(person("anna"), person("anna"))), "seats"),
    (round_entry(seats=(person("anna"), NEITHER)), "seats[1]"),
    (round_entry(seats=(BOTH, person("ben"))), "seats[0]"),
    (round_entry(seats=(person("a" * 65), person("ben"))), "seats[0].player_id"),
    (round_entry(seats=(bot_seat("x" * 65), person("ben"))), "seats[0].bot"),
    (round_entry(seats=(person("anna"), person("ben", "B" * 161))), "seats[1].name"),
    (round_entry(seats=(person("anna"), person("ben", "B\0"))), "seats[1].name"),
    (control_pb.RecordRoundRequest(table_id="t1", game="solo", seats=ANNA_AND_BEN), "score.round"),
    (round_with(round=10_001), "score.round"),
    (round_with(points=[1]), "score.points"),
    (round_with(totals=[]), "score.totals"),
    (round_with(notes=[note("made")]), "score.notes"),
    (round_with(notes=[note(), note(*["made"] * 17)]), "score.notes[1]"),
    (round_with(notes=[note("made"), note("made", "")]), "score.notes[1][1].word"),
    (round_with(headline=[phrase()] * 17), "score.headline"),
    (round_with(headline=[phrase("x" * 65)]), "score.headline[0].word"),
    (round_with(headline=[phrase("a\0b")]), "score.headline[0].word"),
    (round_with(headline=[phrase(argument="")]), "score.headline[0].parameters.name"),
    (round_with(headline=[phrase(value="a\0b")]), "score.headline[0].parameters.value.word"),
    (round_with(details=[detail()] * 65), "score.details"),
    (round_with(details=[detail(), detail("")]), "score.details[1].name"),
    (round_with(details=[detail(word="x" * 65)]), "score.details[0].value.word"),
    (round_with(details=[detail(), detail(points=[1] * 16_384)]), "score"),
    (round_with(counts=[count()] * 65), "score.counts"),
    (round_with(counts=[count(), count("")]), "score.counts[1].name"),
    (round_with(counts=[count(seat=2)]), "score.counts[0].seat"),
    (round_with(counts=[count(amount=0)]), "score.counts[0].amount"),
    (round_with(counts=[count(amount=10_001)]), "score.counts[0].amount"),
    (pb.GameResult(), "result.table_id"),
    (altered(result_entry(), game=""), "result.game"),
    (altered(result_entry(), seats=[]), "result.seats"),
    (result_entry(seats=(person("anna"), NEITHER)), "result.seats[1]"),
    (result_entry(ranking=((0,),)), "result.ranking"),
    (result_entry(ranking=((0,), (1,), (1,))), "result.ranking"),
    (result_entry(ranking=((0,), (1, 2))), "result.ranking"),
    (result_entry(ranking=((0,), (), (1,))), "result.ranking"),
    (altered(result_entry(), totals=[1]), "result.totals"),
    (altered(result_entry(), conduct=[pb.SeatConduct()]), "result.conduct"),
    (altered(result_entry(), outcomes=["won", "lost"]), "result.outcomes[0]"),
    (with_outcomes("escaped"), "result.outcomes"),
    (with_outcomes("escaped", "lost"), "result.outcomes[1]"),
    (with_outcomes("escaped", "buck", is_void=True), "result.outcomes[0]"),
    (with_outcomes(outcomes=[]), "standing.outcomes"),
    (with_outcomes(outcomes=["escaped"]), "standing.outcomes"),
    (with_outcomes(outcomes=["escaped", "escaped"]), "standing.outcomes"),
    (with_outcomes(outcomes=["escaped", "x" * 65]), "standing.outcomes"),
    (with_outcomes(outcomes=["buck", "escaped"]), "standing.outcomes"),
    (with_outcomes(leaderboard=games_pb2.LeaderboardOrder(counted="escaped")), "standing.leaderboard.figure"),
    (altered(round_entry(), access=UNKNOWN_ACCESS), "access.visibility"),
    (altered(round_entry(), removed_player_ids=["anna"] * 65), "removed_player_ids"),
    (altered(round_entry(), removed_player_ids=["x" * 65]), "removed_player_ids"),
    *((altered(result_entry(), end_time=time), "result.end_time") for time in NO_TIMES),
]


async def test_a_game_without_winners_has_a_figure_and_no_win_rate(harness: ScoringHarness) -> None:
    await harness.record(with_outcomes("escaped", "buck"))
    (anna,) = (await harness.ask("GetPlayerStatistics", pb.GetPlayerStatisticsRequest(), "anna")).games
    figure, outcomes = pb.Figure(name="escape_rate", value=1.0), {"escaped": 1, "buck": 0}
    expected = pb.GameStatistics(game="jossing", games_finished=1, average_place=1.0, figure=figure, outcomes=outcomes)
    assert anna == expected
    sheet = await harness.ask("GetScoreSheet", pb.GetScoreSheetRequest(table_id="t1"))
    assert list(sheet.result.outcomes) == ["escaped", "buck"]


async def test_invalid_entries_name_the_field_and_are_not_recorded(harness: ScoringHarness) -> None:
    for entry, field in INVALID_ENTRIES:
        assert await refusal(harness.record(entry)) == Refusal("INVALID_ARGUMENT", "INVALID_FIELD", field)
    unknown = await refusal(harness.ask("GetScoreSheet", pb.GetScoreSheetRequest(table_id="t1")))
    assert unknown == Refusal("NOT_FOUND", "NO_SCORE_SHEET")
    assert not (await harness.ask("ListResults", pb.ListResultsRequest())).results


INVALID_QUERIES = [
    ("GetScoreSheet", pb.GetScoreSheetRequest(), "table_id"),
    ("GetPlayerStatistics", pb.GetPlayerStatisticsRequest(player_id="x" * 65), "player_id"),
    ("GetLeaderboard", pb.GetLeaderboardRequest(), "game"),
    ("GetLeaderboard", pb.GetLeaderboardRequest(game="x" * 33), "game"),
    ("GetLeaderboard", pb.GetLeaderboardRequest(game="solo", page_size=101), "page_size"),
    ("GetLeaderboard", pb.GetLeaderboardRequest(game="solo", page_token="elsewhere"), "page_token"),
    ("ListResults", pb.ListResultsRequest(game="x" * 33), "game"),
    ("ListResults", pb.ListResultsRequest(player_id="x" * 65), "player_id"),
    ("ListResults", pb.ListResultsRequest(player_id="\0"), "player_id"),
    ("ListResults", pb.ListResultsRequest(page_size=101), "page_size"),
]


async def test_invalid_queries_are_refused(harness: ScoringHarness) -> None:
    for method, request, field in INVALID_QUERIES:
        refused = await refusal(harness.ask(method, request))
        assert (refused.code, refused.field) == ("INVALID_ARGUMENT", field)


@pytest.mark.parametrize("size", [1, 2, 3, 100])
async def test_equal_players_share_a_position_across_the_pages_of_a_leaderboard(
    harness: ScoringHarness, size: int
) -> None:
    for number in range(4):
        seats = (person(f"first {number}"), person(f"second {number}"))
        await harness.record(result_entry(f"t{number}", seats=seats))
    with_bot = (person("first 0"), person("third"), bot_seat())
    await harness.record(result_entry("t4", ranking=((0,), (1,), (2,)), seats=with_bot))
    pages, request = list[pb.GetLeaderboardResponse](), pb.GetLeaderboardRequest(game="jossing", page_size=size)
    while not pages or request.page_token:
        pages.append(await harness.ask("GetLeaderboard", request))
        request.page_token = pages[-1].next_page_token
    entries = [entry for page in pages for entry in page.entries]
    assert [(entry.position, entry.player_id) for entry in entries] == [
        (1, "first 0"),
        *((2, f"first {number}") for number in (1, 2, 3)),
        *((5, f"second {number}") for number in range(4)),
        (5, "third"),
    ]
    assert len(pages) == -(-len(entries) // size)
    expected = pb.GameStatistics(game="jossing", games_finished=1, win_rate=0.0, average_place=2.0)
    expected.MergeFrom(pb.GameStatistics(figure=pb.Figure(name="games_won"), outcomes={"won": 0, "lost": 1}))
    assert (entries[-1].name, entries[-1].statistics) == (person("third").name, expected)


async def test_players_with_the_same_figure_share_a_position_where_places_do_not_count(harness: ScoringHarness) -> None:
    await harness.record(with_outcomes("escaped", "escaped"))
    request = pb.GetLeaderboardRequest(game="jossing", page_size=1)
    for player_id, place in (("anna", 1), ("ben", 2)):
        page = await harness.ask("GetLeaderboard", request)
        (line,) = page.entries
        assert (line.player_id, line.position, line.statistics.average_place) == (player_id, 1, place)
        request.page_token = page.next_page_token
    assert not request.page_token


async def test_the_leaderboard_of_a_game_is_empty_before_its_first_result_and_refused_for_an_unknown_game(
    harness: ScoringHarness,
) -> None:
    assert await harness.ask("GetLeaderboard", pb.GetLeaderboardRequest(game="solo")) == pb.GetLeaderboardResponse()
    newer = pb.GetLeaderboardRequest(game="of_newer_engines")
    assert await refusal(harness.ask("GetLeaderboard", newer)) == Refusal("INVALID_ARGUMENT", "UNKNOWN_GAME", "game")
    await harness.record(result_entry(game=newer.game))
    assert len((await harness.ask("GetLeaderboard", newer)).entries) == 2


REFUSED = Refusal("INVALID_ARGUMENT", "INVALID_PAGE_TOKEN", "page_token")


async def test_a_token_is_valid_for_its_own_query_only(harness: ScoringHarness) -> None:
    for number in range(2):
        await harness.record(result_entry(f"t{number}"))
    results = (await harness.ask("ListResults", pb.ListResultsRequest(page_size=1))).next_page_token
    board = (await harness.ask("GetLeaderboard", pb.GetLeaderboardRequest(game="jossing", page_size=1))).next_page_token
    for request in (
        pb.ListResultsRequest(page_token=board),
        pb.ListResultsRequest(page_token=results, game="jossing"),
        pb.ListResultsRequest(page_token=results, player_id="anna"),
    ):
        assert await refusal(harness.ask("ListResults", request)) == REFUSED
    for game, token in (("solo", board), ("jossing", results)):
        assert (
            await refusal(harness.ask("GetLeaderboard", pb.GetLeaderboardRequest(game=game, page_token=token)))
            == REFUSED
        )


@pytest.mark.parametrize(
    "cursor",
    [
        [1, 1, "anna", 1, 1, 10**400],
        [1, 1, "anna", 1, 1],
        [2**32, 1, "anna", 1, 1, 1],
        [1, 2**32, "anna", 1, 1, 1],
        [1, -1, "anna", 1, 1, 1],
    ],
)
async def test_a_forged_cursor_of_a_leaderboard_is_refused(harness: ScoringHarness, cursor: list[Any]) -> None:
    """Numbers must fit the database's columns; tests/runtime tests the other forgeries."""
    token = encode_page_token(("leaderboard", "solo"), cursor)
    call = harness.ask("GetLeaderboard", pb.GetLeaderboardRequest(game="solo", page_token=token))
    assert await refusal(call) == REFUSED
