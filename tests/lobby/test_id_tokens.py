"""ID tokens: what is refused, by which claim, and how often the provider is asked for its keys."""

import asyncio
import base64
import json
import threading
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import repeat
from typing import Any

import jwt
import pytest
import structlog
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from croupier.lobby.accounts.id_tokens import (
    LEEWAY_SECONDS,
    MAX_SUBJECT_CHARACTERS,
    IdTokenVerifier,
)
from croupier.lobby.accounts.provider_keys import (
    ALGORITHMS,
    MAX_JWKS_BYTES,
    NO_KEYS,
    PAUSE_SECONDS,
    WAIT_SECONDS,
    Keys,
    ProviderKeys,
    fetch,
    signing_keys,
)
from croupier.runtime.errors import Unauthenticated, Unavailable
from croupier.runtime.observation.outage_log import OutageLog
from tests.lobby.fakes import START, FakeClock
from tests.lobby.id_tokens import AUDIENCES, ISSUER, FakeProvider
from tests.waiting import settled

NOW = START // 1000


@dataclass
class Answer:
    """What a web server answers: the status, and the parts of the document, one after the other."""

    status: int = 200
    parts: Iterable[bytes] = ()


@pytest.fixture
def provider() -> FakeProvider:
    return FakeProvider()


@pytest.fixture
def verifier(provider: FakeProvider, clock: FakeClock) -> IdTokenVerifier:
    return IdTokenVerifier(ISSUER, AUDIENCES, provider.keys, clock)


async def refused_claim(verifier: IdTokenVerifier, token: str) -> str:
    """Return the claim for which a token is refused, whose text the refusal does not have."""
    with pytest.raises(Unauthenticated) as refused:
        await verifier.verify(token)
    assert refused.value.reason_name == "INVALID_ID_TOKEN"
    assert not any(len(part) > 4 and part in refused.value.message for part in token.split("."))
    return refused.value.metadata.get("claim", "")


@pytest.mark.parametrize("algorithm", ALGORITHMS)
async def test_a_user_is_the_same_on_all_clients_of_the_app(
    provider: FakeProvider, verifier: IdTokenVerifier, clock: FakeClock, algorithm: str
) -> None:
    provider.rotate(algorithm)
    web = await verifier.verify(provider.token())
    phone = await verifier.verify(provider.token(aud=["phone", "web"], azp="phone"))
    other = await verifier.verify(provider.token("bob"))
    elsewhere = IdTokenVerifier("https://other.example", AUDIENCES, provider.keys, clock)
    assert web == phone != other
    assert web != await elsewhere.verify(provider.token(iss="https://other.example"))
    assert "Ada" not in web


@pytest.mark.parametrize(
    ("claim", "changed"),
    [
        ("iss", {"iss": "https://evil.example"}),
        ("iss", {"iss": None}),
        ("iss", {"iss": ISSUER + "/"}),
        ("aud", {"aud": "another app"}),
        ("aud", {"aud": None}),
        ("aud", {"aud": []}),
        ("aud", {"aud": [{"web": 1}]}),
        ("aud", {"aud": ["web", "another app"], "azp": "web"}),
        ("azp", {"aud": ["web", "phone"]}),
        ("azp", {"azp": "another app"}),
        ("azp", {"azp": ["web"]}),
        ("exp", {"exp": NOW - LEEWAY_SECONDS}),
        ("exp", {"exp": None}),
        ("exp", {"exp": str(NOW + 3600)}),
        ("exp", {"exp": float("nan")}),
        ("exp", {"exp": 10**400}),
        ("iat", {"iat": NOW + LEEWAY_SECONDS + 1}),
        ("iat", {"iat": None}),
        ("iat", {"iat": True}),
        ("nbf", {"nbf": NOW + LEEWAY_SECONDS + 1}),
        ("nbf", {"nbf": "now"}),
        ("sub", {"sub": None}),
        ("sub", {"sub": ""}),
        ("sub", {"sub": 7}),
        ("sub", {"sub": "æ"}),
        ("sub", {"sub": "s" * (MAX_SUBJECT_CHARACTERS + 1)}),
    ],
)
async def test_a_wrong_claim_is_named(
    provider: FakeProvider, verifier: IdTokenVerifier, claim: str, changed: dict[str, Any]
) -> None:
    # The library of the tests refuses to write some of these.
    header, _, _ = provider.token().split(".")
    claims = {"iss": ISSUER, "aud": "web", "sub": "ada", "iat": NOW, "exp": NOW + 3600, **changed}
    payload = encoded({name: value for name, value in claims.items() if value is not None})
    assert await refused_claim(verifier, signed(provider, header, payload)) == claim


