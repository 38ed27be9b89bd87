"""The rules of President by their ids, and the worked positions of the page, PRES-EX-1 to PRES-EX-11."""

from typing import Any

import pytest

from croupier.conformance.fold import facts_for
from croupier.games.actions import Action, Bid, Lay, Play, StandPat, SwapCards
from croupier.games.cards import STANDARD_DECK, card, cards, notation
from croupier.games.facts import (
    SPECTATOR,
    CardsMoved,
    Count,
    HandRevealed,
    Mark,
    MarkChanged,
    Seat,
    SeatOut,
    Viewer,
)
from croupier.games.interface import (
    CardsShuffled,
    GameOver,
    InvalidOption,
    ProposalAgreed,
    ShuffleNeeded,
    resolve_options,
)
from croupier.games.values import CardsValue, NumberValue, SeatsValue, SeatValue, WordValue, phrase
from croupier_president import scoring
from croupier_president.exchange import pairs_of
from croupier_president.state import Pair, PresidentOptions, PresidentState, Progress, rank_of
from president_positions import (
    DOUBLE,
    EXCHANGE,
    FINISH,
    FOUR,
    LAST_CARDS,
    LEADING,
    PRESIDENT,
    RETURNING,
    SINGLE,
    acts,
    acts_with_facts,
    deal_of,
    dealt,
    ended,
    exchanging,
    finished,
    hand,
    may,
    new,
    pile,
    played,
    position,
    refusal,
    rule_against,
    to_act,
)

# Players, cards and options


def test_PRES_PLAYERS_1_PRES_OPT_1_other_seats_names_values_and_types_are_refused() -> None:
    assert PRESIDENT.seats == range(3, 8)
    for seats in (2, 8, True, 3.0, "3"):
        with pytest.raises(InvalidOption, match="invalid number of seats"):
            resolve_options(PRESIDENT, seats, {})  # type: ignore[arg-type]
    wrong: list[tuple[str, Any]] = [("rounds", 0), ("rounds", 3.0), ("rounds", True), ("target", -1), ("passing", "")]
    for name, value in [*wrong, ("exchange", "triple"), ("nonsense", 1)]:
        with pytest.raises(InvalidOption) as refused:
            resolve_options(PRESIDENT, 4, {name: value})
        assert refused.value.option == name


def test_PRES_RANK_1_threes_are_lowest_and_twos_highest() -> None:
    spades = notation(value for value in STANDARD_DECK if value >= 39)
    assert "".join(text[0] for text in sorted(spades, key=lambda text: rank_of(card(text)))) == "3456789TJQKA2"


# The deal


def test_PRES_DECK_1_PRES_DEAL_1_PRES_DEAL_3_PRES_PLAYERS_2_shuffles_and_proposals() -> None:
    state = new(4)
    assert PRESIDENT.awaiting(state) == ShuffleNeeded(STANDARD_DECK, (4,), 1, 1)
    assert rule_against(state, CardsShuffled(STANDARD_DECK[1:], (0,))) == "PRES-DECK-1"
    assert {rule_against(state, CardsShuffled(STANDARD_DECK, drawn)) for drawn in ((), (4,))} == {"PRES-DEAL-1"}
    assert {refusal(state, text, 0) for text in ("3C", "pass", "swap:3C")} == {"PRES-DEAL-3"}
    assert rule_against(dealt(state, drawn=(0,)), CardsShuffled(STANDARD_DECK, (0,))) == "PRES-DEAL-3"
    for one in (state, dealt(state, drawn=(0,))):
        assert rule_against(one, ProposalAgreed("rest")) == "PRES-PLAYERS-2"
    event = CardsShuffled(STANDARD_DECK, (2,))
    assert PRESIDENT.event_record(state, event) == {
        "type": "deal",
        "dealer": 2,
        "hands": [notation(STANDARD_DECK[first::4]) for first in (1, 2, 3, 0)],
    }


def test_PRES_DEAL_1_the_scum_of_the_round_before_deals() -> None:
    state = acts(position("KC | 3D 4H | AC"), "0:KC 1:pass 2:AC")
    assert PRESIDENT.awaiting(state) == ShuffleNeeded(STANDARD_DECK, (), 3, 1)
    assert rule_against(state, CardsShuffled(STANDARD_DECK, (1,))) == "PRES-DEAL-1"
    view = PRESIDENT.view(dealt(state), SPECTATOR)
    assert (view.dealer, [seat.card_count for seat in view.seats]) == (1, [17, 17, 18])


