"""The folder of services that are started here: keys, databases, logs, and the running processes."""

import json
import os
import shlex
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from croupier.cli.faults import CommandFault
from croupier.cli.launcher.keys import AUTHORITY_DAYS, certificate_files, make_missing
from croupier.runtime.file_lock import lock_file
from croupier.runtime.identity.permissions import check_private, make_private_folder
from croupier.runtime.server.program import SettingsError

SECRET_FOLDERS = ("keys", "logs")
PUBLIC = (".public.pem", ".crt", ".certificate.pem", ".authority.pem")
"""The ends of the names of files below keys that anyone may read."""


def default_data_folder(environment: Mapping[str, str]) -> Path:
    """Return $XDG_DATA_HOME/croupier, or ~/.local/share/croupier."""
    home = environment.get("XDG_DATA_HOME")
    return (Path(home) if home else Path.home() / ".local" / "share") / "croupier"


@dataclass(frozen=True, slots=True)
class DataFolder:
    """The paths of a data folder; `path` is absolute.

    services.json has the running processes: the supervisor's `pid`, whether there is `mutual_tls`, and `services` by
    instance (engine, engine-2) with `pid`, `listen`, `metrics` and, for engine and scoring, `control`. It exists while
    the services run, and is replaced after each restart of one.
    """

    path: Path

    @property
    def services_file(self) -> Path:
        return self.path / "services.json"

    def signing_key(self, service: str) -> Path:
        return self.path / "keys" / f"{service}.private.pem"

    def public_key(self, service: str) -> Path:
        return self.path / "keys" / f"{service}.public.pem"

    def certificate_files(self, service: str) -> tuple[Path, Path, Path]:
        """Return the paths of its certificate, its key, and the authority's certificate."""
        return certificate_files(self.path / "keys", service)

    def database_url(self, service: str) -> str:
        # Imported here: commands that need no database do not wait for SQLAlchemy.
        from croupier.runtime.database.database import sqlite_url

        return sqlite_url(self.path / f"{service}.db")

    @property
    def logs(self) -> Path:
        return self.path / "logs"

    def log_file(self, instance: str) -> Path:
        return self.logs / f"{instance}.log"

    def ready_file(self, instance: str) -> Path:
        return self.path / "ready" / f"{instance}.json"


def prepare_data_folder(path: Path, certificates: bool = False) -> DataFolder:
    """Make the folder, readable by its owner only, with missing keys, and with missing certificates if asked for.

    Raises CommandFault if that fails, and for a folder or file in it that others may use.
    """
    folder = DataFolder(path.expanduser().absolute())
    try:
        for part in (*SECRET_FOLDERS, "ready"):
            make_private_folder(folder.path / part)
        _check_private(folder.path)
        make_missing(folder.path / "keys", AUTHORITY_DAYS if certificates else None, datetime.now(UTC))
    except OSError as fault:
        raise _unusable(folder, fault) from None
    return folder


def _check_private(folder: Path) -> None:
    remedy = f"chmod -R go-rwx {shlex.quote(str(folder))}"
    try:
        parts = (part for name in SECRET_FOLDERS for part in (folder / name, *(folder / name).rglob("*")))
        for path in (folder, *folder.glob("*.db*"), *parts):
            # The files of a running service may go.
            if not path.name.endswith(PUBLIC) and path.exists():
                check_private(path, remedy)
    except SettingsError as fault:
        raise CommandFault(str(fault)) from None


def _unusable(folder: DataFolder, fault: OSError) -> CommandFault:
    why = (fault.strerror or str(fault)).lower()
    return CommandFault(f"{folder.path} cannot be used as data folder ({why}): choose another with --data-dir")


@contextmanager
def sole_use(folder: DataFolder) -> Iterator[None]:
    """Lock the folder for this process; raises CommandFault if another one runs services in it."""
    try:
        lock = lock_file(folder.path / "lock")
    except BlockingIOError:
        raise CommandFault(f"services run in {folder.path} already: stop them, or choose another --data-dir") from None
    except OSError as fault:
        raise _unusable(folder, fault) from None
    with lock:
        yield


def running_in(path: Path) -> dict[str, Any] | None:
    """Return the content of services.json while services run in a folder, else None."""
    folder = DataFolder(path.expanduser().absolute())
    try:
        known: dict[str, Any] = json.loads(folder.services_file.read_text())
        os.kill(known["pid"], 0)
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return known
