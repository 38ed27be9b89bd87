"""The contract's messages of options, time controls, tables and games, and the engine's values."""

from collections.abc import Iterable, Mapping
from typing import Any

from google.protobuf.duration_pb2 import Duration
from google.protobuf.struct_pb2 import Struct, Value

from croupier.engine.api.game_texts import OPTION_MEANING, PROPOSAL_MEANING, SUMMARY, GameTexts, texts_of
from croupier.engine.core.log import AWAY_MILLISECONDS, ClockConfig, SeatConfig, TableConfig
from croupier.games.cards import CardFace
from croupier.games.facts import Seat
from croupier.games.interface import Game, Option, OptionValue, Preset, Standing
from croupier.games.registry import UnknownRules, bots_of, installed_games, rules_of
from croupier.games.words import WordKind
from croupier.runtime.errors import MalformedRequest, invalid_field
from croupier.runtime.table_access_codec import encode_access
from croupier.runtime.translations import ENGLISH
from croupier_api.v1 import cards_pb2, errors_pb2, games_pb2, tables_pb2

MAX_WORD_CHARACTERS = 64
NANOSECONDS = 1_000_000
"""In a millisecond."""


# Options


def encode_options(options: Mapping[str, OptionValue]) -> Struct:
    """Return the message of options by name."""
    return Struct(fields={name: _encode_option_value(value) for name, value in options.items()})


def _encode_option_value(value: OptionValue) -> Value:
    if isinstance(value, bool):
        return Value(bool_value=value)
    return Value(string_value=value) if isinstance(value, str) else Value(number_value=value)


def decode_options(message: Struct) -> dict[str, OptionValue]:
    """Return options by name; raises MalformedRequest for a value that is no boolean, integer or short string."""
    return {name: _decode_option(name, value) for name, value in message.fields.items()}


def _decode_option(name: str, value: Value) -> OptionValue:
    match value.WhichOneof("kind"):
        case "bool_value":
            return value.bool_value
        case "string_value" if len(value.string_value) <= MAX_WORD_CHARACTERS:
            return value.string_value
        case "number_value" if value.number_value.is_integer():
            return int(value.number_value)
    shown = name[:MAX_WORD_CHARACTERS]
    raise MalformedRequest(
        errors_pb2.ERROR_REASON_INVALID_OPTION,
        f"invalid option {shown!r}: expected true, false, an integer, or at most {MAX_WORD_CHARACTERS} characters",
        field=f"options.{shown}",
    )


# Time controls


def encode_time_control(clock: ClockConfig) -> tables_pb2.TimeControl:
    """Return the message of a table's clock."""
    return tables_pb2.TimeControl(
        action_time=_encode_duration(clock.action_milliseconds),
        reserve_time=_encode_duration(clock.reserve_milliseconds),
        bot_delay=_encode_duration(clock.bot_delay_milliseconds),
        away_time=_encode_duration(clock.away_milliseconds),
    )


def decode_time_control(message: tables_pb2.TimeControl) -> ClockConfig:
    """Return a table's clock; raises MalformedRequest for a part that is missing or finer than its unit.

    Lobbies of earlier versions send no away_time.
    """
    is_given = message.HasField("away_time")
    away = _decode_duration(message, "away_time", "seconds", 1_000) if is_given else AWAY_MILLISECONDS
    return ClockConfig(
        _decode_duration(message, "action_time", "seconds", 1_000),
        _decode_duration(message, "reserve_time", "seconds", 1_000),
        _decode_duration(message, "bot_delay", "milliseconds", 1),
        away_milliseconds=away,
    )