@pytest.mark.parametrize(
    ("seats", "dealer", "sizes"),
    [
        pytest.param(5, 1, [10, 10, 11, 11, 10], id="PRES-EX-1 PRES-DEAL-2 five"),
        pytest.param(7, 6, [8, 8, 8, 7, 7, 7, 7], id="PRES-EX-1 PRES-DEAL-2 seven"),
        pytest.param(3, 0, [17, 18, 17], id="PRES-DEAL-2 three"),
        pytest.param(6, 2, [9, 8, 8, 9, 9, 9], id="PRES-DEAL-2 six"),
    ],
)
def test_the_sizes_of_hands(seats: int, dealer: int, sizes: list[int]) -> None:
    view = PRESIDENT.view(dealt(new(seats), drawn=(dealer,)), SPECTATOR)
    assert [seat.card_count for seat in view.seats] == sizes


# Titles and the exchange

PV, VS, S = "president vice_president", "vice_scum", "scum"


@pytest.mark.parametrize(
    ("seats", "titles"),
    [
        pytest.param(3, f"{PV} {S}", id="PRES-TITLE-1 three"),
        pytest.param(4, f"{PV} {VS} {S}", id="PRES-TITLE-1 four"),
        pytest.param(7, f"{PV} citizen citizen citizen {VS} {S}", id="PRES-TITLE-1 seven"),
    ],
)
def test_titles_by_place(seats: int, titles: str) -> None:
    assert list(scoring.titles(tuple(range(seats))).values()) == titles.split()


def test_PRES_TITLE_2_titles_last_until_the_end_of_the_next_round() -> None:
    def titles(state: PresidentState) -> list[str]:
        marks = PRESIDENT.view(state, SPECTATOR).marks
        return [mark.value.word for mark in marks if mark.name == "title" and isinstance(mark.value, WordValue)]

    assert titles(dealt(new(3), drawn=(0,))) == []
    before = position("KC | 3D 4H | AC")
    after = acts(before, "0:KC 1:pass 2:AC")
    assert titles(before) == ["president", "vice_president", "scum"]
    assert titles(after) == titles(dealt(after)) == ["president", "scum", "vice_president"]


@pytest.mark.parametrize(
    ("seats", "exchange", "pairs"),
    [
        pytest.param(4, "double", (Pair(3, 0, 2), Pair(2, 1, 1)), id="PRES-EXCH-1 double"),
        pytest.param(7, "double", (Pair(6, 0, 2), Pair(5, 1, 1)), id="PRES-EXCH-1 seven"),
        pytest.param(3, "double", (Pair(2, 0, 1),), id="PRES-EXCH-1 three"),
        pytest.param(5, "single", (Pair(4, 0, 1),), id="PRES-EXCH-1 single"),
        pytest.param(5, "none", (), id="PRES-EXCH-1 none"),
    ],
)
def test_pairs(seats: int, exchange: str, pairs: tuple[Pair, ...]) -> None:
    options = PresidentOptions(seats, exchange)
    assert pairs_of(options, tuple(range(seats))) == pairs
    assert pairs_of(options, ()) == ()
    first, second, third = range(seats - 3, seats)
    state = position("|" * first + "KC | 3D | AC", out=tuple(range(first)), turn=first, exchange=exchange)
    after = dealt(acts(state, f"{first}:KC {second}:pass {third}:AC"))
    assert after.phase == ("exchange" if pairs else "play")


def test_PRES_EXCH_2_PRES_EX_9_the_best_cards_are_given() -> None:
    state = exchanging(FOUR)
    assert (may(state, 2), may(state, 3)) == ({"1 of KS"}, {"2 of 2D AS"})
    after = acts(state, "3:swap:AS,2D 2:swap:KS")
    assert (hand(after, 0), hand(after, 3)) == ({"KC", "5H", "6H", "2D", "AS"}, {"AC", "7S", "3C"})


def test_PRES_EXCH_3_any_cards_are_returned_also_those_received() -> None:
    state = acts(exchanging(FOUR), "3:swap:2D,AS")
    assert may(state, 0) == {"2 of KC 2D 5H 6H AS"}
    after = acts(state, "0:swap:2D,5H")
    assert (hand(after, 0), hand(after, 3)) == ({"KC", "6H", "AS"}, {"AC", "7S", "3C", "2D", "5H"})


