"""Files for their owner only, whatever the umask is, and the refusal of those that others may read."""

import os
import shlex
from pathlib import Path
from typing import BinaryIO

from croupier.runtime.server.program import SettingsError

_PRIVATE_FOLDER = 0o700
_PRIVATE_FILE = 0o600
_OTHERS = 0o077
_GROUP_MAY_READ = 0o040


def open_private(path: Path, flags: int = os.O_TRUNC) -> BinaryIO:
    """Open a file for writing, with more flags of the system; if it is new, only its owner can read it."""
    return os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | flags, _PRIVATE_FILE), "wb")


def replace_private(path: Path, text: str) -> None:
    """Write a file for its owner only, by a rename: readers get the old text or the new one."""
    partial = path.with_suffix(".partial")
    with open_private(partial) as file:
        file.write(text.encode())
    partial.replace(path)


def make_private_folder(path: Path) -> None:
    """Make a folder with its missing parents, all for their owner only."""
    if not path.parent.exists():
        make_private_folder(path.parent)
    path.mkdir(mode=_PRIVATE_FOLDER, exist_ok=True)


def check_private(path: Path, remedy: str) -> None:
    """Raise SettingsError with the command of the remedy unless only this user may read and write a file or folder."""
    _check(path, _OTHERS, (os.geteuid(),), remedy)


def check_secret(path: Path) -> None:
    """Raise SettingsError unless only this user, or root and a group that may not write, may use an existing file.

    Kubernetes mounts secrets as files of root for the group of the container.
    """
    if path.exists():
        _check(path, _OTHERS & ~_GROUP_MAY_READ, (os.geteuid(), 0), f"chmod 600 {shlex.quote(str(path))}")


def _check(path: Path, refused: int, owners: tuple[int, ...], remedy: str) -> None:
    status = path.stat()
    if status.st_uid not in owners:
        raise SettingsError(f"{path} belongs to another user: use one of your own, or change its owner with chown")
    if status.st_mode & refused:
        raise SettingsError(f"{path} is open to other users (mode {status.st_mode & 0o777:o}): close it with {remedy}")
