"""Page tokens: cursors of listings, bound to their query."""

import base64
import binascii
import hashlib
import json
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Protocol, TypeAlias, TypeVar

from croupier.runtime.admission.costs import HIDDEN_PAGE_COST
from croupier.runtime.errors import MalformedRequest
from croupier_api.v1 import errors_pb2

Row = TypeVar("Row")
Cursor: TypeAlias = tuple[int, str]
"""The time and the id of a row, by which a listing is ordered."""
DEFAULT_PAGE_SIZE = 50
MAX_INTEGER = 2**63 - 1


class PageRequest(Protocol):
    """The fields by which every request for a listing names a page."""

    page_size: int
    page_token: str


def page_size(request: PageRequest) -> int:
    """Return the size of the page that a request asks for."""
    return request.page_size or DEFAULT_PAGE_SIZE


def encode_page_token(query: tuple[Any, ...], cursor: list[Any]) -> str:
    """Return the token of the page after `cursor` in the listing of a query; both are JSON values."""
    return base64.urlsafe_b64encode(json.dumps([_fingerprint(query), cursor]).encode()).decode()


def decode_page_token(query: tuple[Any, ...], token: str, kinds: tuple[type, ...]) -> list[Any] | None:
    """Return the cursor of a token, whose parts have these types; None for the first page.

    Raises MalformedRequest for a token of another listing.
    """
    if not token:
        return None
    try:
        fingerprint, cursor = json.loads(base64.urlsafe_b64decode(token.encode()))
        fits = fingerprint == _fingerprint(query) and all(
            _is_plausible(part, kind) for part, kind in zip(cursor, kinds, strict=True)
        )
    except (ValueError, TypeError, RecursionError, binascii.Error):
        fits = False
    if not fits:
        raise invalid_page_token()
    return list(cursor)


async def read_page(
    query: tuple[Any, ...],
    request: PageRequest,
    read: Callable[[Cursor | None, int], Awaitable[Sequence[Row]]],
    is_shown: Callable[[Row], bool],
    cursor_of: Callable[[Row], Cursor],
    owe: Callable[[int], None],
) -> tuple[list[Row], str]:
    """Return a page of the rows of a listing that its caller may see, and the token of the next page or an empty text.

    A page token is the cursor of the last row, so that it names no row that is hidden from the caller. As long as rows
    are hidden, it reads on, for a surcharge that it passes to `owe`. Raises MalformedRequest.
    """
    size = page_size(request)
    cursor = decode_page_token(query, request.page_token, (int, str))
    after = (cursor[0], cursor[1]) if cursor else None
    shown: list[Row] = []
    # One row more than the page, to know whether there is another page.
    while True:
        rows = await read(after, size + 1)
        shown += filter(is_shown, rows)
        if len(shown) > size or len(rows) <= size:
            break
        after = cursor_of(rows[-1])
        owe(HIDDEN_PAGE_COST)
    token = encode_page_token(query, list(cursor_of(shown[size - 1]))) if len(shown) > size else ""
    return shown[:size], token


def invalid_page_token() -> MalformedRequest:
    """Return the error of a token that this listing did not issue."""
    return MalformedRequest(
        errors_pb2.ERROR_REASON_INVALID_PAGE_TOKEN,
        "invalid page_token: expected a token that this listing returned for the same filters",
        field="page_token",
    )


def _is_plausible(part: object, kind: type) -> bool:
    # A token can be forged: the database has to accept its values as parameters.
    if isinstance(part, str):
        return kind is str and part.isascii() and part.isprintable()
    return type(part) is kind and isinstance(part, int) and abs(part) <= MAX_INTEGER


def _fingerprint(query: tuple[Any, ...]) -> str:
    return hashlib.sha256(json.dumps(query).encode()).hexdigest()[:16]
