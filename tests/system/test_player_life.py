"""A player's life over the real services: two devices, a new name, a game, and their deletion."""

import http.client
import json
from collections.abc import Iterator
from contextlib import ExitStack, closing
from functools import partial
from random import Random
from typing import Any

import pytest

from croupier.cli.launcher.background import BackgroundServices, started_services
from croupier_client import BlockingClient, Endpoints, choose_random_action, play_game_blocking
from tests.waiting import TIMEOUT_SECONDS, until

pytestmark = pytest.mark.gateway


@pytest.fixture
def services(tmp_path: Any) -> Iterator[BackgroundServices]:
    with started_services(tmp_path, gateway=[], extra_flags={"lobby": ("--housekeeping-seconds=1",)}) as services:
        yield services


def ask(services: BackgroundServices, client: BlockingClient, method: str, path: str, body: Any = None) -> Any:
    """Return the answer to a call by JSON, with the access token of a client."""
    address = services.addresses["gateway"]["listen"]
    headers = {"authorization": f"Bearer {client.session.access_token}", "content-type": "application/json"}
    with closing(http.client.HTTPConnection(address, timeout=TIMEOUT_SECONDS)) as connection:
        connection.request(method, path, None if body is None else json.dumps(body), headers)
        return json.loads(connection.getresponse().read())


async def test_a_player_with_two_devices_plays_is_deleted_and_leaves_results_without_name(
    services: BackgroundServices,
) -> None:
    endpoints = Endpoints.single(services.addresses["gateway"]["listen"])
    with ExitStack() as stack:
        phone, tablet, mate = (
            stack.enter_context(BlockingClient(endpoints, f"the secret of the {device}", name))
            for device, name in (("phone", "Ada"), ("tablet", ""), ("other phone", "Bob"))
        )
        code = ask(services, signed_in(phone), "POST", "/v1/players/me/device-codes", {})
        player_id = tablet.sign_in(device_code=code["device_code"]).player_id
        assert ask(services, phone, "GET", "/v1/players/me") == {
            "player": {"player_id": player_id, "name": "Ada", "device_count": 2}
        }

        waiting = mate.create_table(game="thulla", seat_count=3).table
        tablet.join_table(table_id=waiting.table_id)
        ask(services, phone, "PATCH", "/v1/players/me", {"name": "Ada Lovelace"})
        assert [seat.name for seat in mate.get_table(table_id=waiting.table_id).table.seats] == [
            *("Bob", "Ada Lovelace", "")
        ]
        table = tablet.create_table(game="thulla", seat_count=2).table
        assert table.seats[0].name == "Ada Lovelace"
        mate.join_table(table_id=table.table_id)
        for client in (tablet, mate):
            client.set_ready(table_id=table.table_id)

        # The others do not wait for the time of a player who says that they are gone.
        phone.set_away(table_id=table.table_id, request_id="gone", is_away=True)
        assert ask(services, phone, "DELETE", "/v1/players/me") == {}
        assert [seat.player_id for seat in mate.get_table(table_id=waiting.table_id).table.seats][1:] == ["", ""]
        refused = ask(services, phone, "POST", f"/v1/tables/{waiting.table_id}:join", {})
        assert refused["details"][0]["reason"] == "INVALID_ACCESS_TOKEN"
        with mate.play_table(table.table_id) as playing:
            play_game_blocking(playing, partial(choose_random_action, random=Random(1)))
        # The result comes before or after the name is removed.
        await until(lambda: names_of_results(mate, player_id) == [["", "Bob"]])
        assert [seat.name for seat in mate.get_table(table_id=table.table_id).table.seats] == ["", "Bob"]
        # The client of the other device is refused, and signs in as a new player.
        assert tablet.create_table(game="thulla", seat_count=2).table.host_player_id != player_id


def names_of_results(client: BlockingClient, player_id: str) -> list[list[str]]:
    return [[seat.name for seat in result.seats] for result in client.list_results(player_id=player_id).results]


def signed_in(client: BlockingClient) -> BlockingClient:
    client.list_games()
    return client
