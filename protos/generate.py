"""Generates the code and openapi.json beside the contract, docs/errors.md and docs/game-reference.md.

With --check it changes nothing and reports whether they are up to date.
"""

import argparse
import filecmp
import json
import shutil
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

from google.protobuf.descriptor import ServiceDescriptor
from google.protobuf.descriptor_pb2 import FileDescriptorSet
from google.protobuf.descriptor_pool import DescriptorPool

import game_reference
from contract_comments import comments
from error_page import page, reasons
from openapi_document import openapi

PROTOS = Path(__file__).parent
ROOT = PROTOS.parent
THIRD_PARTY = PROTOS / "third_party"
"""Contracts of others that ours refer to; their Python code comes with packages of theirs."""
PACKAGE = "croupier_api.v1"
"""The public contract; players have no route to the other one."""
OPENAPI = "protos/croupier_api/v1/openapi.json"
ERROR_PAGE, GAME_REFERENCE = "docs/errors.md", "docs/game-reference.md"
GENERATED = (
    *(f"protos/croupier_*/v1/{name}" for name in ("*_pb2.py", "*_pb2.pyi", "*_pb2_grpc.py", "*_pb2_grpc.pyi")),
    OPENAPI,
    ERROR_PAGE,
    GAME_REFERENCE,
)


def generate(target: Path) -> None:
    """Write the generated files below `target`, which has nothing yet."""
    code, descriptors = target / "protos", target / "descriptors"
    for file in (OPENAPI, ERROR_PAGE):
        (target / file).parent.mkdir(parents=True)
    sources = sorted(str(path.relative_to(PROTOS)) for path in PROTOS.glob("croupier_*/v1/*.proto"))
    outputs = [f"--{kind}_out={code}" for kind in ("python", "grpc_python", "mypy", "mypy_grpc")]
    plugins = [
        f"--plugin=protoc-gen-{name}={Path(sys.executable).parent / f'protoc-gen-{name}'}"
        for name in ("mypy", "mypy_grpc")
    ]
    command = [
        sys.executable,
        "-m",
        "grpc_tools.protoc",
        f"-I{PROTOS}",
        f"-I{THIRD_PARTY}",
        *plugins,
        *outputs,
        f"--descriptor_set_out={descriptors}",
        "--include_source_info",
        "--include_imports",
        *sources,
    ]
    subprocess.run(command, check=True, capture_output=True, text=True)  # noqa: S603
    everything = FileDescriptorSet.FromString(descriptors.read_bytes())
    contract = FileDescriptorSet(file=[file for file in everything.file if file.package == PACKAGE])
    version = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    described = comments(contract)
    document = openapi(services_of(everything), described, version)
    (target / OPENAPI).write_text(json.dumps(document, indent=2) + "\n")
    (target / ERROR_PAGE).write_text(page(reasons(contract)))
    (target / GAME_REFERENCE).write_text(game_reference.page(ROOT, described))


def services_of(files: FileDescriptorSet) -> list[ServiceDescriptor]:
    """Return the services for players; `files` are the contract after all that it imports."""
    pool = DescriptorPool()
    for file in files.file:
        pool.Add(file)
    names = [f"{PACKAGE}.{service}" for service in ("LobbyService", "EngineService", "ScoringService")]
    return [pool.FindServiceByName(name) for name in names]


def generated_files(root: Path) -> dict[str, Path]:
    return {str(path.relative_to(root)): path for pattern in GENERATED for path in root.glob(pattern)}


def differences(fresh: Path) -> list[str]:
    """Name the files that are missing, superfluous or different."""
    new, old = generated_files(fresh), generated_files(ROOT)
    changed = [name for name in new.keys() & old.keys() if not filecmp.cmp(new[name], old[name], shallow=False)]
    return sorted([*changed, *(new.keys() ^ old.keys())])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="change nothing, exit 1 when a file is not up to date")
    check = parser.parse_args().check
    with tempfile.TemporaryDirectory() as folder:
        generate(Path(folder))
        stale = differences(Path(folder))
        if not check:
            for path in generated_files(ROOT).values():
                path.unlink()
            for name, path in generated_files(Path(folder)).items():
                shutil.copyfile(path, ROOT / name)
    for name in stale:
        sys.stdout.write(f"{'not up to date' if check else 'generated'}: {name}\n")
    return 1 if check and stale else 0


if __name__ == "__main__":
    raise SystemExit(main())
