"""The HTTP proxy of the environment, which gRPC's library uses by itself, and WebSockets as it does."""

import ipaddress
from collections.abc import Mapping
from urllib.parse import urlsplit

_PROXY_NAMES = ("grpc_proxy", "https_proxy", "http_proxy")
_EXCEPTION_NAMES = ("no_grpc_proxy", "no_proxy")
"""Variables in the order in which the library reads them; the first that is set counts."""


def is_loopback(addresses: str) -> bool:
    """Return whether an address, or all of several with commas between, are on this machine."""
    return all(map(_is_loopback_host, map(_host, addresses.split(","))))


def proxy_of(addresses: str, environment: Mapping[str, str]) -> str | None:
    """Return the proxy, host:port without its user and password, by which gRPC reaches addresses; None without one."""
    url = proxy_url(addresses, environment)
    return url and urlsplit(url).netloc.rpartition("@")[2]


def proxy_url(addresses: str, environment: Mapping[str, str]) -> str | None:
    """Return the URL of the proxy, with its user and password if it has them; None without one."""
    url = _first(environment, _PROXY_NAMES)
    proxy = urlsplit(url)
    host = _host(addresses.partition(",")[0])
    if proxy.scheme != "http" or not proxy.hostname or is_loopback(addresses):
        return None
    exceptions = filter(None, (entry.strip() for entry in _first(environment, _EXCEPTION_NAMES).split(",")))
    if any(_is_excepted(host, entry) for entry in exceptions):
        return None
    return url


def _first(environment: Mapping[str, str], names: tuple[str, ...]) -> str:
    return next((environment[name] for name in names if environment.get(name)), "")


def _host(address: str) -> str:
    """Return the host of host:port, or of a name such as dns:///host:port."""
    host, _, port = address.strip().rpartition("/")[2].rpartition(":")
    return (host or port).strip("[]")


def _is_loopback_host(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host.lower() == "localhost"


def _is_excepted(host: str, entry: str) -> bool:
    """Return whether an entry of no_proxy, the end of a name or a network, has a host."""
    try:
        return ipaddress.ip_address(host) in ipaddress.ip_network(entry, strict=False)
    except ValueError:
        return host.lower().endswith(entry.lower())
