"""A table goes on where it was after `croupier up` was stopped and started again."""

import asyncio
import json
import os
import signal
from dataclasses import dataclass
from pathlib import Path
from random import Random

from croupier.cli.background import BackgroundServices, started_services
from croupier.cli.bot_player import BotPlayer
from croupier.cli.demo_players import CLOCK, Acknowledged, play_seat
from croupier.cli.reach import endpoints_of
from croupier.engine.codec import decode_action
from croupier.engine.replay import verify_replay
from croupier.games.actions import action_to_json
from croupier_client.aio import Client
from croupier_client.aio_table import AsyncTable
from tests.tables import opened_table

DEADLINE_SECONDS = 60.0
DEVICE_SECRET = "a device of this test"
SEATS = 4
ACTIONS_BEFORE = 5


@dataclass(frozen=True, slots=True)
class Begun:
    table_id: str
    sequence: int
    hand: tuple[int, ...]
    acknowledged: list[Acknowledged]


def client(services: BackgroundServices) -> Client:
    return Client(endpoints_of(services.addresses), DEVICE_SECRET, "Ada")


def hand(table: AsyncTable) -> tuple[int, ...]:
    assert table.seat is not None
    return tuple(table.view.seats[table.seat].cards)


async def begin(services: BackgroundServices) -> Begun:
    """A table with computer players, left when it is the person's turn."""
    async with asyncio.timeout(DEADLINE_SECONDS), client(services) as player:
        table_id = await opened_table(player, SEATS, clock=CLOCK)
        acknowledged = []
        async with player.play(table_id) as table:
            for _ in range(ACTIONS_BEFORE):
                assert await table.your_turn()
                action = table.legal_actions.actions[0]
                acknowledged.append(Acknowledged(await table.act(action), table.seat or 0, action))
            assert await table.your_turn()
            return Begun(table_id, table.sequence, hand(table), acknowledged)


async def finish(services: BackgroundServices, begun: Begun) -> str:
    """Play the rest; gives the replay."""
    async with asyncio.timeout(DEADLINE_SECONDS), client(services) as player:
        async with player.play(begun.table_id) as table:
            assert (table.sequence, hand(table)) == (begun.sequence, begun.hand)
            begun.acknowledged.extend(await play_seat(table, BotPlayer(table.info, Random(1))))
        return (await player.get_replay(table_id=begun.table_id)).replay


def test_a_table_goes_on_after_a_restart(tmp_path: Path) -> None:
    with started_services(tmp_path) as services:
        begun = asyncio.run(begin(services))
        os.kill(services.process.pid, signal.SIGINT)
        assert services.process.wait(DEADLINE_SECONDS) == 0
    with started_services(tmp_path) as services:
        replay = asyncio.run(finish(services, begun))
    verify_replay(replay)
    entries = {line["seq"]: line for line in map(json.loads, replay.splitlines()) if "seq" in line}
    assert len(begun.acknowledged) > ACTIONS_BEFORE
    for one in begun.acknowledged:
        assert entries[one.sequence]["seat"] == one.seat
        assert entries[one.sequence]["action"] == action_to_json(decode_action(one.action))
