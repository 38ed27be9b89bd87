"""The network of a caller, by which limits hold for many callers of one network: keyed hashes from the gateway.

Without the key they name no address. The gateway removes the header from calls of clients before it adds its own.
"""

import re
from dataclasses import dataclass

NETWORK_HEADER = "x-croupier-network"
WIDE_NETWORK_SHARE = 4
"""So many times the share of a /64 is that of the /48 around it."""
_HASHES = re.compile(r"([0-9a-f]{16})(?:,([0-9a-f]{16}))?")


@dataclass(frozen=True, slots=True)
class Network:
    """A network: `id` is the hash of an IPv4 /24 or an IPv6 /64, `wide_id` that of the IPv6 /48, empty for IPv4.

    Each has 16 hexadecimal digits.
    """

    id: str
    wide_id: str = ""

    @property
    def header(self) -> str:
        """The header with this network."""
        return f"{self.id},{self.wide_id}" if self.wide_id else self.id


def widest_id(network: Network | None) -> str:
    """Return the hash of the widest network, empty if it is not known."""
    return (network.wide_id or network.id) if network else ""


def decode_network(header: str) -> Network | None:
    """Return the network in the gateway's header; None if there is none or it is invalid."""
    match = _HASHES.fullmatch(header) if header else None
    return Network(match[1], match[2] or "") if match else None
