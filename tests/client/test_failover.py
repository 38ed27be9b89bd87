"""Both channels where streams break and engines die, hang and never answer: the table goes on for its user."""

import asyncio
import gc
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import grpc
import psutil  # type: ignore[import-untyped]
import pytest

from croupier_api.v1 import engine_pb2
from croupier_client import Endpoints, RetryPolicy, aio, blocking
from croupier_client.endpoints import CALL_SECONDS, CHANNEL_OPTIONS, channel_target
from loadtest.faults.proxy import Lane
from tests.client.conftest import Connects
from tests.client.fakes import HAND, QUICK, FakeCroupier, Fault, Script, play
from tests.client.test_channels import lay_all
from tests.ports import reserved_port
from tests.waiting import until

PACE = ("grpc.keepalive_time_ms", "grpc.keepalive_timeout_ms", "grpc.http2.ping_timeout_ms")
PING = bytes([6, 0])
"""Type and flags of the frame of HTTP/2 that asks for an answer."""
SLOW = RetryPolicy(total_seconds=300, first_delay_seconds=120, most_delay_seconds=120)
"""Patience in which nothing that waits before it tries again comes back in time."""
LOST = [grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.RESOURCE_EXHAUSTED, grpc.StatusCode.INTERNAL]


@pytest.mark.parametrize("apply_first", [True, False])
@pytest.mark.parametrize("code", LOST)
async def test_action_survives_a_lost_stream(client_of: Connects, apply_first: bool, code: grpc.StatusCode) -> None:
    lost = Script(Fault.DROP, at_action=2, apply_first=apply_first)
    again = replace(lost, at_action=1, drop_code=code)
    with FakeCroupier(lost, again, again) as fake:
        async with client_of(fake) as client, client.play("t1") as table:
            await lay_all(table)
            assert table.view == fake.table.view()
        first, second = fake.table.submitted[:2]
        assert fake.table.submitted.count(first) == 1
        assert fake.table.submitted.count(second) == (4 if apply_first else 1)
        watched = fake.asked(engine_pb2.WatchTableRequest)
        assert [watch.after_sequence for watch in watched[1:]] == [1] + [2 if apply_first else 1] * 2
        assert not watched[0].HasField("after_sequence")


@pytest.mark.parametrize(
    ("scripts", "calls"),
    [
        ([Script(Fault.END)] * 2, ["Play"] * 3),
        ([Script(Fault.BUSY, at_action=2)], ["Play"]),
        ([Script(swallow_last_answer=True)], ["Play", "SubmitAction"]),
    ],
    ids=["ended too early", "not stored", "last answer taken along"],
)
async def test_an_action_that_got_no_answer_is_sent_again(
    client_of: Connects, scripts: list[Script], calls: list[str]
) -> None:
    with FakeCroupier(*scripts) as fake:
        async with client_of(fake) as client, client.play("t1") as table:
            await lay_all(table)
            assert table.sequence == len(HAND)
    assert fake.calls == ["SignIn", *calls]
    assert len(fake.table.answers) == len(HAND)


async def test_token_ends_while_the_table_is_played(client_of: Connects) -> None:
    with FakeCroupier(Script(Fault.DROP)) as fake:
        async with client_of(fake) as client, client.play("t1") as table:
            fake.access_tokens.clear()
            await lay_all(table)
    assert fake.calls[:3] == ["SignIn", "Play", "Play"]
    assert fake.calls[-2:] == ["RefreshToken", "Play"]


@pytest.mark.parametrize("apply_first", [True, False])
async def test_a_stream_that_moves_is_opened_again_at_once(client_of: Connects, apply_first: bool) -> None:
    moves = Script(Fault.MOVE, at_action=2, apply_first=apply_first)
    with FakeCroupier(moves, moves) as fake:
        async with client_of(fake, policy=SLOW) as client, client.play("t1") as table:
            await lay_all(table)
            assert table.view == fake.table.view()
            assert table.resumes == fake.calls.count("Play") - 1 == 2
    assert len(set(fake.table.submitted)) == len(HAND)
    # Each new stream begins with the action that was not answered, under its old name.
    assert len(fake.table.submitted) == len(HAND) + (2 if apply_first else 0)
    assert [watch.after_sequence for watch in fake.asked(engine_pb2.WatchTableRequest)[1:]] == [1, 2]


