"""The rules of Thulla by their ids, apart from the worked positions."""

import pytest

from croupier.games.cards import STANDARD_DECK, cards, mask_of, notation
from croupier.games.facts import SPECTATOR, Mark, MarkChanged, PileCard, SeatOut
from croupier.games.interface import CardsShuffled
from croupier.games.thulla import scoring
from croupier.games.thulla.state import REMOVAL_ORDER
from tests.games import dispatch
from tests.games.positions import acts, acts_with_facts, deal, due, ended, hand, may, to_act
from tests.games.positions_thulla import THULLA, new, position

# The deck and the deal


def test_THU_DECK_1_THU_DECK_3_low_cards_leave_and_threes_and_the_ace_of_spades_always_stay() -> None:
    assert due(new(4)).cards == STANDARD_DECK == tuple(range(52))
    assert notation(REMOVAL_ORDER) == ["2C", "2D", "2H", "2S", "3C", "3D", "3H", "3S"]
    for seats in THULLA.seats:
        assert {*cards("3C 3D 3H 3S AS")} <= {*due(new(seats)).cards}


def test_THU_DEAL_2_THU_DEAL_3_one_card_at_a_time_from_the_left_of_the_dealer() -> None:
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


# The start


def test_THU_START_1_the_holder_of_the_ace_of_spades_leads_it_in_every_game() -> None:
    for seed in range(5):
        state = deal(new(5, best_of=3), seed)
        assert may(state) == {"AS"}


def test_THU_START_3_the_seat_that_was_drawn_leads_any_card() -> None:
    state = new(4, start="random")
    for seat in range(4):
        dealt, _ = dispatch.apply(state, CardsShuffled(STANDARD_DECK, (seat,)))
        assert (to_act(dealt), len(may(dealt))) == (seat, 13)


# Going out, the stall


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


# Points, places, matches


@pytest.mark.parametrize(
    ("finish", "settled", "left", "lost"),
    [
        pytest.param((0, 1, 2), (0, 2, 8), "AS 4D TH", (3, 8, 25), id="THU-SCORE-1"),
        pytest.param((1, 0, 2), (6, 0, 5), "2S KC KD 9H", (4, 5, 31), id="THU-SCORE-3"),
        pytest.param((0, 1, 2), (0, 1, 2), "3C", (1, 2, 3), id="THU-SCORE-4"),
    ],
)
def test_the_table_of_points(
    finish: tuple[int, ...], settled: tuple[int, int, int], left: str, lost: tuple[int, int, int]
) -> None:
    def points(name: str) -> tuple[int, ...]:
        return scoring.game_points(name, (0, 0, mask_of(cards(left))), finish, settled, stalled=False)

    assert points("none") == tuple(int(seat == finish[0]) for seat in range(3))
    assert (points("cards"), points("points")) == ((0, 0, lost[0]), (0, 0, lost[2]))
    assert points("cards_each_out") == (*settled[:2], lost[1])


def test_THU_SCORE_4_THU_D15_card_points() -> None:
    points = [scoring.card_points(mask_of(cards(f"{rank}H"))) for rank in "23456789TJQKA"]
    assert points == [2, 3, 4, 5, 6, 7, 8, 9, 10, 10, 10, 10, 11]


def test_THU_END_4_THU_D18_the_labels_of_the_places() -> None:
    places = ["gold", "silver", "bronze", "safe", "safe"]
    for seats in THULLA.seats:
        labels = [scoring.label(place, seats) for place in range(1, seats + 1)]
        assert labels == [*places[: seats - 1], "loser"]


def test_THU_END_4_the_score_has_the_label_of_each_seat() -> None:
    _, facts = acts_with_facts(position("5H | 6H | 7H 8H 3C"), "5H 6H")
    assert (ended(facts).headline, ended(facts).notes) == ("game 1 of 1", ("gold", "silver", "loser, 3 cards"))
    _, facts = acts_with_facts(position("5H 9C | 2S 3S 4S | AC", stall_limit=1), "5H 2S")
    assert ended(facts).notes == ("loser, 3 cards, stall", "silver, 2 cards, stall", "gold, 1 card, stall")


def test_THU_MATCH_1_wins_and_orders_are_kept() -> None:
    state = position("5H | 6H QH", best_of=5, scoring="cards")
    state = state._replace(progress=state.progress._replace(round_number=3, totals=(4, 2), orders=((0, 1), (1, 0))))
    state, facts = acts_with_facts(state, "5H")
    assert state.progress.orders == ((0, 1), (1, 0), (0, 1))
    assert MarkChanged(Mark("wins", 0, "2")) in facts
    assert due(state).round_number == 4


# Visibility


def test_THU_VIS_2_the_trick_is_shown_in_the_order_of_play() -> None:
    view = dispatch.view(acts(position("5H 2C | QH 2D | 9H KD", leader=2), "9H 5H"), 1)
    trick = next(pile for pile in view.piles if pile.name == "trick")
    assert trick.cards == tuple(PileCard(value, seat) for value, seat in zip(cards("9H 5H"), (2, 0), strict=True))


def test_THU_VIS_1_THU_VIS_3_a_seat_that_is_out_sees_what_a_spectator_sees() -> None:
    state = acts(position("5H 2C | QH | 9H KD | 3H 4H"), "5H QH")
    assert dispatch.view(state, 1) == dispatch.view(state, SPECTATOR)
    assert not any(seat.cards for seat in dispatch.view(state, 1).seats)


def test_THU_VIS_4_hands_are_open_from_the_end_of_a_game_to_the_next_deal() -> None:
    state = acts(position("5H | QH AD", best_of=3), "5H")
    for viewer in (0, 1, SPECTATOR):
        assert notation(dispatch.view(state, viewer).seats[1].cards) == ["AD", "QH"]
    assert not any(seat.cards for seat in dispatch.view(deal(state), SPECTATOR).seats)
