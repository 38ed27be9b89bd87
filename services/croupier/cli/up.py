"""`croupier up`: the three services of one machine and their front door, until they are told to stop."""

import asyncio
import signal
from dataclasses import replace
from pathlib import Path

from croupier.cli.front_door import MISSING, DoorChoice, is_installed
from croupier.cli.replicas import DOOR
from croupier.cli.supervisor import Manner, Note, Services, running_services


async def up(folder: Path, first_port: int, manner: Manner, door: DoorChoice | None) -> None:
    """Run the services until SIGINT, SIGTERM or SIGHUP, then drain them in order; a second signal kills them.

    Without the door's extra they run without it. Raises CommandFault if they cannot be started or one keeps dying.
    """
    if door is not None and not is_installed():
        manner.note(MISSING)
        door = None
    if door is not None:
        manner = replace(manner, door=door.flags)
    stopping = _cancelled_by_signals(manner.note)
    try:
        async with running_services(folder, first_port=first_port, manner=manner) as services:
            _introduce(services, manner, door.authority(services.folder) if door is not None else None)
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


def _introduce(services: Services, manner: Manner, trusted: Path | None) -> None:
    say, folder = manner.note, services.folder.path
    where = f"with its data in {folder}" if manner.database is None else f"with its keys and logs in {folder}"
    say(f"croupier is up, {where}")
    for instance, addresses in reversed(services.addresses.items()):
        say(f"  {instance:10} {addresses['listen']:22} metrics http://{addresses['metrics']}/metrics")
    if trusted is not None:
        say(f"the door speaks TLS: clients trust it by {trusted}")
    if DOOR in services.addresses:
        say(f"players connect to {services.addresses[DOOR]['listen']}, by gRPC, gRPC-Web or JSON")
    say("Ctrl-C stops it; games go on when it is started again")
