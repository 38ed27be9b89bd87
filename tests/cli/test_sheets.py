"""Score sheets: every point, headline and note of every seat, within 80 columns."""

import pytest
from rich.cells import cell_len

from croupier.cli.sheets import sheet_lines
from croupier.cli.words import Words
from croupier_api.v1 import scoring_pb2
from croupier_api.v1 import table_pb2 as pb

NAMES = ("Ada", "Ben", "Cleo", "Dan the long-winded one", "Eva", "Finn", "Gus", "花子")


def shown(seats: int, *rounds: pb.RoundEnded | scoring_pb2.SheetRound) -> list[str]:
    lines = [line.plain for line in sheet_lines(Words(NAMES[:seats], symbols=True), rounds)]
    rows = "\n".join(lines).split("\n")
    assert all(cell_len(row) <= 80 for row in rows)
    return rows


def test_notes_stand_under_the_points_of_their_seats() -> None:
    line = scoring_pb2.SheetRound(
        round=7, points=[12, 0, -30], totals=[112, 8, -5], headline="bid 30, trump ♠", notes=["bid 2, took 2", "", "AH"]
    )
    assert shown(3, line) == [
        "                 Ada             Ben            Cleo",
        "  7         +12  112         +0    8        -30   -5  bid 30, trump ♠",
        "       bid 2, took 2                              A♥",
    ]


def test_notes_that_are_too_long_are_told_below() -> None:
    line = pb.RoundEnded(round=1, points=[1, 2], totals=[1, 2], notes=["a long story " * 5, "and no story"])
    told = shown(2, line)
    assert told[2].startswith("    Ada: a long story a long story")
    assert told[-1].endswith("Ben: and no story")


def test_one_long_note_puts_all_notes_of_the_sheet_below() -> None:
    short = pb.RoundEnded(round=1, points=[0] * 2, totals=[0] * 2, notes=["won", "lost"])
    long = pb.RoundEnded(round=2, points=[0] * 2, totals=[0] * 2, notes=["incomprehensibly lucky", ""])
    told = shown(2, short, long)
    assert told[2::2] == ["    Ada: won   Ben: lost", "    Ada: incomprehensibly lucky"]


@pytest.mark.parametrize("seats", range(1, 9))
def test_eight_seats_and_long_games_fit(seats: int) -> None:
    line = pb.RoundEnded(
        points=[-110] * seats,
        totals=[-999] * seats,
        headline="a headline that goes on for a while and then for another while, until it is too long for a line",
        notes=["bid 10, won 10"] * seats,
    )
    rounds = [pb.RoundEnded.FromString(line.SerializeToString()) for _ in range(120)]
    for number, it in enumerate(rounds, start=1):
        it.round = number
    text = "\n".join(shown(seats, *rounds))
    assert text.count("-110 -999") == seats * 120
    assert text.count("won") == seats * 120
    assert "120 " in text


def test_a_sheet_without_words_is_a_line_for_each_round() -> None:
    line = scoring_pb2.SheetRound(round=1, points=[1, 0], totals=[1, 0])
    assert [row.split() for row in shown(2, line)] == [["Ada", "Ben"], ["1", "+1", "1", "+0", "0"]]
