"""The wheel has the page of the web table, which installations without Node serve."""

import subprocess
import sys
from pathlib import Path
from zipfile import ZipFile

from croupier.gateway.web_table import page_files

ROOT = Path(__file__).parents[2]
BUILD_SECONDS = 300.0


def test_the_wheel_has_every_file_of_the_page(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(tmp_path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=BUILD_SECONDS)
    assert done.returncode == 0, done.stderr
    [wheel] = tmp_path.glob("*.whl")
    with ZipFile(wheel) as packed:
        names = [name for name in packed.namelist() if name.startswith("croupier/gateway/page/")]
        contents = {name.removeprefix("croupier/gateway/page/"): packed.read(name) for name in names}
    assert contents == {file.name: file.content for file in page_files()}
    assert {"index.html"} < contents.keys()
