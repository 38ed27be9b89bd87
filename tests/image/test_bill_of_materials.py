"""The bill of materials of an image names Debian's packages."""

from pathlib import Path

from image.bill_of_materials import completed, debian_components

STATUS = """\
Package: libstdc++6
Status: install ok installed
Architecture: amd64
Version: 12.2.0-14+deb12u1
Description: the GNU library
 Package: nothing
 .

Package: tzdata
Status: deinstall ok config-files
Architecture: all
Version: 2026a

Package: login
Essential: yes
Status: install ok installed
Architecture: amd64
Version: 1:4.13+dfsg1-1
"""
GRPCIO = {"name": "grpcio", "version": "1.85.1", "purl": "pkg:pypi/grpcio@1.85.1"}


def test_installed_packages_have_package_urls() -> None:
    assert [part["purl"] for part in debian_components(STATUS, "debian-12")] == [
        "pkg:deb/debian/libstdc%2B%2B6@12.2.0-14%2Bdeb12u1?arch=amd64&distro=debian-12",
        "pkg:deb/debian/login@1%3A4.13%2Bdfsg1-1?arch=amd64&distro=debian-12",
    ]


def test_packages_of_the_base_are_added_to_those_of_python(tmp_path: Path) -> None:
    (tmp_path / "var/lib/dpkg").mkdir(parents=True)
    (tmp_path / "var/lib/dpkg/status").write_text(STATUS)
    (tmp_path / "usr/lib").mkdir(parents=True)
    (tmp_path / "usr/lib/os-release").write_text('NAME="Debian"\nID=debian\nVERSION_ID="12"\n')
    bill = completed({"bomFormat": "CycloneDX", "components": [GRPCIO]}, tmp_path)
    assert [part["name"] for part in bill["components"]] == ["grpcio", "cpython", "libstdc++6", "login"]
    assert bill["bomFormat"] == "CycloneDX"


def test_a_package_that_was_installed_from_a_folder_gets_a_package_url(tmp_path: Path) -> None:
    game = {"name": "croupier_gin.rummy", "version": "0.1.0+ours"}
    packages = completed({"components": [GRPCIO, game]}, tmp_path)["components"][:2]
    assert packages == [GRPCIO, {**game, "purl": "pkg:pypi/croupier-gin-rummy@0.1.0%2Bours"}]


def test_a_base_without_debian(tmp_path: Path) -> None:
    assert [part["name"] for part in completed({"components": []}, tmp_path)["components"]] == ["cpython"]
