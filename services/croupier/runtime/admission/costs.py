"""The cost of each call in units of the budgets: about its work, compared with an action."""

from collections.abc import Mapping
from types import MappingProxyType

PACKAGE = "croupier_api.v1"
CREATE_TABLE_COST = 20
REMATCH_COST = 1
"""Of a call that creates no table."""
_BY_SERVICE: Mapping[str, Mapping[str, int]] = {
    "LobbyService": {
        # Signing in has a budget of its own, since a network may bring all its players at once.
        "SignIn": 0,
        # They write, and have no budget of a player.
        "RefreshToken": 3,
        "SignOut": 3,
        "GetPlayer": 1,
        # It changes tables too: see RENAMED_SEAT_COST.
        "UpdatePlayer": 4,
        # Several services remove the name.
        "DeletePlayer": 20,
        "CreateDeviceCode": 4,
        "ListGames": 1,
        # It leaves rows in lobby and engine.
        "CreateTable": CREATE_TABLE_COST,
        "GetTable": 2,
        "ListTables": 5,
        "ListMyTables": 5,
        "WatchTables": 10,
        "JoinTable": 4,
        "UpdateTable": 5,
        "LeaveTable": 4,
        "SetReady": 4,
        "AddBot": 4,
        "ClearSeat": 4,
        "Rematch": REMATCH_COST,
        "FindMatch": 5,
    },
    "EngineService": {
        "SubmitAction": 1,
        "GetView": 2,
        "WatchTable": 5,
        "PlayTable": 5,
        "SendReaction": 1,
        "CreateProposal": 1,
        "CastVote": 1,
        "SetAway": 1,
        "CreateLink": 1,
        "GetReplay": 20,
        "WatchReplay": 20,
        # It sends a long page.
        "GetRules": 5,
    },
    "ScoringService": {
        "GetScoreSheet": 5,
        "GetPlayerStatistics": 5,
        "GetLeaderboard": 10,
        "ListResults": 10,
    },
}
COSTS: Mapping[str, int] = MappingProxyType(
    {f"/{PACKAGE}.{service}/{method}": cost for service, costs in _BY_SERVICE.items() for method, cost in costs.items()}
)
"""The cost of each method by its path. A message in a stream of PlayTable costs MESSAGE_COST."""
MESSAGE_COST = 1
UNKNOWN_METHOD_COST = 1
LOOKUP_COST = 2
"""The surcharge of a table that is not in memory: its row has to be read."""
RENAMED_SEAT_COST = 4
"""The surcharge of each forming table at which a new name of the player has to be shown."""
TABLES_PAGE_COST = 10
"""The surcharge of each page but the first of the tables with which a stream of a lobby begins."""
TURNS_PER_UNIT = 20
"""Of a list of own tables, as its surcharge: the engine is asked for the turns of games."""
HIDDEN_PAGE_COST = 5
"""The surcharge of each further read for one page of a list, since its caller may not see all that was read before."""
MIN_LOAD_COST = 5
LOADED_ENTRIES_PER_UNIT = 20
"""After the loss of an engine all tables of a shared network may have to be loaded at once (test_shared_network.py)."""
RESUMED_ENTRIES_PER_UNIT = 20
ROUNDS_PER_UNIT = 10
"""Of a score sheet, as its surcharge."""
REPLAY_BYTES_PER_UNIT = 200
"""Compressed; they are about ten entries."""
ANSWER_BYTES_PER_UNIT = 4096
"""Of a large answer, or of a large message of a stream."""


def cost_of(method: str) -> int:
    """Return the cost of a call by the path of its method."""
    return COSTS.get(method, UNKNOWN_METHOD_COST)


def load_cost(entries: int, callers: int = 1) -> int:
    """Return the surcharge of a table whose log of so many entries has to be read and folded, for each caller."""
    return -(-(MIN_LOAD_COST + entries // LOADED_ENTRIES_PER_UNIT) // callers)


def resume_cost(entries: int) -> int:
    """Return the surcharge of a stream that begins with so many missed entries."""
    return entries // RESUMED_ENTRIES_PER_UNIT


def replay_cost(compressed_bytes: int, callers: int = 1) -> int:
    """Return the surcharge of a replay of so many bytes that has to be written, for each of its callers."""
    return -(-compressed_bytes // REPLAY_BYTES_PER_UNIT // callers)
