"""Envoy's configuration as files."""

from collections.abc import Mapping
from pathlib import Path

from croupier.door.configuration import bootstrap
from croupier.door.settings import DoorSettings
from croupier.door.transport import secret_files
from croupier.door.yaml import as_yaml
from croupier.runtime.identity import load_public_key

HEADER = "# Made by `croupier door config`; change the settings, not this file.\n"


def configuration_files(settings: DoorSettings) -> dict[str, str]:
    """The texts of envoy.yaml and, where a folder of secrets is set, of the files that stand in it, by name.

    Raises ValueError for a key that cannot be read.
    """
    files = {"envoy.yaml": bootstrap(settings, load_public_key(settings.lobby_public_key))}
    if settings.secrets_folder is not None:
        files |= secret_files(settings)
    return {name: HEADER + as_yaml(content) for name, content in files.items()}


def write_files(files: Mapping[str, str], folder: Path) -> None:
    """Write files into a folder that exists."""
    for name, text in files.items():
        (folder / name).write_text(text)
