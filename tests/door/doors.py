"""Front doors for tests: one in front of all services, and ones in front of whatever a test puts there."""

import http.client
import json
import os
import re
import socket
import ssl
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import grpc

from croupier.runtime.identity import PLAYER_AUDIENCE, TokenIssuer, load_private_key, write_new_key_pair

DEADLINE_SECONDS = 60.0
CALL_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back over HTTP."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        """The body as JSON."""
        return json.loads(self.body)


def refused(answer: Answer, status: int, code: grpc.StatusCode, sentence: str) -> None:
    """Assert that this came back, in a form that people and programs understand, and with nothing about the door."""
    assert (answer.status, answer.json["code"]) == (status, code.value[0]), answer
    assert sentence in answer.json["message"]
    assert answer.headers["content-type"] == "application/json"
    tells_nothing_of_the_door(answer)


def tells_nothing_of_the_door(answer: Answer) -> None:
    """Assert that neither a program nor a version is named, nor what such a program calls its own parts."""
    assert not {"server", "via", "x-powered-by"} & answer.headers.keys()
    assert not re.search("envoy|transcod|codec|normaliz", f"{answer.headers} {answer.body!r}".lower()), answer
    assert answer.headers.get("www-authenticate", "Bearer") == "Bearer"


@dataclass(frozen=True, slots=True)
class Door:
    """Where a door is, the authority that vouches for it (None without TLS), and the key that players' tokens need."""

    address: str
    authority: Path | None
    lobby_key: Path

    @property
    def port(self) -> int:
        return int(self.address.rpartition(":")[2])

    def token(self, *, age_seconds: int = 0, key: Path | None = None, audience: str = PLAYER_AUDIENCE) -> str:
        """A token for a player, which lives for a minute from its making on."""
        now = time.time_ns() // 1_000_000 - age_seconds * 1000
        return TokenIssuer(load_private_key(key or self.lobby_key), audience, 60, lambda: now).issue("p1", "Ada")[0]

    def connection(self) -> http.client.HTTPConnection:
        """A connection for HTTP/1.1."""
        if self.authority is None:
            return http.client.HTTPConnection("127.0.0.1", self.port, timeout=CALL_SECONDS)
        context = ssl.create_default_context(cafile=self.authority)
        return http.client.HTTPSConnection("localhost", self.port, timeout=CALL_SECONDS, context=context)

    def raw(self) -> socket.socket:
        """A connection for bytes of any kind."""
        plain = socket.create_connection(("127.0.0.1", self.port), CALL_SECONDS)
        if self.authority is None:
            return plain
        context = ssl.create_default_context(cafile=self.authority)
        return context.wrap_socket(plain, server_hostname="localhost")

    def say(self, request: bytes) -> Answer | None:
        """What is answered to bytes of any kind, or nothing where the connection was closed without a word."""
        with self.raw() as connection:
            connection.sendall(request)
            answer = http.client.HTTPResponse(connection)
            try:
                answer.begin()
            except (http.client.HTTPException, OSError):
                return None
            return Answer(answer.status, {k.lower(): v for k, v in answer.getheaders()}, answer.read())

    def ask(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        token: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Answer:
        """One request with JSON, or with bytes as they are, on a connection of its own."""
        sent = dict(headers or {})
        if token is not None:
            sent["authorization"] = f"Bearer {token}"
        if body is not None and not isinstance(body, bytes):
            sent.setdefault("content-type", "application/json")
            body = json.dumps(body).encode()
        connection = self.connection()
        try:
            connection.request(method, path, body, sent)
            answer = connection.getresponse()
            return Answer(answer.status, {k.lower(): v for k, v in answer.getheaders()}, answer.read())
        finally:
            connection.close()


@contextmanager
def opened_door(
    folder: Path, *flags: str, authority: Path | None = None, keys: tuple[Path, Path] | None = None
) -> Iterator[Door]:
    """A door with these flags, in front of nobody unless they name somebody; `keys` are a lobby's, else new ones."""
    key, public = keys or new_keys(folder)
    ready = folder / "ready.json"
    ready.unlink(missing_ok=True)
    ports = ("--listen=127.0.0.1:0", "--admin-listen=127.0.0.1:0", f"--ready-file={ready}", "--drain-seconds=1")
    command = [sys.executable, "-m", "croupier.door", f"--lobby-public-key={public}", *ports, *flags]
    with (folder / "door.log").open("wb") as log:
        process = subprocess.Popen(command, stderr=log, stdout=log, env=dict(os.environ))
    try:
        yield Door(_address(process, ready, folder / "door.log"), authority, key)
    finally:
        process.terminate()
        process.wait(DEADLINE_SECONDS)


def new_keys(folder: Path) -> tuple[Path, Path]:
    """The private and the public key of a lobby that is not there."""
    pair = folder / "lobby.private.pem", folder / "lobby.public.pem"
    write_new_key_pair(*pair)
    return pair


def _address(process: subprocess.Popen[bytes], ready: Path, log: Path) -> str:
    deadline = time.monotonic() + DEADLINE_SECONDS
    while not ready.exists():
        assert process.poll() is None, log.read_text()
        assert time.monotonic() < deadline, log.read_text()
        time.sleep(0.02)
    address: str = json.loads(ready.read_text())["listen"]
    return address
