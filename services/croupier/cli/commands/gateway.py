"""`croupier gateway config`: the configuration of the gateway."""

from collections.abc import Callable, Sequence
from pathlib import Path

from croupier.cli.faults import CommandFault, misused
from croupier.gateway.checks import check_files, exposure, now_utc
from croupier.gateway.configuration import configuration_files, write_files
from croupier.gateway.settings import GatewaySettings
from croupier.runtime.program import SettingsError
from croupier.runtime.settings import read_settings

PROGRAM = "croupier gateway config"


def show_configuration(
    arguments: Sequence[str], output: Path | None, *, with_check: bool, warn: Callable[[str], object]
) -> list[str]:
    """Return the configuration as lines to print, or the names of the files that were written into a folder.

    Raises CommandFault for invalid settings. A check also raises it for invalid certificates and keys, and warns of
    connections from other machines without TLS.
    """
    try:
        settings = read_settings(GatewaySettings, PROGRAM, arguments)
        files = configuration_files(settings)
        if with_check:
            check_files(settings, now_utc())
            if warning := exposure(settings):
                warn(f"{PROGRAM}: {warning}")
    except SettingsError as fault:
        raise misused(str(fault)) from None
    if output is None:
        return [files["envoy.yaml"].rstrip("\n")]
    try:
        output.mkdir(parents=True, exist_ok=True)
        write_files(files, output)
    except OSError as fault:
        raise CommandFault(f"{output} cannot be written to: {fault.strerror}") from None
    return [f"{output / name} written" for name in files]
