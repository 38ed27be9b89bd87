"""Contents of the image and rights of a program in it."""

import json
import os
import stat
import struct
from collections.abc import Iterator
from pathlib import Path

import pytest

from croupier.gateway.web_table import page_files
from tests.image.container import Image

INSTALLERS = {"pip", "pip3", "pip3.11", "uv", "ensurepip", "setuptools", "wheel", "virtualenv"}
COMPILERS = {"cc", "gcc", "g++", "c++", "clang", "ld", "as", "make", "cargo", "rustc", "go"}
PROGRAMS = {"bin", "sbin"}
LEFTOVERS = ("source", "tools", "wheel", "wheels", "root/.cache", "opt/croupier/lib/python3.11/site-packages/_pytest")
UNCHECKED_HASH = 0b01
PROBE = """
import errno, json, os, pathlib
def attempt(path):
    try:
        pathlib.Path(path, "probe").write_text("x")
    except OSError as fault:
        return errno.errorcode[fault.errno]
    return "written"
status = dict(line.split(":", 1) for line in open("/proc/self/status") if ":" in line)
print(json.dumps({
    "ids": [os.getuid(), os.getgid(), os.getgroups()],
    "pid": os.getpid(),
    "folder": os.getcwd(),
    "capabilities": [status[name].strip() for name in ("CapPrm", "CapEff", "CapBnd")],
    "no_new_privileges": status["NoNewPrivs"].strip(),
    "writes": {path: attempt(path) for path in ("/", "/etc", "/opt/croupier", "/usr", "/var", "/tmp", "/data")},
}))
"""


pytestmark = pytest.mark.built


def paths(image: Image) -> Iterator[Path]:
    """Return all paths in the image, relative to its root."""
    for folder, folders, files in os.walk(image.root):
        for name in (*folders, *files):
            yield (Path(folder) / name).relative_to(image.root)


def test_it_runs_as_an_unprivileged_user_on_a_read_only_root(image: Image) -> None:
    code, output = image.run_python(PROBE)
    assert code == 0, output
    found = json.loads(output)
    user, group = image.user
    assert user >= 10_000
    assert found["ids"] == [user, group, []]
    assert (found["pid"], found["folder"]) == (1, "/data")
    assert (found["capabilities"], found["no_new_privileges"]) == (["0" * 16] * 3, "1")
    read_only = dict.fromkeys(("/", "/etc", "/opt/croupier", "/usr", "/var"), "EROFS")
    assert found["writes"] == read_only | {"/tmp": "written", "/data": "written"}  # noqa: S108 - in the container


def test_without_arguments_it_prints_its_help(image: Image) -> None:
    assert (image.configuration["Entrypoint"], image.configuration["Cmd"]) == (["croupier"], ["--help"])
    code, output = image.run(*image.configuration["Cmd"])
    assert code == 0
    assert "migrate" in output
    assert "serve" in output


def test_no_installer_compiler_or_build_file_remains(image: Image) -> None:
    assert [path for path in paths(image) if path.name in INSTALLERS or path.suffix == ".whl"] == []
    assert [path for path in paths(image) if path.name in COMPILERS and path.parent.name in PROGRAMS] == []
    assert [left for left in LEFTOVERS if (image.root / left).exists()] == []
    assert list((image.root / "var/lib/apt/lists").glob("*_*")) == []
    assert list((image.root / "var/cache/apt").rglob("*.deb")) == []


def test_no_program_is_setuid_or_setgid(image: Image) -> None:
    modes = {path: (image.root / path).lstat().st_mode for path in paths(image)}
    assert [path for path, mode in modes.items() if stat.S_ISREG(mode) and mode & (stat.S_ISUID | stat.S_ISGID)] == []


def test_the_user_can_read_everything_of_croupier(image: Image) -> None:
    installed = [path for path in (image.root / "opt/croupier").rglob("*") if not path.is_symlink()]
    assert installed
    assert [path for path in installed if not path.stat().st_mode & stat.S_IROTH] == []
    assert [path for path in installed if path.stat().st_uid != 0 or path.stat().st_mode & stat.S_IWOTH] == []


@pytest.mark.parametrize("module", ["croupier", "grpc", "sqlalchemy", "asyncio"])
def test_modules_are_compiled_and_python_uses_them(image: Image, module: str) -> None:
    assert uncompiled(image, module) == []


def uncompiled(image: Image, module: str) -> list[Path]:
    """Return the modules of a package that Python would compile again."""
    code, output = image.run_python(f"import importlib.util; print(importlib.util.find_spec({module!r}).origin)")
    assert code == 0, output
    sources = list((image.root / output.strip().lstrip("/")).parent.rglob("*.py"))
    assert sources
    return [source for source in sources if not is_compiled(source)]


def is_compiled(source: Path) -> bool:
    """Return whether Python finds compiled code that is up to date."""
    header = (source.parent / "__pycache__" / f"{source.stem}.cpython-311.pyc").read_bytes()[:16]
    flags, modified, size = struct.unpack("<III", header[4:])
    state = source.stat()
    return flags == UNCHECKED_HASH or (modified, size) == (int(state.st_mtime), state.st_size)


def test_it_has_the_page_that_the_gateway_serves(image: Image) -> None:
    code, output = image.run_python(
        "import json; from croupier.gateway.web_table import page_files;"
        "print(json.dumps({file.name: file.digest for file in page_files()}))"
    )
    assert code == 0, output
    assert json.loads(output) == {file.name: file.digest for file in page_files()}


def test_labels_identify_it(image: Image) -> None:
    labels = {name.rpartition(".")[2]: text for name, text in image.configuration["Labels"].items()}
    assert labels["title"] == "croupier"
    assert labels["licenses"] == "Apache-2.0"
    code, version = image.run_python("from importlib.metadata import version; print(version('croupier'))")
    assert (code, labels["version"]) == (0, version.strip())
    assert all(text for text in labels.values())


def test_the_bill_of_materials_names_what_is_installed(image: Image) -> None:
    bill = json.loads((image.root / "opt/croupier/sbom.cdx.json").read_text())
    assert (bill["bomFormat"], bill["metadata"]["component"]["name"]) == ("CycloneDX", "croupier")
    named = {part["name"].lower().replace("_", "-"): part["version"] for part in bill["components"]}
    assert {"grpcio", "cpython", "openssl", "libc6"} <= named.keys()
    assert [part for part in bill["components"] if not part["purl"].startswith("pkg:")] == []
    code, output = image.run_python(
        "import json; from importlib.metadata import distributions;"
        "print(json.dumps({d.name: d.version for d in distributions() if d.name != 'croupier'}))"
    )
    assert code == 0, output
    installed = {name.lower().replace("_", "-"): version for name, version in json.loads(output).items()}
    assert installed.items() <= named.items()
