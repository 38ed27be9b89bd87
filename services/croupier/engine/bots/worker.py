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
from croupier.games.search import Clock, SearchBot
from croupier.runtime.server.child_process import end_with_parent

NICENESS = 5
"""Gives an engine precedence over its bot workers on shared cores."""
LAST_ITERATION_MILLISECONDS = 10
"""The time by which the end of a search may exceed the thinking time."""


class BotRequest(NamedTuple):
    """A request for a decision of a computer player, with the seed of its random source: plain values only."""

    table_id: str
    game: str
    rules_version: int
    bot: str
    observation: Observation
    seed: int

    @property
    def milliseconds(self) -> int:
        """The thinking time of the computer player."""
        return thinking_milliseconds(rules_of(self.game, self.rules_version), self.bot)


class Failed(NamedTuple):
    """A failed decision, by the type of the error; its text could name cards."""

    kind: str


Decide: TypeAlias = Callable[[BotRequest], Action]


def thinking_milliseconds(game: Game, bot: str) -> int:
    """Return the thinking time of a computer player; 0 if it decides at once."""
    known = _bot(game, bot)
    return known.thinking_milliseconds if isinstance(known, SearchBot) else 0


def _monotonic_milliseconds() -> int:
    return time.monotonic_ns() // 1_000_000


def decide(
    bot_request: BotRequest, clock: Clock = _monotonic_milliseconds, sleep: Callable[[float], object] = time.sleep
) -> Action:
    """Return the action of the computer player, always after the same time.

    A search returns the only legal action at once, and any other with its last iteration. Both are kept back: their
    time would reveal whether there was an alternative.
    """
    game, started = rules_of(bot_request.game, bot_request.rules_version), clock()
    bot = _bot(game, bot_request.bot)
    if isinstance(bot, SearchBot):
        bot = bot.timed(clock)
    action = bot(bot_request.observation, Random(bot_request.seed).randrange)  # noqa: S311 - chance of a game, not a secret
    if isinstance(bot, SearchBot):
        sleep(max(0, started + bot.thinking_milliseconds + LAST_ITERATION_MILLISECONDS - clock()) / 1000)
    return action


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
