"""Envoy's configuration as files."""

from collections.abc import Mapping
from pathlib import Path

import yaml

from croupier.door.configuration import bootstrap
from croupier.door.settings import DoorSettings
from croupier.door.transport import secret_files
from croupier.runtime.identity import load_public_key

HEADER = "# Made by `croupier door config`; change the settings, not this file.\n"


class _InFull(yaml.SafeDumper):
    """Writes what stands in two places twice, instead of a reference to the first."""

    def ignore_aliases(self, _data: object) -> bool:
        return True


def configuration_files(settings: DoorSettings) -> dict[str, str]:
    """The texts of envoy.yaml and, where a folder of secrets is set, of the files that stand in it, by name.

    Raises ValueError for a key that cannot be read.
    """
    files = {"envoy.yaml": bootstrap(settings, load_public_key(settings.lobby_public_key))}
    if settings.secrets_folder is not None:
        files |= secret_files(settings)
    return {
        name: HEADER + yaml.dump(content, Dumper=_InFull, sort_keys=False, width=120) for name, content in files.items()
    }


def write_files(files: Mapping[str, str], folder: Path) -> None:
    """Write files into a folder that exists."""
    for name, text in files.items():
        (folder / name).write_text(text)
