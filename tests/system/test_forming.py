"""A table from its creation to its replay over the real services, by JSON and by the Python client."""

import http.client
import json
from collections.abc import Iterator
from contextlib import ExitStack, closing
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

import pytest

from croupier.cli.launcher.background import started_services
from croupier.engine.core.replay_verification import verify_replay
from croupier_api.v1 import tables_pb2
from croupier_client import BlockingClient, Endpoints, choose_random_action, fold, play_game_blocking
from tests.waiting import TIMEOUT_SECONDS

pytestmark = pytest.mark.gateway
GAME = "thulla"


class Person:
    """A player who calls by JSON, and by a client."""

    def __init__(self, address: str, client: BlockingClient) -> None:
        self.client = client
        self.player_id = client.sign_in().player_id
        self._address = address

    def ask(self, method: str, path: str, body: Any = None) -> Any:
        """Return the answer to a call, or the reason of its refusal."""
        tokens = self.client.session.tokens
        assert tokens is not None
        headers = {"authorization": f"Bearer {tokens.access_token}", "content-type": "application/json"}
        with closing(http.client.HTTPConnection(self._address, timeout=TIMEOUT_SECONDS)) as connection:
            connection.request(method, f"/v1{path}", None if body is None else json.dumps(body), headers)
            answer = connection.getresponse()
            content = json.loads(answer.read())
            return content if answer.status == http.HTTPStatus.OK else content["details"][0]["reason"]


@pytest.fixture
def people(tmp_path: Path) -> Iterator[tuple[Person, Person]]:
    with started_services(tmp_path, gateway=[]) as services, ExitStack() as stack:
        address = services.addresses["gateway"]["listen"]
        clients = [
            stack.enter_context(BlockingClient(Endpoints.single(address), f"the secret device of {name}", name))
            for name in ("Ada", "Bob")
        ]
        ada, bob = (Person(address, client) for client in clients)
        yield ada, bob


def test_a_changed_table_is_played_as_it_was_shown(people: tuple[Person, Person]) -> None:
    ada, bob = people
    request = {"game": GAME, "seat_count": 4, "bots": ["random"], "request_id": "1"}
    checked = ada.ask("POST", "/tables", {**request, "validate_only": True})["table"]
    assert (checked["table_id"], len(checked["seats"])) == ("", 4)
    created = ada.ask("POST", "/tables", request)["table"]
    assert ada.ask("POST", "/tables", request)["table"] == created
    assert ada.ask("POST", "/tables", {**request, "seat_count": 3}) == "REQUEST_ID_REUSED"
    table_id, code = created["table_id"], created["invite_code"]
    assert bob.ask("GET", f"/invites/{code.lower()}")["table"]["seats"] == created["seats"]
    assert bob.ask("GET", "/invites/23456789") == "UNKNOWN_TABLE"
    assert bob.ask("POST", "/tables:join", {"invite_code": code, "seat": 1}) == "SEAT_TAKEN"
    assert bob.ask("POST", "/tables:join", {"invite_code": code, "seat": 3})["table"]["seats"][3]["name"] == "Bob"
    change = {"seat_count": 3, "options": {"best_of": 1}, "access": {"visibility": "VISIBILITY_SEATED"}}
    assert bob.ask("PATCH", f"/tables/{table_id}", change) == "NOT_HOST"
    assert ada.ask("PATCH", f"/tables/{table_id}", {**change, "options": {"best_of": 2}}) == "INVALID_OPTION"
    assert ada.ask("PATCH", f"/tables/{table_id}", {**change, "seat_count": 2}) == "TABLE_FULL"
    assert ada.ask("GET", f"/tables/{table_id}")["table"]["seed_commitment"] == created["seed_commitment"]
    changed = ada.ask("PATCH", f"/tables/{table_id}", change)["table"]
    assert [seat["name"] for seat in changed["seats"]] == ["Ada", "Bot 2", "Bob"]
    assert changed["seed_commitment"] != created["seed_commitment"]
    assert changed["close_time"] > created["close_time"]
    assert table_id not in json.dumps(bob.ask("GET", f"/tables?game={GAME}"))
    for person in people:
        ready = person.client.set_ready(table_id=table_id, client_seed=b"mine").table
    assert ready.state == tables_pb2.TABLE_STATE_PLAYING
    bob.ask("POST", f"/tables/{table_id}:away", {"request_id": "away", "is_away": True})
    with ada.client.play_table(table_id) as playing:
        play_game_blocking(playing, partial(choose_random_action, random=Random(1)))
    replay = ada.client.get_replay(table_id=table_id).replay
    verify_replay(replay)
    first = json.loads(replay.splitlines()[0])
    assert changed["seed_commitment"] in json.dumps(first)
    for person, seat in ((ada, 0), (bob, 2)):
        check_events(person.client, table_id, seat)
    snapshot, dealt, *_ = ada.client.watch_replay(table_id=table_id, eyes="all").table_events
    assert all(hand.cards for hand in fold(snapshot.snapshot.view, dealt.update.facts, "all").seats)
    assert bob.ask("GET", f"/tables/{table_id}/replay/events?seat=3") == "INVALID_FIELD"


def check_events(client: BlockingClient, table_id: str, seat: int) -> None:
    """Assert that the events of a seat, folded, are its view at the end."""
    first, *others = client.watch_replay(table_id=table_id, eyes=seat).table_events
    facts = [fact for event in others for fact in event.update.facts]
    assert fold(first.snapshot.view, facts, seat) == client.get_view(table_id=table_id).snapshot.view


def test_a_table_against_bots_is_one_call_and_a_player_is_removed_or_blocked(people: tuple[Person, Person]) -> None:
    ada, bob = people
    at_once = ada.client.create_table(game=GAME, seat_count=4, bots=["", "", ""], is_ready=True).table
    assert at_once.state == tables_pb2.TABLE_STATE_PLAYING
    assert ada.client.get_view(table_id=at_once.table_id).snapshot.sequence > 0
    table = ada.client.create_table(game=GAME, seat_count=2).table
    bob.client.join_table(table_id=table.table_id)
    removed = ada.ask("DELETE", f"/tables/{table.table_id}/seats/1")["table"]
    assert removed["invite_code"] == table.invite_code
    bob.client.join_table(invite_code=table.invite_code)
    blocked = ada.ask("DELETE", f"/tables/{table.table_id}/seats/1?block=true")["table"]
    assert blocked["invite_code"] != table.invite_code
    for code in (table.invite_code, blocked["invite_code"]):
        assert bob.ask("GET", f"/invites/{code}") == "UNKNOWN_TABLE"
        assert bob.ask("POST", "/tables:join", {"invite_code": code}) == "UNKNOWN_TABLE"
