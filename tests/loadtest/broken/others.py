"""Defects of the lobby and of scoring."""

from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from typing import Any

from croupier.lobby import codec as lobby_codec
from croupier.lobby.engine_channel import EngineChannel
from croupier.lobby.engine_port import GameDescription
from croupier.lobby.games import GameCatalogue
from croupier.lobby.matching import Matching
from croupier.lobby.servicer import LobbyServicer
from croupier.lobby.tables import Seat, Table
from croupier.runtime.errors import Unavailable
from croupier.scoring import codec as scoring_codec
from croupier.scoring.ledger import Ledger, Result, Round, Sheet
from croupier.scoring.metrics import LedgerMetrics
from croupier_api.v1 import lobby_pb2, scoring_pb2
from tests.loadtest.broken.defect import Every, named, put

# The lobby


def drop_client_seeds() -> None:
    """What players add to the shuffles does not reach the engine."""
    open_table = EngineChannel.open_table

    async def dropping(one: EngineChannel, table_id: str, seats: Sequence[Seat]) -> None:
        await open_table(one, table_id, [replace(seat, client_seed=b"") for seat in seats])

    put(EngineChannel, "open_table", dropping)


def show_other_commitments() -> None:
    """Tables show the commitment of another seed than the engine's."""
    write_table = lobby_codec.write_table

    def other(table: Table, viewer_id: str) -> lobby_pb2.Table:
        shown = write_table(table, viewer_id)
        shown.commitment = shown.commitment[::-1]
        return shown

    put(lobby_codec, "write_table", other)


def count_matches_twice() -> None:
    """A match is counted once more when its table is taken to the engine."""
    open_table = Matching._open

    async def counting(one: Matching, table: Table) -> None:
        one._metrics.matches.labels(table.game).inc()
        await open_table(one, table)

    put(Matching, "_open", counting)


def crash_in_matching() -> None:
    """Every fourth wish for a game fails with a fault of the program."""
    quick_match, is_time = LobbyServicer.QuickMatch, Every(4)

    async def crashing(
        one: LobbyServicer, request: lobby_pb2.QuickMatchRequest, context: Any
    ) -> AsyncIterator[lobby_pb2.QuickMatchResponse]:
        if is_time():
            raise KeyError(request.game)
        async for news in quick_match(one, request, context):
            yield news

    put(LobbyServicer, "QuickMatch", crashing)


def fail_now_and_then() -> None:
    """Every fifth sign-in or look at a table fails, and goes well when it is tried again."""
    is_time = Every(5)
    for name in ("SignIn", "GetTable"):
        _let_fail(name, is_time)


def _let_fail(name: str, is_time: Every) -> None:
    method = getattr(LobbyServicer, name)

    async def failing(one: LobbyServicer, request: Any, context: Any) -> Any:
        if is_time():
            raise Unavailable("BUSY", "the lobby is busy: try again", retry_after_seconds=0.01)
        return await method(one, request, context)

    put(LobbyServicer, name, failing)


def offer_later_rules() -> None:
    """The lobby offers a later version of all games."""
    all_games = GameCatalogue.all

    async def later(one: GameCatalogue) -> Sequence[GameDescription]:
        return [replace(game, rules_version=game.rules_version + 1) for game in await all_games(one)]

    put(GameCatalogue, "all", later)


LOBBY = named(
    "lobby",
    (
        drop_client_seeds,
        show_other_commitments,
        count_matches_twice,
        crash_in_matching,
        fail_now_and_then,
        offer_later_rules,
    ),
)

# Scoring


def swap_points() -> None:
    """Score sheets show the points of a round for the seats in reverse order."""
    write_round = scoring_codec._write_round

    def reverse(entry: Round) -> scoring_pb2.SheetRound:
        line = write_round(entry)
        points = list(reversed(line.points))
        del line.points[:]
        line.points.extend(points)
        return line

    put(scoring_codec, "_write_round", reverse)


def lose_results() -> None:
    """Results are taken and not entered."""

    async def losing(_: Ledger, __: Sheet, ___: Result) -> bool:
        return True

    put(Ledger, "enter_result", losing)


def count_no_results() -> None:
    """Results are not counted."""
    count = LedgerMetrics.count

    def counting(one: LedgerMetrics, kind: Any, outcome: Any) -> None:
        if kind == "round":
            count(one, kind, outcome)

    put(LedgerMetrics, "count", counting)


SCORING = named("scoring", (swap_points, lose_results, count_no_results))
