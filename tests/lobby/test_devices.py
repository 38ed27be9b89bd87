"""A player adds devices by codes, signs them out, and is renamed on all of them."""

import asyncio
from typing import Any

import pytest

from croupier.lobby.accounts.auth import DEVICE_CODE_LENGTH, DEVICE_CODE_SECONDS
from croupier.lobby.accounts.players import CODE_LETTERS
from croupier.lobby.api.servicer import WRONG_CODE_COST
from croupier.lobby.assembly import Lobby
from croupier.lobby.storage.device_store import MAX_DEVICES
from croupier.runtime.database.database import Database
from croupier.runtime.errors import AlreadyExists, IllegalNow, MalformedRequest, ServiceError, Unauthenticated
from croupier.runtime.identity.tokens import Caller
from croupier_api.v1 import lobby_pb2 as pb
from tests.calls import call_of
from tests.databases import execute, on_both_databases
from tests.lobby.fakes import FAR, NEAR, FakeClock, LobbyDeployment
from tests.lobby.test_limits import limit_of

PHONE, TABLET, OTHER = (f"the secret of the {name}" for name in ("phone", "tablet", "other phone"))


async def refusal(call: Any, kind: type[ServiceError]) -> str:
    with pytest.raises(kind) as refused:
        await call
    return refused.value.reason_name


async def added(lobby: Lobby, secret: str, player_id: str) -> str:
    """Add a device to a player by a new code; returns its refresh token."""
    code = await lobby.auth.create_device_code(player_id)
    player, tokens, _ = await lobby.auth.sign_in(secret, "", code)
    assert player.player_id == player_id
    return tokens.refresh_token


@on_both_databases
async def test_a_code_adds_a_device_once_and_a_repeated_call_has_the_same_effect(
    lobby: Lobby, database: Database
) -> None:
    ada, _, _ = await lobby.auth.sign_in(PHONE, "Ada")
    code = await lobby.auth.create_device_code(ada.player_id)
    assert len(code) == DEVICE_CODE_LENGTH
    assert set(code) <= set(CODE_LETTERS)
    for given in (code, code.lower(), f" {code} "):
        assert (await lobby.auth.sign_in(TABLET, "", given))[::2] == (ada, False)
    assert await refusal(lobby.auth.sign_in(OTHER, "", code), MalformedRequest) == "INVALID_DEVICE_CODE"
    assert (await lobby.auth.sign_in(TABLET, ""))[::2] == (ada, False)
    assert (await lobby.auth.sign_in(OTHER, ""))[2]
    rows = await execute(database, "SELECT code_hash, device_hash FROM lobby_device_codes, lobby_devices")
    assert len(rows) == 3
    assert not {code, PHONE, TABLET, OTHER} & {text for row in rows for text in row}


async def test_a_code_of_the_player_of_the_device_changes_nothing(lobby: Lobby) -> None:
    ada, _, _ = await lobby.auth.sign_in(PHONE, "Ada")
    code = await lobby.auth.create_device_code(ada.player_id)
    assert (await lobby.auth.sign_in(PHONE, "", code))[0] == ada
    assert await lobby.auth.devices.count(ada.player_id) == 1


async def test_a_device_of_another_player_is_not_moved(lobby: Lobby) -> None:
    ada, _, _ = await lobby.auth.sign_in(PHONE, "Ada")
    bob, _, _ = await lobby.auth.sign_in(OTHER, "Bob")
    code = await lobby.auth.create_device_code(ada.player_id)
    assert await refusal(lobby.auth.sign_in(OTHER, "Eve", code), AlreadyExists) == "DEVICE_TAKEN"
    assert (await lobby.auth.sign_in(OTHER, ""))[0] == bob
    # It was not used up.
    assert (await lobby.auth.sign_in(TABLET, "", code))[0] == ada


