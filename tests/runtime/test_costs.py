"""The costs of calls, compared with the contract."""

from croupier.gateway.bindings import calls
from croupier.runtime.admission.costs import COSTS, cost_of


def test_each_call_of_players_has_a_cost_and_only_signing_in_has_none() -> None:
    assert set(COSTS) == {call.path for call in calls()}
    assert [path for path, cost in COSTS.items() if cost < 1] == ["/croupier_api.v1.LobbyService/SignIn"]


def test_an_unknown_method_costs_a_unit() -> None:
    assert cost_of("unknown") == 1
