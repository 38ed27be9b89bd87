"""Settings are read once, flags before variables; all faults are reported at once, without secrets."""

from pathlib import Path
from typing import Annotated

import pytest
from pydantic import Field, NonNegativeInt, ValidationError

from croupier.runtime.server.program import DatabaseUnreachable, SettingsError, run_program
from croupier.runtime.settings import (
    Addresses,
    ListenAddress,
    OptionalAddress,
    OptionalPath,
    Ratio,
    Replicas,
    ServiceSettings,
    Settings,
    read_settings,
)

PASSWORD = "correct-horse"
URL = f"postgresql://croupier:{PASSWORD}@host/name"


class Sample(Settings):
    """A sample."""

    database: Annotated[str, Field(repr=False)]
    """The URL."""
    key: Path
    """The key, 100% secret."""
    limit: NonNegativeInt = 3
    """The maximum."""
    loud: bool = False
    """Whether to log more."""
    ready_file: OptionalPath = None
    """A file for the addresses."""
    engines: Addresses = "a:1"
    """Addresses of engines."""
    scorings: Replicas = "a:1"
    """Addresses of scoring."""
    listen: ListenAddress = "127.0.0.1:0"
    """The listening address."""
    collector: OptionalAddress = ""
    """The collector."""
    ratio: Ratio = 1.0
    """The share."""


@pytest.fixture(autouse=True)
def _no_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CROUPIER_DATABASE", raising=False)


def read(*arguments: str) -> Sample:
    return read_settings(Sample, "sample", arguments)


def faults_of(*arguments: str) -> list[str]:
    with pytest.raises(SettingsError) as refused:
        read(*arguments)
    return str(refused.value).splitlines()


def test_flags_come_before_variables_and_variables_before_defaults(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, text in {"DATABASE": "variable", "KEY": "k", "LOUD": "true", "READY_FILE": "variable"}.items():
        monkeypatch.setenv(f"CROUPIER_{name}", text)
    settings = read("--database", "flag", "--database=last", "--ready-file=")
    assert settings == Sample(database="last", key=Path("k"), loud=True)
    assert read("--limit=0", "--ready-file=r") == Sample(
        database="variable", key=Path("k"), limit=0, loud=True, ready_file=Path("r")
    )


def test_a_model_made_in_code_reads_no_environment_and_is_frozen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CROUPIER_LIMIT", "7")
    settings = Sample(database="d", key=Path("k"))
    assert settings.limit == 3
    with pytest.raises(ValidationError):
        settings.limit = 4


def test_every_fault_is_reported_with_flag_variable_and_expected_value() -> None:
    assert faults_of("--limit=many", "--loud=maybe", f"--database={URL}", "--unheard=of", "--listen=here") == [
        "unknown flag --unheard: --help names all flags",
        "missing --key (CROUPIER_KEY): The key, 100% secret.",
        "invalid --limit (CROUPIER_LIMIT) 'many': "
        "input should be a valid integer, unable to parse string as an integer",
        "invalid --loud (CROUPIER_LOUD) 'maybe': input should be a valid boolean, unable to interpret input",
        "invalid --listen (CROUPIER_LISTEN) 'here': expected host:port, IPv6 as [host]:port, where port 0 chooses one",
    ]


@pytest.mark.parametrize(
    ("flag", "fault"),
    [
        ("--limit=-1", "invalid --limit (CROUPIER_LIMIT) '-1': input should be greater than or equal to 0"),
        ("--lim=1", "unknown flag --lim: --help names all flags"),
        ("stray", "unexpected argument without a flag: --help names all flags"),
        ("--engines=a:1,b", "expected host:port, IPv6 as [host]:port, or several separated by commas, not 'b'"),
        ("--scorings=127.0.0.1:1,b:1", "and b:1 is a name"),
        ("--listen=:0", "invalid --listen (CROUPIER_LISTEN) ':0': expected host:port"),
        ("--collector=nowhere", "'nowhere': expected one host:port"),
        ("--ratio=1.5", "input should be less than or equal to 1"),
        ("--ratio=nan", "invalid --ratio (CROUPIER_RATIO) 'nan'"),
    ],
)
def test_invalid_values_are_refused(flag: str, fault: str) -> None:
    (reported,) = faults_of("--database=d", "--key=k", flag)
    assert fault in reported


@pytest.mark.parametrize(
    "arguments",
    [[f"--databse={URL}"], ["--databse", URL], [URL], [f"--database={URL}", "--limit=x"], ["--database", URL, "--x"]],
)
def test_no_message_has_a_secret(arguments: list[str]) -> None:
    assert PASSWORD not in "".join(faults_of("--key=k", *arguments))
    settings = Sample(database=URL, key=Path("k"))
    assert PASSWORD not in repr(settings)
    with pytest.raises(ValidationError) as invalid:
        Sample(database=[URL], key=Path("k"))  # type: ignore[arg-type]
    assert PASSWORD not in str(invalid.value)


@pytest.mark.parametrize(
    ("given", "missing"),
    [
        ({"certificate": "c"}, "--tls-key, --tls-ca missing"),
        ({"certificate": "c", "key": "k"}, "--tls-ca missing"),
        ({"ca": "a"}, "--tls-certificate, --tls-key missing"),
    ],
)
def test_incomplete_settings_of_tls_are_refused(given: dict[str, str], missing: str) -> None:
    flags = [f"--tls-{name}={path}" for name, path in given.items()]
    settings = read_settings(ServiceSettings, "service", ["--database=d", "--metrics-listen=a:0", *flags])
    with pytest.raises(SettingsError, match=missing):
        _ = settings.tls


def test_help_names_flag_variable_meaning_and_default(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        read("--help")
    assert end.value.code == 0
    printed = " ".join(capsys.readouterr().out.split())
    assert "--limit int The maximum. (default: 3) [env: CROUPIER_LIMIT]" in printed
    assert "The key, 100% secret. (required)" in printed


def exit_code(fault: BaseException | None) -> int:
    def start() -> int:
        if fault:
            raise fault
        return 7

    return run_program("croupier serve it", start)


def test_a_program_that_cannot_run_prints_its_faults_and_has_an_exit_code(capsys: pytest.CaptureFixture[str]) -> None:
    assert exit_code(None) == 7
    assert exit_code(SettingsError("one\nother")) == 2
    assert exit_code(DatabaseUnreachable("away")) == 1
    assert capsys.readouterr().err.splitlines() == [f"croupier serve it: {fault}" for fault in ("one", "other", "away")]


@pytest.mark.parametrize("fault", [ValueError("a defect"), OSError("a full disk")])
def test_other_exceptions_are_not_faults_of_the_settings(fault: Exception) -> None:
    with pytest.raises(type(fault), match=str(fault)):
        exit_code(fault)
