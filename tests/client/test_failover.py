"""Both channels where engines stop, die, hang and never answer: the table goes on, and its user sees a counter."""

import asyncio
import socket
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass

import grpc
import pytest

from croupier_api.v1 import engine_pb2
from croupier_client import (
    AsyncTable,
    BlockingClient,
    BlockingTable,
    Client,
    Endpoints,
    RetryPolicy,
    SequenceError,
    Table,
    Unavailable,
    aio,
    blocking,
)
from croupier_client.endpoints import CALL_SECONDS, CHANNEL_OPTIONS, channel_target
from tests.client.fakes import HAND, HASTY, QUICK, FakeCroupier, Script, play, refused, since_start
from tests.ports import reserved_port
from tests.waiting import until

SECRET = "a secret of this device"
DEADLINE_SECONDS = 60.0
PACE = ("grpc.keepalive_time_ms", "grpc.keepalive_timeout_ms", "grpc.http2.ping_timeout_ms")
PING = bytes([6, 0])
"""Type and flags of the frame of HTTP/2 that asks for an answer."""
SLOW = RetryPolicy(total_seconds=300, first_delay_seconds=120, most_delay_seconds=120)
"""Patience in which nothing that waits before it tries again comes back in time."""


@dataclass
class Played:
    """A table as a test plays at it: `act` lays the card of this number, `watch` gives all updates to the end."""

    table: Table
    act: Callable[[int], Awaitable[int]]
    watch: Callable[[], Awaitable[list[int]]]


@asynccontextmanager
async def played_with_asyncio(endpoints: Endpoints, policy: RetryPolicy) -> AsyncIterator[Played]:
    async with Client(endpoints, SECRET, policy=policy, clock=since_start) as client, client.play("t1") as table:

        async def watch() -> list[int]:
            async with client.watch("t1") as watched:
                return [event.sequence async for event in watched if isinstance(event, engine_pb2.TableUpdate)]

        yield Played(table, lambda n: table.act(play(HAND[n])), watch)


@asynccontextmanager
async def played_in_threads(endpoints: Endpoints, policy: RetryPolicy) -> AsyncIterator[Played]:
    with BlockingClient(endpoints, SECRET, policy=policy, clock=since_start) as client:
        table = await asyncio.to_thread(client.play("t1").__enter__)

        def watch() -> list[int]:
            with client.watch("t1") as watched:
                return [event.sequence for event in watched if isinstance(event, engine_pb2.TableUpdate)]

        try:
            yield Played(table, lambda n: asyncio.to_thread(table.act, play(HAND[n])), lambda: asyncio.to_thread(watch))
        finally:
            await asyncio.to_thread(table.close)


Opens = Callable[[Endpoints, RetryPolicy], AbstractAsyncContextManager[Played]]


@pytest.fixture(params=[played_with_asyncio, played_in_threads], ids=["asyncio", "blocking"])
def playing(request: pytest.FixtureRequest) -> Opens:
    """Opens the table by one of the two channels."""
    opens: Opens = request.param
    return opens


def several(*fakes: FakeCroupier) -> Endpoints:
    return Endpoints.single(",".join(fake.address for fake in fakes))


async def lay_all(played: Played) -> None:
    for number in range(played.table.sequence, len(HAND)):
        assert await played.act(number) == number + 1


@pytest.mark.parametrize("apply_first", [True, False])
async def test_a_stream_that_moves_is_opened_again_at_once(playing: Opens, apply_first: bool) -> None:
    moves = Script(move_at_action=2, apply_first=apply_first)
    with FakeCroupier(moves, moves) as fake:
        async with asyncio.timeout(DEADLINE_SECONDS), playing(several(fake), SLOW) as played:
            await lay_all(played)
            assert played.table.view == fake.table.view()
            assert played.table.resumes == fake.calls.count("Play") - 1 == 2
    assert len(set(fake.table.submitted)) == len(HAND)
    # Each new stream begins with the action that was not answered, under its old name.
    assert len(fake.table.submitted) == len(HAND) + (2 if apply_first else 0)
    assert [watch.after_sequence for watch in fake.watched[1:]] == [1, 2]


