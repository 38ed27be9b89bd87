"""Settings of several services that have to fit together."""

from croupier.engine.settings import EngineSettings
from croupier.lobby.settings import LobbySettings


def test_a_prepared_table_outlives_the_table_of_the_lobby_that_still_forms() -> None:
    lobby, engine = (model.model_fields for model in (LobbySettings, EngineSettings))
    longest_forming_seconds: int = lobby["max_forming_seconds"].default
    assert 2 * longest_forming_seconds <= 3600 * engine["prepared_hours"].default


def test_the_shares_of_a_network_are_enough_for_five_hundred_players_who_arrive_and_reconnect_at_once() -> None:
    lobby, engine = (model.model_fields for model in (LobbySettings, EngineSettings))
    players, tables, streams_of_one, entries_per_second = 500, 125, 2, 150
    assert players <= lobby["sign_in_burst"].default
    assert tables <= lobby["max_network_tables"].default
    assert 2 * players * streams_of_one <= lobby["max_network_streams"].default
    assert players * streams_of_one <= engine["max_network_streams"].default
    assert entries_per_second <= engine["network_units_per_second"].default


def test_a_network_at_its_shares_leaves_most_slots_to_others() -> None:
    lobby, engine = (model.model_fields for model in (LobbySettings, EngineSettings))
    for network, total in (
        (lobby["max_network_streams"], lobby["max_streams"]),
        (engine["max_network_streams"], engine["max_streams"]),
    ):
        assert 5 * network.default <= total.default
