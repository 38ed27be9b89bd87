"""Channels to several replicas skip replicas that are away, and retry a call at the next one."""

import asyncio
import struct
import sys
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from typing import Any

import grpc
import pytest
from google.protobuf.descriptor_pb2 import MethodOptions

from croupier.runtime.server.channels import open_channel, target_of
from croupier_internal.v1 import engine_control_pb2, scoring_control_pb2
from tests.ports import reserved_port

METHOD = "/tests.Service/Method"
CALL_SECONDS = 10.0
DEADLINE_SECONDS = 60.0
HEADER, QUESTION = struct.Struct("!6H"), struct.Struct("!2H")
A, INTERNET = 1, 1
ANSWER_FLAGS = 0x8580
TIME_TO_LIVE_SECONDS = 1


def dns_answer(question: bytes, addresses: Sequence[str]) -> bytes:
    """Return the answer to a DNS message with one question; only a question of type A gets addresses."""
    number, *_ = HEADER.unpack_from(question)
    end = question.index(b"\0", HEADER.size) + 1
    if QUESTION.unpack_from(question, end) != (A, INTERNET):
        addresses = ()
    records = b"".join(
        struct.pack("!3HIH4B", 0xC00C, A, INTERNET, TIME_TO_LIVE_SECONDS, 4, *map(int, address.split(".")))
        for address in addresses
    )
    asked = question[HEADER.size : end + QUESTION.size]
    return HEADER.pack(number, ANSWER_FLAGS, 1, len(addresses), 0, 0) + asked + records


class _Resolver(asyncio.DatagramProtocol):
    def __init__(self, addresses: Sequence[str]) -> None:
        self._addresses = addresses

    def connection_made(self, transport: Any) -> None:
        self._transport = transport

    def datagram_received(self, data: bytes, addr: tuple[str, int]) -> None:
        self._transport.sendto(dns_answer(data, self._addresses), addr)


@asynccontextmanager
async def resolving(addresses: Sequence[str]) -> AsyncIterator[str]:
    """Answer every name with these addresses, which a test may change; yields the host:port of the DNS server."""
    listening = asyncio.get_running_loop().create_datagram_endpoint(partial(_Resolver, addresses), ("127.0.0.1", 0))
    transport, _ = await listening
    host, port = transport.get_extra_info("sockname")
    yield f"{host}:{port}"
    transport.close()


@asynccontextmanager
async def replica(
    name: str, calls: Counter[str], address: str = "127.0.0.1:0", is_draining: bool = False
) -> AsyncIterator[str]:
    """Run a server that counts its calls, and answers UNAVAILABLE if it `is_draining`."""

    async def answer(_request: bytes, context: Any) -> bytes:
        calls[name] += 1
        if is_draining:
            await context.abort(grpc.StatusCode.UNAVAILABLE, "draining")
        return name.encode()

    server = grpc.aio.server()
    handlers: dict[str, Any] = {"Method": grpc.unary_unary_rpc_method_handler(answer)}
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler("tests.Service", handlers),))
    port = server.add_insecure_port(address)
    await server.start()
    yield f"{address.rpartition(':')[0]}:{port}"
    await server.stop(None)


def port_of(address: str) -> str:
    return address.rpartition(":")[2]


async def call(channel: grpc.aio.Channel) -> str:
    method: Any = channel.unary_unary(METHOD)
    answer: bytes = await method(b"", timeout=CALL_SECONDS, wait_for_ready=True)
    return answer.decode()


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has more than one loopback address")
async def test_replicas_that_were_all_replaced_are_resolved_by_name_within_seconds() -> None:
    calls: Counter[str] = Counter()
    hosts = ["127.0.0.2"]
    async with (
        resolving(hosts) as names,
        AsyncExitStack() as first,
        replica("new", calls, "127.0.0.3:0") as new,
        open_channel(f"dns://{names}/engine:{port_of(new)}") as channel,
    ):
        await first.enter_async_context(replica("old", calls, f"127.0.0.2:{port_of(new)}"))
        assert await call(channel) == "old"
        hosts[:] = ["127.0.0.3"]
        await first.aclose()
        assert await call(channel) == "new", "by default the library would not resolve again for half a minute"


