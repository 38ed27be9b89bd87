"""Players sign in, and refresh tokens keep them signed in."""

from dataclasses import replace

import pytest

from croupier.lobby.accounts.players import hash_device_secret
from croupier.lobby.assembly import Lobby
from croupier.lobby.storage.player_store import MAX_SIGN_INS
from croupier.runtime.database.database import Database
from croupier.runtime.errors import MalformedRequest, Unauthenticated
from croupier.runtime.identity.tokens import PLAYER_AUDIENCE, Caller, TokenVerifier
from tests.databases import execute
from tests.lobby.fakes import FakeClock, LobbyDeployment

SECRET = "a secret of sixteen or more"


@pytest.mark.parametrize(
    "secret", ["", "fifteen letters", "a" * 16, "abab" * 8, "0123456" * 4, "secret" * 3, "\u3164" * 16]
)
def test_secrets_that_cannot_be_random_are_refused(secret: str) -> None:
    with pytest.raises(MalformedRequest) as refusal:
        hash_device_secret(secret)
    assert refusal.value.field == "device_secret"
    assert not secret or secret not in refusal.value.message
    assert "openssl rand" in refusal.value.message


def test_a_secret_of_the_minimum_length_is_accepted() -> None:
    assert hash_device_secret("01234567" * 2) != hash_device_secret("01234567" * 32)


async def test_a_secret_is_one_player_whose_name_can_be_changed_and_is_never_empty(lobby: Lobby) -> None:
    nameless, _, is_first_new = await lobby.auth.sign_in(SECRET, "")
    assert nameless.name == f"Guest {nameless.player_id[:4]}"
    await lobby.auth.sign_in(SECRET, "Grace")
    again, _, is_new = await lobby.auth.sign_in(SECRET, "")
    assert (again, is_first_new, is_new) == (replace(nameless, name="Grace"), True, False)
    other, _, _ = await lobby.auth.sign_in(SECRET + "!", "Ada")
    assert other.player_id != nameless.player_id


async def test_the_access_token_identifies_the_player_until_it_expires(
    deployment: LobbyDeployment, clock: FakeClock
) -> None:
    async with deployment.lobby(access_token_seconds=900) as lobby:
        player, tokens, _ = await lobby.auth.sign_in(SECRET, "Ada")
    verifier = TokenVerifier(deployment.key.public_key(), PLAYER_AUDIENCE, clock)
    expires = clock.now + 900_000
    assert verifier.verify(tokens.access_token) == Caller(player.player_id, "", expires_at=expires)
    assert tokens.access_seconds == 900
    clock.advance(900)
    with pytest.raises(Unauthenticated, match="expired"):
        verifier.verify(tokens.access_token)


async def test_refresh_tokens_follow_each_other_also_after_a_restart(deployment: LobbyDeployment) -> None:
    async with deployment.lobby() as lobby:
        _, tokens, _ = await lobby.auth.sign_in(SECRET, "Ada")
    async with deployment.lobby() as lobby:
        _, second = await lobby.auth.refresh(tokens.refresh_token)
        _, third = await lobby.auth.refresh(second.refresh_token)
    assert len({tokens.refresh_token, second.refresh_token, third.refresh_token}) == 3


async def test_a_used_refresh_token_ends_its_family_but_no_other(lobby: Lobby) -> None:
    _, stolen, _ = await lobby.auth.sign_in(SECRET, "Ada")
    _, other, _ = await lobby.auth.sign_in(SECRET, "Ada")
    _, fresh = await lobby.auth.refresh(stolen.refresh_token)
    for token in (stolen.refresh_token, fresh.refresh_token):
        with pytest.raises(Unauthenticated) as refusal:
            await lobby.auth.refresh(token)
        assert refusal.value.reason_name == "INVALID_REFRESH_TOKEN"
    await lobby.auth.refresh(other.refresh_token)


@pytest.mark.parametrize("token", ["", "nonsense", ".", "a.b", "x." + "y" * 500, "\0.\0"])
async def test_tokens_that_were_never_issued_are_refused(lobby: Lobby, token: str) -> None:
    with pytest.raises(Unauthenticated):
        await lobby.auth.refresh(token)


async def test_a_refresh_token_expires(deployment: LobbyDeployment, clock: FakeClock) -> None:
    async with deployment.lobby(refresh_token_seconds=100) as lobby:
        _, tokens, _ = await lobby.auth.sign_in(SECRET, "Ada")
        assert tokens.refresh_seconds == 100
        clock.advance(100)
        with pytest.raises(Unauthenticated):
            await lobby.auth.refresh(tokens.refresh_token)


async def test_sign_ins_of_a_player_are_limited_and_the_oldest_ends(
    lobby: Lobby, clock: FakeClock, database: Database
) -> None:
    _, oldest, _ = await lobby.auth.sign_in(SECRET, "Ada")
    for _ in range(MAX_SIGN_INS):
        clock.advance(1)
        _, newest, _ = await lobby.auth.sign_in(SECRET, "Ada")
    assert await execute(database, "SELECT count(*) FROM lobby_sign_ins") == [(MAX_SIGN_INS,)]
    with pytest.raises(Unauthenticated):
        await lobby.auth.refresh(oldest.refresh_token)
    await lobby.auth.refresh(newest.refresh_token)


async def test_no_secret_is_stored(lobby: Lobby, database: Database) -> None:
    _, tokens, _ = await lobby.auth.sign_in(SECRET, "Ada")
    rows = [
        str(row)
        for name in ("lobby_players", "lobby_sign_ins")
        for row in await execute(database, f"SELECT * FROM {name}")  # noqa: S608 - names of ours
    ]
    assert len(rows) == 2
    assert SECRET not in "".join(rows)
    assert tokens.refresh_token.partition(".")[2] not in "".join(rows)
