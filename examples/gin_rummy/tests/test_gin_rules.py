"""The rules of Gin Rummy by their ids, on both implementations."""

from random import Random

import pytest

from croupier.games.actions import PLAYS, Action, Bid, Declare, Draw, KeepBid, Lay, Pass, Play
from croupier.games.cards import STANDARD_DECK, card, cards, notation
from croupier.games.facts import SPECTATOR, Call, CardsMoved, HandRevealed, Mark
from croupier.games.interface import (
    CardsShuffled,
    InvalidOption,
    OptionValue,
    ProposalAgreed,
    ShuffleNeeded,
    resolve_options,
)
from croupier.games.values import CardsValue, NumberValue, WordValue
from croupier_gin_rummy.melds import MELDS, is_run, is_set, least_deadwood
from croupier_gin_rummy.state import GinState
from gin_positions import (
    HAND,
    OTHER,
    action,
    acts,
    acts_with_facts,
    defending,
    hand,
    laying,
    legal,
    order_with_upcard,
    position,
    refusal,
    to_act,
)
from gin_table import GIN_RUMMY, compared, new

DECK = tuple(Random(1).sample(STANDARD_DECK, 52))


def test_GIN_PLAYERS_1_GIN_OPT_1_impossible_seats_and_options_are_turned_down() -> None:
    for seats in (1, 3, True):
        with pytest.raises(InvalidOption, match="seats"):
            resolve_options(GIN_RUMMY, seats, {})
    odd: list[dict[str, OptionValue]] = [{"jokers": 1}, {"target": 99}, {"big_gin": 1}, {"gin_bonus": True}]
    for given in odd:
        with pytest.raises(InvalidOption):
            resolve_options(GIN_RUMMY, 2, given)


def test_GIN_CARDS_1_GIN_MELD_1_GIN_MELD_2_there_are_65_sets_and_runs_of_3_to_11_cards_with_a_low_ace() -> None:
    by_name = {name: [meld for meld in MELDS if meld.name == name] for name in ("set", "run")}
    assert len({meld.mask for meld in MELDS}) == len(MELDS) == 65 + 4 * sum(range(3, 12))
    assert len(by_name["set"]) == 13 * 5
    for text, is_one in (("AH 2H 3H", True), ("QH KH AH", False), ("KH AH 2H", False), ("2H 3D 4H", False)):
        assert is_run(cards(text)) == is_one
    for text, is_one in (("5C 5D 5H", True), ("5C 5D", False), ("5C 5D 6H", False)):
        assert is_set(cards(text)) == is_one


@pytest.mark.parametrize(
    ("text", "points"),
    [
        pytest.param("AC 2D 9H TC JD QH KS", 52, id="GIN-CARDS-2"),
        pytest.param("5C 5D 5H 6H 7H", 10, id="GIN-MELD-3 a card in two melds"),
        pytest.param("3C 4C 5C 6C 7C 8C", 0, id="GIN-MELD-3 a long run"),
        pytest.param("4C 4D 4H 4S 5S 6S 7S", 0, id="GIN-MELD-3 a set gives a card to a run"),
        pytest.param("AC AD AH 2H 3H 4H", 0, id="GIN-MELD-3 two melds"),
    ],
)
def test_the_least_deadwood(text: str, points: int) -> None:
    assert least_deadwood(sum(1 << value for value in cards(text))) == points


def test_GIN_DEAL_1_GIN_DEAL_5_the_deal_as_it_is_written() -> None:
    state = new()
    event = CardsShuffled(DECK, (1,))
    record, after = GIN_RUMMY.event_record(state, event), compared(state).apply(event)[0].state
    texts = notation(DECK)
    assert list(record) == ["type", "dealer", "hands", "upcard", "stock"]
    assert record == {
        "type": "deal",
        "dealer": 1,
        "hands": [texts[0:20:2], texts[1:20:2]],
        "upcard": texts[20],
        "stock": texts[21:],
    }
    assert (to_act(after), legal(after), len(after.stock)) == ((0,), "discard pass", 31)


