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
"""The services for players. Control services are not among them, so that no door can open to them by mistake."""
OPEN_CALLS = frozenset({"SignIn", "RefreshToken"})
"""These need no token; every other call does."""


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


def bindings() -> tuple[Binding, ...]:
    """Every way to make a call over plain HTTP, in the order of the contract."""
    return tuple(binding for service in SERVICES for method in service.methods for binding in _of_method(method))


def call_path(method: MethodDescriptor) -> str:
    """The path of a method in gRPC."""
    return f"/{method.containing_service.full_name}/{method.name}"


def is_repeatable(method: MethodDescriptor) -> bool:
    """Whether the contract says that a call may be made a second time, after which all is as it was after the first."""
    return method.GetOptions().idempotency_level != MethodOptions.IDEMPOTENCY_UNKNOWN


def _of_method(method: MethodDescriptor) -> Iterator[Binding]:
    if method.GetOptions().HasExtension(annotations_pb2.http):
        rule = method.GetOptions().Extensions[annotations_pb2.http]
        yield _binding(method, rule)
        yield from (_binding(method, other) for other in rule.additional_bindings)


def _binding(method: MethodDescriptor, rule: http_pb2.HttpRule) -> Binding:
    verb = rule.WhichOneof("pattern")
    return Binding(method, verb.upper(), getattr(rule, verb), bool(rule.body))
