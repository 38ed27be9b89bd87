"""What DescribeGames describes for a number of seats is what PrepareTable accepts, and nothing else."""

from collections.abc import Iterator, Sequence
from itertools import count
from random import Random
from typing import Any

import pytest
from google.protobuf.duration_pb2 import Duration
from google.protobuf.json_format import MessageToDict, ParseDict
from google.protobuf.struct_pb2 import Struct

from croupier.engine.api.control_servicer import EngineControlServicer
from croupier.games.interface import Game
from croupier.games.registry import OWN_GAMES
from croupier.runtime.errors import MalformedRequest
from croupier_api.v1 import games_pb2, tables_pb2
from croupier_internal.v1 import engine_control_pb2 as pb
from tests.calls import call_of
from tests.engine.fakes import EngineHarness

TRIES = 10
SEAT_COUNTS = range(1, 10)
TIMES = tables_pb2.TimeControl(action_time=Duration(seconds=30), reserve_time=Duration(), bot_delay=Duration())
WRONG: Sequence[Any] = (None, True, False, -1, 0, 1, 7, 2.5, 10**6, "", "nonsense", "1", [1], {"a": 1})
table_ids = count()


@pytest.fixture
def servicer(engine: EngineHarness) -> EngineControlServicer:
    return EngineControlServicer(engine.tables(), engine.store, engine.scoring)


async def described(servicer: EngineControlServicer, seat_count: int) -> Sequence[games_pb2.GameDescription]:
    request = pb.DescribeGamesRequest(seat_count=seat_count)
    return (await servicer.DescribeGames(request, call_of("lobby"))).games


async def prepared(
    servicer: EngineControlServicer,
    game: str,
    seat_count: int,
    options: dict[str, Any],
    times: tables_pb2.TimeControl = TIMES,
) -> Any:
    """Return all options of a new table, as JSON has them."""
    request = pb.PrepareTableRequest(
        table_id=f"t{next(table_ids)}",
        game=game,
        seat_count=seat_count,
        options=ParseDict(options, Struct()),
        time_control=times,
    )
    return MessageToDict((await servicer.PrepareTable(request, call_of("lobby"))).options)


def values_of(option: games_pb2.OptionDescription) -> tuple[Any, Sequence[Any]]:
    """Return the default of an option and its values, as JSON has them."""
    match option.WhichOneof("values"):
        case "flag":
            return option.flag.default_value, [False, True]
        case "integer_range":
            values = option.integer_range
            return values.default_value, range(values.min_value, values.max_value + 1)
        case _:
            return MessageToDict(option.choice.default_value), [MessageToDict(value) for value in option.choice.values]


def is_same(one: Any, other: Any) -> bool:
    """Return whether two values of JSON are the same: true is no number."""
    return isinstance(one, bool) == isinstance(other, bool) and one == other


def broken_by(game: games_pb2.GameDescription, options: dict[str, Any]) -> set[str]:
    """Return the options whose value needs another one of another option, by the description alone."""
    resolved = {option.name: values_of(option)[0] for option in game.options} | options
    return {
        option.name
        for option in game.options
        for one in option.requirements
        if is_same(resolved[option.name], MessageToDict(one.value))
        and not is_same(resolved[one.option], MessageToDict(one.option_value))
    }


def drawn(game: games_pb2.GameDescription, random: Random) -> dict[str, Any]:
    """Return described values of some options, of a range often the ends."""
    options = {}
    for option in game.options:
        _, values = values_of(option)
        if random.random() < 0.7:
            options[option.name] = random.choice([values[0], values[-1], random.choice(values)])
    return options


def undescribed(option: games_pb2.OptionDescription) -> Iterator[Any]:
    """Yield values that an option does not have, those next to a range among them."""
    _, values = values_of(option)
    ends = (values[0] - 1, values[-1] + 1) if isinstance(values, range) else ()
    yield from (value for value in (*WRONG, *ends) if not any(is_same(value, allowed) for allowed in values))


