"""The rules of Thulla by their ids, and the worked positions of the page, THU-EX-1 to THU-EX-23."""

import itertools
from typing import Any

import pytest

from croupier.games.actions import PLAYS, Pass
from croupier.games.cards import STANDARD_DECK, card, cards, mask_of, notation
from croupier.games.facts import SPECTATOR, Mark, MarkChanged, PileCard, Seat, SeatOut
from croupier.games.interface import CardsShuffled
from croupier.games.thulla import scoring
from croupier.games.thulla.state import REMOVAL_ORDER, Progress, ThullaState
from croupier.games.values import NumberValue, Phrase, SeatsValue, WordValue, phrase
from tests.games import dispatch
from tests.games.positions import (
    acts,
    acts_with_facts,
    deal,
    details,
    due,
    ended,
    first_legal,
    hand,
    legal,
    may,
    pile,
    ranking_text,
    refusal,
    to_act,
)
from tests.games.positions_thulla import THULLA, new, position


def test_THU_DECK_1_THU_DECK_3_low_cards_leave_and_threes_and_the_ace_of_spades_always_stay() -> None:
    assert due(new(4)).cards == STANDARD_DECK == tuple(range(52))
    assert notation(REMOVAL_ORDER) == ["2C", "2D", "2H", "2S", "3C", "3D", "3H", "3S"]
    for seats in THULLA.seats:
        assert {*cards("3C 3D 3H 3S AS")} <= {*due(new(seats)).cards}


def test_THU_DEAL_2_THU_DEAL_3_THU_START_1_THU_START_3_one_card_at_a_time_and_who_leads() -> None:
    state = new(2, start="random")
    assert due(state).draw_bounds == (2,)
    assert dispatch.event_record(state, CardsShuffled(STANDARD_DECK, (1,))) == {
        "type": "deal",
        "hands": [notation(STANDARD_DECK[1::2]), notation(STANDARD_DECK[::2])],
        "starter": 1,
    }
    assert set(dispatch.event_record(new(2), CardsShuffled(STANDARD_DECK))) == {"type", "hands"}
    dealt, _ = dispatch.apply(new(4, first_dealer=1), CardsShuffled(STANDARD_DECK))
    assert hand(dealt, 2) == set(notation(STANDARD_DECK[::4]))
    assert {legal(deal(new(5, best_of=3), seed)) for seed in range(5)} == {"AS"}
    for seat in range(4):
        dealt, _ = dispatch.apply(new(4, start="random"), CardsShuffled(STANDARD_DECK, (seat,)))
        assert (to_act(dealt), len(may(dealt))) == (seat, 13)


def test_THU_OUT_2_after_the_trick_seats_go_out_in_the_order_of_play() -> None:
    start = position("5H | QH | 9H | 2H KD KS", leader=2, last_card="safe_after_trick")
    state, facts = acts_with_facts(start, "9H 2H 5H")
    assert not state.out
    _, facts = acts_with_facts(state, "QH")
    assert [fact for fact in facts if isinstance(fact, SeatOut)] == [SeatOut(2, 1), SeatOut(0, 2), SeatOut(1, 3)]


@pytest.mark.parametrize(
    ("hands", "line", "stalled"),
    [
        pytest.param("5H 6H 2D | 3C 4C | 8H 9H TH", "5H 3C", 8, id="THU-STALL-1"),
        pytest.param("5H 6H 2D | 3C 4C | 8H 9H TH", "5H 3C 2D 4C", 0, id="THU-STALL-1 somebody goes out"),
        pytest.param("5H 6H | 7H 8H", "5H 7H", 0, id="THU-STALL-1 all followed"),
        pytest.param("5H | 3C 4C | 8H 9H", "5H 3C", 0, id="THU-STALL-1 nobody picks up"),
        pytest.param("5H 6H | QH | 3C 4C | 3H", "5H QH 3C", 0, id="THU-STALL-1 out early in the trick"),
    ],
)
def test_the_counter_counts_pick_ups_in_which_nobody_goes_out(hands: str, line: str, stalled: int) -> None:
    assert acts(position(hands, stalled=7), line).stalled == stalled


def test_THU_SCORE_4_THU_D15_card_points() -> None:
    points = [scoring.card_points(mask_of(cards(f"{rank}H"))) for rank in "23456789TJQKA"]
    assert points == [2, 3, 4, 5, 6, 7, 8, 9, 10, 10, 10, 10, 11]


