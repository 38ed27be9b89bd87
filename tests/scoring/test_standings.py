"""Places and statistics by cases."""

import pytest

from croupier.scoring.standings import Statistics, places


@pytest.mark.parametrize(
    ("ranking", "expected"),
    [
        pytest.param(((0,),), (1,), id="alone"),
        pytest.param(((1,), (0,)), (2, 1), id="two in a row"),
        pytest.param(((0, 1),), (1, 1), id="all tied"),
        pytest.param(((2,), (0,), (1, 3)), (2, 3, 1, 3), id="tied for last"),
        pytest.param(((0, 2), (1,), (3,)), (1, 3, 1, 4), id="tied for first, so no seat is second"),
        pytest.param(((4,), (0, 1, 3), (2,)), (2, 2, 5, 2, 1), id="three tied in the middle"),
        pytest.param((), (), id="no seats"),
    ],
)
def test_places(ranking: tuple[tuple[int, ...], ...], expected: tuple[int, ...]) -> None:
    assert places(ranking) == expected


@pytest.mark.parametrize(
    ("finished", "won", "place_sum", "win_rate", "average_place"),
    [
        pytest.param(0, 0, 0, None, None, id="no games"),
        pytest.param(1, 1, 1, 1.0, 1.0, id="one game, won"),
        pytest.param(4, 1, 9, 0.25, 2.25, id="four games"),
        pytest.param(3, 0, 9, 0.0, 3.0, id="never won"),
    ],
)
def test_statistics(
    finished: int, won: int, place_sum: int, win_rate: float | None, average_place: float | None
) -> None:
    statistics = Statistics("thulla", finished, won, place_sum)
    assert statistics.win_rate == win_rate
    assert statistics.average_place == average_place
