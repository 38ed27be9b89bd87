"""The identity of callers: players have access tokens of the lobby, services short-lived tokens of their own.

All are EdDSA JWTs. By their audience a player's token is refused at control services, and a service's at tables.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from pathlib import Path

import jwt
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
    load_pem_private_key,
    load_pem_public_key,
)

from croupier.runtime.errors import Unauthenticated
from croupier.runtime.identity.permissions import check_secret, open_private
from croupier.runtime.server.program import SettingsError
from croupier_api.v1 import errors_pb2

PLAYER_AUDIENCE = "croupier"
ENGINE_CONTROL_AUDIENCE = "croupier-engine-control"
SCORING_CONTROL_AUDIENCE = "croupier-scoring-control"
ISSUER = "croupier"
SERVICE_TOKEN_SECONDS = 60
MAX_TOKEN_CHARACTERS = 2048
MAX_REMEMBERED_TOKENS = 4096
"""Of about 500 bytes each."""
_NO_BEARER = "this call needs an access token: send it as 'authorization: Bearer ...' metadata"

Clock = Callable[[], int]
"""Returns milliseconds since 1970 UTC."""


@dataclass(frozen=True, slots=True)
class Caller:
    """A caller: a player's id, or a service's name as id; an anonymous one has no id.

    `name` is the purpose of a link, and empty otherwise. `network` is empty if the gateway did not report it.
    `expires_at` is the end of the token in milliseconds since 1970 UTC, None without token.
    """

    id: str
    name: str
    network: str = ""
    expires_at: int | None = None

    def resolve_me(self, player_id: str) -> str:
        """Return the id of a player, for "me" that of the caller."""
        return self.id if player_id == "me" else player_id


def unauthenticated(message: str) -> Unauthenticated:
    return Unauthenticated(errors_pb2.ERROR_REASON_INVALID_ACCESS_TOKEN, message)


@dataclass(frozen=True, slots=True)
class TokenIssuer:
    """Issues tokens for one audience, which expire after `lifetime_seconds`."""

    key: Ed25519PrivateKey
    audience: str
    lifetime_seconds: int
    clock: Clock

    def issue(self, subject: str, name: str = "") -> tuple[str, int]:
        """Return a token for a caller and the time of its expiry, in milliseconds since 1970 UTC."""
        now = self.clock() // 1000
        expires = now + self.lifetime_seconds
        claims = {"iss": ISSUER, "aud": self.audience, "sub": subject, "name": name, "iat": now, "exp": expires}
        return jwt.encode(claims, self.key, algorithm="EdDSA"), expires * 1000


class TokenVerifier:
    """Verifies tokens for one audience; remembers valid ones, since a signature costs more than most calls."""

    def __init__(self, key: Ed25519PublicKey, audience: str, clock: Clock) -> None:
        self._clock = clock
        self._read = lru_cache(MAX_REMEMBERED_TOKENS)(partial(_read_token, key, audience))

    def verify(self, token: str, network: str = "") -> Caller:
        """Return the caller; raises Unauthenticated if the token is forged, expired or for another audience."""
        if len(token) > MAX_TOKEN_CHARACTERS:
            raise unauthenticated("invalid token: it is too long")
        known = self._read(token)
        if known.expires_at is None or known.expires_at <= self._clock():
            raise unauthenticated("the token has expired: refresh it or sign in again")
        return replace(known, network=network)


def _read_token(key: Ed25519PublicKey, audience: str, token: str) -> Caller:
    """Return the caller of a token, which may have expired; raises Unauthenticated for a forged one."""
    try:
        claims = jwt.decode(
            token,
            key,
            algorithms=["EdDSA"],
            audience=audience,
            issuer=ISSUER,
            # The verifier checks the expiry by its clock.
            options={"require": ["exp", "sub"], "verify_exp": False, "verify_iat": False},
        )
    except jwt.InvalidTokenError:
        raise unauthenticated("the token is not valid here: sign in for a new one") from None
    return Caller(claims["sub"], str(claims.get("name", "")), expires_at=claims["exp"] * 1000)


def bearer_token(metadata: dict[str, str]) -> str:
    """Return the token of 'authorization: Bearer ...' metadata; raises Unauthenticated if there is none."""
    scheme, _, token = metadata.get("authorization", "").partition(" ")
    if scheme.lower() != "bearer" or not token:
        raise unauthenticated(_NO_BEARER)
    return token


def write_new_key_pair(private_path: Path, public_path: Path) -> None:
    """Write a key pair as PEM files, the private one readable by its owner only; an existing private key is kept.

    Raises SettingsError if that is not readable and its public key is missing.
    """
    if private_path.exists() and public_path.exists():
        return
    if private_path.exists():
        key = load_private_key(private_path)
    else:
        key = Ed25519PrivateKey.generate()
        with open_private(private_path) as file:
            file.write(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
    public_path.touch(mode=0o644)
    public_path.write_bytes(key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo))


def load_private_key(path: Path) -> Ed25519PrivateKey:
    """Read a PEM file; raises SettingsError with the fault, without its content, and if others may read it."""
    check_secret(path)
    key = _load(path, partial(load_pem_private_key, password=None), "private key without password")
    if not isinstance(key, Ed25519PrivateKey):
        raise _other_kind(path)
    return key


def load_public_key(path: Path) -> Ed25519PublicKey:
    """Read a PEM file; raises SettingsError with the fault."""
    key = _load(path, load_pem_public_key, "public key")
    if not isinstance(key, Ed25519PublicKey):
        raise _other_kind(path)
    return key


def _load(path: Path, parse: Callable[[bytes], object], name: str) -> object:
    try:
        return parse(path.read_bytes())
    except (OSError, ValueError, TypeError):
        raise SettingsError(f"{path} cannot be read as an Ed25519 {name} in PEM form") from None


def _other_kind(path: Path) -> SettingsError:
    return SettingsError(f"{path} has another kind of key than Ed25519")
