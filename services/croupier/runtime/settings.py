"""Settings of a service: a frozen dataclass, read once from flags and CROUPIER_* variables; faults told together.

What all services can be told stands in ServiceSettings. What belongs together is a dataclass of its own, a group, which
others have as a field: of a group `tls` the setting `key` is --tls-key.
"""

import argparse
import dataclasses
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar, get_type_hints

AnySettings = TypeVar("AnySettings")

ENVIRONMENT_PREFIX = "CROUPIER_"


def setting(meaning: str, *, default: Any = dataclasses.MISSING) -> Any:
    """A field of a settings class: its meaning in one sentence with the unit; without default it must be given."""
    if default is dataclasses.MISSING:
        return dataclasses.field(metadata={"meaning": meaning})
    return dataclasses.field(default=default, metadata={"meaning": meaning})


@dataclasses.dataclass(frozen=True, slots=True)
class TlsSettings:
    """By what a service proves who it is, and checks who others are."""

    certificate: Path | None = setting(
        "PEM file of the certificate that services are shown; with it TLS is spoken, and they need one too.",
        default=None,
    )
    key: Path | None = setting("PEM file of the certificate's private key.", default=None)
    ca: Path | None = setting("PEM file of the authorities whose certificates are accepted.", default=None)


@dataclasses.dataclass(frozen=True, slots=True)
class TracesSettings:
    """Who gets traces, and of how much."""

    endpoint: str = setting("host:port of the collector that gets traces, by OTLP over gRPC.", default="")
    ratio: float = setting("Share of the traces that begin here which are recorded, from 0 to 1.", default=1.0)


@dataclasses.dataclass(frozen=True, slots=True)
class PlayerSettings:
    """How often one player may call."""

    calls_per_second: int = setting(
        "Most calls a second of one player in the long run, messages in streams included; 0 for no limit.", default=100
    )
    burst: int = setting("How many calls of one player may come at once.", default=1000)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class ServiceSettings:
    """What each of lobby, engine and scoring can be told."""

    database: str = setting("URL of its database: sqlite:////data/NAME.db or postgresql://user:password@host/name.")
    health_listen: str = setting("host:port that tells health probes and nothing else, without TLS.", default="")
    tls: TlsSettings = TlsSettings()
    traces: TracesSettings = TracesSettings()
    log_level: str = setting("Least level that is logged: debug, info, warning or error.", default="info")
    ready_file: Path | None = setting("File that gets the addresses as JSON once the service is ready.", default=None)
    drain_seconds: int = setting(
        "Seconds after which the service has stopped at most; what is under way ends first.", default=10
    )
    player: PlayerSettings = PlayerSettings()


def read_settings(
    kind: type[AnySettings], program: str, arguments: Sequence[str], environment: Mapping[str, str]
) -> AnySettings:
    """Read settings, flags before variables; ends the program with code 2 and every fault named if any is wrong."""
    parser = _parser(kind, program)
    given = vars(parser.parse_args(arguments))
    values: dict[str, Any] = {}
    faults = []
    for name, one in known_settings(kind).items():
        text = environment.get(_variable(name)) if given[name] is None else given[name]
        if text is None:
            if one.default is dataclasses.MISSING:
                faults.append(f"{_names(name)} is missing: {one.meaning}")
            continue
        try:
            values[name] = _READERS[one.kind](text)
        except ValueError as fault:
            faults.append(f"{_names(name)} cannot be {text!r}: {fault}")
    if faults:
        parser.exit(2, "".join(f"{program}: {fault}\n" for fault in faults))
    return _made(kind, values)


@dataclasses.dataclass(frozen=True, slots=True)
class Setting:
    """One setting: what it means, what it is without being given, which may be MISSING, and of which type."""

    meaning: str
    default: Any
    kind: Any


def known_settings(kind: type[Any], prefix: str = "") -> dict[str, Setting]:
    """All settings of a settings class, with those of its groups, by their whole names."""
    known: dict[str, Setting] = {}
    for field, hint in _fields(kind):
        if _is_group(hint):
            known |= known_settings(hint, f"{prefix}{field.name}_")
        else:
            known[prefix + field.name] = Setting(field.metadata["meaning"], field.default, hint)
    return known


def _made(kind: type[AnySettings], values: Mapping[str, Any], prefix: str = "") -> AnySettings:
    own: dict[str, Any] = {}
    for field, hint in _fields(kind):
        name = prefix + field.name
        if _is_group(hint):
            own[field.name] = _made(hint, values, f"{name}_")
        elif name in values:
            own[field.name] = values[name]
    return kind(**own)


def _is_group(hint: Any) -> bool:
    return dataclasses.is_dataclass(hint)


def _fields(kind: type[Any]) -> Iterator[tuple[dataclasses.Field[Any], Any]]:
    hints = get_type_hints(kind)
    return ((field, hints[field.name]) for field in dataclasses.fields(kind))


def check_together(given: Mapping[str, object]) -> None:
    """Raises ValueError if some of these settings, by their flags, are None and others are not."""
    missing = [flag for flag, value in given.items() if value is None]
    if 0 < len(missing) < len(given):
        raise ValueError(f"{', '.join(missing)} missing: {', '.join(given)} go together")


def _names(name: str) -> str:
    return f"{_option(name)} ({_variable(name)})"


def _option(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def _variable(name: str) -> str:
    return f"{ENVIRONMENT_PREFIX}{name.upper()}"


def _parser(kind: type[Any], program: str) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog=program, description=(kind.__doc__ or "").strip(), allow_abbrev=False)
    for name, one in known_settings(kind).items():
        default = "" if one.default in (dataclasses.MISSING, "", None) else f" Default: {one.default}."
        help_text = f"{one.meaning}{default} [{_variable(name)}]"
        parser.add_argument(_option(name), help=help_text.replace("%", "%%"), metavar="VALUE")
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
