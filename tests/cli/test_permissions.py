"""What a command writes is its user's only, whatever the umask is; what others may use is refused."""

import os
import stat
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from croupier.cli.faults import CommandFault
from croupier.cli.launcher.background import BackgroundServices
from croupier.cli.launcher.data_folder import PUBLIC, prepare_data_folder
from croupier.cli.launcher.replicas import START_ORDER
from croupier.cli.local_player import LocalPlayer


@pytest.fixture
def without_umask() -> Iterator[None]:
    before = os.umask(0)
    yield
    os.umask(before)


def open_to_others(folder: Path) -> list[str]:
    paths = (folder, *folder.rglob("*"))
    return [path.name for path in paths if path.stat().st_mode & 0o077 and not path.name.endswith(PUBLIC)]


def test_running_services_open_nothing_to_other_users(services: BackgroundServices) -> None:
    names = {path.name for path in services.folder.path.rglob("*")}
    assert {"lobby.db", "engine.db-wal", "scoring.db-shm", "engine.log", "lobby.json", "services.json"} <= names
    assert open_to_others(services.folder.path) == []
    public = services.folder.public_key("lobby")
    assert stat.S_IMODE(public.stat().st_mode) == 0o644


@pytest.mark.usefixtures("without_umask")
def test_the_secrets_of_services_are_their_users_only_and_public_keys_may_be_read_by_all(tmp_path: Path) -> None:
    folder = prepare_data_folder(tmp_path / "data", certificates=True)
    assert all(path.exists() for service in START_ORDER for path in folder.certificate_files(service))
    assert open_to_others(folder.path) == []
    for path in folder.path.rglob("*"):
        if path.name.endswith(PUBLIC):
            path.chmod(0o644)
    prepare_data_folder(folder.path)


@pytest.mark.usefixtures("without_umask")
def test_the_secret_of_a_player_is_theirs_only(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    player = LocalPlayer(folder)
    secret = player.secret()
    player.remember()
    assert open_to_others(folder) == []
    assert player.secret() == secret
    (folder / "player.secret").chmod(0o640)
    with pytest.raises(CommandFault, match=r"player.secret is open to other users \(mode 640\): .* chmod 600 /"):
        player.secret()


@pytest.mark.parametrize("name", [".", "keys", "keys/lobby.private.pem", "keys/tls/engine/tls.key", "engine.db"])
@pytest.mark.parametrize("mode", [0o640, 0o604, 0o620])
def test_a_data_folder_with_a_part_that_others_may_use_is_refused(tmp_path: Path, name: str, mode: int) -> None:
    folder = tmp_path / "my data"
    prepare_data_folder(folder, certificates=True)
    (folder / "engine.db").touch(0o600)
    part = folder / name
    part.chmod(mode | (0o100 if part.is_dir() else 0))
    with pytest.raises(CommandFault, match=r"is open to other users .*: close it with chmod -R go-rwx '/.*/my data'$"):
        prepare_data_folder(folder)
    subprocess.run(["/bin/chmod", "-R", "go-rwx", folder], check=True)
    prepare_data_folder(folder)


def test_a_folder_of_another_user_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = prepare_data_folder(tmp_path / "data")
    me = os.geteuid()
    monkeypatch.setattr("os.geteuid", lambda: me + 1)
    with pytest.raises(CommandFault, match="belongs to another user"):
        prepare_data_folder(folder.path)