async def test_a_watched_stream_moves_as_well(playing: Opens) -> None:
    with FakeCroupier(Script(), Script(move_at_action=1), Script(move_at_action=1)) as fake:
        async with asyncio.timeout(DEADLINE_SECONDS), playing(several(fake), SLOW) as played:
            watching = asyncio.ensure_future(played.watch())
            await until(lambda: fake.calls.count("WatchTable") == 3)
            await lay_all(played)
            fake.hold.set()
            assert await watching == [1, 2, 3, 4]


async def test_streams_that_bring_nothing_but_the_notice_are_failures(playing: Opens) -> None:
    with FakeCroupier(*[Script(move_first=True)] * 999) as fake:
        async with asyncio.timeout(DEADLINE_SECONDS):
            with pytest.raises(Unavailable):
                async with playing(several(fake), HASTY):
                    pytest.fail("the table opened")
    assert fake.calls.count("Play") < 99


async def test_an_engine_that_dies_is_left_for_another_one(playing: Opens) -> None:
    with FakeCroupier() as first, FakeCroupier(replica_of=first) as second:
        async with asyncio.timeout(DEADLINE_SECONDS), playing(several(first, second), QUICK) as played:
            await played.act(0)
            (serving,) = (fake for fake in (first, second) if "Play" in fake.calls)
            await asyncio.to_thread(serving.stop)
            await lay_all(played)
            assert played.table.view == first.table.view()
            assert played.table.resumes == 1


async def test_votes_are_sent_again_to_whichever_engine_under_their_name(playing: Opens) -> None:
    with FakeCroupier() as first, FakeCroupier(replica_of=first) as second:
        async with asyncio.timeout(DEADLINE_SECONDS), playing(several(first, second), QUICK) as played:
            # Of both together: the connection to one of them may still be being made.
            first.unary_failures = second.unary_failures
            first.unary_failures.extend([refused(grpc.StatusCode.UNAVAILABLE, "lost")] * 2)
            proposing = asyncio.ensure_future(propose(played.table))
            await until(lambda: len(first.said) + len(second.said) == 3)
            await played.act(0)
            assert await proposing == 1
    assert len({request.request_id for request in (*first.said, *second.said)}) == 1


def propose(table: Table) -> Awaitable[int]:
    if isinstance(table, BlockingTable):
        return asyncio.to_thread(table.propose, "again")
    assert isinstance(table, AsyncTable)
    return table.propose("again")


async def test_replicas_share_the_calls() -> None:
    with FakeCroupier() as first, FakeCroupier(replica_of=first) as second:
        async with (
            asyncio.timeout(DEADLINE_SECONDS),
            Client(several(first, second), SECRET, clock=since_start) as client,
        ):
            while not ("ListGames" in first.calls and "ListGames" in second.calls):
                await client.list_games()


async def test_addresses_without_anybody_or_without_an_answer_hold_nobody_up(playing: Opens) -> None:
    with socket.create_server(("127.0.0.1", 0)) as mute, reserved_port() as gone:
        addresses = [f"127.0.0.1:{port}" for port in (mute.getsockname()[1], gone)]
        with FakeCroupier() as fake:
            endpoints = Endpoints.single(",".join([*addresses, fake.address]))
            async with asyncio.timeout(DEADLINE_SECONDS), playing(endpoints, QUICK) as played:
                await lay_all(played)


class Path:
    """A way to an engine on which everything that is open at some moment can come to be swallowed without a word."""

    def __init__(self, address: str) -> None:
        self.pings = 0
        """How often a client asked whether the other side lives."""
        self._target = address
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._open: list[socket.socket] = []
        self._swallowed: set[socket.socket] = set()
        threading.Thread(target=self._accept, daemon=True).start()

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self._listener.getsockname()[1]}"

    def swallow(self) -> None:
        """From now on nothing comes through on the connections that there are."""
        self._swallowed.update(self._open)

    def close(self) -> None:
        for each in (self._listener, *self._open):
            with suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
            each.close()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                near, _ = self._listener.accept()
                host, _, port = self._target.rpartition(":")
                far = socket.create_connection((host, int(port)))
                self._open += [near, far]
                for source, target in ((near, far), (far, near)):
                    threading.Thread(target=self._pass_on, args=(source, target), daemon=True).start()

    def _pass_on(self, source: socket.socket, target: socket.socket) -> None:
        with suppress(OSError):
            while data := source.recv(65_536):
                self.pings += data[3:5] == PING
                if source not in self._swallowed:
                    target.sendall(data)


