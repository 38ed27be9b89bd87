"""Checks tables as CreateTable, GetTable, JoinTable, UpdateTable and FindMatch of lobby.proto promise them."""

from collections.abc import Iterator, Sequence

from croupier_api.v1 import games_pb2, lobby_pb2, tables_pb2
from croupier_loadtest.judge.violations import Invariant, Violation

COMMITMENT_DIGITS = 64
SETTINGS = ("options", "time_control", "access")
"""What a host may change, beside the number of seats."""


def check_creation(host_id: str, request: lobby_pb2.CreateTableRequest, table: tables_pb2.Table) -> Iterator[Violation]:
    """Yield the differences between a table, as the first answer shows it, and the request that created it."""
    expected = [tables_pb2.Seat(player_id=host_id, is_ready=request.is_ready)]
    expected += [tables_pb2.Seat(bot=bot, is_ready=True) for bot in request.bots]
    expected += [tables_pb2.Seat()] * (request.seat_count - len(expected))
    if _occupants(table.seats) != _occupants(expected):
        yield _wrong(table, f"it was created with seats {_occupants(table.seats)}, and not {_occupants(expected)}")
    if (table.game, table.host_player_id) != (request.game, host_id):
        yield _wrong(
            table, f"it is of {table.game} and {table.host_player_id}, and not of {request.game} and {host_id}"
        )
    yield from _check_commitment(table)


def check_repeat(first: tables_pb2.Table, repeated: tables_pb2.Table) -> Iterator[Violation]:
    """Yield a violation if a repeated request returns another table than the first one."""
    if repeated.table_id != first.table_id:
        detail = f"CreateTable with the same request_id also created {repeated.table_id or 'no table'}"
        yield Violation(Invariant.REPEAT_DIFFERS, first.table_id, 0, detail)


def check_look(
    player_id: str, before: tables_pb2.Table, shown: tables_pb2.Table, after: tables_pb2.Table
) -> Iterator[Violation]:
    """Yield what is wrong with a look at a table by a player without a seat, between two answers to its host.

    Nobody changes the table meanwhile.
    """
    if shown.table_id != before.table_id:
        yield _wrong(before, f"its code shows {shown.table_id or 'no table'}")
        return
    if any(seat.player_id == player_id for seat in (*shown.seats, *after.seats)):
        yield _wrong(before, f"a look at it has given {player_id} a seat")
    if shown.invite_code:
        yield _wrong(before, f"a look at it has shown its invite code to {player_id}, who has no seat")
    for name, table in (("shows", shown), ("has made", after)):
        if _occupants(table.seats) != _occupants(before.seats):
            yield _wrong(before, f"a look at it {name} {_occupants(table.seats)}, and not {_occupants(before.seats)}")
        if table.seed_commitment != before.seed_commitment:
            yield _wrong(before, f"a look at it {name} another seed commitment")


def check_seat(player_id: str, seat: int, table: tables_pb2.Table) -> Iterator[Violation]:
    """Yield a violation unless a player has the seat that they have asked JoinTable for, and no other one."""
    seats = [number for number, one in enumerate(table.seats) if one.player_id == player_id]
    if seats != [seat]:
        yield _wrong(table, f"{player_id} asked for seat {seat}, and has {seats}")


def check_name(name: str, players: Sequence[lobby_pb2.Player], table: tables_pb2.Table) -> Iterator[Violation]:
    """Yield the answers that do not have the new name of a player, and a seat of theirs that does not show it."""
    for player in players:
        shown = next((seat.name for seat in table.seats if seat.player_id == player.player_id), "")
        # A number may follow it at the table.
        if player.name != name or not shown.startswith(name):
            yield _wrong(table, f"{player.player_id} is {player.name!r}, and {shown!r} at the table, and not {name!r}")


def check_update(before: tables_pb2.Table, after: tables_pb2.Table) -> Iterator[Violation]:
    """Yield what is wrong with a version of a forming table that follows another one, maybe by UpdateTable.

    With other settings the commitment is new and the other players get ready again; with the same ones it is the same.
    """
    if not _has_other_settings(before, after):
        if before.seed_commitment not in ("", after.seed_commitment):
            yield _wrong(after, "its seed commitment has changed without its settings")
        return
    yield from _check_commitment(after)
    if after.seed_commitment == before.seed_commitment:
        yield _wrong(after, "its settings have changed, and its seed commitment has not")
    ready = [
        seat.player_id for seat in after.seats if seat.is_ready and seat.player_id not in ("", after.host_player_id)
    ]
    if ready:
        yield _wrong(after, f"its settings have changed, and {ready} are still ready")
    if after.host_player_id != before.host_player_id:
        yield _wrong(after, f"its settings have changed, and so has its host, {before.host_player_id}")
    if _people(before) != _people(after):
        yield _wrong(after, f"its settings have changed, and so have its players, {_people(before)}: {_people(after)}")


def check_match(
    player_id: str,
    game: str,
    seat_count: int,
    preset: games_pb2.PresetDescription | None,
    table: tables_pb2.Table,
    *,
    may_have_bots: bool,
) -> Iterator[Violation]:
    """Yield what is wrong with a match: another game, number of seats, options or times, or bots for nobody's time."""
    if (table.game, len(table.seats)) != (game, seat_count):
        yield _wrong(table, f"{player_id} searched for {game} with {seat_count} seats")
    if [seat.player_id for seat in table.seats].count(player_id) != 1:
        yield _wrong(table, f"{player_id} was matched without a seat, or with several")
    if not may_have_bots and any(seat.bot for seat in table.seats):
        yield _wrong(table, f"{player_id} was matched with bots, and has set no time for it")
    if preset is not None:
        times = table.time_control.action_time, table.time_control.reserve_time
        options = {name: table.options[name] for name in preset.options}
        if times != (preset.action_time, preset.reserve_time) or options != dict(preset.options.items()):
            yield _wrong(table, f"it does not have the preset {preset.name}")


def _has_other_settings(before: tables_pb2.Table, after: tables_pb2.Table) -> bool:
    return len(before.seats) != len(after.seats) or any(getattr(before, one) != getattr(after, one) for one in SETTINGS)


def _check_commitment(table: tables_pb2.Table) -> Iterator[Violation]:
    if len(table.seed_commitment) != COMMITMENT_DIGITS:
        yield _wrong(table, f"its seed commitment is {table.seed_commitment!r}")


def _occupants(seats: Sequence[tables_pb2.Seat]) -> list[tuple[str, bool]]:
    """Return the occupant of each seat, and whether they are ready."""
    return [(seat.player_id or seat.bot, seat.is_ready) for seat in seats]


def _people(table: tables_pb2.Table) -> list[str]:
    return sorted(seat.player_id for seat in table.seats if seat.player_id)


def _wrong(table: tables_pb2.Table, detail: str) -> Violation:
    return Violation(Invariant.FORMING_WRONG, table.table_id, 0, detail)
