"""Points, places, matches and the ranking of Thulla."""

import pytest

from croupier.games.cards import cards, mask_of
from croupier.games.facts import Count, GameEnded, Marked, RoundEnded, Seat, SeatOut
from croupier.games.interface import GameOver, ShuffleNeeded
from croupier.games.thulla import scoring
from croupier.games.thulla.state import Match
from tests.games.positions_thulla import order, plays, plays_with_facts, position

Orders = tuple[tuple[Seat, ...], ...]


def hands(*texts: str) -> tuple[int, ...]:
    """Hands as bit sets."""
    return tuple(mask_of(cards(text)) for text in texts)


@pytest.mark.parametrize(
    ("finish", "settled", "left", "expected"),
    [
        ((0, 1, 2), (0, 2, 8), "AS 4D TH", [(1, 0, 0), (0, 0, 3), (0, 2, 8), (0, 0, 25)]),
        ((1, 0, 2), (6, 0, 5), "2S KC KD 9H", [(0, 1, 0), (0, 0, 4), (6, 0, 5), (0, 0, 31)]),
        ((0, 1, 2), (0, 1, 2), "3C", [(1, 0, 0), (0, 0, 1), (0, 1, 2), (0, 0, 3)]),
    ],
)
def test_THU_SCORE_1_THU_SCORE_2_THU_SCORE_3_THU_SCORE_4_the_worked_examples(
    finish: tuple[Seat, ...], settled: tuple[int, ...], left: str, expected: list[tuple[int, ...]]
) -> None:
    held = hands("", "", left)
    names = ("none", "cards", "cards_each_out", "points")
    assert [scoring.game_points(name, held, finish, settled, stalled=False) for name in names] == expected


def test_THU_SCORE_2_THU_D14_one_point_a_card() -> None:
    assert plays(position({0: "5H QH AS", 1: "3C"}, scoring="cards"), "0:5H 1:3C").scores == (2, 0)


def test_THU_SCORE_3_THU_D14_every_going_out_is_paid_by_the_others() -> None:
    start = position({0: "5H 9C", 1: "6H", 2: "7H 8H 3C"}, scoring="cards_each_out")
    state, facts = plays_with_facts(start, "0:5H 1:6H")
    assert [fact for fact in facts if isinstance(fact, SeatOut | Marked)] == [
        SeatOut(1, 1),
        Marked("points", 0, "1"),
        Marked("points", 2, "3"),
    ]
    state = plays(state, "2:7H 2:3C 0:9C")
    assert (order(state), state.scores) == ([1, 0, 2], (1, 0, 4))


def test_THU_SCORE_4_THU_D15_card_points() -> None:
    assert scoring.card_points(mask_of(cards("2C 3C 4C 5C 6C 7C 8C 9C"))) == 44
    assert [scoring.card_points(mask_of(cards(text))) for text in ("TH", "JH", "QH", "KH", "AH")] == [
        10,
        10,
        10,
        10,
        11,
    ]


@pytest.mark.parametrize(
    ("seats", "labels"),
    [
        (2, ["gold", "loser"]),
        (3, ["gold", "silver", "loser"]),
        (4, ["gold", "silver", "bronze", "loser"]),
        (5, ["gold", "silver", "bronze", "safe", "loser"]),
        (6, ["gold", "silver", "bronze", "safe", "safe", "loser"]),
    ],
)
def test_THU_END_4_THU_D18_the_labels_of_the_places(seats: int, labels: list[str]) -> None:
    assert [scoring.label(place, seats) for place in range(1, seats + 1)] == labels


def test_THU_END_4_the_score_tells_who_was_what() -> None:
    _, facts = plays_with_facts(position({0: "5H", 1: "6H", 2: "7H 8H 3C"}), "0:5H 1:6H")
    ended = next(fact for fact in facts if isinstance(fact, RoundEnded))
    assert ended[:4] == (1, (1, 0, 0), (1, 0, 0), ("gold", "silver", "loser, 3 cards"))
    assert ended.headline == "game 1 of 1"
    assert dict(ended.details) == {"order": "0 1 2", "reason": "one_holder"}
    assert ended.counts == (Count("gold", 0), Count("silver", 1), Count("loser", 2))
    _, facts = plays_with_facts(position({0: "5H 9C", 1: "2S 3S 4S", 2: "AC"}, stall_limit=1), "0:5H 1:2S")
    notes = ("loser, 3 cards, stall", "silver, 2 cards, stall", "gold, 1 card, stall")
    assert [fact.notes for fact in facts if isinstance(fact, RoundEnded)] == [notes]


