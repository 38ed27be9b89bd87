"""Logs and configs come back from JSON as they were."""

import json
from random import Random

import pytest

from croupier.engine.log import (
    ActedBy,
    Entry,
    SeatConfig,
    body_to_json,
    config_from_json,
    config_to_json,
    entry_from_row,
)
from croupier.games.actions import (
    PLAYS,
    Action,
    Bid,
    Call,
    Draw,
    Keep,
    Match,
    NameTrump,
    Pass,
    Play,
    Swap,
    ThrowDown,
    Yield,
)
from croupier.games.interface import CardsShuffled, SeatActed
from tests.engine.play import every_game, make_config, whole_log

EVERY_ACTION: tuple[Action, ...] = (
    *PLAYS,
    *(Play(card, suit) for card in (0, 51, 52) for suit in range(4)),
    Bid(0),
    Bid(-20),
    Bid(110),
    Bid("vip"),
    Bid(""),
    Pass(),
    Match(),
    Yield(),
    Keep(),
    Keep((3, 2, 1), 2),
    Keep((), 0),
    Swap(()),
    Swap((5, 52)),
    Draw(),
    Call(None),
    Call(0),
    Call(51),
    NameTrump(0, do=False),
    NameTrump(3, do=True),
    ThrowDown(),
)


def again(entry: Entry) -> Entry:
    return entry_from_row(entry.sequence, entry.at, entry.deadline, body_to_json(entry))


@pytest.mark.parametrize("action", EVERY_ACTION, ids=repr)
def test_every_action_comes_back_from_its_row(action: Action) -> None:
    entry = Entry(7, 1_790_000_000_001, 1_790_000_030_001, SeatActed(3, action), ActedBy.PLAYER, 'é"\n\u2028 x')
    assert again(entry) == entry
    assert "\n" not in body_to_json(entry)


@pytest.mark.parametrize("by", ActedBy)
def test_who_acted_comes_back_from_its_row(by: ActedBy) -> None:
    entry = Entry(1, 5, 0, SeatActed(0, Pass()), by)
    assert again(entry) == entry
    assert again(entry).acted_by is by


@pytest.mark.parametrize("event", [CardsShuffled((51, 0, 52, 7), (3, 0)), CardsShuffled((1,)), CardsShuffled((), (2,))])
def test_every_shuffle_comes_back_from_its_row(event: CardsShuffled) -> None:
    entry = Entry(1, 5, 0, event)
    assert again(entry) == entry


@every_game
def test_the_log_of_a_whole_game_comes_back_from_its_rows(game: str, seed: int) -> None:
    log = whole_log(make_config(game), Random(seed))
    assert [again(entry) for entry in log] == log


def test_a_config_comes_back_from_its_text() -> None:
    seats = (SeatConfig("p0", 'Ünï "x"', ""), SeatConfig("", "Computer", "random"))
    config = make_config("thulla", seats=seats, options={"best_of": 3})
    text = config_to_json(config)
    assert config_from_json(config.table_id, config.game, config.rules_version, config.seed, text) == config
    assert config.seed.hex() not in text
    assert isinstance(json.loads(text), dict)
