"""Translation between the contract's messages and the ledger's values, with the checks of requests."""

from collections.abc import Sequence
from itertools import chain

from google.protobuf.timestamp_pb2 import Timestamp

from croupier.runtime.errors import decode_id, invalid_field
from croupier.runtime.steps import in_steps
from croupier.runtime.table_access import MAX_REMOVED_PLAYERS, TableAccess, Visibility
from croupier.runtime.table_access_codec import decode_access
from croupier.scoring.ledger import Result, Round, ScoreSheet, Seat, SeatConduct, SeatCount, Sheet
from croupier.scoring.standings import Standing, Statistics
from croupier.scoring.standings_store import LeaderboardEntry
from croupier_api.v1 import facts_pb2, games_pb2, tables_pb2
from croupier_api.v1 import scoring_pb2 as pb
from croupier_internal.v1 import scoring_control_pb2

MAX_GAME_ID_CHARACTERS = 32
MAX_NAME_CODE_POINTS = 160
MAX_SEATS = 30
MAX_ROUND = 10_000
MAX_PHRASES = 16
MAX_DETAILS = 64
MAX_TEXTS_BYTES = 16_384
MAX_COUNTS = 64
MAX_AMOUNT = 10_000
ROUNDS_STEP = 12
"""Rounds of a score sheet that are decoded and encoded in one step of the event loop."""
MAX_SECONDS = 253_402_300_799
"""The last second of a Timestamp: the end of the year 9999."""


def decode_text(field: str, value: str, max_characters: int) -> str:
    """Return the value; raises MalformedRequest if it is too long or contains NUL."""
    if len(value) > max_characters or "\0" in value:
        raise invalid_field(field, f"invalid {field}: expected at most {max_characters} characters, none of them NUL")
    return value


def decode_round(request: scoring_control_pb2.RecordRoundRequest) -> tuple[Sheet, Round]:
    """Return the round to record; raises MalformedRequest."""
    sheet = _decode_sheet("", request.table_id, request.game, request.seats, _decode_access(request))
    score = request.score
    if not 1 <= score.round <= MAX_ROUND:
        raise invalid_field("score.round", f"invalid score.round {score.round}: expected 1 to {MAX_ROUND}")
    points = _decode_by_seat("score.points", score.points, sheet)
    totals = _decode_by_seat("score.totals", score.totals, sheet)
    texts = _decode_texts(score, sheet)
    _check_length("score.counts", len(score.counts), MAX_COUNTS)
    counts = tuple(_decode_count(f"score.counts[{number}]", count, sheet) for number, count in enumerate(score.counts))
    return sheet, Round(score.round, points, totals, texts, counts)


def _decode_texts(score: facts_pb2.RoundScore, sheet: Sheet) -> bytes:
    """Return notes, headline and details in their encoded form: clients show them, scoring only bounds them."""
    texts = facts_pb2.RoundScore(notes=score.notes, headline=score.headline, details=score.details)
    if texts.ByteSize() > MAX_TEXTS_BYTES:
        found, expected = f"{texts.ByteSize()} bytes", f"at most {MAX_TEXTS_BYTES}"
        raise invalid_field("score", f"invalid notes, headline and details of {found}: expected {expected}")
    _check_none_or_by_seat("score.notes", len(score.notes), sheet)
    for seat, note in enumerate(score.notes):
        _check_phrases(f"score.notes[{seat}]", note.phrases)
    _check_phrases("score.headline", score.headline)
    _check_length("score.details", len(score.details), MAX_DETAILS)
    for number, detail in enumerate(score.details):
        _check_value(f"score.details[{number}]", detail.name, detail.value)
    return texts.SerializeToString(deterministic=True)


def _check_phrases(field: str, phrases: Sequence[facts_pb2.Phrase]) -> None:
    _check_length(field, len(phrases), MAX_PHRASES)
    for number, phrase in enumerate(phrases):
        decode_id(f"{field}[{number}].word", phrase.word)
        for parameter in phrase.parameters:
            _check_value(f"{field}[{number}].parameters", parameter.name, parameter.value)


def _check_value(field: str, name: str, value: facts_pb2.Value) -> None:
    decode_id(f"{field}.name", name)
    if value.HasField("word"):
        decode_id(f"{field}.value.word", value.word)


def _check_length(field: str, length: int, maximum: int) -> None:
    if length > maximum:
        raise invalid_field(field, f"invalid {field} of length {length}: expected at most {maximum}")


