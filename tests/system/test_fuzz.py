"""100,000 random requests: no internal error, no traceback, no growth; and the services still play afterwards."""

import asyncio
import secrets
from collections import Counter
from collections.abc import Iterator, Mapping
from http.client import HTTPConnection
from pathlib import Path
from random import Random
from typing import Any

import grpc
import psutil
import pytest
from google.protobuf.descriptor import MethodDescriptor

from croupier.cli.launcher.background import BackgroundServices, started_services
from croupier.games.registry import GAMES
from croupier.gateway.bindings import SERVICES
from croupier.gateway.envoy import find_envoy
from croupier_api.v1 import lobby_pb2
from croupier_client import Client, Endpoints, choose_random_action, play_game
from croupier_client.rpc import Rpc, Service
from croupier_internal.v1 import engine_control_pb2, scoring_control_pb2
from openapi_document import bindings
from tests.programs import missing
from tests.system.fuzz import Fuzzer

PROTOBUF_REQUESTS, JSON_REQUESTS = 75_000, 25_000
AT_ONCE = 32
SETTLED_SHARE = 0.4
MAX_GROWTH_BYTES = 48 * 1024 * 1024
STREAM_SECONDS = 0.1
FAULTS = ("INTERNAL", "UNKNOWN", "DATA_LOSS")
NO_LIMITS = ("--player-calls-per-second=0", "--network-units-per-second=0")
CONTROL_SERVICES = {
    "engine": engine_control_pb2.DESCRIPTOR.services_by_name["EngineControlService"],
    "scoring": scoring_control_pb2.DESCRIPTOR.services_by_name["ScoringControlService"],
}


@pytest.fixture
def services(tmp_path: Path) -> Iterator[BackgroundServices]:
    try:
        find_envoy()
    except ValueError as fault:
        missing(str(fault))
    flags: dict[str, tuple[str, ...]] = dict.fromkeys(("lobby", "engine", "scoring"), NO_LIMITS)
    flags["gateway"] = ("--address-requests-per-second=0",)
    with started_services(tmp_path, gateway=(), extra_flags=flags) as running:
        yield running


@pytest.mark.slow
@pytest.mark.gateway
async def test_no_request_makes_a_service_fail_or_grow(services: BackgroundServices, seed: int) -> None:
    endpoints = Endpoints.single(services.addresses["gateway"]["listen"])
    async with Client(endpoints, f"the secret of seed {seed:012}", "Kari") as client:
        finished = await play_one_game(client, seed)
        token, known = await access_token(client), await known_values(client, finished)
        codes: Counter[str] = Counter()
        await send_all(services, token, known, Random(seed), codes, SETTLED_SHARE)
        settled = memory(services)
        await send_all(services, token, known, Random(seed + 1), codes, 1 - SETTLED_SHARE)
        await play_one_game(client, seed)
    grown = {name: size - settled[name] for name, size in memory(services).items()}
    assert not {code: times for code, times in codes.items() if code.startswith(FAULTS)}
    assert len(codes) > 5, codes
    assert max(grown.values()) <= MAX_GROWTH_BYTES, grown
    for instance in services.addresses:
        log = services.folder.log_file(instance).read_text(errors="replace")
        assert "Traceback" not in log, instance
        assert '"exception"' not in log, instance


async def play_one_game(client: Client, seed: int) -> str:
    """Play a game to its end, so that there is a table of each state to ask for; returns its id."""
    random = Random(seed)
    table_id = (await client.create_table(game="thulla", seat_count=2)).table.table_id
    await client.add_bot(table_id=table_id, bot="random")
    await client.set_ready(table_id=table_id)
    async with client.play_table(table_id) as table:
        await play_game(table, lambda seen: choose_random_action(seen, random))
        assert table.ranking
    return table_id


async def access_token(client: Client) -> str:
    """Return a player's token."""
    request = lobby_pb2.SignInRequest(device_secret=secrets.token_hex(), name="Fuzzer")
    answer = await client.invoke(Rpc(Service.LOBBY, request, lobby_pb2.SignInResponse))
    return answer.tokens.access_token


