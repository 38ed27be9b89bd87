"""A player at this machine: the secrets by which servers know them, and the servers that do."""

import contextlib
import hmac
import json
import os
import re
import secrets
import shlex
from dataclasses import dataclass
from pathlib import Path

from croupier.cli.faults import CommandFault, misused
from croupier.runtime.identity.permissions import check_private, make_private_folder, open_private, replace_private
from croupier.runtime.server.program import SettingsError

MAX_SERVERS = 50
"""Of those that were met last."""
SECRET_BYTES = 32


@dataclass(frozen=True, slots=True)
class LocalPlayer:
    """One of the players whose secrets are in a folder; the name is empty for the usual one.

    `server` is the address of a gateway; empty for the services in the folder. Raises CommandFault for another name
    than letters, digits, - and _, and its methods for a file that cannot be used, or that others may read.
    """

    folder: Path
    name: str = ""
    server: str = ""

    def __post_init__(self) -> None:
        if not re.fullmatch(r"[\w-]{0,32}", self.name):
            raise misused(f"--player {self.name!r}: expected at most 32 letters, digits, - and _")

    def secret(self) -> str:
        """Return the secret by which the server knows the player; the first call makes that of the device.

        Each server gets one of its own, derived from that of the device: a server that knew the secret for another
        could play there as the same player.
        """
        of_device = self._secret_of_device()
        if not self.server:
            return of_device
        return hmac.digest(of_device.encode(), f"croupier server {self.server.lower()}".encode(), "sha256").hex()

    def _secret_of_device(self) -> str:
        file = self._file("secret")
        try:
            make_private_folder(file.parent)
            with contextlib.suppress(FileExistsError), open_private(file, os.O_EXCL) as new:
                new.write(secrets.token_hex(SECRET_BYTES).encode())
            check_private(file, f"chmod 600 {shlex.quote(str(file))}")
            return file.read_text()
        except SettingsError as fault:
            raise CommandFault(str(fault)) from None
        except OSError as fault:
            raise CommandFault(f"{file} cannot be used: {fault.strerror}; choose another --data-dir") from None

    def is_known(self) -> bool:
        """Return whether the server has had the player's name from this device: another one is a renaming."""
        return self.server in self._servers()

    def remember(self) -> None:
        """Record that the server has the player's name."""
        self._replace([*self._others(), self.server])

    def forget(self) -> None:
        """Record that the server has deleted the player: the next one is new."""
        self._replace(self._others())

    def _others(self) -> list[str]:
        return [server for server in self._servers() if server != self.server]

    def _servers(self) -> list[str]:
        with contextlib.suppress(OSError, ValueError, TypeError):
            return [str(server) for server in json.loads(self._file("servers").read_text())]
        return []

    def _replace(self, servers: list[str]) -> None:
        # Without the list the player gets the name of the command line again.
        with contextlib.suppress(OSError):
            replace_private(self._file("servers"), json.dumps(servers[-MAX_SERVERS:], indent=1))

    def _file(self, kind: str) -> Path:
        name = f"player-{self.name}" if self.name else "player"
        return self.folder.expanduser() / f"{name}.{kind}"
