"""`croupier door`: the configuration of the front door, and the page that describes its JSON."""

import os
from collections.abc import Sequence
from pathlib import Path

from croupier.cli.faults import CommandFault, misused
from croupier.door.checks import check_certificates, now_utc
from croupier.door.files import configuration_files, write_files
from croupier.door.settings import DoorSettings
from croupier.runtime.settings import read_settings

PROGRAM = "croupier door config"


def show_configuration(arguments: Sequence[str], output: Path | None, *, with_check: bool) -> list[str]:
    """The configuration as lines to print, or the names of the files that were written into a folder.

    Raises CommandFault for settings that cannot be used; with a check also for certificates.
    """
    settings = read_settings(DoorSettings, PROGRAM, arguments, os.environ)
    try:
        files = configuration_files(settings)
        if with_check:
            check_certificates(settings, now_utc())
    except ValueError as fault:
        raise misused(str(fault)) from None
    if output is None:
        return [files["envoy.yaml"].rstrip("\n")]
    try:
        output.mkdir(parents=True, exist_ok=True)
        write_files(files, output)
    except OSError as fault:
        raise CommandFault(f"{output} cannot be written to: {fault.strerror}") from None
    return [f"{output / name} written" for name in files]
