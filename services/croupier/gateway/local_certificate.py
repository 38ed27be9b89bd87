"""A certificate for development on one machine, made on first use."""

import socket
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from croupier.gateway.checks import check_pair
from croupier.runtime.certificates import new_authority, new_certificate
from croupier.runtime.program import SettingsError

DAYS = 365


@dataclass(frozen=True, slots=True)
class DevelopmentCertificate:
    """Files in a folder: the gateway's certificate and key, and the authority for clients."""

    folder: Path

    @property
    def certificate(self) -> Path:
        return self.folder / "gateway.certificate.pem"

    @property
    def key(self) -> Path:
        return self.folder / "gateway.private.pem"

    @property
    def authority(self) -> Path:
        return self.folder / "gateway.authority.pem"

    def ensure(self, now: datetime) -> None:
        """Make the files, unless they exist and are valid; the authority's key is not kept.

        Raises OSError if they cannot be written.
        """
        try:
            check_pair(self.certificate, self.key, now)
        except SettingsError:
            self._make(now)

    def _make(self, now: datetime) -> None:
        authority = new_authority("croupier development", DAYS, now)
        made = new_certificate(authority, ["localhost", "127.0.0.1", "::1", socket.gethostname()], DAYS, now)
        self.key.touch(mode=0o600)
        self.key.write_bytes(made.key)
        self.certificate.write_bytes(made.certificate)
        self.authority.write_bytes(authority.certificate)
