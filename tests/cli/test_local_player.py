"""The players of a machine, and the servers that know them."""

from pathlib import Path

import pytest

from croupier.cli.faults import CommandFault
from croupier.cli.local_player import MAX_SERVERS, LocalPlayer


def test_servers_that_know_a_player_are_remembered_until_they_delete_them(tmp_path: Path) -> None:
    here, there, eva = LocalPlayer(tmp_path), LocalPlayer(tmp_path, server="example:443"), LocalPlayer(tmp_path, "eva")
    here.secret()
    assert not any(player.is_known() for player in (here, there, eva))
    for player in (here, there, here):
        player.remember()
    assert [player.is_known() for player in (here, there, eva)] == [True, True, False]
    here.forget()
    eva.forget()
    assert [player.is_known() for player in (here, there, eva)] == [False, True, False]


def test_the_servers_that_were_met_last_are_remembered(tmp_path: Path) -> None:
    players = [LocalPlayer(tmp_path, server=f"example:{number}") for number in range(MAX_SERVERS + 3)]
    for player in players:
        player.remember()
    assert [player.is_known() for player in players] == [False] * 3 + [True] * MAX_SERVERS


@pytest.mark.parametrize("content", ["", "{}", "1", "\udcff"])
def test_a_damaged_list_is_an_empty_one(tmp_path: Path, content: str) -> None:
    (tmp_path / "player.servers").write_text(content, errors="surrogateescape")
    player = LocalPlayer(tmp_path)
    assert not player.is_known()
    player.remember()
    assert player.is_known()


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