@on_both_databases
async def test_of_two_devices_that_use_a_code_at_once_one_is_added(lobby: Lobby) -> None:
    ada, _, _ = await lobby.auth.sign_in(PHONE, "Ada")
    code = await lobby.auth.create_device_code(ada.player_id)
    calls = (lobby.auth.sign_in(secret, "", code) for secret in (TABLET, OTHER))
    answers = await asyncio.gather(*calls, return_exceptions=True)
    assert sorted(type(answer).__name__ for answer in answers) == ["MalformedRequest", "tuple"]
    assert await lobby.auth.devices.count(ada.player_id) == 2


async def test_a_code_is_valid_for_ten_minutes_until_the_next_one(
    lobby: Lobby, clock: FakeClock, database: Database
) -> None:
    ada, _, _ = await lobby.auth.sign_in(PHONE, "Ada")
    first, second = [await lobby.auth.create_device_code(ada.player_id) for _ in range(2)]
    assert await refusal(lobby.auth.sign_in(TABLET, "", first), MalformedRequest) == "INVALID_DEVICE_CODE"
    clock.advance(DEVICE_CODE_SECONDS)
    assert await refusal(lobby.auth.sign_in(TABLET, "", second), MalformedRequest) == "INVALID_DEVICE_CODE"
    await lobby.housekeeper.delete_expired()
    assert not await execute(database, "SELECT * FROM lobby_device_codes")


async def test_the_devices_of_a_player_are_limited(lobby: Lobby) -> None:
    ada, _, _ = await lobby.auth.sign_in(PHONE, "Ada")
    for number in range(MAX_DEVICES - 2):
        await added(lobby, f"{TABLET} {number}", ada.player_id)
    code = await lobby.auth.create_device_code(ada.player_id)
    await added(lobby, TABLET, ada.player_id)
    assert await refusal(lobby.auth.create_device_code(ada.player_id), IllegalNow) == "TOO_MANY_DEVICES"
    assert await refusal(lobby.auth.sign_in(OTHER, "", code), MalformedRequest) == "INVALID_DEVICE_CODE"
    assert await lobby.auth.devices.count(ada.player_id) == MAX_DEVICES


async def test_a_sign_out_ends_the_sign_in_of_this_device_only(lobby: Lobby) -> None:
    ada, phone, _ = await lobby.auth.sign_in(PHONE, "Ada")
    tablet = await added(lobby, TABLET, ada.player_id)
    for _ in range(2):
        await lobby.auth.sign_out(phone.refresh_token, all_devices=False)
    assert await refusal(lobby.auth.refresh(phone.refresh_token), Unauthenticated) == "INVALID_REFRESH_TOKEN"
    _, tokens = await lobby.auth.refresh(tablet)
    # A token that was used before ends its sign-in too.
    await lobby.auth.sign_out(tablet, all_devices=False)
    assert await refusal(lobby.auth.refresh(tokens.refresh_token), Unauthenticated) == "INVALID_REFRESH_TOKEN"
    assert (await lobby.auth.sign_in(PHONE, ""))[0] == ada


@on_both_databases
async def test_a_sign_out_of_all_devices_removes_the_others(lobby: Lobby) -> None:
    ada, phone, _ = await lobby.auth.sign_in(PHONE, "Ada")
    tablet = await added(lobby, TABLET, ada.player_id)
    code = await lobby.auth.create_device_code(ada.player_id)
    bob, other, _ = await lobby.auth.sign_in(OTHER, "Bob")
    await lobby.auth.sign_out(tablet, all_devices=True)
    for token in (phone.refresh_token, tablet):
        assert await refusal(lobby.auth.refresh(token), Unauthenticated) == "INVALID_REFRESH_TOKEN"
    assert (await lobby.auth.sign_in(TABLET, ""))[0] == ada
    assert (await lobby.auth.sign_in(PHONE, ""))[2]
    assert await refusal(lobby.auth.sign_in(f"{PHONE}!", "", code), MalformedRequest) == "INVALID_DEVICE_CODE"
    assert (await lobby.auth.refresh(other.refresh_token))[0] == bob


