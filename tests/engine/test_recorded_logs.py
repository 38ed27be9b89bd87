"""Logs that were recorded once are read for good, and give the same tables and replays; see recorded/README.md."""

import json

import pytest

from croupier.cli.commands.replay import verify
from croupier.engine.core.fold import transitions_of
from croupier.engine.core.log_codec import FORMATS, encode_body, encode_config
from croupier.engine.core.replay import verify_replay, write_replay
from croupier.games import registry
from tests.engine.recorded_logs import FOLDER, Recorded, digest, names, read

WRITTEN = {form.event: (form.tag, form.version) for form in FORMATS}
"""The format in which each event is written today."""


@pytest.fixture(params=names())
def recorded(request: pytest.FixtureRequest) -> Recorded:
    return read(request.param)


def format_of(body: str) -> tuple[str, int]:
    fields = json.loads(body)
    return fields["t"], fields["v"]


def test_every_version_of_rules_that_tables_may_have_begun_with_has_a_recorded_log() -> None:
    """The class of rules that new tables no longer get goes to `_EARLIER` in croupier/games/registry.py."""
    assert {(read(name).config.game, read(name).config.rules_version) for name in names()} == {*registry.RULES}


def test_every_format_of_an_entry_is_recorded() -> None:
    assert {format_of(body) for name in names() for body in read(name).bodies} == {
        (form.tag, form.version) for form in FORMATS
    }


def test_a_recorded_log_folds_to_the_recorded_table(recorded: Recorded) -> None:
    """Where this fails the rules have changed without a new version of them."""
    assert digest(recorded.config, recorded.entries) == recorded.digest
    deadlines = [made.after.deadline for made in transitions_of(recorded.config, recorded.entries)]
    assert deadlines == [entry.deadline for entry in recorded.entries]


def test_the_replay_of_a_recorded_log_is_the_recorded_file(recorded: Recorded) -> None:
    """Where this fails the replay format has changed, which docs/replay-format.md promises not to."""
    assert write_replay(recorded.config, recorded.entries) == recorded.replay


def test_a_recorded_replay_is_true_and_ends_as_the_log(recorded: Recorded) -> None:
    *_, last = transitions_of(recorded.config, recorded.entries)
    summary = verify_replay(recorded.replay)
    assert last.after.is_over
    assert summary.totals == last.after.scores
    assert (summary.table_id, summary.game) == (recorded.config.table_id, recorded.config.game)


def test_the_command_line_finds_the_recorded_replays_true() -> None:
    notes: list[str] = []
    assert verify([FOLDER / f"{name}.jsonl" for name in names()], notes.append) == 0
    assert len(notes) == len(names())


def test_what_is_written_in_a_recorded_format_is_written_as_it_was(recorded: Recorded) -> None:
    """Where this fails a format has changed without a new version of it."""
    for entry, body in zip(recorded.entries, recorded.bodies, strict=True):
        if WRITTEN[type(entry.event)] == format_of(body):
            assert encode_body(entry) == body
    if json.loads(encode_config(recorded.config))["v"] == json.loads(recorded.config_text)["v"]:
        assert encode_config(recorded.config) == recorded.config_text
