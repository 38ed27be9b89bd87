"""The instructions of docs/clients.md for languages without a client of this project, as far as tools are here."""

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from croupier.cli.launcher.background import started_services
from tests.programs import missing, program

pytestmark = [pytest.mark.gateway, pytest.mark.slow]
ROOT = Path(__file__).parents[2]
JARS = Path("/usr/share/java")
PAGE = (ROOT / "docs/clients.md").read_text()
[INSTALL_JAVA] = re.findall(r"^apt-get install (?:.+\\\n)?.*grpc-java-plugin$", PAGE, re.MULTILINE)
ACTIONS = 3
BUILD_SECONDS = 300.0
GAME_SECONDS = 120.0
LINE = re.compile(r"^(protoc -I.+?) --<language>_out=generated (.+)$", re.MULTILINE)
BUILT_IN = ("cpp", "csharp", "java", "kotlin", "objc", "php", "python", "ruby")
"""The languages whose messages protoc generates without a plugin."""


def protoc_line() -> tuple[str, str]:
    """Return the beginning and the end of the line for protoc on the page: its options, and the files."""
    [(options, files)] = LINE.findall(PAGE)
    return options, files


def run(line: str) -> None:
    """Run a line of the page in the root of the project."""
    command = ["bash", "-euc", line]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=BUILD_SECONDS)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("language", BUILT_IN)
def test_the_line_for_protoc(tmp_path: Path, language: str) -> None:
    protoc = program("protoc", install="apt-get install protobuf-compiler libprotobuf-dev")
    options, files = protoc_line()
    line = f"{options} --{language}_out={tmp_path} {files}".replace("protoc ", f"{protoc} ", 1)
    run(line)
    generated = {path.name.lower() for path in tmp_path.rglob("*") if path.is_file()}
    assert any("lobby" in name or "signin" in name for name in generated)
    assert any("annotations" in name or "http" in name for name in generated), "the contract imports it"


@pytest.fixture
def plain_address(tmp_path: Path) -> Iterator[tuple[str, str]]:
    with started_services(tmp_path / "data", gateway=[]) as services:
        host, _, port = services.addresses["gateway"]["listen"].rpartition(":")
        yield host, port


def test_a_client_in_java(tmp_path: Path, plain_address: tuple[str, str]) -> None:
    """It is generated and compiled with Debian's packages, and plays."""
    protoc, plugin, javac, java = (
        str(program(name, install=INSTALL_JAVA)) for name in ("protoc", "grpc_java_plugin", "javac", "java")
    )
    if not all((JARS / f"{name}.jar").exists() for name in ("grpc-netty", "netty-all", "perfmark-api", "protobuf")):
        missing(f"there are no libraries for Java: {INSTALL_JAVA}")
    sources, classes = tmp_path / "sources", tmp_path / "classes"
    sources.mkdir()
    options, files = protoc_line()
    outputs = f"--java_out={sources} --grpc-java_out={sources} --plugin=protoc-gen-grpc-java={plugin}"
    generate = f"{options} {outputs} {files}".replace("protoc ", f"{protoc} ", 1)
    run(generate)
    programs = [*map(str, sources.rglob("*.java")), str(ROOT / "clients/java/Play.java")]
    path = f"{JARS}/*"
    subprocess.run([javac, "-nowarn", "-cp", path, "-d", str(classes), *programs], check=True, timeout=BUILD_SECONDS)
    done = subprocess.run(
        [java, "-cp", f"{classes}:{path}", "Play", *plain_address, str(ACTIONS)],
        capture_output=True,
        text=True,
        timeout=GAME_SECONDS,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("action stored as entry ") == ACTIONS
