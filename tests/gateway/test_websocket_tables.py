"""Players at real tables by WebSocket, with TLS on both sides of the gateway."""

import json
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from google.protobuf.json_format import MessageToJson
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import ClientConnection

from croupier.cli.launcher.background import BackgroundServices, started_services
from croupier.cli.launcher.replicas import Replicas
from croupier_api.v1.engine_pb2 import PlayTableResponse
from tests.gateway.conftest import ORIGIN, GatewayDeployment
from tests.gateway.harness import Gateway, metric_values
from tests.gateway.test_json_streams import open_table
from tests.gateway.websocket_engine import play
from tests.waiting import TIMEOUT_SECONDS, until

pytestmark = pytest.mark.gateway
ACTIONS = 4
MAX_STREAMS = 2
NOT_FOUND, TOO_MANY, UNAUTHENTICATED, GOING_AWAY = 4005, 4008, 4016, 1001


def signed_in(services: BackgroundServices) -> Gateway:
    """Return a gateway without TLS, with a player of its lobby."""
    gateway = Gateway(services.addresses["gateway"]["listen"], None, services.folder.signing_key("lobby"))
    signed_in = gateway.ask("POST", "/v1/sign-in", {"device_secret": "a secret of these tests"}).json
    return replace(gateway, player_id=signed_in["player"]["player_id"])


def begun_table(gateway: Gateway) -> str:
    """Return the id of a table that is played."""
    table_id = open_table(gateway)
    assert gateway.ask("POST", f"/v1/tables/{table_id}:ready", {}, token=gateway.token()).status == 200
    return table_id


@contextmanager
def watch(gateway: Gateway, table_id: str, token: str | None = None) -> Iterator[ClientConnection]:
    """Open the stream of a table, as a web page does."""
    with play(gateway, table_id, origin=ORIGIN if gateway.authority else None) as connection:
        connection.send(json.dumps({"access_token": token or gateway.token(), "watch": {}}))
        yield connection


def messages(connection: ClientConnection) -> Iterator[Any]:
    """Yield the messages until the end of the connection; before the first of the client they are binary."""
    while True:
        try:
            message = connection.recv(TIMEOUT_SECONDS)
        except ConnectionClosed:
            return
        if isinstance(message, bytes):
            message = MessageToJson(PlayTableResponse.FromString(message), preserving_proto_field_name=True)
        yield json.loads(message)


def legal_action(message: Any) -> Any:
    """Return the first legal action after a message, None without any."""
    event = message.get("table_event", {})
    for kind in ("snapshot", "update", "turn_state"):
        if legal := event.get(kind, {}).get("legal_actions"):
            return next(iter(legal["actions"]), None)
    return None


def refusal(connection: ClientConnection) -> tuple[int | None, str]:
    """Return the close code, and the reason in the last message."""
    *_, last = messages(connection)
    return connection.close_code, last["error"]["details"][0]["reason"]


def test_a_table_is_played(deployment: GatewayDeployment) -> None:
    gateway, answers = deployment.gateway, 0
    with watch(gateway, begun_table(gateway)) as connection:
        for message in messages(connection):
            if answer := message.get("answer"):
                assert "error" not in answer, answer
                answers += 1
            if answers == ACTIONS:
                return
            if action := legal_action(message):
                connection.send(json.dumps({"action": {"request_id": f"action {answers}", "action": action}}))
    pytest.fail(f"the stream ended after {answers} answers: {message}")


def test_refusals_of_the_engine_pass(deployment: GatewayDeployment) -> None:
    gateway = deployment.gateway
    with watch(gateway, "none") as connection:
        assert refusal(connection) == (NOT_FOUND, "UNKNOWN_TABLE")
    with watch(gateway, "none", token="forged") as connection:
        assert refusal(connection) == (UNAUTHENTICATED, "INVALID_ACCESS_TOKEN")


async def test_an_engine_that_stops_sends_its_streams_away(deployment: GatewayDeployment) -> None:
    gateway, services = deployment.gateway, deployment.services
    table_id, stopped = begun_table(gateway), services.pids["engine"]
    with watch(gateway, table_id) as connection:
        sent = messages(connection)
        next(sent)
        services.kill("engine", signal.SIGTERM)
        *_, last = sent
        assert "resume_notice" in last["table_event"]
        assert connection.close_code == GOING_AWAY
    await until(lambda: services.pids["engine"] != stopped)
    await until(lambda: is_watched(gateway, table_id))


async def test_the_connection_to_a_lost_engine_is_closed(deployment: GatewayDeployment) -> None:
    gateway, services = deployment.gateway, deployment.services
    table_id, killed = begun_table(gateway), services.pids["engine"]
    with watch(gateway, table_id) as connection:
        next(sent := messages(connection))
        services.kill("engine")
        list(sent)
        assert connection.protocol.close_rcvd is None
    await until(lambda: services.pids["engine"] != killed)
    await until(lambda: is_watched(gateway, table_id))


def is_watched(gateway: Gateway, table_id: str) -> bool:
    """Return whether the stream of a table begins; a gateway takes a moment to find an engine that was restarted."""
    try:
        with watch(gateway, table_id) as connection:
            return "table_event" in next(messages(connection))
    except InvalidStatus:
        return False


@pytest.mark.slow
def test_a_network_has_a_limit_of_websockets(tmp_path: Path) -> None:
    """Those count whose first message has not come."""
    limit = {"engine": [f"--max-network-streams={MAX_STREAMS}"]}
    with started_services(tmp_path, gateway=[], extra_flags=limit) as services:
        gateway = signed_in(services)
        with play(gateway), play(gateway), play(gateway) as third:
            assert refusal(third) == (TOO_MANY, "TOO_MANY_STREAMS")


@pytest.mark.slow
async def test_players_meet_at_one_engine_and_again_at_another(
    new_database: Callable[..., str], tmp_path: Path
) -> None:
    url = new_database("croupier.lobby", "croupier.engine", "croupier.scoring")
    with started_services(tmp_path, gateway=[], replicas=Replicas(engine=3), database=url) as services:
        engines = [instance for instance in services.addresses if instance.startswith("engine")]

        def streams() -> list[float]:
            metrics = [services.addresses[instance]["metrics"] for instance in engines]
            return [sum(metric_values(each, r"croupier_streams\b.*")) for each in metrics]

        gateway = signed_in(services)
        table_id = begun_table(gateway)
        with watch(gateway, table_id) as one, watch(gateway, table_id) as other:
            sent = messages(one), messages(other)
            for each in sent:
                assert "table_event" in next(each)
            assert sorted(streams()) == [0, 0, 2]
            services.kill(engines[streams().index(2)], signal.SIGTERM)
            for each in sent:
                *_, last = each
                assert "resume_notice" in last["table_event"]
        await until(lambda: is_watched(gateway, table_id))
