"""The games as the services describe them, which is all that the judge knows of a game without rules of its own."""

import re

from croupier_api.v1 import games_pb2
from croupier_client import Client
from croupier_loadtest.judge.rules.interface import Standing
from croupier_loadtest.record import DescribedGame

_ANCHOR = re.compile(r'<a id="([^"]+)">')
"""The beginning of a rule on a rules page."""
_PLACE = "average_place"


async def read_game(client: Client, game: str) -> DescribedGame:
    """Return a game as the services describe it; raises CroupierError."""
    description = next(one for one in (await client.list_games()).games if one.game == game)
    return described_game(description, (await client.get_rules(game=game)).markdown)


def described_game(description: games_pb2.GameDescription, page: str) -> DescribedGame:
    """Return a game by its description and its rules page."""
    return DescribedGame(
        rules_version=description.rules_version,
        deck={face.notation: face.number for face in description.deck},
        standing=_standing(description.standing),
        rules=frozenset(_ANCHOR.findall(page)),
    )


def _standing(described: games_pb2.Standing) -> Standing:
    better, worse = described.outcomes
    return Standing(
        better,
        worse,
        has_winners=bool(described.winning_outcomes),
        figure=described.leaderboard.figure,
        is_share=bool(described.leaderboard.of),
        places_matter=_PLACE in described.leaderboard.tie_breakers,
    )
