"""Native players, and the tables at which they meet people at pages."""

import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from random import Random
from threading import Thread

from playwright.sync_api import Page

from croupier_client import BlockingClient, choose_random_action, play_game_blocking
from tests.web.conftest import WebDeployment


@contextmanager
def host(deployment: WebDeployment, name: str = "Native") -> Iterator[BlockingClient]:
    with BlockingClient(deployment.endpoints, secrets.token_urlsafe(), name) as client:
        yield client


def play_in_background(client: BlockingClient, table_id: str, seed: int) -> Thread:
    """Play a seat by random actions until the game is over."""

    def play() -> None:
        with client.play_table(table_id) as table:
            play_game_blocking(table, lambda seen: choose_random_action(seen, Random(seed + seen.sequence)))

    thread = Thread(target=play)
    thread.start()
    return thread


def open_invitation(page: Page, client: BlockingClient, **table: object) -> str:
    """Create a table, let the page join by the link of its code, and begin the game; returns the table's id."""
    created = client.create_table(**table).table  # type: ignore[arg-type]
    take_seat(page, created.invite_code)
    get_ready(page)
    client.set_ready(table_id=created.table_id)
    page.locator(".hand").wait_for()
    return created.table_id


def take_seat(page: Page, invite_code: str) -> None:
    page.evaluate(f"location.hash = '#/j/{invite_code}'")
    # By its class, as below, since the page may be in any language.
    page.locator(".page:not(.waiting-room) > .page-buttons .primary").click()


def get_ready(page: Page) -> None:
    page.locator(".waiting-room > .page-buttons .primary").click()
