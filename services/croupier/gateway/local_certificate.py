"""A certificate for development on one machine, made on first use."""

import socket
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from cryptography import x509

from croupier.gateway.checks import check_pair
from croupier.runtime.server.program import SettingsError
from croupier.runtime.tls.certificates import new_authority, new_certificate

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

    def ensure(self, now: datetime, addresses: Sequence[str] = ()) -> None:
        """Make the files, unless they exist and are valid for this machine and its addresses.

        The authority's key is not kept, so that new files have a new authority. Raises OSError if they cannot be
        written.
        """
        names = ["localhost", "127.0.0.1", "::1", socket.gethostname(), *addresses]
        try:
            check_pair(self.certificate, self.key, now)
        except SettingsError:
            self._make(names, now)
        else:
            if not {*addresses} <= _addresses_in(self.certificate.read_bytes()):
                self._make(names, now)

    def _make(self, names: Sequence[str], now: datetime) -> None:
        authority = new_authority("croupier development", DAYS, now)
        made = new_certificate(authority, names, DAYS, now)
        self.key.touch(mode=0o600)
        self.key.write_bytes(made.key)
        self.certificate.write_bytes(made.certificate)
        self.authority.write_bytes(authority.certificate)


def _addresses_in(certificate: bytes) -> set[str]:
    names = x509.load_pem_x509_certificate(certificate).extensions.get_extension_for_class(x509.SubjectAlternativeName)
    return {str(address) for address in names.value.get_values_for_type(x509.IPAddress)}