def encoded(value: Any) -> str:
    return base64.urlsafe_b64encode(json.dumps(value).encode()).rstrip(b"=").decode()


def signed(provider: FakeProvider, header: str, payload: str) -> str:
    signature: bytes = jwt.get_algorithm_by_name("EdDSA").sign(f"{header}.{payload}".encode(), provider.key)
    return f"{header}.{payload}.{base64.urlsafe_b64encode(signature).rstrip(b'=').decode()}"


async def test_times_have_a_leeway(provider: FakeProvider, verifier: IdTokenVerifier) -> None:
    late, early = NOW - LEEWAY_SECONDS + 1, NOW + LEEWAY_SECONDS
    await verifier.verify(provider.token(exp=late, iat=early, nbf=early))


async def test_a_token_without_signature_of_the_named_key_is_refused(
    provider: FakeProvider, verifier: IdTokenVerifier
) -> None:
    header, payload, signature = provider.token().split(".")
    unsigned = jwt.encode({"sub": "ada"}, "", "none", {"kid": provider.key_id})
    assert await refused_claim(verifier, unsigned) == "alg"
    public = provider.key.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw)
    by_public_key = jwt.encode({"sub": "ada"}, public, "HS256", {"kid": provider.key_id})
    assert await refused_claim(verifier, by_public_key) == "alg"
    assert await refused_claim(verifier, f"{header}.{payload}.") == "signature"
    assert await refused_claim(verifier, f"{header}.{encoded({'sub': 'eve'})}.{signature}") == "signature"
    forger = FakeProvider()
    assert await refused_claim(verifier, forger.token()) == "signature"
    forger.rotate("ES256")
    assert await refused_claim(verifier, forger.token(headers={"kid": provider.key_id})) == "signature"


@pytest.mark.parametrize(
    "token",
    ["a", "a.b", "..", "a.b.c", f"{'W1tb' * 3000}.e30.e30", "e30.e30.e30.e30"],
)
async def test_what_is_no_token_is_refused_before_keys_are_read(
    provider: FakeProvider, verifier: IdTokenVerifier, token: str
) -> None:
    assert await refused_claim(verifier, token) in ("", "alg")
    for key_id in ("", "k" * 257):
        assert await refused_claim(verifier, provider.token(headers={"kid": key_id})) == "kid"
    assert provider.reads == 0


async def test_another_kind_of_token_is_refused(provider: FakeProvider, verifier: IdTokenVerifier) -> None:
    for kind in ("at+jwt", "logout+jwt", 7):
        assert await refused_claim(verifier, provider.token(headers={"typ": kind})) == "typ"
    await verifier.verify(provider.token(headers={"typ": "jwt"}))
    await verifier.verify(provider.token(headers={"typ": None}))


def test_only_keys_with_which_a_token_can_be_verified_are_taken() -> None:
    provider = FakeProvider()
    useful = provider.jwk()
    secret = {"kty": "oct", "k": "c2VjcmV0", "kid": "secret"}
    others = [secret, {**useful, "kid": "encrypts", "use": "enc"}, {**useful, "kid": ""}, {"kty": "new"}, 7]
    assert list(signing_keys(json.dumps({"keys": [*others, useful]}))) == ["first"]
    with pytest.raises(ValueError, match="no key with a kid"):
        signing_keys(json.dumps({"keys": [secret]}))


