"""A gateway that cannot start reports the fault in one line, before anything is started.

tests/runtime shows all that can be wrong with a certificate.
"""

import re
import socket
from datetime import timedelta
from pathlib import Path

import pytest
from typer.testing import CliRunner

from croupier.cli.__main__ import app
from croupier.gateway.__main__ import main
from croupier.gateway.checks import now_utc
from croupier.gateway.local_certificate import DevelopmentCertificate
from croupier.runtime.identity.tokens import write_new_key_pair

UPSTREAM = ("--upstream-certificate=F/gateway.certificate.pem", "--upstream-key=F/gateway.private.pem")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder with the files that a gateway needs, and some that it cannot use."""
    write_new_key_pair(tmp_path / "lobby.private.pem", tmp_path / "lobby.public.pem")
    DevelopmentCertificate(tmp_path).ensure(now_utc())
    (tmp_path / "old").mkdir()
    DevelopmentCertificate(tmp_path / "old").ensure(now_utc() - timedelta(days=800))
    (tmp_path / "empty.pem").write_text("")
    return tmp_path


@pytest.mark.parametrize(
    ("flags", "fault"),
    [
        (["--certificate=F/gateway.certificate.pem"], "--key missing: --certificate, --key go together"),
        (["--certificate=F/none.pem", "--key=F/gateway.private.pem"], "F/none.pem cannot be read as a certificate"),
        ([*UPSTREAM, "--upstream-ca=F/empty.pem"], "F/empty.pem cannot be read as a certificate"),
        (["--upstream-ca=F/empty.pem"], "--upstream-certificate, --upstream-key missing"),
        (["--lobby-public-key=F/empty.pem"], "F/empty.pem cannot be read as an Ed25519 public key"),
        (["--engine=nowhere"], r"invalid --engine \(CROUPIER_ENGINE\) 'nowhere': expected host:port"),
        (["--engine=10.0.0.1:7720"], "--engine-websocket must name the hosts of --engine in the same order"),
        (["--engine=127.0.0.1:1,127.0.0.1:2"], "--engine-websocket must name the hosts of --engine"),
        (["--listen=127.0.0.1:TAKEN"], "127.0.0.1:TAKEN is in use: expected an IP address of this machine"),
        (["--listen=192.0.2.1:7700"], "192.0.2.1:7700 is no address of this machine"),
        (["--listen=here"], "'here': expected host:port"),
        ([f"--admin-socket=/{'a' * 107}"], "Envoy cannot use its configuration: .*108"),
        (["--address-burst=1"], "--address-burst must not be less than"),
        (
            ["--allowed-origins=https://a.example,https://b.example/"],
            "expected .* and 'https://b.example/' is none",
        ),
        (["--allowed-origins=play.example"], "and 'play.example' is none"),
        (["--trusted-proxies=99999999999"], "Envoy cannot use its configuration: .{,400}$"),
        (["--envoy=F/empty.pem"], "F/empty.pem cannot be run"),
    ],
)
def test_unusable_settings_are_reported(
    folder: Path, capfd: pytest.CaptureFixture[str], flags: list[str], fault: str
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as occupied:
        port = str(occupied.getsockname()[1])

        def filled(text: str) -> str:
            return text.replace("F/", f"{folder}/").replace("TAKEN", port)

        usual = [f"--lobby-public-key={folder}/lobby.public.pem", "--listen=127.0.0.1:0"]
        assert main([*usual, *map(filled, flags)]) == 2
        printed = capfd.readouterr().err
        assert printed.count("\n") == 1
        assert re.search(filled(fault), printed)


TLS = ("--certificate=F/gateway.certificate.pem", "--key=F/gateway.private.pem")


@pytest.mark.parametrize(
    ("flags", "is_warned"),
    [
        (["--listen=127.0.0.1:0"], False),
        (["--listen=[::1]:0"], False),
        (["--listen=0.0.0.0:0"], True),
        (["--listen=0.0.0.0:0", *TLS], False),
    ],
)
def test_players_from_other_machines_without_tls_are_a_warning(
    folder: Path, capfd: pytest.CaptureFixture[str], flags: list[str], is_warned: bool
) -> None:
    key = f"--lobby-public-key={folder}/lobby.public.pem"
    given = [key, *(flag.replace("F/", f"{folder}/") for flag in flags)]
    main([*given, f"--envoy={folder}/empty.pem"])
    served = capfd.readouterr().err
    ran = CliRunner().invoke(app, ["gateway", "config", "--check", *given])
    for printed in (served, ran.stderr):
        assert ("other machines can connect to 0.0.0.0:0 without TLS" in printed) is is_warned
    assert "without TLS" not in ran.stdout
    assert "without TLS" not in CliRunner().invoke(app, ["gateway", "config", *given]).stderr


@pytest.mark.parametrize(("pair", "printed"), [("", "written"), ("old/", "expired at")])
def test_certificates_are_checked_for_an_envoy_that_runs_by_itself(folder: Path, pair: str, printed: str) -> None:
    files = {"certificate": f"{pair}gateway.certificate.pem", "key": f"{pair}gateway.private.pem"}
    flags = [f"--{name}={folder / file}" for name, file in {**files, "lobby-public-key": "lobby.public.pem"}.items()]
    command = ["gateway", "config", "--output", str(folder / "envoy"), *flags]
    ran = CliRunner().invoke(app, [*command, "--check"])
    assert printed in (ran.stdout if printed == "written" else str(ran.exception))
    assert (folder / "envoy").exists() == (printed == "written")
    assert CliRunner().invoke(app, command).exit_code == 0


def test_a_development_certificate_is_made_again_after_its_end_and_for_a_new_address(tmp_path: Path) -> None:
    made, certificates = DevelopmentCertificate(tmp_path), []
    steps = [(-300, ""), (0, ""), (100, ""), (100, "192.0.2.7"), (100, "192.0.2.7"), (100, ""), (100, "2001:db8::7")]
    for days, address in steps:
        made.ensure(now_utc() + timedelta(days=days), [address] if address else ())
        certificates.append(made.certificate.read_bytes())
    first, second, third, fourth, fifth, sixth, last = certificates
    assert first == second != third != fourth == fifth == sixth != last
    assert made.key.stat().st_mode & 0o777 == 0o600
