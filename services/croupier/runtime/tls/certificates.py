"""New certificate authorities, and certificates that they sign, as PEM."""

import ipaddress
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from cryptography import x509
from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, EllipticCurvePrivateKey, generate_private_key
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    load_pem_private_key,
)
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

CLOCK_SKEW = timedelta(hours=1)
"""Certificates are valid from this long ago, since the clocks of machines differ."""
MAX_NAME_CHARACTERS = 64
"""The limit of a common name; the alternative names, which alone are verified, can be longer."""
_NO_KEY_USAGE = dict.fromkeys(
    (
        *("digital_signature", "content_commitment", "key_encipherment", "data_encipherment", "key_agreement"),
        *("key_cert_sign", "crl_sign", "encipher_only", "decipher_only"),
    ),
    False,
)


@dataclass(frozen=True, slots=True)
class CertificateAndKey:
    """A certificate and its private key, both PEM."""

    certificate: bytes
    key: bytes = field(repr=False)


def new_authority(name: str, days: int, now: datetime) -> CertificateAndKey:
    """Return a root authority, which signs certificates of servers and clients but no other authorities."""
    key = generate_private_key(SECP256R1())
    subject = _common_name(name)
    builder = (
        _builder(subject, subject, key, days, now)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(_key_usage("key_cert_sign", "crl_sign"), critical=True)
    )
    return _signed(builder, key, key)


def new_certificate(authority: CertificateAndKey, names: Sequence[str], days: int, now: datetime) -> CertificateAndKey:
    """Return a certificate of a server or client for DNS names and IP addresses; it never outlives its authority.

    Raises ValueError for an authority that cannot be read or expires within a day.
    """
    issuer = x509.load_pem_x509_certificate(authority.certificate)
    issuer_key = load_pem_private_key(authority.key, password=None)
    if not isinstance(issuer_key, EllipticCurvePrivateKey):
        raise ValueError("invalid key of the authority: expected an elliptic curve key")
    key = generate_private_key(SECP256R1())
    days = min(days, (issuer.not_valid_after_utc - now).days)
    if days < 1:
        raise ValueError("the authority expires within a day, or has expired")
    builder = (
        _builder(_common_name(names[0]), issuer.subject, key, days, now)
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(_key_usage("digital_signature"), critical=True)
        .add_extension(
            x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH, ExtendedKeyUsageOID.CLIENT_AUTH]), critical=False
        )
        .add_extension(x509.SubjectAlternativeName([_alternative_name(name) for name in names]), critical=False)
        .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(issuer_key.public_key()), critical=False)
    )
    return _signed(builder, key, issuer_key)


def _builder(
    subject: x509.Name, issuer: x509.Name, key: EllipticCurvePrivateKey, days: int, now: datetime
) -> x509.CertificateBuilder:
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - CLOCK_SKEW)
        .not_valid_after(now + timedelta(days=days))
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
    )


def _signed(
    builder: x509.CertificateBuilder, key: EllipticCurvePrivateKey, signer: EllipticCurvePrivateKey
) -> CertificateAndKey:
    return CertificateAndKey(
        builder.sign(signer, SHA256()).public_bytes(Encoding.PEM),
        key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()),
    )


def _common_name(name: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name[:MAX_NAME_CHARACTERS])])


def _key_usage(*allowed: str) -> x509.KeyUsage:
    return x509.KeyUsage(**(_NO_KEY_USAGE | dict.fromkeys(allowed, True)))


def _alternative_name(name: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(name))
    except ValueError:
        return x509.DNSName(name)