def _encode_duration(milliseconds: int) -> Duration:
    return Duration(seconds=milliseconds // 1000, nanos=milliseconds % 1000 * NANOSECONDS)


def _decode_duration(message: Any, name: str, unit: str, unit_milliseconds: int) -> int:
    milliseconds, rest = divmod(getattr(message, name).ToNanoseconds(), NANOSECONDS)
    if not message.HasField(name) or rest or milliseconds % unit_milliseconds:
        raise invalid_field(f"time_control.{name}", f"invalid {name}: expected a number of whole {unit}")
    return int(milliseconds)


# Tables


def encode_seat(seat: SeatConfig) -> tables_pb2.PlayedSeat:
    """Return the message of a seat."""
    return tables_pb2.PlayedSeat(player_id=seat.player_id, name=seat.name, bot=seat.bot)


def decode_seat(message: tables_pb2.PlayedSeat) -> SeatConfig:
    """Return a seat of a table to open."""
    return SeatConfig("" if message.bot else message.player_id, message.name, message.bot)


def encode_teams(teams: Iterable[tuple[Seat, ...]]) -> list[games_pb2.Team]:
    """Return the messages of teams."""
    return [games_pb2.Team(seats=team) for team in teams]


def encode_table(config: TableConfig, is_over: bool) -> tables_pb2.PlayedTable:
    """Return the message of a table in play, or of one whose game is over."""
    rules = rules_of(config.game, config.rules_version)
    return tables_pb2.PlayedTable(
        table_id=config.table_id,
        game=config.game,
        rules_version=config.rules_version,
        options=encode_options(config.options),
        time_control=encode_time_control(config.clock),
        seats=[encode_seat(seat) for seat in config.seats],
        teams=encode_teams(rules.teams(config.seat_count)),
        seed_commitment=config.commitment,
        state=tables_pb2.TABLE_STATE_FINISHED if is_over else tables_pb2.TABLE_STATE_PLAYING,
        access=encode_access(config.access),
    )


# Games


def decode_rules(game: str, version: int) -> Game:
    """Return a version of the rules of a game, with 0 that of new tables; raises MalformedRequest for unknown ones."""
    if game not in installed_games():
        reason, message = (
            errors_pb2.ERROR_REASON_UNKNOWN_GAME,
            f"invalid game {game!r}: expected one of {', '.join(installed_games())}",
        )
        raise MalformedRequest(reason, message, field="game")
    try:
        return rules_of(game, version) if version else installed_games()[game]
    except UnknownRules as error:
        raise MalformedRequest(errors_pb2.ERROR_REASON_UNKNOWN_GAME, str(error), field="rules_version") from None


def encode_game(game: Game, seats: int = 0, language: str = ENGLISH) -> games_pb2.GameDescription:
    """Return the description of a game, with its options for a number of seats, by default the greatest."""
    texts = texts_of(game, language)
    return games_pb2.GameDescription(
        game=game.id,
        name=game.name,
        summary=texts.text(SUMMARY, game.summary),
        min_seats=game.seats.start,
        max_seats=game.seats.stop - 1,
        rules_version=game.rules_version,
        options=[_encode_option(texts, option) for option in game.options(seats or game.seats.stop - 1)],
        bots=list(bots_of(game)),
        words=[
            games_pb2.Word(kind=games_pb2.WordKind.ValueType(kind), word=word, text=text)
            for kind, word, text in texts.words()
        ],
        proposals=[
            games_pb2.ProposalDescription(name=name, meaning=texts.text(PROPOSAL_MEANING, meaning))
            for name, meaning in game.proposals.items()
        ],
        deck=[_encode_face(texts, face) for face in game.deck],
        team_layouts=[
            games_pb2.TeamLayout(seat_count=count, teams=encode_teams(teams))
            for count in game.seats
            if (teams := game.teams(count))
        ],
        presets=map(_encode_preset, game.presets),
        standing=encode_standing(game.standing),
        piles=[
            games_pb2.PileDescription(
                name=pile.name,
                role=games_pb2.PileRole.ValueType(pile.role),
                display=games_pb2.PileDisplay.ValueType(pile.display),
            )
            for pile in sorted(game.piles, key=lambda pile: pile.role)
        ],
        has_tricks=game.has_tricks,
        recommended_seats=game.recommended_seats or (),
    )


def encode_standing(standing: Standing) -> games_pb2.Standing:
    """Return the message of how results count."""
    better = standing.outcomes[0]
    return games_pb2.Standing(
        outcomes=standing.outcomes,
        winning_outcomes=[better] if standing.has_winners else [],
        leaderboard=games_pb2.LeaderboardOrder(
            figure=standing.figure,
            counted=better,
            of=standing.outcomes if standing.is_share else (),
            order="descending",
            tie_breakers=[*(["average_place"] if standing.places_decide else []), "games_finished"],
        ),
    )


def _encode_preset(preset: Preset) -> games_pb2.PresetDescription:
    return games_pb2.PresetDescription(
        name=preset.name,
        options=encode_options(preset.options),
        action_time=Duration(seconds=preset.action_seconds),
        reserve_time=Duration(seconds=preset.reserve_seconds),
    )


def _encode_face(texts: GameTexts, face: CardFace) -> cards_pb2.CardFace:
    label = texts.text(WordKind.CARD.name.lower(), face.label)
    return cards_pb2.CardFace(number=face.card + 1, notation=face.notation, suit=face.suit, rank=face.rank, label=label)


def _encode_option(texts: GameTexts, option: Option) -> games_pb2.OptionDescription:
    requirements = [
        games_pb2.OptionRequirement(
            value=_encode_option_value(value), option=other, option_value=_encode_option_value(other_value)
        )
        for value, other, other_value in option.requirements
    ]
    message = games_pb2.OptionDescription(
        name=option.name,
        meaning=texts.text(OPTION_MEANING, option.meaning),
        requirements=requirements,
        group=option.group,
        unit=option.unit,
    )
    if option.condition is not None:
        condition = games_pb2.OptionCondition(
            option=option.condition.other, values=map(_encode_option_value, option.condition.values)
        )
        message.condition.CopyFrom(condition)
    if isinstance(option.default, bool):
        message.flag.CopyFrom(games_pb2.FlagOption(default_value=option.default))
    elif isinstance(option.allowed, range) and isinstance(option.default, int):
        min_value, max_value = option.allowed[0], option.allowed[-1]
        values = games_pb2.RangeOption(min_value=min_value, max_value=max_value, default_value=option.default)
        message.integer_range.CopyFrom(values)
    else:
        allowed = [_encode_option_value(value) for value in option.allowed]
        default = _encode_option_value(option.default)
        message.choice.CopyFrom(games_pb2.ChoiceOption(values=allowed, default_value=default))
    return message
