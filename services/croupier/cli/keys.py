"""`croupier keys`: the keys that services sign with, and the certificates by which they know each other.

In the folder are SERVICE.private.pem and SERVICE.public.pem of those that sign, tls/SERVICE with tls.crt, tls.key and
ca.crt, which is how Kubernetes keeps them too, and tls/authority with ca.crt and ca.key.
"""

import os
from collections.abc import Callable
from datetime import datetime
from pathlib import Path

from croupier.cli.faults import CommandFault
from croupier.runtime.certificates import CertificateAndKey, new_authority, new_certificate
from croupier.runtime.identity import write_new_key_pair

SIGNERS = ("lobby", "engine")
CERTIFIED = ("lobby", "engine", "scoring", "door")
NAMESPACE = "croupier"
AUTHORITY_DAYS = 3650
USUAL_DAYS = 365
Say = Callable[[str], None]


def keys(folder: Path, days: int | None, now: datetime, say: Say) -> None:
    """Make what is missing in the folder, certificates if they are to hold for some days; what is there stays as it is.

    Raises CommandFault if that cannot be.
    """
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        made = make_signing_keys(folder)
        if days is not None:
            made += make_certificates(folder, days, now)
    except OSError as fault:
        why = (fault.strerror or str(fault)).lower()
        raise CommandFault(f"{fault.filename or folder} cannot be written ({why}): choose another folder") from None
    for path in made:
        say(f"{path} made")
    say("keep all but *.public.pem and *.crt secret" if made else f"nothing is missing in {folder}")


def make_signing_keys(folder: Path) -> list[Path]:
    """A key pair for each service that signs, unless it has one; gives the files that were made.

    Raises CommandFault for a public key without its private one, and for a private one that cannot be read.
    """
    wanted = [(folder / f"{signer}.private.pem", folder / f"{signer}.public.pem") for signer in SIGNERS]
    for private, public in wanted:
        if public.exists() and not private.exists():
            raise _half(public, private)
    missing = [path for pair in wanted for path in pair if not path.exists()]
    try:
        for private, public in wanted:
            write_new_key_pair(private, public)
    except ValueError as fault:
        raise CommandFault(str(fault)) from None
    return missing


def make_certificates(folder: Path, days: int, now: datetime) -> list[Path]:
    """A certificate for each service and the door, unless it has one, by the folder's authority; gives the new files.

    Raises CommandFault for a certificate without its key or the other way round, or an authority that cannot sign.
    """
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
    """Where the certificate of a service or the door is, its key, and the certificate of the authority."""
    own = folder / "tls" / service
    return own / "tls.crt", own / "tls.key", own / "ca.crt"


def names_of(service: str) -> list[str]:
    """What others may call a service: its name, which services check, those in a cluster, and this machine's."""
    return [service, f"{service}.{NAMESPACE}", f"{service}.{NAMESPACE}.svc", "localhost", "127.0.0.1"]


def _authority(folder: Path, now: datetime) -> tuple[CertificateAndKey, list[Path]]:
    """The authority in the folder, or a new one, with the files that were made for it."""
    certificate, key = folder / "ca.crt", folder / "ca.key"
    if _is_whole(certificate, key):
        return CertificateAndKey(certificate.read_bytes(), key.read_bytes()), []
    new = new_authority(NAMESPACE, AUTHORITY_DAYS, now)
    return new, _write_new(key, new.key, 0o600) + _write_new(certificate, new.certificate, 0o644)


def _is_whole(first: Path, second: Path) -> bool:
    """Whether both are there; raises CommandFault if one of them is missing."""
    if first.exists() == second.exists():
        return first.exists()
    raise _half(first, second) if first.exists() else _half(second, first)


def _half(there: Path, missing: Path) -> CommandFault:
    return CommandFault(f"{there} is there without {missing.name}: put that beside it, or take this away")


def _write_new(path: Path, content: bytes, mode: int) -> list[Path]:
    """Put a whole file there at once: that is also what an Envoy waits for that watches the folder."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    partial = path.with_name(f"{path.name}.partial")
    partial.unlink(missing_ok=True)
    with os.fdopen(os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), "wb") as file:
        file.write(content)
    partial.replace(path)
    return [path]
