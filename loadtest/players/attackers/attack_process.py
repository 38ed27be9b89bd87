"""The process of the attackers: their machines delay neither the services nor the players."""

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import product
from multiprocessing import get_context
from multiprocessing.connection import Connection
from random import Random

from croupier_client import Endpoints
from loadtest.measures import Batch, Measures
from loadtest.players.attackers.attacker import Attack, Attacker, attack_until
from loadtest.players.attackers.registry import ATTACKS
from loadtest.players.user_context import UserContext
from loadtest.priority import lower_priority

STOP = "stop"
MANY_NETWORKS_PACE = 0.25
"""The pace with many networks as a share of that with one, which alone has to reach the limits."""


@dataclass(frozen=True, slots=True)
class _AttackPlan:
    """The attacks with the factors of their pace."""

    endpoints: Endpoints
    paces: Mapping[str, int]
    seed: str


async def attacker(context: UserContext, name: str) -> None:
    """Make every chosen attack, from one network and from many, after the calm part of the run."""
    settings = context.settings
    plan = _AttackPlan(
        settings.endpoints, dict(settings.attacks) or dict.fromkeys(ATTACKS, 1), f"{settings.seed} {name}"
    )
    await context.sleep(settings.calm_seconds)
    processes = get_context("spawn")
    commands, of_process = processes.Pipe()
    process = processes.Process(target=_run, args=(plan, of_process), daemon=True)
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


def _run(plan: _AttackPlan, commands: Connection) -> None:
    from uvloop import new_event_loop

    lower_priority()
    # If the parent has ended, the counts are not needed.
    with suppress(EOFError, BrokenPipeError), asyncio.Runner(loop_factory=new_event_loop) as runner:
        commands.send(runner.run(_attack(plan, commands)))


async def _attack(plan: _AttackPlan, commands: Connection) -> Batch:
    """Attack until a command comes."""
    measures = Measures()
    await attack_until(_attackers(plan, measures), asyncio.to_thread(commands.recv))
    return measures.take()


def _attackers(plan: _AttackPlan, measures: Measures) -> Sequence[Attacker]:
    return [
        Attacker(
            name,
            _paced(ATTACKS[name], pace if has_one_network else pace * MANY_NETWORKS_PACE),
            plan.endpoints,
            measures,
            Random(f"{plan.seed} {name} {has_one_network}"),
            number=2 * index + has_one_network,
            has_one_network=has_one_network,
        )
        for (index, (name, pace)), has_one_network in product(enumerate(plan.paces.items()), (True, False))
    ]


def _paced(attack: Attack, factor: float) -> Attack:
    return replace(attack, calls_per_second=attack.calls_per_second * factor)