def test_PRES_EXCH_4_PRES_EXCH_6_pairs_do_not_wait_for_each_other_and_then_the_first_lead_is_due() -> None:
    state = exchanging(FOUR)
    assert state.to_act == (2, 3)
    state = acts(state, "3:swap:2D,AS")
    assert state.to_act == (0, 2)
    state = acts(state, "0:swap:5H,6H")
    assert state.to_act == (2,)
    state = acts(state, "2:swap:KS")
    assert (state.phase, state.to_act) == ("exchange", (1,))
    state = acts(state, "1:swap:7H")
    assert (state.phase, state.to_act) == ("play", (0,))


FIRST = PRESIDENT.apply(new(4), deal_of("3C 3D 7D 7C 3H 3S", (3,)))[0]
"""Seat 0 leads, and holds the threes of clubs and hearts."""
NOT_THE_BEST = "swap:2D,AC", "swap:3C,7S"
IMPOSSIBLE = "swap:2D", "swap:2D,2S", "swap:2D,2D", "swap:2D,AS,AC"
TEN = cards("TS")
NAMED = Lay(TEN, "single"), Lay(TEN, "", "trick"), Lay(TEN, owner=1), Lay((), "x")
NEITHER_LAY_NOR_PASS = (Play(TEN[0]), Bid(1), SwapCards(TEN), StandPat(), *NAMED)
NOT_OF_THE_HAND = Lay(()), "JS", "7D+7D", Lay((52,)), Lay((-1,)), Lay((1 << 70,))


@pytest.mark.parametrize(
    ("state", "seat", "text", "rule"),
    [
        *(pytest.param(EXCHANGE, 3, text, "PRES-EXCH-2", id=f"PRES-EXCH-2 {text}") for text in NOT_THE_BEST),
        *(pytest.param(EXCHANGE, 3, text, "PRES-EXCH-3", id=f"PRES-EXCH-3 {text}") for text in IMPOSSIBLE),
        pytest.param(EXCHANGE, 3, StandPat(), "PRES-EXCH-3", id="PRES-EXCH-3 none"),
        pytest.param(RETURNING, 0, "swap:KC", "PRES-EXCH-3", id="PRES-EXCH-3 returned"),
        *(pytest.param(EXCHANGE, seat, "swap:KC", "PRES-EXCH-4", id=f"PRES-EXCH-4 {seat}") for seat in (-1, 0, 1, 4)),
        pytest.param(EXCHANGE, 3, "AS", "PRES-EXCH-5", id="PRES-EXCH-5 lay"),
        pytest.param(EXCHANGE, 2, "pass", "PRES-EXCH-5", id="PRES-EXCH-5 pass"),
        pytest.param(FIRST, 0, "7D", "PRES-LAY-2", id="PRES-LEAD-2 not held"),
        pytest.param(FIRST, 0, "3H", "PRES-LEAD-2", id="PRES-LEAD-2"),
        pytest.param(FIRST, 0, "3H+7S", "PRES-LAY-3", id="PRES-LEAD-2 after PRES-LAY-3"),
        pytest.param(FIRST, 0, "pass", "PRES-PASS-1", id="PRES-PASS-1 first"),
        pytest.param(SINGLE, 0, "9S", "PRES-TURN-1", id="PRES-TURN-1"),
        pytest.param(SINGLE, 2, "JS", "PRES-TURN-1", id="PRES-TURN-1 not yet"),
        *(pytest.param(SINGLE, 1, odd, "PRES-LAY-1", id=f"PRES-LAY-1 {odd}") for odd in NEITHER_LAY_NOR_PASS),
        *(pytest.param(SINGLE, 1, odd, "PRES-LAY-2", id=f"PRES-LAY-2 {odd}") for odd in NOT_OF_THE_HAND),
        pytest.param(SINGLE, 1, "TS+7H", "PRES-LAY-3", id="PRES-LAY-3"),
        pytest.param(LEADING, 0, "5C+8S", "PRES-LAY-3", id="PRES-LAY-3 led"),
        pytest.param(SINGLE, 1, "7D+7H", "PRES-BEAT-1", id="PRES-BEAT-1 more"),
        pytest.param(DOUBLE, 1, "TS", "PRES-BEAT-1", id="PRES-BEAT-1 fewer"),
        pytest.param(SINGLE, 1, "7D", "PRES-BEAT-2", id="PRES-BEAT-2 lower"),
        pytest.param(played(SINGLE, "1:pass"), 2, "8D", "PRES-BEAT-2", id="PRES-BEAT-2 equal"),
        pytest.param(LEADING, 0, "pass", "PRES-PASS-1", id="PRES-PASS-1"),
        *(pytest.param(SINGLE, 1, text, "", id=f"PRES-PASS-1 {text}") for text in ("TS", "pass")),
    ],
)
def test_refusals(state: PresidentState, seat: Seat, text: str | Action, rule: str) -> None:
    assert refusal(state, text, seat) == rule


