"""Settings are read once, flags before variables, and all faults are told together."""

from dataclasses import dataclass
from pathlib import Path

import pytest

from croupier.runtime.addresses import is_loopback
from croupier.runtime.settings import known_settings, read_settings, setting


@dataclass(frozen=True)
class Pace:
    """How fast."""

    limit: int = setting("How many a second.", default=5)
    burst: float = setting("How many at once.", default=1.5)


@dataclass(frozen=True)
class Sample:
    """A sample."""

    database: str = setting("Where the data is.")
    key: Path = setting("The key, 100% secret.")  # noqa: RUF009
    limit: int = setting("How many.", default=3)
    loud: bool = setting("Whether to speak up.", default=False)
    ready_file: Path | None = setting("Where to say that it is ready.", default=None)  # noqa: RUF009
    pace: Pace = Pace()


def read(*arguments: str, **environment: str) -> Sample:
    return read_settings(Sample, "sample", arguments, environment)


def test_flags_come_before_variables_and_variables_before_defaults() -> None:
    settings = read("--database", "flag", CROUPIER_DATABASE="variable", CROUPIER_KEY="k", CROUPIER_LOUD="true")
    assert settings == Sample("flag", Path("k"), 3, True, None)
    assert read("--database=d", "--key=k", "--limit=0", "--ready-file=r").ready_file == Path("r")


def test_settings_of_a_group_have_its_name_before_their_own() -> None:
    settings = read("--database=d", "--key=k", "--pace-limit=7", CROUPIER_PACE_BURST="2", CROUPIER_BURST="9")
    assert (settings.limit, settings.pace) == (3, Pace(7, 2))
    names = "database key limit loud ready_file pace_limit pace_burst"
    assert list(known_settings(Sample)) == names.split()


def test_every_fault_is_told_and_ends_with_code_2(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        read("--limit=many", "--loud=maybe", "--pace-limit=-1", CROUPIER_DATABASE="d")
    assert end.value.code == 2
    said = capsys.readouterr().err
    assert "--key (CROUPIER_KEY) is missing: The key, 100% secret." in said
    assert "--limit (CROUPIER_LIMIT) cannot be 'many': an integer is expected" in said
    assert "--loud (CROUPIER_LOUD) cannot be 'maybe': true or false is expected" in said
    assert "--pace-limit (CROUPIER_PACE_LIMIT) cannot be '-1': it must not be negative" in said
    assert len(said.splitlines()) == 4


@pytest.mark.parametrize("arguments", [["--limit=-1"], ["--lim=1"], ["--unknown=1"], ["stray"]])
def test_what_cannot_be_is_refused(arguments: list[str]) -> None:
    with pytest.raises(SystemExit) as end:
        read("--database=d", "--key=k", *arguments)
    assert end.value.code == 2


def test_help_names_flag_variable_meaning_and_default(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        read("--help")
    assert end.value.code == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "--limit VALUE How many. Default: 3. [CROUPIER_LIMIT]" in said
    assert "100% secret" in said


def test_loopback_is_this_machine_only() -> None:
    assert all(map(is_loopback, ("127.0.0.1:80", "127.8.8.8:80", "localhost:80", "[::1]:80")))
    assert not any(map(is_loopback, ("0.0.0.0:80", "[::]:80", "10.0.0.1:80", "example.org:80", "80")))
