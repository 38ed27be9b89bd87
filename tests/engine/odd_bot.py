"""A computer player that does what the seed of a request says, and ways in which a worker process gets to it."""

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
    """Return an action, or do worse."""
    if bot_request.seed == HANG:
        time.sleep(HOURS_SECONDS)
    if bot_request.seed == FAIL:
        raise ValueError("the hand is AS KH")
    if bot_request.seed == DIE:
        os._exit(1)
    return PLAYS[0]


class Loaded(NamedTuple):
    """The computer player as the result of a function that the worker process has to call first."""

    load: Callable[..., object]
    argument: object

    def __call__(self, bot_request: BotRequest) -> Action:
        """Never called: what the worker process loads is another function."""
        raise NotImplementedError

    def __reduce__(self) -> tuple[Any, ...]:
        return self.load, (self.argument,)


def decide_once_there_is(file: Path) -> Callable[[BotRequest], Action]:
    """Return the computer player when a file is there."""
    while not file.exists():
        time.sleep(0.01)
    return decide
