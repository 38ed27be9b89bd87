"""The public keys of the app's identity provider, by URL or file, in memory and read again (docs/decisions/0033)."""

import asyncio
import time
from collections.abc import Callable, Mapping
from http import HTTPStatus
from pathlib import Path
from types import MappingProxyType
from typing import TypeAlias
from urllib.request import HTTPHandler, HTTPSHandler, OpenerDirector

from jwt import PyJWK, PyJWKSet

from croupier.runtime.errors import Unavailable
from croupier.runtime.observation.outage_log import OutageLog
from croupier.runtime.single_flight import PacedFlight
from croupier_api.v1 import errors_pb2

ALGORITHMS = ("RS256", "PS256", "ES256", "EdDSA")
"""With a private key at the provider: what is public here can sign nothing."""
REFRESH_SECONDS = 60.0
"""A key that the provider withdraws is refused after so long."""
PAUSE_SECONDS = 3.0
"""Between two reads, however many tokens name keys that are not known."""
READ_SECONDS = 4.0
"""The time for the provider to begin an answer, and to end it."""
MAX_JWKS_BYTES = 1 << 20
WAIT_SECONDS = PAUSE_SECONDS + READ_SECONDS

Keys: TypeAlias = Mapping[str, PyJWK]
"""Signing keys by their ids."""
NO_KEYS: Keys = MappingProxyType({})


class ProviderKeys:
    """Keys that are known stay known while they cannot be read again.

    A read runs in a thread. There is one at a time, since callers give up waiting, and not the read.
    """

    def __init__(self, read: Callable[[], Keys], outages: OutageLog) -> None:
        """`read` returns the keys now, and blocks; it raises any exception if they cannot be read."""
        self._read = read
        self._outages = outages
        self._keys = NO_KEYS
        self._reads = PacedFlight(PAUSE_SECONDS)

    async def get(self, key_id: str) -> PyJWK | None:
        """Return a key, or None if the provider has none of this id; raises Unavailable if that cannot be known."""
        if key_id not in self._keys:
            await self.refresh()
        return self._keys.get(key_id)

    async def refresh(self) -> None:
        """Read the keys again, but not sooner than PAUSE_SECONDS after the last time; raises Unavailable."""
        try:
            async with asyncio.timeout(WAIT_SECONDS):
                await self._reads.run(self._replace)
        except TimeoutError:
            raise self._unavailable("no answer in time") from None
        self._outages.succeeded()

    async def _replace(self) -> None:
        try:
            self._keys = await asyncio.to_thread(self._read)
        except Exception as fault:
            # Of the network, the file system, or the parser of a document that may be anything.
            raise self._unavailable(f"{type(fault).__name__}: {fault}") from fault

    def _unavailable(self, why: str) -> Unavailable:
        self._outages.failed(why)
        return Unavailable(
            errors_pb2.ERROR_REASON_SERVICE_UNAVAILABLE,
            "the keys of the identity provider cannot be read: try again",
            retry_after_seconds=PAUSE_SECONDS,
        )


def reader_of(jwks: str) -> Callable[[], Keys]:
    """Return what reads a JWKS by its URL or from its file."""
    if "://" in jwks:
        return lambda: signing_keys(fetch(jwks))
    return lambda: signing_keys(Path(jwks).read_text("utf-8"))


def fetch(url: str, seconds: float = READ_SECONDS) -> str:
    """Return a text by HTTP, not from where a redirect or a proxy of the environment leads.

    Raises OSError, HTTPException, or ValueError for an answer that is no success or too long.
    """
    opener = OpenerDirector()
    for handler in (HTTPHandler(), HTTPSHandler()):
        opener.add_handler(handler)
    ends, document = time.monotonic() + seconds, b""
    with opener.open(url, timeout=seconds) as answer:
        if answer.status != HTTPStatus.OK:
            raise ValueError(f"HTTP status {answer.status}")
        while part := answer.read1(MAX_JWKS_BYTES):
            document += part
            if len(document) > MAX_JWKS_BYTES:
                raise ValueError(f"the answer has more than {MAX_JWKS_BYTES} bytes")
            if time.monotonic() > ends:
                raise TimeoutError(f"the answer takes more than {seconds} seconds")
    return document.decode()


def signing_keys(jwks: str) -> Keys:
    """Return the keys for signatures that have an id; raises PyJWTError or ValueError if there is none."""
    keys = {
        key.key_id: key
        for key in PyJWKSet.from_json(jwks).keys
        if key.key_id and key.public_key_use in (None, "sig") and key.algorithm_name in ALGORITHMS
    }
    if not keys:
        raise ValueError(f"the JWKS has no key with a kid for signatures by one of {', '.join(ALGORITHMS)}")
    return keys
