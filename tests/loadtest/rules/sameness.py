"""What is the same in the engine's state and at the referee's table; AssertionError names what is not."""

import json
from collections.abc import Mapping
from typing import Any

from croupier.games import facts, interface
from croupier.games.actions import Keep, action_to_json
from croupier.games.cards import NOTATION, SUITS, notation
from croupier.games.interface import State
from loadtest.judge.rules.interface import Choice, Legal, Table


def same_duties(state: State, table: Table) -> None:
    """What the tables wait for, or how the game ended."""
    awaiting = state.awaiting
    due = awaiting if isinstance(awaiting, interface.ShuffleNeeded) else None
    wanted = (notation(due.cards), list(due.draw_bounds), due.round_number, due.shuffle_number) if due else None
    equal("shuffle wanted", wanted, table.shuffle_wanted)
    seats = list(awaiting.seats) if isinstance(awaiting, interface.SeatsToAct) else []
    equal("seats to act", seats, table.to_act)
    over = awaiting if isinstance(awaiting, interface.GameOver) else None
    ranking = None if table.ranking is None else [sorted(group) for group in table.ranking]
    equal("ranking", [sorted(group) for group in over.ranking] if over else None, ranking)


def same_view(view: facts.View, viewer: int, table: Table) -> None:
    """What a seat or the spectators see."""
    equal("round", view.round_number, table.round_number)
    equal(f"totals seen by {viewer}", [seat.score for seat in view.seats], table.scores)
    theirs = {
        pile.name: (pile.card_count, [(NOTATION[card], seat) for card, seat in pile.cards]) for pile in view.piles
    }
    held = taken_up(table, viewer, theirs)
    ours = {
        name: (len(pile.cards), list(pile.cards) if pile.seen_by is None or viewer in pile.seen_by else [])
        for name, pile in table.piles.items()
        if name not in held
    }
    equal(f"piles seen by {viewer}", theirs, ours)
    for seat, (shown, hand) in enumerate(zip(view.seats, table.hands, strict=True)):
        cards = [*hand, *(card for pile in held.values() for card in pile)] if seat == viewer else hand
        equal(f"number of cards of {seat} seen by {viewer}", shown.card_count, len(cards))
        if shown.cards or seat == viewer:
            equal(f"hand {seat} seen by {viewer}", sorted(notation(shown.cards)), sorted(cards))


def taken_up(table: Table, viewer: int, shown: Mapping[str, object]) -> dict[str, list[str]]:
    """Piles that a seat alone knows and sees in its hand, while they still lie on the table for all others.

    A kitty that was taken up, for example, before anybody knows what is kept.
    """
    only = frozenset({viewer})
    piles = table.piles.items()
    return {name: [card for card, _ in cards] for name, (cards, by) in piles if by == only and name not in shown}


def same_legal(state: State, seat: int, table: Table) -> None:
    """What a seat may do."""
    equal(f"what seat {seat} may do", canonical(engine_legal(state, seat)), canonical(table.legal(seat)))


def engine_legal(state: State, seat: int) -> Legal:
    """What the engine lets a seat do, in the referee's words."""
    legal = state.legal_actions(seat)
    choices = [
        Choice("keep" if verb is Keep else "swap", notation(cards), fewest, most, [SUITS[suit] for suit in suits])
        for verb, cards, fewest, most, suits in legal.choices
    ]
    return Legal([action_to_json(action) for action in legal.actions], choices)


def canonical(legal: Legal) -> list[str]:
    """What is legal in one order, each once."""
    actions = {json.dumps(action, sort_keys=True) for action in legal.actions}
    choices = {
        (verb, *sorted(cards), fewest, most, *sorted(suits)) for verb, cards, fewest, most, suits in legal.choices
    }
    return sorted(actions) + sorted(map(str, choices))


def equal(what: str, theirs: Any, ours: Any) -> None:
    """AssertionError with both unless they are equal."""
    assert theirs == ours, f"{what}: the engine has {theirs}, the referee {ours}"
