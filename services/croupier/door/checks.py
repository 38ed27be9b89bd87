"""What is looked at before the door opens, so that whatever cannot work is told in one line."""

from datetime import UTC, datetime
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat, load_pem_private_key

from croupier.door.settings import DoorSettings
from croupier.runtime.addresses import is_free
from croupier.runtime.settings import is_loopback


def check(settings: DoorSettings, now: datetime) -> None:
    """Raises ValueError naming the first setting that cannot be used, and why."""
    if not is_loopback(settings.admin_listen):
        raise ValueError(
            f"--admin-listen cannot be {settings.admin_listen}: whoever reaches it rules the door, so it must be on "
            "this machine's loopback"
        )
    for address in filter(None, (settings.listen, settings.admin_listen, settings.metrics_listen)):
        # Envoy shares a port with others of the same user, so it would not notice.
        if not is_free(address):
            raise ValueError(
                f"{address} cannot be listened on: is it in use, or not an IP address and port of this machine?"
            )
    if settings.certificate is not None and settings.key is not None:
        check_pair(settings.certificate, settings.key, now)
    if settings.upstream_certificate is not None and settings.upstream_key is not None:
        check_pair(settings.upstream_certificate, settings.upstream_key, now)
    if settings.upstream_ca is not None:
        _certificates(settings.upstream_ca)


def check_pair(certificate: Path, key: Path, now: datetime) -> None:
    """Raises ValueError for a certificate that has ended, or that the private key does not belong to."""
    first = _certificates(certificate)[0]
    if first.not_valid_after_utc <= now:
        raise ValueError(f"{certificate} has ended on {first.not_valid_after_utc:%Y-%m-%d}: a new one is needed")
    if first.public_key().public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo) != _public_part(key):
        raise ValueError(f"{key} is not the private key of {certificate}")


def _certificates(file: Path) -> list[x509.Certificate]:
    try:
        return x509.load_pem_x509_certificates(file.read_bytes())
    except (OSError, ValueError):
        raise ValueError(f"{file} cannot be read as a certificate in PEM form") from None


def _public_part(file: Path) -> bytes:
    try:
        key = load_pem_private_key(file.read_bytes(), password=None)
    except (OSError, ValueError, TypeError):
        raise ValueError(f"{file} cannot be read as a private key in PEM form without password") from None
    return key.public_key().public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)


def now_utc() -> datetime:
    """The time of the system's clock."""
    return datetime.now(UTC)
