"""Between the contract's messages and the lobby's values; and the checks that need no state."""

from croupier.lobby.engine_port import GameDescription, OptionDescription
from croupier.lobby.forming import TableWish
from croupier.lobby.matching import MatchNews
from croupier.lobby.players import Player
from croupier.lobby.tables import FREE_SEAT, Seat, Table, TableClock, TableState
from croupier.lobby.tickets import Wish
from croupier.lobby.tokens import Tokens
from croupier.runtime.errors import MalformedRequest
from croupier_api.v1 import engine_pb2, lobby_pb2, table_pb2

LONGEST_ID_CHARACTERS = 64
LONGEST_CLIENT_SEED_BYTES = 64
MOST_OPTIONS = 64
SHOWN_STATES = {
    TableState.FORMING: lobby_pb2.TABLE_STATE_FORMING,
    TableState.OPENING: lobby_pb2.TABLE_STATE_FORMING,
    TableState.PLAYING: lobby_pb2.TABLE_STATE_PLAYING,
    TableState.FINISHED: lobby_pb2.TABLE_STATE_FINISHED,
    TableState.CLOSED: lobby_pb2.TABLE_STATE_CLOSED,
}


def read_id(field: str, text: str) -> str:
    """An id; raises MalformedRequest unless it has 1 to 64 visible ASCII characters."""
    if not 1 <= len(text) <= LONGEST_ID_CHARACTERS or not (text.isascii() and text.isprintable()):
        raise MalformedRequest(
            "ID", f"{field} is missing or no id: 1 to {LONGEST_ID_CHARACTERS} ASCII characters are needed", field=field
        )
    return text


def read_optional_id(field: str, text: str) -> str:
    """An id, or an empty text."""
    return read_id(field, text) if text else ""


def read_client_seed(seed: bytes) -> bytes:
    """What a player adds to the shuffles; raises MalformedRequest beyond 64 bytes."""
    if len(seed) > LONGEST_CLIENT_SEED_BYTES:
        raise MalformedRequest(
            "CLIENT_SEED",
            f"client_seed has {len(seed)} bytes: {LONGEST_CLIENT_SEED_BYTES} are the most",
            field="client_seed",
        )
    return seed


def read_table_wish(request: lobby_pb2.CreateTableRequest, usual: TableClock) -> TableWish:
    """A table to form; an unset or zero field of the clock takes the usual value."""
    options = dict(request.options.values)
    if len(options) > MOST_OPTIONS:
        raise MalformedRequest("OPTIONS", f"{len(options)} options are too many for any game", field="options")
    clock = TableClock(
        request.clock.action_seconds or usual.action_seconds,
        request.clock.reserve_seconds or usual.reserve_seconds,
        request.clock.bot_delay_milliseconds,
    )
    return TableWish(read_id("game", request.game), _read_seats(request.seats), options, clock, request.private)


def read_wish(request: lobby_pb2.QuickMatchRequest) -> Wish:
    """A wish to be matched."""
    return Wish(read_id("game", request.game), _read_seats(request.seats))


def _read_seats(seats: int) -> int:
    if seats == 0:
        raise MalformedRequest("SEATS", "seats is missing: say how many the table has", field="seats")
    return seats


def read_states(state: int) -> tuple[TableState, ...]:
    """The states that a filter means; raises MalformedRequest for one that does not exist."""
    if state == lobby_pb2.TABLE_STATE_UNSPECIFIED:
        return tuple(SHOWN_STATES)
    states = tuple(inner for inner, shown in SHOWN_STATES.items() if shown == state)
    if not states:
        raise MalformedRequest("STATE", f"state is {state}: there is no such state of a table", field="state")
    return states


def write_player(player: Player) -> lobby_pb2.Player:
    """A player."""
    return lobby_pb2.Player(player_id=player.player_id, name=player.name)


def write_tokens(tokens: Tokens) -> lobby_pb2.Tokens:
    """Tokens."""
    return lobby_pb2.Tokens(
        access_token=tokens.access_token,
        access_expires_milliseconds=tokens.access_expires_milliseconds,
        refresh_token=tokens.refresh_token,
        refresh_expires_milliseconds=tokens.refresh_expires_milliseconds,
    )


def write_table(table: Table, viewer_id: str) -> lobby_pb2.Table:
    """A table as a viewer may see it: the invite code is for those who sit there."""
    return lobby_pb2.Table(
        table_id=table.table_id,
        game=table.game,
        options=table_pb2.GameOptions(values=dict(table.options)),
        clock=write_clock(table.clock),
        state=SHOWN_STATES[table.state],
        seats=[_write_seat(seat) for seat in table.seats],
        host_player_id=table.host_player_id,
        private=table.private,
        invite_code=table.invite_code if table.seat_of(viewer_id) is not None else "",
        commitment=table.commitment,
        created_milliseconds=table.created_milliseconds,
    )


def write_news(news: MatchNews, viewer_id: str) -> lobby_pb2.QuickMatchResponse:
    """How a wish stands."""
    table = write_table(news.table, viewer_id) if news.table else None
    return lobby_pb2.QuickMatchResponse(ticket_id=news.ticket_id, waiting=news.waiting, table=table)


def _write_seat(seat: Seat) -> lobby_pb2.TableSeat:
    occupant = None if seat == FREE_SEAT else write_occupant(seat)
    return lobby_pb2.TableSeat(occupant=occupant, ready=seat.ready)


def write_occupant(seat: Seat) -> table_pb2.SeatInfo:
    """Who sits somewhere."""
    return table_pb2.SeatInfo(player_id=seat.player_id, name=seat.name, bot=seat.bot)


def write_clock(clock: TableClock) -> table_pb2.Clock:
    """A clock."""
    return table_pb2.Clock(
        action_seconds=clock.action_seconds,
        reserve_seconds=clock.reserve_seconds,
        bot_delay_milliseconds=clock.bot_delay_milliseconds,
    )


def read_clock(clock: table_pb2.Clock) -> TableClock:
    """A clock, as it is."""
    return TableClock(clock.action_seconds, clock.reserve_seconds, clock.bot_delay_milliseconds)


def write_game(game: GameDescription) -> engine_pb2.GameDescription:
    """A game."""
    return engine_pb2.GameDescription(
        game=game.game,
        name=game.name,
        summary=game.summary,
        min_seats=game.min_seats,
        max_seats=game.max_seats,
        rules_version=game.rules_version,
        options=[_write_option(option) for option in game.options],
        bots=game.bots,
        names=game.names,
        proposals=game.proposals,
    )


def _write_option(option: OptionDescription) -> engine_pb2.OptionDescription:
    return engine_pb2.OptionDescription(
        name=option.name,
        type=option.type,
        default_value=option.default_value,
        allowed_values=option.allowed_values,
        meaning=option.meaning,
    )


def read_game(game: engine_pb2.GameDescription) -> GameDescription:
    """A game."""
    options = tuple(
        OptionDescription(option.name, option.type, option.default_value, tuple(option.allowed_values), option.meaning)
        for option in game.options
    )
    return GameDescription(
        game.game,
        game.name,
        game.summary,
        game.min_seats,
        game.max_seats,
        game.rules_version,
        options,
        tuple(game.bots),
        dict(game.names),
        dict(game.proposals),
    )
