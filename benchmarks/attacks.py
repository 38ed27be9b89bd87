"""`python -m benchmarks.attacks`: the processor time that a guest and a network can take within their budgets.

Each call is made many times without limits, and the processor time of its service is divided by the units that the call
costs. With the budgets of the default settings that is the share of a core that one guest can take, and one network.
"""

import argparse
import secrets
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import grpc
import psutil

from benchmarks.services import services
from croupier.engine.settings import EngineSettings
from croupier.runtime.admission.costs import LOOKUP_COST, PACKAGE, cost_of
from croupier.runtime.settings import ServiceSettings
from croupier_api.v1 import engine_pb2, lobby_pb2, scoring_pb2

CALLS = 400
SERVICES = {"LobbyService": "lobby", "EngineService": "engine", "ScoringService": "scoring"}


class Call(NamedTuple):
    """A call of a service; `surcharge` is what it costs besides the cost of its method, in units."""

    name: str
    service: str
    method: str
    request: Callable[[int], Any]
    surcharge: int = 0


class Guest:
    """A guest at services without a gateway."""

    def __init__(self, addresses: dict[str, str]) -> None:
        self._channels = {name: grpc.insecure_channel(address) for name, address in addresses.items()}
        self._token = ""
        secret = secrets.token_hex(16)
        answer = self.call("LobbyService", "SignIn", lobby_pb2.SignInRequest(device_secret=secret, name="Guest"))
        self._token = lobby_pb2.SignInResponse.FromString(answer or b"").tokens.access_token

    def call(self, service: str, method: str, request: Any) -> bytes | None:
        """Make a call; return its answer, None if it is refused."""
        start: Any = self._channels[SERVICES[service]].unary_unary(f"/{PACKAGE}.{service}/{method}")
        metadata = [("authorization", f"Bearer {self._token}")] if self._token else []
        try:
            answer: bytes = start(request.SerializeToString(), metadata=metadata, timeout=10)
        except grpc.RpcError:
            return None
        return answer


def calls_of(table_id: str) -> Iterator[Call]:
    """Yield the calls that are measured; the guest hosts a table that forms."""

    def unknown(_number: int) -> str:
        return secrets.token_hex(16)

    views, lists = engine_pb2.GetViewRequest, lobby_pb2.ListTablesRequest
    yield Call("unknown table", "EngineService", "GetView", lambda n: views(table_id=unknown(n)), LOOKUP_COST)
    yield Call("unknown table", "LobbyService", "GetTable", lambda n: lobby_pb2.GetTableRequest(table_id=unknown(n)))
    yield Call("page of tables", "LobbyService", "ListTables", lambda _: lists(page_size=100))
    ready = lobby_pb2.SetReadyRequest
    yield Call("change", "LobbyService", "SetReady", lambda n: ready(table_id=table_id, is_ready=n % 2 == 0))
    create = lobby_pb2.CreateTableRequest
    yield Call("new table", "LobbyService", "CreateTable", lambda _: create(game="thulla", seat_count=2))
    board = scoring_pb2.GetLeaderboardRequest
    yield Call("leaderboard", "ScoringService", "GetLeaderboard", lambda _: board(game="solo", page_size=100))
    sheet = scoring_pb2.GetScoreSheetRequest
    yield Call("unknown sheet", "ScoringService", "GetScoreSheet", lambda n: sheet(table_id=unknown(n)))


def measured(guest: Guest, call: Call, pid: int, calls: int) -> float:
    """Return the milliseconds of processor time for a unit."""
    process = psutil.Process(pid)
    before = sum(process.cpu_times()[:2])
    for number in range(calls):
        guest.call(call.service, call.method, call.request(number))
    seconds = sum(process.cpu_times()[:2]) - before
    units = cost_of(f"/{PACKAGE}.{call.service}/{call.method}") + call.surcharge
    return 1000 * seconds / (calls * units)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.attacks", description=__doc__)
    parser.add_argument("--calls", type=int, default=CALLS, help="of each kind")
    options = parser.parse_args()
    fields = ServiceSettings.model_fields
    guest_units = fields["player_calls_per_second"].default
    network_units = fields["network_units_per_second"].default
    strangers = EngineSettings.model_fields["stranger_units_per_second"].default
    print(f"{'call':16}{'service':10}{'ms a unit':>10}{'a guest':>10}{'a network':>11}  of a core")
    with services() as started:
        guest = Guest({name: started.addresses[name]["listen"] for name in SERVICES.values()})
        answer = guest.call("LobbyService", "CreateTable", lobby_pb2.CreateTableRequest(game="thulla", seat_count=2))
        table_id = lobby_pb2.CreateTableResponse.FromString(answer or b"").table.table_id
        for call in calls_of(table_id):
            service = SERVICES[call.service]
            unit = measured(guest, call, started.pids[service], options.calls)
            shares = f"{unit * guest_units / 10:>8.1f} %{unit * network_units / 10:>9.1f} %"
            print(f"{call.name:16}{service:10}{unit:>10.3f}{shares}")
    print(f"strangers of all networks together: {strangers} units a second at an engine")


if __name__ == "__main__":
    main()
