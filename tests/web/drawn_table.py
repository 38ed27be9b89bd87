"""What the page draws of a table, compared with the view that the engine has for the same seat."""

import time
from collections.abc import Mapping
from typing import Any

from playwright.sync_api import Page

from croupier_api.v1.actions_pb2 import LegalActions
from croupier_api.v1.engine_pb2 import Snapshot
from croupier_api.v1.facts_pb2 import Pile
from croupier_api.v1.games_pb2 import (
    PILE_DISPLAY_COUNT,
    PILE_DISPLAY_TOP,
    PILE_ROLE_REMOVED,
    PILE_ROLE_TAKEN,
    PILE_ROLE_TRICK,
    PileDescription,
)
from croupier_client import BlockingClient
from croupier_loadtest.players.page_turn import HURRY
from tests.waiting import TIMEOUT_SECONDS
from tests.web.page_players import POLL_MILLISECONDS

MAX_FACES = 6
"""Of a pile that lies open."""
SECRET = "Object.entries(localStorage).find(([key]) => key.startsWith('croupier device secret'))[1]"
DRAWN = """() => {
    const all = (selector, root = document) => [...root.querySelectorAll(selector)];
    const cards = (root) => all("[data-card]", root).map(({dataset}) => Number(dataset.card));
    const count = (selector, root, none) => Number(root.querySelector(selector)?.textContent ?? none);
    return {
        status: document.querySelector(".connection")?.dataset.status,
        isTurn: document.querySelector(".actions")?.dataset.turn === "true",
        hand: cards(document.querySelector(".hand") ?? document.createElement("div")),
        playable: all(".in-hand[data-playable=true]").map(({dataset}) => Number(dataset.card)),
        seats: all(".seat").map((seat) => ({
            cards: count(".cards-count", seat, 0),
            score: Number(/: (-?[0-9]+)/.exec(seat.getAttribute("aria-label"))[1]),
            isToAct: seat.dataset.toAct === "true",
            isOut: seat.dataset.out === "true",
        })),
        piles: Object.fromEntries(all(".felt [data-place]").map((pile) => {
            const shown = cards(pile);
            return [pile.dataset.place, {cards: shown, count: count(".count", pile, shown.length)}];
        })),
    };
}"""


def own_secret(page: Page) -> str:
    """Return the secret of the page's device: a client with it is the same player."""
    secret: str = page.evaluate(SECRET)
    return secret


def expect_view(page: Page, player: BlockingClient, table_id: str) -> None:
    """Wait until the page is connected, and draws what GetView returns to its player."""
    games = {game.game: {kind.name: kind for kind in game.piles} for game in player.list_games().games}
    deadline = time.monotonic() + TIMEOUT_SECONDS
    while True:
        snapshot = player.get_view(table_id=table_id).snapshot
        drawn, view = page.evaluate(DRAWN), drawing_of(snapshot, games[snapshot.table.game])
        if drawn == view:
            return
        assert time.monotonic() < deadline, f"the page draws {drawn}, the engine has {view}"
        page.evaluate(HURRY)
        page.wait_for_timeout(POLL_MILLISECONDS)


def drawing_of(snapshot: Snapshot, kinds: Mapping[str, PileDescription]) -> dict[str, Any]:
    """Return what a page draws of a view, with nothing chosen."""
    view, legal = snapshot.view, snapshot.legal_actions
    order = list(view.card_order)
    hand = sorted(
        view.seats[snapshot.viewer_seat].cards, key=lambda card: (order.index(card) if card in order else 99, card)
    )
    playable = playable_cards(legal)
    return {
        "status": "over" if view.ranking else "live",
        "isTurn": snapshot.HasField("legal_actions"),
        "hand": hand,
        "playable": [card for card in hand if card in playable],
        "seats": [
            {
                "cards": seat.card_count,
                "score": seat.score,
                "isToAct": number in view.seats_to_act,
                "isOut": seat.is_out,
            }
            for number, seat in enumerate(view.seats)
        ],
        "piles": {
            place_of(pile): faces_of(pile, kinds[pile.name]) for pile in view.piles if is_drawn(pile, kinds[pile.name])
        },
    }


def playable_cards(legal: LegalActions) -> set[int]:
    """Return the cards that react: those to play, and those of choices."""
    return {action.play.card for action in legal.actions if action.HasField("play")} | {
        card for choice in legal.choices for card in choice.cards.cards
    }


def place_of(pile: Pile) -> str:
    return f"pile:{pile.name}:{pile.owner}" if pile.HasField("owner") else f"pile:{pile.name}"


def is_drawn(pile: Pile, kind: PileDescription) -> bool:
    """Return whether a pile is on the felt; other ones are counted at their seats, or not at all."""
    is_counted = kind.role == PILE_ROLE_REMOVED and kind.display == PILE_DISPLAY_COUNT
    return not is_counted and not (kind.role == PILE_ROLE_TAKEN and pile.HasField("owner"))


def faces_of(pile: Pile, kind: PileDescription) -> dict[str, Any]:
    """Return the cards that are drawn of a pile, those on top, and its number of cards."""
    cards = [entry.card for entry in pile.cards]
    if kind.role != PILE_ROLE_TRICK:
        is_whole = len(cards) == pile.count and kind.display != PILE_DISPLAY_COUNT
        cards = cards[-1 if kind.display == PILE_DISPLAY_TOP else -MAX_FACES :] if is_whole else []
    return {"cards": cards, "count": pile.count}