def _decode_count(path: str, count: facts_pb2.SeatCount, sheet: Sheet) -> SeatCount:
    decode_id(f"{path}.name", count.name)
    if count.seat >= len(sheet.seats):
        expected = f"0 to {len(sheet.seats) - 1}"
        raise invalid_field(f"{path}.seat", f"invalid {path}.seat {count.seat}: expected {expected}")
    if not 1 <= count.amount <= MAX_AMOUNT:
        raise invalid_field(f"{path}.amount", f"invalid {path}.amount {count.amount}: expected 1 to {MAX_AMOUNT}")
    return SeatCount(count.name, count.seat, count.amount)


def decode_result(request: scoring_control_pb2.RecordResultRequest) -> tuple[Sheet, Result, Standing | None]:
    """Return the result to record, and how results of the game count; None from an engine of an earlier version.

    Raises MalformedRequest.
    """
    result = request.result
    sheet = _decode_sheet("result.", result.table_id, result.game, result.seats, _decode_access(request))
    ranking = tuple(tuple(sorted(group.seats)) for group in result.ranking)
    if not all(ranking) or sorted(chain(*ranking)) != list(range(len(sheet.seats))):
        expected = f"each seat from 0 to {len(sheet.seats) - 1} once, and no empty group"
        raise invalid_field("result.ranking", f"invalid result.ranking: expected {expected}")
    totals = _decode_by_seat("result.totals", result.totals, sheet)
    _check_none_or_by_seat("result.conduct", len(result.conduct), sheet)
    conduct = tuple(SeatConduct(one.timeouts, one.finished_by_engine, one.left) for one in result.conduct)
    end_milliseconds = result.end_time.seconds * 1000 + result.end_time.nanos // 1_000_000
    if not 0 < end_milliseconds <= MAX_SECONDS * 1000:
        raise invalid_field("result.end_time", "invalid result.end_time: expected a time from 1970 to 9999")
    standing = _decode_standing(request.standing) if request.HasField("standing") else None
    outcomes = _decode_outcomes(result, sheet, standing)
    recorded = Result(ranking, totals, end_milliseconds, conduct, result.is_void, outcomes=outcomes)
    return sheet, recorded, standing


def _decode_standing(message: games_pb2.Standing) -> Standing:
    order = message.leaderboard
    match [decode_id("standing.outcomes", outcome) for outcome in message.outcomes]:
        case [better, worse] if better != worse and order.counted == better:
            return Standing(
                (better, worse),
                has_winners=bool(message.winning_outcomes),
                figure=decode_id("standing.leaderboard.figure", order.figure),
                is_share=bool(order.of),
                places_decide="average_place" in order.tie_breakers,
            )
    expected = "two different outcomes, of which the leaderboard counts the first"
    raise invalid_field("standing.outcomes", f"invalid standing.outcomes: expected {expected}")


def _decode_outcomes(result: pb.GameResult, sheet: Sheet, standing: Standing | None) -> tuple[str, ...]:
    _check_none_or_by_seat("result.outcomes", len(result.outcomes), sheet)
    allowed = standing.outcomes if standing is not None and not result.is_void else ()
    for seat, outcome in enumerate(result.outcomes):
        if outcome not in allowed:
            field, expected = f"result.outcomes[{seat}]", " or ".join(allowed) or "none"
            raise invalid_field(field, f"invalid {field}: expected {expected}")
    return tuple(result.outcomes)


def _decode_access(
    request: scoring_control_pb2.RecordRoundRequest | scoring_control_pb2.RecordResultRequest,
) -> TableAccess:
    """Return the access to a table, which is seated if it is unset; raises MalformedRequest."""
    _check_length("removed_player_ids", len(request.removed_player_ids), MAX_REMOVED_PLAYERS)
    removed = [decode_id("removed_player_ids", player_id) for player_id in request.removed_player_ids]
    seated = Visibility.SEATED
    return decode_access(request.access, seated, removed_players=removed, is_matched=request.is_matched)


def _decode_sheet(
    path: str, table_id: str, game: str, seats: Sequence[tables_pb2.PlayedSeat], access: TableAccess
) -> Sheet:
    decode_id(f"{path}table_id", table_id)
    decode_id(f"{path}game", game, MAX_GAME_ID_CHARACTERS)
    field = f"{path}seats"
    if not 1 <= len(seats) <= MAX_SEATS:
        raise invalid_field(field, f"invalid {field} of length {len(seats)}: expected 1 to {MAX_SEATS}")
    occupants = tuple(_decode_seat(f"{field}[{number}]", seat) for number, seat in enumerate(seats))
    player_ids = [seat.player_id for seat in occupants if not seat.bot]
    if len(set(player_ids)) != len(player_ids):
        raise invalid_field(field, f"invalid {field}: expected each player once")
    return Sheet(table_id, game, occupants, access)