async def known_values(client: Client, finished: str) -> Mapping[str, tuple[Any, ...]]:
    """Return values that exist, by the names of fields."""
    forming = (await client.create_table(game="solo", seat_count=4)).table.table_id
    return {
        "table_id": (forming, finished),
        "game": tuple(GAMES),
        "bot": ("random", "search"),
        "seat_count": (2, 3, 4),
        "device_secret": tuple(f"a secret of number {number}" for number in range(20)),
        "request_id": ("1", "2", "3"),
    }


async def send_all(
    services: BackgroundServices,
    token: str,
    known: Mapping[str, tuple[Any, ...]],
    random: Random,
    codes: Counter[str],
    share: float,
) -> None:
    """Send a share of all requests, as protobuf and as JSON at the same time."""
    json_fuzzer = Fuzzer(Random(random.getrandbits(64)), known)
    sending = asyncio.to_thread(send_json, services, token, json_fuzzer, codes, round(JSON_REQUESTS * share))
    fuzzer = Fuzzer(Random(random.getrandbits(64)), known)
    await asyncio.gather(sending, send_protobuf(services, token, fuzzer, codes, round(PROTOBUF_REQUESTS * share)))


async def send_protobuf(
    services: BackgroundServices, token: str, fuzzer: Fuzzer, codes: Counter[str], requests: int
) -> None:
    """Send requests to all ports of the services, with a player's token, and count the codes."""
    methods = [
        (services.addresses[service.name.removesuffix("Service").lower()]["listen"], method)
        for service in SERVICES
        for method in service.methods
    ]
    unary = [one for one in methods if not (one[1].server_streaming or one[1].client_streaming)]
    streams = [one for one in methods if one[1].server_streaming and not one[1].client_streaming]
    control = [
        (services.addresses[name]["control"], method)
        for name, service in CONTROL_SERVICES.items()
        for method in service.methods
    ]
    targets = {address for address, _ in (*methods, *control)}
    channels = {target: grpc.aio.insecure_channel(target) for target in targets}
    left = iter(range(requests))

    async def send_some() -> None:
        for _ in left:
            kind = fuzzer.random.random()
            address, method = fuzzer.random.choice(streams if kind < 0.01 else control if kind < 0.06 else unary)
            path = f"/{method.containing_service.full_name}/{method.name}"
            metadata = [("authorization", f"Bearer {token}"), *fuzzer.metadata()]
            body = fuzzer.encoded(method)
            try:
                channel: Any = channels[address]
                if method.server_streaming:
                    async for _ in channel.unary_stream(path)(body, metadata=metadata, timeout=STREAM_SECONDS):
                        pass
                else:
                    await channel.unary_unary(path)(body, metadata=metadata, timeout=60)
                codes["OK"] += 1
            except grpc.RpcError as error:
                codes[_named(error.code().name, method)] += 1

    try:
        await asyncio.gather(*(send_some() for _ in range(AT_ONCE)))
    finally:
        await asyncio.gather(*(channel.close() for channel in channels.values()))


def send_json(services: BackgroundServices, token: str, fuzzer: Fuzzer, codes: Counter[str], requests: int) -> None:
    """Send requests as JSON to the gateway, and count the codes."""
    unary = [binding for binding in bindings(SERVICES) if not binding.method.server_streaming]
    connection = HTTPConnection(services.addresses["gateway"]["listen"], timeout=60)
    for _ in range(requests):
        binding = fuzzer.random.choice(unary)
        request = fuzzer.http(binding)
        headers = {"authorization": f"Bearer {token}", "content-type": "application/json", **request.headers}
        connection.request(request.verb, request.path, request.body or None, headers)
        response = connection.getresponse()
        response.read()
        codes[_named("INTERNAL" if response.status == 500 else f"HTTP {response.status}", binding.method)] += 1
    connection.close()


def _named(code: str, method: MethodDescriptor) -> str:
    """Return a code, with the method if it is a fault."""
    return f"{code} {method.name}" if code in FAULTS else code


def memory(services: BackgroundServices) -> Mapping[str, int]:
    """Return the resident bytes of each service."""
    return {name: psutil.Process(pid).memory_info().rss for name, pid in services.pids.items() if name != "gateway"}
