"""Which tables a run has, and how the players of a circle come together."""

import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from random import Random
from typing import Any, cast

import grpc
import pytest

from croupier.games.catalogue import GAMES
from croupier.games.interface import resolve_options
from croupier_api.v1 import engine_pb2, lobby_pb2
from croupier_client import InvalidArgument, NotFound
from loadtest.circle import Circle
from loadtest.client import LoadClient
from loadtest.court import Court
from loadtest.house import House, Shares
from loadtest.mix import KINDS, Kind, Sitting, read_mix, sittings
from loadtest.tally import Tally

OPTION = engine_pb2.OptionDescription(name="length", type="integer", allowed_values=["1", "2"])


def test_a_mix_is_read_by_weights() -> None:
    assert [kind.game for kind in read_mix("thulla=2, solo")] == ["thulla", "thulla", "solo"]
    assert len(read_mix(",".join(KINDS))) == len(KINDS)


@pytest.mark.parametrize(
    ("text", "fault"), [("whist", "'whist'"), ("", "''"), ("solo=0", "'0'"), ("solo=x", "'x'"), ("solo=101", "'101'")]
)
def test_a_wrong_mix_is_told(text: str, fault: str) -> None:
    with pytest.raises(ValueError, match=fault):
        read_mix(text)


def test_games_and_seats_take_turns_and_half_of_the_free_ones_are_matched() -> None:
    found = sittings((Kind("a", (2, 3)), Kind("b", (4,), {"rounds": 1})), 6)
    assert [(sitting.game, sitting.seats, sitting.matched) for sitting in found] == [
        ("a", 2, True),
        ("b", 4, False),
        ("a", 3, False),
        ("b", 4, False),
        ("a", 2, True),
        ("b", 4, False),
    ]
    assert found[1].bounds == {"rounds": 1}


def test_every_game_is_in_the_mix_as_it_can_be_played() -> None:
    assert set(KINDS) == set(GAMES)
    for kind in KINDS.values():
        for seats in kind.seats:
            resolve_options(GAMES[kind.game], seats, kind.bounds)


class FakeLobby:
    """Tables that open when everybody is ready; one refusal of options with `strict`."""

    def __init__(self, *, strict: bool = False, deaf: bool = False) -> None:
        self.created: list[dict[str, Any]] = []
        self.ready: Counter[str] = Counter()
        self._strict = strict
        self._deaf = deaf
        self._lock = threading.Lock()

    def list_games(self) -> lobby_pb2.ListGamesResponse:
        return lobby_pb2.ListGamesResponse(games=[engine_pb2.GameDescription(game="a", options=[OPTION])])

    def create_table(self, *, game: str, seats: int, options: dict[str, Any]) -> lobby_pb2.CreateTableResponse:
        if self._strict and "length" in options:
            raise InvalidArgument(grpc.StatusCode.INVALID_ARGUMENT, "not with each other")
        self.created.append(dict(options))
        return lobby_pb2.CreateTableResponse(table=lobby_pb2.Table(table_id=f"{game}{len(self.created)}"))

    def join_table(self, *, table_id: str) -> None:
        if self._deaf:
            raise NotFound(grpc.StatusCode.NOT_FOUND, table_id)

    def set_ready(self, *, table_id: str, client_seed: bytes) -> lobby_pb2.SetReadyResponse:
        assert len(client_seed) == 16
        with self._lock:
            self.ready[table_id] += 1
            is_open = self.ready[table_id] == 3
        state = lobby_pb2.TABLE_STATE_PLAYING if is_open else lobby_pb2.TABLE_STATE_FORMING
        return lobby_pb2.SetReadyResponse(table=lobby_pb2.Table(table_id=table_id, state=state))


def circle(*, time_up: bool = False) -> Circle:
    house = House(Court(8), Tally(), 5.0, Shares(0.0), lambda: 0.0, lambda _: None, lambda: time_up)
    return Circle(Sitting("a", 3, {"rounds": 1}), house)


def seat(at: Circle, lobby: FakeLobby, number: int) -> str | None:
    return at.seat(cast("LoadClient", lobby), Random(number))


def test_a_circle_plays_table_after_table_with_its_bounds() -> None:
    at, lobby = circle(), FakeLobby()
    with ThreadPoolExecutor(3) as players:
        for _ in range(20):
            assert len(set(players.map(lambda number: seat(at, lobby, number), range(3)))) == 1
    assert set(lobby.ready.values()) == {3}
    assert len(lobby.created) == 20
    assert all(options["rounds"] == 1 for options in lobby.created)


def test_house_rules_that_do_not_go_together_are_left_out() -> None:
    at, lobby = circle(), FakeLobby(strict=True)
    with ThreadPoolExecutor(3) as players:
        for number in range(10):
            list(players.map(lambda seed: seat(at, lobby, seed), range(number, number + 3)))
    assert lobby.created == [{"rounds": 1}] * 10


def test_who_waits_gives_up_when_time_is_up() -> None:
    assert seat(circle(time_up=True), FakeLobby(), 1) is None


def test_a_table_that_cannot_be_joined_is_given_up_by_all() -> None:
    at, lobby = circle(), FakeLobby(deaf=True)
    with ThreadPoolExecutor(1) as players:
        waiting = players.submit(seat, at, lobby, 1)
        while not lobby.ready:
            pass
        with pytest.raises(NotFound):
            seat(at, lobby, 2)
        assert waiting.result(timeout=5) is None
