"""The time-outs of calls: each at its own time, though they share one timer."""

import asyncio

import pytest

from croupier.engine.tables.call_timeouts import CALL_TIMEOUT_SECONDS, CallTimeouts
from croupier.runtime.errors import NotFound, ServiceError, Unavailable
from croupier.runtime.table_access import unknown_table
from tests.engine.fakes import FakeClock
from tests.engine.play import within_timeout
from tests.waiting import settled

WHOLE = round(CALL_TIMEOUT_SECONDS * 1000)


class Calls:
    """Calls of one engine that wait for one answer, on a loop with the time of a clock."""

    def __init__(self) -> None:
        self.clock = FakeClock()
        self.clock.drive()
        self.timeouts = CallTimeouts()
        self.answer = asyncio.Event()

    async def begin(self) -> asyncio.Task[bool]:
        call = asyncio.create_task(self._call())
        await settled()
        return call

    async def _call(self) -> bool:
        with self.timeouts.in_time():
            return await self.answer.wait()

    async def pass_time(self, milliseconds: int) -> None:
        self.clock.advance(milliseconds)
        await settled()


@pytest.fixture
async def calls() -> Calls:
    return Calls()


async def refused(call: asyncio.Task[bool]) -> str:
    with pytest.raises(Unavailable) as refusal:
        await within_timeout(call)
    return refusal.value.reason_name


async def test_each_call_has_the_whole_time(calls: Calls) -> None:
    first = await calls.begin()
    await calls.pass_time(4_000)
    second = await calls.begin()
    await calls.pass_time(WHOLE - 4_001)
    assert not first.done()
    await calls.pass_time(1)
    assert await refused(first) == "STORE_UNAVAILABLE"
    await calls.pass_time(3_999)
    assert not second.done()
    await calls.pass_time(1)
    assert await refused(second) == "STORE_UNAVAILABLE"


async def test_calls_after_all_others_have_ended_expire_too(calls: Calls) -> None:
    for _ in range(2):
        calls.answer.set()
        assert await within_timeout(await calls.begin())
        calls.answer.clear()
        await calls.pass_time(2 * WHOLE)
        late = await calls.begin()
        await calls.pass_time(WHOLE)
        assert await refused(late) == "STORE_UNAVAILABLE"


async def test_an_answered_call_goes_on_after_its_time(calls: Calls) -> None:
    async def answered() -> bool:
        with calls.timeouts.in_time():
            pass
        return await calls.answer.wait()

    call = asyncio.create_task(answered())
    await settled()
    await calls.pass_time(2 * WHOLE)
    calls.answer.set()
    assert await within_timeout(call)


@pytest.mark.parametrize("milliseconds", [1, WHOLE])
async def test_a_caller_who_cancels_gets_no_refusal(calls: Calls, milliseconds: int) -> None:
    call = await calls.begin()
    calls.clock.advance(milliseconds)
    # The timer fires before the task takes notice of the cancellation.
    asyncio.get_running_loop().call_soon(call.cancel)
    await settled()
    with pytest.raises(asyncio.CancelledError):
        await within_timeout(call)


async def test_a_refused_task_may_wait_again(calls: Calls) -> None:
    async def repeated() -> bool:
        with pytest.raises(Unavailable), calls.timeouts.in_time():
            await calls.answer.wait()
        return await calls.answer.wait()

    call = asyncio.create_task(repeated())
    await settled()
    await calls.pass_time(WHOLE)
    assert call.cancelling() == 0
    calls.answer.set()
    assert await within_timeout(call)


async def test_an_error_of_a_call_is_its_own(calls: Calls) -> None:
    with pytest.raises(NotFound), calls.timeouts.in_time():
        raise unknown_table()


async def test_an_answer_is_given_once_in_time_or_as_a_refusal(calls: Calls) -> None:
    given: list[int | str] = []

    def answer(outcome: int | ServiceError) -> None:
        given.append(outcome.reason_name if isinstance(outcome, ServiceError) else outcome)

    early, late = [calls.timeouts.answer_in_time(answer) for _ in range(2)]
    await calls.pass_time(WHOLE - 1)
    early(1)
    early(2)
    assert given == [1]
    await calls.pass_time(1)
    assert given == [1, "STORE_UNAVAILABLE"]
    late(3)
    await calls.pass_time(WHOLE)
    assert given == [1, "STORE_UNAVAILABLE"]
