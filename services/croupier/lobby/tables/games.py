"""The games that the engine offers."""

from collections.abc import Callable
from dataclasses import dataclass, field

from croupier.lobby.tables.engine_port import EnginePort, GameDescription, Preset
from croupier.runtime.errors import MalformedRequest, Unavailable, invalid_field
from croupier_api.v1 import errors_pb2

MAX_AGE_MILLISECONDS = 60_000


@dataclass(slots=True)
class GameRegistry:
    """A cache of the engine's games, at most a minute old except while the engine is unavailable."""

    engine: EnginePort
    clock: Callable[[], int]
    _described: dict[int, tuple[int, tuple[GameDescription, ...]]] = field(default_factory=dict)
    """By number of seats the games and the time of their description."""

    async def list_games(self, seat_count: int = 0) -> tuple[GameDescription, ...]:
        """Return the games in the order to show them, with their options for a number of seats.

        With 0 these are the options for the greatest number of each game, otherwise games without this number are left
        out. Raises Unavailable if the engine has never described them.
        """
        if seat_count and not any(game.has_seats(seat_count) for game in await self.list_games()):
            return ()
        now = self.clock()
        described, games = self._described.get(seat_count, (None, ()))
        # An age below zero is that of a clock that was set back.
        if described is None or not 0 <= now - described < MAX_AGE_MILLISECONDS:
            try:
                games = await self.engine.describe_games(seat_count)
                self._described[seat_count] = now, games
            except Unavailable:
                if described is None:
                    raise
        return games

    async def find(self, game: str) -> GameDescription:
        """Return a game by id; raises MalformedRequest if there is none."""
        games = await self.list_games()
        for description in games:
            if description.game == game:
                return description
        known = ", ".join(description.game for description in games)
        raise MalformedRequest(
            errors_pb2.ERROR_REASON_UNKNOWN_GAME, f"invalid game {game!r}: expected one of {known}", field="game"
        )

    async def check_seat_count(self, game: str, seat_count: int) -> None:
        """Raise MalformedRequest for an unknown game, or a number of seats that it does not have."""
        description = await self.find(game)
        if not description.has_seats(seat_count):
            expected = f"{description.min_seats} to {description.max_seats}"
            raise invalid_field("seat_count", f"invalid seat_count {seat_count}: expected {expected} for {game}")

    async def find_preset(self, game: str, preset: str) -> Preset:
        """Return a preset of a game; raises MalformedRequest if there is none."""
        presets = (await self.find(game)).presets
        if preset not in presets:
            expected = f"expected one of {', '.join(presets)}" if presets else f"{game} has no presets"
            raise invalid_field("preset", f"invalid preset {preset!r}: {expected}")
        return presets[preset]

    async def choose_bot(self, game: str, bot: str, field: str = "bot") -> str:
        """Return a kind of bot, by default the first; raises MalformedRequest if the game does not have it."""
        kinds = (await self.find(game)).bots
        if kinds and bot in ("", *kinds):
            return bot or kinds[0]
        expected = f"expected one of {', '.join(kinds)}" if kinds else f"{game} has no bots"
        raise MalformedRequest(errors_pb2.ERROR_REASON_UNKNOWN_BOT, f"invalid bot {bot!r}: {expected}", field=field)