@pytest.mark.parametrize("seat_count", SEAT_COUNTS)
async def test_all_that_is_described_is_accepted_and_all_else_refused_by_name(
    servicer: EngineControlServicer, seat_count: int, seed: int
) -> None:
    random = Random(seed)
    for game in await described(servicer, seat_count):
        for _ in range(TRIES):
            options = drawn(game, random)
            broken = broken_by(game, options)
            if not broken:
                resolved = await prepared(servicer, game.game, seat_count, options)
                assert resolved == {option.name: values_of(option)[0] for option in game.options} | options
                continue
            with pytest.raises(MalformedRequest) as refusal:
                await prepared(servicer, game.game, seat_count, options)
            assert refusal.value.field in {f"options.{name}" for name in broken}
        for option in game.options:
            for value in undescribed(option):
                with pytest.raises(MalformedRequest) as refusal:
                    await prepared(servicer, game.game, seat_count, {option.name: value})
                assert refusal.value.field == f"options.{option.name}", value
        with pytest.raises(MalformedRequest) as refusal:
            await prepared(servicer, game.game, seat_count, {"nonsense": 1})
        assert refusal.value.field == "options.nonsense"


@pytest.mark.parametrize("seat_count", SEAT_COUNTS)
async def test_every_requirement_is_needed_and_suffices(servicer: EngineControlServicer, seat_count: int) -> None:
    for game in await described(servicer, seat_count):
        options = {option.name: option for option in game.options}
        for option in game.options:
            for one in option.requirements:
                value, needed = MessageToDict(one.value), MessageToDict(one.option_value)
                for other in values_of(options[one.option])[1]:
                    chosen = {option.name: value, one.option: other}
                    if is_same(other, needed):
                        await prepared(servicer, game.game, seat_count, chosen)
                        continue
                    with pytest.raises(MalformedRequest) as refusal:
                        await prepared(servicer, game.game, seat_count, chosen)
                    assert refusal.value.field == f"options.{option.name}"


@pytest.mark.parametrize("seat_count", SEAT_COUNTS)
async def test_a_game_without_this_number_of_seats_is_left_out_and_refuses_it(
    servicer: EngineControlServicer, seat_count: int
) -> None:
    games = {game.game for game in await described(servicer, seat_count)}
    assert games == {game.id for game in OWN_GAMES.values() if seat_count in game.seats}
    for game in OWN_GAMES.keys() - games:
        with pytest.raises(MalformedRequest) as refusal:
            await prepared(servicer, game, seat_count, {})
        assert refusal.value.field == "seat_count"


async def test_without_a_number_the_options_are_those_of_the_greatest(servicer: EngineControlServicer) -> None:
    games = await described(servicer, 0)
    assert [game.game for game in games] == list(OWN_GAMES)
    for game in games:
        assert game in await described(servicer, game.max_seats)


@pytest.mark.parametrize("game", OWN_GAMES.values(), ids=lambda game: game.id)
async def test_every_preset_is_accepted_with_every_number_of_seats(servicer: EngineControlServicer, game: Game) -> None:
    (described_game,) = [one for one in await described(servicer, 0) if one.game == game.id]
    presets = {preset.name: preset for preset in described_game.presets}
    assert len(presets) == len(described_game.presets)
    assert {"blitz", "slow"} <= set(presets)
    for seat_count in game.seats:
        for preset in presets.values():
            times = tables_pb2.TimeControl(action_time=preset.action_time, reserve_time=preset.reserve_time)
            times.bot_delay.CopyFrom(Duration())
            options = MessageToDict(preset.options)
            resolved = await prepared(servicer, game.id, seat_count, options, times)
            assert resolved | options == resolved


async def test_three_seats_have_three_dealers_and_ten_cards_from_one_pack(servicer: EngineControlServicer) -> None:
    options = {(game.game, option.name): option for game in await described(servicer, 3) for option in game.options}
    assert options["thulla", "first_dealer"].integer_range.max_value == 2
    assert not options["one_ten", "hand_size"].requirements
