"""What is looked at before the gateway opens, so that whatever cannot work is told in one line."""

from datetime import UTC, datetime
from pathlib import Path

from croupier.gateway.settings import GatewaySettings
from croupier.runtime.addresses import is_free, is_loopback
from croupier.runtime.program import SettingsError
from croupier.runtime.tls import checked_pair, content


def check(settings: GatewaySettings, now: datetime) -> None:
    """Raises SettingsError naming the first setting that cannot be used, and why."""
    if not is_loopback(settings.admin_listen):
        raise SettingsError(
            f"--admin-listen cannot be {settings.admin_listen}: whoever reaches it rules the gateway, so it must be on "
            "this machine's loopback"
        )
    for address in filter(None, (settings.listen, settings.admin_listen, settings.metrics_listen)):
        # Envoy shares a port with others of the same user, so it would not notice.
        if not is_free(address):
            raise SettingsError(
                f"{address} cannot be listened on: is it in use, or not an IP address and port of this machine?"
            )
    check_certificates(settings, now)


def check_certificates(settings: GatewaySettings, now: datetime) -> None:
    """Raises SettingsError naming the first file that TLS cannot be spoken with, and why."""
    if settings.certificate is not None and settings.key is not None:
        check_pair(settings.certificate, settings.key, now)
    if (files := settings.upstream) is not None:
        files.identity(files.contents(), now)


def check_pair(certificate: Path, key: Path, now: datetime) -> None:
    """Raises SettingsError for a certificate that does not hold, or that the private key does not belong to."""
    checked_pair(certificate, content(certificate), key, content(key), now)


def now_utc() -> datetime:
    """The time of the system's clock."""
    return datetime.now(UTC)
