"""Page tokens continue a listing, and forged ones are refused."""

import base64

import pytest

from croupier.runtime.errors import MalformedRequest
from croupier.runtime.paging import decode_page_size, decode_page_token, encode_page_token

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
        encode_page_token(QUERY, [1, "a" * 2000]),
        encode_page_token(QUERY, {"1": 1, "2": 2}),  # type: ignore[arg-type]
        encode_page_token(QUERY, 7),  # type: ignore[arg-type]
    ],
)
def test_a_token_that_the_listing_did_not_issue_is_refused(token: str) -> None:
    with pytest.raises(MalformedRequest) as refusal:
        decode_page_token(QUERY, token, KINDS)
    assert (refusal.value.reason_name, refusal.value.field) == ("INVALID_PAGE_TOKEN", "page_token")


def test_a_page_has_fifty_rows_by_default_and_one_to_a_hundred() -> None:
    assert [decode_page_size(asked) for asked in (0, 1, 100)] == [50, 1, 100]
    with pytest.raises(MalformedRequest, match="invalid page_size 101: expected 1 to 100") as refusal:
        decode_page_size(101)
    assert refusal.value.field == "page_size"