@contextmanager
def path_to(address: str) -> Iterator[Path]:
    path = Path(address)
    try:
        yield path
    finally:
        path.close()


def hurried(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let both channels ask twenty times as often whether the other side lives."""
    pace = {name: int(dict(CHANNEL_OPTIONS)[name]) // 20 for name in PACE}
    options = tuple((name, pace.get(name, value)) for name, value in CHANNEL_OPTIONS)
    for channel in (aio, blocking):
        monkeypatch.setattr(channel, "CHANNEL_OPTIONS", options)


def test_a_dead_path_is_noticed_before_a_call_on_it_has_failed() -> None:
    options = dict(CHANNEL_OPTIONS)
    asked, *patience = (int(options[name]) for name in PACE)
    assert all(asked + each < CALL_SECONDS * 1000 for each in patience)


async def test_a_path_that_swallows_everything_is_left(playing: Opens, monkeypatch: pytest.MonkeyPatch) -> None:
    hurried(monkeypatch)
    with FakeCroupier() as first, FakeCroupier(replica_of=first) as second:
        with path_to(first.address) as one, path_to(second.address) as other:
            endpoints = Endpoints.single(f"{one.address},{other.address}")
            async with asyncio.timeout(DEADLINE_SECONDS), playing(endpoints, QUICK) as played:
                await played.act(0)
                (one if "Play" in first.calls else other).swallow()
                await lay_all(played)
                # On a busy machine the other path may seem dead for once, too.
                assert played.table.resumes >= 1
        first.hold.set()


async def test_a_quiet_stream_on_a_dead_path_is_left_too(playing: Opens, monkeypatch: pytest.MonkeyPatch) -> None:
    hurried(monkeypatch)
    with FakeCroupier() as fake, path_to(fake.address) as path:
        engines = Endpoints(lobby=fake.address, engine=path.address, scoring=fake.address)
        async with asyncio.timeout(DEADLINE_SECONDS), playing(engines, QUICK):
            # The library would by itself stop asking on a stream that sends nothing.
            await until(lambda: path.pings > 2)
            path.swallow()
            await until(lambda: fake.calls.count("Play") > 1)


async def test_a_stream_that_falls_silent_on_a_connection_that_lives_is_opened_again(playing: Opens) -> None:
    hasty = RetryPolicy(total_seconds=60, first_delay_seconds=0.01, most_delay_seconds=0.05, silence_seconds=0.5)
    with FakeCroupier(Script(stall_at_action=2)) as fake:
        async with asyncio.timeout(DEADLINE_SECONDS), playing(several(fake), hasty) as played:
            await lay_all(played)
            # On a busy machine a stream may seem silent that is not.
            assert played.table.resumes >= 1
        fake.hold.set()


@pytest.mark.parametrize("skew", [1, -1])
async def test_a_stream_that_does_not_go_on_where_it_was_ends_the_table(playing: Opens, skew: int) -> None:
    moves = Script(move_at_action=3)
    with FakeCroupier(moves, Script(resume_skew=skew)) as fake:
        async with asyncio.timeout(DEADLINE_SECONDS), playing(several(fake), QUICK) as played:
            await played.act(0)
            await played.act(1)
            with pytest.raises(SequenceError):
                await played.act(2)
            assert played.table.sequence == 2


@pytest.mark.parametrize(
    ("addresses", "target"),
    [
        ("127.0.0.1:7720", "127.0.0.1:7720"),
        ("dns:///engines:7720", "dns:///engines:7720"),
        ("10.0.0.1:7720, 10.0.0.2:7720", "ipv4:10.0.0.1:7720,10.0.0.2:7720"),
    ],
)
def test_one_address_is_taken_as_it_is_and_several_share_the_calls(addresses: str, target: str) -> None:
    assert channel_target(addresses) == target


@pytest.mark.parametrize("addresses", ["engine-1:7720,engine-2:7720", "10.0.0.1:7720,10.0.0.2", "10.0.0.1:1,"])
def test_several_names_are_refused_with_what_would_do(addresses: str) -> None:
    with pytest.raises(ValueError, match=r"cannot be used: .* dns:///name:7720"):
        Endpoints(lobby="127.0.0.1:1", engine=addresses, scoring="127.0.0.1:1")
