"""Keys of the services, and certificates for mutual TLS between them and the gateway, made once in a folder.

It has SERVICE.private.pem and SERVICE.public.pem of the services that sign, tls/SERVICE with tls.crt, tls.key and
ca.crt, as in secrets of Kubernetes, and tls/authority with ca.crt and ca.key.
"""

import os
from datetime import datetime
from itertools import chain
from pathlib import Path

from croupier.cli.faults import CommandFault
from croupier.runtime.identity.permissions import make_private_folder
from croupier.runtime.identity.tokens import write_new_key_pair
from croupier.runtime.server.program import SettingsError
from croupier.runtime.tls.certificates import CertificateAndKey, new_authority, new_certificate

SIGNERS = ("lobby", "engine")
CERTIFIED = ("lobby", "engine", "scoring", "gateway")
NAMESPACE = "croupier"
AUTHORITY_DAYS = 3650


def make_missing(folder: Path, days: int | None, now: datetime) -> list[Path]:
    """Make the missing keys in a folder, with `days` also certificates that are valid for so long; change no file.

    Returns the new files. Raises CommandFault for a public key or certificate without its private key or the other way
    round, for a private key that cannot be read, for an authority that cannot sign, and OSError if one cannot be
    written.
    """
    make_private_folder(folder)
    return _make_keys(folder) + (_make_certificates(folder, days, now) if days is not None else [])


def _make_keys(folder: Path) -> list[Path]:
    """Make a key pair for each service that signs and has none; returns the new files."""
    wanted = [(folder / f"{signer}.private.pem", folder / f"{signer}.public.pem") for signer in SIGNERS]
    for private, public in wanted:
        if public.exists() and not private.exists():
            raise _half(public, private)
    missing = [path for path in chain(*wanted) if not path.exists()]
    try:
        for private, public in wanted:
            write_new_key_pair(private, public)
    except SettingsError as fault:
        raise CommandFault(str(fault)) from None
    return missing


def _make_certificates(folder: Path, days: int, now: datetime) -> list[Path]:
    """Make a certificate for each service and the gateway that has none; returns the new files."""
    missing = [service for service in CERTIFIED if not _is_whole(*certificate_files(folder, service)[:2])]
    if not missing:
        return []
    authority, made = _authority(folder / "tls" / "authority", now)
    for service in missing:
        try:
            new = new_certificate(authority, names_of(service), days, now)
        except ValueError:
            raise CommandFault(f"the authority in {folder / 'tls' / 'authority'} cannot sign, or has expired") from None
        certificate, key, ca = certificate_files(folder, service)
        made += _write_new(key, new.key, 0o600)
        made += _write_new(certificate, new.certificate, 0o644)
        if not ca.exists():
            made += _write_new(ca, authority.certificate, 0o644)
    return made


def certificate_files(folder: Path, service: str) -> tuple[Path, Path, Path]:
    """Return the paths of the certificate of a service or the gateway, its key, and the authority's certificate."""
    own = folder / "tls" / service
    return own / "tls.crt", own / "tls.key", own / "ca.crt"


def names_of(service: str) -> list[str]:
    """Return the names of a certificate: the service, which services check, its names in a cluster, this machine."""
    return [service, f"{service}.{NAMESPACE}", f"{service}.{NAMESPACE}.svc", "localhost", "127.0.0.1", "::1"]


def _authority(folder: Path, now: datetime) -> tuple[CertificateAndKey, list[Path]]:
    """Return the authority in the folder, or a new one, with its new files."""
    certificate, key = folder / "ca.crt", folder / "ca.key"
    if _is_whole(certificate, key):
        return CertificateAndKey(certificate.read_bytes(), key.read_bytes()), []
    new = new_authority(NAMESPACE, AUTHORITY_DAYS, now)
    return new, _write_new(key, new.key, 0o600) + _write_new(certificate, new.certificate, 0o644)


def _is_whole(first: Path, second: Path) -> bool:
    """Return whether both files exist; raises CommandFault if only one does."""
    if first.exists() == second.exists():
        return first.exists()
    raise _half(first, second) if first.exists() else _half(second, first)


def _half(there: Path, missing: Path) -> CommandFault:
    return CommandFault(f"{there} is there without {missing.name}: put that beside it, or remove this")


def _write_new(path: Path, content: bytes, mode: int) -> list[Path]:
    """Write a whole file by a rename, which an Envoy that watches the folder waits for."""
    make_private_folder(path.parent)
    partial = path.with_name(f"{path.name}.partial")
    partial.unlink(missing_ok=True)
    with os.fdopen(os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), "wb") as file:
        file.write(content)
    partial.replace(path)
    return [path]
