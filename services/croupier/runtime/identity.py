"""Who calls: players by the lobby's access tokens, services by short-lived tokens of their own.

All are EdDSA JWTs. The audience keeps them apart: a player's token opens no control service, and a service's no table.
"""

from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass
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
from croupier.runtime.program import SettingsError
from croupier_api.v1 import errors_pb2

PLAYER_AUDIENCE = "croupier"
ENGINE_CONTROL_AUDIENCE = "croupier-engine-control"
SCORING_CONTROL_AUDIENCE = "croupier-scoring-control"
ISSUER = "croupier"
SERVICE_TOKEN_SECONDS = 60
MAX_TOKEN_CHARACTERS = 2048

Clock = Callable[[], int]
"""Gives milliseconds since 1970 UTC."""


@dataclass(frozen=True, slots=True)
class Caller:
    """Who calls: a player's id and name, or a service's name with `name` empty."""

    id: str
    name: str


NOBODY = Caller("", "")
_CALLER: ContextVar[Caller] = ContextVar("caller", default=NOBODY)


def caller() -> Caller:
    """Who makes the call that is being served; raises Unauthenticated if nobody is known."""
    known = _CALLER.get()
    if known is NOBODY:
        raise unauthenticated("this call needs an access token: send it as 'authorization: Bearer ...' metadata")
    return known


def remember_caller(known: Caller) -> None:
    """Note who makes the call that is being served, for the rest of it."""
    _CALLER.set(known)


def unauthenticated(message: str) -> Unauthenticated:
    return Unauthenticated(errors_pb2.ERROR_REASON_INVALID_ACCESS_TOKEN, message)


@dataclass(frozen=True, slots=True)
class TokenIssuer:
    """Signs tokens for one audience; `lifetime_seconds` long."""

    key: Ed25519PrivateKey
    audience: str
    lifetime_seconds: int
    clock: Clock

    def issue(self, subject: str, name: str = "") -> tuple[str, int]:
        """A token for a caller and when it ends, in milliseconds since 1970 UTC."""
        now = self.clock() // 1000
        expires = now + self.lifetime_seconds
        claims = {"iss": ISSUER, "aud": self.audience, "sub": subject, "name": name, "iat": now, "exp": expires}
        return jwt.encode(claims, self.key, algorithm="EdDSA"), expires * 1000


@dataclass(frozen=True, slots=True)
class TokenVerifier:
    """Reads tokens of one audience."""

    key: Ed25519PublicKey
    audience: str
    clock: Clock

    def verify(self, token: str) -> Caller:
        """Who the token is for; raises Unauthenticated for one that is forged, expired or for another audience."""
        if len(token) > MAX_TOKEN_CHARACTERS:
            raise unauthenticated("the token is too long to be one of ours")
        try:
            claims = jwt.decode(
                token,
                self.key,
                algorithms=["EdDSA"],
                audience=self.audience,
                issuer=ISSUER,
                # Expiry is checked below against our own clock, which tests can set.
                options={"require": ["exp", "sub"], "verify_exp": False, "verify_iat": False},
            )
        except jwt.InvalidTokenError:
            raise unauthenticated("the token is not valid here: sign in for a new one") from None
        if claims["exp"] * 1000 <= self.clock():
            raise unauthenticated("the token has expired: refresh it or sign in again")
        return Caller(claims["sub"], str(claims.get("name", "")))


def bearer_token(metadata: dict[str, str]) -> str:
    """The token of 'authorization: Bearer ...' metadata; raises Unauthenticated if there is none."""
    scheme, _, token = metadata.get("authorization", "").partition(" ")
    if scheme.lower() != "bearer" or not token:
        raise unauthenticated("this call needs an access token: send it as 'authorization: Bearer ...' metadata")
    return token


def write_new_key_pair(private_path: Path, public_path: Path) -> None:
    """Make a key pair as PEM files, the private one readable by its owner only; a private key that is there stays.

    Raises SettingsError if that one cannot be read while its public key is to be written.
    """
    if private_path.exists() and public_path.exists():
        return
    if private_path.exists():
        key = load_private_key(private_path)
    else:
        key = Ed25519PrivateKey.generate()
        private_path.touch(mode=0o600)
        private_path.write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
    public_path.write_bytes(key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo))


def load_private_key(path: Path) -> Ed25519PrivateKey:
    """Read a PEM file; raises SettingsError saying what is wrong with it, never what is in it."""
    try:
        key = load_pem_private_key(path.read_bytes(), password=None)
    except (OSError, ValueError, TypeError):
        raise SettingsError(f"{path} cannot be read as an Ed25519 private key in PEM form without password") from None
    if not isinstance(key, Ed25519PrivateKey):
        raise SettingsError(f"{path} holds another kind of key than Ed25519")
    return key


def load_public_key(path: Path) -> Ed25519PublicKey:
    """Read a PEM file; raises SettingsError saying what is wrong with it."""
    try:
        key = load_pem_public_key(path.read_bytes())
    except (OSError, ValueError, TypeError):
        raise SettingsError(f"{path} cannot be read as an Ed25519 public key in PEM form") from None
    if not isinstance(key, Ed25519PublicKey):
        raise SettingsError(f"{path} holds another kind of key than Ed25519")
    return key
