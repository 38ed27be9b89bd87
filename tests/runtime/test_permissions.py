"""Services refuse secrets and databases that others may read or write."""

import os
import subprocess
from datetime import UTC, datetime
from pathlib import Path

import pytest

from croupier.runtime.database.database import check_permissions, open_database
from croupier.runtime.identity.permissions import check_secret
from croupier.runtime.identity.tokens import load_private_key, write_new_key_pair
from croupier.runtime.server.program import SettingsError
from tests.certificates import Authority

OTHERS_MAY = [0o604, 0o602, 0o620, 0o610]


@pytest.mark.parametrize("mode", [0o600, 0o400, 0o440])
def test_the_group_may_read_a_secret_as_in_kubernetes(tmp_path: Path, mode: int) -> None:
    write_new_key_pair(tmp_path / "key", tmp_path / "public")
    (tmp_path / "key").chmod(mode)
    load_private_key(tmp_path / "key")


@pytest.mark.parametrize("mode", OTHERS_MAY)
def test_keys_that_others_may_use_are_refused(tmp_path: Path, mode: int) -> None:
    write_new_key_pair(tmp_path / "key", tmp_path / "public")
    (tmp_path / "key").chmod(mode)
    with pytest.raises(SettingsError, match=rf"key is open to other users \(mode {mode:o}\): .* chmod 600 /"):
        load_private_key(tmp_path / "key")
    authority = Authority()
    files = authority.files(tmp_path / "tls", authority.issue("engine"))
    files.key.chmod(mode)
    with pytest.raises(SettingsError, match=r"tls\.key is open to other users"):
        files.identity(files.contents(), datetime.now(UTC))


def test_the_printed_command_closes_a_file_of_any_name(tmp_path: Path) -> None:
    secret = tmp_path / "Kari's own key"
    secret.touch()
    secret.chmod(0o644)
    with pytest.raises(SettingsError) as refused:
        check_secret(secret)
    command = str(refused.value).partition("close it with ")[2]
    subprocess.run(["/bin/sh", "-c", command], check=True, timeout=60)
    check_secret(secret)


async def test_a_database_that_others_may_use_is_refused(tmp_path: Path) -> None:
    database = open_database(f"sqlite:///{tmp_path}/x.db")
    check_permissions(database)
    assert await database.is_reachable()
    check_permissions(database)
    await database.close()
    (tmp_path / "x.db").chmod(0o644)
    with pytest.raises(SettingsError, match=r"x\.db is open to other users"):
        check_permissions(database)


def test_a_secret_of_root_is_accepted_and_one_of_another_user_is_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "key").touch(0o600)
    me = os.geteuid()
    monkeypatch.setattr("os.geteuid", lambda: me + 1)
    if me == 0:
        check_secret(tmp_path / "key")
        os.chown(tmp_path / "key", 1234, 1234)
    with pytest.raises(SettingsError, match="belongs to another user"):
        check_secret(tmp_path / "key")
