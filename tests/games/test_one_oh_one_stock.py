"""The stock of 101: how it is renewed, and what happens when nothing is left to take."""

from croupier.games.cards import card, cards
from croupier.games.facts import CardsMoved, Marked, MoveReason, PileCard, TurnChanged
from croupier.games.interface import CardsShuffled, ShuffleNeeded
from tests.games.positions_one_oh_one import (
    acts,
    acts_with_facts,
    due,
    hand,
    pile,
    position,
    rule_of,
    stock,
    to_act,
)


def test_101_STOCK_2_101_D11_turned_over_and_not_shuffled() -> None:
    state, facts = acts_with_facts(position(["8D KH", "6D"], "AC JC TH 9C"), "0:draw")
    assert (hand(state, 0), stock(state), pile(state)) == ({"8D", "KH", "AC"}, "JC TH", "9C")
    assert facts[:2] == (
        CardsMoved("pile", None, cards("AC JC TH"), 3, MoveReason.RECYCLE),
        CardsMoved(None, "stock", (), 3, MoveReason.RECYCLE),
    )


def test_101_STOCK_3_101_D11_the_table_shuffles() -> None:
    state = position(["KS 9D", "6D", "7D"], "AC JC TH 9S", "8H", recycle="shuffle")
    halted, facts = acts_with_facts(state, "0:KS")
    assert (halted.phase, halted.awaiting) == (
        "reshuffle",
        ShuffleNeeded(tuple(sorted(cards("AC JC TH 9S"))), (), 1, 2),
    )
    assert facts[-2:] == (Marked("to_take", 1, "4"), TurnChanged("reshuffle", ()))
    for seat in range(3):
        assert rule_of(halted, seat, "draw") == "101-STOCK-3"
    event = CardsShuffled(cards("TH 9S AC JC"))
    assert halted.event_record(event) == {"type": "reshuffle", "stock": ["TH", "9S", "AC", "JC"]}
    after, facts = halted.apply(event)
    assert (hand(after, 1), stock(after), to_act(after)) == ({"6D", "8H", "TH", "9S", "AC", "JC"}, "", 2)
    assert facts[0] == Marked("to_take", 1, "")


def test_101_STOCK_3_every_reshuffle_has_a_number_and_a_plain_draw_waits_too() -> None:
    state = acts(position(["8D KH", "6D 8H"], "AC 9C", recycle="shuffle"), "0:draw")
    assert due(state) == ShuffleNeeded(cards("AC"), (), 1, 2)
    state, _ = state.apply(CardsShuffled(cards("AC")))
    assert (hand(state, 0), to_act(state), pile(state)) == ({"8D", "KH", "AC"}, 1, "9C")
    again = acts(state._replace(pile=(PileCard(card("JS"), 1), *state.pile)), "1:draw")
    assert due(again) == ShuffleNeeded(cards("JS"), (), 1, 3)


def test_101_STOCK_4_101_D12_a_penalty_ends_early_and_nothing_is_made_up_for() -> None:
    for recycle in ("flip", "shuffle"):
        state = position(["7C KH", "6D 9C", "6H"], "TC", recycle=recycle)
        after = acts(state, "0:7C")
        if recycle == "shuffle":
            after, _ = after.apply(CardsShuffled(cards("TC")))
        assert (hand(after, 1), stock(after), pile(after), to_act(after)) == ({"6D", "9C", "TC"}, "", "7C", 2)
