"""Decisions of computer players in a process of their own: what is asked, and the code that answers it there."""

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
"""An engine that shares its cores with its bot workers goes first."""


class BotRequest(NamedTuple):
    """What a computer player of a game has to decide on, and the seed of its chance: plain values only."""

    game: str
    rules_version: int
    bot: str
    observation: Observation
    seed: int

    @property
    def milliseconds(self) -> int:
        """How long the decision takes."""
        return thinking_milliseconds(rules_of(self.game, self.rules_version), self.bot)

    @property
    def is_forced(self) -> bool:
        """Whether there is nothing to choose."""
        return len(self.observation.legal.actions) == 1 and not self.observation.legal.choices


class Failed(NamedTuple):
    """A decision that failed, by the kind of the error. Its text could name cards."""

    kind: str


Decide: TypeAlias = Callable[[BotRequest], Action]


def thinking_milliseconds(game: Game, bot: str) -> int:
    """How long a computer player thinks before it acts; 0 if it decides at once."""
    known = _bot(game, bot)
    return known.thinking_milliseconds if isinstance(known, SearchBot) else 0


def decide(bot_request: BotRequest) -> Action:
    """Return what the computer player does."""
    bot = _bot(rules_of(bot_request.game, bot_request.rules_version), bot_request.bot)
    if isinstance(bot, SearchBot):
        bot = bot.timed(lambda: time.monotonic_ns() // 1_000_000)
    return bot(bot_request.observation, Random(bot_request.seed).randrange)  # noqa: S311 - a game's chance, not a secret


def _bot(game: Game, name: str) -> Bot:
    bots = bots_of(game)
    return bots.get(name) or next(iter(bots.values()))


def start() -> None:
    """Prepare a worker process: it goes after the engine, and ends with it."""
    # A Ctrl-C reaches every process of a terminal; the engine ends this one when it has no more to ask.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.nice(NICENESS)
    end_with_parent()


def answer(decide: Decide, bot_request: BotRequest, max_seconds: float) -> Action | Failed:
    """Decide in a worker process, which an alarm kills if that takes longer than `max_seconds`."""
    signal.setitimer(signal.ITIMER_REAL, max_seconds)
    try:
        return decide(bot_request)
    except Exception as error:  # noqa: BLE001 - the engine then lets another computer player decide
        return Failed(type(error).__name__)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
