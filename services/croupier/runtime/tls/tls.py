"""Mutual TLS between services, with one certificate of a service as server and as client.

It is read at the start, and again when its files change: a renewal needs no restart. Open connections keep the
certificate with which they were made.
"""

import asyncio
import os
import ssl
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Self, TypeAlias, TypeVar

import grpc
from cryptography import x509
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, SECP384R1, SECP521R1, EllipticCurvePublicKey
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey
from cryptography.hazmat.primitives.asymmetric.types import PublicKeyTypes
from cryptography.hazmat.primitives.serialization import load_pem_private_key
from cryptography.x509 import Certificate

from croupier.runtime.identity.permissions import check_secret
from croupier.runtime.identity.tokens import Clock
from croupier.runtime.observation.logs import Logger
from croupier.runtime.server.program import SettingsError, check_together

POLL_SECONDS = 1.0
"""The time between checks of the files."""
MIN_RSA_BITS = 2048

Parsed = TypeVar("Parsed")
Contents: TypeAlias = tuple[bytes, bytes, bytes]
"""The content of certificate, key and authorities; empty for a file that cannot be read."""


@dataclass(frozen=True, slots=True)
class Identity:
    """A valid certificate with its key, and the authorities that peers are verified by; all PEM."""

    certificate: bytes = field(repr=False)
    key: bytes = field(repr=False)
    authorities: bytes = field(repr=False)
    ends: datetime


@dataclass(frozen=True, slots=True)
class TlsFiles:
    """The PEM files of a service: its certificate chain, its key, and the authorities of peers."""

    certificate: Path
    key: Path
    ca: Path

    def contents(self) -> Contents:
        """Read the files."""
        return content(self.certificate), content(self.key), content(self.ca)

    def identity(self, contents: Contents, now: datetime) -> Identity:
        """Check the contents; raises SettingsError with the file and its fault, without its content."""
        certificate, key, authorities = contents
        holder = checked_pair(self.certificate, certificate, self.key, key, now)
        check_authorities(self.ca, authorities, now)
        return Identity(certificate, key, authorities, holder.not_valid_after_utc)


def tls_files(group: str, certificate: Path | None, key: Path | None, ca: Path | None) -> TlsFiles | None:
    """Return the files of a group of three settings, None if all are empty; raises SettingsError if only some are."""
    check_together({f"--{group}-certificate": certificate, f"--{group}-key": key, f"--{group}-ca": ca})
    return TlsFiles(certificate, key, ca) if certificate and key and ca else None


class Tls:
    """The credentials of a service, from files that may change; `identity` is for new connections.

    Raises SettingsError for unusable files.
    """

    def __init__(self, files: TlsFiles, clock: Clock, logger: Logger) -> None:
        self._files, self._clock, self._logger = files, clock, logger
        self._last = self._checked = files.contents()
        self.identity = files.identity(self._last, self._now())

    def _now(self) -> datetime:
        return datetime.fromtimestamp(self._clock() / 1000, UTC)

    async def watch(self) -> None:
        """Poll the files again and again, until cancelled."""
        while True:
            await asyncio.sleep(POLL_SECONDS)
            self.poll()

    def poll(self) -> None:
        """Use changed files, or log once that they are unusable and keep the old identity.

        Contents are checked once two polls find the same: files are replaced one after the other.
        """
        contents = self._files.contents()
        is_stable, self._last = contents == self._last, contents
        if not is_stable or contents == self._checked:
            return
        self._checked = contents
        try:
            self.identity = self._files.identity(contents, self._now())
        except SettingsError as fault:
            self._logger.warning("the new certificate cannot be used, the old one is kept", why=str(fault))
        else:
            self._logger.info("the new certificate is used from now on", ends=self.identity.ends.isoformat())

    def server_credentials(self) -> grpc.ServerCredentials:
        """Return credentials for a port whose callers need a certificate; new connections use the current identity."""
        used = self.identity

        def configuration() -> grpc.ServerCertificateConfiguration | None:
            # The library calls it in its threads, for each new connection; None means no change.
            nonlocal used
            if used is self.identity:
                return None
            used = self.identity
            return _configuration(used)

        # In the stubs it may not return None.
        fetcher: Any = configuration
        return grpc.dynamic_ssl_server_credentials(_configuration(used), fetcher, require_client_authentication=True)

    def server_context(self) -> ssl.SSLContext:
        """Return a context for a port whose callers need a certificate; new connections use the current identity."""
        used, context = self.identity, _server_context(self.identity)

        def current() -> ssl.SSLContext:
            nonlocal used, context
            if used is not self.identity:
                used, context = self.identity, _server_context(self.identity)
            return context

        return _CurrentContext(current)

    def channel_credentials(self) -> grpc.ChannelCredentials:
        """Return credentials for a new channel, of the current identity."""
        identity = self.identity
        return grpc.ssl_channel_credentials(identity.authorities, identity.key, identity.certificate)


