"""Score sheets within the columns of a terminal: points, totals, headlines and notes."""

import pytest
from rich.cells import cell_len

from croupier.cli.terminal.sheets import sheet_lines
from croupier.cli.terminal.words import Words
from croupier_api.v1 import facts_pb2

PLAYERS = ("Ada", "Ben", "Cleo", "Dan the long-winded one", "Eva", "Finn", "Gus", "花子")
"""The names over the columns of score sheets."""


def sheet(seats: int, *rounds: facts_pb2.RoundScore, width: int = 80) -> list[str]:
    lines = [line.plain for line in sheet_lines(Words(PLAYERS[:seats], symbols=True), rounds, width)]
    rows = "\n".join(lines).split("\n")
    assert all(cell_len(row) <= width for row in rows)
    return rows


def score(*notes: str, headline: str = "") -> facts_pb2.RoundScore:
    return facts_pb2.RoundScore(round=7, points=[12, -30], totals=[112, -5], notes=notes, headline=headline)


NAMES_OF_TWO = "                 Ada             Ben"
POINTS_OF_TWO = "  7         +12  112        -30   -5"


@pytest.mark.parametrize(
    ("rounds", "lines"),
    [
        ([score()], [POINTS_OF_TWO]),
        (
            [score("bid 2, took 2", "AH", headline="bid 30, trump ♠")],
            [f"{POINTS_OF_TWO}  bid 30, trump ♠", "       bid 2, took 2              A♥"],
        ),
        (
            [score("a long story " * 5, "and no story")],
            [POINTS_OF_TWO, "    Ada:" + " a long story" * 5, "    Ben: and no story"],
        ),
        (
            [score("won", "lost"), score("incomprehensibly lucky")],
            [POINTS_OF_TWO, "    Ada: won   Ben: lost", POINTS_OF_TWO, "    Ada: incomprehensibly lucky"],
        ),
    ],
    ids=["without words", "notes under the points", "notes that are too long below", "one long note puts all below"],
)
def test_a_sheet_has_points_totals_headlines_and_notes(rounds: list[facts_pb2.RoundScore], lines: list[str]) -> None:
    assert sheet(2, *rounds) == [NAMES_OF_TWO, *lines]


@pytest.mark.parametrize("width", [40, 80, 100])
@pytest.mark.parametrize("seats", range(1, 9))
def test_eight_seats_and_long_games_fit_a_sheet(seats: int, width: int) -> None:
    lasts = "a headline that goes on for a while and then for another while, until it is too long for a line"
    scores = {"points": [-110] * seats, "totals": [-999] * seats, "notes": ["bid 10, won 10"] * seats}
    rounds = [facts_pb2.RoundScore(round=number, headline=lasts, **scores) for number in range(1, 121)]  # type: ignore[arg-type]
    text = "\n".join(sheet(seats, *rounds, width=width))
    assert text.count("-110 -999") == seats * 120
    assert text.count("won") == seats * 120
    assert "120 " in text
