"""The players of a machine, and their tables that are not finished."""

from pathlib import Path

import pytest

from croupier.cli.faults import CommandFault
from croupier.cli.local_player import MAX_TABLES, LocalPlayer


def test_tables_are_remembered_by_server_and_player_until_they_are_forgotten(tmp_path: Path) -> None:
    here, there, eva = LocalPlayer(tmp_path), LocalPlayer(tmp_path, server="example:443"), LocalPlayer(tmp_path, "eva")
    here.secret()
    for player, table_id in ((here, "t1"), (here, "t2"), (there, "t3"), (eva, "t4"), (here, "t1")):
        player.remember(table_id)
    assert [player.tables() for player in (here, there, eva)] == [["t2", "t1"], ["t3"], ["t4"]]
    here.forget("t1")
    there.forget("t2")
    assert [player.tables() for player in (here, there, eva)] == [["t2"], ["t3"], ["t4"]]


def test_the_newest_tables_are_remembered(tmp_path: Path) -> None:
    player = LocalPlayer(tmp_path)
    for number in range(MAX_TABLES + 3):
        player.remember(f"t{number}")
    assert player.tables() == [f"t{number}" for number in range(3, MAX_TABLES + 3)]


@pytest.mark.parametrize("content", ["", "{}", "[1]", '[{"server": ""}]', "\udcff"])
def test_a_damaged_list_is_an_empty_one(tmp_path: Path, content: str) -> None:
    (tmp_path / "player.tables").write_text(content, errors="surrogateescape")
    player = LocalPlayer(tmp_path)
    assert player.tables() == []
    player.remember("t1")
    assert player.tables() == ["t1"]


def test_players_of_a_machine_have_secrets_of_their_own(tmp_path: Path) -> None:
    secrets = {LocalPlayer(tmp_path, name).secret() for name in ("", "eva", "Eva", "Zoë-2")}
    assert len(secrets) == 4


def test_servers_get_secrets_of_their_own_that_last(tmp_path: Path) -> None:
    servers = ("", "play.example:443", "127.0.0.1:7700", "127.0.0.1:7701")
    secrets = [LocalPlayer(tmp_path, server=server).secret() for server in servers]
    assert len(set(secrets)) == len(servers)
    assert all(16 <= len(secret) <= 256 for secret in secrets)
    assert secrets == [LocalPlayer(tmp_path, server=server.upper()).secret() for server in servers]
    assert secrets[0] == (tmp_path / "player.secret").read_text()


@pytest.mark.parametrize("name", ["../x", "a b", "x" * 33, "."])
def test_a_name_that_is_no_part_of_a_file_name_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(CommandFault, match=r"--player .*: expected at most 32 letters, digits, - and _"):
        LocalPlayer(tmp_path, name)
