"""Checks of requests to prepare and to open tables."""

from collections.abc import Mapping
from dataclasses import replace
from typing import NamedTuple

from croupier.engine.core.guarded_rules import rules_missing
from croupier.engine.core.living_games import LivingGames
from croupier.engine.core.log import MAX_BOT_DELAY_MILLISECONDS, ClockConfig, TableConfig
from croupier.engine.core.shuffles import MAX_CLIENT_SEED_BYTES, revised_seed
from croupier.engine.storage.port import StoredTable
from croupier.games.interface import Game, InvalidOption, OptionValue, resolve_options
from croupier.games.registry import OWN, UnknownRules, bots_of, registry, rules_of
from croupier.runtime.errors import (
    MAX_ID_CHARACTERS,
    AlreadyExists,
    MalformedRequest,
    ServiceError,
    Unavailable,
    decode_id,
    invalid_field,
)
from croupier.runtime.table_access import SEATED
from croupier_api.v1 import errors_pb2

MAX_NETWORK_CHARACTERS = 33
"""Of the column in which it is stored."""
MAX_NAME_CODE_POINTS = 160
"""The lobby decides what a name is, and adds a number to it."""
TIME_LIMITS = {
    "action_time": (5_000, 86_400_000),
    "reserve_time": (0, 86_400_000),
    "bot_delay": (0, MAX_BOT_DELAY_MILLISECONDS),
    "away_time": (1_000, 86_400_000),
}
"""In milliseconds, by the fields of TimeControl."""


class Revision(NamedTuple):
    """A later revision of a prepared table, of which only the seed is stored until it opens."""

    number: int
    rules_version: int
    options: Mapping[str, OptionValue]
    clock: ClockConfig


def offered_game(game: str, living: LivingGames) -> Game:
    """Return a game as all engines offer it for new tables; raises MalformedRequest for one that they do not offer."""
    offered = living.offered()
    if game not in offered:
        raise MalformedRequest(
            errors_pb2.ERROR_REASON_UNKNOWN_GAME,
            f"invalid game {game[:MAX_ID_CHARACTERS]!r}: expected {' or '.join(offered)}",
            field="game",
        )
    return rules_of(game, offered[game])


def check_rules(config: TableConfig) -> None:
    """Raise UnknownRules unless the rules of a table's start are known, Unavailable for an option that they lack.

    Rules ignore an option that they do not know: the engine would play another game.
    """
    try:
        resolve_options(rules_of(config.game, config.rules_version), config.seat_count, config.options)
    except InvalidOption as fault:
        raise _too_new(fault) from None


def unknown_rules(config: TableConfig, fault: UnknownRules, living: LivingGames) -> ServiceError:
    """Return the refusal of a table whose rules this engine does not have; Unavailable if another may have them."""
    is_elsewhere = living.may_be_known(config.game, config.rules_version)
    return _too_new(fault) if is_elsewhere else rules_missing(config)


def _too_new(fault: Exception) -> Unavailable:
    return Unavailable(errors_pb2.ERROR_REASON_TABLE_TOO_NEW, str(fault), retry_after_seconds=1)


def config_by(
    rules: Game, table_id: str, seats: int, options: Mapping[str, OptionValue], clock: ClockConfig, seed: bytes
) -> TableConfig:
    """Return the configuration of a table to prepare; raises MalformedRequest for invalid seats or options."""
    try:
        resolved = resolve_options(rules, seats, options)
    except InvalidOption as fault:
        if fault.option == "seats":
            raise invalid_field("seat_count", str(fault)) from None
        field = f"options.{fault.option[:MAX_ID_CHARACTERS]}"
        raise MalformedRequest(errors_pb2.ERROR_REASON_INVALID_OPTION, str(fault), field=field) from None
    package = registry().packages.get(rules.id, OWN)
    return TableConfig(
        table_id,
        rules.id,
        rules.rules_version,
        seats,
        resolved,
        clock,
        seed,
        package="" if package == OWN else package,
    )


