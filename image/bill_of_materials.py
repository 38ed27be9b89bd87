"""Completes the bill of materials of an image: to its Python packages it adds the interpreter and Debian's packages.

Runs while the image is built, with the Python that has cyclonedx-bom: bill_of_materials.py PYTHON_SBOM BASE OUTPUT,
where BASE is the root of the image's file system.
"""

import json
import platform
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

Component = dict[str, Any]


def debian_components(status: str, release: str) -> Iterator[Component]:
    """The installed packages of a dpkg status file, as CycloneDX components; `release` such as debian-12."""
    for paragraph in status.split("\n\n"):
        fields = dict(line.split(": ", 1) for line in paragraph.splitlines() if ": " in line and line[0] != " ")
        if fields.get("Status", "").endswith(" installed"):
            yield _debian_component(fields["Package"], fields["Version"], fields["Architecture"], release)


def _debian_component(name: str, version: str, architecture: str, release: str) -> Component:
    purl = f"pkg:deb/debian/{quote(name, safe='')}@{quote(version, safe='')}?arch={architecture}&distro={release}"
    return {"type": "library", "bom-ref": purl, "name": name, "version": version, "purl": purl}


def interpreter(version: str) -> Component:
    """CPython, which not every base has from Debian."""
    purl = f"pkg:generic/cpython@{version}"
    return {"type": "platform", "bom-ref": purl, "name": "cpython", "version": version, "purl": purl}


def completed(python: dict[str, Any], base: Path) -> dict[str, Any]:
    """The bill with what the root file system `base` brings; without dpkg there it gets the interpreter only."""
    status = base / "var/lib/dpkg/status"
    found = list(debian_components(status.read_text(), _release(base))) if status.exists() else []
    components = [*map(_with_purl, python["components"]), interpreter(platform.python_version()), *found]
    return {**python, "components": components}


def _with_purl(package: Component) -> Component:
    # Wheels that pip took from a folder, as those of games, have none.
    name = re.sub(r"[-_.]+", "-", package["name"]).lower()
    return {"purl": f"pkg:pypi/{name}@{quote(package['version'], safe='')}", **package}


def _release(base: Path) -> str:
    lines = (base / "usr/lib/os-release").read_text().splitlines()
    fields = dict(line.split("=", 1) for line in lines if "=" in line)
    return f"{fields['ID']}-{fields['VERSION_ID']}".replace('"', "")


def check(bill: str) -> None:
    """Raises ValueError if this is not CycloneDX."""
    from cyclonedx.schema import SchemaVersion
    from cyclonedx.validation.json import JsonStrictValidator

    fault = JsonStrictValidator(SchemaVersion.V1_6).validate_str(bill)
    if fault is not None:
        raise ValueError(f"the bill of materials is not valid: {fault}")


def main(python_bill: Path, base: Path, output: Path) -> None:
    """Write the bill of the whole image."""
    bill = json.dumps(completed(json.loads(python_bill.read_text()), base), indent=1)
    check(bill)
    output.write_text(bill)


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
