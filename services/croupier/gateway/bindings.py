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
_PATH_FIELD = re.compile(r"(\w+)/{(\w+)}")
"""A field of a path, after the collection of what it names."""
ENDING_STREAMS = frozenset({"GetReplay"})
"""The calls whose response is a stream of parts, which ends after the last one."""


@dataclass(frozen=True, slots=True)
class RoutedCall:
    """A call over gRPC."""

    method: MethodDescriptor

    @property
    def path(self) -> str:
        """Return its path in gRPC."""
        return call_path(self.method)

    @property
    def cluster(self) -> str:
        """Return its service."""
        return self.method.containing_service.name.removesuffix("Service").lower()

    @property
    def lasts(self) -> bool:
        """Return whether its response is a stream without an end of its own."""
        return self.method.server_streaming and self.method.name not in ENDING_STREAMS

    @property
    def is_read(self) -> bool:
        """Return whether it changes nothing."""
        return self.method.GetOptions().idempotency_level == MethodOptions.NO_SIDE_EFFECTS

    @property
    def is_idempotent(self) -> bool:
        """Return whether the contract allows retries of a call that may have taken effect."""
        return self.method.GetOptions().idempotency_level != MethodOptions.IDEMPOTENCY_UNKNOWN


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
    return tuple(RoutedCall(method) for service in SERVICES for method in service.methods)


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


def ambiguous_queries() -> tuple[str, ...]:
    """Return regular expressions of the paths whose query repeats a field of the path, or escapes a name."""
    fields = {match: binding.method.input_type for binding in bindings() for match in _PATH_FIELD.findall(binding.path)}
    repeated = (
        rf"/v1/(.*/)?{collection}/[^?]*\?(.*&)?({name}|{message.fields_by_name[name].json_name})=.*"
        for (collection, name), message in fields.items()
    )
    return (*repeated, r"[^?]*\?(.*&)?[^=&]*%[^=&]*=.*")


def _of_method(method: MethodDescriptor) -> Iterator[Binding]:
    if method.GetOptions().HasExtension(annotations_pb2.http):
        rule = method.GetOptions().Extensions[annotations_pb2.http]
        yield _binding(method, rule)
        yield from (_binding(method, other) for other in rule.additional_bindings)


def _binding(method: MethodDescriptor, rule: http_pb2.HttpRule) -> Binding:
    verb = rule.WhichOneof("pattern")
    return Binding(method, verb.upper(), getattr(rule, verb), bool(rule.body))
