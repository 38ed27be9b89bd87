"""The installed games as load tests play them: their own sampling says how (`croupier.games.sampling`)."""

from collections.abc import Mapping

from google.protobuf.json_format import MessageToJson

from croupier.engine.api.action_codec import encode_action
from croupier.games.interface import Game
from croupier.games.registry import installed_games
from croupier_loadtest.judge.rules.registry import judges
from croupier_loadtest.mix import MixEntry, Stalling, read_mix

QUICKEST_BOT = "random"
"""The bot that most games have and that decides at once."""
MAX_ACTION_SECONDS = 30
"""The time for an action with the slowest preset that is played."""


def installed_mix() -> Mapping[str, MixEntry]:
    """Return all installed games, by id; raises InvalidGames."""
    return {game_id: mix_entry(game) for game_id, game in installed_games().items()}


def chosen_games(mix: str) -> tuple[MixEntry, ...]:
    """Return the installed games that a mix names by id, or by name in upper or lower case; all for an empty mix.

    Raises ValueError with the cause, also if the games or the judges of packages cannot be used.
    """
    installed = installed_mix()
    judges()
    if not mix:
        return tuple(installed.values())
    ids = {game.name.casefold(): game_id for game_id, game in installed_games().items()}
    parts = (part.strip().partition("=") for part in mix.split(","))
    by_id = (f"{ids.get(name.casefold(), name)}{equals}{weight}" for name, equals, weight in parts)
    return read_mix(",".join(by_id), installed)


def mix_entry(game: Game) -> MixEntry:
    """Return a game with all its numbers of seats."""
    sampling = game.sampling
    presets = [preset for preset in game.presets if preset.action_seconds <= MAX_ACTION_SECONDS]
    return MixEntry(
        game.id,
        tuple(game.seats),
        bounds=dict(sampling.brief),
        drawn={name: list(values) for name, values in sampling.drawn.items()},
        bot=QUICKEST_BOT if QUICKEST_BOT in game.bots else next(iter(game.bots)),
        preset=min(presets, key=lambda preset: preset.action_seconds).name if presets else "",
        stalling=_stalling(game),
    )


def _stalling(game: Game) -> Stalling | None:
    if (stalling := game.sampling.stalling) is None:
        return None
    return Stalling(dict(stalling.options), MessageToJson(encode_action(stalling.action), indent=None))