# Leads and answers


def test_PRES_LEAD_1_PRES_LEAD_2_PRES_EX_2_the_three_of_clubs_is_led_alone_or_with_others() -> None:
    assert (to_act(FIRST), may(FIRST)) == (0, {"1 of 3C", "2 of 3C 3H"})
    assert pile(acts(FIRST, "0:3H+3C"), "trick") == "3H 0 3C 0"
    alone = dealt(new(4), "7D 3C", drawn=(3,))
    assert (to_act(alone), may(alone)) == (1, {"3C"})
    four = dealt(new(3), "3C 4C 5C 3D 6C 7C 3H 8C 9C 3S", drawn=(2,))
    assert may(four) == {
        *("1 of 3C", "2 of 3C 3D", "2 of 3C 3H", "2 of 3C 3S"),
        *("3 of 3C 3D 3H", "3 of 3C 3D 3S", "3 of 3C 3H 3S", "4 of 3C 3D 3H 3S"),
    }


@pytest.mark.parametrize(
    ("later_lead", "leader"),
    [pytest.param("president", 0, id="PRES-LEAD-3"), pytest.param("scum", 1, id="PRES-LEAD-3 scum")],
)
def test_the_first_lead_of_a_later_round(later_lead: str, leader: Seat) -> None:
    before = position("KC | 3D 4H | AC", exchange="none", later_lead=later_lead)
    state = dealt(acts(before, "0:KC 1:pass 2:AC"), "5C 5D 5H 5S 3C")
    assert (state.phase, to_act(state)) == ("play", leader)
    assert "pass" not in may(state)


@pytest.mark.parametrize(
    ("held", "line", "expected"),
    [
        pytest.param("6D 7H 8D 2S", "7C", {"8D", "2S", "pass"}, id="PRES-EX-3 PRES-BEAT-2"),
        pytest.param("6D 7H 8D 2S", "7C+7D", {"pass"}, id="PRES-EX-3 PRES-BEAT-1"),
        pytest.param("TH TS TD JC JD 2C", "9C+9D", {"2 of TD TH TS", "2 of JC JD", "pass"}, id="PRES-EX-4"),
        pytest.param("TH TS TD JC JD 2C", "7C", {"2C", "JC", "JD", "TD", "TH", "TS", "pass"}, id="PRES-LAY-3 single"),
    ],
)
def test_what_may_be_laid(held: str, line: str, expected: set[str]) -> None:
    state = acts(position(f"7C 7D 9C 9D 3C | {held} | 4C"), f"0:{line}")
    assert may(state) == expected


def test_PRES_LAY_2_a_leader_may_lay_any_number_of_a_rank_in_any_order() -> None:
    assert may(LEADING) == {"1-3 of 5C 5D 5H", "8S", "9S"}
    assert pile(acts(LEADING, "0:5H+5C"), "trick") == "5H 0 5C 0"


FIVE = "5C 9C | 6C 8C | 7C TC"


def test_PRES_PASS_2_PRES_EX_5_a_pass_counts_until_the_next_combination() -> None:
    state = acts(position(FIVE), "0:5C 1:6C 2:pass")
    assert state.passed == {2}
    state, facts = acts_with_facts(state, "0:9C")
    assert MarkChanged(Mark("passed", 2, None)) in facts
    assert (state.passed, to_act(state)) == (frozenset(), 1)
    state = acts(state, "1:pass")
    assert (to_act(state), may(state)) == (2, {"TC", "pass"})


def test_PRES_PASS_3_PRES_EX_5_a_final_pass_counts_until_the_end_of_the_trick() -> None:
    state = acts(position(FIVE, passing="final"), "0:5C 1:6C 2:pass 0:9C")
    assert (sorted(state.passed), to_act(state)) == ([2], 1)
    state = acts(state, "1:pass")
    assert (to_act(state), may(state), state.passed) == (1, {"8C"}, frozenset())
    assert pile(state, "waste") == "5C 0 6C 1 9C 0"


