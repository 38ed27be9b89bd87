"""Every attack by name."""

from collections.abc import Mapping
from types import MappingProxyType

from loadtest.players.attackers.attacker import Attack
from loadtest.players.attackers.hoarding import (
    bot_tables,
    left_tables,
    lobby_streams,
    sign_ins,
    spectators,
    table_streams,
    tickets,
    unknown_games,
)
from loadtest.players.attackers.holding import held_requests, unread_answers
from loadtest.players.attackers.playing import endless_games
from loadtest.players.attackers.reading import (
    cold_tables,
    forged_headers,
    pages,
    pages_of_many_guests,
    replays,
    resumes,
    resumes_ahead,
    running_replays,
)
from loadtest.players.attackers.snooping import private_tables

CALLS = frozenset({"player_calls"})
ATTACKS: Mapping[str, Attack] = MappingProxyType(
    {
        "replays": Attack(replays, CALLS, 1),
        "cold_tables": Attack(cold_tables, CALLS, 5),
        "running_replays": Attack(running_replays, CALLS | {"TABLE_NOT_FINISHED"}, 1),
        "resumes": Attack(resumes, CALLS, 2),
        "resumes_ahead": Attack(resumes_ahead, CALLS | {"SEQUENCE_AHEAD"}, 2),
        "pages": Attack(pages, CALLS, 3),
        "pages_of_many_guests": Attack(pages_of_many_guests, frozenset({"network_calls"}), 6),
        "held_requests": Attack(held_requests, frozenset({"SERVICE_TIMEOUT"}), 8),
        "unread_answers": Attack(unread_answers, frozenset({"network_calls"}), 4),
        "forged_headers": Attack(forged_headers, CALLS, 2),
        "sign_ins": Attack(sign_ins, frozenset({"sign_ins"}), 1.5),
        "lobby_streams": Attack(lobby_streams, frozenset({"streams"}), 3),
        "unknown_games": Attack(unknown_games, frozenset({"UNKNOWN_GAME"}), 1),
        "spectators": Attack(spectators, frozenset({"streams"}), 3),
        "table_streams": Attack(table_streams, frozenset({"streams"}), 2),
        "tickets": Attack(tickets, frozenset({"streams"}), 2),
        "left_tables": Attack(left_tables, frozenset({"player_calls", "network_calls"}), 1.5),
        "bot_tables": Attack(bot_tables, frozenset({"hosted_tables", "network_tables"}), 1),
        "endless_games": Attack(endless_games, frozenset({"table_changes"}), 3),
        "private_tables": Attack(private_tables, frozenset({"UNKNOWN_TABLE", "INVALID_LINK"}), 0.5),
    }
)
