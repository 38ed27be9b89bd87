"""Page tokens continue a listing, and forged ones are refused."""

import base64

import pytest

from croupier.runtime.admission.costs import HIDDEN_PAGE_COST
from croupier.runtime.errors import MalformedRequest
from croupier.runtime.paging import Cursor, decode_page_token, encode_page_token, page_size, read_page
from croupier_api.v1 import lobby_pb2 as pb

QUERY = ("tables", "thulla", 1)
KINDS = (int, str)


def test_a_token_returns_its_cursor() -> None:
    token = encode_page_token(QUERY, [-5, "a"])
    assert decode_page_token(QUERY, token, KINDS) == [-5, "a"]
    assert decode_page_token(QUERY, "", KINDS) is None


@pytest.mark.parametrize(
    "token",
    [
        "nonsense",
        "é",
        "A",
        "W10=",
        base64.urlsafe_b64encode(b"[" * 700).decode(),
        base64.urlsafe_b64encode(b"\xff\xfe").decode(),
        base64.urlsafe_b64encode(b"{}").decode(),
        encode_page_token(("tables", "solo", 1), [1, "a"]),
        encode_page_token(QUERY, [1]),
        encode_page_token(QUERY, [1, "a", 2]),
        encode_page_token(QUERY, ["1", "a"]),
        encode_page_token(QUERY, [True, "a"]),
        encode_page_token(QUERY, [1.5, "a"]),
        encode_page_token(QUERY, [None, "a"]),
        encode_page_token(QUERY, [2**63, "a"]),
        encode_page_token(QUERY, [1, "\ud800"]),
        encode_page_token(QUERY, [1, "\0"]),
        encode_page_token(QUERY, {"1": 1, "2": 2}),  # type: ignore[arg-type]
        encode_page_token(QUERY, 7),  # type: ignore[arg-type]
    ],
)
def test_a_token_that_the_listing_did_not_issue_is_refused(token: str) -> None:
    with pytest.raises(MalformedRequest) as refusal:
        decode_page_token(QUERY, token, KINDS)
    assert (refusal.value.reason_name, refusal.value.field) == ("INVALID_PAGE_TOKEN", "page_token")


def test_a_page_has_fifty_rows_by_default() -> None:
    assert [page_size(pb.ListTablesRequest(page_size=asked)) for asked in (0, 1, 100)] == [50, 1, 100]


async def test_a_page_has_the_rows_that_are_shown_and_its_token_names_no_other() -> None:
    rows = [(number, f"row {number}") for number in reversed(range(6))]
    hidden, owed = {0, 2, 3}, list[int]()
    request, pages = pb.ListTablesRequest(page_size=1), list[list[int]]()

    async def read(after: Cursor | None, limit: int) -> list[Cursor]:
        return [row for row in rows if after is None or row < after][:limit]

    while not pages or request.page_token:
        page, request.page_token = await read_page(
            QUERY, request, read, lambda row: row[0] not in hidden, lambda row: row, owed.append
        )
        pages.append([number for number, _ in page])
        named = base64.urlsafe_b64decode(request.page_token)
        assert not any(f"row {number}".encode() in named for number in hidden)
    assert pages == [[5], [4], [1]]
    assert owed == [HIDDEN_PAGE_COST] * 3
