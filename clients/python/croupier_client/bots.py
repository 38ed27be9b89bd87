"""Players that need no rules: what is legal comes with every update."""

from collections.abc import Callable, Sequence
from typing import Protocol, TypeAlias, TypeVar

from croupier_api.v1 import table_pb2 as pb
from croupier_api.v1.cards_pb2 import SUIT_UNSPECIFIED
from croupier_client.aio_table import AsyncTable
from croupier_client.blocking_table import BlockingTable
from croupier_client.errors import FailedPrecondition, StaleSequence
from croupier_client.table import Table

Decide: TypeAlias = Callable[[Table], pb.Action]
"""What to do at a table where it is one's turn; Table has `view`, `seat` and `legal_actions`."""
T = TypeVar("T")


class RandomChoice(Protocol):
    """What is needed of a source of chance; random.Random fits."""

    def choice(self, seq: Sequence[T], /) -> T:
        """One of them."""
        ...

    def sample(self, population: Sequence[T], /, k: int) -> list[T]:
        """So many of them, none twice."""
        ...

    def randint(self, a: int, b: int, /) -> int:
        """A whole number from a to b, both included."""
        ...


def random_legal(table: Table, random: RandomChoice) -> pb.Action:
    """A legal action by chance; every listed action and every choice of cards is as likely as another.

    Raises ValueError when the viewer is not to act.
    """
    legal = table.legal_actions
    ways: list[pb.Action | pb.CardChoice] = [*legal.actions, *legal.choices]
    if not ways:
        raise ValueError("there is nothing to choose from: it is not this seat's turn")
    way = random.choice(ways)
    return way if isinstance(way, pb.Action) else choose_cards(way, random)


def choose_cards(choice: pb.CardChoice, random: RandomChoice) -> pb.Action:
    """An action that fits a choice: so many of its cards, and one of its suits, by chance."""
    cards = random.sample(list(choice.cards), k=random.randint(choice.min_cards, choice.max_cards))
    if choice.verb == pb.CARD_CHOICE_VERB_SWAP:
        return pb.Action(swap=pb.SwapAction(cards=cards))
    if choice.verb == pb.CARD_CHOICE_VERB_KEEP:
        trump = random.choice(list(choice.suits)) if choice.suits else SUIT_UNSPECIFIED
        return pb.Action(keep=pb.KeepAction(cards=cards, trump=trump))
    raise ValueError(f"a choice with verb {choice.verb} is newer than this client")


async def play_game(table: AsyncTable, decide: Decide) -> None:
    """Play a game to its end; a decision that others overtook is made anew."""
    while await table.your_turn():
        seen = table.sequence
        try:
            await table.act(decide(table), expected_sequence=seen)
        except StaleSequence:
            await table.changed(after=seen)
        except FailedPrecondition:
            if not table.finished:
                raise


def play_game_blocking(table: BlockingTable, decide: Decide) -> None:
    """Play a game to its end, as `play_game` does."""
    while table.your_turn():
        seen = table.sequence
        try:
            table.act(decide(table), expected_sequence=seen)
        except StaleSequence:
            table.changed(after=seen)
        except FailedPrecondition:
            if not table.finished:
                raise
