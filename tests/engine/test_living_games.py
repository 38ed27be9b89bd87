"""New tables are of games that all living engines offer, by the last version of the rules that all of them know."""

from collections.abc import Sequence

import pytest

from croupier.engine.api.control_servicer import EngineControlServicer, engine_games
from croupier.engine.core.living_games import EngineGames, LivingGames, decode_engine_games
from croupier.engine.settings import EngineSettings
from croupier.games.registry import installed_games
from croupier.games.thulla.game import Thulla
from croupier.runtime.errors import MalformedRequest, Unavailable
from croupier.runtime.server.program import SettingsError
from croupier.runtime.settings import read_settings
from croupier_internal.v1 import engine_control_pb2
from tests.calls import call_of
from tests.engine.fakes import EngineHarness
from tests.engine.play import CLOCK, people
from tests.engine.toys import rules_known

BOTH = EngineGames("digest", {"hearts": [1, 2], "thulla": [1]}, ["thulla", "hearts"])
REQUIRED = ("--lobby-public-key=a", "--signing-key=b", "--scoring-control=c:1", "--database=sqlite:///d")


class SecondThulla(Thulla):
    """The same game under a later version of its rules."""

    rules_version = 2


@pytest.mark.parametrize(
    ("others", "offered"),
    [
        ([], {"thulla": 1, "hearts": 2}),
        ([BOTH, None], {"thulla": 1, "hearts": 2}),
        ([BOTH._replace(versions={"hearts": [1], "thulla": [1]})], {"thulla": 1, "hearts": 1}),
        ([BOTH._replace(versions={"hearts": [3], "thulla": [1, 2]})], {"thulla": 1}),
        ([BOTH._replace(versions={"thulla": [1]}, offered=["thulla"])], {"thulla": 1}),
        ([BOTH._replace(offered=["hearts"])], {"hearts": 2}),
        ([BOTH._replace(offered=[])], {}),
    ],
)
def test_what_all_engines_offer_is_offered(others: Sequence[EngineGames | None], offered: dict[str, int]) -> None:
    living = LivingGames((BOTH, *others))
    assert list(living.offered().items()) == list(offered.items())
    assert living.is_rolling_out == any(games != BOTH for games in others)


def test_rules_may_be_known_to_an_engine_that_has_them_or_does_not_say() -> None:
    assert LivingGames((BOTH,)).may_be_known("hearts", 2)
    assert not LivingGames((BOTH,)).may_be_known("hearts", 3)
    assert not LivingGames((BOTH,)).may_be_known("gin", 1)
    assert LivingGames((BOTH, BOTH._replace(versions={"gin": [1]}))).may_be_known("gin", 1)
    assert LivingGames((BOTH, None)).may_be_known("gin", 1)


def test_a_heartbeat_has_the_games_of_its_engine() -> None:
    games = engine_games(("solo", "thulla"))
    assert (games.offered, games.versions["solo"]) == (["solo", "thulla"], [1])
    assert decode_engine_games(games.digest, games.encode()) == games
    assert engine_games().offered == list(installed_games())


async def described(engine: EngineHarness) -> dict[str, int]:
    control = EngineControlServicer(engine.tables(), engine.store, engine.scoring)
    answer = await control.DescribeGames(engine_control_pb2.DescribeGamesRequest(), call_of("lobby"))
    return {game.game: game.rules_version for game in answer.games}


async def test_a_new_version_is_played_once_all_engines_know_it(engine: EngineHarness) -> None:
    with rules_known(SecondThulla()):
        tables = engine.tables()
        old = engine_games()
        engine.liveness_store.others = [old._replace(versions={**old.versions, "thulla": [1]})]
        assert (await described(engine))["thulla"] == 1
        assert (await tables.prepare("t1", "thulla", 3, {}, CLOCK)).rules_version == 1
        engine.liveness_store.others = [old]
        assert (await described(engine))["thulla"] == 2
        assert (await tables.prepare("t2", "thulla", 3, {}, CLOCK)).rules_version == 2
        for table_id, version in (("t1", 1), ("t2", 2)):
            await tables.open(table_id, people(3), [b""] * 3)
            assert (await tables.get(table_id)).config.rules_version == version


async def test_a_game_that_is_not_offered_gets_no_new_tables_and_those_that_exist_play_on(
    engine: EngineHarness,
) -> None:
    tables = engine.tables()
    await tables.prepare("t1", "thulla", 3, {}, CLOCK)
    without = engine_games([game for game in installed_games() if game != "thulla"])
    engine.liveness_store.own = without._replace(digest="games")
    assert "thulla" not in await described(engine)
    with pytest.raises(MalformedRequest, match="invalid game 'thulla': expected one_ten") as refusal:
        await tables.prepare("t2", "thulla", 3, {}, CLOCK)
    assert refusal.value.reason_name == "UNKNOWN_GAME"
    await tables.open("t1", people(3), [b""] * 3)
    assert (await tables.get("t1")).state.seats_to_act
    # While engines differ, another may offer it.
    engine.liveness_store.others = [None]
    with pytest.raises(Unavailable):
        await tables.check("t2", "thulla", 3, {}, CLOCK)


def test_the_setting_names_installed_games_in_the_order_to_show_them() -> None:
    settings = read_settings(EngineSettings, "croupier serve engine", (*REQUIRED, "--games=solo, thulla,"))
    assert settings.offered_games == ("solo", "thulla")
    assert read_settings(EngineSettings, "croupier serve engine", REQUIRED).offered_games == ()
    with pytest.raises(SettingsError) as refusal:
        read_settings(EngineSettings, "croupier serve engine", (*REQUIRED, "--games=solo,hearts"))
    expected = f"unknown game 'hearts': expected some of {', '.join(installed_games())}, with commas between"
    assert str(refusal.value) == f"invalid --games (CROUPIER_GAMES) 'solo,hearts': {expected}"
