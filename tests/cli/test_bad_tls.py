"""Services whose certificates or ports cannot be used end with one line that says so, and code 2."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from croupier.cli.data_folder import DataFolder, prepare_data_folder
from croupier.cli.replicas import START_ORDER
from croupier.cli.serve import run_service

COMMON = ("--database=sqlite:////nowhere/at/all.db", "--listen=127.0.0.1:0", "--metrics-listen=127.0.0.1:0")
CONTROL = "--control-listen=127.0.0.1:0"


def flags(service: str, folder: DataFolder) -> list[str]:
    signing, lobby = f"--signing-key={folder.signing_key('lobby')}", f"--lobby-public-key={folder.public_key('lobby')}"
    own = {
        "lobby": [signing, "--engine-control=127.0.0.1:9"],
        "engine": [lobby, f"--signing-key={folder.signing_key('engine')}", "--scoring-control=127.0.0.1:9", CONTROL],
        "scoring": [lobby, f"--engine-public-key={folder.public_key('engine')}", CONTROL],
    }
    return [*COMMON, *own[service]]


def certificate_flags(certificate: Path, key: Path, ca: Path) -> list[str]:
    return [f"--tls-certificate={certificate}", f"--tls-key={key}", f"--tls-ca={ca}"]


FAULTS: dict[str, tuple[Callable[[DataFolder, str], list[str]], str]] = {
    "a part": (
        lambda folder, service: certificate_flags(*folder.certificate_files(service))[:1],
        "--tls-key, --tls-ca missing",
    ),
    "not there": (
        lambda folder, service: certificate_flags(*folder.certificate_files("nobody")),
        "nobody/tls.crt cannot be read",
    ),
    "another's key": (
        lambda folder, service: certificate_flags(
            folder.certificate_files(service)[0], *folder.certificate_files("door")[1:]
        ),
        "door/tls.key is not the key of the certificate",
    ),
}


pytestmark = pytest.mark.usefixtures("logs_as_before")


@pytest.mark.parametrize("service", START_ORDER)
@pytest.mark.parametrize("fault", FAULTS)
def test_a_service_that_cannot_use_its_certificate_says_so_before_it_looks_at_anything_else(
    tmp_path: Path, service: str, fault: str, capsys: pytest.CaptureFixture[str]
) -> None:
    given, said = FAULTS[fault]
    folder = prepare_data_folder(tmp_path, certificates=True)
    with ThreadPoolExecutor(1) as thread:
        assert thread.submit(run_service, service, [*flags(service, folder), *given(folder, service)]).result() == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"croupier serve {service}: ")
    assert said in line
