"""Both channels hide broken streams and engines that stop, hang or never answer from their user."""

import asyncio
import gc
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from itertools import count
from math import inf
from typing import Any

import grpc
import psutil
import pytest

from croupier_api.v1 import engine_pb2, lobby_pb2
from croupier_client import Endpoints, RetryPolicy
from croupier_client.endpoints import CALL_SECONDS, CHANNEL_OPTIONS, channel_target
from croupier_client.errors import Unavailable
from croupier_loadtest.faults.proxy import Route
from tests.client.conftest import FAST_RETRIES, Connect
from tests.client.fake_croupier import FakeCroupier, StreamFault, StreamScript
from tests.client.fake_table import HAND
from tests.client.messages import play
from tests.client.test_channels import play_all_cards
from tests.ports import reserved_port
from tests.waiting import TIMEOUT_SECONDS, until

KEEPALIVE_OPTIONS = ("grpc.keepalive_time_ms", "grpc.keepalive_timeout_ms", "grpc.http2.ping_timeout_ms")
PING = bytes([6, 0])
"""Type and flags of a PING frame of HTTP/2."""
SOCKET_PING = bytes([0x89])
"""The first byte of a PING frame of a WebSocket."""
SLOW_RETRIES = RetryPolicy(total_seconds=300, first_delay_seconds=120, max_delay_seconds=120)
"""Delays so long that a test with any delayed retry times out."""
LOST = [grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.RESOURCE_EXHAUSTED, grpc.StatusCode.INTERNAL]


@pytest.mark.parametrize("apply_first", [True, False])
@pytest.mark.parametrize("code", LOST)
async def test_action_survives_a_lost_stream(player_of: Connect, apply_first: bool, code: grpc.StatusCode) -> None:
    lost = StreamScript(StreamFault.DROP, at_action=2, apply_first=apply_first)
    again = replace(lost, at_action=1, drop_code=code)
    with FakeCroupier(lost, again, again) as fake:
        async with player_of(fake) as client, client.play_table("t1") as table:
            await play_all_cards(table)
            assert table.view == fake.table.view()
        first, second = fake.table.submitted[:2]
        assert fake.table.submitted.count(first) == 1
        assert fake.table.submitted.count(second) == (4 if apply_first else 1)
        watched = fake.requests_of(engine_pb2.WatchTableRequest)
        assert [watch.after_sequence for watch in watched[1:]] == [1] + [2 if apply_first else 1] * 2
        assert not watched[0].HasField("after_sequence")


@pytest.mark.parametrize(
    ("scripts", "calls"),
    [
        ([StreamScript(StreamFault.END)] * 2, ["PlayTable"] * 3),
        ([StreamScript(StreamFault.BUSY, at_action=2)], ["PlayTable"]),
        ([StreamScript(lose_last_answer=True)], ["PlayTable", "SubmitAction"]),
    ],
    ids=["ended too early", "not stored", "last answer lost"],
)
async def test_an_unanswered_action_is_sent_again(
    player_of: Connect, scripts: list[StreamScript], calls: list[str]
) -> None:
    with FakeCroupier(*scripts) as fake:
        async with player_of(fake) as client, client.play_table("t1") as table:
            await play_all_cards(table)
            assert table.sequence == len(HAND)
    assert fake.calls == ["SignIn", *calls]
    assert len(fake.table.answers) == len(HAND)


async def test_a_token_expires_during_the_game(player_of: Connect) -> None:
    with FakeCroupier(StreamScript(StreamFault.DROP)) as fake:
        async with player_of(fake) as client, client.play_table("t1") as table:
            fake.access_tokens.clear()
            await play_all_cards(table)
    assert fake.calls[:3] == ["SignIn", "PlayTable", "PlayTable"]
    assert fake.calls[-2:] == ["RefreshToken", "PlayTable"]


async def test_a_stream_that_ends_with_its_token_is_opened_again_with_a_new_one(client_of: Connect) -> None:
    """An engine sends a resume notice when the token of a stream expires.

    Not a stream with actions: for gRPC it fails as INTERNAL if the refusal comes before an action is written.
    """
    with FakeCroupier(StreamScript(StreamFault.EXPIRE)) as fake:
        async with client_of(fake, policy=SLOW_RETRIES) as client, client.watch_table("t1") as table:
            await until(lambda: table.resume_count == 1)
            assert table.interruption is None
    assert fake.calls == ["SignIn", "WatchTable", "WatchTable", "RefreshToken", "WatchTable"]


def lost_connections() -> list[StreamScript]:
    """Return a stream that is lost with its second action, and others that fail at once."""
    return [StreamScript(StreamFault.DROP, at_action=2), *[StreamScript(StreamFault.DROP, at_action=0)] * 9]


async def test_a_table_is_followed_through_an_outage_of_any_length(player_of: Connect) -> None:
    ticks = count(step=5_000)
    with FakeCroupier(*lost_connections()) as fake:
        async with player_of(fake, clock=lambda: next(ticks)) as client, client.play_table("t1") as table:
            assert table.retry_seconds_left == inf
            await play_all_cards(table)
            assert table.view == fake.table.view()
    assert fake.calls == ["SignIn", *["PlayTable"] * 11]
    assert next(ticks) > 2 * FAST_RETRIES.total_seconds * 1000


