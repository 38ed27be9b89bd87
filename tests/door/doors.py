"""Front doors for tests: one in front of all services, and ones in front of whatever a test puts there."""

import http.client
import json
import re
import ssl
import subprocess
import sys
import time
import urllib.request
from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

import grpc

from croupier.cli.background import BackgroundServices
from croupier.runtime.identity import PLAYER_AUDIENCE, TokenIssuer, load_private_key, write_new_key_pair
from tests.waiting import PATIENCE_SECONDS

_NONE: Mapping[str, str] = MappingProxyType({})


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
    """Where a door is, the authority that vouches for it (None without TLS), and the key that players' tokens need.

    `caller` is the address from which it is asked.
    """

    address: str
    authority: Path | None
    lobby_key: Path
    caller: str = "127.0.0.1"

    @property
    def port(self) -> int:
        return int(self.address.rpartition(":")[2])

    def token(self, *, age_seconds: int = 0, key: Path | None = None, audience: str = PLAYER_AUDIENCE) -> str:
        """A token for a player, which lives for a minute from its making on."""
        now = time.time_ns() // 1_000_000 - age_seconds * 1000
        return TokenIssuer(load_private_key(key or self.lobby_key), audience, 60, lambda: now).issue("p1", "Ada")[0]

    def connection(self) -> http.client.HTTPConnection:
        """A connection for HTTP/1.1."""
        here = (self.caller, 0)
        if self.authority is None:
            return http.client.HTTPConnection("127.0.0.1", self.port, PATIENCE_SECONDS, here)
        context = ssl.create_default_context(cafile=self.authority)
        return http.client.HTTPSConnection(
            "localhost", self.port, timeout=PATIENCE_SECONDS, source_address=here, context=context
        )

    def say(self, request: bytes) -> Answer | None:
        """What is answered to bytes of any kind, or nothing where the connection was closed without a word."""
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
        """One request with JSON, or with bytes as they are, on a connection of its own."""
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
def opened_door(
    folder: Path, *flags: str, authority: Path | None = None, keys: tuple[Path, Path] | None = None
) -> Iterator[Door]:
    """A door with these flags, in front of nobody unless they name somebody; `keys` are a lobby's, else new ones."""
    key, public = keys or (folder / "lobby.private.pem", folder / "lobby.public.pem")
    write_new_key_pair(key, public)
    ready, log = folder / "ready.json", folder / "door.log"
    ports = ("--listen=127.0.0.1:0", "--admin-listen=127.0.0.1:0", f"--ready-file={ready}", "--drain-seconds=1")
    command = [sys.executable, "-m", "croupier.door", f"--lobby-public-key={public}", *ports, *flags]
    with log.open("wb") as said:
        process = subprocess.Popen(command, stderr=said, stdout=said)
    try:
        deadline = time.monotonic() + PATIENCE_SECONDS
        while not ready.exists():
            assert process.poll() is None, log.read_text()
            assert time.monotonic() < deadline, log.read_text()
            time.sleep(0.02)
        yield Door(json.loads(ready.read_text())["listen"], authority, key)
    finally:
        process.terminate()
        process.wait(PATIENCE_SECONDS)


def counted(services: BackgroundServices, service: str, metric: str) -> dict[str, float]:
    """A metric of a service, summed up for each method."""
    with urllib.request.urlopen(f"http://{services.addresses[service]['metrics']}/metrics", timeout=10) as page:
        lines = page.read().decode().splitlines()
    counts: defaultdict[str, float] = defaultdict(float)
    for line in lines:
        if named := re.match(rf'{metric}{{.*method="[^"]*?(\w+)".*}} (.+)', line):
            counts[named[1]] += float(named[2])
    return counts