def test_THU_END_4_THU_D18_the_labels_of_the_places_in_the_score() -> None:
    places = ["gold", "silver", "bronze", "safe", "safe"]
    for seats in THULLA.seats:
        labels = [scoring.label(place, seats) for place in range(1, seats + 1)]
        assert labels == [*places[: seats - 1], "loser"]
    _, facts = acts_with_facts(position("5H | 6H | 7H 8H 3C"), "5H 6H")
    assert ended(facts).headline == ()
    assert ended(facts).notes == ((phrase("gold"),), (phrase("silver"),), (phrase("loser"), cards_left(3)))
    assert details(facts) == {"order": SeatsValue((0, 1, 2)), "reason": WordValue("one_holder")}
    _, facts = acts_with_facts(position("5H 9C | 2S 3S 4S | AC", stall_limit=1, best_of=3), "5H 2S")
    assert ended(facts).headline == (phrase("best_of", games=NumberValue(3)), phrase("stall"))
    placed = zip(("loser", "silver", "gold"), (3, 2, 1), strict=True)
    assert ended(facts).notes == tuple((phrase(label), cards_left(count)) for label, count in placed)


def cards_left(count: int) -> Phrase:
    return phrase("cards_left", count=NumberValue(count))


def test_THU_MATCH_1_wins_and_orders_are_kept() -> None:
    state = position("5H | 6H QH", best_of=5, scoring="cards")
    state = state._replace(progress=state.progress._replace(round_number=3, totals=(4, 2), orders=((0, 1), (1, 0))))
    state, facts = acts_with_facts(state, "5H")
    assert state.progress.orders == ((0, 1), (1, 0), (0, 1))
    assert MarkChanged(Mark("wins", 0, NumberValue(2))) in facts
    assert due(state).round_number == 4


def test_THU_VIS_1_THU_VIS_2_THU_VIS_3_a_seat_that_is_out_sees_the_trick_in_order_like_a_spectator() -> None:
    state = acts(position("5H 2C | QH | 9H KD | 3H 4H"), "5H QH")
    view = dispatch.view(state, 1)
    assert view == dispatch.view(state, SPECTATOR)
    assert not any(seat.cards for seat in view.seats)
    assert view.pile("trick") == (PileCard(card("5H"), 0), PileCard(card("QH"), 1))


def test_THU_VIS_1_all_know_the_cards_that_were_picked_up_until_they_are_played() -> None:
    def known(state: ThullaState) -> list[list[str]]:
        views = [dispatch.view(state, viewer) for viewer in (0, 2, SPECTATOR)]
        assert not any(seat.known_cards for seat in dispatch.view(state, 1).seats)
        return [notation(view.seats[1].known_cards) for view in views]

    state = acts(position("7H 2S | KH 3S | 4D 4S"), "0:7H KH 4D")
    assert known(state) == [["4D", "7H", "KH"]] * 3
    assert known(acts(state, "1:7H")) == [["4D", "KH"]] * 3
    assert known(acts(state, "1:3S")) == [["4D", "7H", "KH"]] * 3


def test_a_cut_that_its_player_picks_up_is_known() -> None:
    state = acts(position("7H 2S | KH 3S | 4D 4S", pickup="cutter"), "0:7H KH 4D")
    assert notation(dispatch.view(state, 0).seats[2].known_cards) == ["4D", "7H", "KH"]


def test_THU_VIS_4_hands_are_open_from_the_end_of_a_game_to_the_next_deal() -> None:
    state = acts(position("5H | QH AD", best_of=3), "5H")
    for viewer in (0, 1, SPECTATOR):
        assert notation(dispatch.view(state, viewer).seats[1].cards) == ["AD", "QH"]
    assert not any(seat.cards for seat in dispatch.view(deal(state), SPECTATOR).seats)


AFTER = {"last_card": "safe_after_trick"}
CUTTER = {"pickup": "cutter"}
STALL = {"stall_limit": 1}
FIRST = {"is_first": True}
SPARED: Any = {"opening_trick": "spared"} | FIRST
SHORT_STALL: Any = ("0:5H 2S 1:3S 6H", {"stall_limit": 2} | CUTTER)
OPENING = "AS 9C | KD 8C | QS 7C | 5H 6C"
"""The hands before a first trick that two seats cannot follow."""
CYCLE = ("2H 3H 4H | 2C 3C 4C | 2D 3D 4D", "0:2H 2C 2C 3C 2D 2D 3D 2H 2H 3H 2C")
"""The hands of the last worked position, with its endless cycle."""


