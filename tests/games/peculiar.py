"""What the laws have to know of each game: an independent reading of its rules, and what its rules make public."""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, Protocol

from croupier.games.actions import Action, Bid
from croupier.games.cards import Card, cards
from croupier.games.facts import EVERYONE, ContractChanged, Fact, TurnChanged
from tests.games.oracle_jossing import JossingOracle
from tests.games.oracle_one_oh_one import OneOhOneOracle
from tests.games.oracle_one_ten import OneTenOracle
from tests.games.oracle_solo import SoloOracle
from tests.games.oracle_thulla import ThullaOracle


class Oracle(Protocol):
    """A naive second implementation that is fed with a replay's table events and actions."""

    totals: list[int]
    ranking: list[list[int]] | None

    def table_event(self, event: dict[str, Any]) -> None:
        """What the table did."""

    def action(self, seat: int, action: dict[str, Any]) -> None:
        """What a seat did."""


class Peculiar(NamedTuple):
    """`public_cards`: cards whose holder the rules give away at the deal, under these options.

    `reveals`: facts by which the rules themselves tell everybody something about hidden cards. `rarely`: actions that
    walks take seldom, because play by chance would else see little besides them.
    """

    oracle: Callable[[int, dict[str, Any]], Oracle]
    public_cards: Callable[[Mapping[str, Any]], tuple[Card, ...]] = lambda _: ()
    reveals: Callable[[Fact], bool] = lambda _: False
    rarely: Callable[[Action], bool] = lambda _: False


def _shows_black_queens_or_partner(fact: Fact) -> bool:
    """A wedding that must be called, and the partner that everybody learns of."""
    if isinstance(fact, ContractChanged):
        return fact.partner is not None and fact.audience == EVERYONE
    return isinstance(fact, TurnChanged) and fact.phase == "wedding"


def _is_solo(action: Action) -> bool:
    return isinstance(action, Bid) and str(action.bid).startswith("solo")


PECULIAR: Mapping[str, Peculiar] = {
    "thulla": Peculiar(
        oracle=ThullaOracle,
        public_cards=lambda options: cards("AS") if options["start"] == "ace_of_spades" else (),
    ),
    "one_ten": Peculiar(oracle=OneTenOracle),
    "jossing": Peculiar(oracle=JossingOracle),
    "one_oh_one": Peculiar(oracle=OneOhOneOracle),
    "solo": Peculiar(oracle=SoloOracle, reveals=_shows_black_queens_or_partner, rarely=_is_solo),
}
