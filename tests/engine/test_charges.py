"""What calls pay besides their own cost: for the log of a table that has to be read, and as strangers."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import replace
from random import Random
from typing import Any

import pytest

from croupier.engine.tables.registry import Tables
from croupier.games.facts import ALL_SEATS, Viewer
from croupier.runtime.admission.admission import ALL
from croupier.runtime.admission.budget import SECOND, Budget, TooManyCalls
from croupier.runtime.admission.costs import LOOKUP_COST, load_cost, replay_cost, resume_cost
from croupier.runtime.errors import NotFound
from croupier.runtime.table_access import OPEN, SEATED
from croupier_api.v1.engine_pb2 import GetReplayRequest, GetViewRequest, WatchReplayRequest, WatchTableRequest
from tests.calls import call_of, limits
from tests.engine.fakes import EngineHarness, StoreDown
from tests.engine.play import make_config, open_table, play_on, replay_of

GET_VIEW = 2
PLENTY = 10_000


class Accounts:
    """Calls of players at the table t1 of an engine, and the budgets that they pay from; time stands still."""

    def __init__(
        self, engine: EngineHarness, tables: Tables, stranger_burst: int = PLENTY, network_burst: int = PLENTY
    ) -> None:
        self._players = Budget("player", 1, PLENTY, lambda: SECOND)
        self._strangers = Budget("strangers", 1, stranger_burst, lambda: SECOND)
        network = Budget("strangers", 1, network_burst, lambda: SECOND)
        self._limits = limits(player=self._players, strangers=self._strangers, network_strangers=network)
        self._servicer = engine.servicer(tables)

    async def call(self, player_id: str, request: Any, cost: int = GET_VIEW) -> None:
        """Call the method of a request; of a stream the first message is read."""
        method: Any = getattr(self._servicer, type(request).__name__.removesuffix("Request"))
        answer = method(request, call_of(player_id, self._limits, cost))
        if not isinstance(answer, AsyncGenerator):
            await answer
            return
        async with aclosing(answer):
            await anext(answer)

    async def view(self, player_id: str, table_id: str = "t1") -> None:
        await self.call(player_id, GetViewRequest(table_id=table_id))

    def paid_by(self, player_id: str) -> int:
        return self._players.wait(player_id, PLENTY) // SECOND

    def paid_by_strangers(self) -> int:
        return self._strangers.wait(ALL, PLENTY) // SECOND


@pytest.fixture
async def tables(engine: EngineHarness) -> Tables:
    """Return the tables of an engine that has read the log of none, with a table t1 of 45 entries at least."""
    await play_on(await open_table(engine, make_config(seat_count=3)), Random(1), max_actions=44)
    return engine.another_engine().tables()


@pytest.fixture
def accounts(engine: EngineHarness, tables: Tables) -> Accounts:
    return Accounts(engine, tables)


async def test_the_call_that_needs_the_log_pays_for_it(tables: Tables, accounts: Accounts) -> None:
    await accounts.view("p0")
    sequence = (await tables.get("t1")).state.sequence
    assert accounts.paid_by("p0") == GET_VIEW + load_cost(sequence)
    assert load_cost(sequence) > load_cost(0)
    await accounts.view("p1")
    assert (accounts.paid_by("p1"), accounts.paid_by_strangers()) == (GET_VIEW, 0)


async def test_calls_that_share_a_load_share_its_cost(tables: Tables, accounts: Accounts) -> None:
    players = "p0", "p1", "p2"
    await asyncio.gather(*map(accounts.view, players))
    sequence = (await tables.get("t1")).state.sequence
    assert [accounts.paid_by(each) for each in players] == [GET_VIEW + load_cost(sequence, callers=3)] * 3
    assert load_cost(sequence) <= 3 * load_cost(sequence, callers=3) < load_cost(sequence) + 3


async def test_strangers_pay_together_too(accounts: Accounts) -> None:
    await accounts.view("stranger")
    paid = accounts.paid_by("stranger")
    assert accounts.paid_by_strangers() == paid > GET_VIEW + LOOKUP_COST
    await accounts.view("another stranger")
    assert accounts.paid_by_strangers() == paid + GET_VIEW + LOOKUP_COST


async def test_strangers_beyond_their_budget_are_refused_before_a_log_is_read(
    engine: EngineHarness, tables: Tables
) -> None:
    accounts = Accounts(engine, tables, stranger_burst=GET_VIEW + LOOKUP_COST)
    await accounts.view("stranger")
    await tables.evict(-1)
    with pytest.raises(TooManyCalls) as refusal:
        await accounts.view("another stranger")
    assert refusal.value.limit == "strangers"
    assert not list(tables.in_memory)
    await accounts.view("p0")


@pytest.mark.parametrize("is_in_memory", [False, True])
async def test_unknown_and_hidden_tables_cost_a_stranger_the_same(
    engine: EngineHarness, accounts: Accounts, *, is_in_memory: bool
) -> None:
    await open_table(engine, make_config(table_id="hidden", access=SEATED))
    if is_in_memory:
        await accounts.view("p0", "hidden")
    for number, table_id in enumerate(("none", "hidden"), 1):
        with pytest.raises(NotFound):
            await accounts.view("stranger", table_id)
        assert accounts.paid_by("stranger") == number * (GET_VIEW + LOOKUP_COST)
        assert accounts.paid_by_strangers() == number * LOOKUP_COST


async def test_a_look_up_is_refused_before_the_store_is_asked(engine: EngineHarness, tables: Tables) -> None:
    accounts = Accounts(engine, tables, network_burst=LOOKUP_COST)
    with pytest.raises(NotFound):
        await accounts.view("stranger", "none")
    engine.store.reads_fail = True
    with pytest.raises(TooManyCalls):
        await accounts.view("stranger", "none")


async def test_players_who_try_again_during_an_outage_use_up_no_units_of_strangers(
    engine: EngineHarness, tables: Tables
) -> None:
    engine.store.reads_fail = True
    accounts = Accounts(engine, tables, stranger_burst=LOOKUP_COST, network_burst=LOOKUP_COST)
    for _ in range(3):
        with pytest.raises(StoreDown):
            await accounts.view("p0")


@pytest.mark.parametrize(
    ("request_of_replay", "viewer"),
    [(GetReplayRequest(table_id="t1"), None), (WatchReplayRequest(table_id="t1", all_seats=True), ALL_SEATS)],
    ids=["file", "events"],
)
async def test_only_calls_that_need_a_new_replay_pay_for_it(
    engine: EngineHarness, request_of_replay: GetReplayRequest | WatchReplayRequest, viewer: Viewer | None
) -> None:
    await play_on(await open_table(engine, make_config(seat_count=3)), Random(5))
    tables = engine.tables()
    accounts = Accounts(engine, tables)
    for player_id in ("p0", "p1"):
        await accounts.call(player_id, request_of_replay)
    cost = replay_cost(len((await replay_of(tables, "t1", "p2", viewer)).compressed))
    assert cost > 0
    assert (accounts.paid_by("p0"), accounts.paid_by("p1")) == (GET_VIEW + cost, GET_VIEW)


async def test_the_first_spectator_of_a_delayed_table_pays_for_folding_its_log_again(engine: EngineHarness) -> None:
    access = replace(OPEN, watch_delay_seconds=20)
    table = await open_table(engine, make_config(seat_count=3, access=access))
    await play_on(table, Random(1), max_actions=44)
    tables = engine.tables()
    accounts = Accounts(engine, tables)
    await tables.get("t1")
    for player_id in ("stranger", "another stranger"):
        await accounts.view(player_id)
    own = GET_VIEW + LOOKUP_COST
    assert accounts.paid_by("stranger") == own + load_cost(table.state.sequence)
    assert accounts.paid_by("another stranger") == own


async def test_a_resumed_stream_pays_for_the_entries_that_it_missed(tables: Tables, accounts: Accounts) -> None:
    sequence = (await tables.get("t1")).state.sequence
    for player_id, after_sequence in {"p0": sequence - 40, "p1": sequence, "p2": None}.items():
        await accounts.call(player_id, WatchTableRequest(table_id="t1", after_sequence=after_sequence))
    assert resume_cost(40) > 0
    assert [accounts.paid_by(f"p{seat}") - GET_VIEW for seat in range(3)] == [resume_cost(40), 0, 0]
