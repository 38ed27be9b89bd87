"""A door that cannot open says so in one line, before anything is started.

tests/runtime shows all that can be wrong with a certificate.
"""

import re
import socket
from datetime import timedelta
from pathlib import Path

import pytest
from typer.testing import CliRunner

from croupier.cli.__main__ import app
from croupier.door.__main__ import main
from croupier.door.checks import now_utc
from croupier.door.development import DevelopmentCertificate
from croupier.runtime.identity import write_new_key_pair

UPSTREAM = ("--upstream-certificate=F/door.certificate.pem", "--upstream-key=F/door.private.pem")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with what a door needs, and some that it cannot use."""
    write_new_key_pair(tmp_path / "lobby.private.pem", tmp_path / "lobby.public.pem")
    DevelopmentCertificate(tmp_path).ensure(now_utc())
    (tmp_path / "old").mkdir()
    DevelopmentCertificate(tmp_path / "old").ensure(now_utc() - timedelta(days=800))
    (tmp_path / "empty.pem").write_text("")
    return tmp_path


@pytest.mark.parametrize(
    ("flags", "fault"),
    [
        (["--certificate=F/door.certificate.pem"], "--key missing: --certificate, --key go together"),
        (["--certificate=F/none.pem", "--key=F/door.private.pem"], "F/none.pem cannot be read as a certificate"),
        (
            ["--certificate=F/old/door.certificate.pem", "--key=F/old/door.private.pem"],
            r"the certificate in F/old/door.certificate.pem expired at \d{4}-\d\d-\d\d",
        ),
        ([*UPSTREAM, "--upstream-ca=F/empty.pem"], "F/empty.pem cannot be read as a certificate"),
        ([*UPSTREAM, "--upstream-ca=F/old/door.authority.pem"], "the certificate in F/old/door.authority.pem expired"),
        (["--upstream-ca=F/empty.pem"], "--upstream-certificate, --upstream-key missing"),
        (["--lobby-public-key=F/empty.pem"], "F/empty.pem cannot be read as an Ed25519 public key"),
        (["--engine=nowhere"], "'nowhere' is not an address: host:port is expected"),
        (["--listen=127.0.0.1:TAKEN"], "127.0.0.1:TAKEN cannot be listened on: is it in use"),
        (["--listen=192.0.2.1:7700"], "192.0.2.1:7700 cannot be listened on"),
        (["--listen=here"], "here cannot be listened on"),
        (["--admin-listen=0.0.0.0:7709"], "--admin-listen cannot be 0.0.0.0:7709"),
        (["--address-burst=1"], "--address-burst must not be less than"),
        (["--request-seconds=0"], "--request-seconds must be at least 1"),
        (["--allowed-origins=https://a.example,https://b.example/"], "cannot have 'https://b.example/': an origin is"),
        (["--allowed-origins=play.example"], "cannot have 'play.example'"),
        (["--trusted-proxies=99999999999"], "Envoy cannot use its configuration: .{,400}$"),
        (["--envoy=F/empty.pem"], "F/empty.pem cannot be run"),
        (["--traces-endpoint=127.0.0.1:1,127.0.0.1:2"], "one host:port is expected"),
        (["--traces-endpoint=127.0.0.1:1", "--traces-ratio=2"], "--traces-ratio cannot be 2"),
    ],
)
def test_what_cannot_be_used_is_named(
    folder: Path, capfd: pytest.CaptureFixture[str], flags: list[str], fault: str
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])

        def filled(text: str) -> str:
            return text.replace("F/", f"{folder}/").replace("TAKEN", port)

        usual = [f"--lobby-public-key={folder}/lobby.public.pem", "--listen=127.0.0.1:0", "--admin-listen=127.0.0.1:0"]
        assert main([*usual, *map(filled, flags)]) == 2
        said = capfd.readouterr().err
        assert said.count("\n") == 1
        assert re.search(filled(fault), said)


@pytest.mark.parametrize(("pair", "said"), [("", "written"), ("old/", "expired at")])
def test_who_runs_envoy_himself_can_have_certificates_looked_at(folder: Path, pair: str, said: str) -> None:
    given = {"certificate": f"{pair}door.certificate.pem", "key": f"{pair}door.private.pem"}
    flags = [f"--{name}={folder / file}" for name, file in {**given, "lobby-public-key": "lobby.public.pem"}.items()]
    command = ["door", "config", "--output", str(folder / "envoy"), *flags]
    ran = CliRunner().invoke(app, [*command, "--check"])
    assert said in (ran.stdout if said == "written" else str(ran.exception))
    assert (folder / "envoy").exists() == (said == "written")
    assert CliRunner().invoke(app, command).exit_code == 0


def test_a_certificate_of_ones_own_is_made_once_and_again_when_it_has_ended(tmp_path: Path) -> None:
    made = DevelopmentCertificate(tmp_path)
    made.ensure(now_utc() - timedelta(days=300))
    first = made.certificate.read_bytes()
    made.ensure(now_utc())
    assert made.certificate.read_bytes() == first
    made.ensure(now_utc() + timedelta(days=100))
    assert made.certificate.read_bytes() != first
    assert made.key.stat().st_mode & 0o777 == 0o600
