"""A computer player whose seed selects its fault, and functions that load it in a worker process."""

import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from croupier.engine.bots.worker import BotRequest
from croupier.games.actions import PLAYS, Action

ANSWER, HANG, FAIL, DIE = range(4)
HOURS_SECONDS = 3_600


def decide(bot_request: BotRequest) -> Action:
    """Return an action, or fail as the seed says."""
    if bot_request.seed == HANG:
        time.sleep(HOURS_SECONDS)
    if bot_request.seed == FAIL:
        raise ValueError("the hand is AS KH")
    if bot_request.seed == DIE:
        os._exit(1)
    return PLAYS[0]


class Loaded(NamedTuple):
    """A computer player that the worker process loads by a call of a function."""

    load: Callable[..., object]
    argument: object

    def __call__(self, bot_request: BotRequest) -> Action:
        """Never called, since the worker process loads another function."""
        raise NotImplementedError

    def __reduce__(self) -> tuple[Any, ...]:
        return self.load, (self.argument,)


def decide_after(file: Path) -> Callable[[BotRequest], Action]:
    """Return the computer player as soon as a file exists."""
    while not file.exists():
        time.sleep(0.01)
    return decide
