"""What the contract says in words: the comments of its .proto files, which compiled descriptors do not hold."""

import re
from collections.abc import Mapping
from importlib.resources import files

_BEGINS = re.compile(r"(?:message|enum|service|oneof) (\w+) {(})?")
_NAMED = re.compile(r"(?:rpc (\w+)\(|(?:[\w.<>, ]+ )?(\w+) = \d+;)")


def comments(file: str) -> Mapping[str, str]:
    """The comments in croupier_api/v1/FILE by what they stand before: Table, Table.seats, LobbyService.SignIn."""
    found: dict[str, str] = {}
    scopes: list[str] = []
    said: list[str] = []
    for line in files("croupier_api.v1").joinpath(file).read_text().splitlines():
        text = line.strip()
        if text.startswith("//"):
            said.append(text.removeprefix("//").strip())
            continue
        _take(text, " ".join(said), scopes, found)
        said = []
    return found


def _take(text: str, comment: str, scopes: list[str], found: dict[str, str]) -> None:
    """Note what the line names, and which braces it opens and closes."""
    if begun := _BEGINS.match(text):
        found[_full(scopes, begun[1])] = comment
    elif (named := _NAMED.match(text)) and scopes:
        found[_full(scopes, named[1] or named[2])] = comment
    opened = text.count("{") - text.count("}")
    if opened > 0:
        # A field of a oneof belongs to the message around it.
        scopes.append(begun[1] if begun and not text.startswith("oneof") else "")
    elif opened < 0:
        scopes.pop()


def _full(scopes: list[str], name: str) -> str:
    return ".".join((*filter(None, scopes), name))
