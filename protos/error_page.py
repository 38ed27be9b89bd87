"""Writes docs/errors.md from the comments of the enum ErrorReason.

A comment reads "CODE: case. Remedy. A retry ...", or "CODE, from the gateway: ...".
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from google.protobuf.descriptor_pb2 import EnumDescriptorProto, FileDescriptorProto, FileDescriptorSet

FILE, ENUM, PREFIX = "croupier_api/v1/errors.proto", "ErrorReason", "ERROR_REASON_"
COMMENT = re.compile(
    r"(?P<code>[A-Z_]+)(?P<gateway>, from the gateway)?: (?P<case>.+?)\. (?P<remedy>.+)\. A retry (?P<retry>.+)\."
)
COLUMNS = "| Reason | Code | Case | Remedy | Retry |\n|---|---|---|---|---|"
HEAD = f"""# Errors

<!-- Written by protos/generate.py from protos/{FILE}. -->

Every refusal is a `google.rpc.Status`, in unary calls, at the end of streams and inside them alike.
It has a gRPC code, a message in English for developers, and these details:

| Detail | Present | Content |
|---|---|---|
| `google.rpc.ErrorInfo` | always | domain `croupier`, the reason, and metadata as the reason says |
| `google.rpc.BadRequest` | if a field of the request is wrong | the field |
| `google.rpc.RetryInfo` | if a retry helps after a known time | the time |

The reasons are those of the enum `{ENUM}` without the prefix `{PREFIX}`. Later versions
may add reasons: a client that does not know one goes by the code.
"""


@dataclass(frozen=True, slots=True)
class Reason:
    """A reason: its gRPC code, case and remedy, and whether a retry helps; a heading at the start of a section."""

    name: str
    code: str
    case: str
    remedy: str
    retry: str
    heading: str = ""


def reasons(files: FileDescriptorSet) -> tuple[Reason, ...]:
    """Return the reasons that descriptors with comments hold; raises ValueError for a comment of another form."""
    (file,) = [file for file in files.file if file.name == FILE]
    return tuple(_reasons(file))


def _reasons(file: FileDescriptorProto) -> Iterator[Reason]:
    ((number, enum),) = [(number, enum) for number, enum in enumerate(file.enum_type) if enum.name == ENUM]
    values = (FileDescriptorProto.ENUM_TYPE_FIELD_NUMBER, number, EnumDescriptorProto.VALUE_FIELD_NUMBER)
    comments = {tuple(location.path): location for location in file.source_code_info.location}
    for index, value in enumerate(enum.value):
        if value.number == 0:
            continue
        location = comments[*values, index]
        found = COMMENT.fullmatch(_line(location.leading_comments))
        if found is None:
            raise ValueError(f"invalid comment of {value.name}: expected 'CODE: case. Remedy. A retry ...'")
        name, heading = value.name.removeprefix(PREFIX), " ".join(map(_line, location.leading_detached_comments))
        case = f"from the gateway: {found['case']}" if found["gateway"] else found["case"]
        yield Reason(name, found["code"], _capital(case), found["remedy"], found["retry"], heading.rstrip("."))


def _line(comment: str) -> str:
    return " ".join(comment.split())


def _capital(sentence: str) -> str:
    # Names of fields stay as they are.
    return sentence if "_" in sentence.partition(" ")[0] else sentence[0].upper() + sentence[1:]


def page(found: Sequence[Reason]) -> str:
    """Return the page: a table for each section of the enum."""
    lines = [HEAD.rstrip()]
    for reason in found:
        if reason.heading:
            lines += [f"\n## {reason.heading}\n", COLUMNS]
        lines.append(f"| `{reason.name}` | {reason.code} | {reason.case} | {reason.remedy} | {reason.retry} |")
    return "\n".join(lines) + "\n"
