"""Headless Chromium, driven by the DevTools protocol."""

import base64
import hashlib
import itertools
import json
import subprocess
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import websocket
from cryptography import x509
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

ANSWER_SECONDS = 60.0
POLL_SECONDS = 0.02
FLAGS = (
    "--headless",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--no-first-run",
    # Chromium's sandbox does not work in many containers; it opens our own page only.
    "--no-sandbox",
    "--remote-debugging-port=0",
)


def pin(certificate: Path) -> str:
    """Return the pin of a certificate's key, as browsers write it: base64 of SHA-256 of its public part."""
    key = x509.load_pem_x509_certificate(certificate.read_bytes()).public_key()
    public = key.public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
    return base64.b64encode(hashlib.sha256(public).digest()).decode()


class Page:
    def __init__(self, browser: Any) -> None:
        self._browser = browser
        self._numbers = itertools.count(1)
        self._happened: set[str] = set()
        self._session: dict[str, str] = {}

    def open(self, url: str) -> None:
        """Open a URL, and wait until the page is loaded."""
        target = self._call("Target.createTarget", url="about:blank")["targetId"]
        attached = self._call("Target.attachToTarget", targetId=target, flatten=True)
        self._session = {"sessionId": attached["sessionId"]}
        self._call("Page.enable")
        self._call("Log.enable")
        self._happened.clear()
        self._call("Page.navigate", url=url)
        while "Page.loadEventFired" not in self._happened:
            self._next()

    def evaluate(self, expression: str) -> Any:
        """Return the value of an expression or of its promise; raises AssertionError if it throws."""
        answer = self._call("Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True)
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def reload_by(self, expression: str) -> None:
        """Evaluate an expression after which the page is loaded again, and wait until it is."""
        self._happened.clear()
        self.evaluate(expression)
        while "Page.loadEventFired" not in self._happened:
            self._next()

    def until(self, expression: str) -> Any:
        """Return the value of an expression as soon as it is true."""
        return self.evaluate(
            "new Promise((resolve) => {"
            f"const look = () => {{ const found = {expression}; if (found) resolve(found); }};"
            "new MutationObserver(look).observe(document.body, "
            "{subtree: true, childList: true, characterData: true, attributes: true}); look(); })"
        )

    def _call(self, method: str, **parameters: Any) -> Any:
        number = next(self._numbers)
        self._browser.send(json.dumps({"id": number, "method": method, "params": parameters, **self._session}))
        deadline = time.monotonic() + ANSWER_SECONDS
        while (answer := self._next()).get("id") != number:
            # A page that fails again and again keeps logging.
            assert time.monotonic() < deadline, f"the browser did not answer {method}"
        assert "error" not in answer, answer["error"]
        return answer["result"]

    def _next(self) -> dict[str, Any]:
        message: dict[str, Any] = json.loads(self._browser.recv())
        self._happened.add(message.get("method", ""))
        if message.get("method") == "Log.entryAdded":
            print(f"the browser logs: {message['params']['entry']['text']}")
        return message


@contextmanager
def opened_page(program: str, folder: Path, url: str, trusted_pin: str) -> Iterator[Page]:
    """Open a page in a new browser, which trusts the usual authorities and the pinned key."""
    flags = [*FLAGS, f"--user-data-dir={folder}", f"--ignore-certificate-errors-spki-list={trusted_pin}"]
    with (folder / "browser.log").open("wb") as log:
        process = subprocess.Popen([program, *flags], stdout=log, stderr=log)
    try:
        with closing(_connection(folder / "DevToolsActivePort")) as browser:
            page = Page(browser)
            page.open(url)
            yield page
    finally:
        process.kill()
        process.wait()


def _connection(where: Path) -> Any:
    """Connect to the browser by the port and path that it writes into a file."""
    deadline = time.monotonic() + ANSWER_SECONDS
    while not where.exists() or len(written := where.read_text().splitlines()) < 2:
        assert time.monotonic() < deadline, "the browser did not start"
        time.sleep(POLL_SECONDS)
    port, path = written
    return websocket.create_connection(f"ws://127.0.0.1:{port}{path}", timeout=ANSWER_SECONDS, suppress_origin=True)
