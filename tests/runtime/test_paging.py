"""Page tokens go on where a listing ended, and cannot be turned against it."""

import base64

import pytest

from croupier.runtime.errors import MalformedRequest
from croupier.runtime.paging import page_size, read_page_token, write_page_token

QUERY = ("tables", "thulla", 1)
KINDS = (int, str)


def test_a_token_gives_its_cursor_back() -> None:
    token = write_page_token(QUERY, [-5, "a"])
    assert read_page_token(QUERY, token, KINDS) == [-5, "a"]
    assert read_page_token(QUERY, "", KINDS) is None


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
        write_page_token(("tables", "solo", 1), [1, "a"]),
        write_page_token(QUERY, [1]),
        write_page_token(QUERY, [1, "a", 2]),
        write_page_token(QUERY, ["1", "a"]),
        write_page_token(QUERY, [True, "a"]),
        write_page_token(QUERY, [1.5, "a"]),
        write_page_token(QUERY, [None, "a"]),
        write_page_token(QUERY, [2**63, "a"]),
        write_page_token(QUERY, [1, "\ud800"]),
        write_page_token(QUERY, [1, "\0"]),
        write_page_token(QUERY, [1, "a" * 2000]),
        write_page_token(QUERY, {"1": 1, "2": 2}),  # type: ignore[arg-type]
        write_page_token(QUERY, 7),  # type: ignore[arg-type]
    ],
)
def test_a_token_that_the_listing_did_not_give_is_refused(token: str) -> None:
    with pytest.raises(MalformedRequest) as refusal:
        read_page_token(QUERY, token, KINDS)
    assert (refusal.value.reason, refusal.value.field) == ("PAGE_TOKEN", "page_token")


@pytest.mark.parametrize(("asked", "given"), [(0, 50), (1, 1), (100, 100)])
def test_page_sizes(asked: int, given: int) -> None:
    assert page_size(asked) == given


def test_a_page_that_is_too_large_is_refused() -> None:
    with pytest.raises(MalformedRequest) as refusal:
        page_size(101)
    assert refusal.value.field == "page_size"