@pytest.mark.parametrize(
    ("seats", "removed", "each"), [(2, "", 26), (3, "2C", 17), (5, "2C 2D", 10), (6, "2C 2D 2H 2S", 8)]
)
def test_THU_EX_1_THU_DECK_2_THU_D1_low_cards_leave_until_the_deal_is_equal(
    seats: int, removed: str, each: int
) -> None:
    deck = due(new(seats)).cards
    assert set(STANDARD_DECK) - set(deck) == set(cards(removed))
    assert [held.bit_count() for held in dispatch.apply(new(seats), CardsShuffled(deck))[0].hands] == [each] * seats


@pytest.mark.parametrize(
    ("seats", "dealer", "counts"),
    [
        pytest.param(3, 2, [18, 17, 17], id="THU-EX-22 THU-DEAL-4"),
        pytest.param(3, 0, [17, 18, 17], id="THU-EX-22 another dealer"),
        pytest.param(5, 3, [11, 10, 10, 10, 11], id="THU-EX-22 five seats"),
        pytest.param(6, 5, [9, 9, 9, 9, 8, 8], id="THU-EX-22 six seats"),
        pytest.param(4, 1, [13, 13, 13, 13], id="THU-DECK-4 equal all the same"),
    ],
)
def test_THU_DECK_4_THU_D22_all_cards_are_dealt_from_the_left_of_the_dealer(
    seats: int, dealer: Seat, counts: list[int]
) -> None:
    state = deal(new(seats, deal="uneven", first_dealer=dealer))
    assert [held.bit_count() for held in state.hands] == counts
    assert mask_of(STANDARD_DECK) == sum(state.hands)
    assert pile(state, "removed") is None


def test_THU_DEAL_4_the_longer_hands_move_on_with_the_deal() -> None:
    state = deal(first_legal(deal(new(3, deal="uneven", best_of=3, scoring="cards"))))
    assert [held.bit_count() for held in state.hands] == [17, 17, 18]


def test_THU_EX_2_THU_START_6_THU_D2_the_ace_of_spades_opens_and_can_be_cut() -> None:
    clubs, diamonds, hearts, spades = (list(range(13 * suit, 13 * suit + 13)) for suit in range(4))
    deal = CardsShuffled(tuple(itertools.chain(*zip(diamonds, spades, hearts, clubs, strict=True))))
    state, _ = dispatch.apply(new(4), deal)
    assert (to_act(state), legal(state)) == (2, "AS")
    assert refusal(state, "KS") == "THU-START-2"
    state = acts(state, "2:AS")
    assert may(state) == set(notation(hearts))
    state = acts(state, "3:9H")
    assert (to_act(state), hand(state, 2)) == (2, {*notation(spades), "9H"})
    hearts[0], spades[0] = spades[0], hearts[0]
    deal = CardsShuffled(tuple(itertools.chain(*zip(diamonds, spades, hearts, clubs, strict=True))))
    assert legal(acts(dispatch.apply(new(4), deal)[0], "2:AS")) == "2S"


