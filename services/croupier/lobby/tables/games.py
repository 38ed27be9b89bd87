"""The games that the engine offers."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

from croupier.lobby.tables.engine_port import EnginePort, GameDescription, OfferedGames, Preset
from croupier.runtime.errors import MalformedRequest, ServiceError, Unavailable, invalid_field
from croupier.runtime.translations import ENGLISH
from croupier_api.v1 import errors_pb2

MAX_AGE_MILLISECONDS = 60_000
MAX_AGE_OF_REFUSALS_MILLISECONDS = 1_000
"""The list by which something is refused, and any list during a roll-out, is newer."""


class Answer(NamedTuple):
    """The games that an engine described at a time."""

    at: int
    offered: OfferedGames


@dataclass(slots=True)
class GameRegistry:
    """A cache of the engine's games by language, at most a minute old except while the engine is unavailable.

    During a roll-out engines know different games. What the one that was asked does not know is then not refused for
    good, but with Unavailable.
    """

    engine: EnginePort
    clock: Callable[[], int]
    _answers: dict[tuple[int, str], Answer] = field(default_factory=dict)
    """By number of seats and language: 0 and numbers that a game has, no others, which players choose."""

    async def list_games(self, seat_count: int = 0, language: str = ENGLISH) -> OfferedGames:
        """Return the games in the order to show them, with their options for a number of seats, in one of LANGUAGES.

        With 0 these are the options for the greatest number of each game, otherwise games without this number are left
        out. Raises Unavailable if the engine has never described them.
        """
        all_games = await self._offered(0, MAX_AGE_MILLISECONDS, language)
        if not seat_count:
            return all_games
        if not any(game.has_seats(seat_count) for game in all_games.games):
            return all_games._replace(games=())
        return await self._offered(seat_count, MAX_AGE_MILLISECONDS, language)

    async def _offered(self, seat_count: int, max_age_milliseconds: int, language: str = ENGLISH) -> OfferedGames:
        now, asked = self.clock(), (seat_count, language)
        answer = self._answers.get(asked)
        if answer and answer.offered.is_rolling_out:
            max_age_milliseconds = MAX_AGE_OF_REFUSALS_MILLISECONDS
        # An age below zero is that of a clock that was set back.
        if answer is None or not 0 <= now - answer.at < max_age_milliseconds:
            try:
                answer = self._answers[asked] = Answer(now, await self.engine.describe_games(*asked))
            except Unavailable:
                if answer is None:
                    raise
        return answer.offered

    async def find(self, game: str, suffices: Callable[[GameDescription], bool] = lambda _: True) -> GameDescription:
        """Return a game by id, from a new list unless it suffices as it is known.

        Raises MalformedRequest if there is none, and Unavailable as `_refusal` says.
        """
        for max_age_milliseconds in (MAX_AGE_MILLISECONDS, MAX_AGE_OF_REFUSALS_MILLISECONDS):
            offered = await self._offered(0, max_age_milliseconds)
            known = {description.game: description for description in offered.games}
            if game in known and suffices(known[game]):
                break
        if game not in known:
            text = f"invalid game {game!r}: expected one of {', '.join(known)}"
            raise self._refusal(MalformedRequest(errors_pb2.ERROR_REASON_UNKNOWN_GAME, text, field="game"))
        return known[game]

    def _refusal(self, refusal: MalformedRequest) -> ServiceError:
        """Return a refusal of what the engine does not know; Unavailable during a roll-out: another may know it."""
        if not self._answers[0, ENGLISH].offered.is_rolling_out:
            return refusal
        message = f"{refusal.message}; another engine may know it: try again"
        return Unavailable(errors_pb2.ERROR_REASON_TABLE_TOO_NEW, message, retry_after_seconds=1)

    async def check_seat_count(self, game: str, seat_count: int) -> None:
        """Raise MalformedRequest for an unknown game, or a number of seats that it does not have."""
        description = await self.find(game, lambda known: known.has_seats(seat_count))
        if not description.has_seats(seat_count):
            expected = f"{description.min_seats} to {description.max_seats}"
            text = f"invalid seat_count {seat_count}: expected {expected} for {game}"
            raise self._refusal(invalid_field("seat_count", text))

    async def find_preset(self, game: str, preset: str) -> Preset:
        """Return a preset of a game; raises MalformedRequest if there is none."""
        presets = (await self.find(game, lambda known: preset in known.presets)).presets
        if preset not in presets:
            expected = f"expected one of {', '.join(presets)}" if presets else f"{game} has no presets"
            raise self._refusal(invalid_field("preset", f"invalid preset {preset!r}: {expected}"))
        return presets[preset]

    async def choose_bot(self, game: str, bot: str, field: str = "bot") -> str:
        """Return a kind of bot, by default the first; raises MalformedRequest if the game does not have it."""
        kinds = (await self.find(game, lambda known: bool(known.bots) and bot in ("", *known.bots))).bots
        if kinds and bot in ("", *kinds):
            return bot or kinds[0]
        expected = f"expected one of {', '.join(kinds)}" if kinds else f"{game} has no bots"
        text = f"invalid bot {bot!r}: {expected}"
        raise self._refusal(MalformedRequest(errors_pb2.ERROR_REASON_UNKNOWN_BOT, text, field=field))
