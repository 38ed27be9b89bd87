"""Translation between the contract's messages and the lobby's values, with the checks that need no state."""

import hashlib
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import replace
from typing import Literal

from google.protobuf.duration_pb2 import Duration
from google.protobuf.struct_pb2 import Struct, Value
from google.protobuf.timestamp_pb2 import Timestamp

from croupier.lobby.accounts.auth import Tokens
from croupier.lobby.accounts.players import Player
from croupier.lobby.storage.table_store import CreateRequest
from croupier.lobby.tables.engine_port import GameDescription, OfferedGames, Preparation, Preset, TableStatus, Turn
from croupier.lobby.tables.forming_table import OptionValue, Seat, Table, TableState, TimeControl
from croupier.lobby.tables.my_seat import MySeat
from croupier.lobby.tables.new_table import TableSpec
from croupier.lobby.tables.table_changes import FormingLifetime
from croupier.lobby.tables.table_service import SHOWN_RUNNING
from croupier.runtime.errors import MAX_ID_CHARACTERS, MalformedRequest, invalid_field
from croupier.runtime.table_access import Visibility
from croupier.runtime.table_access_codec import decode_access, encode_access
from croupier_api.v1 import errors_pb2, games_pb2, lobby_pb2, tables_pb2
from croupier_internal.v1 import engine_control_pb2

MAX_OPTIONS = 64
MAX_BOTS_AFTER_SECONDS = 600
SLOW_ACTION_SECONDS = 3600
"""From this action time on, a seat whose time ran out keeps it."""
MAX_MESSAGES = 4000
"""The encoded messages of WatchTables to keep, of about 500 bytes each."""
MILLISECOND = 1_000_000
SECOND = 1_000_000_000
"""In nanoseconds, like MILLISECOND."""
MAX_DURATION_SECONDS = 315_576_000_000
"""Ten thousand years, beyond which a Duration is not valid."""
ZERO_TIME_CONTROL = TimeControl(0, 0, 0)
TimeName = Literal["action_time", "reserve_time", "bot_delay", "away_time"]
CONTRACT_STATES = {
    TableState.FORMING: tables_pb2.TABLE_STATE_FORMING,
    TableState.OPENING: tables_pb2.TABLE_STATE_FORMING,
    TableState.PLAYING: tables_pb2.TABLE_STATE_PLAYING,
    TableState.FINISHED: tables_pb2.TABLE_STATE_FINISHED,
    TableState.CLOSED: tables_pb2.TABLE_STATE_CLOSED,
}


def decode_table_spec(
    request: lobby_pb2.CreateTableRequest | lobby_pb2.UpdateTableRequest, default: TimeControl
) -> TableSpec:
    """Return the table to create, or its changed parts without game, bots and readiness; raises MalformedRequest.

    Unset fields of the time control have their defaults.
    """
    spec = TableSpec(
        request.game if isinstance(request, lobby_pb2.CreateTableRequest) else "",
        request.seat_count,
        _decode_options(request.options),
        _decode_time_control(request.time_control, default),
        decode_access(request.access, Visibility.PUBLIC),
    )
    if isinstance(request, lobby_pb2.UpdateTableRequest):
        return spec
    bots_after = decode_bots_after(request)
    return replace(spec, bots=list(request.bots), is_ready=request.is_ready, bots_after_seconds=bots_after)


def decode_create_request(request: lobby_pb2.CreateTableRequest) -> CreateRequest | None:
    """Return the id of a request to create a table with the hash of its content, None if it has no id."""
    if not request.request_id:
        return None
    content_hash = hashlib.sha256(request.SerializeToString(deterministic=True)).hexdigest()
    return CreateRequest(request.request_id, content_hash)


def decode_bots_after(request: lobby_pb2.CreateTableRequest | lobby_pb2.FindMatchRequest) -> int | None:
    """Return the seconds after which bots take free seats, None for never; raises MalformedRequest beyond 10 min."""
    if not request.HasField("fill_with_bots_after"):
        return None
    given = request.fill_with_bots_after
    if given.nanos or not 0 <= given.seconds <= MAX_BOTS_AFTER_SECONDS:
        expected = f"expected 0 to {MAX_BOTS_AFTER_SECONDS} whole seconds"
        raise invalid_field("fill_with_bots_after", f"invalid fill_with_bots_after: {expected}")
    return given.seconds


def _decode_options(options: Struct) -> Mapping[str, OptionValue]:
    if len(options.fields) > MAX_OPTIONS:
        raise MalformedRequest(
            errors_pb2.ERROR_REASON_INVALID_OPTION,
            f"invalid options: expected at most {MAX_OPTIONS}, not {len(options.fields)}",
            field="options",
        )
    return {name: _decode_option(name, value) for name, value in options.fields.items()}


