"""Certificates for tests: authorities, and the files of a service."""

import ssl
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

import grpc
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from croupier.runtime.tls.certificates import CertificateAndKey, new_authority, new_certificate
from croupier.runtime.tls.tls import TlsFiles

DAYS = 10
NOW = datetime.now(UTC)
PAST = NOW - timedelta(days=2 * DAYS)
FUTURE = NOW + timedelta(days=DAYS)


@dataclass(frozen=True)
class Authority:
    """A certificate authority."""

    authority: CertificateAndKey = field(default_factory=lambda: new_authority("an authority", 4 * DAYS, PAST))

    def issue(self, name: str, now: datetime = NOW) -> CertificateAndKey:
        """Issue a certificate by name, which is also valid for this machine."""
        return new_certificate(self.authority, [name, "localhost", "127.0.0.1"], DAYS, now)

    def files(self, folder: Path, issued: CertificateAndKey) -> TlsFiles:
        """Write the files of a service into a new folder."""
        folder.mkdir()
        files = TlsFiles(folder / "tls.crt", folder / "tls.key", folder / "ca.crt")
        files.ca.write_bytes(self.authority.certificate)
        replace(files, issued)
        return files

    def credentials(self, issued: CertificateAndKey | None) -> grpc.ChannelCredentials:
        """Return channel credentials with this certificate, or none, that trust the authority."""
        if issued is None:
            return grpc.ssl_channel_credentials(self.authority.certificate)
        return grpc.ssl_channel_credentials(self.authority.certificate, issued.key, issued.certificate)


def replace(files: TlsFiles, issued: CertificateAndKey) -> None:
    """Replace a service's certificate, one file after another, each atomically."""
    for path, content in ((files.certificate, issued.certificate), (files.key, issued.key)):
        partial = path.with_suffix(".partial")
        partial.touch(0o600)
        partial.write_bytes(content)
        partial.replace(path)


def der(pem: bytes) -> bytes:
    """Return the DER bytes of a PEM certificate."""
    return ssl.PEM_cert_to_DER_cert(pem.decode())


def self_signed(key: ed25519.Ed25519PrivateKey | rsa.RSAPrivateKey | ec.EllipticCurvePrivateKey) -> CertificateAndKey:
    """Return a self-signed certificate with any kind of key."""
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "localhost")])
    builder = x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number(), PAST, FUTURE)
    signed = builder.sign(key, None if isinstance(key, ed25519.Ed25519PrivateKey) else SHA256())
    pem = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    return CertificateAndKey(signed.public_bytes(Encoding.PEM), pem)


UNSUPPORTED = {
    "Ed25519": self_signed(ed25519.Ed25519PrivateKey.generate()),
    "short RSA": self_signed(rsa.generate_private_key(65537, 1024)),  # noqa: S505 - a weak key on purpose
    "another curve": self_signed(ec.generate_private_key(ec.SECP256K1())),
}
"""Valid certificates of kinds that TLS does not support."""
