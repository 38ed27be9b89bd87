"""The command line of the rehearsal: what is read, and one line for what cannot be."""

import pytest

from rehearsal.options import read_options


def test_the_command_repeats_the_rehearsal_with_its_seed() -> None:
    assert read_options(["--short", "--seed=5"]).command == "python -m rehearsal --short --seed=5"
    chosen = read_options(["--short"])
    assert chosen.command == f"python -m rehearsal --short --seed {chosen.load.seed}"


@pytest.mark.parametrize(
    ("flag", "said"),
    [
        ("--tables=0", "--tables is at least 1"),
        ("--seconds=0", "--seconds is at least 1"),
        ("--loud", "unrecognized arguments: --loud"),
    ],
)
def test_one_line_says_what_is_wrong(flag: str, said: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        read_options([flag])
    assert ended.value.code == 2
    assert capsys.readouterr().err == f"rehearsal: {said}\n"
