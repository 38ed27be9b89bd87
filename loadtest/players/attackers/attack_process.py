"""The process of the attackers: their machines delay neither the services nor the players."""

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import product
from multiprocessing import get_context
from multiprocessing.connection import Connection
from random import Random

from croupier_client import Endpoints
from loadtest.measures import Measures
from loadtest.players.attackers.attacker import Attacker, attack_until
from loadtest.players.attackers.registry import ATTACKS
from loadtest.players.user_context import UserContext
from loadtest.priority import lower_priority

STOP = "stop"
MANY_NETWORKS_PACE = 0.25
"""The pace with many networks as a share of that with one, which alone has to reach the limits."""


async def attacker(context: UserContext, name: str) -> None:
    """Make every chosen attack, from one network and from many, after the calm part of the run."""
    settings = context.settings
    paces = dict(settings.attacks) or dict.fromkeys(ATTACKS, 1)
    await context.sleep(settings.calm_seconds)
    processes = get_context("spawn")
    commands, of_process = processes.Pipe()
    process = processes.Process(
        target=_run, args=(settings.endpoints, paces, f"{settings.seed} {name}", of_process), daemon=True
    )
    process.start()
    of_process.close()
    try:
        attacking = asyncio.create_task(asyncio.to_thread(commands.recv))
        stopping = asyncio.create_task(context.until_stopping())
        await asyncio.wait((attacking, stopping), return_when=asyncio.FIRST_COMPLETED)
        commands.send(STOP)
        context.measures.add(await attacking)
    finally:
        process.kill()


def _run(endpoints: Endpoints, paces: Mapping[str, int], seed: str, commands: Connection) -> None:
    """Make the attacks, with the factors of their pace, until a command comes, and answer it with the counts."""
    from uvloop import new_event_loop

    lower_priority()
    measures, attackers = Measures(), []
    for (index, (name, pace)), has_one_network in product(enumerate(paces.items()), (True, False)):
        factor, attack = pace if has_one_network else pace * MANY_NETWORKS_PACE, ATTACKS[name]
        attackers.append(
            Attacker(
                name,
                replace(attack, calls_per_second=attack.calls_per_second * factor),
                endpoints,
                measures,
                Random(f"{seed} {name} {has_one_network}"),
                number=2 * index + has_one_network,
                has_one_network=has_one_network,
            )
        )
    # If the parent has ended, the counts are not needed.
    with suppress(EOFError, BrokenPipeError), asyncio.Runner(loop_factory=new_event_loop) as runner:
        runner.run(_attack(attackers, commands))
        commands.send(measures.take())


async def _attack(attackers: Sequence[Attacker], commands: Connection) -> None:
    await attack_until(attackers, asyncio.to_thread(commands.recv))
