"""A table whose rules fail while people play: the page says so, waits, and goes on when they are mended."""

import os
import secrets
from contextlib import suppress
from pathlib import Path
from random import Random

import pytest
from playwright.sync_api import Browser, expect

from croupier.cli.launcher.background import started_services
from croupier_client import BlockingClient, CroupierError, Endpoints
from tests.installed_packages import write_metadata
from tests.web.browsers import disturbed_page
from tests.web.native_players import open_invitation
from tests.web.page_players import act

pytestmark = [pytest.mark.browser, pytest.mark.gateway, pytest.mark.slow]
MODULE = """
from pathlib import Path

from croupier.games.thulla.game import Thulla

class Hearts(Thulla):
    id = "hearts"
    name = "Hearts"

    def legal_actions(self, state, seat, /):
        if Path({defect!r}).exists():
            raise LookupError("a defect")
        return super().legal_actions(state, seat)
"""
ACTIONS_AFTER = 3
SENTENCE = "The table waits: the rules of its game have failed (croupier-hearts 1.2.0)."


@pytest.mark.parametrize("is_loaded_again", [False, True], ids=["as it was", "loaded again"])
def test_a_page_waits_while_rules_fail_and_goes_on_by_itself(
    tmp_path: Path, browser: Browser, monkeypatch: pytest.MonkeyPatch, is_loaded_again: bool
) -> None:
    defect, random = tmp_path / "defect", Random(1)
    (tmp_path / "croupier_hearts.py").write_text(MODULE.format(defect=str(defect)))
    write_metadata(tmp_path, "croupier-hearts", "1.2.0", {"croupier.games": {"hearts": "croupier_hearts:Hearts"}})
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(tmp_path), *filter(None, [os.environ.get("PYTHONPATH")])]))
    with started_services(tmp_path / "data", gateway=[]) as services:
        address = services.addresses["gateway"]["listen"]
        with (
            BlockingClient(Endpoints.single(address), secrets.token_urlsafe(), "Native") as client,
            disturbed_page(browser, f"http://{address}") as page,
        ):
            table_id = open_invitation(page, client, game="hearts", seat_count=2)
            with client.play_table(table_id) as table, suppress(CroupierError):
                while not table.is_to_act:
                    act(page, table, random)
                defect.touch()
                act(page, table, random)
            if is_loaded_again:
                page.reload()
            expect(page.get_by_text(SENTENCE)).to_be_visible()
            if not is_loaded_again:
                expect(page.locator(".connection")).to_have_text("Paused")
                expect(page.locator(".buttons, .in-hand[data-playable=true]")).to_have_count(0)
            defect.unlink()
            # As an operator who has installed a mended package does.
            services.kill("engine")
            # Another network needs no wait: the page tries again at once, as it does each minute.
            page.context.set_offline(True)
            page.context.set_offline(False)
            expect(page.get_by_text(SENTENCE)).to_have_count(0)
            with client.play_table(table_id) as table:
                for _ in range(ACTIONS_AFTER):
                    act(page, table, random)
