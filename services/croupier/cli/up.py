"""`croupier up`: the three services of one machine, until they are told to stop."""

import asyncio
import signal
from pathlib import Path

from croupier.cli.addresses import START_ORDER
from croupier.cli.supervisor import Manner, Note, Services, running_services


async def up(folder: Path, first_port: int, shuffle_seed: str | None, say: Note) -> None:
    """Run the services until SIGINT, SIGTERM or SIGHUP, then drain them in order; a second signal kills them.

    Raises CommandFault if they cannot be started or one keeps dying.
    """
    stopping = _cancelled_by_signals(say)
    manner = Manner(shuffle_seed=shuffle_seed, note=say)
    try:
        async with running_services(folder, first_port=first_port, manner=manner) as services:
            _introduce(services, say)
            await asyncio.Event().wait()
    except asyncio.CancelledError:
        if not stopping.is_set():
            raise
        say("stopped; everything is kept")


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


def _introduce(services: Services, say: Note) -> None:
    say(f"croupier is up, with its data in {services.folder.path}")
    for service in reversed(START_ORDER):
        addresses = services.addresses[service]
        say(f"  {service:8} {addresses['listen']:22} metrics http://{addresses['metrics']}/metrics")
    say("Ctrl-C stops it; games go on when it is started again")
