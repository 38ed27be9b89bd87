"""Recorded logs stay readable, with the same tables and replays; see recorded/README.md."""

import json

import pytest

from croupier.engine.core.log_codec import CONFIG_VERSION, FORMATS, encode_body, encode_config
from croupier.engine.core.replay_verification import verify_replay
from croupier.games.registry import registry_of
from croupier.runtime.table_access import SEATED, TableAccess, Visibility, WatchPolicy
from tests.engine.folds import transitions_of
from tests.engine.recorded_logs import Recorded, digest, names, read, replay_today, without_later_options

WRITTEN = {form.event: (form.tag, form.version) for form in FORMATS}
"""The format in which each event is written today."""


@pytest.fixture(params=names())
def recorded(request: pytest.FixtureRequest) -> Recorded:
    return read(request.param)


def format_of(body: str) -> tuple[str, int]:
    fields = json.loads(body)
    return fields["t"], fields["v"]


def test_every_version_of_rules_has_a_recorded_log() -> None:
    """Rules of earlier versions are in `_EARLIER` of croupier/games/registry.py."""
    recorded = {(read(name).config.game, read(name).config.rules_version) for name in names()}
    assert recorded == registry_of(()).rules.keys()


def test_every_format_of_an_entry_is_recorded() -> None:
    assert {format_of(body) for name in names() for body in read(name).bodies} == {
        (form.tag, form.version) for form in FORMATS
    }


def test_every_version_of_the_configuration_is_recorded() -> None:
    configs = {json.loads(read(name).config_text)["v"]: read(name).config for name in names()}
    assert {version: config.access for version, config in configs.items()} == {
        1: SEATED,
        2: TableAccess(Visibility.LINK, WatchPolicy.LINK, 60, ("9f0c",)),
        3: TableAccess(Visibility.LINK, WatchPolicy.LINK, 0, ()),
        CONFIG_VERSION: TableAccess(Visibility.LINK, WatchPolicy.LINK, 0, ()),
    }
    abandoned = {version: config.clock.abandoned_milliseconds for version, config in configs.items()}
    assert abandoned == {1: 0, 2: 0, 3: 180_000, CONFIG_VERSION: 180_000}
    away = {version: config.clock.away_milliseconds for version, config in configs.items()}
    assert away == {1: 3_000, 2: 3_000, 3: 3_000, CONFIG_VERSION: 5_000}


def test_a_recorded_log_folds_to_the_recorded_table(recorded: Recorded) -> None:
    """A failure means that rules have changed without a new version."""
    assert digest(recorded.config, recorded.entries, replay_today(recorded)) == recorded.digest
    deadlines = [transition.after.deadline for transition in transitions_of(recorded.config, recorded.entries)]
    assert deadlines == [entry.deadline for entry in recorded.entries]


def test_the_replay_of_a_recorded_log_is_the_recorded_file_and_valid(recorded: Recorded) -> None:
    """A failure means that the replay format has changed, against the promise of docs/replay-format.md."""
    assert replay_today(recorded) == recorded.replay
    *_, last = transitions_of(recorded.config, recorded.entries)
    summary = verify_replay(recorded.replay)
    assert last.after.is_over
    assert summary.totals == last.after.scores
    assert (summary.table_id, summary.game) == (recorded.config.table_id, recorded.config.game)


def test_the_encoding_of_a_recorded_format_is_unchanged(recorded: Recorded) -> None:
    """A failure means that a format has changed without a new version."""
    for entry, body in zip(recorded.entries, recorded.bodies, strict=True):
        if WRITTEN[type(entry.event)] == format_of(body):
            assert encode_body(entry) == body
    config = json.loads(encode_config(recorded.config))
    if config["v"] == json.loads(recorded.config_text)["v"]:
        assert without_later_options(config, recorded) == recorded.config_text
