"""The HTTP proxy of the environment: not for loopback, and named in errors without its password."""

from collections.abc import Mapping

import pytest

from croupier_client import Endpoints, RetryPolicy, Unavailable
from croupier_client.endpoints import channel_options
from croupier_client.proxy import proxy_of
from tests.client.conftest import Connect
from tests.client.fake_croupier import FakeCroupier
from tests.ports import reserved_port

PROXY = "http://ada:secret@proxy.example:3128"
ENABLED = "grpc.enable_http_proxy"


@pytest.mark.parametrize(
    ("address", "environment", "proxy"),
    [
        ("play.example:443", {"http_proxy": PROXY}, "proxy.example:3128"),
        ("10.0.0.1:7720,10.0.0.2:7720", {"https_proxy": "http://10.9.9.9:8080"}, "10.9.9.9:8080"),
        ("play.example:443", {"grpc_proxy": PROXY, "http_proxy": "http://other.example:1"}, "proxy.example:3128"),
        ("dns:///play.example:443", {"http_proxy": PROXY, "no_proxy": "else.example"}, "proxy.example:3128"),
        ("play.example:443", {}, None),
        ("play.example:443", {"http_proxy": ""}, None),
        ("play.example:443", {"http_proxy": "socks5://proxy.example:1080"}, None),
        ("play.example:443", {"http_proxy": PROXY, "no_proxy": "else.example, .Example"}, None),
        ("play.example:443", {"http_proxy": PROXY, "no_grpc_proxy": "play.example", "no_proxy": "x"}, None),
        ("10.0.0.1:443", {"http_proxy": PROXY, "no_proxy": "10.0.0.0/8"}, None),
        ("127.0.0.1:7700", {"http_proxy": PROXY}, None),
        ("127.8.8.8:7700,127.0.0.1:7701", {"http_proxy": PROXY}, None),
        ("[::1]:7700", {"http_proxy": PROXY}, None),
        ("LocalHost:7700", {"http_proxy": PROXY}, None),
        ("dns:///localhost:7700", {"http_proxy": PROXY}, None),
    ],
)
def test_the_proxy_of_an_address(address: str, environment: Mapping[str, str], proxy: str | None) -> None:
    assert proxy_of(address, environment) == proxy


def test_only_loopback_does_without_a_proxy() -> None:
    assert dict(channel_options("127.0.0.1:7700"))[ENABLED] == 0
    assert ENABLED not in dict(channel_options("play.example:7700"))
    assert ENABLED not in dict(channel_options("127.0.0.1:7700,10.0.0.1:7700"))


async def test_services_on_loopback_are_reached_without_the_proxy(
    client_of: Connect, monkeypatch: pytest.MonkeyPatch
) -> None:
    with reserved_port() as nobody, FakeCroupier() as fake:
        monkeypatch.delenv("no_proxy", raising=False)
        for name in ("http_proxy", "https_proxy", "grpc_proxy"):
            monkeypatch.setenv(name, f"http://127.0.0.1:{nobody}")
        async with client_of(fake) as client:
            await client.list_games()


async def test_an_error_names_the_proxy_without_its_password(
    client_of: Connect, monkeypatch: pytest.MonkeyPatch
) -> None:
    with reserved_port() as nobody:
        monkeypatch.delenv("no_proxy", raising=False)
        monkeypatch.setenv("grpc_proxy", f"http://ada:secret@127.0.0.1:{nobody}")
        once = RetryPolicy(total_seconds=0)
        async with client_of(Endpoints.single("play.example:443"), policy=once) as client:
            with pytest.raises(Unavailable) as caught:
                await client.list_games()
    assert f"the environment names the proxy 127.0.0.1:{nobody}" in caught.value.message
    assert "secret" not in str(caught.value)
