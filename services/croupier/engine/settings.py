"""The settings of the engine."""

from pathlib import Path
from typing import Annotated, TypeVar

from pydantic import AfterValidator, Field, NonNegativeInt, PositiveInt, ValidationInfo

from croupier.engine.core.log import MAX_BOT_DELAY_MILLISECONDS
from croupier.games.registry import installed_games
from croupier.runtime.server.addresses import is_loopback
from croupier.runtime.settings import ListenAddress, Replicas, ServiceSettings

MAX_ROUNDS = 10_000
"""Scoring records no more rounds of a table."""
Value = TypeVar("Value")


def _on_loopback(value: Value, info: ValidationInfo) -> Value:
    """Refuse a value for tests unless the engine is reachable from this machine only."""
    listens = [info.data[name] for name in ("listen", "websocket_listen", "control_listen") if name in info.data]
    if value and not all(map(is_loopback, listens)):
        flags = "--listen, --websocket-listen and --control-listen"
        raise ValueError(f"expected only with {flags} on loopback, since it is for tests")
    return value


def _ids_of(text: str) -> tuple[str, ...]:
    return tuple(word for word in map(str.strip, text.split(",")) if word)


def _installed(text: str) -> str:
    """Refuse a list with a game that is not installed."""
    installed = installed_games()
    if unknown := [game for game in _ids_of(text) if game not in installed]:
        raise ValueError(f"unknown game {unknown[0]!r}: expected some of {', '.join(installed)}, with commas between")
    return text


class EngineSettings(ServiceSettings):
    """The engine plays the tables."""

    lobby_public_key: Path
    """PEM file of the lobby's Ed25519 public key, which verifies players' tokens."""
    signing_key: Path
    """PEM file of the engine's own Ed25519 private key, for its calls to scoring."""
    scoring_control: Replicas
    """host:port of scoring's control service; several with commas between."""
    listen: ListenAddress = "127.0.0.1:7720"
    """host:port for players."""
    websocket_listen: ListenAddress = "127.0.0.1:7722"
    """host:port for players over WebSocket."""
    control_listen: ListenAddress = "127.0.0.1:7721"
    """host:port for the lobby."""
    metrics_listen: ListenAddress = "127.0.0.1:7729"
    """host:port for Prometheus."""
    games: Annotated[str, AfterValidator(_installed)] = ""
    """Ids of the games for new tables, in the order to show them, with commas between; all that are installed if empty.

    All engines have the same. Tables of other games play on.
    """
    max_open_tables: NonNegativeInt = 20_000
    """Tables in memory beyond which no more are opened here."""
    max_streams: PositiveInt = 50_000
    """Streams, and calls whose request has not arrived, at a time."""
    max_table_entries: PositiveInt = 10_000
    """Log entries of a table with which it ends, ranked or void as the rules of its game say."""
    max_table_rounds: Annotated[PositiveInt, Field(le=MAX_ROUNDS)] = 1_000
    """Rounds of a table with which it ends, ranked or void as the rules of its game say."""
    abandoned_seconds: PositiveInt = 180
    """Seconds after which a table ends, void, once all of its people are away; never less than an action has."""
    table_entries_per_second: NonNegativeInt = 20
    """Log entries per second and table beyond which actions and bots wait. 0: no limit."""
    table_entries_burst: PositiveInt = 200
    """Log entries that a table may get at once."""
    min_bot_delay_milliseconds: Annotated[NonNegativeInt, Field(le=MAX_BOT_DELAY_MILLISECONDS)] = 250
    """Least time before a bot acts; a table with a lower bot delay gets this one."""
    max_network_streams: PositiveInt = 5_000
    """Streams of one network at a time, and calls from there whose request has not arrived."""
    stranger_units_per_second: NonNegativeInt = 2000
    """Units a second for calls about tables by players who have no seat there, of all together; 0 for no limit.

    One network gets a quarter, and at once as many as all.
    """
    stranger_burst: PositiveInt = 2000
    """Units for such calls at once."""
    bot_processes: NonNegativeInt = 1
    """Processes for the decisions of searching computer players. 0: they act like the first one of their game."""
    max_loads: PositiveInt = 8
    """Tables that are loaded at a time: those of their players first, and those of strangers in half of the turns."""
    idle_seconds: NonNegativeInt = 120
    """Seconds after which an unused table leaves memory."""
    prepared_hours: PositiveInt = 48
    """Hours after which a table that was not opened is deleted; more than the lobby's max_forming_seconds."""
    log_seconds: NonNegativeInt = 3_600
    """Seconds after its end after which a table is archived."""
    replay_days: NonNegativeInt = 365
    """Days after its end after which a table is deleted. 0: never."""
    link_days: PositiveInt = 90
    """Days for which a link to a table or its replay is valid."""
    clock_offset_milliseconds: Annotated[int, AfterValidator(_on_loopback)] = 0
    """For tests only: the error of this engine's own clock. Refused beyond loopback."""
    shuffle_seed: Annotated[str, AfterValidator(_on_loopback)] = ""
    """For demonstrations and tests only: fixes the secret seed of every table. Refused beyond loopback."""

    @property
    def offered_games(self) -> tuple[str, ...]:
        """The ids of the games for new tables; none of them stands for all."""
        return _ids_of(self.games)
