"""Certificates for tests: a house with an authority, another that is none of its business, and files of a service."""

import ssl
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

import grpc
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from croupier.runtime.certificates import CertificateAndKey, new_authority, new_certificate
from croupier.runtime.tls import TlsFiles

DAYS = 10
NOW = datetime.now(UTC)
LONG_AGO = NOW - timedelta(days=2 * DAYS)
SOON = NOW + timedelta(days=DAYS)


@dataclass(frozen=True)
class House:
    """An authority and what it signs."""

    authority: CertificateAndKey = field(default_factory=lambda: new_authority("a house", 4 * DAYS, LONG_AGO))

    def issue(self, name: str, now: datetime = NOW) -> CertificateAndKey:
        """A new certificate, by which its holder is found on this machine too."""
        return new_certificate(self.authority, [name, "localhost", "127.0.0.1"], DAYS, now)

    def files(self, folder: Path, issued: CertificateAndKey) -> TlsFiles:
        """Files of a service in a folder of its own."""
        folder.mkdir()
        files = TlsFiles(folder / "tls.crt", folder / "tls.key", folder / "ca.crt")
        files.ca.write_bytes(self.authority.certificate)
        replace(files, issued)
        return files

    def credentials(self, issued: CertificateAndKey | None) -> grpc.ChannelCredentials:
        """For a caller with this certificate, or none, who trusts the house."""
        if issued is None:
            return grpc.ssl_channel_credentials(self.authority.certificate)
        return grpc.ssl_channel_credentials(self.authority.certificate, issued.key, issued.certificate)


def replace(files: TlsFiles, issued: CertificateAndKey) -> None:
    """Put another certificate into a service's files, one whole file after the other."""
    for path, content in ((files.certificate, issued.certificate), (files.key, issued.key)):
        partial = path.with_suffix(".partial")
        partial.write_bytes(content)
        partial.replace(path)


def der(pem: bytes) -> bytes:
    """The bytes that a PEM certificate stands for."""
    return ssl.PEM_cert_to_DER_cert(pem.decode())


def self_signed(key: ed25519.Ed25519PrivateKey | rsa.RSAPrivateKey | ec.EllipticCurvePrivateKey) -> CertificateAndKey:
    """What somebody may bring who made it with another program."""
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "localhost")])
    builder = x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number(), LONG_AGO, SOON)
    signed = builder.sign(key, None if isinstance(key, ed25519.Ed25519PrivateKey) else SHA256())
    pem = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    return CertificateAndKey(signed.public_bytes(Encoding.PEM), pem)


UNSPOKEN = {
    "Ed25519": self_signed(ed25519.Ed25519PrivateKey.generate()),
    "short RSA": self_signed(rsa.generate_private_key(65537, 1024)),  # noqa: S505 - what nobody should have
    "another curve": self_signed(ec.generate_private_key(ec.SECP256K1())),
}
"""Certificates that are in order, but of kinds that TLS is not spoken with."""
