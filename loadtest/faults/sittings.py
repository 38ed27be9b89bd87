"""What is played during a run: all from one seed."""

from collections.abc import Mapping
from random import Random
from typing import NamedTuple

from croupier_api.v1 import table_pb2

OptionValue = bool | int | str


class Sitting(NamedTuple):
    """One table to come: people take the first seats, computer players the others."""

    game: str
    people: int
    bots: tuple[str, ...]
    options: Mapping[str, OptionValue]
    clock: table_pb2.Clock
    has_leavers: bool
    has_spectator: bool


class _Kind(NamedTuple):
    game: str
    seats: tuple[int, ...]
    options: Mapping[str, OptionValue]


_KINDS = (
    _Kind("thulla", (4, 3, 6, 2, 5), {}),
    _Kind("one_ten", (4, 3, 6, 2, 5), {"max_rounds": 2}),
    _Kind("jossing", (4, 3, 5, 2, 6), {}),
    _Kind("one_oh_one", (3, 4, 2), {"max_rounds": 3}),
    _Kind("solo", (4,), {}),
)
_BOTS = ("random", "sensible")
_PATIENT = table_pb2.Clock(action_seconds=30, reserve_seconds=60)
_BRISK = table_pb2.Clock(action_seconds=5, reserve_seconds=20)
_BOT_SHARE, _LEAVER_SHARE, _SPECTATOR_SHARE, _BRISK_SHARE = 0.3, 0.08, 0.1, 0.4


def sitting(number: int, random: Random) -> Sitting:
    """The table that a party plays at next; `number` makes all games and numbers of seats come in turn."""
    kind = _KINDS[number % len(_KINDS)]
    seats = kind.seats[number // len(_KINDS) % len(kind.seats)]
    bots = random.randint(1, seats - 1) if random.random() < _BOT_SHARE else 0
    has_leavers = random.random() < _LEAVER_SHARE
    return Sitting(
        kind.game,
        seats - bots,
        tuple(random.choice(_BOTS) for _ in range(bots)),
        kind.options,
        _BRISK if has_leavers or random.random() < _BRISK_SHARE else _PATIENT,
        has_leavers,
        random.random() < _SPECTATOR_SHARE,
    )
