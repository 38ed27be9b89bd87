"""100,000 random requests, valid and broken: no internal error, traceback or growth; the services play afterwards."""

import asyncio
import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from http.client import HTTPConnection
from pathlib import Path
from random import Random
from typing import Any, NamedTuple
from urllib.parse import quote

import grpc
import psutil
import pytest
from google.protobuf.descriptor import Descriptor, FieldDescriptor, MethodDescriptor
from google.protobuf.json_format import MessageToDict, SerializeToJsonError
from google.protobuf.message import Message
from google.protobuf.message_factory import GetMessageClass
from google.protobuf.struct_pb2 import Struct

from croupier.cli.launcher.background import BackgroundServices, started_services
from croupier.games.registry import OWN_GAMES
from croupier.gateway.bindings import SERVICES
from croupier_client import Client, Endpoints, choose_random_action, play_game
from croupier_internal.v1 import engine_control_pb2, scoring_control_pb2
from openapi_document import Binding, bindings

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
TEXTS = (
    "", " ", "a", "\0", "\n", "\u00e9", "\u202e", "\U0001f600", "0", "-1", "true", "null", "../..", "{}", "%00",
    "'; --", "x" * 32, "x" * 64, "x" * 65, "x" * 5000,
)  # fmt: skip
INTEGERS = (0, 1, 2, 3, 7, 63, 64, -1, 2**31 - 1, 2**31, -(2**31), 2**32 - 1, 2**53, 2**63 - 1, -(2**63), 2**64 - 1)
FLOATS = (0.0, -1.0, 0.5, 1e308, float("inf"), float("nan"))
WRONG_VALUES: Sequence[Any] = (None, True, -1, 1e999, "text", [], [[]], {}, {"a": {"a": {"a": []}}}, "\ud800")
MAX_DEPTH = 4
F = FieldDescriptor
LIMITS: Mapping[int, tuple[int, int]] = {
    F.TYPE_INT32: (-(2**31), 2**31 - 1),
    F.TYPE_UINT32: (0, 2**32 - 1),
    F.TYPE_INT64: (-(2**63), 2**63 - 1),
    F.TYPE_UINT64: (0, 2**64 - 1),
    F.TYPE_ENUM: (-(2**31), 2**31 - 1),
}


class HttpRequest(NamedTuple):
    """A request to the gateway; headers are latin-1, so that any byte can be sent."""

    verb: str
    path: str
    body: bytes
    headers: Mapping[str, str]


