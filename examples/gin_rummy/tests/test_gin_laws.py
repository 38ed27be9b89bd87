"""Gin Rummy obeys all laws of the conformance kit, and recorded tables replay fact by fact."""

import json

import pytest

from croupier.conformance import check_game
from croupier.games.interface import GameOver
from croupier_gin_rummy.judge import GinRummyTable
from gin_playthroughs import FOLDER, TABLES, decoded, hash_of
from gin_table import GIN_RUMMY, compared, new


def test_gin_rummy_obeys_all_laws() -> None:
    report = check_game(GIN_RUMMY, GinRummyTable)
    assert report.holds, "\n".join(report.lines())


@pytest.mark.parametrize("name", TABLES)
def test_a_playthrough_replays_fact_by_fact(name: str) -> None:
    path = FOLDER / f"{name}.jsonl"
    *events, last = map(json.loads, path.read_text().splitlines())
    table = compared(new(**TABLES[name]))
    for number, line in enumerate(events, start=1):
        table, facts = table.apply(decoded(line))
        assert hash_of(facts) == line["facts"], f"{path.name}:{number} now gives {facts}"
    assert isinstance(GIN_RUMMY.awaiting(table.state), GameOver)
    assert list(GIN_RUMMY.scores(table.state)) == last["scores"]
