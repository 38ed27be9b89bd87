"""Every attack by name, and the process of the attackers, whose machines delay neither services nor players."""

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from itertools import product
from multiprocessing import get_context
from multiprocessing.connection import Connection
from random import Random
from types import MappingProxyType

from croupier_client import Endpoints
from croupier_loadtest.measures import Measures
from croupier_loadtest.players.attackers import accounts, hoarding, reading, sockets
from croupier_loadtest.players.attackers.attacker import (
    MANY_NETWORKS,
    ONE_NETWORK,
    Attack,
    Attacker,
    PublicTables,
    attack_until,
)
from croupier_loadtest.players.attackers.games import AttackedGames
from croupier_loadtest.players.user_context import UserContext
from croupier_loadtest.tuning import lower_priority

CALLS = frozenset({"player_calls"})
ATTACKS: Mapping[str, Attack] = MappingProxyType(
    {
        "replays": Attack(reading.replays, CALLS, 1),
        "cold_tables": Attack(reading.cold_tables, CALLS, 5),
        "running_replays": Attack(reading.running_replays, CALLS | {"TABLE_NOT_FINISHED"}, 1),
        "resumes": Attack(reading.resumes, CALLS, 2),
        "resumes_ahead": Attack(reading.resumes_ahead, CALLS | {"SEQUENCE_AHEAD"}, 2),
        "pages": Attack(reading.pages, CALLS, 3),
        "pages_of_many_guests": Attack(reading.pages_of_many_guests, frozenset({"network_calls"}), 6),
        "held_requests": Attack(hoarding.held_requests, frozenset({"SERVICE_TIMEOUT"}), 8),
        "unread_answers": Attack(hoarding.unread_answers, frozenset({"network_calls"}), 4),
        "forged_headers": Attack(reading.forged_headers, CALLS, 2),
        "sign_ins": Attack(hoarding.sign_ins, frozenset({"sign_ins"}), 1.5),
        "lobby_streams": Attack(hoarding.lobby_streams, frozenset({"streams"}), 3),
        "own_streams": Attack(hoarding.own_streams, frozenset({"streams"}), 3),
        "unknown_games": Attack(hoarding.unknown_games, frozenset({"UNKNOWN_GAME"}), 1),
        "spectators": Attack(hoarding.spectators, frozenset({"streams"}), 6),
        "table_streams": Attack(hoarding.table_streams, frozenset({"streams"}), 2),
        "silent_sockets": Attack(sockets.silent_sockets, frozenset({"SERVICE_TIMEOUT"}), 4),
        "large_messages": Attack(sockets.large_messages, frozenset({"MALFORMED_REQUEST"}), 2),
        "unread_sockets": Attack(sockets.unread_sockets, CALLS, 6),
        "tickets": Attack(hoarding.tickets, frozenset({"streams"}), 2),
        "left_tables": Attack(hoarding.left_tables, frozenset({"network_calls"}), 2),
        "table_changes": Attack(hoarding.table_changes, frozenset({"table_changes"}), 6),
        "bot_tables": Attack(hoarding.bot_tables, frozenset({"tables"}), 1),
        "endless_games": Attack(hoarding.endless_games, frozenset({"table_changes"}), 6),
        "left_seats": Attack(hoarding.left_seats, frozenset({"seat_requests"}), 5),
        "rematches": Attack(hoarding.rematches, CALLS, 5),
        "own_lists": Attack(reading.own_lists, CALLS, 5),
        "checked_tables": Attack(reading.checked_tables, CALLS, 2),
        "checked_changes": Attack(reading.checked_changes, CALLS, 5),
        "invite_codes": Attack(accounts.invite_codes, frozenset({"UNKNOWN_TABLE", "sign_ins"}), 1),
        "device_codes": Attack(accounts.device_codes, frozenset({"INVALID_DEVICE_CODE", "sign_ins"}), 1),
        "blocked_players": Attack(accounts.blocked_players, frozenset({"UNKNOWN_TABLE", "sign_ins"}), 1),
        "deletions": Attack(accounts.deletions, frozenset({"tables"}), 3),
        "private_tables": Attack(reading.private_tables, frozenset({"UNKNOWN_TABLE", "INVALID_LINK"}), 0.5),
    }
)
FINDER = Attack(reading.find_tables, frozenset(), 0.5)
STOP = "stop"
MANY_NETWORKS_PACE = 0.25
"""The pace with many networks as a share of that with one, which alone has to reach the limits."""


async def attacker(context: UserContext, name: str) -> None:
    """Make every chosen attack, from one network and from many, after the calm part of the run."""
    settings, offered = context.settings, context.tables.described
    games = AttackedGames([entry for entry in settings.installed if entry.game in offered])
    await context.sleep(settings.calm_seconds)
    processes = get_context("spawn")
    commands, of_process = processes.Pipe()
    process = processes.Process(
        target=_run,
        args=(settings.endpoints, games, settings.attacks, f"{settings.seed} {name}", of_process),
        daemon=True,
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


def _run(endpoints: Endpoints, games: AttackedGames, paces: Mapping[str, int], seed: str, commands: Connection) -> None:
    """Make the attacks, with the factors of their pace, until a command comes, and answer it with the counts."""
    from uvloop import new_event_loop

    lower_priority()
    measures, tables = Measures(), PublicTables()
    random = Random(f"{seed} finder")
    attackers = [Attacker("finder", FINDER, endpoints, measures, random, 2 * len(paces), True, tables, games)]
    for (index, (name, pace)), has_one_network in product(enumerate(paces.items()), (True, False)):
        factor, attack = pace if has_one_network else pace * MANY_NETWORKS_PACE, ATTACKS[name]
        attack = replace(attack, calls_per_second=attack.calls_per_second * factor)
        name = f"{name} {ONE_NETWORK if has_one_network else MANY_NETWORKS}"
        number, random = 2 * index + has_one_network, Random(f"{seed} {name}")
        attackers.append(Attacker(name, attack, endpoints, measures, random, number, has_one_network, tables, games))
    # If the parent has ended, the counts are not needed.
    with suppress(EOFError, BrokenPipeError), asyncio.Runner(loop_factory=new_event_loop) as runner:
        runner.run(attack_until(attackers, asyncio.to_thread(commands.recv)))
        commands.send(measures.take())