@pytest.mark.parametrize(
    ("event", "rule"),
    [
        pytest.param(CardsShuffled(DECK[1:], (0,)), "GIN-DEAL-2", id="GIN-DEAL-2 a card is missing"),
        pytest.param(CardsShuffled(DECK), "GIN-DEAL-3", id="GIN-DEAL-3 no dealer"),
        pytest.param(CardsShuffled(DECK, (2,)), "GIN-DEAL-3", id="GIN-DEAL-3 no such seat"),
        pytest.param(ProposalAgreed("restart"), "GIN-TURN-2", id="GIN-TURN-2"),
        pytest.param(CardsShuffled(DECK, (0,)), "", id="GIN-DEAL-3"),
    ],
)
def test_events_before_the_first_deal(event: CardsShuffled | ProposalAgreed, rule: str) -> None:
    assert refusal(new(), event) == rule


def test_GIN_DEAL_1_no_seat_acts_while_a_deal_is_due_and_nothing_is_dealt_during_a_hand() -> None:
    assert {refusal(new(), done, seat) for done in ("pass", "stock", "5D") for seat in (0, 1)} == {"GIN-DEAL-1"}
    assert refusal(position(), CardsShuffled(DECK)) == "GIN-DEAL-1"


@pytest.mark.parametrize(
    ("next_dealer", "deadwood", "dealer"),
    [
        pytest.param("loser", "KC", 1, id="GIN-DEAL-4 the loser, after a knock by seat 0"),
        pytest.param("loser", "2C", 0, id="GIN-DEAL-4 the loser, after an undercut by seat 1"),
        pytest.param("winner", "KC", 0, id="GIN-DEAL-4 the winner"),
        pytest.param("alternate", "KC", 0, id="GIN-DEAL-4 by turns"),
        pytest.param("alternate", "2C", 0, id="GIN-DEAL-4 by turns whoever wins"),
    ],
)
def test_the_next_dealer(next_dealer: str, deadwood: str, dealer: int) -> None:
    state = acts(defending(f"9D | {deadwood}", next_dealer=next_dealer), "done")
    assert GIN_RUMMY.awaiting(state) == ShuffleNeeded(STANDARD_DECK, (), 2, 1)
    dealt = compared(state).apply(CardsShuffled(DECK))[0].state
    assert (GIN_RUMMY.view(dealt, SPECTATOR).dealer, to_act(dealt)) == (dealer, (1 - dealer,))


UPCARD = position(phase="upcard")


def test_GIN_UP_1_GIN_UP_2_GIN_UP_3_the_upcard_is_offered_to_both() -> None:
    assert legal(UPCARD) == "discard pass"
    taken = acts(UPCARD, "discard")
    assert (to_act(taken), taken.phase, hand(taken, 0).count("5D")) == ((0,), "discard", 1)
    second = acts(UPCARD, "pass")
    assert (to_act(second), legal(second)) == ((1,), "discard pass")
    assert to_act(acts(second, "discard KS")) == (0,)
    assert legal(acts(second, "discard KS")) == "stock discard"
    closed = acts(second, "pass")
    assert (to_act(closed), legal(closed)) == ((0,), "stock")
    assert legal(acts(closed, "stock AH")) == "stock discard"


DRAWN = acts(position(stock="KD 2H 8C"), "stock")
TAKEN = acts(position(), "discard")
KNOCKING = acts(DRAWN, "knock")
FOURS = laying("4H 4D 4S 5S 6S AC 2C 3C AD AH | KC QC JC")
EXTENDING = defending("AH | 3S 8S 9S KD KC KH")
AFTER_GIN = defending("| 8S KD KC KH", knock="gin")


