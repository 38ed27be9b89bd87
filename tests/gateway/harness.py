"""Gateways for tests, for all services or for upstreams of a test."""

import base64
import http.client
import json
import re
import ssl
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

import grpc
from google.protobuf import json_format
from google.rpc import error_details_pb2, status_pb2

from croupier.runtime.errors import DOMAIN
from croupier.runtime.identity.tokens import PLAYER_AUDIENCE, TokenIssuer, load_private_key, write_new_key_pair
from tests.processes import wait_for_file
from tests.waiting import TIMEOUT_SECONDS

_NONE: Mapping[str, str] = MappingProxyType({})
UPGRADE: Mapping[str, str] = MappingProxyType(
    {
        "connection": "upgrade",
        "upgrade": "websocket",
        "sec-websocket-version": "13",
        "sec-websocket-key": "A" * 22 + "==",
    }
)
"""The headers of a handshake by WebSocket."""


@dataclass(frozen=True, slots=True)
class Answer:
    """An HTTP response."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        """Return the body as JSON."""
        return json.loads(self.body)


def refused(answer: Answer, status: int, code: grpc.StatusCode, sentence: str) -> None:
    """Assert that an answer is this refusal as JSON, with a reason, and reveals nothing about the gateway."""
    assert (answer.status, answer.json["code"]) == (status, code.value[0]), answer
    assert sentence in answer.json["message"]
    assert answer.headers["content-type"] == "application/json"
    has_reason(json_format.ParseDict(answer.json, status_pb2.Status()))
    reveals_no_gateway(answer)


def refused_over_grpc(answer: Answer, code: grpc.StatusCode) -> None:
    """Assert that an answer over gRPC or gRPC-Web is this refusal in headers alone."""
    assert (answer.status, answer.headers["grpc-status"], answer.body) == (200, str(code.value[0]), b"")
    assert answer.headers["content-type"].startswith("application/grpc")
    details = answer.headers["grpc-status-details-bin"]
    status = status_pb2.Status.FromString(base64.b64decode(details + "=" * (-len(details) % 4)))
    assert (status.code, status.message) == (code.value[0], answer.headers["grpc-message"])
    has_reason(status)


def has_reason(status: status_pb2.Status) -> None:
    """Assert that a refusal has a sentence, a reason and, if it asks to try again, the time to wait."""
    info = error_details_pb2.ErrorInfo()
    assert status.message
    assert status.details[0].Unpack(info)
    assert (bool(info.reason), info.domain) == (True, DOMAIN)
    if info.metadata.get("source") == "gateway":
        retries = [detail for detail in status.details[1:] if detail.Is(error_details_pb2.RetryInfo.DESCRIPTOR)]
        fields = [detail for detail in status.details[1:] if detail.Is(error_details_pb2.BadRequest.DESCRIPTOR)]
        assert len(retries) == ("try again" in status.message), status
        assert len(status.details) == 1 + len(retries) + len(fields), status


def reveals_no_gateway(answer: Answer) -> None:
    """Assert that an answer contains no program's name, version or internal terms."""
    assert not {"server", "via", "x-powered-by"} & answer.headers.keys()
    assert not re.search("envoy|transcod|codec|normaliz", f"{answer.headers} {answer.body!r}".lower()), answer
    assert answer.headers.get("www-authenticate", "Bearer") == "Bearer"


@dataclass(frozen=True, slots=True)
class Gateway:
    """A gateway's address, the authority of its certificate (None without TLS), and the key that signs players' tokens.

    `caller` is the address from which requests come, `player_id` the player of tokens.
    """

    address: str
    authority: Path | None
    lobby_key: Path
    caller: str = "127.0.0.1"
    player_id: str = "p1"

    @property
    def port(self) -> int:
        return int(self.address.rpartition(":")[2])

    def token(self, *, age_seconds: int = 0, key: Path | None = None, audience: str = PLAYER_AUDIENCE) -> str:
        """Return a player's token, which is valid for a minute from its issue."""
        now = time.time_ns() // 1_000_000 - age_seconds * 1000
        return TokenIssuer(load_private_key(key or self.lobby_key), audience, 60, lambda: now).issue(self.player_id)[0]

    def connection(self) -> http.client.HTTPConnection:
        """Return a connection for HTTP/1.1."""
        here = (self.caller, 0)
        if self.authority is None:
            return http.client.HTTPConnection("127.0.0.1", self.port, TIMEOUT_SECONDS, here)
        context = ssl.create_default_context(cafile=self.authority)
        return http.client.HTTPSConnection(
            "localhost", self.port, timeout=TIMEOUT_SECONDS, source_address=here, context=context
        )

    def send_raw(self, request: bytes) -> Answer | None:
        """Send any bytes and return the answer, or None if the connection was closed without one."""
        with closing(self.connection()) as connection:
            connection.connect()
            connection.sock.sendall(request)
            answer = http.client.HTTPResponse(connection.sock)
            try:
                answer.begin()
            except (http.client.HTTPException, OSError):
                return None
            return _read(answer)

    def ask(
        self, method: str, path: str, body: Any = None, *, token: str | None = None, headers: Mapping[str, str] = _NONE
    ) -> Answer:
        """Send one request on a connection of its own; a body of bytes is sent as it is, any other as JSON."""
        sent = dict(headers)
        if token is not None:
            sent["authorization"] = f"Bearer {token}"
        if body is not None and not isinstance(body, bytes):
            sent.setdefault("content-type", "application/json")
            body = json.dumps(body).encode()
        with closing(self.connection()) as connection:
            connection.request(method, path, body, sent)
            return _read(connection.getresponse())


def _read(answer: http.client.HTTPResponse) -> Answer:
    return Answer(answer.status, {name.lower(): value for name, value in answer.getheaders()}, answer.read())


@contextmanager
def opened_gateway(
    folder: Path, *flags: str, authority: Path | None = None, keys: tuple[Path, Path] | None = None
) -> Iterator[Gateway]:
    """Run a gateway with these flags, without upstreams unless they name some; `keys` are a lobby's, by default new."""
    key, public = keys or (folder / "lobby.private.pem", folder / "lobby.public.pem")
    write_new_key_pair(key, public)
    ready, log = folder / "ready.json", folder / "gateway.log"
    usual = (f"--lobby-public-key={public}", "--listen=127.0.0.1:0", f"--ready-file={ready}", "--drain-seconds=1")
    command = [sys.executable, "-m", "croupier.gateway", *usual, *flags]
    with log.open("wb") as log_file:
        process = subprocess.Popen(command, stderr=log_file, stdout=log_file)
    try:
        wait_for_file(ready, process, log)
        yield Gateway(json.loads(ready.read_text())["listen"], authority, key)
    finally:
        process.terminate()
        process.wait(TIMEOUT_SECONDS)


def metric_values(address: str, sample: str) -> list[float]:
    """Return the values of the samples on a page of metrics that match a regular expression."""
    with urllib.request.urlopen(f"http://{address}/metrics", timeout=TIMEOUT_SECONDS) as page:
        return [float(value) for value in re.findall(rf"^{sample} (\S+)$", page.read().decode(), re.MULTILINE)]