class Fuzzer:
    """Makes requests; `known` has values that exist, such as ids of tables, by the name of their field."""

    def __init__(self, random: Random, known: Mapping[str, Sequence[Any]]) -> None:
        self.random = random
        self._known = known

    def encoded(self, method: MethodDescriptor) -> bytes:
        """Return an encoded request, in one of four cases truncated, changed or extended."""
        body = self._message(method.input_type).SerializePartialToString()
        random = self.random
        match random.randrange(12):
            case 0:
                return body[: random.randrange(len(body) + 1)]
            case 1:
                return body + random.randbytes(random.randrange(1, 40))
            case 2 if body:
                changed = bytearray(body)
                changed[random.randrange(len(changed))] = random.randrange(256)
                return bytes(changed)
        return body

    def http(self, binding: Binding) -> HttpRequest:
        """Return a request as JSON over HTTP, in one of four cases with values of wrong types or broken text."""
        random = self.random
        fields = self._json_fields(binding.method.input_type)
        path = binding.path
        for name in binding.path_fields:
            path = path.replace(f"{{{name}}}", quote(str(fields.pop(_camel(name), random.choice(TEXTS))), safe=""))
        if random.random() < 0.15 and fields:
            fields[random.choice(list(fields))] = random.choice(WRONG_VALUES)
        if not binding.has_body:
            query = "&".join(f"{quote(name)}={quote(str(value), errors='replace')}" for name, value in fields.items())
            return HttpRequest(binding.verb.upper(), f"{path}?{query}"[:4000], b"", self._headers())
        body = json.dumps(fields).encode()
        if random.random() < 0.1:
            body = body[: random.randrange(len(body) + 1)]
        return HttpRequest(binding.verb.upper(), path, body, self._headers())

    def _json_fields(self, descriptor: Descriptor) -> dict[str, Any]:
        """Return the fields of a message that JSON can represent, which has narrower times than protobuf."""
        while True:
            try:
                return MessageToDict(self._message(descriptor))
            except SerializeToJsonError:
                continue

    def metadata(self) -> Sequence[tuple[str, str]]:
        """Return metadata as a careless client might send it; printable ASCII, as gRPC requires."""
        return [(name, value) for name, value in self._headers().items() if value.isascii() and value.isprintable()]

    def _headers(self) -> Mapping[str, str]:
        names = ("x-request-id", "x-table-id", "x-croupier-address", "traceparent")
        texts = [text for text in TEXTS if text.isprintable() and len(text) < 100 and ord(max(text or "a")) < 256]
        return {name: self.random.choice(texts) for name in names if self.random.random() < 0.1}

    def _message(self, descriptor: Descriptor, depth: int = 0) -> Message:
        message: Message = GetMessageClass(descriptor)()
        if isinstance(message, Struct):
            message.update(self._options())
            return message
        for field in descriptor.fields:
            if self.random.random() < 0.75 and (field.message_type is None or depth < MAX_DEPTH):
                self._set(message, field, depth)
        return message

    def _set(self, message: Message, field: FieldDescriptor, depth: int) -> None:
        if field.is_repeated:
            values = getattr(message, field.name)
            for _ in range(self.random.choice((0, 1, 2, 3, 60))):
                if field.message_type is None:
                    values.append(self._value(field))
                elif field.message_type.GetOptions().map_entry:
                    entry = field.message_type.fields_by_name
                    values[self._value(entry["key"])] = self._value(entry["value"])
                else:
                    values.add().CopyFrom(self._message(field.message_type, depth + 1))
        elif field.message_type is not None:
            getattr(message, field.name).CopyFrom(self._message(field.message_type, depth + 1))
        else:
            setattr(message, field.name, self._value(field))

    def _value(self, field: FieldDescriptor) -> Any:
        random = self.random
        if field.name in self._known and random.random() < 0.7:
            return random.choice(self._known[field.name])
        if field.enum_type is not None and random.random() < 0.8:
            return random.choice(field.enum_type.values).number
        if field.type in LIMITS:
            low, high = LIMITS[field.type]
            return min(max(random.choice(INTEGERS), low), high)
        others: Mapping[int, Callable[[], Any]] = {
            F.TYPE_STRING: lambda: random.choice(TEXTS),
            F.TYPE_BYTES: lambda: random.randbytes(random.choice((0, 1, 64, 65, 1000))),
            F.TYPE_BOOL: lambda: random.random() < 0.5,
            F.TYPE_DOUBLE: lambda: random.choice(FLOATS),
            F.TYPE_FLOAT: lambda: random.choice(FLOATS),
        }
        return others[field.type]()

    def _options(self) -> dict[str, Any]:
        names = ("max_rounds", "deck", "seats", "unknown", "", "x" * 200)
        values = (*FLOATS[:4], *INTEGERS[:8], *TEXTS, True, None, [1, [2]], {"a": {"b": None}})
        return {self.random.choice(names): self.random.choice(values) for _ in range(self.random.choice((0, 1, 3)))}


def _camel(name: str) -> str:
    first, *others = name.split("_")
    return first + "".join(map(str.title, others))


@pytest.fixture
def services(tmp_path: Path) -> Iterator[BackgroundServices]:
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
        assert client.session.tokens is not None
        token, known = client.session.tokens.access_token, await known_values(client, finished)
        codes: Counter[str] = Counter()
        await send_all(services, token, known, Random(seed), codes, SETTLED_SHARE)
        settled = memory(services)
        await send_all(services, token, known, Random(seed + 1), codes, 1 - SETTLED_SHARE)
    # The first player may have a seat at as many tables as a player may have.
    async with Client(endpoints, f"another secret of seed {seed:012}", "Liv") as other:
        await play_one_game(other, seed)
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


async def known_values(client: Client, finished: str) -> Mapping[str, tuple[Any, ...]]:
    forming = (await client.create_table(game="solo", seat_count=4)).table.table_id
    return {
        "table_id": (forming, finished),
        "game": tuple(OWN_GAMES),
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
    return {name: psutil.Process(pid).memory_info().rss for name, pid in services.pids.items() if name != "gateway"}