@pytest.mark.parametrize(
    ("hands", "line", "options", "leader", "held"),
    [
        pytest.param("7H 2S | KH 3S | 4D 4S", "0:7H KH 4D", {}, 1, "3S 7H KH 4D", id="THU-EX-3 THU-CUT-2"),
        pytest.param("7H 2S | KH 3S | 4D 4S", "0:7H KH 4D", CUTTER, 2, "4S 7H KH 4D", id="THU-EX-3 THU-D17"),
        pytest.param("9C 2S | QC 3S | AH | 2C | 3C", "0:9C QC AH", {}, 1, "3S 9C QC AH", id="THU-EX-4 THU-CUT-1"),
        pytest.param("TS 2H | 8S 3H | JS 4H | 2S 5H", "1:8S JS 2S TS", {}, 2, "4H", id="THU-EX-5 THU-CLEAN-2"),
        pytest.param("KH | 5H 6C | 9H 3D 4D", "0:KH 5H 9H", {}, 1, "6C", id="THU-EX-6 THU-LEAD-2 THU-D5"),
        pytest.param("5H 2C | KH | 4D 7S", "0:5H KH 4D", {}, 0, "2C 5H KH 4D", id="THU-EX-7 THU-CUT-3 THU-D3"),
        pytest.param("5H 2C | KH | 4D 7S", "0:5H KH 4D", AFTER, 1, "5H KH 4D", id="THU-EX-7 THU-CUT-4"),
        pytest.param("KH | 4D 9C | 3H 8S", "0:KH 4D", {}, 1, "9C", id="THU-EX-8 THU-CUT-5 THU-D4"),
        pytest.param("KH | 4D 9C | 3H 8S", "0:KH 4D", AFTER, 0, "KH 4D", id="THU-EX-8 after the trick"),
        pytest.param("5H 2C | 4D | 7S 8S", "0:5H 4D", CUTTER, 2, "7S 8S", id="THU-EX-12 THU-CUT-6"),
        pytest.param("5H 2C | 4D | 7S 8S", "0:5H 4D", CUTTER | AFTER, 1, "5H 4D", id="THU-EX-12 after the trick"),
        pytest.param("AH 2C | 3H 3C | KH 4C", "0:AH 3H KH", {}, 0, "2C", id="THU-CLEAN-1 the first one is"),
        pytest.param("AH 2C | 3H 3C | KH 4C", "1:3H KH AH", {}, 0, "2C", id="THU-LEAD-1 THU-D8 the last one is"),
        pytest.param("2H 3C || 3H 4C | 4H 5C", "2:3H 4H 2H", {}, 3, "5C", id="THU-PLAY-1 THU-D10 out before"),
        pytest.param("9H 2S | TH | 3H 4D", "0:9H TH 3H", {}, 2, "4D", id="THU-OUT-1 THU-D10 out in the trick"),
        pytest.param(*CYCLE, {}, 0, "2H 3H 4H 2C", id="THU-EX-20 THU-D11"),
        pytest.param(OPENING, "0:AS KD QS 5H", SPARED, 0, "9C", id="THU-EX-21 THU-OPEN-2 THU-D21"),
        pytest.param(OPENING, "0:AS KD QS 5H", SPARED | CUTTER, 0, "9C", id="THU-OPEN-2 the option pickup"),
        pytest.param(OPENING, "0:AS KD", FIRST, 0, "AS KD 9C", id="THU-EX-21 THU-START-6"),
        pytest.param("9C 2S | KD 2H | TC 3H", "0:9C KD TC", SPARED, 2, "3H", id="THU-EX-21 THU-OPEN-2 without the ace"),
        pytest.param(
            "AS 9C 2C | KD 8H 3H | QS 7C", "0:AS KD QS 9C 8H", SPARED, 0, "2C 9C 8H", id="THU-EX-21 the second trick"
        ),
    ],
)
def test_the_leader_and_their_cards(hands: str, line: str, options: dict[str, Any], leader: Seat, held: str) -> None:
    state = acts(position(hands, leader=int(line[0]), **options), line)
    assert (to_act(state), hand(state, leader)) == (leader, set(held.split()))


def test_THU_EX_21_THU_OPEN_1_all_play_to_a_spared_first_trick() -> None:
    state = acts(position(OPENING, **SPARED), "0:AS KD")
    assert (to_act(state), legal(state)) == (2, "QS")
    state = acts(state, "QS 5H")
    assert pile(state, "waste") == (4, "AS KD QS 5H")
    assert (state.stalled, [held.bit_count() for held in state.hands]) == (0, [1, 1, 1, 1])


def test_THU_EX_23_THU_STALL_4_without_a_limit_the_counter_only_counts() -> None:
    hands, line = CYCLE
    opening, lap = line[:7], line[7:]
    start = acts(position(hands, stall_limit=0), opening)
    assert start.stalled == 1
    for stalled in (1, 49, 997, 1198):
        state, facts = acts_with_facts(start._replace(stalled=stalled), lap)
        assert (state.hands, state.queue, state.stalled) == (start.hands, start.queue, stalled + 3)
        assert MarkChanged(Mark("stall", None, NumberValue(stalled + 3))) in facts
    assert to_act(acts(position("5H 6H | 7H 8H", stall_limit=0), "5H 7H")) == 1


