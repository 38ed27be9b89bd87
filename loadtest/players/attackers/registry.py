"""Every attack by name."""

from collections.abc import Mapping
from types import MappingProxyType

from loadtest.players.attackers import hoarding, playing, reading
from loadtest.players.attackers.attacker import Attack

CALLS = frozenset({"player_calls"})
ATTACKS: Mapping[str, Attack] = MappingProxyType(
    {
        "replays": Attack(reading.replays, CALLS, 1),
        "cold_tables": Attack(reading.cold_tables, CALLS, 5),
        "running_replays": Attack(reading.running_replays, CALLS | {"TABLE_NOT_FINISHED"}, 1),
        "resumes": Attack(reading.resumes, CALLS, 2),
        "resumes_ahead": Attack(reading.resumes_ahead, CALLS | {"SEQUENCE_AHEAD"}, 2),
        "pages": Attack(reading.pages, CALLS, 3),
        "pages_of_many_guests": Attack(reading.pages_of_many_guests, frozenset({"network_calls"}), 6),
        "held_requests": Attack(hoarding.held_requests, frozenset({"SERVICE_TIMEOUT"}), 8),
        "unread_answers": Attack(hoarding.unread_answers, frozenset({"network_calls"}), 4),
        "forged_headers": Attack(reading.forged_headers, CALLS, 2),
        "sign_ins": Attack(hoarding.sign_ins, frozenset({"sign_ins"}), 1.5),
        "lobby_streams": Attack(hoarding.lobby_streams, frozenset({"streams"}), 3),
        "unknown_games": Attack(hoarding.unknown_games, frozenset({"UNKNOWN_GAME"}), 1),
        "spectators": Attack(hoarding.spectators, frozenset({"streams"}), 3),
        "table_streams": Attack(hoarding.table_streams, frozenset({"streams"}), 2),
        "tickets": Attack(hoarding.tickets, frozenset({"streams"}), 2),
        "left_tables": Attack(hoarding.left_tables, frozenset({"network_calls"}), 1.5),
        "table_changes": Attack(hoarding.table_changes, frozenset({"table_changes"}), 6),
        "bot_tables": Attack(hoarding.bot_tables, frozenset({"tables"}), 1),
        "endless_games": Attack(playing.endless_games, frozenset({"table_changes"}), 3),
        "private_tables": Attack(reading.private_tables, frozenset({"UNKNOWN_TABLE", "INVALID_LINK"}), 0.5),
    }
)
