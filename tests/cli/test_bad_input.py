"""Bad input ends a command with one line that has the fault and its remedy, an exit code, and nothing half started."""

import asyncio
import shutil
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import psutil
import pytest

from croupier.cli.commands.serve import run_service
from croupier.cli.faults import CommandFault
from croupier.cli.launcher.addresses import addresses_from, service_flags
from croupier.cli.launcher.data_folder import prepare_data_folder
from croupier.cli.launcher.replicas import START_ORDER
from croupier.cli.launcher.supervisor import SupervisorSettings, running_services
from croupier.games.registry import OWN_GAMES
from croupier.runtime.identity.tokens import write_new_key_pair
from croupier_loadtest.postgres import PostgresServer
from tests.cli.conftest import Command

DEADLINE_SECONDS = 180.0
IN_HASTE = SupervisorSettings(grace_seconds=0)


async def refusal(folder: Path, settings: SupervisorSettings = IN_HASTE) -> CommandFault:
    """Return the fault of services that do not start, and assert that no process remains."""
    before = psutil.Process().children()
    with pytest.raises(CommandFault) as refused:
        async with asyncio.timeout(DEADLINE_SECONDS), running_services(folder, settings=settings):
            pytest.fail("the services started")
    assert set(psutil.Process().children()) <= set(before)
    assert not (folder / "services.json").exists()
    assert "\n" not in refused.value.message
    assert refused.value.exit_code in (1, 2)
    return refused.value


async def test_an_unusable_database(tmp_path: Path) -> None:
    (tmp_path / "engine.db").touch(0o600)
    (tmp_path / "engine.db").write_text("a letter, no database" * 100)
    assert "file is not a database" in (await refusal(tmp_path)).message


@pytest.mark.postgres
async def test_the_password_of_a_database_is_in_no_log(
    tmp_path: Path, postgres: PostgresServer, new_database: Callable[..., str]
) -> None:
    fault = await refusal(tmp_path, replace(IN_HASTE, database=new_database()))
    assert 'run "croupier migrate --database' in fault.message
    logs = [log.read_text() for log in (tmp_path / "logs").iterdir()]
    assert logs
    assert not any(postgres.password in text for text in [str(fault), *logs])


@pytest.mark.slow
async def test_a_key_that_does_not_belong_to_an_engine(tmp_path: Path) -> None:
    folder = prepare_data_folder(tmp_path)
    write_new_key_pair(tmp_path / "private.pem", tmp_path / "public.pem")
    shutil.copy(tmp_path / "public.pem", folder.public_key("engine"))
    fault = await refusal(tmp_path)
    assert "does not take this engine's key: give it the public key" in fault.message
    assert "scoring at 127.0.0.1:" in fault.message
    assert "--engine-public-key" in fault.message


@pytest.mark.usefixtures("logs_as_before")
@pytest.mark.parametrize("service", START_ORDER)
def test_a_service_reports_an_unusable_certificate_before_any_other_fault(
    tmp_path: Path, service: str, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = prepare_data_folder(tmp_path, certificates=True)
    shutil.copy(folder.certificate_files("gateway")[1], folder.certificate_files(service)[1])
    flags = service_flags(service, folder, addresses_from(7700), mutual_tls=True)
    with ThreadPoolExecutor(1) as thread:
        assert thread.submit(run_service, service, [*flags, "--database=sqlite:////nowhere/at/all.db"]).result() == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"croupier serve {service}: ")
    assert f"{service}/tls.key is not the key of the certificate" in line


SERVER = "postgresql://croupier:sesame@127.0.0.1:1/x"
ONE_OF_EACH = "SQLite serves one instance of each service"


@pytest.mark.parametrize(
    ("command", "code", "message"),
    [
        ("up --engines=0", 2, "--engines cannot be 0: choose 1 to 16"),
        ("up --port=65000 --scorings=17", 2, "--scorings cannot be 17: choose 1 to 16"),
        ("up --engines=3", 2, ONE_OF_EACH),
        ("up --scorings=2", 2, ONE_OF_EACH),
        ("up --lobbies=2 --database=sqlite:////tmp/shared.db", 2, ONE_OF_EACH),
        ("up --certificate=a.pem", 2, "--key missing: --certificate, --key go together"),
        ("up --data-dir=/dev/null/croupier", 1, "/dev/null/croupier cannot be used as data folder"),
        ("up --data-dir=/dev/null/croupier --database=postgresql://[x", 1, "/dev/null/croupier cannot be used as data"),
        ("demo --game poker", 2, f"choose one of {', '.join(OWN_GAMES)}"),
        ("demo --game all --seats 3", 2, "leave them out"),
        ("demo --game all -o best_of=3", 2, "leave them out"),
        ("up --data-dir=", 2, "--data-dir is empty: expected a folder"),
        ("play --server nowhere", 2, "--server nowhere: expected HOST:PORT"),
        ("play --server 127.0.0.1:70000", 2, "expected HOST:PORT, IPv6 as [HOST]:PORT, with a port from 1 to 65535"),
        ("play --server https://play.example:443", 2, "leave out https://, and name the port"),
        ("play --server play.example:7700", 2, "add --tls or --ca-file, or --insecure to connect all the same"),
        ("replay verify docs", 2, "docs has no replays: expected files that end with .jsonl"),
        ("games --rules", 2, "croupier games GAME --rules"),
        ("games --check", 2, "croupier games GAME --check"),
        ("games thulla --seed 1", 2, "croupier games GAME --check --seed N"),
        ("serve cashier", 2, "choose one of lobby, engine, scoring"),
        (f"migrate --database {SERVER} --wait 0", 1, "its server cannot be reached"),
        (f"migrate --database {SERVER}", 1, "its server cannot be reached"),
        ("migrate --data-dir . --retry 1", 2, "--wait, --retry and --grant-to are for a database on a server"),
        ("migrate --data-dir . --wait 1", 2, "--wait, --retry and --grant-to are for a database on a server"),
        ("migrate --database sqlite:///x.db --wait 1 --retry 1", 2, "leave --retry out"),
        ("migrate --database mysql://croupier:sesame@host/x", 2, "expected sqlite:////absolute/path.db or postgresql:"),
        ("migrate --database sqlite:////nowhere/x.db", 2, "unable to open database file: check its path and rights"),
        ("migrate --database sqlite:///x.db --data-dir .", 2, "--database and --data-dir exclude each other"),
        ("migrate --check-games --service engine", 2, "--check-games changes nothing: leave out all but --database"),
        (f"migrate --check-games --database {SERVER}", 1, "its server cannot be reached"),
        ("migrate --check-games --database mysql://x/y", 2, "expected sqlite:////absolute/path.db or postgresql:"),
        ("migrate --service bar", 2, "there is no service 'bar': choose among lobby, engine, scoring"),
        ("migrate --data-dir /dev/null/x", 1, "/dev/null/x cannot be used as data folder"),
    ],
)
def test_bad_arguments_are_reported_in_one_line(
    croupier: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str, code: int, message: str
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    ended = croupier(*command.split())
    assert ended.code == code
    assert message in ended.error_line()
    assert "sesame" not in ended.err
    # `croupier play` makes a device secret before anything else.
    assert command.startswith("play") or not any(tmp_path.iterdir())
