"""The drain asks Envoy to close its listeners to new clients, and waits for running calls."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from socketserver import ThreadingUnixStreamServer
from tempfile import TemporaryDirectory

import pytest

from croupier.gateway import admin
from croupier.gateway.admin import Admin

SECONDS = 20.0
HEALTH, LISTENERS = "/healthcheck/fail", "/drain_listeners?graceful&skip_exit"


class FakeEnvoy(ThreadingUnixStreamServer):
    """An administration that records requests; each read of the statistics reports one running call less."""

    def __init__(self, path: Path, calls: int, refused: str) -> None:
        super().__init__(str(path), AdminHandler)
        self.requested_paths: list[str] = []
        self.calls, self.refused = calls, refused


class AdminHandler(BaseHTTPRequestHandler):
    server: FakeEnvoy

    def do_GET(self) -> None:
        self.answer(200, f"http.gateway.downstream_rq_active: {self.server.calls}\n")
        self.server.calls = max(0, self.server.calls - 1)

    def do_POST(self) -> None:
        self.server.requested_paths.append(self.path)
        self.answer(404 if self.path == self.server.refused else 200, "no such thing\n")

    def address_string(self) -> str:
        return "a Unix socket"

    def answer(self, status: int, text: str) -> None:
        self.send_response(status)
        self.end_headers()
        self.wfile.write(text.encode())


@contextmanager
def fake_envoy(calls: int = 0, refused: str = "") -> Iterator[tuple[FakeEnvoy, Admin]]:
    with (
        TemporaryDirectory() as folder,
        FakeEnvoy(path := Path(folder) / "admin.sock", calls, refused) as server,
        ThreadPoolExecutor(1) as thread,
    ):
        thread.submit(server.serve_forever, 0.01)
        try:
            yield server, Admin(path)
        finally:
            server.shutdown()


async def test_the_drain_waits_for_running_calls(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(admin, "STREAM_POLL_SECONDS", 0.01)
    with fake_envoy(calls=3) as (envoy, administration):
        await administration.drain(SECONDS)
        assert (envoy.requested_paths, envoy.calls) == ([HEALTH, LISTENERS], 0)


@pytest.mark.parametrize("path", [HEALTH, LISTENERS])
async def test_a_drain_that_envoy_refuses_is_reported(path: str) -> None:
    with (
        fake_envoy(refused=path) as (_, administration),
        pytest.raises(OSError, match="failed with 404: no such thing"),
    ):
        await administration.drain(SECONDS)
