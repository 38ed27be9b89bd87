"""Own users: one player on all devices, guests who link their identity, and servers without guests."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from croupier.lobby.assembly import Lobby
from croupier.lobby.storage.device_store import MAX_DEVICES
from croupier.runtime.database.database import Database
from croupier.runtime.errors import AlreadyExists, IllegalNow, MalformedRequest, NotPermitted, Unauthenticated
from croupier_api.v1 import lobby_pb2 as pb
from tests.calls import call_of
from tests.databases import execute, on_both_databases
from tests.lobby.fakes import FakeClock, LobbyDeployment
from tests.lobby.id_tokens import SETTINGS, FakeProvider
from tests.lobby.test_devices import OTHER, PHONE, TABLET, refusal

DAY = 86_400


@pytest.fixture
def provider() -> FakeProvider:
    return FakeProvider()


@pytest.fixture
async def lobby(deployment: LobbyDeployment, provider: FakeProvider) -> AsyncIterator[Lobby]:
    deployment.provider_keys = provider.keys
    async with deployment.lobby(**SETTINGS) as lobby:
        yield lobby


async def sign_in(lobby: Lobby, **fields: str) -> pb.Player:
    return (await lobby.servicer.SignIn(pb.SignInRequest(**fields), call_of())).player


@on_both_databases
async def test_a_user_is_one_player_on_all_devices_and_without_any(
    lobby: Lobby, provider: FakeProvider, database: Database
) -> None:
    token = provider.token(name="Ada Lovelace")
    ada = await sign_in(lobby, id_token=token)
    # All who sit at a table see the name, so the app sends it, or the player has one of a guest.
    assert ada.name.startswith("Guest")
    for secret in (PHONE, TABLET, PHONE):
        assert await sign_in(lobby, id_token=token, device_secret=secret) == ada
    # From then on the devices sign in by themselves.
    assert await sign_in(lobby, device_secret=TABLET) == ada
    bob = await sign_in(lobby, id_token=provider.token("bob"), device_secret=OTHER, name="Bob")
    assert (bob.name, bob.player_id == ada.player_id) == ("Bob", False)
    assert await sign_in(lobby, id_token=token, name="Ada Lovelace") == pb.Player(
        player_id=ada.player_id, name="Ada Lovelace"
    )
    rows = await execute(database, "SELECT * FROM lobby_identities")
    assert len(rows) == 2
    assert "Ada" not in str(rows)


@on_both_databases
async def test_a_guest_links_an_identity_and_stays_the_same_player(lobby: Lobby, provider: FakeProvider) -> None:
    guest = await sign_in(lobby, device_secret=PHONE, name="Kari")
    for _ in range(2):
        linked = await sign_in(lobby, device_secret=PHONE, id_token=provider.token())
        assert linked == guest
    assert await sign_in(lobby, id_token=provider.token()) == guest
    assert await sign_in(lobby, id_token=provider.token(), device_secret=TABLET) == guest


async def test_players_are_never_merged(lobby: Lobby, provider: FakeProvider) -> None:
    ada, bob = provider.token("ada"), provider.token("bob")
    known = await sign_in(lobby, id_token=ada, device_secret=PHONE)
    guest = await sign_in(lobby, device_secret=TABLET)
    # The device of a guest, or of another user, and an identity that has a player, or none yet.
    assert await refusal(sign_in(lobby, id_token=ada, device_secret=TABLET), AlreadyExists) == "DEVICE_TAKEN"
    assert await refusal(sign_in(lobby, id_token=bob, device_secret=PHONE), AlreadyExists) == "DEVICE_TAKEN"
    await sign_in(lobby, id_token=bob)
    assert await refusal(sign_in(lobby, id_token=bob, device_secret=PHONE), AlreadyExists) == "DEVICE_TAKEN"
    assert await sign_in(lobby, id_token=ada) == await sign_in(lobby, device_secret=PHONE) == known
    assert await sign_in(lobby, device_secret=TABLET) == guest


@on_both_databases
async def test_of_sign_ins_at_once_one_makes_the_player(lobby: Lobby, provider: FakeProvider) -> None:
    calls = [sign_in(lobby, id_token=provider.token(), device_secret=secret) for secret in (PHONE, TABLET, PHONE)]
    players = await asyncio.gather(*calls)
    assert len({player.player_id for player in players}) == 1


@on_both_databases
async def test_of_two_users_who_link_a_guest_at_once_one_does(lobby: Lobby, provider: FakeProvider) -> None:
    guest = await sign_in(lobby, device_secret=PHONE)
    calls = [sign_in(lobby, device_secret=PHONE, id_token=provider.token(user)) for user in ("ada", "bob")]
    answers = await asyncio.gather(*calls, return_exceptions=True)
    assert sorted(type(answer).__name__ for answer in answers) == ["AlreadyExists", "Player"]
    assert guest in answers


async def test_the_devices_of_a_user_are_limited_and_the_token_alone_signs_them_in(
    lobby: Lobby, provider: FakeProvider
) -> None:
    for number in range(MAX_DEVICES):
        ada = await sign_in(lobby, id_token=provider.token(), device_secret=f"{PHONE} {number}")
    full = sign_in(lobby, id_token=provider.token(), device_secret=TABLET)
    assert await refusal(full, IllegalNow) == "TOO_MANY_DEVICES"
    player, tokens, _ = await lobby.auth.sign_in_by_id_token(provider.token(), "", "")
    assert player.player_id == ada.player_id
    await lobby.auth.sign_out(tokens.refresh_token, all_devices=True)
    assert await lobby.auth.devices.count(ada.player_id) == 0
    assert await sign_in(lobby, id_token=provider.token(), device_secret=TABLET) == ada


async def test_the_tokens_of_a_user_are_refreshed_without_the_provider(lobby: Lobby, provider: FakeProvider) -> None:
    player, tokens, is_new = await lobby.auth.sign_in_by_id_token(provider.token(), "", "Ada")
    assert is_new
    provider.failure = OSError("away")
    assert (await lobby.auth.refresh(tokens.refresh_token))[0] == player


@on_both_databases
async def test_a_deleted_user_leaves_no_identity_and_signs_in_as_a_new_player(
    lobby: Lobby, provider: FakeProvider, database: Database
) -> None:
    ada = await sign_in(lobby, id_token=provider.token(), device_secret=PHONE)
    await lobby.servicer.DeletePlayer(pb.DeletePlayerRequest(), call_of(ada.player_id))
    assert not await execute(database, "SELECT * FROM lobby_identities")
    assert (await sign_in(lobby, id_token=provider.token())).player_id != ada.player_id


async def test_a_user_who_never_played_is_kept(lobby: Lobby, provider: FakeProvider, clock: FakeClock) -> None:
    ada = await sign_in(lobby, id_token=provider.token(exp=clock() // 1000 + 3 * DAY))
    guest = await sign_in(lobby, device_secret=PHONE)
    clock.advance(2 * DAY)
    await lobby.housekeeper.delete_unplayed_guests()
    assert await sign_in(lobby, id_token=provider.token(exp=clock() // 1000 + DAY)) == ada
    assert (await sign_in(lobby, device_secret=PHONE)).player_id != guest.player_id


async def test_without_guests_a_player_needs_an_identity(deployment: LobbyDeployment, provider: FakeProvider) -> None:
    deployment.provider_keys = provider.keys
    async with deployment.lobby(**SETTINGS) as before:
        guest, guest_tokens, _ = await before.auth.sign_in(PHONE, "Kari")
        user, tokens, _ = await before.auth.sign_in_by_id_token(provider.token(), TABLET, "Ada")
        code = await before.auth.create_device_code(user.player_id)
    async with deployment.lobby(guests=False, **SETTINGS) as lobby:
        for refused in (
            sign_in(lobby, device_secret=PHONE),
            sign_in(lobby, device_secret=TABLET),
            sign_in(lobby, device_secret=OTHER, device_code=code),
            lobby.auth.refresh(guest_tokens.refresh_token),
        ):
            assert await refusal(refused, NotPermitted) == "GUESTS_NOT_ALLOWED"
        assert (await lobby.auth.refresh(tokens.refresh_token))[0] == user
        linked = await sign_in(lobby, device_secret=PHONE, id_token=provider.token("kari"))
        assert linked.player_id == guest.player_id


async def test_wrong_requests_change_nothing(lobby: Lobby, provider: FakeProvider, database: Database) -> None:
    token = provider.token()
    for fields in ({"device_code": "ABCD"}, {"device_secret": "short"}, {"name": "\n"}):
        assert await refusal(sign_in(lobby, id_token=token, **fields), MalformedRequest) == "INVALID_FIELD"
    invalid = sign_in(lobby, id_token=provider.token(aud="another"), device_secret=PHONE)
    assert await refusal(invalid, Unauthenticated) == "INVALID_ID_TOKEN"
    assert not await execute(database, "SELECT * FROM lobby_players")


async def test_a_lobby_without_a_provider_refuses_tokens(deployment: LobbyDeployment, provider: FakeProvider) -> None:
    async with deployment.lobby() as lobby:
        assert await refusal(sign_in(lobby, id_token=provider.token()), MalformedRequest) == "INVALID_FIELD"
