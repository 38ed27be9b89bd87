"""Players: guests who are identified by a secret of their device."""

import hashlib
import random
import uuid
from dataclasses import dataclass

from croupier.runtime.errors import invalid_field

MIN_SECRET_CHARACTERS = 16
MAX_SECRET_CHARACTERS = 256
MAX_NAME_CHARACTERS = 32


@dataclass(frozen=True, slots=True)
class Player:
    """A permanent identity, and the name to show."""

    player_id: str
    name: str


def new_id(source: random.Random) -> str:
    """Return a UUID of version 4 as 32 hexadecimal digits."""
    return uuid.UUID(int=source.getrandbits(128), version=4).hex


def hash_secret(kind: str, secret: str) -> str:
    """Return the hash to store of a secret; it differs by kind. A plain hash suffices, because secrets are random."""
    return hashlib.sha256(f"croupier {kind}\0{secret}".encode()).hexdigest()


def hash_device_secret(secret: str) -> str:
    """Return the hash of a device's secret; raises MalformedRequest for a length other than 16 to 256."""
    if not MIN_SECRET_CHARACTERS <= len(secret) <= MAX_SECRET_CHARACTERS:
        expected = f"{MIN_SECRET_CHARACTERS} to {MAX_SECRET_CHARACTERS} random characters"
        raise invalid_field("device_secret", f"invalid device_secret of length {len(secret)}: expected {expected}")
    return hash_secret("device", secret)


def normalize_name(name: str) -> str:
    """Return a name without spaces around it, which may be empty; raises MalformedRequest if it cannot be shown."""
    trimmed = name.strip()
    if len(trimmed) > MAX_NAME_CHARACTERS:
        expected = f"at most {MAX_NAME_CHARACTERS} characters"
        raise invalid_field("name", f"invalid name of length {len(trimmed)}: expected {expected}")
    if not trimmed.isprintable():
        raise invalid_field("name", "invalid name: expected printable characters only")
    return trimmed


def guest_name(player_id: str) -> str:
    """Return the name of a player who has not chosen one."""
    return f"Guest {player_id[:4]}"
