"""The lock of a table: one holder, the first that came first, and cancelled calls that leave no trace."""

import asyncio

import pytest

from croupier.engine.tables.table_lock import TableLock
from tests.waiting import settled


class Holders:
    """Calls that hold a lock, by their names in the order in which they got it."""

    def __init__(self) -> None:
        self.lock = TableLock()
        self.names: list[str] = []
        self.may_end = asyncio.Event()

    def begin(self, name: str) -> asyncio.Task[None]:
        return asyncio.create_task(self._hold(name))

    async def _hold(self, name: str) -> None:
        async with self.lock:
            self.names.append(name)
            await self.may_end.wait()


@pytest.fixture
async def holders() -> Holders:
    return Holders()


async def test_calls_hold_it_one_after_the_other_in_the_order_in_which_they_came(holders: Holders) -> None:
    calls = [holders.begin(name) for name in "abc"]
    await settled()
    assert holders.names == ["a"]
    holders.may_end.set()
    await asyncio.gather(*calls)
    assert holders.names == ["a", "b", "c"]
    assert not holders.lock.locked()


async def test_a_free_one_is_taken_in_a_plain_call_and_passed_on_by_its_release(holders: Holders) -> None:
    holders.lock.take()
    assert holders.lock.locked()
    calls = [holders.begin(name) for name in "ab"]
    await settled()
    assert holders.names == []
    holders.lock.release()
    # It is never free in between, so that no later call comes first.
    assert holders.lock.locked()
    with pytest.raises(RuntimeError, match="held by another call"):
        holders.lock.take()
    await settled()
    assert holders.names == ["a"]
    holders.may_end.set()
    await asyncio.gather(*calls)


async def test_a_cancelled_call_that_waits_is_left_out(holders: Holders) -> None:
    holders.lock.take()
    calls = {name: holders.begin(name) for name in "abc"}
    await settled()
    calls["a"].cancel()
    calls["c"].cancel()
    await settled()
    holders.lock.release()
    holders.may_end.set()
    await asyncio.wait(calls.values())
    assert holders.names == ["b"]
    assert not holders.lock.locked()


@pytest.mark.parametrize("is_released_first", [False, True])
async def test_a_call_that_is_cancelled_as_it_gets_the_lock_passes_it_on(
    holders: Holders, is_released_first: bool
) -> None:
    holders.lock.take()
    calls = {name: holders.begin(name) for name in "ab"}
    await settled()
    if is_released_first:
        holders.lock.release()
    calls["a"].cancel()
    if not is_released_first:
        holders.lock.release()
    await settled()
    assert calls["a"].cancelled()
    assert holders.names == ["b"]
    holders.may_end.set()
    await calls["b"]
    assert not holders.lock.locked()


async def test_an_error_of_its_holder_releases_it(holders: Holders) -> None:
    with pytest.raises(ZeroDivisionError):
        async with holders.lock:
            raise ZeroDivisionError
    assert not holders.lock.locked()