def test_THU_MATCH_1_wins_and_orders_are_kept() -> None:
    state = position({0: "5H", 1: "6H QH"}, best_of=5, scoring="cards")
    state = state._replace(match=Match(3, 0, (4, 2), ((0, 1), (1, 0))))
    state, facts = plays_with_facts(state, "0:5H")
    assert state.match.orders == ((0, 1), (1, 0), (0, 1))
    assert scoring.wins(state.match.orders, 2) == (2, 1)
    assert Marked("wins", 0, "2") in facts
    assert isinstance(state.awaiting, ShuffleNeeded)
    assert state.awaiting.round_number == 4


@pytest.mark.parametrize(
    ("best_of", "orders", "over"),
    [
        (1, ((0, 1),), True),
        (3, ((0, 1),), False),
        (3, ((0, 1), (0, 1)), True),
        (3, ((0, 1), (1, 0)), False),
        (5, ((0, 1), (0, 1)), False),
        (5, ((0, 1), (1, 0), (0, 1), (0, 1)), True),
    ],
)
def test_THU_MATCH_2_THU_D13_a_majority_of_wins_ends_the_match(best_of: int, orders: Orders, over: bool) -> None:
    assert scoring.match_over("none", best_of, orders, 2) == over


def test_THU_MATCH_2_without_a_majority_all_games_are_played() -> None:
    assert not scoring.match_over("none", 5, ((0, 1, 2), (1, 2, 0), (2, 1, 0), (0, 1, 2)), 3)
    assert scoring.match_over("none", 5, ((0, 1, 2), (1, 2, 0), (2, 1, 0), (0, 1, 2), (1, 2, 0)), 3)


@pytest.mark.parametrize("name", ["cards", "cards_each_out", "points"])
def test_THU_MATCH_3_THU_D16_with_penalties_all_games_are_played(name: str) -> None:
    assert not scoring.match_over(name, 3, ((0, 1), (0, 1)), 2)
    assert scoring.match_over(name, 3, ((0, 1), (0, 1), (0, 1)), 2)


@pytest.mark.parametrize(
    ("name", "totals", "orders", "expected"),
    [
        ("none", (1, 1, 0), ((0, 1, 2), (1, 0, 2)), ((0, 1), (2,))),
        ("none", (1, 1, 0), ((0, 2, 1), (1, 0, 2)), ((0,), (1,), (2,))),
        ("points", (9, 5, 7), ((0, 1, 2),), ((1,), (2,), (0,))),
        ("cards", (5, 5, 7), ((1, 0, 2), (1, 0, 2), (0, 2, 1)), ((1,), (0,), (2,))),
        ("cards", (5, 5, 5), ((1, 0, 2), (0, 2, 1), (2, 1, 0)), ((0, 1, 2),)),
        ("cards", (5, 5, 5, 1), ((0, 1, 2, 3), (1, 2, 0, 3), (2, 1, 0, 3)), ((3,), (1,), (2,), (0,))),
        ("none", (1, 0, 0, 0), ((2, 0, 3, 1),), ((2,), (0,), (3,), (1,))),
    ],
)
def test_THU_MATCH_4_the_ranking(name: str, totals: tuple[int, ...], orders: Orders, expected: Orders) -> None:
    assert scoring.ranking(name, totals, orders) == expected


def test_THU_MATCH_4_one_game_without_points_is_ranked_as_it_was_finished() -> None:
    state, facts = plays_with_facts(position({0: "5H", 1: "6H QH", 2: "7H"}, leader=2), "2:7H 0:5H")
    assert state.awaiting == GameOver(((2,), (0,), (1,)), "one_holder")
    assert facts[-1] == GameEnded(((2,), (0,), (1,)), "one_holder")
