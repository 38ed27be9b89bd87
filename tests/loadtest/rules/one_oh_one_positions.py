"""Tables of the referee's 101 in the midst of a round, written as the rules page writes positions."""

from typing import Any

from loadtest.judge.rules.interface import Act
from loadtest.judge.rules.one_oh_one import OneOhOneTable

DEFAULTS: dict[str, bool | int | str] = {
    "deck": 36,
    "exact_101_reset": False,
    "first_move_any": True,
    "lose_at": "reach",
    "elimination": False,
    "queen_covers_six": True,
    "finish_on_six": False,
    "last_card_effects": True,
    "recycle": "flip",
    "may_draw_instead": False,
    "floor_zero": False,
    "max_rounds": 0,
}


def position(hands: list[str], pile: str, stock: str, **options: Any) -> OneOhOneTable:
    """A table in the midst of its first round, cards as the page writes them, seat 0 to act."""
    table = OneOhOneTable(len(hands), {**DEFAULTS, **options})
    table.dealing = False
    table.round_number = 1
    table.starter = 0
    table.shuffles = 1
    table.hands = [hand.split() for hand in hands]
    table.dealt_last = table.hands[0][-1]
    table.pile = [(card, None) for card in pile.split()]
    table.stock = stock.split()
    return table


def played(table: OneOhOneTable, *moves: str) -> OneOhOneTable:
    """After moves as the page writes them: `0:QS/H`, `0:draw`."""
    for move in moves:
        seat, what = move.split(":")
        card, _, suit = what.partition("/")
        act: Act = {"type": "draw"} if card == "draw" else {"type": "play", "card": card}
        table.act(int(seat), {**act, "suit": suit} if suit else act)
    return table