@pytest.mark.parametrize("fault", [Fault.MOVE, Fault.END])
async def test_a_spectator_follows_to_the_end_over_several_streams(client_of: Connects, fault: Fault) -> None:
    async def follow(client: Any) -> Any:
        async with client.watch("t1") as watched:
            return [event.sequence async for event in watched if isinstance(event, engine_pb2.TableUpdate)]

    with FakeCroupier(Script(), Script(fault), Script(fault)) as fake:
        async with (
            client_of(fake, policy=SLOW if fault is Fault.MOVE else QUICK) as client,
            client.play("t1") as played,
        ):
            following = asyncio.create_task(follow(client))
            await until(lambda: fake.calls.count("WatchTable") == 3)
            await lay_all(played)
            fake.hold.set()
            assert await following == [1, 2, 3, 4]


async def test_a_client_that_is_closed_lets_go_of_its_connections(client_of: Connects) -> None:
    def connections() -> int:
        found = psutil.Process().net_connections("tcp")
        return sum(bool(each.raddr) and f"127.0.0.1:{each.raddr.port}" == fake.address for each in found)

    gc.disable()
    try:
        with FakeCroupier() as fake:
            async with client_of(fake) as client:
                async with client.play("t1") as played, client.watch("t1"):
                    await lay_all(played)
                assert connections()
            await until(lambda: not connections(), "what was closed has no connection left")
    finally:
        gc.enable()


async def test_an_engine_that_dies_is_left_for_another_one(client_of: Connects) -> None:
    with FakeCroupier() as first, FakeCroupier(replica_of=first) as second:
        async with client_of(first, second) as client, client.play("t1") as table:
            await table.act(play(HAND[0]))
            (serving,) = (fake for fake in (first, second) if "Play" in fake.calls)
            await asyncio.to_thread(serving.stop)
            await lay_all(table)
            assert table.view == first.table.view()
            assert table.resumes == 1


async def test_replicas_share_the_calls(client_of: Connects) -> None:
    with FakeCroupier() as first, FakeCroupier(replica_of=first) as second:
        async with client_of(first, second) as client:
            while not ("ListGames" in first.calls and "ListGames" in second.calls):
                await client.list_games()


async def test_addresses_without_anybody_or_without_an_answer_hold_nobody_up(client_of: Connects) -> None:
    with socket.create_server(("127.0.0.1", 0)) as mute, reserved_port() as gone, FakeCroupier() as fake:
        addresses = [f"127.0.0.1:{port}" for port in (mute.getsockname()[1], gone)]
        endpoints = Endpoints.single(",".join([*addresses, fake.address]))
        async with client_of(endpoints) as client, client.play("t1") as table:
            await lay_all(table)


class Path(Lane):
    """A way to an engine on which everything that is open at some moment can come to be swallowed without a word."""

    address = ""
    pings = 0
    """How often a client asked whether the other side lives."""

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        read = reader.read

        async def counted(limit: int = -1) -> bytes:
            data = await read(limit)
            self.pings += data[3:5] == PING
            return data

        reader.read = counted  # type: ignore[assignment]
        await super().serve(reader, writer)


@asynccontextmanager
async def path_to(address: str) -> AsyncIterator[Path]:
    host, _, port = address.rpartition(":")
    path = Path(host, int(port))
    server = await asyncio.start_server(path.serve, host, 0)
    path.address = f"{host}:{server.sockets[0].getsockname()[1]}"
    try:
        yield path
    finally:
        server.close()
        path.reset()


@pytest.fixture
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


@pytest.mark.usefixtures("hurried")
async def test_a_quiet_stream_on_a_dead_path_is_left(client_of: Connects) -> None:
    with FakeCroupier() as fake:
        async with path_to(fake.address) as path:
            engines = Endpoints(lobby=fake.address, engine=path.address, scoring=fake.address)
            async with client_of(engines) as client, client.play("t1"):
                # The library would by itself stop asking on a stream that sends nothing.
                await until(lambda: path.pings > 2)
                path.swallow()
                await until(lambda: fake.calls.count("Play") > 1)


async def test_a_stream_that_falls_silent_on_a_connection_that_lives_is_opened_again(client_of: Connects) -> None:
    with FakeCroupier(Script(Fault.STALL, at_action=2, apply_first=False)) as fake:
        async with client_of(fake, policy=replace(QUICK, silence_seconds=0.5)) as client, client.play("t1") as table:
            await lay_all(table)
            # On a busy machine a stream may seem silent that is not.
            assert table.resumes >= 1


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
