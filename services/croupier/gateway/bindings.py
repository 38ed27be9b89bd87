"""Which HTTP method and path stand for which call, read from the contract's annotations."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from google.api import annotations_pb2, http_pb2
from google.protobuf.descriptor import MethodDescriptor, ServiceDescriptor
from google.protobuf.descriptor_pb2 import MethodOptions

from croupier_api.v1 import engine_pb2, lobby_pb2, scoring_pb2

SERVICES: tuple[ServiceDescriptor, ...] = (
    lobby_pb2.DESCRIPTOR.services_by_name["LobbyService"],
    engine_pb2.DESCRIPTOR.services_by_name["EngineService"],
    scoring_pb2.DESCRIPTOR.services_by_name["ScoringService"],
)
"""The services for players. Those of croupier_internal are not among them, so no gateway has a route to them."""
OPEN_CALLS = frozenset({"SignIn", "RefreshToken"})
"""These need no token; every other call does."""


@dataclass(frozen=True, slots=True)
class Call:
    """A call over gRPC: its path, the service that it goes to, and how it may be treated on its way."""

    path: str
    cluster: str
    is_stream: bool
    """Whether the service answers with a stream."""
    is_repeatable: bool
    """Whether the contract says that after a second time all is as it was after the first."""


@dataclass(frozen=True, slots=True)
class Binding:
    """A way to make a call over plain HTTP."""

    method: MethodDescriptor
    verb: str
    path: str
    has_body: bool

    @property
    def path_fields(self) -> tuple[str, ...]:
        """The fields of the request that stand in the path."""
        return tuple(re.findall(r"{(\w+)}", self.path))


def calls() -> tuple[Call, ...]:
    """Every call for players, in the order of the contract."""
    return tuple(_call(method) for service in SERVICES for method in service.methods)


def bindings() -> tuple[Binding, ...]:
    """Every way to make a call over plain HTTP, in the order of the contract."""
    return tuple(binding for service in SERVICES for method in service.methods for binding in _of_method(method))


def call_path(method: MethodDescriptor) -> str:
    """The path of a method in gRPC."""
    return f"/{method.containing_service.full_name}/{method.name}"


def open_paths() -> tuple[str, ...]:
    """The paths, over gRPC and plain HTTP, of the calls that need no token."""
    is_open = [binding for binding in bindings() if binding.method.name in OPEN_CALLS]
    return tuple(path for binding in is_open for path in (call_path(binding.method), binding.path))


def _call(method: MethodDescriptor) -> Call:
    cluster = method.containing_service.name.removesuffix("Service").lower()
    is_repeatable = method.GetOptions().idempotency_level != MethodOptions.IDEMPOTENCY_UNKNOWN
    return Call(call_path(method), cluster, method.server_streaming, is_repeatable)


def _of_method(method: MethodDescriptor) -> Iterator[Binding]:
    if method.GetOptions().HasExtension(annotations_pb2.http):
        rule = method.GetOptions().Extensions[annotations_pb2.http]
        yield _binding(method, rule)
        yield from (_binding(method, other) for other in rule.additional_bindings)


def _binding(method: MethodDescriptor, rule: http_pb2.HttpRule) -> Binding:
    verb = rule.WhichOneof("pattern")
    return Binding(method, verb.upper(), getattr(rule, verb), bool(rule.body))
