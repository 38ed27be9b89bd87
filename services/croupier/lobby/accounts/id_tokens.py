"""ID tokens of the app's identity provider, by OpenID Connect: who signed in there, for this app (docs/decisions/0033).

Whether the token answers a request of this device (its `nonce`) is checked by the app, which made the request.
"""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any

import jwt

from croupier.lobby.accounts.players import hash_secret
from croupier.lobby.accounts.provider_keys import ALGORITHMS, ProviderKeys
from croupier.runtime.errors import Unauthenticated
from croupier_api.v1 import errors_pb2

MAX_KEY_ID_CHARACTERS = 256
MAX_SUBJECT_CHARACTERS = 255
"""As OpenID Connect limits it, in ASCII."""
LEEWAY_SECONDS = 60
"""By which the clocks of provider and lobby may differ."""
MAX_SECONDS = 1e12

# The claims are checked here, each by its name, and the times by the clock of the lobby.
_SIGNATURE_ONLY: Any = {
    "verify_signature": True,
    **{f"verify_{claim}": False for claim in ("aud", "exp", "iat", "iss", "jti", "nbf", "sub")},
}


@dataclass(frozen=True, slots=True)
class IdTokenVerifier:
    """Verifies ID tokens of one issuer for the client ids of one app."""

    issuer: str
    audiences: Collection[str]
    keys: ProviderKeys
    clock: Callable[[], int]

    async def verify(self, token: str) -> str:
        """Return the hash of issuer and subject, the identity.

        Raises Unauthenticated with the wrong claim, Unavailable if keys cannot be read.
        """
        key = await self.keys.get(_key_id(token))
        if key is None:
            raise invalid_id_token("kid", "the identity provider has no such key")
        claims = _signed_claims(token, key)
        self._check_parties(claims)
        self._check_times(claims)
        subject = claims.get("sub")
        if not isinstance(subject, str) or not 1 <= len(subject) <= MAX_SUBJECT_CHARACTERS or not subject.isascii():
            raise invalid_id_token("sub", f"expected 1 to {MAX_SUBJECT_CHARACTERS} ASCII characters")
        return hash_secret("identity", f"{self.issuer}\0{subject}")

    def _check_parties(self, claims: Mapping[str, Any]) -> None:
        if claims.get("iss") != self.issuer:
            raise invalid_id_token("iss", "it is of another issuer")
        audience = claims.get("aud")
        audiences = audience if isinstance(audience, list) else [audience]
        if not audiences or not all(isinstance(each, str) and each in self.audiences for each in audiences):
            raise invalid_id_token("aud", "it is for another audience")
        authorized = claims.get("azp")
        if authorized is None and len(audiences) == 1:
            return
        if not isinstance(authorized, str) or authorized not in self.audiences:
            raise invalid_id_token("azp", "the client to which it was issued is not one of the audience")

    def _check_times(self, claims: Mapping[str, Any]) -> None:
        now = self.clock() / 1000
        if _time(claims, "exp") <= now - LEEWAY_SECONDS:
            raise invalid_id_token("exp", "it is expired")
        begins = ["iat", "nbf"] if "nbf" in claims else ["iat"]
        for claim in begins:
            if _time(claims, claim) > now + LEEWAY_SECONDS:
                raise invalid_id_token(claim, "it is not valid yet")


def invalid_id_token(claim: str, why: str) -> Unauthenticated:
    """Return the refusal of a token, whose `claim` is wrong, or the token as a whole if it is empty."""
    return Unauthenticated(
        errors_pb2.ERROR_REASON_INVALID_ID_TOKEN,
        f"invalid id_token{f', {claim}' if claim else ''}: {why}",
        field="id_token",
        metadata={"claim": claim} if claim else {},
    )


def _key_id(token: str) -> str:
    """Return the id of the key that a token names; checks what costs little before the signature."""
    try:
        header = jwt.get_unverified_header(token)
    except jwt.InvalidTokenError:
        raise invalid_id_token("", "expected a signed JWT") from None
    if header.get("alg") not in ALGORITHMS:
        raise invalid_id_token("alg", f"expected one of {', '.join(ALGORITHMS)}")
    if str(header.get("typ", "JWT")).upper() != "JWT":
        raise invalid_id_token("typ", "expected JWT: it is no ID token, but an access token or another one")
    key_id = header.get("kid")
    if not isinstance(key_id, str) or not 1 <= len(key_id) <= MAX_KEY_ID_CHARACTERS:
        raise invalid_id_token("kid", f"expected 1 to {MAX_KEY_ID_CHARACTERS} characters")
    return key_id


def _signed_claims(token: str, key: jwt.PyJWK) -> Mapping[str, Any]:
    try:
        return jwt.decode(token, key, algorithms=list(ALGORITHMS), options=_SIGNATURE_ONLY)
    except jwt.InvalidTokenError:
        raise invalid_id_token("signature", "it was not signed by the key that it names") from None


def _time(claims: Mapping[str, Any], claim: str) -> float:
    """Return a claim in seconds since 1970 UTC."""
    seconds = claims.get(claim)
    if isinstance(seconds, bool) or not isinstance(seconds, int | float) or not 0 <= seconds < MAX_SECONDS:
        raise invalid_id_token(claim, "expected seconds since 1970 UTC")
    return seconds
