"""The laws check the features that only the toy uses, because random walks reach them."""

from random import Random

from croupier.games.actions import Bid, Declare, Draw, Lay
from croupier.games.facts import SPECTATOR, CardsMoved, ContractChanged, OwnedPile, SeatOut
from croupier.games.interface import SeatActed
from tests.games import dispatch
from tests.games.toy import TOY
from tests.games.walk import walk

TABLES = 60


def test_random_walks_of_the_toy_use_all_of_its_features() -> None:
    transitions = [step for seed in range(TABLES) for step in walk(TOY, TOY.new(4, {}), Random(seed))]
    actions = [(step.event.seat, step.event.action) for step in transitions if isinstance(step.event, SeatActed)]
    assert {action.bid for _, action in actions if isinstance(action, Bid)} == {10, 20, 30}
    assert {action.pile for _, action in actions if isinstance(action, Draw)} == {"stock", "waste"}
    assert {action.pile for _, action in actions if isinstance(action, Lay)} == {"", "melds"}
    assert any(isinstance(action, Lay) and action.owner not in (None, seat) for seat, action in actions)
    boasts = [action for _, action in actions if isinstance(action, Declare)]
    assert {action.amount for action in boasts} == {1, 2, 3}
    assert {action.seat for action in boasts} == {0, 1, 2, 3}
    facts = [fact for step in transitions for fact in step.facts]
    assert any(isinstance(fact, SeatOut) and fact.place is None for fact in facts)
    assert any(isinstance(fact, ContractChanged) and fact.changes.trump == -1 for fact in facts)
    taken_up = [fact.cards for fact in facts if isinstance(fact, CardsMoved) and isinstance(fact.source, OwnedPile)]
    assert {len(cards) for cards in taken_up} == {0, 1}
    piles = {
        (pile.name, pile.owner, pile.face_down)
        for step in transitions
        for pile in dispatch.view(step.after, SPECTATOR).piles
    }
    owned = {(name, owner, name == "reserve") for name in ("melds", "reserve") for owner in range(4)}
    assert piles == {("stock", None, True), ("waste", None, False)} | owned