def _decode_option(name: str, value: Value) -> OptionValue:
    match value.WhichOneof("kind"):
        case "bool_value":
            return value.bool_value
        case "string_value":
            return value.string_value
        case "number_value" if value.number_value.is_integer():
            return int(value.number_value)
    shown = name[:MAX_ID_CHARACTERS]
    raise MalformedRequest(
        errors_pb2.ERROR_REASON_INVALID_OPTION,
        f"invalid option {shown!r}: expected a boolean, an integer or a string",
        field=f"options.{shown}",
    )


def _decode_time_control(given: tables_pb2.TimeControl, default: TimeControl) -> TimeControl:
    action = _decode_duration(given, "action_time", SECOND, "seconds", default.action_seconds)
    # Players of slow games look at their tables seldom, and are not gone.
    away = default.away_seconds if action < SLOW_ACTION_SECONDS else action
    return TimeControl(
        action,
        _decode_duration(given, "reserve_time", SECOND, "seconds", default.reserve_seconds),
        _decode_duration(given, "bot_delay", MILLISECOND, "milliseconds", default.bot_delay_milliseconds),
        _decode_duration(given, "away_time", SECOND, "seconds", away),
    )


def _decode_duration(given: tables_pb2.TimeControl, name: TimeName, unit: int, units: str, default: int) -> int:
    if not given.HasField(name):
        return default
    duration: Duration = getattr(given, name)
    count, rest = divmod(duration.seconds * SECOND + duration.nanos, unit)
    if rest or abs(duration.seconds) > MAX_DURATION_SECONDS:
        raise invalid_field(f"time_control.{name}", f"invalid time_control.{name}: expected whole {units}")
    return count


def states_of(state: int) -> tuple[TableState, ...]:
    """Return the states that a filter includes."""
    if state == tables_pb2.TABLE_STATE_UNSPECIFIED:
        return tuple(CONTRACT_STATES)
    return tuple(inner for inner, shown in CONTRACT_STATES.items() if shown == state)


def encode_player(player: Player, device_count: int = 0) -> lobby_pb2.Player:
    """Return the message of a player, for themselves with the number of their devices."""
    return lobby_pb2.Player(player_id=player.player_id, name=player.name, device_count=device_count)


def own_states_of(state: int) -> tuple[TableState, ...]:
    """Return the states that a filter of a player's own tables includes."""
    return states_of(state) if state else SHOWN_RUNNING


def encode_tokens(tokens: Tokens) -> lobby_pb2.Tokens:
    """Return the message of tokens."""
    return lobby_pb2.Tokens(
        access_token=tokens.access_token,
        access_lifetime=Duration(seconds=tokens.access_seconds),
        refresh_token=tokens.refresh_token,
        refresh_lifetime=Duration(seconds=tokens.refresh_seconds),
    )


def encode_table(table: Table, viewer_id: str, lifetime: FormingLifetime) -> tables_pb2.Table:
    """Return the message of a table for a viewer: only its players get the invite code."""
    bots_at = table.bots_at_milliseconds if table.state is TableState.FORMING else None
    closes_at = lifetime.closes_at(table)
    return tables_pb2.Table(
        table_id=table.table_id,
        game=table.game,
        rules_version=table.rules_version,
        options=encode_options(table.options),
        time_control=encode_time_control(table.time_control),
        seats=map(encode_seat, table.seats),
        teams=[games_pb2.Team(seats=team) for team in table.teams],
        seed_commitment=table.seed_commitment,
        state=CONTRACT_STATES[table.state],
        host_player_id=table.host_player_id,
        access=encode_access(table.access),
        invite_code=table.invite_code if table.seat_of(viewer_id) is not None else "",
        create_time=_encode_time(table.created_milliseconds),
        previous_table_id=table.previous_table_id,
        next_table_id=table.next_table_id,
        fill_with_bots_time=None if bots_at is None else _encode_time(bots_at),
        close_time=None if closes_at is None else _encode_time(closes_at),
    )


def encode_my_seat(seat: MySeat) -> lobby_pb2.MySeat:
    """Return the message of a player's own seat."""
    return lobby_pb2.MySeat(
        seat=seat.seat,
        is_to_act=seat.is_to_act,
        deadline_time=_encode_time(seat.deadline) if seat.deadline else None,
        is_away=seat.is_away,
    )


def encode_watched_seat(seat: MySeat) -> bytes:
    """Return the encoded WatchTablesResponse with a player's own seat, to be joined with that of the table."""
    return lobby_pb2.WatchTablesResponse(my_seat=encode_my_seat(seat)).SerializeToString()


def encode_my_table(table: tables_pb2.Table, seat: MySeat) -> lobby_pb2.MyTable:
    """Return the message of a player's own table with their seat."""
    return lobby_pb2.MyTable(table=table, my_seat=encode_my_seat(seat))


