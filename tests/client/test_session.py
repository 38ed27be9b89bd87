"""When a session needs care, and what goes with a call."""

import pytest

from croupier_api.v1 import lobby_pb2
from croupier_client.session import Session, call_metadata

MARGIN = 1000


def session_with(access_ends: int, refresh_ends: int) -> Session:
    tokens = lobby_pb2.Tokens(
        access_token="access",
        access_expires_milliseconds=access_ends,
        refresh_token="refresh",
        refresh_expires_milliseconds=refresh_ends,
    )
    answer = lobby_pb2.SignInResponse(player=lobby_pb2.Player(player_id="p", name="Kari"), tokens=tokens)
    return Session("secret", "Kari", margin_milliseconds=MARGIN).signed_in(answer)


def test_new_session_needs_sign_in() -> None:
    session = Session("secret", "Kari")
    assert session.needs_sign_in(0)
    assert not session.needs_refresh(0)
    assert session.sign_in_call().request == lobby_pb2.SignInRequest(device_secret="secret", name="Kari")
    assert session.access_token == ""


@pytest.mark.parametrize(
    ("now", "refresh", "sign_in"),
    [
        (0, False, False),
        (10_000 - MARGIN - 1, False, False),
        (10_000 - MARGIN, True, False),
        (50_000 - MARGIN - 1, True, False),
        (50_000 - MARGIN, False, True),
        (90_000, False, True),
    ],
)
def test_tokens_are_exchanged_before_they_end(now: int, refresh: bool, sign_in: bool) -> None:
    session = session_with(10_000, 50_000)
    assert (session.needs_refresh(now), session.needs_sign_in(now)) == (refresh, sign_in)


def test_access_token_may_outlive_the_refresh_token() -> None:
    session = session_with(10_000, 0)
    assert (session.needs_refresh(5000), session.needs_sign_in(5000)) == (False, False)


def test_rejected_token_is_exchanged_at_once() -> None:
    session = session_with(10_000, 50_000).rejected("access")
    assert (session.needs_refresh(0), session.needs_sign_in(0)) == (True, False)
    assert session.access_token == ""
    assert session.refresh_call().request == lobby_pb2.RefreshTokenRequest(refresh_token="refresh")


def test_rejection_of_an_older_token_means_nothing() -> None:
    session = session_with(10_000, 50_000)
    assert session.rejected("the one before") == session


def test_refresh_brings_new_tokens_and_keeps_the_player() -> None:
    tokens = lobby_pb2.Tokens(access_token="new", access_expires_milliseconds=99_000)
    session = session_with(0, 50_000).refreshed(lobby_pb2.RefreshTokenResponse(tokens=tokens))
    assert session.access_token == "new"
    assert session.player == lobby_pb2.Player(player_id="p", name="Kari")
    assert not session.needs_refresh(20_000)


def test_after_a_failed_refresh_the_device_secret_is_next() -> None:
    session = session_with(0, 50_000).refresh_failed()
    assert (session.needs_refresh(0), session.needs_sign_in(0)) == (False, True)


def test_secrets_are_not_in_the_text_of_a_session() -> None:
    text = repr(session_with(0, 0))
    assert "secret" not in text
    assert "access" not in text
    assert "Kari" in text


def test_metadata() -> None:
    assert call_metadata(access_token="a", table_id="t", request_id="r") == (
        ("authorization", "Bearer a"),
        ("x-table-id", "t"),
        ("x-request-id", "r"),
    )
    assert call_metadata(access_token="", table_id="", request_id="r") == (("x-request-id", "r"),)
