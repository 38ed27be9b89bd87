"""The end of a game by the rules, or, of a game whose rules the judge does not know, by what the services say of it."""

from collections.abc import Sequence
from typing import NamedTuple

from croupier_api.v1 import scoring_pb2
from croupier_loadtest.judge.replay import Replay
from croupier_loadtest.judge.rules.interface import Round, Standing
from croupier_loadtest.judge.rules.registry import standing_of
from croupier_loadtest.judge.verification import Verification
from croupier_loadtest.record import DescribedGame


class GameEnd(NamedTuple):
    """The result of a finished game: groups of seats, best first, totals by seat, all rounds, and outcomes by seat."""

    ranking: list[list[int]]
    totals: list[int]
    rounds: Sequence[Round]
    outcomes: Sequence[str]
    """Empty if the game counts for no seat."""
    standing: Standing


def game_end(
    game: str,
    verification: Verification | None,
    replay: Replay | None,
    sheet: scoring_pb2.GetScoreSheetResponse | None,
    described: DescribedGame,
) -> GameEnd | None:
    """Return the end of a game; None if it is not over, or not known.

    Without rules it is that of the replay, and only the score sheet has the outcomes.
    """
    standing = standing_of(game) or described.standing
    if verification is not None:
        ranking, outcomes = verification.ranking, verification.outcomes
        totals = verification.positions[-1].scores if verification.positions else []
        return GameEnd(ranking, totals, verification.rounds, outcomes, standing) if ranking is not None else None
    if replay is None or replay.result is None or sheet is None or not sheet.HasField("result"):
        return None
    ranking, totals = replay.result["ranking"], replay.result["totals"]
    return GameEnd(ranking, totals, replay.rounds, list(sheet.result.outcomes), standing)
