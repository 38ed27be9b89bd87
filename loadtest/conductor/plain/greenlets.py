"""Runs coroutines in greenlets, without an event loop: whatever they await holds up the greenlet they run in."""

from collections.abc import Awaitable, Coroutine, Sequence
from typing import TypeVar

import gevent

T = TypeVar("T")


def played(behaviour: Awaitable[T]) -> T:
    """What a coroutine gives, which must never wait by suspending; raises RuntimeError if it does."""
    steps = behaviour.__await__()
    try:
        next(steps)
    except StopIteration as end:
        result: T = end.value
        return result
    raise RuntimeError("a coroutine waits for an event loop, which greenlets do not have: let it block")


def play_together(behaviours: Sequence[Coroutine[None, None, None]]) -> None:
    """Let several coroutines run in greenlets of their own; raises what the first raises that does, and ends all."""
    greenlets = [gevent.spawn(played, behaviour) for behaviour in behaviours]
    try:
        gevent.joinall(greenlets, raise_error=True)
    finally:
        gevent.killall(greenlets)
