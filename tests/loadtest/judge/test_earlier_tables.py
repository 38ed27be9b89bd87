"""The judge plays tables that were opened before an option existed by the rules that they were opened with."""

import json
from collections.abc import Mapping
from dataclasses import replace
from random import Random
from typing import Any

import pytest

from croupier.games.interface import OptionValue
from croupier.games.registry import OWN_GAMES
from croupier_loadtest.judge.notation import Deck
from croupier_loadtest.judge.replay import read
from croupier_loadtest.judge.rules.registry import OWN_JUDGES
from croupier_loadtest.judge.verdict import judge
from croupier_loadtest.judge.verification import verify
from croupier_loadtest.judge.violations import Invariant
from croupier_loadtest.record import TableRecord
from tests.engine import recorded_logs
from tests.loadtest.judge.played import PLAIN, PlayedTable, played, played_with
from tests.loadtest.judge.viewer_records import stored_record


@pytest.mark.parametrize("name", recorded_logs.names())
def test_the_replay_of_every_recorded_table_is_played(name: str) -> None:
    replay = read(recorded_logs.read(name).replay, Deck({}))
    assert replay.result is not None
    verification = verify(replay)
    assert verification is not None
    assert (list(verification.faults), verification.ranking) == ([], replay.result["ranking"])


def opened_before(game: str, options: Mapping[str, OptionValue]) -> PlayedTable:
    """Return a table with these options and the values of earlier tables."""
    config = played(game).config
    config = replace(config, options={**config.options, **OWN_JUDGES[game].earlier_options, **options})
    return played_with(config, Random(1), PLAIN)


def rows_without(record: TableRecord, *names: str) -> TableRecord:
    """Return the record with a stored configuration that lacks these options."""
    assert record.stored
    config: dict[str, Any] = json.loads(record.stored.config)
    for name in names:
        del config["options"][name]
    record.stored = record.stored._replace(config=json.dumps(config))
    return record


@pytest.mark.parametrize("game", OWN_GAMES)
@pytest.mark.parametrize("has_replay", [True, False])
def test_rows_without_a_later_option_are_played(game: str, has_replay: bool) -> None:
    record = rows_without(stored_record(opened_before(game, {})), *OWN_JUDGES[game].earlier_options)
    if not has_replay:
        record.replays, record.sheet = [], None
    verdict = judge(record)
    assert not verdict.violations, "\n".join(map(str, verdict.violations[:10]))
    assert verdict.is_verified


def test_a_table_with_another_value_than_its_rows_say_is_found() -> None:
    record = rows_without(stored_record(opened_before("one_ten", {"failed_bonus": "paid"})), "failed_bonus")
    assert Invariant.REPLAY_DIFFERS in {violation.invariant for violation in judge(record).violations}
