"""The keys of a queue take turns, and so do the networks of streams that send."""

import asyncio
from functools import partial

import pytest

from croupier.runtime.fair_queue import TICK_SECONDS, FairQueue, SendingLoop
from tests.waiting import SettlingLoop, settled


def taken(queue: FairQueue[str]) -> str:
    return "".join(queue.take() for _ in range(len(queue)))


def filled(words: str) -> FairQueue[str]:
    """Return a queue with words of letters and numbers; the letter is the key."""
    queue: FairQueue[str] = FairQueue()
    for word in words.split():
        queue.put(word[0], word)
    return queue


@pytest.mark.parametrize(
    ("put", "order"),
    [
        ("", ""),
        ("a1 a2 a3", "a1a2a3"),
        ("a1 a2 a3 b1", "a1b1a2a3"),
        ("a1 a2 a3 b1 b2 c1", "a1b1c1a2b2a3"),
        ("b1 a1 a2 a3", "b1a1a2a3"),
    ],
)
def test_keys_take_turns(put: str, order: str) -> None:
    assert taken(filled(put)) == order


def test_a_key_that_comes_later_is_next_after_those_that_wait() -> None:
    queue = filled("a1 a2 a3 a4")
    assert queue.take() == "a1"
    queue.put("b", "b1")
    assert taken(queue) == "a2b1a3a4"


def test_items_that_wait_no_longer_have_no_turn() -> None:
    queue = filled("a1 a2 b1")
    assert [queue.count(key) for key in "abc"] == [2, 1, 0]
    for key, item in (("a", "a1"), ("b", "b1"), ("b", "b1"), ("c", "c1")):
        queue.discard(key, item)
    assert (len(queue), bool(queue)) == (1, True)
    assert taken(queue) == "a2"
    assert not queue
    with pytest.raises(KeyError):
        queue.take()


class Streams:
    """Waiting streams of a sending loop on virtual time; the names of their networks and numbers, such as a1."""

    def __init__(self, messages_per_tick: int) -> None:
        loop = asyncio.get_running_loop()
        assert isinstance(loop, SettlingLoop)
        loop.follow(lambda: self._now)
        self._now = 0.0
        self._sending = SendingLoop(messages_per_tick)
        self._turns: dict[str, asyncio.Future[None]] = {}
        self.sent: list[str] = []

    def wait(self, names: str) -> None:
        for name in names.split():
            turn = self._turns[name] = asyncio.get_running_loop().create_future()
            turn.add_done_callback(partial(self._on_turn, name))
            self._sending.put(name[0], turn)

    def _on_turn(self, name: str, turn: asyncio.Future[None]) -> None:
        if not turn.cancelled():
            self.sent.append(name)

    def leave(self, name: str) -> None:
        self._turns[name].cancel()

    async def sent_after(self, seconds: float) -> str:
        """Return the streams that send after a time."""
        self._now += seconds
        self.sent.clear()
        await settled()
        return " ".join(self.sent)


async def test_networks_send_in_turn_and_so_many_messages_in_a_tick() -> None:
    streams = Streams(3)
    streams.wait("a1 a2 a3 a4 b1")
    assert await streams.sent_after(0) == "a1 b1 a2"
    streams.wait("c1 c2")
    assert await streams.sent_after(TICK_SECONDS * 0.99) == ""
    assert await streams.sent_after(TICK_SECONDS * 0.01) == "a3 c1 a4"
    assert await streams.sent_after(TICK_SECONDS) == "c2"


async def test_few_streams_send_at_once() -> None:
    streams = Streams(3)
    for name in ("a1", "a2", "a3"):
        streams.wait(name)
        assert await streams.sent_after(0) == name
    streams.wait("a4")
    assert await streams.sent_after(0) == ""
    assert await streams.sent_after(TICK_SECONDS) == "a4"


async def test_a_stream_that_waits_no_more_leaves_its_turn_to_others() -> None:
    streams = Streams(2)
    streams.wait("a1 a2 a3 b1 b2")
    for name in ("a1", "b2"):
        streams.leave(name)
    assert await streams.sent_after(0) == "b1 a2"
    assert await streams.sent_after(TICK_SECONDS) == "a3"
