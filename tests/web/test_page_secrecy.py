"""A page knows nothing that its player may not know: what it received in a whole game, and what it keeps in memory.

The judge of load tests computes from the public facts which cards a seat may know. Every card in a message of the
table's stream is among these at its time, and calls name no card once the cards are dealt. In the middle of the game
every card in a message of the contract that the page's memory holds is among them too, wherever the page keeps it:
in its view, in scenes that wait, in closures. Cards of the round's other hands are left at each of these moments.
"""

import secrets
from random import Random

import pytest
from google.protobuf.json_format import MessageToJson
from playwright.sync_api import Browser

from croupier_api.v1 import cards_pb2
from croupier_loadtest.judge.knowledge import cards_in
from croupier_loadtest.judge.log import log_of
from croupier_loadtest.judge.notation import Deck
from croupier_loadtest.judge.secrecy import check_secrecy
from croupier_loadtest.judge.streams import ViewerHistory, history_of
from croupier_loadtest.record import Opened, Received, SeatRecord
from tests.web.browsers import quiet_page
from tests.web.conftest import WebDeployment
from tests.web.native_players import host, open_invitation
from tests.web.page_players import act
from tests.web.received_messages import ReceivedMessages, cards_held

pytestmark = [pytest.mark.browser, pytest.mark.gateway, pytest.mark.slow]
SEATS, STANDARD = 3, Deck({})
PACK = frozenset(range(cards_pb2.CARD_TWO_OF_CLUBS, cards_pb2.CARD_ACE_OF_SPADES + 1))
PERIOD = 8
"""Memory is searched once in so many actions."""


def history_so_far(messages: ReceivedMessages) -> ViewerHistory:
    """Return what the page's stream has shown, as the judge reads it."""
    received = [Received(0, 0, frame) for frame in messages.frames]
    return history_of(SeatRecord("", opened=[Opened(0, None)], received=received), SEATS, STANDARD)


def hidden_cards(history: ViewerHistory) -> list[tuple[int, str, int]]:
    """Return the cards that messages show too early, with sequences and fields.

    The judge allows those that a snapshot shows in a hand, which all may know by earlier facts; here are none earlier.
    """
    return [
        (message.sequence, where, card)
        for message in history.messages
        for where, card in cards_in(message.event, STANDARD)
        if message.known is None or card not in message.known
    ]


def test_a_page_knows_no_hidden_card(deployment: WebDeployment, browser: Browser) -> None:
    seed, searches = secrets.randbelow(2**32), 0
    print(f"the seed is {seed}; put it in place of secrets.randbelow to repeat it")
    random = Random(seed)
    with host(deployment) as client, quiet_page(browser, deployment.address, reduced_motion="reduce") as page:
        page.locator(".game").first.wait_for()
        messages = ReceivedMessages.of(page)
        table_id = open_invitation(page, client, game="thulla", seat_count=SEATS, bots=[""])
        with client.play_table(table_id) as table:
            for number in range(10_000):
                act(page, table, random)
                if table.is_finished:
                    break
                if number % PERIOD == 0:
                    held, known = cards_held(messages.session), history_so_far(messages).messages[-1].known
                    assert known is not None
                    assert held.keys() - known == set(), {card: held[card] for card in held.keys() - known}
                    assert held.keys() & known
                    searches += bool(PACK - known)
        page.locator(".ranking").wait_for()
    history = history_so_far(messages)
    assert searches > 0
    assert hidden_cards(history) == []
    assert [*history.found, *check_secrecy(history, [history], log_of([history]), {})] == []
    answers = [MessageToJson(answer) for answer in messages.decoded_answers()]
    assert answers
    assert [text for text in answers if "CARD_" in text or [*STANDARD.written_in(text)]] == []