@pytest.mark.parametrize(
    ("state", "seat", "done", "rule"),
    [
        pytest.param(UPCARD, 1, "pass", "GIN-TURN-1", id="GIN-TURN-1"),
        pytest.param(UPCARD, 2, "pass", "GIN-TURN-1", id="GIN-TURN-1 no such seat"),
        pytest.param(UPCARD, 0, "stock", "GIN-UP-1", id="GIN-UP-1"),
        pytest.param(UPCARD, 0, Draw(), "GIN-UP-1", id="GIN-UP-1 without a pile"),
        pytest.param(acts(UPCARD, "pass pass"), 0, "discard", "GIN-UP-3", id="GIN-UP-3"),
        pytest.param(position(), 0, "pass", "GIN-DRAW-1", id="GIN-DRAW-1"),
        pytest.param(position(), 0, "AH", "GIN-DRAW-1", id="GIN-DRAW-1 a discard"),
        pytest.param(position(), 0, Draw("meld_1"), "GIN-DRAW-1", id="GIN-DRAW-1 no such pile"),
        *(
            pytest.param(DRAWN, 0, odd, "GIN-DISCARD-1", id=f"GIN-DISCARD-1 {odd}")
            for odd in ("KS", "stock", "done", Bid(3), KeepBid(), Play(-1), Play(53), Play(1 << 70))
        ),
        pytest.param(DRAWN, 0, Play(card("AH"), 0), "GIN-DISCARD-1", id="GIN-DISCARD-1 a suit"),
        pytest.param(DRAWN, 0, Declare("knock", 0), "GIN-DISCARD-1", id="GIN-TURN-3 a knock with a seat"),
        pytest.param(TAKEN, 0, "5D", "GIN-DISCARD-2", id="GIN-DISCARD-2"),
        pytest.param(acts(TAKEN, "knock"), 0, "5D", "GIN-DISCARD-2", id="GIN-DISCARD-2 with a knock"),
        pytest.param(acts(position(), "stock 2C"), 1, "discard", "", id="GIN-DISCARD-3"),
        pytest.param(acts(position(f"{OTHER} | {HAND}"), "stock"), 0, "knock", "GIN-KNOCK-1", id="GIN-KNOCK-1"),
        pytest.param(KNOCKING, 0, "done", "GIN-KNOCK-2", id="GIN-KNOCK-2 no discard"),
        pytest.param(KNOCKING, 0, "2C", "GIN-KNOCK-2", id="GIN-KNOCK-2"),
        pytest.param(KNOCKING, 0, "KS", "GIN-DISCARD-1", id="GIN-KNOCK-2 a card of the other hand"),
        pytest.param(KNOCKING, 0, Play(card("AH"), 0), "GIN-KNOCK-2", id="GIN-KNOCK-2 a suit"),
        pytest.param(DRAWN, 0, "big_gin", "GIN-BIG-1", id="GIN-BIG-1 GIN-D2"),
        pytest.param(acts(position(big_gin=True), "stock"), 0, "big_gin", "GIN-BIG-2", id="GIN-BIG-2"),
        pytest.param(FOURS, 0, "stock", "GIN-LAY-1", id="GIN-LAY-1"),
        pytest.param(FOURS, 0, Lay(cards("4D 4H 4S")), "GIN-LAY-1", id="GIN-LAY-1 no word"),
        pytest.param(FOURS, 0, Lay(cards("4D 4H 4S"), "set", "meld_1", 0), "GIN-LAY-1", id="GIN-LAY-1 a pile"),
        pytest.param(FOURS, 0, "off:4D/1", "GIN-LAY-1", id="GIN-LAY-1 GIN-D7 no lay-off by the knocker"),
        pytest.param(FOURS, 0, "set:KC,KD,KH", "GIN-LAY-2", id="GIN-LAY-2"),
        pytest.param(FOURS, 0, Lay(cards("4D 4D 4H"), "set"), "GIN-LAY-2", id="GIN-LAY-2 a card twice"),
        pytest.param(FOURS, 0, "set:4D,4H,5S", "GIN-MELD-1", id="GIN-MELD-1"),
        pytest.param(FOURS, 0, Lay((), "set"), "GIN-MELD-1", id="GIN-MELD-1 no cards"),
        pytest.param(FOURS, 0, "run:4D,4H,4S", "GIN-MELD-2", id="GIN-MELD-2 a set"),
        pytest.param(FOURS, 0, "run:2C,3C", "GIN-MELD-2", id="GIN-MELD-2 two cards"),
        pytest.param(FOURS, 0, "set:4D,4H,4S", "GIN-LAY-3", id="GIN-LAY-3"),
        pytest.param(FOURS, 0, "done", "GIN-LAY-4", id="GIN-LAY-4"),
        pytest.param(EXTENDING, 1, "stock", "GIN-OFF-1", id="GIN-OFF-1"),
        pytest.param(EXTENDING, 1, Lay(cards("KD KC KH"), "trio"), "GIN-OFF-1", id="GIN-OFF-1 another word"),
        pytest.param(EXTENDING, 1, Lay(cards("8S 9S"), "", "meld_1", 0), "GIN-OFF-1", id="GIN-OFF-1 two cards"),
        pytest.param(EXTENDING, 1, Lay(cards("8S"), "run", "meld_1", 0), "GIN-OFF-1", id="GIN-OFF-1 with a word"),
        pytest.param(EXTENDING, 1, Lay(cards("8S"), "", "meld_1"), "GIN-OFF-1", id="GIN-OFF-1 without an owner"),
        pytest.param(EXTENDING, 1, Lay(cards("8S"), "", "meld_2", 0), "GIN-OFF-1", id="GIN-OFF-1 no such meld"),
        pytest.param(EXTENDING, 1, "set:AC,AD,AH", "GIN-LAY-2", id="GIN-OFF-1 a meld of others' cards"),
        pytest.param(EXTENDING, 1, "off:4S/1", "GIN-LAY-2", id="GIN-OFF-3 a card of another hand"),
        pytest.param(EXTENDING, 1, "off:9S/1", "GIN-OFF-3", id="GIN-OFF-3"),
        pytest.param(AFTER_GIN, 1, "off:8S/1", "GIN-OFF-2", id="GIN-OFF-2"),
        pytest.param(AFTER_GIN, 1, "set:KC,KD,KH", "", id="GIN-OFF-2 own melds are laid"),
    ],
)
def test_refusals(state: GinState, seat: int, done: str | Action, rule: str) -> None:
    assert refusal(state, done, seat) == rule


