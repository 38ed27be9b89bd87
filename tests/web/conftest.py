"""All services behind one gateway with TLS, the built TypeScript client, and an app and a page that use them."""

import json
import re
import secrets
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest
from playwright.sync_api import Browser, expect

from clients.typescript.build import CLIENT, FOLDER, NODE, TABLE, alone, build, environment, npm
from croupier.cli.launcher.background import BackgroundServices, started_services
from croupier_client import BlockingClient, Endpoints, Tls
from tests.web.browsers import ANSWER_MILLISECONDS, opened_browser

SECONDS = 120.0
WRITTEN_ADDRESS = "http://127.0.0.1:7700"
"""The address in the samples of pages."""
GUIDE = FOLDER.parents[1] / "docs" / "build-an-app.md"
TOOLS = ("typescript", "@types/node", "react", "@types/react", "react-test-renderer", "@types/react-test-renderer")


@dataclass(frozen=True, slots=True)
class WebDeployment:
    """Running services, the ports of gateway and page, and the gateway's certificate with its authority."""

    services: BackgroundServices
    port: int
    page_port: int
    certificate: Path
    authority: Path

    @property
    def address(self) -> str:
        return f"https://localhost:{self.port}"

    @property
    def endpoints(self) -> Endpoints:
        """The same for native players."""
        return Endpoints.single(f"localhost:{self.port}", Tls(self.authority.read_bytes()))


class _Files(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *arguments: object) -> None:  # noqa: A002 - the name is the library's
        """Log nothing."""


@contextmanager
def served_page() -> Iterator[int]:
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(_Files, directory=str(TABLE / "dist"))) as server:
        thread = Thread(target=server.serve_forever)
        thread.start()
        try:
            yield server.server_port
        finally:
            server.shutdown()
            thread.join()


@pytest.fixture(scope="session", autouse=True)
def built() -> None:
    build()


@pytest.fixture(scope="session")
def deployment(tmp_path_factory: pytest.TempPathFactory) -> Iterator[WebDeployment]:
    """Start the services of `croupier up --tls`, with a gateway that allows pages from http://127.0.0.1 only."""
    folder = tmp_path_factory.mktemp("deployment")
    keys = folder / "keys"
    with served_page() as page_port:
        flags = {"gateway": [f"--allowed-origins=http://127.0.0.1:{page_port}"]}
        with started_services(folder, gateway=["--tls"], extra_flags=flags) as services:
            port = int(services.addresses["gateway"]["listen"].rpartition(":")[2])
            yield WebDeployment(
                services, port, page_port, keys / "gateway.certificate.pem", keys / "gateway.authority.pem"
            )


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Start a browser; a module that uses it has no asynchronous tests, since Playwright runs an event loop."""
    expect.set_options(timeout=ANSWER_MILLISECONDS)
    with opened_browser() as started:
        yield started


def samples(page: Path) -> dict[str, str]:
    """Return the programs of a page by their names."""
    return dict(re.findall(r"^```tsx? (\S+)\n(.*?)^```$", page.read_text(), re.DOTALL | re.MULTILINE))


@dataclass(frozen=True, slots=True)
class App:
    """A folder in which the package is installed, and the services at which its samples play."""

    folder: Path
    tarball: Path
    deployment: WebDeployment

    def command(self, program: str, *arguments: str) -> list[str]:
        return [str(NODE), str(self.folder / program), *arguments]

    def variables(self) -> dict[str, str]:
        return environment(NODE_EXTRA_CA_CERTS=str(self.deployment.authority))

    def run(self, program: str, *arguments: str) -> list[str]:
        """Return the lines that a sample writes."""
        done = subprocess.run(
            self.command(program, *arguments),
            env=self.variables(),
            capture_output=True,
            text=True,
            timeout=SECONDS,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout.splitlines()

    def compile(self, module: str, resolution: str, **more: object) -> None:
        """Compile all programs of the folder; fails with what the compiler complains about."""
        options: dict[str, object] = {"strict": True, "noEmit": True, "target": "es2022", "jsx": "react-jsx"}
        options |= {"exactOptionalPropertyTypes": True, "noUncheckedIndexedAccess": True, "types": ["node"]}
        options |= {"module": module, "moduleResolution": resolution, "lib": ["es2022", "dom", "dom.iterable"]}
        options |= {"allowImportingTsExtensions": True, **more}
        (self.folder / "tsconfig.json").write_text(
            json.dumps({"compilerOptions": options, "include": ["*.ts", "*.tsx"]})
        )
        done = subprocess.run(
            [str(NODE), "node_modules/typescript/bin/tsc"],
            cwd=self.folder,
            env=environment(),
            capture_output=True,
            text=True,
            timeout=SECONDS,
        )
        assert done.returncode == 0, done.stdout

    def player(self) -> BlockingClient:
        return BlockingClient(self.deployment.endpoints, secrets.token_urlsafe(), "Native")


@pytest.fixture(scope="session")
def app(deployment: WebDeployment, tmp_path_factory: pytest.TempPathFactory) -> Iterator[App]:
    folder = tmp_path_factory.mktemp("app")
    with alone():
        npm(CLIENT, "pack", "--pack-destination", str(folder))
    (tarball,) = folder.glob("*.tgz")
    (folder / "package.json").write_text('{"type": "module", "private": true}')
    versions = {
        name: version
        for package in (FOLDER, CLIENT)
        for name, version in json.loads((package / "package.json").read_text())["devDependencies"].items()
    }
    tools = [f"{name}@{versions[name]}" for name in TOOLS]
    npm(folder, "install", str(tarball), *tools, "--ignore-scripts", "--no-audit", "--no-fund", "--prefer-offline")
    renderers = {path.name: path.read_text() for path in Path(__file__).parent.glob("render_*.ts")}
    for name, code in {**samples(CLIENT / "README.md"), **samples(GUIDE), **renderers}.items():
        (folder / name).write_text(code.replace(WRITTEN_ADDRESS, deployment.address))
    yield App(folder, tarball, deployment)
    shutil.rmtree(folder)
