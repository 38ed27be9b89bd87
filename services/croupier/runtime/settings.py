"""Settings of a program, by pydantic-settings: a frozen model, read once from flags and CROUPIER_* variables.

Flags come before variables: the setting `tls_key` is --tls-key or CROUPIER_TLS_KEY. The docstring of a setting is its
help text. A setting with `repr=False` is a secret, whose value no message shows.
"""

import argparse
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, TypeAlias, TypeVar

from pydantic import AfterValidator, BeforeValidator, Field, NonNegativeInt, PositiveInt, ValidationError
from pydantic_settings import BaseSettings, CliSettingsSource, EnvSettingsSource, SettingsConfigDict

from croupier.runtime.server.addresses import EXPECTED, addresses_of, is_address
from croupier.runtime.server.channels import target_of
from croupier.runtime.server.program import SettingsError
from croupier.runtime.tls.tls import TlsFiles, tls_files

ENVIRONMENT_PREFIX = "CROUPIER_"
AnySettings = TypeVar("AnySettings", bound="Settings")


def expecting(expected: str, is_valid: Callable[[str], object]) -> AfterValidator:
    """Return a validator of texts by a function; its error names the expected form."""

    def checked(text: str) -> str:
        if not is_valid(text):
            raise ValueError(f"expected {expected}")
        return text

    return AfterValidator(checked)


_LISTEN = f"{EXPECTED}, where port 0 chooses one"
OptionalAddress: TypeAlias = Annotated[str, expecting(f"one {EXPECTED}", lambda text: not text or is_address(text))]
Addresses: TypeAlias = Annotated[str, expecting("addresses", addresses_of)]
"""One host:port or several with commas between."""
Replicas: TypeAlias = Annotated[str, expecting("addresses", target_of)]
"""The addresses of all replicas of a service, for one channel to them."""
ListenAddress: TypeAlias = Annotated[str, expecting(_LISTEN, lambda text: is_address(text, min_port=0))]
OptionalListenAddress: TypeAlias = Annotated[
    str, expecting(_LISTEN, lambda text: not text or is_address(text, min_port=0))
]
OptionalPath: TypeAlias = Annotated[Path | None, BeforeValidator(lambda text: text or None)]
"""A path, or None for an empty text."""
Ratio: TypeAlias = Annotated[float, Field(ge=0, le=1)]


class Settings(BaseSettings):
    """Settings of any program. A model that is constructed in code reads no environment."""

    model_config = SettingsConfigDict(
        env_prefix=ENVIRONMENT_PREFIX, frozen=True, use_attribute_docstrings=True, hide_input_in_errors=True
    )

    @classmethod
    def settings_customise_sources(cls, *_: Any, **sources: Any) -> tuple[Any, ...]:
        """Read the environment in `read_settings` only."""
        return (sources["init_settings"],)


def _is_thresholds(text: str) -> bool:
    numbers = text.split(",")
    return len(numbers) == 3 and all(number.isdecimal() and len(number) < 10 for number in numbers)


class ServiceSettings(Settings):
    """Settings of each of lobby, engine and scoring."""

    metrics_listen: ListenAddress
    database: Annotated[str, Field(repr=False)]
    """URL of its database: sqlite:////data/NAME.db or postgresql://user:password@host/name."""
    health_listen: OptionalListenAddress = ""
    """host:port that serves health probes only, without TLS."""
    tls_certificate: OptionalPath = None
    """PEM file of the certificate for other services; it enables mutual TLS."""
    tls_key: OptionalPath = None
    """PEM file of the certificate's private key."""
    tls_ca: OptionalPath = None
    """PEM file of the authorities whose certificates are accepted."""
    traces_endpoint: OptionalAddress = ""
    """host:port of the collector of traces, by OTLP over gRPC."""
    traces_ratio: Ratio = 1.0
    """Recorded share of the traces that begin here, from 0 to 1."""
    log_level: Literal["debug", "info", "warning", "error"] = "info"
    """Minimum level of the log."""
    ready_file: OptionalPath = None
    """File that gets the addresses as JSON once the service is ready."""
    drain_seconds: NonNegativeInt = 10
    """Maximum seconds until the service has stopped, in which running calls end."""
    player_calls_per_second: NonNegativeInt = 100
    """Units a second for the calls of one player in the long run, messages in streams included; 0 for no limit."""
    player_burst: PositiveInt = 1000
    """Units for the calls of one player at once."""
    network_units_per_second: NonNegativeInt = 1000
    """Units a second for the calls of one network (IPv4 /24, IPv6 /56); 0 for no limit."""
    network_burst: PositiveInt = 12_000
    """Units for the calls of one network at once."""
    max_streams: PositiveInt = 10_000
    """Streams, and calls whose request has not arrived, at a time."""
    max_player_streams: PositiveInt = 100
    """Streams of one player at a time."""
    max_network_streams: PositiveInt = 2_000
    """Streams of one network at a time, and calls from there whose request has not arrived."""
    gc_thresholds: Annotated[str, expecting("three integers with commas between", _is_thresholds)] = "10000,20,100"
    """Thresholds of Python's garbage collector, one for each generation."""
    scheduling: Literal["batch", "normal"] = "batch"
    """Scheduling class on Linux: with batch, threads of the transport interrupt the event loop less."""

    @property
    def tls(self) -> TlsFiles | None:
        """Return the files for mutual TLS, None without TLS; raises SettingsError if only some are named."""
        return tls_files("tls", self.tls_certificate, self.tls_key, self.tls_ca)


def read_settings(kind: type[AnySettings], program: str, arguments: Sequence[str]) -> AnySettings:
    """Read settings from arguments and the environment; raises SettingsError with all faults.

    --help, and a flag without its value, end the program.
    """
    unknown: list[str] = []

    def parse(parser: argparse.ArgumentParser, arguments: Sequence[str]) -> argparse.Namespace:
        known, rest = parser.parse_known_args(arguments)
        unknown.extend(rest)
        return known

    flags = CliSettingsSource[Any](
        kind,
        cli_prog_name=program,
        cli_parse_args=list(arguments),
        cli_kebab_case=True,
        cli_hide_none_type=True,
        cli_avoid_json=True,
        cli_show_env_vars=True,
        parse_args_method=parse,
    )
    faults = _argument_faults(unknown)
    try:
        settings = kind.model_validate({**EnvSettingsSource(kind)(), **flags()})
    except ValidationError as invalid:
        faults += [_fault(kind, error) for error in invalid.errors()]
    if faults:
        raise SettingsError("\n".join(faults))
    return settings


def _argument_faults(arguments: Sequence[str]) -> list[str]:
    """Return the faults of unknown arguments, without their values: after a mistyped flag that may be a secret."""
    flags = [word.partition("=")[0] for word in arguments if word.startswith("-")]
    stray = [] if flags or not arguments else ["unexpected argument without a flag: --help names all flags"]
    return [f"unknown flag {flag}: --help names all flags" for flag in flags] + stray


def _fault(kind: type[Settings], error: Any) -> str:
    message = error["msg"].removeprefix("Value error, ").replace("Input should", "input should")
    if not error["loc"]:
        return str(message)
    name = str(error["loc"][0])
    field, names = kind.model_fields[name], f"--{name.replace('_', '-')} ({ENVIRONMENT_PREFIX}{name.upper()})"
    if error["type"] == "missing":
        return f"missing {names}: {field.description}"
    value = f" {error['input']!r}" if field.repr else ""
    return f"invalid {names}{value}: {message}"
