"""The header with the network of a caller, and what callers know of it."""

import pytest

from croupier.runtime.network import NETWORK_HEADER, Network, decode_network, widest_id
from tests.runtime.lobby_server import bearer, running_lobby

NEAR, WIDE = "0123456789abcdef", "fedcba9876543210"


def test_a_network_has_one_hash_or_two() -> None:
    assert decode_network(NEAR) == Network(NEAR)
    assert decode_network(f"{NEAR},{WIDE}") == Network(NEAR, WIDE)
    assert [Network(NEAR).header, Network(NEAR, WIDE).header] == [NEAR, f"{NEAR},{WIDE}"]
    assert [widest_id(network) for network in (None, Network(NEAR), Network(NEAR, WIDE))] == ["", NEAR, WIDE]


@pytest.mark.parametrize(
    "header", ["", "none", NEAR[1:], NEAR.upper(), f"{NEAR},", f"{NEAR}, {WIDE}", f"{NEAR},{WIDE},{WIDE}", f"{NEAR}\n"]
)
def test_an_invalid_header_is_no_network(header: str) -> None:
    assert decode_network(header) is None


async def test_a_call_has_the_network_of_its_header() -> None:
    async with running_lobby() as lobby:
        await lobby.call("GetTable", (*bearer(), (NETWORK_HEADER, f"{NEAR},{WIDE}")))
        await lobby.call("GetTable", bearer())
    assert [caller.network for caller in lobby.servicer.callers] == [Network(NEAR, WIDE), None]