async def test_the_app_limits_how_long_a_table_is_retried(player_of: Connect) -> None:
    ticks, policy = count(step=5_000), replace(FAST_RETRIES, stream_seconds=60)
    with FakeCroupier(*lost_connections()) as fake:
        async with (
            player_of(fake, policy=policy, clock=lambda: next(ticks)) as client,
            client.play_table("t1") as table,
        ):
            with pytest.raises(Unavailable):
                await play_all_cards(table)
    assert 2 < fake.calls.count("PlayTable") < 10


async def test_a_table_that_is_closed_is_tried_no_more(player_of: Connect) -> None:
    with FakeCroupier(StreamScript(), *[StreamScript(StreamFault.DROP, at_action=0)] * 9) as fake:
        async with player_of(fake, policy=SLOW_RETRIES) as client, client.play_table("t1") as table:
            await asyncio.to_thread(fake.stop)
            await until(lambda: table.interruption is not None)
            acting = asyncio.create_task(table.submit_action(play(HAND[0])))
            await table.close()
            with pytest.raises(Unavailable):
                await acting


async def test_a_match_goes_on_with_a_new_token(client_of: Connect) -> None:
    """A lobby ends streams with UNAUTHENTICATED when their token expires."""
    expired = StreamScript(StreamFault.DROP, drop_code=grpc.StatusCode.UNAUTHENTICATED)
    with FakeCroupier(expired, expired) as fake:
        async with client_of(fake) as client:
            assert (await client.wait_for_match(game="laying", seat_count=2)).table_id == "t1"
    assert fake.calls == ["SignIn", *["FindMatch", "RefreshToken"] * 2, "FindMatch"]
    assert len({each.request_id for each in fake.requests_of(lobby_pb2.FindMatchRequest)}) == 1


@pytest.mark.parametrize("apply_first", [True, False])
async def test_a_stream_with_a_resume_notice_is_opened_again_at_once(player_of: Connect, apply_first: bool) -> None:
    resumed = StreamScript(StreamFault.MOVE, at_action=2, apply_first=apply_first)
    with FakeCroupier(resumed, resumed) as fake:
        async with player_of(fake, policy=SLOW_RETRIES) as client, client.play_table("t1") as table:
            await play_all_cards(table)
            assert table.view == fake.table.view()
            assert table.interruption is None
            assert table.resume_count == fake.calls.count("PlayTable") - 1 == 2
    assert len(set(fake.table.submitted)) == len(HAND)
    # Each new stream begins with the unanswered action, with its old request id.
    assert len(fake.table.submitted) == len(HAND) + (2 if apply_first else 0)
    assert [watch.after_sequence for watch in fake.requests_of(engine_pb2.WatchTableRequest)[1:]] == [1, 2]


@pytest.mark.parametrize("fault", [StreamFault.MOVE, StreamFault.END])
async def test_a_spectator_follows_a_game_over_several_streams(client_of: Connect, fault: StreamFault) -> None:
    async def follow(client: Any) -> Any:
        async with client.watch_table("t1") as watched:
            return [event.sequence async for event in watched if isinstance(event, engine_pb2.TableUpdate)]

    with FakeCroupier(StreamScript(), StreamScript(fault), StreamScript(fault)) as fake:
        async with (
            client_of(fake, policy=SLOW_RETRIES if fault is StreamFault.MOVE else FAST_RETRIES) as client,
            client.play_table("t1") as played,
        ):
            following = asyncio.create_task(follow(client))
            await until(lambda: fake.calls.count("WatchTable") == 3)
            await play_all_cards(played)
            fake.hold.set()
            assert await following == [1, 2, 3, 4]


async def test_a_closed_client_has_no_connections(player_of: Connect) -> None:
    def connections() -> int:
        found = psutil.Process().net_connections("tcp")
        addresses = fake.address, fake.socket_address
        return sum(bool(each.raddr) and f"127.0.0.1:{each.raddr.port}" in addresses for each in found)

    gc.disable()
    try:
        with FakeCroupier() as fake:
            async with player_of(fake) as client:
                async with client.play_table("t1") as played, client.watch_table("t1"):
                    await play_all_cards(played)
                assert connections()
            await until(lambda: not connections(), "a closed client has no connection")
    finally:
        gc.enable()


async def test_an_engine_that_stops_is_replaced_by_another(player_of: Connect) -> None:
    with FakeCroupier() as first, FakeCroupier(replica_of=first) as second:
        async with player_of(first, second) as client, client.play_table("t1") as table:
            await table.submit_action(play(HAND[0]))
            (serving,) = (fake for fake in (first, second) if "PlayTable" in fake.calls)
            await asyncio.to_thread(serving.stop)
            await play_all_cards(table)
            assert table.view == first.table.view()
            assert table.resume_count == 1


