"""A built image, and programs that run in it by its configuration, as a cluster runs them."""

import json
import os
import signal
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

ENTER = Path(__file__).with_name("enter.sh")
BUILDAH = Path(__file__).parents[2] / "image" / "buildah.sh"
ISOLATED = ("setpriv", "--pdeathsig=KILL", "unshare", "--mount", "--pid", "--fork", "--kill-child")
"""A prefix that runs a command in new namespaces; with that of enter.sh no process outlives these tests."""
SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class Image:
    """The file system of an image at `root`, its configuration as OCI writes it, and the folder that is its /data."""

    root: Path
    configuration: Mapping[str, Any]
    data: Path

    @property
    def user(self) -> tuple[int, int]:
        user, group = self.configuration["User"].split(":")
        return int(user), int(group)

    def start(
        self, arguments: Sequence[str], output: IO[bytes] | int, environment: Mapping[str, str] | None = None
    ) -> "Container":
        """Run its entry point with these arguments; it writes to `output`."""
        return self._start([*self.configuration["Entrypoint"], *arguments], output, environment or {})

    def run(self, *arguments: str) -> tuple[int, str]:
        """Run its entry point to the end, and return exit code and output."""
        return _ended(self.start(arguments, subprocess.PIPE))

    def run_python(self, program: str) -> tuple[int, str]:
        """Run a program in place of its entry point, and return exit code and output."""
        return _ended(self._start(["python", "-c", program], subprocess.PIPE, {}))

    def _start(self, command: Sequence[str], output: IO[bytes] | int, environment: Mapping[str, str]) -> "Container":
        own = dict(line.split("=", 1) for line in self.configuration["Env"])
        inside = [ENTER, self.root, self.data, self.configuration["User"], self.configuration["WorkingDir"], *command]
        return Container(
            subprocess.Popen(
                [*ISOLATED, *map(str, inside)],
                env={**own, **environment},
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
            )
        )


@dataclass(frozen=True, slots=True)
class Container:
    """A program in an image, as process 1 of its namespace."""

    process: subprocess.Popen[bytes]

    def terminate(self) -> int:
        """Send SIGTERM to process 1, as a cluster does, and return its exit code."""
        parent = self.process.pid
        (first,) = Path(f"/proc/{parent}/task/{parent}/children").read_text().split()
        os.kill(int(first), signal.SIGTERM)
        return self.process.wait(SECONDS)


def _ended(container: Container) -> tuple[int, str]:
    output, _ = container.process.communicate(timeout=SECONDS)
    return container.process.returncode, output.decode()


@contextmanager
def opened(name: str, data: Path) -> Iterator[Image]:
    """Mount the image of this name until the end of the block; `data` is given to the image's user."""
    container = _buildah("from", "--pull-never", name)
    try:
        root = Path(_buildah("mount", container))
        configuration = json.loads(_buildah("inspect", "--type", "image", name))["OCIv1"]["config"]
        image = Image(root, configuration, data)
        os.chown(data, *image.user)
        yield image
    finally:
        _buildah("rm", container)


def _buildah(*arguments: str) -> str:
    return subprocess.run([BUILDAH, *arguments], check=True, stdout=subprocess.PIPE, text=True).stdout.strip()
