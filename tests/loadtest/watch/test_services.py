"""Real services that are watched while people play: what they count is what the players count."""

import asyncio
import time
from collections import Counter
from contextlib import aclosing
from pathlib import Path
from random import Random

from croupier.cli.background import started_services
from croupier.cli.reach import endpoints_of
from croupier_api.v1 import engine_pb2, table_pb2
from croupier_client import AsyncTable, Endpoints, NotFound, random_legal
from croupier_client.callers import Call, Service
from croupier_client.table import Event
from loadtest.watch.counted import key
from loadtest.watch.counters import await_agreement, compare, differences
from loadtest.watch.watch import Watch
from tests.loadtest.watch.counting import CountingClient, answered

DEADLINE_SECONDS = 60.0
GAME = "thulla"
SHORTEST_CLOCK = table_pb2.Clock(action_seconds=5, reserve_seconds=1)


async def act_twice(client: CountingClient, table: AsyncTable, action: table_pb2.Action) -> None:
    """Act, and the same again under the same name."""
    name = f"again-{table.sequence}"
    for _ in range(2):
        answer = await client.submit_action(table_id=table.table_id, request_id=name, action=action)
    await table.changed(after=answer.sequence - 1)


async def play(client: CountingClient, table: AsyncTable, random: Random) -> int:
    """Play to the end; now and then the same again under the same name, and something out of turn.

    Gives how often time ran out at the table, which on a slow machine happens to whoever is there, too.
    """
    while await table.your_turn():
        action = random_legal(table, random)
        acting = act_twice(client, table, action) if random.random() < 0.2 else table.act(action)
        await answered(acting, GAME, client.counts)
        if not (table.to_act or table.finished):
            # Not on the stream: if the game ends meanwhile the answer is lost with it, and one more is asked for.
            name = f"out-of-turn-{table.sequence}"
            again = client.submit_action(table_id=table.table_id, request_id=name, action=action)
            await answered(again, GAME, client.counts)
    # Whoever leaves at once does not hear how the stream ended.
    return sum([_is_timeout(event) async for event in table])


def _is_timeout(event: Event) -> bool:
    return isinstance(event, engine_pb2.TableUpdate) and event.acted_by == engine_pb2.ACTED_BY_TIMEOUT


async def matched(client: CountingClient, tables: set[str], random: Random) -> None:
    """Be matched, play, and look around afterwards."""
    async with client:
        table_id = (await client.quick_match_until_seated(game=GAME, seats=3)).table_id
        tables.add(table_id)
        async with client.play(table_id) as table:
            await play(client, table, random)
        await client.get_replay(table_id=table_id)
        again = engine_pb2.WatchTableRequest(table_id=table_id, after_sequence=3)
        async with aclosing(await client.open(Call(Service.ENGINE, again, engine_pb2.WatchTableResponse))) as rest:
            assert [message async for message in rest]
        try:
            await client.get_view(table_id="no-such-table")
        except NotFound:
            return


async def absent(client: CountingClient, random: Random) -> None:
    """Sit at a table with computer players, come back when time has run out, and play on."""
    async with client:
        table_id = (await client.create_table(game=GAME, seats=3, clock=SHORTEST_CLOCK)).table.table_id
        for _ in range(2):
            await client.add_bot(table_id=table_id)
        await client.set_ready(table_id=table_id)
        async with client.play(table_id) as table:
            async for event in table:
                if _is_timeout(event):
                    break
            others = await play(client, table, random)
        client.counts[key("timeouts", GAME)] += 1 + others
        client.counts["tables finished"] += 1


async def evening(endpoints: Endpoints, counts: Counter[str]) -> None:
    tables: set[str] = set()
    names = ("Anna", "Ben", "Cleo")
    players = [matched(CountingClient(endpoints, name, counts), tables, Random(name)) for name in names]
    async with asyncio.timeout(DEADLINE_SECONDS):
        await asyncio.gather(*players, absent(CountingClient(endpoints, "Eve", counts), Random("Eve")))
    counts["tables finished"] += len(tables)
    counts[key("quick matches", GAME)] += len(tables)


def test_services_count_what_players_count(tmp_path: Path) -> None:
    counts: Counter[str] = Counter()
    with started_services(tmp_path) as services:
        watch = Watch({name: at["metrics"] for name, at in services.addresses.items()}, time.monotonic)
        watch.sample()
        asyncio.run(evening(endpoints_of(services.addresses), counts))
        rows = await_agreement(watch, counts, within_seconds=10, sleep=time.sleep)
    assert differences(rows) == (), counts
    figures = {row.name: row for row in rows}
    seen = {"actions accepted thulla", "actions refused NOT_YOUR_TURN", "timeouts thulla", "quick matches thulla"}
    seen |= {"tables finished", "streams resumed", "streams opened Play", "rpc Play OK", "rpc GetView NOT_FOUND"}
    assert seen <= set(figures)
    assert figures["tables finished"].services == 2
    assert not [row for row in rows if row.slack], "who waits for the end of his calls knows everything"
    # Each of them would be noticed.
    for name in figures:
        assert [row.name for row in compare(watch.increases(), counts + Counter({name: 1})) if not row.agrees] == [name]
    for use in watch.uses():
        assert use.cpu_seconds > 0
        assert use.memory_last_bytes > 10 * 2**20
        assert use.files_last > 3
        assert use.streams_last == 0
    assert watch.check().passed
