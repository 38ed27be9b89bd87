"""Names of the public contract are identifiers in every language of its clients."""

import keyword
import re
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest
from google.protobuf.descriptor import Descriptor, EnumDescriptor, FileDescriptor
from google.protobuf.descriptor_pb2 import FieldDescriptorProto, FileDescriptorProto, FileOptions
from google.protobuf.descriptor_pool import DescriptorPool

import croupier_api.v1
from tests.contract.reserved_words import RESERVED_WORDS

STEMS = sorted(path.stem for path in Path(croupier_api.v1.__path__[0]).glob("*.proto"))
FILES: tuple[FileDescriptor, ...] = tuple(import_module(f"croupier_api.v1.{stem}_pb2").DESCRIPTOR for stem in STEMS)
LANGUAGE_OPTIONS = {
    "csharp_namespace": "Croupier.Api.V1",
    "go_package": "croupier_api/v1;croupierv1",
    "java_multiple_files": True,
    "java_package": "croupier.api.v1",
    "php_namespace": "Croupier\\Api\\V1",
    "ruby_package": "Croupier::Api::V1",
    "swift_prefix": "Croupier",
}


def snake(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()


def names(file: FileDescriptor) -> Iterator[tuple[str, str]]:
    """Yield each definition with generated code: its full name, and its name, without prefix for values of enums."""
    for message in file.message_types_by_name.values():
        yield from _names_of_message(message)
    for enum in file.enum_types_by_name.values():
        yield from _names_of_enum(enum)
    for service in file.services_by_name.values():
        yield service.full_name, service.name
        yield from ((method.full_name, method.name) for method in service.methods)


def _names_of_message(message: Descriptor) -> Iterator[tuple[str, str]]:
    yield message.full_name, message.name
    yield from ((field.full_name, field.name) for field in message.fields)
    # A oneof that stands for `optional` begins with an underscore, and has no generated code.
    yield from ((oneof.full_name, oneof.name) for oneof in message.oneofs if not oneof.name.startswith("_"))
    for nested in message.nested_types:
        yield from _names_of_message(nested)
    for enum in message.enum_types:
        yield from _names_of_enum(enum)


def _names_of_enum(enum: EnumDescriptor) -> Iterator[tuple[str, str]]:
    yield enum.full_name, enum.name
    for value in enum.values:
        yield f"{enum.full_name}.{value.name}", value.name.removeprefix(f"{snake(enum.name).upper()}_")


def faults(file: FileDescriptor) -> set[str]:
    """Return names that some language refuses, as they are, in lowerCamelCase or in snake_case."""
    found = set()
    for place, name in names(file):
        lower = snake(name)
        camel = re.sub(r"_(.)", lambda letter: letter[1].upper(), lower)
        for spelling in (name, lower, camel):
            reserving = [language for language, words in RESERVED_WORDS.items() if spelling in words]
            found |= {f"{place}: {spelling} is reserved in {language}" for language in reserving}
            if not spelling.isidentifier():
                found.add(f"{place}: {spelling} is no identifier")
    return found | set(_java_collisions(file))


def _java_collisions(file: FileDescriptor) -> Iterator[str]:
    """Yield values of an enum that are named as the number of another one, for which Java adds _VALUE."""
    for enum in file.enum_types_by_name.values():
        known = {value.name for value in enum.values}
        taken = [name for name in known if f"{name}_VALUE" in known]
        yield from (f"{enum.full_name}.{name}_VALUE: it is the number of {name} in Java" for name in taken)


@pytest.mark.parametrize("file", FILES, ids=STEMS)
def test_no_name_is_a_reserved_word_or_begins_with_a_digit(file: FileDescriptor) -> None:
    assert not faults(file)


def test_invalid_names_of_every_kind_are_detected() -> None:
    file = FileDescriptorProto(name="bad.proto", syntax="proto3")
    message = file.message_type.add(name="Type")
    for number, name in enumerate(("private", "good"), 1):
        message.field.add(
            name=name,
            number=number,
            type=FieldDescriptorProto.TYPE_BOOL,
            label=FieldDescriptorProto.LABEL_OPTIONAL,
        )
    message.field[1].oneof_index = 0
    message.oneof_decl.add(name="fallthrough")
    enum = message.nested_type.add(name="Good").enum_type.add(name="SomeCard")
    for number, name in enumerate(("SOME_CARD_GOOD", "SOME_CARD_2C", "SOME_CARD_FILE_PRIVATE", "SOME_CARD_PASS")):
        enum.value.add(name=name, number=number)
    file.service.add(name="GoodService").method.add(name="Yield", input_type=".Type", output_type=".Type")
    pool = DescriptorPool()
    pool.AddSerializedFile(file.SerializeToString())
    places = {fault.partition(":")[0] for fault in faults(pool.FindFileByName("bad.proto"))}
    values = {f"Type.Good.SomeCard.{name}" for name in ("SOME_CARD_2C", "SOME_CARD_PASS")}
    assert places == {"Type", "Type.private", "Type.fallthrough", "GoodService.Yield"} | values


def test_the_words_of_python_are_those_of_its_library() -> None:
    assert set(keyword.kwlist) | set(keyword.softkwlist) <= RESERVED_WORDS["Python"]


def test_every_file_of_java_and_kotlin_has_a_name_of_its_own() -> None:
    """protoc writes a file for each message, enum and service, and for each .proto file."""
    classes = [file.GetOptions().java_outer_classname for file in FILES]
    for file in FILES:
        classes += [*file.message_types_by_name, *file.enum_types_by_name, *file.services_by_name]
    # Some file systems ignore case.
    assert len({name.lower() for name in classes}) == len(classes)


@pytest.mark.parametrize("file", FILES, ids=STEMS)
def test_every_file_has_the_same_package_in_each_language(file: FileDescriptor) -> None:
    options: FileOptions = file.GetOptions()
    stem = file.name.rpartition("/")[2].removesuffix(".proto")
    expected = LANGUAGE_OPTIONS | {"java_outer_classname": f"{stem.capitalize()}Proto"}
    assert {field.name: value for field, value in options.ListFields()} == expected
