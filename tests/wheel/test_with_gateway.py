"""The wheel with the extra `gateway`: `croupier up` serves its page, and a person plays by its address."""

import re
from http.client import HTTPConnection
from pathlib import Path

import pytest

from croupier.gateway.web_table import page_files
from tests.cli.person import DEADLINE_SECONDS, person_in
from tests.wheel.conftest import IDA, Installed, play_a_card_and_leave

pytestmark = pytest.mark.built


def test_its_page_is_served_and_a_person_plays_by_its_address(installed: Installed, tmp_path: Path) -> None:
    with installed.up(tmp_path / "data") as printed:
        [gateway] = re.findall(r"play in a browser at http://(\S+)/", printed)
        for file in page_files():
            connection = HTTPConnection(gateway, timeout=DEADLINE_SECONDS)
            connection.request("GET", file.path)
            assert connection.getresponse().read() == file.content
        at_gateway = [*IDA, "--server", gateway]
        with person_in(tmp_path / "another machine", {}, at_gateway, program=[installed.program]) as person:
            play_a_card_and_leave(person)
            assert "starting services" not in person.seen
