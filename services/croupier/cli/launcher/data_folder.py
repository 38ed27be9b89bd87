"""The folder of services that are started here: keys, databases, logs, and the running processes."""

import fcntl
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from croupier.cli.commands.keys import AUTHORITY_DAYS, NETWORK_KEY, certificate_files, make_certificates, make_keys
from croupier.cli.faults import CommandFault


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

    @property
    def network_key(self) -> Path:
        return self.path / "keys" / NETWORK_KEY

    def certificate_files(self, service: str) -> tuple[Path, Path, Path]:
        """Return the paths of its certificate, its key, and the authority's certificate."""
        return certificate_files(self.path / "keys", service)

    def database_url(self, service: str) -> str:
        return f"sqlite+aiosqlite:///{self.path / service}.db"

    def log_file(self, instance: str) -> Path:
        return self.path / "logs" / f"{instance}.log"

    def ready_file(self, instance: str) -> Path:
        return self.path / "ready" / f"{instance}.json"


def prepare_data_folder(path: Path, certificates: bool = False) -> DataFolder:
    """Make the folder, readable by its owner only, with missing keys, and with missing certificates if asked for.

    Raises CommandFault if that fails.
    """
    folder = DataFolder(path.expanduser().absolute())
    try:
        folder.path.mkdir(mode=0o700, parents=True, exist_ok=True)
        for part in ("keys", "logs", "ready"):
            (folder.path / part).mkdir(mode=0o700, exist_ok=True)
        make_keys(folder.path / "keys")
        if certificates:
            make_certificates(folder.path / "keys", AUTHORITY_DAYS, datetime.now(UTC))
    except OSError as fault:
        raise _unusable(folder, fault) from None
    return folder


def _unusable(folder: DataFolder, fault: OSError) -> CommandFault:
    why = (fault.strerror or str(fault)).lower()
    return CommandFault(f"{folder.path} cannot be used as data folder ({why}): choose another with --data-dir")


@contextmanager
def sole_use(folder: DataFolder) -> Iterator[None]:
    """Lock the folder for this process; raises CommandFault if another one runs services in it."""
    try:
        lock = os.open(folder.path / "lock", os.O_RDWR | os.O_CREAT, 0o600)
    except OSError as fault:
        raise _unusable(folder, fault) from None
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(lock)
        raise CommandFault(f"services run in {folder.path} already: stop them, or choose another --data-dir") from None
    try:
        yield
    finally:
        os.close(lock)


def running_in(path: Path) -> dict[str, Any] | None:
    """Return the content of services.json while services run in a folder, else None."""
    folder = DataFolder(path.expanduser().absolute())
    try:
        known: dict[str, Any] = json.loads(folder.services_file.read_text())
        os.kill(known["pid"], 0)
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return known
