"""What all players of a run share."""

from collections.abc import Callable
from dataclasses import dataclass

from loadtest.court import Court
from loadtest.tally import Tally


@dataclass(frozen=True, slots=True)
class Shares:
    """How often, of all turns, something is tried beside the move itself; each from 0 to 1."""

    probed: float
    """Something illegal before the move."""
    out_of_turn: float = 0.04
    """Something after the move, when others are to act."""
    repeated: float = 0.03
    """The move again under the same name, and another under its name."""
    viewed: float = 0.2
    """GetView after the move."""


@dataclass(frozen=True, slots=True)
class House:
    """What all players of a run share; `sleep` takes seconds, `is_time_up` says whether the measured time is over."""

    court: Court
    tally: Tally
    patience_seconds: float
    shares: Shares
    now: Callable[[], float]
    sleep: Callable[[float], None]
    is_time_up: Callable[[], bool]