async def test_forged_key_ids_read_the_keys_once_in_a_pause(
    provider: FakeProvider, verifier: IdTokenVerifier, clock: FakeClock
) -> None:
    clock.drive()
    await verifier.verify(provider.token())
    forged = [provider.token(headers={"kid": f"forged {number}"}) for number in range(20)]
    refusals = [asyncio.ensure_future(refused_claim(verifier, token)) for token in forged]
    provider.rotate()
    new = asyncio.ensure_future(verifier.verify(provider.token()))
    await settled()
    assert (any(each.done() for each in (new, *refusals)), provider.reads) == (False, 1)
    clock.advance(PAUSE_SECONDS)
    # A new key is known as soon as the keys may be read again.
    await new
    assert await asyncio.gather(*refusals) == ["kid"] * 20
    assert provider.reads == 2


async def test_known_keys_stay_known_while_the_provider_is_away(
    provider: FakeProvider, verifier: IdTokenVerifier, clock: FakeClock
) -> None:
    clock.drive()
    provider.failure = OSError("connection refused")
    with pytest.raises(Unavailable) as unavailable:
        await verifier.verify(provider.token())
    assert (unavailable.value.reason_name, unavailable.value.retry_after_seconds) == (
        "SERVICE_UNAVAILABLE",
        PAUSE_SECONDS,
    )
    provider.failure = None
    clock.advance(PAUSE_SECONDS)
    await verifier.verify(provider.token())
    clock.advance(PAUSE_SECONDS)
    for failure in (OSError("away"), jwt.PyJWKSetError("no keys"), AttributeError("no object")):
        provider.failure = failure
        with pytest.raises(Unavailable):
            await provider.keys.refresh()
        clock.advance(PAUSE_SECONDS)
        await verifier.verify(provider.token())


async def test_a_withdrawn_key_is_refused_once_the_keys_were_read_again(
    provider: FakeProvider, verifier: IdTokenVerifier, clock: FakeClock
) -> None:
    clock.drive()
    old = provider.token()
    await verifier.verify(old)
    provider.rotate()
    clock.advance(PAUSE_SECONDS)
    await provider.keys.refresh()
    clock.advance(PAUSE_SECONDS)
    assert await refused_claim(verifier, old) == "kid"


async def test_callers_give_up_waiting_for_a_provider_that_hangs_and_one_thread_waits_on(clock: FakeClock) -> None:
    clock.drive()
    began, end = [], threading.Event()

    def hang() -> Keys:
        began.append(1)
        end.wait()
        return NO_KEYS

    keys = ProviderKeys(hang, OutageLog("the identity provider", structlog.get_logger(), lambda: 0))
    try:
        for _ in range(3):
            call = asyncio.ensure_future(keys.get("first"))
            await settled()
            clock.advance(WAIT_SECONDS)
            with pytest.raises(Unavailable):
                await call
        assert len(began) == 1
    finally:
        end.set()


@pytest.fixture
def answer() -> Answer:
    return Answer()


@pytest.fixture
def url(answer: Answer) -> Iterator[str]:
    """Return the address of a web server that gives an answer."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(answer.status)
            self.send_header("location", "/keys")
            self.end_headers()
            with suppress(OSError):
                for part in answer.parts:
                    self.wfile.write(part)

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def test_a_document_is_fetched_whole(answer: Answer, url: str) -> None:
    answer.parts = [b"{", b"}"]
    assert fetch(url) == "{}"


@pytest.mark.parametrize("status", [204, 302, 404, 500])
def test_only_a_success_is_a_document_and_redirects_are_not_followed(answer: Answer, url: str, status: int) -> None:
    answer.status = status
    with pytest.raises(ValueError, match=f"HTTP status {status}"):
        fetch(url)


def test_a_document_has_a_bound_of_bytes_and_of_time(answer: Answer, url: str) -> None:
    answer.parts = [b"x" * MAX_JWKS_BYTES, b"x"]
    with pytest.raises(ValueError, match="has more than"):
        fetch(url)
    # It goes on for ever, but for the end of the connection.
    answer.parts = repeat(b"x")
    with pytest.raises(TimeoutError, match="takes more than"):
        fetch(url, seconds=0.1)
