"""The process in which computer players think: `python -m croupier.engine.thinking`.

It reads thoughts from its standard input and writes what came of each, one at a time, and ends with its input: so it
never outlives the engine, however that ends. Frames are a length of four bytes and a pickle, between an engine and its
own child only.
"""

import os
import pickle
import signal
import struct
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from random import Random
from typing import Any, BinaryIO, NamedTuple, TypeAlias

from croupier.games.actions import Action
from croupier.games.catalogue import bots_of, rules_of
from croupier.games.interface import Bot, Game, Seen
from croupier.games.search import SearchBot

LENGTH = struct.Struct(">I")
NICENESS = 5
"""An engine that shares its cores with its thinkers goes first."""


class Thought(NamedTuple):
    """What a computer player of a game has to decide on, and the seed of its chance: plain values only."""

    game: str
    rules_version: int
    bot: str
    seen: Seen
    seed: int

    @property
    def milliseconds(self) -> int:
        """How long it takes."""
        return thinking_milliseconds(rules_of(self.game, self.rules_version), self.bot)

    @property
    def is_forced(self) -> bool:
        """Whether there is nothing to choose."""
        return len(self.seen.legal.actions) == 1 and not self.seen.legal.choices


class Failed(NamedTuple):
    """What comes of a thought that failed: the kind of error. Its text could tell of cards."""

    kind: str


Think: TypeAlias = Callable[[Thought], Action]


def thinking_milliseconds(game: Game, bot: str) -> int:
    """How long a computer player thinks before it acts; 0 if it decides at once."""
    known = _bot(game, bot)
    return known.thinking_milliseconds if isinstance(known, SearchBot) else 0


def think(thought: Thought) -> Action:
    """What the computer player does."""
    bot = _bot(rules_of(thought.game, thought.rules_version), thought.bot)
    if isinstance(bot, SearchBot):
        bot = bot.timed(lambda: time.monotonic_ns() // 1_000_000)
    return bot(thought.seen, Random(thought.seed).randrange)  # noqa: S311 - a game's chance, not a secret


def _bot(game: Game, name: str) -> Bot:
    bots = bots_of(game)
    return bots.get(name) or next(iter(bots.values()))


def serve(think: Think, thoughts: BinaryIO, outcomes: BinaryIO) -> None:
    """Think until there is nothing more to read; the first frame says that the process is ready."""
    outcomes.write(frame(None))
    outcomes.flush()
    while header := thoughts.read(LENGTH.size):
        thought = unpacked(thoughts.read(LENGTH.unpack(header)[0]))
        try:
            outcome: Action | Failed = think(thought)
        except Exception as error:  # noqa: BLE001 - whoever asked decides otherwise
            outcome = Failed(type(error).__name__)
        outcomes.write(frame(outcome))
        outcomes.flush()


def frame(value: Thought | Action | Failed | None) -> bytes:
    """A value as it goes through a pipe."""
    packed = pickle.dumps(value)
    return LENGTH.pack(len(packed)) + packed


def unpacked(packed: bytes) -> Any:
    """The value of a frame, without its length."""
    return pickle.loads(packed)  # noqa: S301 - it comes from the engine that started this process, or from its child


def main(think: Think = think) -> None:
    """Serve on standard input and output, beside the engine and not before it."""
    # A Ctrl-C reaches every process of a terminal; the engine ends this one when it has no more to ask.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.nice(NICENESS)
    with suppress(BrokenPipeError):
        serve(think, sys.stdin.buffer, sys.stdout.buffer)


if __name__ == "__main__":
    main()
