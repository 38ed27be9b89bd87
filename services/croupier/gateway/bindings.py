"""The contract for Envoy: its calls, their HTTP paths by its annotations, and its descriptors."""

import re

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
_ERROR_DETAILS: tuple[FileDescriptor, ...] = (status_pb2.DESCRIPTOR, error_details_pb2.DESCRIPTOR)


def calls() -> tuple[MethodDescriptor, ...]:
    """Return all calls of players, in the order of the contract."""
    return tuple(method for service in SERVICES for method in service.methods)


def call_path(method: MethodDescriptor) -> str:
    """Return the path of a method in gRPC."""
    return f"/{method.containing_service.full_name}/{method.name}"


def open_paths() -> tuple[str, ...]:
    """Return the paths, over gRPC and plain HTTP, of the calls without a token."""
    is_open = [call for call in calls() if call.name in OPEN_CALLS]
    return tuple(path for call in is_open for path in (call_path(call), *_http_paths(call)))


def ambiguous_queries() -> tuple[str, ...]:
    """Return regular expressions of the paths whose query repeats a field of the path, or escapes a name."""
    fields = {
        match: call.input_type for call in calls() for path in _http_paths(call) for match in _PATH_FIELD.findall(path)
    }
    repeated = (
        rf"/v1/(.*/)?{collection}/[^?]*\?(.*&)?({name}|{message.fields_by_name[name].json_name})=.*"
        for (collection, name), message in fields.items()
    )
    return (*repeated, r"[^?]*\?(.*&)?[^=&]*%[^=&]*=.*")


def _http_paths(method: MethodDescriptor) -> list[str]:
    rule = method.GetOptions().Extensions[annotations_pb2.http]
    return [getattr(one, verb) for one in (rule, *rule.additional_bindings) if (verb := one.WhichOneof("pattern"))]


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
