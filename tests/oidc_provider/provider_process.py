"""The provider as a process, and an app whose users sign in there by the authorization code flow."""

import base64
import fcntl
import hashlib
import html
import json
import re
import secrets
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.cookiejar import CookieJar
from pathlib import Path
from threading import Timer
from typing import Any
from urllib.error import HTTPError
from urllib.parse import parse_qs, urlencode, urljoin, urlsplit
from urllib.request import HTTPCookieProcessor, HTTPRedirectHandler, OpenerDirector, ProxyHandler, build_opener

from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey, generate_private_key
from jwt.algorithms import RSAAlgorithm

from clients.typescript.build import NODE, environment, install
from tests.waiting import TIMEOUT_SECONDS

FOLDER = Path(__file__).parent
SIGNED_IN = "http://127.0.0.1/signed-in"
MAX_PAGES = 12


@dataclass(frozen=True)
class RunningProvider:
    """A provider that runs; its users are those who log in."""

    issuer: str

    @property
    def jwks_url(self) -> str:
        return f"{self.issuer}/jwks"

    @property
    def port(self) -> int:
        return urlsplit(self.issuer).port or 0

    def id_token(self, user: str, client_id: str = "web") -> str:
        """Log a user in by a browser without a screen, and return the ID token that the app of a client id gets."""
        browser, verifier = _browser(), secrets.token_urlsafe(32)
        challenge = base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).rstrip(b"=").decode()
        question = {
            "client_id": client_id,
            "response_type": "code",
            "scope": "openid",
            "redirect_uri": SIGNED_IN,
            "code_challenge": challenge,
            "code_challenge_method": "S256",
            "nonce": secrets.token_urlsafe(),
        }
        code = _authorize(browser, f"{self.issuer}/auth?{urlencode(question)}", user)
        form = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": SIGNED_IN,
            "client_id": client_id,
            "code_verifier": verifier,
        }
        with browser.open(f"{self.issuer}/token", urlencode(form).encode(), timeout=TIMEOUT_SECONDS) as answer:
            return str(json.load(answer)["id_token"])


@contextmanager
def running_provider(folder: Path, key: dict[str, Any], port: int = 0) -> Iterator[RunningProvider]:
    """Run a provider that signs by a private JWK; the port stays the same for one that starts again."""
    with (FOLDER / ".install.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        install(FOLDER)
    keys = folder / "private-keys.json"
    keys.write_text(json.dumps({"keys": [key]}))
    command = [str(NODE), str(FOLDER / "provider.js"), str(port), str(keys)]
    with (folder / "provider.log").open("a") as log:
        process = subprocess.Popen(
            command,
            cwd=FOLDER,
            env=environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
        )
    assert process.stdout is not None
    deadline = Timer(TIMEOUT_SECONDS, process.kill)
    deadline.start()
    try:
        issuer = process.stdout.readline().strip()
        deadline.cancel()
        assert issuer, (folder / "provider.log").read_text()
        yield RunningProvider(issuer)
    finally:
        deadline.cancel()
        process.kill()
        process.wait()
        process.stdout.close()


def new_rsa_key(key_id: str) -> tuple[RSAPrivateKey, dict[str, Any]]:
    """Return a key pair, and it as a private JWK."""
    key = generate_private_key(65537, 2048)
    return key, {**RSAAlgorithm.to_jwk(key, as_dict=True), "kid": key_id, "use": "sig", "alg": "RS256"}


class _Stay(HTTPRedirectHandler):
    def redirect_request(self, *_arguments: Any, **_named: Any) -> None:
        return None


def _browser() -> OpenerDirector:
    return build_opener(ProxyHandler({}), HTTPCookieProcessor(CookieJar()), _Stay)


def _authorize(browser: OpenerDirector, url: str, user: str) -> str:
    """Follow redirects and send the forms of login and consent; returns the code with which the app is called."""
    form: dict[str, str] | None = None
    for _ in range(MAX_PAGES):
        try:
            answer = browser.open(url, urlencode(form).encode() if form else None, timeout=TIMEOUT_SECONDS)
        except HTTPError as redirect:
            redirect.close()
            if redirect.code not in (302, 303):
                raise
            url, form = urljoin(url, redirect.headers["location"]), None
            if url.startswith(SIGNED_IN):
                return parse_qs(urlsplit(url).query)["code"][0]
            continue
        with answer:
            page = answer.read().decode()
        action = re.search(r'<form[^>]*action="([^"]*)"', page)
        prompt = re.search(r'name="prompt" value="([^"]*)"', page)
        assert action is not None, page
        assert prompt is not None, page
        url, form = urljoin(url, html.unescape(action[1])), {"prompt": prompt[1], "login": user, "password": "any"}
    raise AssertionError(f"no code after {MAX_PAGES} pages")
