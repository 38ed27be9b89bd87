"""The settings of the engine."""

from pathlib import Path
from typing import Annotated, Literal, TypeVar

from pydantic import AfterValidator, NonNegativeInt, ValidationInfo

from croupier.runtime.addresses import is_loopback
from croupier.runtime.settings import ListenAddress, Replicas, ServiceSettings, expecting

Value = TypeVar("Value")


def _is_thresholds(text: str) -> bool:
    numbers = text.split(",")
    return len(numbers) == 3 and all(number.isdecimal() and len(number) < 10 for number in numbers)


def _on_loopback(value: Value, info: ValidationInfo) -> Value:
    """Refuse a value for tests unless the engine is reachable from this machine only."""
    listens = [info.data[name] for name in ("listen", "control_listen") if name in info.data]
    if value and not all(map(is_loopback, listens)):
        raise ValueError("expected only with --listen and --control-listen on loopback, since it is for tests")
    return value


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
    control_listen: ListenAddress = "127.0.0.1:7721"
    """host:port for the lobby."""
    metrics_listen: ListenAddress = "127.0.0.1:7729"
    """host:port for Prometheus."""
    max_open_tables: NonNegativeInt = 20_000
    """Tables in memory beyond which no more are opened here."""
    max_streams: NonNegativeInt = 50_000
    """Streams beyond which no more are opened."""
    max_player_streams: NonNegativeInt = 100
    """Streams of one player beyond which no more are opened."""
    bot_processes: NonNegativeInt = 1
    """Processes for the decisions of searching computer players. 0: they act like the first one of their game."""
    idle_seconds: NonNegativeInt = 120
    """Seconds after which an unused table leaves memory."""
    log_seconds: NonNegativeInt = 3_600
    """Seconds after its end after which a table is archived."""
    replay_days: NonNegativeInt = 0
    """Days after its end after which a table is deleted. 0: never."""
    gc_thresholds: Annotated[str, expecting("three integers with commas between", _is_thresholds)] = "10000,20,100"
    """Thresholds of Python's garbage collector, one for each generation."""
    scheduling: Literal["batch", "normal"] = "batch"
    """Scheduling class on Linux: with batch, threads of the transport interrupt the event loop less."""
    clock_offset_milliseconds: Annotated[int, AfterValidator(_on_loopback)] = 0
    """For tests only: the error of this engine's own clock. Refused beyond loopback."""
    shuffle_seed: Annotated[str, AfterValidator(_on_loopback)] = ""
    """For demonstrations and tests only: fixes the secret seed of every table. Refused beyond loopback."""
