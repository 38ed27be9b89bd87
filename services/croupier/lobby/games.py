"""The games that the engine offers, asked for now and then."""

from collections.abc import Callable
from dataclasses import dataclass, field

from croupier.lobby.engine_port import EnginePort, GameDescription
from croupier.runtime.errors import MalformedRequest, Unavailable

KEPT_MILLISECONDS = 60_000


@dataclass(slots=True)
class GameCatalogue:
    """The engine's games; a minute old at most, older only while the engine is silent."""

    engine: EnginePort
    clock: Callable[[], int]
    _games: tuple[GameDescription, ...] = ()
    _asked_milliseconds: int | None = field(default=None)

    async def all(self) -> tuple[GameDescription, ...]:
        """The games in the order to show them; raises Unavailable if they were never heard of."""
        now = self.clock()
        if self._asked_milliseconds is None or now - self._asked_milliseconds >= KEPT_MILLISECONDS:
            try:
                self._games = await self.engine.describe_games()
                self._asked_milliseconds = now
            except Unavailable:
                if self._asked_milliseconds is None:
                    raise
        return self._games

    async def find(self, game: str, field_name: str = "game") -> GameDescription:
        """A game by id; raises MalformedRequest if there is none."""
        games = await self.all()
        for description in games:
            if description.game == game:
                return description
        known = ", ".join(description.game for description in games)
        raise MalformedRequest("UNKNOWN_GAME", f"there is no game {game!r}: {known} can be played", field=field_name)

    async def check_seats(self, game: str, seats: int) -> None:
        """Raises MalformedRequest for a game that there is not, or that is not for so many."""
        description = await self.find(game)
        if not description.min_seats <= seats <= description.max_seats:
            raise MalformedRequest(
                "SEATS",
                f"seats is {seats}: {game} is for {description.min_seats} to {description.max_seats}",
                field="seats",
                metadata={"game": game},
            )

    async def bot(self, game: str, bot: str) -> str:
        """A kind of computer player, the best for an empty one; raises MalformedRequest if the game has it not."""
        kinds = (await self.find(game)).bots
        if not kinds:
            raise MalformedRequest("UNKNOWN_BOT", f"{game} has no computer players", field="bot")
        if bot and bot not in kinds:
            raise MalformedRequest("UNKNOWN_BOT", f"bot is {bot!r}: {game} has {', '.join(kinds)}", field="bot")
        return bot or kinds[0]
