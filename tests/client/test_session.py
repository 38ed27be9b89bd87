"""Sign-in and refresh of a session."""

import pytest

from croupier_api.v1 import lobby_pb2
from croupier_client.session import MARGIN_MILLISECONDS as MARGIN
from croupier_client.session import Session


def session_with(access_ends: int, refresh_ends: int) -> Session:
    tokens = lobby_pb2.Tokens(access_token="access", refresh_token="refresh")
    tokens.access_expiry_time.FromMilliseconds(access_ends)
    tokens.refresh_expiry_time.FromMilliseconds(refresh_ends)
    answer = lobby_pb2.SignInResponse(player=lobby_pb2.Player(player_id="p", name="Kari"), tokens=tokens)
    return Session("secret", "Kari").signed_in(answer)


def test_new_session_needs_sign_in() -> None:
    session = Session("secret", "Kari")
    assert session.needs_sign_in(0)
    assert not session.needs_refresh(0)
    assert session.sign_in_rpc().request == lobby_pb2.SignInRequest(device_secret="secret", name="Kari")
    assert session.access_token == ""


@pytest.mark.parametrize(
    ("refresh_ends", "now", "refresh", "sign_in"),
    [
        (500_000, 0, False, False),
        (500_000, 100_000 - MARGIN - 1, False, False),
        (500_000, 100_000 - MARGIN, True, False),
        (500_000, 500_000 - MARGIN - 1, True, False),
        (500_000, 500_000 - MARGIN, False, True),
        (500_000, 900_000, False, True),
        (0, 50_000, False, False),
    ],
)
def test_tokens_are_refreshed_before_they_expire(refresh_ends: int, now: int, refresh: bool, sign_in: bool) -> None:
    session = session_with(100_000, refresh_ends)
    assert (session.needs_refresh(now), session.needs_sign_in(now)) == (refresh, sign_in)


def test_rejection_of_an_older_token_is_ignored() -> None:
    session = session_with(100_000, 500_000)
    assert session.rejected("the one before") == session
    assert session.rejected("access").needs_refresh(0)


def test_secrets_are_not_in_the_text_of_a_session() -> None:
    text = repr(session_with(0, 0))
    assert "secret" not in text
    assert "access" not in text
    assert "Kari" in text