def test_GIN_DISCARD_1_GIN_DISCARD_3_GIN_DRAW_1_a_plain_turn() -> None:
    state = acts(position(stock="KD 2H 8C 8D"), "stock KD")
    counts = {pile.name: pile.card_count for pile in GIN_RUMMY.view(state, 1).piles}
    assert counts == {"discard": 2, "stock": 3}
    assert (to_act(state), state.discards[-1].card, state.discards[-1].seat) == ((1,), card("KD"), 0)
    assert hand(acts(state, "discard KS"), 1).split().count("KD") == 1


def test_GIN_STOCK_1_GIN_SCORE_5_GIN_D4_with_two_cards_left_nobody_wins() -> None:
    state, facts = acts_with_facts(position(stock="KD 2H 8C"), "stock KD")
    assert (to_act(state), state.phase, state.progress.totals) == ((), "deal", (0, 0))
    assert not any(isinstance(fact, HandRevealed) for fact in facts)
    knocked = acts(position(stock="KD 2H 8C"), "stock knock KD")
    assert (knocked.phase, len(knocked.stock)) == ("lay", 2)


def test_GIN_STOCK_2_players_who_keep_to_the_discard_pile_go_on() -> None:
    state = position()
    for _ in range(100):
        seat = state.turn
        state = acts(state, "discard")
        held = [value for value in GIN_RUMMY.view(state, seat).seats[seat].cards if value != state.taken]
        state = acts(state, notation(held)[-1])
    assert (state.phase, len(state.stock), state.progress.round_number) == ("draw", 31, 1)


@pytest.mark.parametrize(
    ("knock", "upcard", "limit"),
    [
        pytest.param("ten", "5D", 10, id="GIN-KNOCK-3 ten"),
        pytest.param("gin", "5D", 0, id="GIN-KNOCK-3 gin"),
        pytest.param("upcard", "5D", 5, id="GIN-KNOCK-3 a number"),
        pytest.param("upcard", "KD", 10, id="GIN-KNOCK-3 a king"),
        pytest.param("upcard", "AD", 0, id="GIN-KNOCK-3 GIN-D3 an ace"),
    ],
)
def test_the_limit_of_a_hand(knock: str, upcard: str, limit: int) -> None:
    state = compared(new(knock=knock)).apply(CardsShuffled(order_with_upcard(upcard), (0,)))[0].state
    assert Mark("knock_limit", None, NumberValue(limit)) in GIN_RUMMY.view(state, SPECTATOR).marks


