"""Mutual TLS between services: each proves who it is to those it calls and to those that call it.

A service has one certificate for both. It is read at the start, and again whenever its files have changed: those who
renew certificates restart nothing. Connections that stand keep the one with which they were made.
"""

import asyncio
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeAlias

import grpc
from cryptography import x509
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, SECP384R1, SECP521R1, EllipticCurvePublicKey
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey
from cryptography.hazmat.primitives.asymmetric.types import (
    CertificatePublicKeyTypes,
    PrivateKeyTypes,
    PublicKeyTypes,
)
from cryptography.hazmat.primitives.serialization import load_pem_private_key
from cryptography.x509 import Certificate

from croupier.runtime.identity import Clock
from croupier.runtime.logs import Logger
from croupier.runtime.program import SettingsError, check_together

LOOK_SECONDS = 1.0
"""How often the files are looked at."""
MIN_RSA_BITS = 2048

Contents: TypeAlias = tuple[bytes | None, bytes | None, bytes | None]
"""Of certificate, key and authorities; None for a file that cannot be read."""


@dataclass(frozen=True, slots=True)
class Identity:
    """A certificate that can be used with its key, and the authorities whose certificates others must have; all PEM."""

    certificate: bytes = field(repr=False)
    key: bytes = field(repr=False)
    authorities: bytes = field(repr=False)
    ends: datetime


@dataclass(frozen=True, slots=True)
class TlsFiles:
    """The PEM files of a service: its certificate with those that lead to the authority, its key, and authorities."""

    certificate: Path
    key: Path
    ca: Path

    def contents(self) -> Contents:
        """What the files hold now."""
        return content(self.certificate), content(self.key), content(self.ca)

    def identity(self, contents: Contents, now: datetime) -> Identity:
        """The contents, checked; raises SettingsError saying which file cannot be used and why, never what is in it."""
        certificate, key, authorities = contents
        holder = checked_pair(self.certificate, certificate, self.key, key, now)
        check_authorities(self.ca, authorities, now)
        return Identity(certificate or b"", key or b"", authorities or b"", holder.not_valid_after_utc)


def tls_files(group: str, certificate: Path | None, key: Path | None, ca: Path | None) -> TlsFiles | None:
    """The files that a group of three settings names, None if it names none; raises SettingsError if only some do."""
    check_together({f"--{group}-certificate": certificate, f"--{group}-key": key, f"--{group}-ca": ca})
    return TlsFiles(certificate, key, ca) if certificate and key and ca else None


class Tls:
    """What a service proves itself with, and checks others by; `identity` is the one for new connections.

    Raises SettingsError for files that cannot be used.
    """

    def __init__(self, files: TlsFiles, clock: Clock, logger: Logger) -> None:
        self._files, self._clock, self._logger = files, clock, logger
        self._seen = self._judged = files.contents()
        self.identity = files.identity(self._seen, self._now())

    def _now(self) -> datetime:
        return datetime.fromtimestamp(self._clock() / 1000, UTC)

    async def watch(self) -> None:
        """Look again and again, until cancelled."""
        while True:
            await asyncio.sleep(LOOK_SECONDS)
            self.look()

    def look(self) -> None:
        """Take what the files hold if it is new and can be used; else go on as before, and say so once.

        Only what was there the last time as well is judged: files are replaced one after the other, and halfway they
        do not fit together.
        """
        contents = self._files.contents()
        is_settled, self._seen = contents == self._seen, contents
        if not is_settled or contents == self._judged:
            return
        self._judged = contents
        try:
            self.identity = self._files.identity(contents, self._now())
        except SettingsError as fault:
            self._logger.warning("the new certificate cannot be used, the old one is kept", why=str(fault))
        else:
            self._logger.info("the new certificate is used from now on", ends=self.identity.ends.isoformat())

    def server_credentials(self) -> grpc.ServerCredentials:
        """For a port whose callers must have a certificate; every new connection gets what holds then."""
        given = self.identity

        def configuration() -> grpc.ServerCertificateConfiguration | None:
            # Called in threads of the library, with each new connection; None leaves it as it was.
            nonlocal given
            if given is self.identity:
                return None
            given = self.identity
            return _configuration(given)

        # The stubs do not know that it may give None.
        fetcher: Any = configuration
        return grpc.dynamic_ssl_server_credentials(_configuration(given), fetcher, require_client_authentication=True)

    def channel_credentials(self) -> grpc.ChannelCredentials:
        """For a channel that is opened now."""
        identity = self.identity
        return grpc.ssl_channel_credentials(identity.authorities, identity.key, identity.certificate)


def _configuration(identity: Identity) -> grpc.ServerCertificateConfiguration:
    return grpc.ssl_server_certificate_configuration([(identity.key, identity.certificate)], identity.authorities)


def content(path: Path) -> bytes | None:
    """What a file holds, None if it cannot be read."""
    try:
        return path.read_bytes()
    except OSError:
        return None


def checked_pair(certificate: Path, pem: bytes | None, key: Path, key_pem: bytes | None, now: datetime) -> Certificate:
    """The certificate of whoever has the key; raises SettingsError saying which file cannot be used and why."""
    holder, *_ = _certificates(certificate, pem)
    _check_time(certificate, holder, now)
    public_key = _private_key(key, key_pem).public_key()
    if public_key != _public_key(certificate, holder):
        raise SettingsError(f"{key} is not the key of the certificate in {certificate}")
    if not _is_spoken(public_key):
        raise SettingsError(
            f"{key} is of a kind that TLS is not spoken with here: elliptic curve P-256, P-384 or P-521 is needed, or "
            f"RSA of {MIN_RSA_BITS} bits"
        )
    return holder


def check_authorities(path: Path, pem: bytes | None, now: datetime) -> None:
    """Raises SettingsError unless there is an authority in the file, and one that holds."""
    _check_time(path, max(_certificates(path, pem), key=lambda each: each.not_valid_after_utc), now)


def _private_key(path: Path, pem: bytes | None) -> PrivateKeyTypes:
    try:
        return load_pem_private_key(pem or b"", password=None)
    except (ValueError, TypeError, UnsupportedAlgorithm):
        raise SettingsError(f"{path} cannot be read as a private key in PEM form without password") from None


def _public_key(path: Path, certificate: Certificate) -> CertificatePublicKeyTypes:
    try:
        return certificate.public_key()
    except (ValueError, TypeError, UnsupportedAlgorithm):
        raise SettingsError(f"{path} holds a key of an unknown kind") from None


def _is_spoken(key: PublicKeyTypes) -> bool:
    """Whether the library behind gRPC and Envoy takes it, which says so to those who connect only."""
    if isinstance(key, RSAPublicKey):
        return key.key_size >= MIN_RSA_BITS
    return isinstance(key, EllipticCurvePublicKey) and isinstance(key.curve, SECP256R1 | SECP384R1 | SECP521R1)


def _certificates(path: Path, pem: bytes | None) -> list[Certificate]:
    try:
        return x509.load_pem_x509_certificates(pem or b"")
    except ValueError:
        raise SettingsError(f"{path} cannot be read as a certificate in PEM form") from None


def _check_time(path: Path, certificate: Certificate, now: datetime) -> None:
    if now >= certificate.not_valid_after_utc:
        raise SettingsError(f"the certificate in {path} expired at {certificate.not_valid_after_utc.isoformat()}")
    if now < certificate.not_valid_before_utc:
        raise SettingsError(
            f"the certificate in {path} holds from {certificate.not_valid_before_utc.isoformat()} on only"
        )
