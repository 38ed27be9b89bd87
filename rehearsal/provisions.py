"""What an operator does before: the Secrets of docs/kubernetes.md, made by the same command."""

from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

from croupier.cli.keys import CERTIFIED, USUAL_DAYS, certificate_files, keys
from croupier.runtime.certificates import new_authority, new_certificate
from rehearsal.plan import Plan
from rehearsal.site import Secrets

PLAYERS_NAME = "door"
"""What players call the door; the resolver knows no other name for the load balancer."""


def made_secrets(folder: Path, plan: Plan, database_url: str) -> tuple[Secrets, bytes]:
    """All Secrets and ConfigMaps, and the authority (PEM) that players trust; keys are made in the folder."""
    now = datetime.now(UTC)
    keys(folder, USUAL_DAYS, now, say=lambda _: None)
    authority = new_authority("the door's own authority", USUAL_DAYS, now)
    seen = new_certificate(authority, [PLAYERS_NAME], USUAL_DAYS, now)
    made: dict[str, Mapping[str, bytes]] = {
        "lobby-signing-key": _files(folder, "lobby.private.pem"),
        "engine-signing-key": _files(folder, "engine.private.pem"),
        "public-keys": _files(folder, "lobby.public.pem", "engine.public.pem"),
        "door-certificate": {"tls.crt": seen.certificate, "tls.key": seen.key},
        "postgres-app": {"uri": database_url.encode()},
    }
    for service in CERTIFIED:
        made[f"{service}-tls"] = {path.name: path.read_bytes() for path in certificate_files(folder, service)}
    for name, data in plan.configuration.items():
        made[name] = {key: value.encode() for key, value in data.items()}
    return made, authority.certificate


def _files(folder: Path, *names: str) -> Mapping[str, bytes]:
    return {name: (folder / name).read_bytes() for name in names}
