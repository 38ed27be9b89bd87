"""The networks of callers, by which limits hold for many callers together: each a text such as "192.0.2.0/24".

The gateway passes a caller's address, in place of what a client sends as such. Services keep the network alone.
"""

from functools import lru_cache
from ipaddress import IPv6Address, ip_address, ip_network

ADDRESS_HEADER = "x-croupier-address"
IPV4_BITS = 24
IPV6_BITS = 56
MAX_REMEMBERED = 4096
"""Addresses of which the network is remembered: parsing one costs as much as a small call."""


@lru_cache(MAX_REMEMBERED)
def network_of(address: str) -> str:
    """Return the network of an IP address, an empty text for any other text."""
    try:
        known = ip_address(address)
    except ValueError:
        return ""
    if isinstance(known, IPv6Address):
        # Some proxies report an IPv4 address as ::ffff:192.0.2.1.
        known = known.ipv4_mapped or known
    bits = IPV4_BITS if known.version == 4 else IPV6_BITS
    return str(ip_network((known.packed, bits), strict=False))
