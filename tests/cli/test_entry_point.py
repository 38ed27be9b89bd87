"""Programs that run services import little themselves, and printed commands can be pasted."""

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from croupier.cli.printed_command import connection_options, printed_command

PROJECT = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())["project"]
CHECK = (
    "import sys, importlib; importlib.import_module(sys.argv[1]); assert not {'grpc', 'sqlalchemy'} & {*sys.modules}"
)


@pytest.mark.parametrize("module", [PROJECT["scripts"]["croupier"].partition(":")[0], "croupier.cli.launcher.child"])
def test_programs_that_run_services_import_little(module: str) -> None:
    assert subprocess.run([sys.executable, "-c", CHECK, module], check=False, timeout=60).returncode == 0


@pytest.fixture
def program(tmp_path: Path) -> Path:
    """Return an installed program in a folder with a blank."""
    program = tmp_path / "a folder" / "croupier"
    program.parent.mkdir()
    program.touch(mode=0o700)
    return program


def test_the_program_has_its_path_unless_the_shell_finds_it(monkeypatch: pytest.MonkeyPatch, program: Path) -> None:
    monkeypatch.setattr(sys, "argv", [str(program)])
    monkeypatch.setenv("PATH", "/nowhere")
    assert printed_command("play", "--table", "t") == f"'{program}' play --table t"
    monkeypatch.setenv("PATH", str(program.parent))
    assert printed_command("play") == "croupier play"
    monkeypatch.setattr(sys, "argv", ["/somewhere/croupier/cli/__main__.py"])
    assert printed_command("play") == f"{sys.executable} -m croupier.cli play"


def test_the_options_of_the_connection_are_repeated() -> None:
    assert connection_options(None, None, False, None, False) == ()
    given = connection_options(Path("my data"), "here:1", True, Path("ca.pem"), False)
    assert given == ("--data-dir", "my data", "--server", "here:1", "--ca-file", "ca.pem", "--tls")
    assert connection_options(None, "there:1", False, None, True) == ("--server", "there:1", "--insecure")