@pytest.mark.parametrize("upcard", ["TS", "TH"])
def test_GIN_D10_a_spade_as_upcard_counts_as_any_other(upcard: str) -> None:
    state = acts(position(discards=upcard, stock="KD 2H 8C", knock="upcard"), "stock knock KD")
    after = acts(state, "run:2C,3C,4C set:7D,7H,7S run:9C,TC,JC")
    assert (after.progress.totals, after.progress.boxes) == ((66, 0), (1, 0))


def test_GIN_KNOCK_1_GIN_KNOCK_2_a_knock_needs_a_discard_within_the_limit() -> None:
    assert legal(DRAWN).split()[-1] == "knock"
    assert legal(KNOCKING) == "KD AH"
    assert "knock" not in legal(acts(position(stock="KD 2H 8C", knock="gin"), "stock"))
    assert legal(acts(position(stock="KD 2H 8C", knock="upcard"), "stock knock")) == "KD"


def test_GIN_KNOCK_4_GIN_KNOCK_5_GIN_VIS_5_GIN_D1_a_knock_opens_both_hands() -> None:
    state, facts = acts_with_facts(KNOCKING, "KD")
    assert [fact.seat for fact in facts if isinstance(fact, HandRevealed)] == [0, 1]
    assert {hand(state, seat, viewer) for seat in (0, 1) for viewer in (0, 1, SPECTATOR)} == {
        hand(state, 0),
        hand(state, 1),
    }
    assert len(hand(state, 1, SPECTATOR).split()) == 10
    assert (state.knock, acts(position(discards="5C"), "discard knock AH").knock) == ("knock", "gin")


def test_GIN_BIG_2_big_gin_is_laid_without_a_discard() -> None:
    ten = "2C 3C 4C 7D 7H 7S 9C TC JC QC"
    state = acts(position(f"{ten} | {OTHER}", "5C", big_gin=True), "discard big_gin")
    assert (state.phase, len(hand(state, 0, 1).split()), state.knock) == ("lay", 11, "big_gin")
    assert legal(position(f"{ten} | {OTHER}", "5C", big_gin=True)) == "stock discard"


def test_GIN_LAY_1_GIN_LAY_2_GIN_LAY_5_melds_are_numbered_and_the_last_one_ends_the_turn() -> None:
    state = acts(laying(f"{HAND} | {OTHER}"), "run:2C,3C,4C set:7D,7H,7S")
    piles = {pile.name: notation(lying.card for lying in pile.cards) for pile in GIN_RUMMY.view(state, 1).piles}
    assert (piles["meld_1"], piles["meld_2"]) == (["2C", "3C", "4C"], ["7D", "7H", "7S"])
    assert legal(state) == "run:9C,TC,JC"
    done = acts(state, "run:9C,TC,JC")
    assert (done.phase, done.progress.totals) == ("deal", (66, 0))


def test_GIN_LAY_3_GIN_LAY_4_GIN_D5_the_knocker_may_keep_back_melds_within_the_limit() -> None:
    state = acts(laying("AC 2C 3C 7D 7H 7S | 4C KC KD"), "set:7D,7H,7S")
    assert legal(state) == "run:2C,3C,AC done"
    assert acts(state, "done").progress.totals == (18, 0)


def test_GIN_TURN_1_GIN_TURN_3_the_order_of_cards_means_nothing() -> None:
    state = laying(f"{HAND} | {OTHER}")
    one, other = acts(state, "run:4C,2C,3C"), acts(state, "run:2C,3C,4C")
    assert one == other


def test_GIN_OFF_1_GIN_OFF_3_GIN_OFF_4_melds_and_lay_offs_come_in_any_order() -> None:
    assert legal(EXTENDING) == "set:KC,KD,KH off:8S/1 done"
    for line in ("off:8S/1 set:KC,KD,KH off:9S/1", "set:KC,KD,KH off:8S/1 off:9S/1"):
        state = acts(EXTENDING, line)
        assert (state.phase, state.progress.totals) == ("deal", (2, 0))
    assert acts(EXTENDING, "done").progress.totals == (49, 0)


