"""The network of a caller: a part of the address that the gateway passes."""

import pytest

from croupier.runtime.admission.network import network_of


@pytest.mark.parametrize(
    ("address", "network"),
    [
        ("192.0.2.0", "192.0.2.0/24"),
        ("192.0.2.255", "192.0.2.0/24"),
        ("192.0.3.1", "192.0.3.0/24"),
        ("::ffff:192.0.2.1", "192.0.2.0/24"),
        ("::ffff:c000:203", "192.0.2.0/24"),
        ("2001:db8:1:2::1", "2001:db8:1::/56"),
        ("2001:db8:1:23ff:ffff:ffff:ffff:ffff", "2001:db8:1:2300::/56"),
        ("2001:0DB8:0001:2300::", "2001:db8:1:2300::/56"),
        ("2001:db8:1:2400::1", "2001:db8:1:2400::/56"),
        ("64:ff9b::192.0.2.1", "64:ff9b::/56"),
        ("fe80::1%4", "fe80::/56"),
        ("::1", "::/56"),
    ],
)
def test_a_network_is_a_part_of_the_address(address: str, network: str) -> None:
    assert network_of(address) == network


@pytest.mark.parametrize(
    "text",
    [
        *("", "-", "none", "192.0.2", "192.0.2.256", "192.0.2.01", "192.0.2.1:443", "[::1]", "[::1]:443", "::1::"),
        *("192.0.2.0/24", "2001:db8::/56", "192.0.2.1\n", " 192.0.2.1", "192.0.2.1,192.0.2.2", "0123456789abcdef"),
    ],
)
def test_no_other_text_has_a_network(text: str) -> None:
    assert network_of(text) == ""
