"""What calls pay besides their own cost: for the log of a table that has to be read, and as strangers."""

import asyncio
from collections.abc import Coroutine
from contextlib import aclosing
from dataclasses import replace
from random import Random
from typing import Any

import pytest

from croupier.engine.api.servicer import EngineServicer
from croupier.engine.core.access import Visitor
from croupier.engine.tables.registry import Tables
from croupier.games.facts import SPECTATOR
from croupier.runtime.capacity_limiter import CapacityLimiter
from croupier.runtime.costs import load_cost, replay_cost, resume_cost
from croupier.runtime.errors import NotFound
from croupier.runtime.identity import Caller, set_caller
from croupier.runtime.rate_limit import SECOND, STRANGERS, Budgets, CallBudget, TooManyCalls, begin_charging
from croupier.runtime.table_access import OPEN
from croupier_api.v1.engine_pb2 import WatchTableRequest
from tests.engine.fakes import EngineHarness
from tests.engine.play import act_once, make_config, open_table, play_on

COST = 2
PLENTY = 10_000


class Accounts:
    """The budgets of an engine, with a clock that stands still."""

    def __init__(self, stranger_burst: int = PLENTY) -> None:
        self._players = CallBudget("player", 1, PLENTY, lambda: SECOND)
        self._strangers = CallBudget("strangers", 1, stranger_burst, lambda: SECOND)
        self._budgets = Budgets(self._players, strangers=self._strangers)

    async def call(self, player_id: str, work: Coroutine[Any, Any, Any]) -> None:
        """Work for a call of a player, in a task of its own as on a server."""

        async def serve() -> None:
            begin_charging(self._budgets, Caller(player_id, ""), COST)
            await work

        await asyncio.create_task(serve())

    async def get(self, tables: Tables, table_id: str, player_id: str) -> None:
        await self.call(player_id, tables.get(table_id, Visitor(player_id)))

    def paid_by(self, player_id: str) -> int:
        """Return the units that the calls of a player took."""
        return self._players.wait(player_id, PLENTY) // SECOND

    def paid_by_strangers(self) -> int:
        """Return the units that the calls of strangers took from their budget."""
        return self._strangers.wait(STRANGERS, PLENTY) // SECOND


@pytest.fixture
async def tables(engine: EngineHarness) -> Tables:
    """Return the tables of an engine that has read the log of none, with a table t1 of 45 entries at least."""
    table = await open_table(engine, make_config(seat_count=3))
    while table.state.sequence < 45:
        await act_once(table, Random(table.state.sequence))
    return Tables(engine.another_engine().services, bytes, 100)


async def test_the_call_that_needs_the_log_pays_for_it(tables: Tables) -> None:
    accounts = Accounts()
    await accounts.get(tables, "t1", "p0")
    sequence = (await tables.get("t1")).state.sequence
    assert accounts.paid_by("p0") == COST + load_cost(sequence)
    assert load_cost(sequence) > load_cost(0)
    await accounts.get(tables, "t1", "p1")
    assert (accounts.paid_by("p1"), accounts.paid_by_strangers()) == (COST, 0)


async def test_strangers_pay_together_too(tables: Tables) -> None:
    accounts = Accounts()
    await accounts.get(tables, "t1", "stranger")
    paid = accounts.paid_by("stranger")
    assert accounts.paid_by_strangers() == paid > COST
    await accounts.get(tables, "t1", "another stranger")
    assert accounts.paid_by_strangers() == paid + COST


async def test_strangers_beyond_their_budget_are_refused_before_a_log_is_read(tables: Tables) -> None:
    accounts = Accounts(stranger_burst=COST)
    await accounts.get(tables, "t1", "stranger")
    await tables.evict(-1)
    with pytest.raises(TooManyCalls) as refusal:
        await accounts.get(tables, "t1", "another stranger")
    assert refusal.value.limit == "strangers"
    assert not list(tables.in_memory)
    await accounts.get(tables, "t1", "p0")


async def test_an_unknown_table_costs_no_stranger_anything(tables: Tables) -> None:
    accounts = Accounts()
    with pytest.raises(NotFound):
        await accounts.get(tables, "none", "stranger")
    assert (accounts.paid_by("stranger"), accounts.paid_by_strangers()) == (COST, 0)


async def test_only_the_call_that_needs_a_new_replay_pays_for_it(engine: EngineHarness) -> None:
    await play_on(await open_table(engine, make_config(seat_count=3)), Random(5))
    tables, accounts = Tables(engine.services, bytes, 100), Accounts()
    await accounts.call("p0", tables.replay("t1", Visitor("p0")))
    await accounts.call("p1", tables.replay("t1", Visitor("p1")))
    cost = replay_cost(len(await tables.replay("t1", Visitor("p2"))))
    assert cost > 0
    assert (accounts.paid_by("p0"), accounts.paid_by("p1")) == (COST + cost, COST)


async def test_the_first_spectator_of_a_delayed_table_pays_for_folding_its_log_again(engine: EngineHarness) -> None:
    access = replace(OPEN, watch_delay_seconds=20)
    table, accounts = await open_table(engine, make_config(seat_count=3, access=access)), Accounts()
    while table.state.sequence < 45:
        await act_once(table, Random(table.state.sequence))
    for player_id in ("stranger", "another stranger"):
        await accounts.call(player_id, table.state_for(SPECTATOR))
    assert accounts.paid_by("stranger") == COST + load_cost(table.state.sequence)
    assert accounts.paid_by("another stranger") == COST


async def test_a_resumed_stream_pays_for_the_entries_that_it_missed(tables: Tables, engine: EngineHarness) -> None:
    accounts, sequence = Accounts(), (await tables.get("t1")).state.sequence
    limiter = CapacityLimiter("streams", 9, 9, 9)
    servicer = EngineServicer(tables, engine.services.metrics, limiter, engine.links())

    async def watch(player_id: str, after_sequence: int | None) -> None:
        set_caller(Caller(player_id, ""))
        stream: Any = servicer.WatchTable(WatchTableRequest(table_id="t1", after_sequence=after_sequence), None)
        async with aclosing(stream):
            await anext(stream)

    for player_id, after_sequence in {"p0": sequence - 40, "p1": sequence, "p2": None}.items():
        await accounts.call(player_id, watch(player_id, after_sequence))
    assert resume_cost(40) > 0
    assert [accounts.paid_by(f"p{seat}") - COST for seat in range(3)] == [resume_cost(40), 0, 0]
