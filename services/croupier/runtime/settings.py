"""Settings of a service: a frozen dataclass, read once from flags and CROUPIER_* variables; faults told together."""

import argparse
import dataclasses
import ipaddress
import math
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar, get_type_hints

AnySettings = TypeVar("AnySettings")

ENVIRONMENT_PREFIX = "CROUPIER_"


def setting(meaning: str, *, default: Any = dataclasses.MISSING) -> Any:
    """A field of a settings class: its meaning in one sentence with the unit; without default it must be given."""
    if default is dataclasses.MISSING:
        return dataclasses.field(metadata={"meaning": meaning})
    return dataclasses.field(default=default, metadata={"meaning": meaning})


def read_settings(
    kind: type[AnySettings], program: str, arguments: Sequence[str], environment: Mapping[str, str]
) -> AnySettings:
    """Read settings, flags before variables; ends the program with code 2 and every fault named if any is wrong."""
    parser = _parser(kind, program)
    given = vars(parser.parse_args(arguments))
    values: dict[str, Any] = {}
    faults = []
    hints = get_type_hints(kind)
    for field in dataclasses.fields(kind):  # type: ignore[arg-type]
        text = given[field.name]
        if text is None:
            text = environment.get(ENVIRONMENT_PREFIX + field.name.upper())
        if text is None:
            if field.default is dataclasses.MISSING:
                faults.append(f"{_names(field.name)} is missing: {field.metadata['meaning']}")
            continue
        try:
            values[field.name] = _READERS[hints[field.name]](text)
        except ValueError as fault:
            faults.append(f"{_names(field.name)} cannot be {text!r}: {fault}")
    if faults:
        parser.exit(2, "".join(f"{program}: {fault}\n" for fault in faults))
    return kind(**values)


def _names(name: str) -> str:
    return f"--{name.replace('_', '-')} ({ENVIRONMENT_PREFIX}{name.upper()})"


def _parser(kind: type[Any], program: str) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog=program, description=(kind.__doc__ or "").strip(), allow_abbrev=False)
    for field in dataclasses.fields(kind):
        default = "" if field.default in (dataclasses.MISSING, "", None) else f" Default: {field.default}."
        help_text = f"{field.metadata['meaning']}{default} [{ENVIRONMENT_PREFIX}{field.name.upper()}]"
        parser.add_argument(f"--{field.name.replace('_', '-')}", help=help_text.replace("%", "%%"), metavar="VALUE")
    return parser


def _flag(text: str) -> bool:
    if text not in ("true", "false"):
        raise ValueError("true or false is expected")
    return text == "true"


def _integer(text: str) -> int:
    try:
        value = int(text)
    except ValueError:
        raise ValueError("an integer is expected") from None
    if value < 0:
        raise ValueError("it must not be negative")
    return value


def _number(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        raise ValueError("a number is expected") from None
    if not 0 <= value < math.inf:
        raise ValueError("it must be a number that is not negative")
    return value


_READERS: dict[Any, Callable[[str], Any]] = {
    str: str,
    int: _integer,
    float: _number,
    bool: _flag,
    Path: Path,
    Path | None: lambda text: Path(text) if text else None,
}


def is_loopback(address: str) -> bool:
    """Whether a host:port address is on this machine only."""
    host = address.rpartition(":")[0].strip("[]")
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
