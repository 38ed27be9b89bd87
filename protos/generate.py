"""Generates the Python code beside the contract; with --check only says whether it is up to date."""

import argparse
import filecmp
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

PROTOS = Path(__file__).parent
THIRD_PARTY = PROTOS / "third_party"
"""Contracts of others that ours refer to; their Python code comes with packages of theirs."""
GENERATED = ("*_pb2.py", "*_pb2.pyi", "*_pb2_grpc.py", "*_pb2_grpc.pyi")


def generate(target: Path) -> None:
    """Write the generated code below `target`."""
    sources = sorted(str(path.relative_to(PROTOS)) for path in PROTOS.glob("croupier_api/v1/*.proto"))
    outputs = [f"--{kind}_out={target}" for kind in ("python", "grpc_python", "mypy", "mypy_grpc")]
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
        *sources,
    ]
    subprocess.run(command, check=True, capture_output=True, text=True)  # noqa: S603


def generated_files(root: Path) -> dict[str, Path]:
    return {
        str(path.relative_to(root)): path for pattern in GENERATED for path in root.glob(f"croupier_api/v1/{pattern}")
    }


def differences(fresh: Path) -> list[str]:
    """Name the files that are missing, superfluous or different."""
    new, old = generated_files(fresh), generated_files(PROTOS)
    changed = [name for name in new.keys() & old.keys() if not filecmp.cmp(new[name], old[name], shallow=False)]
    return sorted([*changed, *(new.keys() ^ old.keys())])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="change nothing, exit 1 when the code is not up to date")
    check = parser.parse_args().check
    with tempfile.TemporaryDirectory() as folder:
        generate(Path(folder))
        stale = differences(Path(folder))
        if not check:
            for path in generated_files(PROTOS).values():
                path.unlink()
            for name, path in generated_files(Path(folder)).items():
                shutil.copyfile(path, PROTOS / name)
    for name in stale:
        sys.stdout.write(f"{'not up to date' if check else 'generated'}: {name}\n")
    return 1 if check and stale else 0


if __name__ == "__main__":
    raise SystemExit(main())