@pytest.mark.parametrize(
    ("hands", "line", "options", "order", "paid"),
    [
        pytest.param("9C | 3C 4C KD", "0:9C", {}, "0 1", "0 3, 0 3, 0 17", id="THU-EX-9 THU-END-1 THU-SCORE-2"),
        pytest.param("9C | 3C 4C KD", "0:9C 3C", AFTER, "0 1", "0 2, 0 2, 0 14", id="THU-EX-9 THU-END-2"),
        pytest.param("9H QS AS | 4D", "0:9H 4D", {}, "1 0", "2 0, 2 0, 21 0", id="THU-EX-10 THU-SCORE-4"),
        pytest.param("9H QS AS | 4D", "0:9H 4D", AFTER, "1 0", "4 0, 4 0, 34 0", id="THU-EX-10 after the trick"),
        pytest.param("9H | QH", "0:9H", {}, "0 1", "0 1, 0 1, 0 10", id="THU-EX-11"),
        pytest.param("9H | QH", "0:9H QH", AFTER, "0 1", "0 0, 0 0, 0 0", id="THU-EX-11 THU-END-3 THU-D7"),
        pytest.param("5H 6H 7H | 2S 3S", *SHORT_STALL, "1 0", "3 2, 3 2, 16 7", id="THU-EX-13 THU-STALL-2 THU-STALL-3"),
        pytest.param("KH | 5H 6C | 9H 3D 4D", "0:KH 5H 9H 6C", {}, "0 1 2", "0 0 2, 0 2 5, 0 0 7", id="THU-EX-15"),
        pytest.param("9C | TC | 3C 4C 5C", "0:9C TC", {}, "0 1 2", "0 0 3, 0 1 6, 0 0 12", id="THU-EX-16 THU-D6"),
        pytest.param("9C | TC | 3C 4C 5C", "0:9C TC 4C", AFTER, "0 1 2", "0 0 2, 0 0 4, 0 0 8", id="THU-EX-16 after"),
        pytest.param(*CYCLE, {"stall_limit": 4}, "1 2 0", "4 2 3, 4 2 3, 11 7 9", id="THU-EX-20 a stall of three"),
        pytest.param("5H 9C | 2S 3S 4S | AC", "0:5H 2S", STALL, "2 1 0", "3 2 1", id="THU-STALL-2"),
        pytest.param("5H | 2S 3S | AC KC | 2D 4D", "1:2S AC", STALL, "0 2 3 1", "", id="THU-STALL-2 points"),
        pytest.param(
            "9C 2H | 5H 2D 9D | 2S 5S | 3C 8D", "1:5H 5S", STALL | CUTTER, "1 0 3 2", "", id="THU-STALL-2 seats"
        ),
        pytest.param("5H KD | 2S AS | QH", "0:5H 2S", STALL, "2 1 0", "3 1 1, 3 1 1, 17 11 10", id="THU-D20"),
        pytest.param("5H QH AS | 3C", "0:5H 3C", {}, "1 0", "2 0, 2 0, 21 0", id="THU-SCORE-2 THU-D14"),
        pytest.param("5H 9C | 6H | 7H 8H 3C", "0:5H 6H 7H 3C 9C", {}, "1 0 2", "0 0 1, 1 0 4, 0 0 8", id="THU-SCORE-3"),
    ],
)
def test_THU_SCORE_1_the_finishing_order_and_its_points(
    hands: str, line: str, options: dict[str, Any], order: str, paid: str
) -> None:
    won = " ".join(str(int(seat == int(order[0]))) for seat in range(len(order.split())))
    for name, totals in zip(("none", "cards", "cards_each_out", "points"), (won, *paid.split(",")), strict=False):
        state = acts(position(hands, leader=int(line[0]), scoring=name, **options), line)
        assert state.progress.orders[-1] == numbers(order)
        assert not totals or dispatch.scores(state) == numbers(totals)


def numbers(text: str) -> tuple[int, ...]:
    return tuple(map(int, text.split()))


def test_THU_EX_14_the_order_of_a_stall() -> None:
    state = position("2H 9H || 5C 6C | AC 2D", leader=2, out=(1,))
    assert (*state.out, *scoring.stall_order(state.hands, state.queue)) == (1, 0, 2, 3)


