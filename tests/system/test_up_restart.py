"""A game continues after a restart of `croupier up`."""

import asyncio
import os
import signal
from pathlib import Path
from random import Random

import pytest

from croupier.cli.bot_player import BotPlayer
from croupier.cli.launcher.background import BackgroundServices, started_services
from croupier.cli.services import endpoints_of
from croupier_loadtest.demo.players import TIME_CONTROL, DemoPlan, play_seat, signed_in
from croupier_loadtest.judge.verdict import judge
from croupier_loadtest.players.leaving import read_replay_and_sheet
from croupier_loadtest.record import SeatRecord, TableRecord
from tests.tables import opened_table

DEADLINE_SECONDS = 240.0
SEATS = 4
ACTIONS_BEFORE = 5
ONE_PLAYER = DemoPlan("thulla", seats=1, tables=1, options={}, seed="tests/system/test_up_restart.py")


async def begin(services: BackgroundServices) -> TableRecord:
    """Start a table with bots, and leave it when it is the person's turn."""
    async with asyncio.timeout(DEADLINE_SECONDS), signed_in(ONE_PLAYER, endpoints_of(services.addresses)) as [group]:
        player = group[0]
        assert player.player is not None
        viewer = SeatRecord(player.player.player_id)
        record = TableRecord(
            await opened_table(player, SEATS, time_control=TIME_CONTROL), "thulla", SEATS, viewers=[viewer]
        )
        async with player.recorded_table(record.table_id, viewer) as table:
            for _ in range(ACTIONS_BEFORE):
                assert await table.wait_for_turn()
                await table.submit_action(table.legal_actions.actions[0])
            assert await table.wait_for_turn()
        return record


async def finish(services: BackgroundServices, record: TableRecord) -> None:
    """Finish the game, and return the table's replay and scores."""
    async with asyncio.timeout(DEADLINE_SECONDS), signed_in(ONE_PLAYER, endpoints_of(services.addresses)) as [group]:
        async with group[0].recorded_table(record.table_id, record.viewers[0]) as table:
            await play_seat(table, BotPlayer(table.table, Random(1)))
        record.is_finished = True
        await read_replay_and_sheet(group[0], record, DEADLINE_SECONDS)


@pytest.mark.slow
def test_a_game_continues_after_a_restart(tmp_path: Path) -> None:
    with started_services(tmp_path) as services:
        record = asyncio.run(begin(services))
        os.kill(services.process.pid, signal.SIGINT)
        assert services.process.wait(DEADLINE_SECONDS) == 0
    with started_services(tmp_path) as services:
        asyncio.run(finish(services, record))
    verdict = judge(record)
    assert verdict.violations == ()
    assert verdict.is_verified
    assert verdict.checks_made["acknowledgements"] > ACTIONS_BEFORE
