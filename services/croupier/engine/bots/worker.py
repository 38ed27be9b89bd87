"""Bot workers: the request for a decision, and the code that decides in the worker process."""

import os
import signal
import time
from collections.abc import Callable
from random import Random
from typing import NamedTuple, TypeAlias

from croupier.games.actions import Action
from croupier.games.interface import Bot, Game, Observation
from croupier.games.registry import bots_of, rules_of
from croupier.games.search import SearchBot
from croupier.runtime.child_process import end_with_parent

NICENESS = 5
"""Gives an engine precedence over its bot workers on shared cores."""


class BotRequest(NamedTuple):
    """A request for a decision of a computer player, with the seed of its random source: plain values only."""

    game: str
    rules_version: int
    bot: str
    observation: Observation
    seed: int

    @property
    def milliseconds(self) -> int:
        """The thinking time of the computer player."""
        return thinking_milliseconds(rules_of(self.game, self.rules_version), self.bot)

    @property
    def is_forced(self) -> bool:
        """Whether only one action is legal."""
        return len(self.observation.legal.actions) == 1 and not self.observation.legal.choices


class Failed(NamedTuple):
    """A failed decision, by the type of the error; its text could name cards."""

    kind: str


Decide: TypeAlias = Callable[[BotRequest], Action]


def thinking_milliseconds(game: Game, bot: str) -> int:
    """Return the thinking time of a computer player; 0 if it decides at once."""
    known = _bot(game, bot)
    return known.thinking_milliseconds if isinstance(known, SearchBot) else 0


def decide(bot_request: BotRequest) -> Action:
    """Return the action of the computer player."""
    bot = _bot(rules_of(bot_request.game, bot_request.rules_version), bot_request.bot)
    if isinstance(bot, SearchBot):
        bot = bot.timed(lambda: time.monotonic_ns() // 1_000_000)
    return bot(bot_request.observation, Random(bot_request.seed).randrange)  # noqa: S311 - chance of a game, not a secret


def _bot(game: Game, name: str) -> Bot:
    bots = bots_of(game)
    return bots.get(name) or next(iter(bots.values()))


def start() -> None:
    """Prepare a worker process: it has a lower priority than the engine, and ends with it."""
    # Ctrl-C reaches every process of a terminal; the engine ends this one itself.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.nice(NICENESS)
    end_with_parent()


def answer(decide: Decide, bot_request: BotRequest, max_seconds: float) -> Action | Failed:
    """Decide in a worker process, which an alarm kills after `max_seconds`."""
    signal.setitimer(signal.ITIMER_REAL, max_seconds)
    try:
        return decide(bot_request)
    except Exception as error:  # noqa: BLE001 - the engine then uses a fallback
        return Failed(type(error).__name__)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
