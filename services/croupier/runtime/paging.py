"""Page tokens: where a listing goes on, bound to what was asked for."""

import base64
import binascii
import hashlib
import json
from typing import Any

from croupier.runtime.errors import MalformedRequest

DEFAULT_PAGE_SIZE = 50
LARGEST_PAGE_SIZE = 100
LONGEST_PAGE_TOKEN = 1024
LARGEST_INTEGER = 2**63 - 1


def page_size(asked: int) -> int:
    """The size of a page; raises MalformedRequest beyond 100."""
    if asked > LARGEST_PAGE_SIZE:
        raise MalformedRequest(
            "PAGE_SIZE", f"page_size is {asked}: 1 to {LARGEST_PAGE_SIZE} is allowed", field="page_size"
        )
    return asked or DEFAULT_PAGE_SIZE


def write_page_token(query: tuple[Any, ...], cursor: list[Any]) -> str:
    """A token for the page after `cursor` of the listing that `query` describes; both JSON values."""
    return base64.urlsafe_b64encode(json.dumps([_fingerprint(query), cursor]).encode()).decode()


def read_page_token(query: tuple[Any, ...], token: str, kinds: tuple[type, ...]) -> list[Any] | None:
    """The cursor of a token, whose parts have these types; None for the first page.

    Raises MalformedRequest for a token that is not one of this listing.
    """
    if not token:
        return None
    try:
        fingerprint, cursor = json.loads(base64.urlsafe_b64decode(token[:LONGEST_PAGE_TOKEN].encode()))
        fits = fingerprint == _fingerprint(query) and all(
            _is_plausible(part, kind) for part, kind in zip(cursor, kinds, strict=True)
        )
    except (ValueError, TypeError, RecursionError, binascii.Error):
        fits = False
    if not fits:
        raise foreign_token()
    return list(cursor)


def foreign_token() -> MalformedRequest:
    """The refusal of a token that this listing did not give."""
    return MalformedRequest(
        "PAGE_TOKEN",
        "page_token is not one that this listing gave: repeat the call with the same filters, or without a token",
        field="page_token",
    )


def _is_plausible(part: object, kind: type) -> bool:
    # A token can be forged: what comes out of it must be something that a database can be asked.
    if isinstance(part, str):
        return kind is str and part.isprintable()
    return type(part) is kind and isinstance(part, int) and abs(part) <= LARGEST_INTEGER


def _fingerprint(query: tuple[Any, ...]) -> str:
    return hashlib.sha256(json.dumps(query).encode()).hexdigest()[:16]