async def test_calls_are_distributed_over_replicas(client_of: Connect) -> None:
    with FakeCroupier() as first, FakeCroupier(replica_of=first) as second:
        async with client_of(first, second) as client:
            while not ("ListGames" in first.calls and "ListGames" in second.calls):
                await client.list_games()


async def test_addresses_without_a_server_or_an_answer_do_not_delay_calls(player_of: Connect) -> None:
    with socket.create_server(("127.0.0.1", 0)) as mute, reserved_port() as gone, FakeCroupier() as fake:
        addresses = [f"127.0.0.1:{port}" for port in (mute.getsockname()[1], gone)]
        services = ",".join([*addresses, fake.address])
        endpoints = Endpoints(services, services, services, websocket=",".join([*addresses, fake.socket_address]))
        async with player_of(endpoints) as client, client.play_table("t1") as table:
            await play_all_cards(table)


class PingedRoute(Route):
    """A route to an engine that can become a black hole, and counts pings."""

    address = ""
    pings = 0
    """The number of pings by the client."""

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        read = reader.read

        async def counted(limit: int = -1) -> bytes:
            data = await read(limit)
            self.pings += data[3:5] == PING or data[:1] == SOCKET_PING
            return data

        reader.read = counted  # type: ignore[assignment]
        await super().serve(reader, writer)


@asynccontextmanager
async def pinged_route(address: str) -> AsyncIterator[PingedRoute]:
    host, _, port = address.rpartition(":")
    route = PingedRoute(host, int(port))
    server = await asyncio.start_server(route.serve, host, 0)
    route.address = f"{host}:{server.sockets[0].getsockname()[1]}"
    try:
        yield route
    finally:
        server.close()
        route.reset()


def test_a_dead_route_is_noticed_before_a_call_on_it_has_failed() -> None:
    options = dict(CHANNEL_OPTIONS)
    interval, *timeouts = (int(options[name]) for name in KEEPALIVE_OPTIONS)
    assert all(interval + each < CALL_SECONDS * 1000 for each in timeouts)


async def test_a_quiet_stream_on_a_dead_route_is_opened_again(player_of: Connect) -> None:
    with FakeCroupier() as fake:
        async with pinged_route(fake.address) as route, pinged_route(fake.socket_address) as socket_route:
            engines = Endpoints(fake.address, route.address, fake.address, websocket=socket_route.address)
            # Delays so long that the test sees the interruption.
            policy = replace(FAST_RETRIES, stream_seconds=300, first_delay_seconds=2, max_delay_seconds=2)
            async with (
                player_of(engines, policy=policy, keepalive_seconds=0.2) as client,
                client.play_table("t1") as table,
            ):
                # By default the library stops its pings on a stream that sends nothing.
                await until(lambda: max(route.pings, socket_route.pings) > 2)
                route.blackhole()
                socket_route.blackhole()
                await until(lambda: isinstance(table.interruption, Unavailable))
                assert 0 < table.retry_seconds_left < 300
                await until(lambda: fake.calls.count("PlayTable") > 1)


async def test_a_silent_stream_on_an_open_connection_is_opened_again(player_of: Connect) -> None:
    with FakeCroupier(StreamScript(StreamFault.STALL, at_action=2, apply_first=False)) as fake:
        async with (
            player_of(fake, policy=replace(FAST_RETRIES, silence_seconds=0.5)) as client,
            client.play_table("t1") as table,
        ):
            await play_all_cards(table)
            # On a busy machine other streams may seem silent too.
            assert table.resume_count >= 1


@pytest.mark.parametrize(
    ("addresses", "target"),
    [
        ("127.0.0.1:7720", "127.0.0.1:7720"),
        ("dns:///engines:7720", "dns:///engines:7720"),
        ("10.0.0.1:7720, 10.0.0.2:7720", "ipv4:10.0.0.1:7720,10.0.0.2:7720"),
        ("[fd00::1]:7720,[fd00::2]:7720", "ipv6:[fd00::1]:7720,[fd00::2]:7720"),
    ],
)
def test_one_address_is_used_unchanged_and_several_share_the_calls(addresses: str, target: str) -> None:
    assert channel_target(addresses) == target


@pytest.mark.parametrize(
    "addresses",
    [
        "engine-1:7720,engine-2:7720",
        "10.0.0.1:7720,10.0.0.2",
        "10.0.0.1:1,",
        "10.0.0.1:1,[fd00::1]:1",
        "fd00::1:1,fd00::2:1",
    ],
)
def test_several_names_are_refused_with_the_expected_form(addresses: str) -> None:
    with pytest.raises(ValueError, match=r"invalid addresses .* dns:///name:7720"):
        Endpoints(lobby="127.0.0.1:1", engine=addresses, scoring="127.0.0.1:1")


async def test_a_table_whose_client_is_closed_raises_instead_of_ending_its_game(player_of: Connect) -> None:
    with FakeCroupier(StreamScript()) as fake:
        async with player_of(fake) as client:
            table = client.play_table("t1")
            await table.__aenter__()
        with pytest.raises(Unavailable, match="the connection was closed while the table was open"):
            await table.wait_for_change(timeout_seconds=TIMEOUT_SECONDS)
        assert not table.is_finished
        await table.close()
