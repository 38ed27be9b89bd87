"""Players: guests who are known again by a secret of their device."""

import hashlib
import random
import uuid
from dataclasses import dataclass

from croupier.runtime.errors import MalformedRequest

SHORTEST_SECRET_CHARACTERS = 16
LONGEST_SECRET_CHARACTERS = 256
LONGEST_NAME_CHARACTERS = 32


@dataclass(frozen=True, slots=True)
class Player:
    """Who somebody is, for ever, and the name to show."""

    player_id: str
    name: str


def new_id(source: random.Random) -> str:
    """A UUID of version 4 as 32 hexadecimal digits."""
    return uuid.UUID(int=source.getrandbits(128), version=4).hex


def hashed(kind: str, secret: str) -> str:
    """What is stored of a secret; one kind's hash is never another's. Secrets are random, so a plain hash will do."""
    return hashlib.sha256(f"croupier {kind}\0{secret}".encode()).hexdigest()


def device_hash(secret: str) -> str:
    """The hash of a device's secret; raises MalformedRequest for a length other than 16 to 256."""
    if not SHORTEST_SECRET_CHARACTERS <= len(secret) <= LONGEST_SECRET_CHARACTERS:
        raise MalformedRequest(
            "DEVICE_SECRET",
            f"device_secret has {len(secret)} characters: {SHORTEST_SECRET_CHARACTERS} to {LONGEST_SECRET_CHARACTERS}"
            " random ones are needed",
            field="device_secret",
        )
    return hashed("device", secret)


def checked_name(name: str) -> str:
    """The name without spaces around it, perhaps empty; raises MalformedRequest for one that cannot be shown."""
    trimmed = name.strip()
    if len(trimmed) > LONGEST_NAME_CHARACTERS:
        raise MalformedRequest(
            "NAME",
            f"name has {len(trimmed)} characters: {LONGEST_NAME_CHARACTERS} are the most",
            field="name",
        )
    if not trimmed.isprintable():
        raise MalformedRequest(
            "NAME",
            "name has characters that cannot be shown: letters, digits, signs and spaces are allowed",
            field="name",
        )
    return trimmed


def guest_name(player_id: str) -> str:
    """The name of a player who gave none."""
    return f"Guest {player_id[:4]}"
