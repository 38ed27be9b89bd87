"""`croupier up`: the three services of one machine, until they are told to stop."""

import asyncio
import signal
from pathlib import Path

from croupier.cli.supervisor import Manner, Note, Services, running_services


async def up(folder: Path, first_port: int, manner: Manner) -> None:
    """Run the services until SIGINT, SIGTERM or SIGHUP, then drain them in order; a second signal kills them.

    Raises CommandFault if they cannot be started or one keeps dying.
    """
    stopping = _cancelled_by_signals(manner.note)
    try:
        async with running_services(folder, first_port=first_port, manner=manner) as services:
            _introduce(services, manner)
            await asyncio.Event().wait()
    except asyncio.CancelledError:
        if not stopping.is_set():
            raise
        manner.note("stopped; everything is kept")


def _cancelled_by_signals(say: Note) -> asyncio.Event:
    """Cancel the task that calls this with every signal to stop; the event says whether there was one."""
    task = asyncio.current_task()
    assert task is not None  # noqa: S101 - coroutines run in tasks
    stopping = asyncio.Event()

    def stop() -> None:
        say("killing the services" if stopping.is_set() else "stopping: calls under way are finished first")
        stopping.set()
        task.cancel()

    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        asyncio.get_running_loop().add_signal_handler(number, stop)
    return stopping


def _introduce(services: Services, manner: Manner) -> None:
    say, folder = manner.note, services.folder.path
    where = f"with its data in {folder}" if manner.database is None else f"with its keys and logs in {folder}"
    say(f"croupier is up, {where}")
    for instance, addresses in reversed(services.addresses.items()):
        say(f"  {instance:10} {addresses['listen']:22} metrics http://{addresses['metrics']}/metrics")
    say("Ctrl-C stops it; games go on when it is started again")
