"""Certificates that croupier makes: their names, uses and end."""

import ipaddress
from datetime import UTC, datetime, timedelta

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import ExtendedKeyUsageOID
from cryptography.x509.verification import PolicyBuilder, Store, VerificationError

from croupier.runtime.tls.certificates import CertificateAndKey, new_authority, new_certificate

NOW = datetime(2026, 1, 1, tzinfo=UTC)
AUTHORITY = new_authority("an authority", 100, NOW)
NAMES = ["engine", "engine.croupier.svc", "localhost", "127.0.0.1"]
MADE = new_certificate(AUTHORITY, NAMES, 10, NOW)


def read(made: CertificateAndKey) -> x509.Certificate:
    return x509.load_pem_x509_certificate(made.certificate)


def verify(made: CertificateAndKey, authority: CertificateAndKey, name: str, at: datetime) -> None:
    """Verify a certificate as a strict client does."""
    builder = PolicyBuilder().store(Store([read(authority)])).time(at)
    builder.build_server_verifier(x509.DNSName(name)).verify(read(made), [])


def test_strict_clients_accept_it_for_its_names_and_validity() -> None:
    for name in ("engine.croupier.svc", "localhost"):
        verify(MADE, AUTHORITY, name, NOW + timedelta(days=9))
    for name, at in (("lobby", NOW), ("localhost", NOW + timedelta(days=11)), ("localhost", NOW - timedelta(days=1))):
        with pytest.raises(VerificationError):
            verify(MADE, AUTHORITY, name, at)
    with pytest.raises(VerificationError):
        verify(MADE, new_authority("an authority", 100, NOW), "localhost", NOW)


def test_a_clock_that_is_a_little_slow_accepts_it_too() -> None:
    verify(MADE, AUTHORITY, "localhost", NOW - timedelta(minutes=30))


def test_it_is_for_servers_and_for_clients_and_signs_nothing() -> None:
    extensions = read(MADE).extensions
    names = extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    assert names.get_values_for_type(x509.DNSName) == NAMES[:3]
    assert names.get_values_for_type(x509.IPAddress) == [ipaddress.ip_address("127.0.0.1")]
    usage = set(extensions.get_extension_for_class(x509.ExtendedKeyUsage).value)
    assert usage == {ExtendedKeyUsageOID.SERVER_AUTH, ExtendedKeyUsageOID.CLIENT_AUTH}
    assert not extensions.get_extension_for_class(x509.BasicConstraints).value.ca


def test_it_never_outlives_its_authority() -> None:
    made = new_certificate(AUTHORITY, NAMES, 1_000, NOW)
    assert read(made).not_valid_after_utc == read(AUTHORITY).not_valid_after_utc
    with pytest.raises(ValueError, match="expires within a day"):
        new_certificate(AUTHORITY, NAMES, 10, NOW + timedelta(days=99, hours=1))


def test_a_long_name_is_accepted() -> None:
    name = f"{'a' * 60}.{'b' * 60}.example"
    verify(new_certificate(AUTHORITY, [name], 10, NOW), AUTHORITY, name, NOW)


def test_a_key_of_another_kind_signs_nothing() -> None:
    other = Ed25519PrivateKey.generate().private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    with pytest.raises(ValueError, match="expected an elliptic curve key"):
        new_certificate(CertificateAndKey(AUTHORITY.certificate, other), NAMES, 10, NOW)
