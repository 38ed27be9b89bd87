"""Sign-in and refresh of a session."""

import pickle

from google.protobuf.duration_pb2 import Duration

from croupier_api.v1 import lobby_pb2
from croupier_client.session import Session


def signed_in_session() -> Session:
    tokens = lobby_pb2.Tokens(access_token="access", access_lifetime=Duration(seconds=900), refresh_token="refresh")
    answer = lobby_pb2.SignInResponse(player=lobby_pb2.Player(player_id="p", name="Kari"), tokens=tokens)
    return Session("secret", "Kari").signed_in(answer)


def test_a_token_is_used_until_it_is_refused_also_after_it_was_stored() -> None:
    session = pickle.loads(pickle.dumps(signed_in_session()))  # noqa: S301 - it is this test's own
    assert (session.needs_refresh, session.needs_sign_in, session.access_token) == (False, False, "access")
    refused = session.rejected("access")
    assert (refused.needs_refresh, refused.needs_sign_in) == (True, False)
    assert refused.refresh_rpc().request == lobby_pb2.RefreshTokenRequest(refresh_token="refresh")
    assert refused.refresh_failed().needs_sign_in


def test_rejection_of_an_older_token_is_ignored() -> None:
    session = signed_in_session()
    assert session.rejected("the one before") == session


def test_secrets_are_not_in_the_text_of_a_session() -> None:
    text = repr(signed_in_session())
    assert "secret" not in text
    assert "access" not in text
    assert "Kari" in text
