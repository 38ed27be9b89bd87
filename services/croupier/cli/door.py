"""`croupier door`: the configuration of the front door, and the page that describes its JSON."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from croupier.cli.faults import CommandFault, misused
from croupier.door.configuration import bootstrap
from croupier.door.settings import DoorSettings
from croupier.door.transport import secret_files
from croupier.runtime.identity import load_public_key
from croupier.runtime.settings import read_settings

PROGRAM = "croupier door config"
HEADER = "# Made by `croupier door config`; change the settings, not this file.\n"


def configuration_files(arguments: Sequence[str], environment: Mapping[str, str]) -> dict[str, str]:
    """Envoy's files by name: envoy.yaml and, where a folder of secrets is set, those that stand in it.

    Raises CommandFault for settings that cannot be used.
    """
    try:
        settings = read_settings(DoorSettings, PROGRAM, arguments, environment)
        files = {"envoy.yaml": bootstrap(settings, load_public_key(settings.lobby_public_key))}
        if settings.secrets_folder is not None:
            files |= secret_files(settings)
    except ValueError as fault:
        raise misused(f"{fault}") from None
    return {name: HEADER + as_yaml(content) for name, content in files.items()}


def as_yaml(content: dict[str, Any]) -> str:
    """The text of a configuration; raises CommandFault where the extra is not installed."""
    try:
        import yaml
    except ImportError:
        raise CommandFault("the front door's extra is not installed: pip install 'croupier[door]'") from None
    text: str = yaml.safe_dump(content, sort_keys=False, width=120)
    return text


def show_configuration(arguments: Sequence[str], output: Path | None) -> list[str]:
    """The configuration as lines to print, or the names of the files that were written into a folder."""
    files = configuration_files(arguments, os.environ)
    if output is None:
        return [files["envoy.yaml"].rstrip("\n")]
    try:
        output.mkdir(parents=True, exist_ok=True)
        for name, text in files.items():
            (output / name).write_text(text)
    except OSError as fault:
        raise CommandFault(f"{output} cannot be written to: {fault.strerror}") from None
    return [f"{output / name} written" for name in files]