def _configuration(identity: Identity) -> grpc.ServerCertificateConfiguration:
    return grpc.ssl_server_certificate_configuration([(identity.key, identity.certificate)], identity.authorities)


class _CurrentContext(ssl.SSLContext):
    """The context of an asyncio server, by which each connection is made with the context that is current then.

    To exchange the context of a connection in its SNI callback is not enough: sessions, which a client may resume
    without its certificate, would stay those of the first one.
    """

    def __new__(cls, _current: Callable[[], ssl.SSLContext]) -> Self:
        return super().__new__(cls, ssl.PROTOCOL_TLS_SERVER)

    def __init__(self, current: Callable[[], ssl.SSLContext]) -> None:
        self._current = current

    def wrap_bio(self, *arguments: Any, **named: Any) -> ssl.SSLObject:
        """Return the TLS of a new connection."""
        return self._current().wrap_bio(*arguments, **named)


def _server_context(identity: Identity) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.verify_mode = ssl.CERT_REQUIRED
    context.set_alpn_protocols(["http/1.1"])
    context.load_verify_locations(cadata=identity.authorities.decode("ascii", "ignore"))
    with _as_file(identity.certificate) as certificate, _as_file(identity.key) as key:
        context.load_cert_chain(certificate, key)
    return context


@contextmanager
def _as_file(pem: bytes) -> Iterator[str]:
    """Yield a path from which a secret can be read once: the library reads files only, and no disk should have it."""
    reading, writing = os.pipe()
    try:
        # A pipe takes more than any of these has; otherwise an error is better than a wait without end.
        os.set_blocking(writing, False)
        os.write(writing, pem)
        os.close(writing)
        yield f"/dev/fd/{reading}"
    finally:
        os.close(reading)


def content(path: Path) -> bytes:
    """Return the content of a file, empty if it cannot be read."""
    try:
        return path.read_bytes()
    except OSError:
        return b""


def checked_pair(certificate: Path, pem: bytes, key: Path, key_pem: bytes, now: datetime) -> Certificate:
    """Return the certificate, checked with its key; raises SettingsError with the unusable file and its fault."""
    check_secret(key)
    holder, *_ = _certificates(certificate, pem)
    _check_time(certificate, holder, now)
    fault = "cannot be read as a private key in PEM form without password"
    public_key = _parsed(key, fault, lambda: load_pem_private_key(key_pem, password=None)).public_key()
    if public_key != _parsed(certificate, "has a key of an unknown kind", holder.public_key):
        raise SettingsError(f"{key} is not the key of the certificate in {certificate}")
    if not _is_supported(public_key):
        raise SettingsError(
            f"unsupported kind of key in {key}: expected elliptic curve P-256, P-384 or P-521, or RSA of at least "
            f"{MIN_RSA_BITS} bits"
        )
    return holder


def check_authorities(path: Path, pem: bytes, now: datetime) -> None:
    """Raise SettingsError unless the file has an authority that is valid now."""
    _check_time(path, max(_certificates(path, pem), key=lambda each: each.not_valid_after_utc), now)


def _parsed(path: Path, fault: str, parse: Callable[[], Parsed]) -> Parsed:
    try:
        return parse()
    except (ValueError, TypeError, UnsupportedAlgorithm):
        raise SettingsError(f"{path} {fault}") from None


def _is_supported(key: PublicKeyTypes) -> bool:
    """Return whether gRPC and Envoy support this kind of key; they would fail with each connection only."""
    if isinstance(key, RSAPublicKey):
        return key.key_size >= MIN_RSA_BITS
    return isinstance(key, EllipticCurvePublicKey) and isinstance(key.curve, SECP256R1 | SECP384R1 | SECP521R1)


def _certificates(path: Path, pem: bytes) -> list[Certificate]:
    return _parsed(path, "cannot be read as a certificate in PEM form", lambda: x509.load_pem_x509_certificates(pem))


def _check_time(path: Path, certificate: Certificate, now: datetime) -> None:
    if now >= certificate.not_valid_after_utc:
        raise SettingsError(f"the certificate in {path} expired at {certificate.not_valid_after_utc.isoformat()}")
    if now < certificate.not_valid_before_utc:
        raise SettingsError(
            f"the certificate in {path} is not valid before {certificate.not_valid_before_utc.isoformat()}"
        )
