"""Page tokens go on where a listing ended, and cannot be turned against it."""

import base64
import json
from typing import Any

import pytest

from croupier.runtime import paging
from croupier.runtime.errors import MalformedRequest
from croupier.runtime.paging import page_size, read_page_token, write_page_token

QUERY = ("tables", "thulla", 1)
KINDS = (int, str)


def forged(cursor: Any, query: tuple[Any, ...] = QUERY) -> str:
    return base64.urlsafe_b64encode(json.dumps([paging._fingerprint(query), cursor]).encode()).decode()


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
        forged([1]),
        forged([1, "a", 2]),
        forged(["1", "a"]),
        forged([True, "a"]),
        forged([1.5, "a"]),
        forged([None, "a"]),
        forged([2**63, "a"]),
        forged([1, "\ud800"]),
        forged([1, "\0"]),
        forged([1, "a" * 2000]),
        forged({"1": 1, "2": 2}),
        forged(7),
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
