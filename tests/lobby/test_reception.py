"""Players sign in and stay signed in."""

from collections.abc import Callable
from dataclasses import replace

import pytest
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncEngine

from croupier.lobby.assembly import Lobby
from croupier.lobby.player_store import MOST_SIGN_INS
from croupier.lobby.players import checked_name, device_hash
from croupier.runtime.errors import MalformedRequest, Unauthenticated
from croupier.runtime.identity import PLAYER_AUDIENCE, Caller, TokenVerifier
from tests.lobby.fakes import FakeClock
from tests.lobby.house import House

SECRET = "a secret of sixteen or more"


@pytest.mark.parametrize(
    ("check", "text", "field"),
    [
        *((device_hash, secret, "device_secret") for secret in ("", "fifteen letters", "x" * 257)),
        *((checked_name, name, "name") for name in ("x" * 33, "new\nline", "null\0", "bidi \u202e", "zero\u200bwidth")),
    ],
)
def test_what_is_no_secret_or_name_is_refused(check: Callable[[str], str], text: str, field: str) -> None:
    with pytest.raises(MalformedRequest) as refusal:
        check(text)
    assert refusal.value.field == field
    assert check is checked_name or not text or text not in refusal.value.message


def test_secrets_of_the_lengths_at_both_ends_are_taken() -> None:
    assert device_hash("x" * 16) != device_hash("x" * 256)


@pytest.mark.parametrize(("name", "shown"), [("  Ada ", "Ada"), ("x" * 32, "x" * 32), ("Åse 🂡", "Åse 🂡"), (" ", "")])
def test_names_are_trimmed(name: str, shown: str) -> None:
    assert checked_name(name) == shown


async def test_a_secret_is_one_player_whose_name_can_be_changed_and_is_never_empty(lobby: Lobby) -> None:
    nameless, _, is_first_new = await lobby.reception.sign_in(SECRET, "")
    assert nameless.name == f"Guest {nameless.player_id[:4]}"
    await lobby.reception.sign_in(SECRET, "Grace")
    again, _, is_new = await lobby.reception.sign_in(SECRET, "")
    assert (again, is_first_new, is_new) == (replace(nameless, name="Grace"), True, False)
    other, _, _ = await lobby.reception.sign_in(SECRET + "!", "Ada")
    assert other.player_id != nameless.player_id


async def test_the_access_token_says_who_the_player_is_until_it_ends(house: House, clock: FakeClock) -> None:
    async with house.lobby(access_token_seconds=900) as lobby:
        player, tokens, _ = await lobby.reception.sign_in(SECRET, "Ada")
    verifier = TokenVerifier(house.key.public_key(), PLAYER_AUDIENCE, clock)
    assert verifier.verify(tokens.access_token) == Caller(player.player_id, "Ada")
    assert tokens.access_expires_milliseconds == clock.now + 900_000
    clock.advance(900)
    with pytest.raises(Unauthenticated, match="expired"):
        verifier.verify(tokens.access_token)


async def test_refresh_tokens_follow_each_other_also_after_a_restart(house: House) -> None:
    async with house.lobby() as lobby:
        _, tokens, _ = await lobby.reception.sign_in(SECRET, "Ada")
    async with house.lobby() as lobby:
        second = await lobby.reception.refresh(tokens.refresh_token)
        third = await lobby.reception.refresh(second.refresh_token)
    assert len({tokens.refresh_token, second.refresh_token, third.refresh_token}) == 3


async def test_a_used_refresh_token_ends_its_family_but_no_other(lobby: Lobby) -> None:
    _, stolen, _ = await lobby.reception.sign_in(SECRET, "Ada")
    _, other, _ = await lobby.reception.sign_in(SECRET, "Ada")
    fresh = await lobby.reception.refresh(stolen.refresh_token)
    for token in (stolen.refresh_token, fresh.refresh_token):
        with pytest.raises(Unauthenticated) as refusal:
            await lobby.reception.refresh(token)
        assert refusal.value.reason == "REFRESH_TOKEN"
    await lobby.reception.refresh(other.refresh_token)


@pytest.mark.parametrize("token", ["", "nonsense", ".", "a.b", "x." + "y" * 500, "\0.\0"])
async def test_tokens_that_were_never_given_are_refused(lobby: Lobby, token: str) -> None:
    with pytest.raises(Unauthenticated):
        await lobby.reception.refresh(token)


async def test_a_refresh_token_ends_in_time(house: House, clock: FakeClock) -> None:
    async with house.lobby(refresh_token_seconds=100) as lobby:
        _, tokens, _ = await lobby.reception.sign_in(SECRET, "Ada")
        assert tokens.refresh_expires_milliseconds == clock.now + 100_000
        clock.advance(100)
        with pytest.raises(Unauthenticated):
            await lobby.reception.refresh(tokens.refresh_token)


async def test_sign_ins_of_a_player_are_bounded_and_the_oldest_ends(
    lobby: Lobby, clock: FakeClock, database: AsyncEngine
) -> None:
    _, oldest, _ = await lobby.reception.sign_in(SECRET, "Ada")
    for _ in range(MOST_SIGN_INS):
        clock.advance(1)
        _, newest, _ = await lobby.reception.sign_in(SECRET, "Ada")
    async with database.connect() as connection:
        assert (await connection.execute(text("SELECT count(*) FROM lobby_sign_ins"))).scalar() == MOST_SIGN_INS
    with pytest.raises(Unauthenticated):
        await lobby.reception.refresh(oldest.refresh_token)
    await lobby.reception.refresh(newest.refresh_token)


async def test_no_secret_is_stored(lobby: Lobby, database: AsyncEngine) -> None:
    _, tokens, _ = await lobby.reception.sign_in(SECRET, "Ada")
    async with database.connect() as connection:
        rows = [
            str(row)
            for name in ("lobby_players", "lobby_sign_ins")
            for row in await connection.execute(text(f"SELECT * FROM {name}"))  # noqa: S608 - names of ours
        ]
    assert len(rows) == 2
    assert SECRET not in "".join(rows)
    assert tokens.refresh_token.partition(".")[2] not in "".join(rows)