@pytest.mark.parametrize(
    ("hands", "line", "leader"),
    [
        pytest.param("8C 9C | 4D 5D | 6H 7H", "0:8C 1:pass 2:pass", 0, id="PRES-TRICK-1 PRES-TRICK-3"),
        pytest.param("8C 9C | 4D TD | 6H 7H", "0:8C 1:TD 2:pass 0:pass", 1, id="PRES-TRICK-3 PRES-TURN-1"),
        pytest.param("2C 4C | 3D 5D | 6H 7H", "0:2C", 0, id="PRES-EX-6 PRES-TRICK-2"),
        pytest.param("KC | 3D AD | 4H 5H", "0:KC 1:pass 2:pass", 1, id="PRES-EX-7 PRES-OUT-1"),
        pytest.param("5C 2C 2D | 3D AD | 4H 5H", "0:2C+2D", 0, id="PRES-TRICK-2 two"),
        pytest.param("2C | 3D AD | 4H 5H", "0:2C", 1, id="PRES-TRICK-2 PRES-TRICK-3 out"),
        pytest.param("3C 5C | TD JD | 4H QH", "0:3C 1:TD 2:QH 0:pass 1:pass", 2, id="PRES-TURN-1 clockwise"),
    ],
)
def test_the_next_leader(hands: str, line: str, leader: Seat) -> None:
    state = acts(position(hands), line)
    assert (to_act(state), state.trick, state.passed) == (leader, (), frozenset())
    assert "pass" not in may(state)


# Getting out, scores and the end


def test_PRES_OUT_1_PRES_EX_7_who_is_out_has_a_place_and_their_card_still_counts() -> None:
    state, facts = acts_with_facts(position("KC | 3D AD | 4H 5H"), "0:KC")
    assert SeatOut(0, 1) in facts
    assert (to_act(state), may(state)) == (1, {"AD", "pass"})
    assert (PRESIDENT.view(state, SPECTATOR).seats[0].place, may(acts(state, "1:AD"))) == (1, {"pass"})


def test_PRES_OUT_2_PRES_EX_8_the_round_ends_with_one_holder_in_the_middle_of_a_trick() -> None:
    state, facts = acts_with_facts(position("KC | | 4H 5H", out=(1,)), "0:KC")
    assert (ended(facts).points, ended(facts).details) == ((1, 2, 0), (Mark("order", None, SeatsValue((1, 0, 2))),))
    assert (pile(state, "trick"), pile(state, "waste")) == ("", "KC 0")
    assert HandRevealed(2, cards("4H 5H")) in facts
    assert ended(facts).headline == (phrase("elected", seat=SeatValue(1)),)
    left = phrase("cards_left", count=NumberValue(2))
    assert ended(facts).notes == ((phrase("vice_president"),), (phrase("president"),), (phrase("scum"), left))
    assert ended(facts).counts == (Count("president", 1), Count("vice_president", 0), Count("scum", 2))


@pytest.mark.parametrize(
    ("seats", "titles_score", "expected"),
    [
        pytest.param(3, False, (2, 1, 0), id="PRES-SCORE-1 three"),
        pytest.param(4, False, (3, 2, 1, 0), id="PRES-SCORE-1 four"),
        pytest.param(7, False, (6, 5, 4, 3, 2, 1, 0), id="PRES-SCORE-1 seven"),
        pytest.param(3, True, (2, 1, 0), id="PRES-SCORE-2 three"),
        pytest.param(4, True, (2, 1, 0, 0), id="PRES-SCORE-2 four"),
        pytest.param(7, True, (2, 1, 0, 0, 0, 0, 0), id="PRES-SCORE-2 seven"),
    ],
)
def test_points_by_place(seats: int, titles_score: bool, expected: tuple[int, ...]) -> None:
    options = PresidentOptions(seats, titles_score=titles_score)
    assert scoring.points(options, tuple(range(seats))) == expected
    assert scoring.points(options, tuple(reversed(range(seats)))) == expected[::-1]


