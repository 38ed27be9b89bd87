"""The contract for Envoy: descriptors of the services for players with all dependencies."""

from google.protobuf.descriptor import FileDescriptor
from google.protobuf.descriptor_pb2 import FileDescriptorProto, FileDescriptorSet
from google.rpc import error_details_pb2, status_pb2

from croupier.gateway.bindings import SERVICES

_ERROR_DETAILS: tuple[FileDescriptor, ...] = (status_pb2.DESCRIPTOR, error_details_pb2.DESCRIPTOR)


def descriptor_set() -> bytes:
    """Return a serialized FileDescriptorSet, each file after those that it imports."""
    files: dict[str, FileDescriptor] = {}
    for file in (*(service.file for service in SERVICES), *_ERROR_DETAILS):
        _add(file, files)
    return FileDescriptorSet(file=map(_proto, files.values())).SerializeToString(deterministic=True)


def _add(file: FileDescriptor, files: dict[str, FileDescriptor]) -> None:
    for imported in file.dependencies:
        _add(imported, files)
    files.setdefault(file.name, file)


def _proto(file: FileDescriptor) -> FileDescriptorProto:
    proto = FileDescriptorProto()
    file.CopyToProto(proto)
    return proto