async def test_replicas_are_called_in_turn_and_a_stopped_one_is_skipped() -> None:
    calls: Counter[str] = Counter()
    async with AsyncExitStack() as stack, AsyncExitStack() as first:
        addresses = [
            await first.enter_async_context(replica("one", calls)),
            await stack.enter_async_context(replica("two", calls)),
        ]
        channel = await stack.enter_async_context(open_channel(",".join(addresses)))
        async with asyncio.timeout(DEADLINE_SECONDS):
            while len({await call(channel) for _ in range(10)}) < 2:
                """The second connection is still being made."""
        await first.aclose()
        assert {await call(channel) for _ in range(10)} == {"two"}
        async with replica("one", calls, addresses[0]), asyncio.timeout(DEADLINE_SECONDS):
            while await call(channel) != "one":
                """It is found again within seconds; each call is one to the other."""


async def test_a_call_that_a_draining_replica_refuses_is_retried_at_another() -> None:
    calls: Counter[str] = Counter()
    async with (
        replica("here", calls) as here,
        replica("away", calls, is_draining=True) as away,
        open_channel(f"{here},{away}") as channel,
        asyncio.timeout(DEADLINE_SECONDS),
    ):
        while not calls["away"]:
            assert await call(channel) == "here"


@pytest.mark.parametrize(
    ("addresses", "target"),
    [
        ("engine:7721", "engine:7721"),
        ("dns:///engine:7721", "dns:///engine:7721"),
        ("127.0.0.1:1", "127.0.0.1:1"),
        ("127.0.0.1:1,127.0.0.2:2", "ipv4:127.0.0.1:1,127.0.0.2:2"),
        ("127.0.0.1:1, 127.0.0.2:2", "ipv4:127.0.0.1:1,127.0.0.2:2"),
        ("[::1]:1,[::1]:2", "ipv6:[::1]:1,[::1]:2"),
    ],
)
def test_targets(addresses: str, target: str) -> None:
    assert target_of(addresses) == target


@pytest.mark.parametrize(
    ("addresses", "fault"),
    [
        ("engine", "separated by commas, not 'engine'"),
        ("127.0.0.1:1,", "separated by commas, not ''"),
        ("127.0.0.1:1,engine:2", "engine:2 is a name"),
        ("127.0.0.1:1,[::1]:2", "all of IPv4 or all of IPv6"),
    ],
)
def test_an_invalid_address_is_reported(addresses: str, fault: str) -> None:
    with pytest.raises(ValueError, match=fault.replace("[", r"\[")):
        open_channel(addresses)


def test_calls_between_services_are_idempotent() -> None:
    files = engine_control_pb2.DESCRIPTOR, scoring_control_pb2.DESCRIPTOR
    calls = [method for file in files for service in file.services_by_name.values() for method in service.methods]
    assert len(calls) == 11
    harmful = [one.name for one in calls if one.GetOptions().idempotency_level == MethodOptions.IDEMPOTENCY_UNKNOWN]
    assert harmful == []


async def test_services_call_each_other_without_the_proxy_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    with reserved_port() as nobody:
        monkeypatch.delenv("no_proxy", raising=False)
        monkeypatch.setenv("http_proxy", f"http://127.0.0.1:{nobody}")
        calls: Counter[str] = Counter()
        async with AsyncExitStack() as stack:
            address = await stack.enter_async_context(replica("one", calls))
            channel = await stack.enter_async_context(open_channel(address))
            call: grpc.aio.UnaryUnaryMultiCallable[bytes, bytes] = channel.unary_unary(METHOD)
            assert await call(b"", timeout=CALL_SECONDS) == b"one"
