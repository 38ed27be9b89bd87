"""Players that need no rules, since every update contains the legal actions."""

from collections.abc import Callable
from random import Random
from typing import TypeAlias

from croupier_api.v1.actions_pb2 import Action, ActionChoice, LegalActions
from croupier_client.aio_table import AsyncTable
from croupier_client.blocking_table import BlockingTable
from croupier_client.choices import complete_choice
from croupier_client.errors import FailedPrecondition, StaleSequence
from croupier_client.table import FollowedTable

Decide: TypeAlias = Callable[[FollowedTable], Action]
"""Returns the action of the viewer whose turn it is, by the table's `view`, `seat` and `legal_actions`."""


def choose_random_action(table: FollowedTable, random: Random) -> Action:
    """Return a random legal action; every listed action and every choice is equally likely.

    Standing pat counts as the swap of no cards: it is as likely as a swap of one card, not as all swaps together.
    Raises ValueError when the viewer is not to act, and for a choice that is newer than this client.
    """
    legal = _with_empty_swaps(table.legal_actions)
    alternatives: list[Action | ActionChoice] = [*legal.actions, *legal.choices]
    if not alternatives:
        raise ValueError("no legal actions: it is not this seat's turn")
    picked = random.choice(alternatives)
    return picked if isinstance(picked, Action) else _complete_randomly(picked, random)


async def play_game(table: AsyncTable, decide: Decide) -> None:
    """Play a game to its end; a decision that the table overtook is made again."""
    while await table.wait_for_turn():
        seen, expected = table.sequence, table.expected_sequence
        try:
            await table.submit_action(decide(table), expected_sequence=expected)
        except StaleSequence:
            await table.wait_for_change(after=seen)
        except FailedPrecondition:
            if table.sequence == seen:
                raise


def play_game_blocking(table: BlockingTable, decide: Decide) -> None:
    """Play a game to its end, as `play_game` does."""
    while table.wait_for_turn():
        seen, expected = table.sequence, table.expected_sequence
        try:
            table.submit_action(decide(table), expected_sequence=expected)
        except StaleSequence:
            table.wait_for_change(after=seen)
        except FailedPrecondition:
            if table.sequence == seen:
                raise


def _with_empty_swaps(legal: LegalActions) -> LegalActions:
    """Return the same legal actions, in which standing pat is the swap of no cards: part of the choice of cards."""
    others = [action for action in legal.actions if not action.HasField("stand_pat")]
    merged = LegalActions(actions=others, choices=legal.choices)
    swaps = [
        choice for choice in merged.choices if choice.action.HasField("swap_cards") and choice.cards.min_cards == 1
    ]
    if len(others) == len(legal.actions) or not swaps:
        return legal
    for swap in swaps:
        swap.cards.min_cards = 0
    return merged


def _complete_randomly(choice: ActionChoice, random: Random) -> Action:
    cards, amount = choice.cards, choice.amount
    amounts = range(amount.min_amount, amount.max_amount + 1, max(amount.step, 1)) if choice.HasField("amount") else ()
    return complete_choice(
        choice,
        cards=random.sample(list(cards.cards), k=random.randint(cards.min_cards, cards.max_cards)),
        suit=random.choice(list(choice.suits)) if choice.suits else None,
        amount=random.choice(amounts) if amounts else None,
        seat=random.choice(list(choice.seats)) if choice.seats else None,
    )
