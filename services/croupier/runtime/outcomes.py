"""Outcomes that a callback receives, for work that no task waits for."""

import asyncio
from collections.abc import Callable, Coroutine
from functools import partial
from typing import Any, TypeAlias, TypeVar

Result = TypeVar("Result")
Callback: TypeAlias = Callable[[Result | Exception], None]
"""Receives an outcome once, on the event loop: a result, which is no exception, or an error."""


def settle(future: "asyncio.Future[Result]", outcome: Result | Exception) -> None:
    """Give a future its outcome, unless it has one or is cancelled."""
    if future.done():
        return
    if isinstance(outcome, Exception):
        future.set_exception(outcome)
    else:
        future.set_result(outcome)


def call_back(work: Coroutine[Any, Any, Result], done: Callback[Result]) -> "asyncio.Task[Result]":
    """Run a coroutine in a task, and return the task.

    `done` receives its outcome, ConnectionAbortedError if it was cancelled.
    """
    task = asyncio.create_task(work)
    task.add_done_callback(partial(_report, done))
    return task


def _report(done: Callback[Result], task: "asyncio.Task[Result]") -> None:
    if task.cancelled():
        # Also if no caller cancelled it: a driver may cancel what it waits for when its connection is lost.
        done(ConnectionAbortedError("cancelled before its outcome was known"))
    elif (error := task.exception()) is None:
        done(task.result())
    elif isinstance(error, Exception):
        done(error)
