"""Channels to several replicas: whoever is away is left out, and a call goes to the next."""

import asyncio
import sys
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

import grpc
import pytest
from google.protobuf.descriptor_pb2 import MethodOptions

from croupier.runtime.addresses import addresses_of
from croupier.runtime.channels import open_channel, target_of
from croupier_api.v1 import engine_pb2, scoring_pb2
from tests.runtime.resolver import resolving

METHOD = "/tests.Service/Method"
CALL_SECONDS = 10.0
DEADLINE_SECONDS = 60.0


@asynccontextmanager
async def replica(
    name: str, asked: Counter[str], address: str = "127.0.0.1:0", away: bool = False
) -> AsyncIterator[str]:
    """A server that counts its calls; one that is `away` answers that it is."""

    async def answer(_request: bytes, context: Any) -> bytes:
        asked[name] += 1
        if away:
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
async def test_who_was_replaced_as_a_whole_is_found_by_name_within_seconds() -> None:
    asked: Counter[str] = Counter()
    hosts = ["127.0.0.2"]
    async with (
        resolving(hosts) as names,
        AsyncExitStack() as first,
        replica("new", asked, "127.0.0.3:0") as new,
        open_channel(f"dns://{names}/engine:{port_of(new)}") as channel,
    ):
        await first.enter_async_context(replica("old", asked, f"127.0.0.2:{port_of(new)}"))
        assert await call(channel) == "old"
        hosts[:] = ["127.0.0.3"]
        await first.aclose()
        assert await call(channel) == "new", "by itself the library would not look for half a minute"


async def test_replicas_are_called_by_turns_and_one_that_ends_is_left_out() -> None:
    asked: Counter[str] = Counter()
    async with AsyncExitStack() as stack, AsyncExitStack() as first:
        addresses = [
            await first.enter_async_context(replica("one", asked)),
            await stack.enter_async_context(replica("two", asked)),
        ]
        channel = await stack.enter_async_context(open_channel(",".join(addresses)))
        async with asyncio.timeout(DEADLINE_SECONDS):
            while len({await call(channel) for _ in range(10)}) < 2:
                """The second connection is still being made."""
        await first.aclose()
        assert {await call(channel) for _ in range(10)} == {"two"}
        async with replica("one", asked, addresses[0]), asyncio.timeout(DEADLINE_SECONDS):
            while await call(channel) != "one":
                """It is found again within seconds; each call is one to the other."""


async def test_a_replica_that_refuses_for_now_is_not_the_end_of_a_call() -> None:
    asked: Counter[str] = Counter()
    async with (
        replica("here", asked) as here,
        replica("away", asked, away=True) as away,
        open_channel(f"{here},{away}") as channel,
        asyncio.timeout(DEADLINE_SECONDS),
    ):
        while not asked["away"]:
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
        *((each, f"'{each}' is not an address") for each in ("", "engine", ":1", "engine:http", "engine:0")),
        ("127.0.0.1:1,", "'' is not an address"),
        ("127.0.0.1:1,engine:2", "engine:2 is a name"),
        ("127.0.0.1:1,[::1]:2", "mixes IPv4 and IPv6"),
    ],
)
def test_what_is_no_address_is_named(addresses: str, fault: str) -> None:
    with pytest.raises(ValueError, match=fault.replace("[", r"\[")):
        open_channel(addresses)


def test_addresses_one_by_one() -> None:
    assert addresses_of("a:1, b:2") == ("a:1", "b:2")


def test_what_services_ask_of_each_other_may_be_asked_twice() -> None:
    services = [*engine_pb2.DESCRIPTOR.services_by_name.values(), *scoring_pb2.DESCRIPTOR.services_by_name.values()]
    asked = [method for service in services if "Control" in service.name for method in service.methods]
    assert len(asked) == 7
    harmful = [one.name for one in asked if one.GetOptions().idempotency_level == MethodOptions.IDEMPOTENCY_UNKNOWN]
    assert harmful == []