def test_GIN_OFF_3_a_set_takes_its_fourth_card_and_a_run_ends_at_the_ace() -> None:
    assert legal(defending("KH | 7S 6D KD", "7C 7D 7H / AC 2C 3C")) == "off:7S/1 done"
    assert legal(defending("KH | KC 4C", "AC 2C 3C")) == "off:4C/1 done"


def test_GIN_OFF_5_nothing_is_laid_off_on_melds_of_the_defender() -> None:
    state = acts(defending("AH | KC KD KH KS 8S QC"), "set:KC,KD,KH")
    assert refusal(state, Lay(cards("KS"), "", "meld_1", 1)) == "GIN-OFF-1"
    assert legal(state) == "off:8S/1 done"


def test_GIN_D6_the_defender_may_break_up_a_meld_to_lay_off() -> None:
    state = defending("AH | 8S 8C 8D 9S")
    assert acts(state, "off:8S/1 off:9S/1").progress.totals == (15, 0)
    assert acts(state, "set:8C,8D,8S").progress.totals == (8, 0)


@pytest.mark.parametrize(
    ("line", "marks"),
    [
        pytest.param("", {}, id="GIN-VIS-1"),
        pytest.param("discard", {"taken": (0, CardsValue(cards("5D")))}, id="GIN-VIS-3 a card just taken"),
        pytest.param("discard knock AH", {"knock": (0, WordValue("knock"))}, id="GIN-VIS-1 a knock"),
        pytest.param("discard AH", {}, id="GIN-VIS-3 only in its turn"),
    ],
)
def test_marks(line: str, marks: dict[str, tuple[int, CardsValue | WordValue]]) -> None:
    view = GIN_RUMMY.view(acts(position(boxes=(0, 2)), line), SPECTATOR)
    always = {Mark("knock_limit", None, NumberValue(10)), Mark("boxes", 1, NumberValue(2))}
    assert set(view.marks) == always | {Mark(name, seat, value) for name, (seat, value) in marks.items()}


def test_GIN_VIS_1_passes_and_knocks_are_calls() -> None:
    passed = acts(UPCARD, "pass pass stock")
    calls = (Call(0, Pass()), Call(1, Pass()))
    assert GIN_RUMMY.view(passed, SPECTATOR).calls == calls
    assert GIN_RUMMY.view(acts(passed, "knock"), 1).calls == (*calls, Call(0, Declare("knock")))


def test_GIN_VIS_2_GIN_VIS_4_a_card_of_the_stock_is_seen_by_its_drawer_only() -> None:
    state, facts = acts_with_facts(position(stock="KD 2H 8C"), "stock")
    moves = [fact for fact in facts if isinstance(fact, CardsMoved)]
    assert [(move.cards, move.audience) for move in moves] == [(cards("KD"), 1), ((), ~1)]
    for viewer in (1, SPECTATOR):
        view = GIN_RUMMY.view(state, viewer)
        assert (view.seats[0].cards, view.seats[0].known_cards, view.seats[0].card_count) == ((), (), 11)
        assert [pile.cards for pile in view.piles if pile.name == "stock"] == [()]


def test_GIN_VIS_3_a_card_from_the_discard_pile_is_known_until_it_is_discarded() -> None:
    state = acts(position(stock="KD 2H 8C 8D 8H"), "discard AH")
    assert {GIN_RUMMY.view(state, viewer).seats[0].known_cards for viewer in (1, SPECTATOR)} == {cards("5D")}
    assert GIN_RUMMY.view(state, 0).seats[0].known_cards == ()
    later = acts(state, "stock KD stock 5D")
    assert GIN_RUMMY.view(later, 1).seats[0].known_cards == ()


def test_GIN_VIS_5_hands_stay_hidden_after_a_hand_without_a_knock() -> None:
    state = acts(position(stock="KD 2H 8C"), "stock KD")
    assert (hand(state, 0, 1), hand(state, 1, 0), hand(state, 0, SPECTATOR)) == ("", "", "")


def test_plays_are_listed_ascending() -> None:
    assert [action(DRAWN, text) for text in legal(DRAWN).split()[:-1]] == [
        PLAYS[value] for value in GIN_RUMMY.view(DRAWN, 0).seats[0].cards
    ]
