"""Players: guests who are identified by secrets of their devices."""

import hashlib
import random
import uuid
from dataclasses import dataclass

from croupier.runtime.errors import invalid_field

MIN_SECRET_CHARACTERS = 16
MIN_DIFFERENT_CHARACTERS = 8
"""Sixteen random hexadecimal digits have fewer once in ten thousand times, random letters never."""
CODE_LETTERS = "23456789ABCDEFGHJKLMNPQRSTUVWXYZ"
"""Without 0, O, 1 and I, which people mistake for each other."""


@dataclass(frozen=True, slots=True)
class Player:
    """A permanent identity, and the name to show."""

    player_id: str
    name: str


def new_id(source: random.Random) -> str:
    """Return a UUID of version 4 as 32 hexadecimal digits."""
    return uuid.UUID(int=source.getrandbits(128), version=4).hex


def new_code(source: random.Random, length: int) -> str:
    """Return a random code for people to read, of 32 different letters and digits."""
    return "".join(source.choice(CODE_LETTERS) for _ in range(length))


def hash_secret(kind: str, secret: str) -> str:
    """Return the hash to store of a secret; it differs by kind. A plain hash suffices, because secrets are random."""
    return hashlib.sha256(f"croupier {kind}\0{secret}".encode()).hexdigest()


def hash_device_secret(secret: str) -> str:
    """Return the hash of a device's secret; raises MalformedRequest for one that cannot be random."""
    if len(secret) < MIN_SECRET_CHARACTERS or len(set(secret)) < MIN_DIFFERENT_CHARACTERS:
        raise invalid_field(
            "device_secret",
            f"invalid device_secret of {len(secret)} characters, {len(set(secret))} of them different: expected at"
            f" least {MIN_SECRET_CHARACTERS} and {MIN_DIFFERENT_CHARACTERS}; make a random one on the device, such as"
            " with `openssl rand -hex 16`",
        )
    return hash_secret("device", secret)
