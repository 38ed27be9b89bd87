"""The calls of the contract, and their HTTP methods and paths by its annotations."""

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
"""The services for players. Without those of croupier_internal, so a gateway has no route to them."""
OPEN_CALLS = frozenset({"SignIn", "RefreshToken"})
"""The calls without a token."""


@dataclass(frozen=True, slots=True)
class RoutedCall:
    """A call over gRPC: its path and its service."""

    path: str
    cluster: str
    is_stream: bool
    """Whether the response is a stream."""
    is_idempotent: bool
    """Whether the contract allows retries of a call that may have taken effect."""


@dataclass(frozen=True, slots=True)
class Binding:
    """An HTTP method and path of a call."""

    method: MethodDescriptor
    verb: str
    path: str
    has_body: bool

    @property
    def path_fields(self) -> tuple[str, ...]:
        """Return the fields of the request that are in the path."""
        return tuple(re.findall(r"{(\w+)}", self.path))


def calls() -> tuple[RoutedCall, ...]:
    """Return all calls of players, in the order of the contract."""
    return tuple(_call(method) for service in SERVICES for method in service.methods)


def bindings() -> tuple[Binding, ...]:
    """Return all HTTP bindings, in the order of the contract."""
    return tuple(binding for service in SERVICES for method in service.methods for binding in _of_method(method))


def call_path(method: MethodDescriptor) -> str:
    """Return the path of a method in gRPC."""
    return f"/{method.containing_service.full_name}/{method.name}"


def open_paths() -> tuple[str, ...]:
    """Return the paths, over gRPC and plain HTTP, of the calls without a token."""
    is_open = [binding for binding in bindings() if binding.method.name in OPEN_CALLS]
    return tuple(path for binding in is_open for path in (call_path(binding.method), binding.path))


def _call(method: MethodDescriptor) -> RoutedCall:
    cluster = method.containing_service.name.removesuffix("Service").lower()
    is_idempotent = method.GetOptions().idempotency_level != MethodOptions.IDEMPOTENCY_UNKNOWN
    return RoutedCall(call_path(method), cluster, method.server_streaming, is_idempotent)


def _of_method(method: MethodDescriptor) -> Iterator[Binding]:
    if method.GetOptions().HasExtension(annotations_pb2.http):
        rule = method.GetOptions().Extensions[annotations_pb2.http]
        yield _binding(method, rule)
        yield from (_binding(method, other) for other in rule.additional_bindings)


def _binding(method: MethodDescriptor, rule: http_pb2.HttpRule) -> Binding:
    verb = rule.WhichOneof("pattern")
    return Binding(method, verb.upper(), getattr(rule, verb), bool(rule.body))
