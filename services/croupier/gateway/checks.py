"""Checks of the settings before the gateway starts."""

from datetime import UTC, datetime
from pathlib import Path

from croupier.gateway.settings import GatewaySettings
from croupier.runtime.server.addresses import is_loopback, listen_fault
from croupier.runtime.server.program import SettingsError
from croupier.runtime.tls.tls import checked_pair, content


def check(settings: GatewaySettings, now: datetime) -> None:
    """Raise SettingsError for the first unusable setting."""
    for address in filter(None, (settings.listen, settings.metrics_listen)):
        # Envoy would share a port with other programs of the same user.
        if fault := listen_fault(address):
            raise SettingsError(f"{address} {fault}: expected an IP address of this machine with a free port")
    check_files(settings, now)


def exposure(settings: GatewaySettings) -> str | None:
    """Return a warning if tokens of players from other machines pass networks without TLS."""
    if settings.certificate is not None or is_loopback(settings.listen):
        return None
    return (
        f"warning: other machines can connect to {settings.listen} without TLS, and tokens can be read on the way: "
        "name --certificate and --key, or let a proxy in front of it end TLS"
    )


def check_files(settings: GatewaySettings, now: datetime) -> None:
    """Raise SettingsError for the first unusable certificate, key or authority."""
    if settings.certificate is not None and settings.key is not None:
        check_pair(settings.certificate, settings.key, now)
    if (files := settings.upstream) is not None:
        files.identity(files.contents(), now)


def check_pair(certificate: Path, key: Path, now: datetime) -> None:
    """Raise SettingsError for an invalid certificate, or for a private key of another one."""
    checked_pair(certificate, content(certificate), key, content(key), now)


def now_utc() -> datetime:
    """Return the time of the system's clock."""
    return datetime.now(UTC)