async def test_a_refresh_token_that_was_used_before_signs_no_other_device_out(lobby: Lobby) -> None:
    ada, stolen, _ = await lobby.auth.sign_in(PHONE, "Ada")
    tablet = await added(lobby, TABLET, ada.player_id)
    _, newest = await lobby.auth.refresh(stolen.refresh_token)
    call = lobby.auth.sign_out(stolen.refresh_token, all_devices=True)
    assert await refusal(call, Unauthenticated) == "INVALID_REFRESH_TOKEN"
    assert await refusal(lobby.auth.refresh(newest.refresh_token), Unauthenticated) == "INVALID_REFRESH_TOKEN"
    await lobby.auth.refresh(tablet)


@pytest.mark.parametrize("all_devices", [False, True])
@pytest.mark.parametrize("token", ["", "nonsense", "\0.\0"])
async def test_a_sign_out_needs_a_refresh_token(lobby: Lobby, token: str, all_devices: bool) -> None:
    call = lobby.auth.sign_out(token, all_devices=all_devices)
    assert await refusal(call, Unauthenticated) == "INVALID_REFRESH_TOKEN"


async def test_a_device_that_is_removed_during_its_sign_in_is_no_longer_of_the_player(lobby: Lobby) -> None:
    ada, phone, _ = await lobby.auth.sign_in(PHONE, "Ada")
    await added(lobby, TABLET, ada.player_id)
    removing = lobby.auth.sign_out(phone.refresh_token, all_devices=True)
    signing_in = lobby.auth.sign_in(TABLET, "")
    _, (player, tokens, is_new) = await asyncio.gather(removing, signing_in)
    if is_new:
        assert player != ada
    else:
        # The sign-in came first, and has ended with the others.
        assert await refusal(lobby.auth.refresh(tokens.refresh_token), Unauthenticated) == "INVALID_REFRESH_TOKEN"


async def sign_in_by(lobby: Lobby, code: str, network: str = NEAR, secret: str = TABLET) -> pb.SignInResponse:
    request = pb.SignInRequest(device_secret=secret, device_code=code)
    return await lobby.servicer.SignIn(request, call_of(Caller("", "", network)))


@pytest.mark.parametrize("network", [NEAR, ""])
async def test_wrong_device_codes_count_as_sign_ins(deployment: LobbyDeployment, network: str) -> None:
    async with deployment.lobby(sign_in_burst=3 * WRONG_CODE_COST + 5, sign_ins_per_second=1) as lobby:
        ada, _, _ = await lobby.auth.sign_in(PHONE, "Ada")
        code = await lobby.auth.create_device_code(ada.player_id)
        # Neither a right code nor a refusal of the secret takes the units of a wrong one.
        await sign_in_by(lobby, code, network)
        assert await refusal(sign_in_by(lobby, code, network, "short"), MalformedRequest) == "INVALID_FIELD"
        for _ in range(3):
            assert await refusal(sign_in_by(lobby, "A" * 12, network), MalformedRequest) == "INVALID_DEVICE_CODE"
        assert await limit_of(sign_in_by(lobby, code, network)) == "sign_ins"
        await sign_in_by(lobby, code, FAR)


async def test_a_refresh_returns_the_name_that_another_device_has_given(lobby: Lobby) -> None:
    ada, phone, _ = await lobby.auth.sign_in(PHONE, "Ada")
    await added(lobby, TABLET, ada.player_id)
    await lobby.auth.rename(ada.player_id, "  Ada   Lovelace ")
    assert (await lobby.auth.refresh(phone.refresh_token))[0].name == "Ada Lovelace"
    for name in ("", " ", "\u200b", "x" * 33):
        assert await refusal(lobby.auth.rename(ada.player_id, name), MalformedRequest) == "INVALID_FIELD"
    assert (await lobby.auth.player(ada.player_id)).name == "Ada Lovelace"