def _decode_seat(path: str, seat: tables_pb2.PlayedSeat) -> Seat:
    if bool(seat.player_id) == bool(seat.bot):
        raise invalid_field(path, f"invalid {path}: expected either player_id or bot")
    decode_id(f"{path}.bot" if seat.bot else f"{path}.player_id", seat.bot or seat.player_id)
    return Seat(seat.player_id, decode_text(f"{path}.name", seat.name, MAX_NAME_CODE_POINTS), seat.bot)


def _check_none_or_by_seat(field: str, length: int, sheet: Sheet) -> None:
    if length not in (0, len(sheet.seats)):
        expected = f"none, or one for each of {len(sheet.seats)} seats"
        raise invalid_field(field, f"invalid {field} of length {length}: expected {expected}")


def _decode_by_seat(field: str, values: Sequence[int], sheet: Sheet) -> tuple[int, ...]:
    if len(values) != len(sheet.seats):
        raise invalid_field(
            field, f"invalid {field} of length {len(values)}: expected one for each of {len(sheet.seats)} seats"
        )
    return tuple(values)


async def encode_score_sheet(score_sheet: ScoreSheet) -> bytes:
    """Return the encoded GetScoreSheetResponse of a score sheet, made in steps: the parts of a message, joined."""
    sheet = score_sheet.sheet
    head = pb.GetScoreSheetResponse(
        table_id=sheet.table_id,
        game=sheet.game,
        seats=_encode_seats(sheet),
        result=encode_result(sheet, score_sheet.result) if score_sheet.result else None,
    )
    parts = [head.SerializeToString()]
    async for score in in_steps(score_sheet.rounds(), ROUNDS_STEP):
        parts.append(pb.GetScoreSheetResponse(rounds=[_encode_round(score)]).SerializeToString())  # noqa: PERF401
    return b"".join(parts)


def _encode_round(score: Round) -> facts_pb2.RoundScore:
    message = facts_pb2.RoundScore(
        round=score.number,
        points=score.points,
        totals=score.totals,
        counts=[facts_pb2.SeatCount(name=name, seat=seat, amount=amount) for name, seat, amount in score.counts],
    )
    message.MergeFromString(score.texts)
    return message


def encode_result(sheet: Sheet, result: Result) -> pb.GameResult:
    """Return the message of a result."""
    end_time = Timestamp()
    end_time.FromMilliseconds(result.end_milliseconds)
    return pb.GameResult(
        table_id=sheet.table_id,
        game=sheet.game,
        seats=_encode_seats(sheet),
        ranking=[facts_pb2.RankGroup(seats=group) for group in result.ranking],
        totals=result.totals,
        end_time=end_time,
        is_void=result.is_void,
        conduct=[
            pb.SeatConduct(timeouts=timeouts, finished_by_engine=finished_by_engine, left=left)
            for timeouts, finished_by_engine, left in result.conduct
        ],
        ranked_seats=[seat for seat, one in enumerate(sheet.seats) if result.is_ranked and not one.bot],
        outcomes=result.outcomes,
    )


def _encode_seats(sheet: Sheet) -> list[tables_pb2.PlayedSeat]:
    return [tables_pb2.PlayedSeat(player_id=seat.player_id, name=seat.name, bot=seat.bot) for seat in sheet.seats]


def encode_statistics(statistics: Statistics) -> pb.GameStatistics:
    """Return the message of a player's statistics of one game."""
    figure = statistics.figure
    return pb.GameStatistics(
        game=statistics.game,
        games_finished=statistics.games_finished,
        games_won=statistics.games_won,
        win_rate=statistics.win_rate,
        average_place=statistics.average_place,
        counts=dict(statistics.counts),
        games_left=statistics.games_left,
        figure=None if figure is None else pb.Figure(name=statistics.standing.figure, value=figure),
        outcomes=statistics.outcomes,
    )


def encode_entry(position: int, entry: LeaderboardEntry) -> pb.LeaderboardEntry:
    """Return the message of a leaderboard's entry; equal players share a position, from 1."""
    return pb.LeaderboardEntry(
        position=position,
        player_id=entry.player_id,
        name=entry.name,
        statistics=encode_statistics(entry.statistics),
    )