def _encode_time(milliseconds: int) -> Timestamp:
    seconds, rest = divmod(milliseconds, 1000)
    return Timestamp(seconds=seconds, nanos=rest * MILLISECOND)


class EncodedTables:
    """The messages of WatchTables, encoded once for all streams and lists that send the same version of a table."""

    def __init__(self, lifetime: FormingLifetime) -> None:
        self.lifetime = lifetime
        self._messages: OrderedDict[tuple[str, int, TableState, bool], bytes] = OrderedDict()

    def message(self, table: Table, viewer_id: str) -> bytes:
        """Return the encoded WatchTablesResponse for a viewer; only a player of the table gets the invite code.

        One who may not see the table, at which they have lost their seat, gets its id alone.
        """
        if not table.is_shown_to(viewer_id):
            gone = tables_pb2.Table(table_id=table.table_id)
            return lobby_pb2.WatchTablesResponse(table=gone).SerializeToString()
        shows_invite_code = bool(table.invite_code) and table.seat_of(viewer_id) is not None
        # A hidden table has the version of its end in streams of public tables.
        key = (table.table_id, table.version, table.state, shows_invite_code)
        message = self._messages.get(key)
        if message is None:
            message = lobby_pb2.WatchTablesResponse(
                table=encode_table(table, viewer_id, self.lifetime)
            ).SerializeToString()
            self._messages[key] = message
            if len(self._messages) > MAX_MESSAGES:
                self._messages.popitem(last=False)
        return message


def encode_seat(seat: Seat) -> tables_pb2.Seat:
    """Return the message of a seat."""
    return tables_pb2.Seat(
        player_id=seat.player_id,
        name=seat.name,
        bot=seat.bot,
        is_ready=seat.is_ready,
        is_away=seat.is_away,
        reserved_player_id=seat.reserved_player_id,
    )


def encode_played_seat(seat: Seat) -> tables_pb2.PlayedSeat:
    """Return the message of a taken seat for the engine."""
    return tables_pb2.PlayedSeat(player_id=seat.player_id, name=seat.name, bot=seat.bot)


def encode_options(options: Mapping[str, OptionValue]) -> Struct:
    """Return the message of options."""
    struct = Struct()
    struct.update(options)
    return struct


def encode_time_control(control: TimeControl) -> tables_pb2.TimeControl:
    """Return the message of a time control, every field set."""
    delay_seconds, delay_milliseconds = divmod(control.bot_delay_milliseconds, 1000)
    return tables_pb2.TimeControl(
        action_time=Duration(seconds=control.action_seconds),
        reserve_time=Duration(seconds=control.reserve_seconds),
        bot_delay=Duration(seconds=delay_seconds, nanos=delay_milliseconds * MILLISECOND),
        away_time=Duration(seconds=control.away_seconds),
    )


def decode_preparation(response: engine_control_pb2.PrepareTableResponse) -> Preparation:
    """Return a table as the engine prepared it."""
    return Preparation(
        _decode_options(response.options),
        _decode_time_control(response.time_control, ZERO_TIME_CONTROL),
        response.seed_commitment,
        response.rules_version,
        tuple(tuple(team.seats) for team in response.teams),
    )


def decode_status(status: engine_control_pb2.TableStatus) -> TableStatus:
    """Return the status of a table."""
    turn = status.turn
    known = Turn(turn.to_act, turn.away, turn.deadline_unix_ms) if status.HasField("turn") else None
    return TableStatus(status.is_finished, status.acted_player_ids, known)


def decode_games(response: engine_control_pb2.DescribeGamesResponse) -> OfferedGames:
    """Return the games as the engine describes them."""
    games = tuple(
        GameDescription(
            game.game,
            game.min_seats,
            game.max_seats,
            tuple(game.bots),
            game.SerializeToString(),
            {preset.name: _decode_preset(preset) for preset in game.presets},
        )
        for game in response.games
    )
    reactions = tuple(reaction.SerializeToString() for reaction in response.reactions)
    return OfferedGames(games, response.is_rolling_out, reactions)


def _decode_preset(preset: games_pb2.PresetDescription) -> Preset:
    times = tables_pb2.TimeControl(action_time=preset.action_time, reserve_time=preset.reserve_time)
    return Preset(_decode_options(preset.options), _decode_time_control(times, ZERO_TIME_CONTROL))


def encode_games(offered: OfferedGames, language: str) -> lobby_pb2.ListGamesResponse:
    """Return the engine's messages of games and reactions in a language."""
    return lobby_pb2.ListGamesResponse(
        games=[games_pb2.GameDescription.FromString(game.description) for game in offered.games],
        reactions=map(games_pb2.ReactionDescription.FromString, offered.reactions),
        language=language,
    )