def check_repeat(stored: TableConfig, requested: TableConfig, options: Mapping[str, OptionValue]) -> None:
    """Raise AlreadyExists unless a table was prepared as requested with these options, perhaps by another engine.

    Raises UnknownRules if that one had other rules.
    """
    if stored.game == requested.game:
        # That engine may have another version of the rules, or lack options: compare the request by what it knows.
        rules, seats = rules_of(stored.game, stored.rules_version), requested.seat_count
        lacked = {
            option.name: option.earlier
            for option in rules.options(stored.seat_count)
            if option.earlier is not None and option.earlier == stored.options.get(option.name)
        }
        table_id, clock, seed = requested.table_id, requested.clock, requested.seed
        requested = config_by(rules, table_id, seats, {**lacked, **options}, clock, seed)
    # It may have another setting.
    clock = replace(stored.clock, abandoned_milliseconds=requested.clock.abandoned_milliseconds)
    comparable = replace(stored, clock=clock, seed=requested.seed, seats=(), client_seeds=(), access=SEATED)
    if comparable != requested:
        raise AlreadyExists(
            errors_pb2.ERROR_REASON_TABLE_EXISTS, "table_id belongs to another table: choose another id"
        )


def revised_config(stored: StoredTable, revision: Revision, seats: int) -> TableConfig:
    """Return the configuration of a revision of a table, which may be open.

    Raises as `config_by` and `check_clock`, and UnknownRules.
    """
    first = stored.config
    check_clock(revision.clock)
    clock = replace(revision.clock, abandoned_milliseconds=first.clock.abandoned_milliseconds)
    seed = revised_seed(first.seed, revision.number) if stored.is_prepared else first.seed
    rules = rules_of(first.game, revision.rules_version)
    return config_by(rules, first.table_id, seats, revision.options, clock, seed)


def check_clock(clock: ClockConfig) -> None:
    """Raise MalformedRequest if a part of the clock is out of its range."""
    times = (
        clock.action_milliseconds,
        clock.reserve_milliseconds,
        clock.bot_delay_milliseconds,
        clock.away_milliseconds,
    )
    for (name, (minimum, maximum)), given in zip(TIME_LIMITS.items(), times, strict=True):
        if not minimum <= given <= maximum:
            expected = f"{minimum / 1000:g} to {maximum / 1000:g} seconds"
            raise invalid_field(
                f"time_control.{name}", f"invalid {name} of {given / 1000:g} seconds: expected {expected}"
            )


def check_seats(config: TableConfig) -> None:
    """Raise MalformedRequest unless each seat has a player of its own or a known computer player."""
    seats, bots = config.seats, bots_of(rules_of(config.game, config.rules_version))
    if len(seats) != config.seat_count or len(config.client_seeds) != config.seat_count:
        raise invalid_field("seats", f"invalid number of seats or client seeds: expected {config.seat_count} of each")
    for who in seats:
        if not 1 <= len(who.name) <= MAX_NAME_CODE_POINTS or "\0" in who.name:
            expected = f"1 to {MAX_NAME_CODE_POINTS} characters, none of them NUL"
            raise invalid_field("seats.name", f"invalid seats.name: expected {expected}")
        if who.bot and who.bot not in bots:
            raise MalformedRequest(
                errors_pb2.ERROR_REASON_UNKNOWN_BOT,
                f"invalid bot {who.bot[:MAX_ID_CHARACTERS]!r}: expected {' or '.join(bots)}",
                field="seats.bot",
            )
        if not who.bot:
            decode_id("seats.player_id", who.player_id)
    players = [who.player_id for who in seats if not who.bot]
    if len(set(players)) != len(players):
        raise invalid_field("seats", "invalid seats: expected each player once")
    if any(len(seed) > MAX_CLIENT_SEED_BYTES for seed in config.client_seeds):
        raise invalid_field("client_seeds", f"invalid client seed: expected at most {MAX_CLIENT_SEED_BYTES} bytes")