@pytest.mark.parametrize("scored", ["places", "titles"])
def test_PRES_END_3_PRES_EX_10_equal_totals_share_a_rank(scored: str) -> None:
    options = PresidentOptions(3, titles_score=scored == "titles")
    progress = Progress(1, 0, (0, 0, 0))
    for order in ((0, 1, 2), (2, 1, 0)):
        progress = scoring.after_round(options, progress, order)
    assert (progress.totals, scoring.ranking(progress)) == ((2, 2, 2), ((0, 1, 2),))


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        pytest.param({"rounds": 2, "target": 5}, "target", id="PRES-END-2 PRES-EX-11"),
        pytest.param({"rounds": 9, "target": 6}, "target", id="PRES-END-2 reached"),
        pytest.param({"rounds": 9, "target": 7}, "", id="PRES-END-2 not reached"),
        pytest.param({"rounds": 2}, "rounds", id="PRES-END-1"),
        pytest.param({"rounds": 3}, "", id="PRES-END-1 a round is left"),
    ],
)
def test_the_end_of_the_game(options: dict[str, Any], reason: str) -> None:
    state = acts(position(LAST_CARDS, totals=(3, 2, 1, 0), **options), FINISH)
    assert PRESIDENT.scores(state) == (6, 3, 3, 0)
    if not reason:
        assert isinstance(PRESIDENT.awaiting(state), ShuffleNeeded)
        return
    assert PRESIDENT.awaiting(state) == GameOver(((0,), (1, 2), (3,)), reason)


def test_PRES_END_4_after_the_end_nothing_can_be_done_or_dealt() -> None:
    state = acts(position(LAST_CARDS, rounds=2), FINISH)
    assert {refusal(state, text, seat) for text in ("3H", "pass", "swap:3H") for seat in (-1, 0, 3)} == {"PRES-END-4"}
    assert rule_against(state, CardsShuffled(STANDARD_DECK)) == "PRES-END-4"
    assert rule_against(state, ProposalAgreed("rest")) == "PRES-PLAYERS-2"


def test_PRES_END_5_at_a_limit_the_complete_rounds_decide() -> None:
    assert PRESIDENT.ranking_at_limit(dealt(new(4), drawn=(0,))) is None
    assert PRESIDENT.ranking_at_limit(position(LAST_CARDS, totals=(1, 2, 1, 0))) == ((1,), (0, 2), (3,))


# Visibility


def test_PRES_VIS_1_PRES_VIS_2_hands_are_private_and_the_table_is_open() -> None:
    state = acts(position("8C 8D 9C | TD TS 3D | 6H 7H"), "0:8C+8D 1:TD+TS")
    for viewer in (0, 1, 2, SPECTATOR):
        view = PRESIDENT.view(state, viewer)
        assert [seat for seat, held in enumerate(view.seats) if held.cards] == [viewer] * (viewer != SPECTATOR)
    assert pile(state, "trick") == "8C 0 8D 0 TD 1 TS 1"


def given(state: PresidentState, viewer: Viewer) -> tuple[Mark, ...]:
    return tuple(mark for mark in PRESIDENT.view(state, viewer).marks if mark.name == "given")


def test_PRES_VIS_3_only_the_two_of_a_pair_know_what_was_exchanged_until_the_next_deal() -> None:
    state, facts = acts_with_facts(exchanging(FOUR), "3:swap:2D,AS 0:swap:5H,2D 2:swap:KS")
    after = finished(state)
    assert after.progress.order != state.progress.order
    ends = Mark("given", 0, CardsValue(cards("2D 5H"))), Mark("given", 3, CardsValue(cards("2D AS")))
    vices = (Mark("given", 2, CardsValue(cards("KS"))),)
    for viewer, known in ((0, ends), (1, vices), (2, vices), (3, ends), (SPECTATOR, ())):
        assert given(state, viewer) == known
        assert {*known} <= {*given(after, viewer)}
        assert given(dealt(after), viewer) == ()
        moves = [fact for fact in facts_for(facts, viewer) if isinstance(fact, CardsMoved)]
        shown = {value for move in moves for value in move.cards}
        assert shown == {value for mark in known if isinstance(mark.value, CardsValue) for value in mark.value.cards}
        assert [move.card_count for move in moves] == [2, 2, 2, 2, 1, 1]


def test_PRES_VIS_4_the_hand_that_is_left_is_open_until_the_next_deal() -> None:
    state = acts(position(LAST_CARDS), FINISH)
    assert [seat.cards for seat in PRESIDENT.view(state, SPECTATOR).seats] == [(), (), (), cards("3H 4H")]
    assert [seat.cards for seat in PRESIDENT.view(dealt(state), SPECTATOR).seats] == [()] * 4