@pytest.mark.parametrize(
    ("name", "best_of", "totals", "orders", "expected"),
    [
        pytest.param("none", 1, "1 0 0", "201", "2 > 0 > 1", id="THU-MATCH-4 one game"),
        pytest.param("none", 3, "2 0 0", "012 021", "0 > 1 = 2", id="THU-EX-17 THU-MATCH-2 THU-D13"),
        pytest.param("none", 3, "1 1 1", "012 120 210", "1 > 2 > 0", id="THU-EX-17 places add up"),
        pytest.param("none", 3, "1 2 0", "012 102 120", "1 > 0 > 2", id="THU-EX-17 more wins"),
        pytest.param("none", 5, "2 0", "01 01", "", id="THU-MATCH-2 two of five"),
        pytest.param("none", 5, "3 1", "01 10 01 01", "0 > 1", id="THU-MATCH-2 three of five"),
        pytest.param("none", 5, "2 2 1", "012 120 210 012 120", "1 > 0 > 2", id="THU-MATCH-2 all games"),
        pytest.param("cards", 3, "0 3 2", "012 021", "", id="THU-MATCH-3 THU-D16"),
        pytest.param("cards", 3, "0 7 5", "012 021 012", "0 > 2 > 1", id="THU-EX-17 penalties"),
        pytest.param("points", 3, "0 7", "01 01", "", id="THU-MATCH-3 points"),
        pytest.param("points", 1, "9 5 7", "012", "1 > 2 > 0", id="THU-MATCH-4 the smaller total"),
        pytest.param("cards", 3, "5 5 7", "102 102 021", "1 > 0 > 2", id="THU-MATCH-4 wins break a tie"),
        pytest.param("cards", 3, "5 5 5 1", "0123 1203 2103", "3 > 1 > 2 > 0", id="THU-MATCH-4 places break a tie"),
    ],
)
def test_the_end_of_a_match_and_its_ranking(name: str, best_of: int, totals: str, orders: str, expected: str) -> None:
    finished = tuple(tuple(map(int, order)) for order in orders.split())
    assert scoring.match_over(name, best_of, finished, len(finished[0])) == bool(expected)
    progress = Progress(1, 0, numbers(totals), finished, "one_holder", over=True)
    ranking = scoring.ranking(new(len(finished[0]), scoring=name)._replace(progress=progress))
    assert not expected or ranking_text(ranking) == expected


@pytest.mark.parametrize(
    ("start", "leaders"),
    [
        pytest.param("dealer", [3, 0, 1], id="THU-EX-18 THU-DEAL-1 THU-START-4"),
        pytest.param("left_of_dealer", [0, 1, 2], id="THU-EX-18 THU-D12 THU-START-5"),
    ],
)
def test_the_first_leader_of_a_match(start: str, leaders: list[Seat]) -> None:
    state, found = new(4, best_of=3, first_dealer=3, start=start, scoring="cards"), []
    for _ in leaders:
        state, _ = dispatch.apply(state, CardsShuffled(due(state).cards))
        found.append(to_act(state))
        state = first_legal(state)
    assert found == leaders


@pytest.mark.parametrize(
    ("hands", "line", "expected"),
    [
        pytest.param("9H 9S | 5H KH 2C | 2D", "9H", "KH 5H", id="THU-EX-19 THU-PLAY-3"),
        pytest.param("9H 9S | 5H KH 2C | 2D", "9S", "2C 5H KH", id="THU-EX-19 THU-PLAY-4"),
        pytest.param("5H KH 2C | 9H | 2D", "", "2C 5H KH", id="THU-EX-19 the leader"),
        pytest.param("9H 2H | 2C | 3C", "9H", "2C", id="THU-EX-19 the only card cuts"),
        pytest.param("AS 2C | 5H 6H | 7S", "AS 5H", "2C 5H AS", id="THU-START-2 THU-D2 an ace that was picked up"),
    ],
)
def test_which_cards_are_legal(hands: str, line: str, expected: str) -> None:
    assert may(acts(position(hands), line)) == set(expected.split())


def test_THU_EX_19_THU_PLAY_1_THU_PLAY_2_THU_D9_never_legal() -> None:
    state = acts(position("9H | 5H KH 2C | 2D 3D 4D"), "9H")
    assert (refusal(state, "AH"), refusal(state, Pass())) == ("THU-PLAY-2", "THU-D9")
    assert {refusal(state, PLAYS[card("2D")], seat) for seat in (-1, 0, 2, 3)} == {"THU-PLAY-1"}
