"""The contract for Envoy: its calls, their HTTP paths by its annotations, and its descriptors."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from google.api import annotations_pb2
from google.protobuf.descriptor import FileDescriptor, MethodDescriptor, ServiceDescriptor
from google.protobuf.descriptor_pb2 import FileDescriptorSet
from google.rpc import error_details_pb2, status_pb2

from croupier_api.v1 import engine_pb2, lobby_pb2, scoring_pb2

SERVICES: tuple[ServiceDescriptor, ...] = (
    lobby_pb2.DESCRIPTOR.services_by_name["LobbyService"],
    engine_pb2.DESCRIPTOR.services_by_name["EngineService"],
    scoring_pb2.DESCRIPTOR.services_by_name["ScoringService"],
)
"""The services for players. Without those of croupier_internal, so a gateway has no route to them."""
OPEN_CALLS = frozenset({"SignIn", "RefreshToken", "SignOut"})
"""The calls without a token."""
_PATH_FIELD = re.compile(r"(\w+)/{(\w+)}")
"""A field of a path, after the collection of what it names."""
_PLACEHOLDER = re.compile(r"{\w+}")
_ERROR_DETAILS: tuple[FileDescriptor, ...] = (status_pb2.DESCRIPTOR, error_details_pb2.DESCRIPTOR)


@dataclass(frozen=True, slots=True)
class Binding:
    """An HTTP method and path of a call."""

    call: MethodDescriptor
    verb: str
    path: str
    has_body: bool

    @property
    def pattern(self) -> str:
        """Return a regular expression of its paths. A colon is before a verb: within a field it is escaped."""
        return "[^/:]+".join(map(re.escape, _PLACEHOLDER.split(self.path)))


def calls() -> tuple[MethodDescriptor, ...]:
    """Return all calls of players, in the order of the contract."""
    return tuple(method for service in SERVICES for method in service.methods)


def call_path(method: MethodDescriptor) -> str:
    """Return the path of a method in gRPC."""
    return f"/{method.containing_service.full_name}/{method.name}"


def json_bindings() -> tuple[Binding, ...]:
    """Return all HTTP bindings: for each path those that name no field in it first."""
    return tuple(sorted((one for call in calls() for one in _bindings(call)), key=lambda one: one.path.count("{")))


def allowed_methods() -> dict[str, list[str]]:
    """Return the HTTP methods of each path, by its regular expression, in the order of the bindings."""
    bound = json_bindings()
    return {
        one.pattern: sorted({other.verb for other in bound if re.fullmatch(other.pattern, one.path)}) for one in bound
    }


def open_paths() -> tuple[str, ...]:
    """Return the paths, over gRPC and plain HTTP, of the calls without a token."""
    is_open = [call for call in calls() if call.name in OPEN_CALLS]
    return tuple(path for call in is_open for path in (call_path(call), *(one.path for one in _bindings(call))))


def ambiguous_queries() -> tuple[str, ...]:
    """Return regular expressions of the paths whose query sets a field of the path again, or escapes a name.

    Of a oneof only one field is set: another one sets that of the path again.
    """
    names: dict[str, set[str]] = {}
    for one in json_bindings():
        for collection, name in _PATH_FIELD.findall(one.path):
            field = one.call.input_type.fields_by_name[name]
            for each in field.containing_oneof.fields if field.containing_oneof else (field,):
                names.setdefault(collection, set()).update((each.name, each.json_name))
    repeated = (
        rf"/v1/(.*/)?{collection}/[^?]*\?(.*&)?({'|'.join(sorted(of_path))})=.*"
        for collection, of_path in names.items()
    )
    return (*repeated, r"[^?]*\?(.*&)?[^=&]*%[^=&]*=.*")


def _bindings(call: MethodDescriptor) -> Iterator[Binding]:
    rule = call.GetOptions().Extensions[annotations_pb2.http]
    for one in (rule, *rule.additional_bindings):
        if verb := one.WhichOneof("pattern"):
            yield Binding(call, verb.upper(), getattr(one, verb), bool(one.body))


def descriptor_set() -> bytes:
    """Return a serialized FileDescriptorSet, each file after those that it imports."""
    files: dict[str, FileDescriptor] = {}
    for file in (*(service.file for service in SERVICES), *_ERROR_DETAILS):
        _add(file, files)
    descriptors = FileDescriptorSet()
    for each in files.values():
        each.CopyToProto(descriptors.file.add())
    return descriptors.SerializeToString(deterministic=True)


def _add(file: FileDescriptor, files: dict[str, FileDescriptor]) -> None:
    for imported in file.dependencies:
        _add(imported, files)
    files.setdefault(file.name, file)
