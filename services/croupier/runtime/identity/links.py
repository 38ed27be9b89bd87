"""Links, by which players without a seat watch a table or read its replay.

A link is a signed token of the engine, whose subject is the table and whose name is the purpose. Nothing is stored, so
a link is valid until it expires or the engine's key changes.
"""

from dataclasses import dataclass

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from croupier.runtime.errors import MalformedRequest, Unauthenticated
from croupier.runtime.identity.tokens import Clock, TokenIssuer, TokenVerifier
from croupier.runtime.table_access import LinkPurpose, unknown_table
from croupier_api.v1 import errors_pb2

LINK_AUDIENCE = "croupier-link"
DAY_SECONDS = 86_400


class LinkVerifier:
    """Verifies the links of engines."""

    def __init__(self, key: Ed25519PublicKey, clock: Clock) -> None:
        self._tokens = TokenVerifier(key, LINK_AUDIENCE, clock)

    def purpose_of(self, link: str, table_id: str) -> LinkPurpose | None:
        """Return the purpose of a link to a table, None for an empty one.

        Raises MalformedRequest if the link is malformed or expired, NotFound if it is to another table.
        """
        if not link:
            return None
        try:
            claims = self._tokens.verify(link)
        except Unauthenticated:
            raise MalformedRequest(
                errors_pb2.ERROR_REASON_INVALID_LINK,
                "invalid link: expected one of CreateLink that has not expired",
                field="link",
            ) from None
        if claims.id != table_id:
            raise unknown_table()
        return LinkPurpose(claims.name)


@dataclass(frozen=True, slots=True)
class Links:
    """Issues and verifies links."""

    issuer: TokenIssuer
    verifier: LinkVerifier

    def issue(self, table_id: str, purpose: LinkPurpose) -> tuple[str, int]:
        """Return a link and the time of its expiry, in milliseconds since 1970 UTC."""
        return self.issuer.issue(table_id, purpose)


def links_by(key: Ed25519PrivateKey, lifetime_days: int, clock: Clock) -> Links:
    """Return the links of an engine with this key."""
    issuer = TokenIssuer(key, LINK_AUDIENCE, lifetime_days * DAY_SECONDS, clock)
    return Links(issuer, LinkVerifier(key.public_key(), clock))
