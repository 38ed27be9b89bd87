"""What a rehearsal that did not come to its end says, and with which code it ends."""

from pathlib import Path
from typing import Any

import pytest

from rehearsal import __main__ as program
from rehearsal.manifests import CannotRehearse, GoneWrong
from rehearsal.script import begun
from tests.rehearsal.small import objects


@pytest.mark.parametrize(
    ("fault", "code", "line"),
    [
        (CannotRehearse("no Envoy"), 2, "rehearsal: no Envoy"),
        (GoneWrong("engine-3 is not ready"), 1, "rehearsal: not as it should be: engine-3 is not ready"),
        (KeyboardInterrupt(), 2, "rehearsal: ended before it was over"),
    ],
)
def test_what_stopped_it_is_told_in_one_line(
    fault: BaseException, code: int, line: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fails(*_: Any) -> None:
        raise fault

    monkeypatch.setattr(program, "rendered", lambda _: objects())
    monkeypatch.setattr(program, "_rehearsed", fails)
    monkeypatch.setattr(program, "_heed_signals", lambda: None)
    assert program.main(["--short"]) == code
    assert capsys.readouterr().err == f"{line}\n"


@pytest.mark.parametrize("fault", [CannotRehearse("engine-3 is not ready"), OSError("no route")])
def test_what_fails_while_people_play_has_gone_wrong(fault: Exception) -> None:
    with pytest.raises(GoneWrong, match=str(fault)), begun():
        raise fault


def test_what_an_earlier_one_left_is_gone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "rehearsal.json").write_text("{}")

    def fails() -> Path:
        raise ValueError("no Envoy")

    monkeypatch.setattr(program, "rendered", lambda _: objects())
    monkeypatch.setattr(program, "find_envoy", fails)
    monkeypatch.setattr(program, "_heed_signals", lambda: None)
    assert program.main(["--short", f"--results={tmp_path}"]) == 2
    assert list(tmp_path.iterdir()) == []
