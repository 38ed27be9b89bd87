"""The addresses at which other machines reach a program of this one."""

import ipaddress
import socket
from collections.abc import Iterable, Sequence
from typing import TypeAlias

import psutil

IpAddress: TypeAlias = ipaddress.IPv4Address | ipaddress.IPv6Address


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


def reachable_addresses(listen: str, addresses: Iterable[IpAddress]) -> Sequence[str]:
    """Return the addresses that other machines use for a program which listens on an IP address of this machine."""
    listened = ipaddress.ip_address(listen)
    if not listened.is_unspecified:
        return () if listened.is_loopback else (str(listened),)
    # A link-local address is valid only together with an interface of the other machine.
    return [
        str(address)
        for address in addresses
        # A server on all addresses of IPv6 has all of IPv4 too.
        if address.version <= listened.version and not (address.is_loopback or address.is_link_local)
    ]
