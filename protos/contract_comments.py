"""The comments of the contract by name."""

from collections.abc import Iterable, Iterator, Mapping
from typing import TypeAlias

from google.protobuf.descriptor_pb2 import DescriptorProto, FileDescriptorProto, FileDescriptorSet

MEMBER_FIELD_NUMBER = 2
"""The field number of a message's fields, of an enum's values and of a service's methods alike."""
Path: TypeAlias = tuple[int, ...]
"""The path of a definition in its file: pairs of a field number and an index."""


def comments(contract: FileDescriptorSet) -> dict[str, str]:
    """Return all comments by name: Table, Table.seats, LobbyService.SignIn."""
    return {name: comment for file in contract.file for name, comment in _of_file(file)}


def _of_file(file: FileDescriptorProto) -> Iterator[tuple[str, str]]:
    by_path = {tuple(one.path): " ".join(one.leading_comments.split()) for one in file.source_code_info.location}
    for index, message in enumerate(file.message_type):
        yield from _of_message(message, message.name, (file.MESSAGE_TYPE_FIELD_NUMBER, index), by_path)
    for index, enum in enumerate(file.enum_type):
        values = (value.name for value in enum.value)
        yield from _with_members(enum.name, values, (file.ENUM_TYPE_FIELD_NUMBER, index), by_path)
    for index, service in enumerate(file.service):
        methods = (method.name for method in service.method)
        yield from _with_members(service.name, methods, (file.SERVICE_FIELD_NUMBER, index), by_path)


def _of_message(
    message: DescriptorProto, name: str, path: Path, by_path: Mapping[Path, str]
) -> Iterator[tuple[str, str]]:
    yield from _with_members(name, (field.name for field in message.field), path, by_path)
    for index, nested in enumerate(message.nested_type):
        if not nested.options.map_entry:
            place = (*path, message.NESTED_TYPE_FIELD_NUMBER, index)
            yield from _of_message(nested, f"{name}.{nested.name}", place, by_path)


def _with_members(
    name: str, members: Iterable[str], path: Path, by_path: Mapping[Path, str]
) -> Iterator[tuple[str, str]]:
    yield name, by_path[path]
    for index, member in enumerate(members):
        yield f"{name}.{member}", by_path[*path, MEMBER_FIELD_NUMBER, index]
