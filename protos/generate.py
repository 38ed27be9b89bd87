"""Generates the code and the descriptor set beside the contract, and docs/errors.md.

With --check it changes nothing and reports whether they are up to date.
"""

import argparse
import filecmp
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from google.protobuf.descriptor_pb2 import FileDescriptorSet

from error_page import page, reasons

PROTOS = Path(__file__).parent
ROOT = PROTOS.parent
THIRD_PARTY = PROTOS / "third_party"
"""Contracts of others that ours refer to; their Python code comes with packages of theirs."""
DESCRIPTORS = "protos/croupier_api/v1/descriptors.binpb"
"""The public contract as a FileDescriptorSet with its comments, which the code lacks."""
ERROR_PAGE = "docs/errors.md"
GENERATED = (
    *(f"protos/croupier_*/v1/{name}" for name in ("*_pb2.py", "*_pb2.pyi", "*_pb2_grpc.py", "*_pb2_grpc.pyi")),
    DESCRIPTORS,
    ERROR_PAGE,
)


def generate(target: Path) -> None:
    """Write the generated files below `target`, which has nothing yet."""
    code, descriptors = target / "protos", target / DESCRIPTORS
    for file in (descriptors, target / ERROR_PAGE):
        file.parent.mkdir(parents=True)
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
        *sources,
    ]
    subprocess.run(command, check=True, capture_output=True, text=True)  # noqa: S603
    contract = FileDescriptorSet.FromString(descriptors.read_bytes())
    contract = FileDescriptorSet(file=[file for file in contract.file if file.package == "croupier_api.v1"])
    descriptors.write_bytes(contract.SerializeToString(deterministic=True))
    (target / ERROR_PAGE).write_text(page(reasons(contract)))


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
