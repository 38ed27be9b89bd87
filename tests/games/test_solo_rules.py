"""The rules of Solo by their ids, its values, the end of a hand and of the game, and the score sheet."""

from collections.abc import Sequence
from typing import Any

import pytest

from croupier.games.actions import Action, Bid, CallPartner, NameTrump, Play
from croupier.games.cards import NOTATION, SUITS, Card, cards, notation
from croupier.games.facts import (
    SPECTATOR,
    Count,
    Fact,
    HandRevealed,
    Mark,
    MarkChanged,
    RoundEnded,
    RoundStarted,
    Seat,
    TurnChanged,
)
from croupier.games.interface import CardsShuffled, ProposalAgreed, completed_options, resolve_options
from croupier.games.solo import scoring
from croupier.games.solo.deck import DECK, ORDER, TRUMPS
from croupier.games.solo.state import KINDS, Progress, SoloContract, SoloOptions, SoloState
from croupier.games.values import (
    CardsValue,
    NumberValue,
    Phrase,
    Phrases,
    PointsValue,
    SeatValue,
    SuitValue,
    Value,
    WordValue,
    phrase,
)
from tests.games import dispatch
from tests.games.comparison import rule_against
from tests.games.positions import (
    acts,
    acts_with_facts,
    details,
    due,
    ended,
    first_legal,
    legal,
    may,
    over,
    refusals,
    to_act,
)
from tests.games.positions_solo import (
    ALONE,
    BIDDERS,
    CALLED_UNKNOWN,
    CLUBLESS,
    DO,
    EIGHTH,
    FIVE_ALONE,
    FIVE_OF_FIVE,
    FROKE,
    LAST_THREE,
    MARRIED,
    SOLO,
    TWELFTH,
    UNKNOWN,
    dealt,
    exchanged,
    new,
)

TO_CALL = "froke pass pass pass trump:H"
UNKNOWN_CALL = "froke pass pass pass trump:D"
DIAMONDS = exchanged(CLUBLESS, "QS 7D")
"""Seat 0 has diamonds and both black queens."""
NO_SUIT = exchanged(UNKNOWN, "AC JD", "AH AD", "KH KD")
"""Seat 0 misses three aces and has no card of their suits."""
BUCK = "solo_do_clubs pass pass pass trump:C 8C KC AC TC"


def phrases(text: str) -> Phrases:
    """Return phrases written by their words, a contract by its name, and the trump as trump:H."""
    return tuple(map(_phrase, text.split()))


def _phrase(text: str) -> Phrase:
    if text in KINDS:
        return phrase("contract", contract=WordValue(text))
    word, _, suit = text.partition(":")
    return phrase(word, trump=SuitValue(SUITS.index(suit))) if suit else phrase(word)


def test_SOLO_DECK_1_thirty_two_cards() -> None:
    assert due(new()).cards == DECK
    assert {NOTATION[value] for value in DECK} == {rank + suit for rank in "789TJQKA" for suit in SUITS}
    assert len(DECK) == 32


@pytest.mark.parametrize("trump", SUITS)
def test_SOLO_RANK_1_the_order_of_trumps(trump: str) -> None:
    suit, queen = SUITS.index(trump), f"Q{trump}" if trump in "DH" else ""
    order = f"QC 7{trump} QS A{trump} K{trump} {queen} J{trump} T{trump} 9{trump} 8{trump}"
    assert notation(ORDER[suit][: TRUMPS[suit].bit_count()]) == order.split()


def test_SOLO_DEAL_1_SOLO_DEAL_3_a_dealer_is_drawn_once_and_then_the_deal_moves_clockwise() -> None:
    state = new()
    assert (due(state).draw_bounds, refusals(state, "pass", 0)) == ((4,), {"SOLO-DEAL-3"})
    record = dispatch.event_record(state, CardsShuffled(DECK[::-1], (3,)))
    assert record == {"type": "deal", "dealer": 3, "deck": notation(DECK[::-1])}
    state, _ = dispatch.apply(state, CardsShuffled(DECK, (2,)))
    assert (state.progress.dealer, dispatch.view(state, 0).dealer) == (2, 2)
    state = first_legal(acts(state, "solo_clubs pass pass pass"))
    assert due(state)[1:] == ((), 2, 1)
    assert dispatch.apply(state, CardsShuffled(DECK))[0].progress.dealer == 3


@pytest.mark.parametrize(
    ("hands", "line", "seat", "text", "rule"),
    [
        pytest.param(BIDDERS, "", None, "match draw call:AC keep swap 7C trump:C", "SOLO-BID-1", id="SOLO-BID-1"),
        pytest.param(BIDDERS, "", 4, "pass", "SOLO-BID-1", id="SOLO-BID-1 no such seat"),
        pytest.param(BIDDERS, "", None, "5", "SOLO-BID-2", id="SOLO-BID-2 an amount"),
        pytest.param(BIDDERS, "solo", None, "froke iss wedding solo", "SOLO-BID-4", id="SOLO-BID-4"),
        pytest.param(CLUBLESS, "", None, "iss solo_clubs solo_do_clubs", "SOLO-BID-5", id="SOLO-BID-5"),
        pytest.param(BIDDERS, "", None, "wedding", "SOLO-BID-6", id="SOLO-BID-6"),
        pytest.param(MARRIED, "pass", None, "froke iss", "SOLO-WED-1", id="SOLO-WED-1"),
        pytest.param(MARRIED, "froke pass pass iss", None, "pass solo keep", "SOLO-WED-2", id="SOLO-WED-2"),
        pytest.param(BIDDERS, "froke iss pass pass", 1, "keep", "SOLO-KEEP-1", id="SOLO-KEEP-1 another seat"),
        pytest.param(BIDDERS, "froke iss pass pass", None, "pass iss keep:7C/C", "SOLO-KEEP-2", id="SOLO-KEEP-2"),
        pytest.param(BIDDERS, "froke pass pass pass", None, "call:AC pass", "SOLO-TRUMP-1", id="SOLO-TRUMP-1"),
        pytest.param(BIDDERS, "iss pass pass pass", None, "trump:H", "SOLO-TRUMP-2", id="SOLO-TRUMP-2"),
        pytest.param(DIAMONDS, "solo pass pass pass", None, "trump:C trump:S", "SOLO-TRUMP-3", id="SOLO-TRUMP-3"),
        pytest.param(BIDDERS, "solo pass pass pass", None, "trump:C!", "SOLO-TRUMP-4", id="SOLO-TRUMP-4"),
        pytest.param(EIGHTH, TO_CALL, 2, "call:AC", "SOLO-CALL-1", id="SOLO-CALL-1 another seat"),
        pytest.param(EIGHTH, TO_CALL, None, "pass 8C", "SOLO-CALL-1", id="SOLO-CALL-1"),
        pytest.param(EIGHTH, TO_CALL, None, "call:unknown call:AH call:KC call:2C", "SOLO-CALL-2", id="SOLO-CALL-2"),
        pytest.param(UNKNOWN, UNKNOWN_CALL, None, "call:AS", "SOLO-CALL-4", id="SOLO-CALL-4"),
        pytest.param(NO_SUIT, UNKNOWN_CALL, None, "call:unknown call:AD call:KC", "SOLO-CALL-5", id="SOLO-CALL-5"),
        pytest.param(EIGHTH, TO_CALL, None, "call:nobody", "SOLO-CALL-6", id="SOLO-CALL-6"),
        pytest.param(MARRIED, "pass wedding pass pass call:AS", None, "trump:S", "SOLO-WED-6", id="SOLO-WED-6"),
        pytest.param(EIGHTH, FROKE, None, "solo call:AC draw yield", "SOLO-PLAY-1", id="SOLO-PLAY-1"),
        pytest.param(EIGHTH, f"{FROKE} 8C", 0, "9C", "SOLO-PLAY-1", id="SOLO-PLAY-1 another seat"),
        pytest.param(EIGHTH, f"{FROKE} 8C", None, "QC TH 8S 2C KC/C", "SOLO-PLAY-2", id="SOLO-PLAY-2"),
        pytest.param(TWELFTH, f"{FROKE} QC 8H JH TH", None, "throw_down", "SOLO-THROUGH-1", id="SOLO-THROUGH-1 early"),
        pytest.param(TWELFTH, f"{FROKE} {FIVE_OF_FIVE}", 0, "throw_down", "SOLO-PLAY-1", id="SOLO-THROUGH-1 seat"),
        pytest.param(TWELFTH, f"{FROKE} {FIVE_OF_FIVE} TS", None, "throw_down", "SOLO-THROUGH-1", id="SOLO-THROUGH-3"),
        pytest.param(EIGHTH, BUCK, 3, "pass 8H solo", "SOLO-END-2", id="SOLO-END-2"),
        pytest.param(BIDDERS, "", None, Bid("nonsense"), "SOLO-BID-2", id="SOLO-BID-2"),
        pytest.param(
            BIDDERS, "solo pass pass pass", None, NameTrump(4, all_tricks=False), "SOLO-TRUMP-3", id="SOLO-TRUMP-3 4"
        ),
        pytest.param(EIGHTH, TO_CALL, None, CallPartner(53), "SOLO-CALL-2", id="SOLO-CALL-2 no card"),
        pytest.param(EIGHTH, f"{FROKE} 8C", None, Play(-1), "SOLO-PLAY-2", id="SOLO-PLAY-2 a negative one"),
    ],
)
def test_refusals(hands: str, line: str, seat: Seat | None, text: str | Action, rule: str) -> None:
    assert refusals(acts(dealt(hands), line), text, seat) == {rule}


def test_SOLO_BID_9_SOLO_BID_4_with_clubs_over_a_do_the_dirty_do_is_the_lower_bid() -> None:
    assert refusals(acts(dealt(BIDDERS, do_over_clubs=False), "solo_clubs"), "solo_do") == {"SOLO-BID-4"}
    assert refusals(acts(dealt(BIDDERS), "solo_do"), "solo_clubs") == {"SOLO-BID-4"}


def test_SOLO_CALL_6_in_a_wedding_a_partner_is_called() -> None:
    assert refusals(acts(dealt(MARRIED, call="may"), "pass wedding pass pass"), "call:nobody") == {"SOLO-CALL-6"}


def test_SOLO_OPT_1_a_table_that_is_older_than_an_option_keeps_its_rules() -> None:
    assert completed_options(SOLO, 4, {}) == {"wedding_card": "free", "call": "must", "do_over_clubs": True}


def test_SOLO_KEEP_2_SOLO_TRUMP_4_a_do_that_is_kept_stays_a_do() -> None:
    kept = acts(dealt(BIDDERS, solo_keep=True), "solo_do solo_do_clubs pass pass keep")
    assert kept.contract == (0, "solo_do_clubs", -1, True, -1, -1)
    for bid in ("solo", "solo_do"):
        assert acts(dealt(BIDDERS), f"{bid} pass pass pass trump:C").contract.do == (bid == "solo_do")


def test_SOLO_VIS_3_an_unknown_card_that_never_appears_stays_unknown() -> None:
    state, facts = acts_with_facts(dealt(UNKNOWN, scores=(30, 33, 36, 36)), CALLED_UNKNOWN)
    found = details(facts)
    assert (state.phase, found["partner"], found["called"]) == ("deal", SeatValue(1), WordValue("unknown"))
    assert dispatch.view(state, 3).contract.partner == 1
    assert dispatch.view(state, 3).calls[-1].action == CallPartner(None)


@pytest.mark.parametrize(("first_lead", "leader"), [("left_of_dealer", 2), ("declarer", 0)])
def test_SOLO_PLAY_1_the_first_leader_and_then_clockwise(first_lead: str, leader: int) -> None:
    state = acts(dealt(TWELFTH, dealer=1, first_lead=first_lead), "pass pass froke pass trump:H call:AC")
    for step in range(4):
        assert to_act(state) == (leader + step) % 4
        state = acts(state, legal(state).split()[0])


def test_SOLO_THROUGH_3_a_sixth_card_goes_through() -> None:
    choice = acts(dealt(TWELFTH), f"{FROKE} {FIVE_OF_FIVE}")
    state, facts = acts_with_facts(choice, "TS")
    assert (state.through, dispatch.view(state, SPECTATOR).contract.amount) == (True, 4)
    assert MarkChanged(Mark("pledge", None, WordValue("through"))) in facts
    assert "throw_down" in may(acts(dealt(TWELFTH, through_factor=1), f"{FROKE} {FIVE_OF_FIVE}"))


def thrown_down(facts: Sequence[Fact]) -> list[Mark]:
    return [detail for detail in ended(facts).details if detail.name == "thrown_down"]


PARTNERS_CARDS = {0: cards("QH KH AH"), 2: cards("7C TS JS")}
DECLARERS_CARDS = {0: cards("8C 9C JC")}


@pytest.mark.parametrize(
    ("line", "options", "shown"),
    [
        pytest.param(f"{FROKE} {FIVE_OF_FIVE}", {}, PARTNERS_CARDS, id="SOLO-EX-21"),
        pytest.param(f"{ALONE} {FIVE_ALONE}", {"call": "may"}, DECLARERS_CARDS, id="SOLO-EX-19"),
    ],
)
def test_SOLO_THROUGH_2_SOLO_THROUGH_5_SOLO_VIS_5_the_declaring_side_shows_the_cards_that_it_throws_down(
    line: str, options: dict[str, Any], shown: dict[Seat, tuple[Card, ...]]
) -> None:
    choice = acts(dealt(TWELFTH, **options), line)
    state, facts = acts_with_facts(choice, "throw_down")
    assert [fact for fact in facts if isinstance(fact, HandRevealed)] == [HandRevealed(*one) for one in shown.items()]
    assert thrown_down(facts) == [Mark("thrown_down", seat, CardsValue(held)) for seat, held in shown.items()]
    following, _ = dispatch.apply(state, CardsShuffled(DECK))
    for viewer in (0, 1, 2, 3, SPECTATOR):
        seats = dispatch.view(state, viewer).seats
        assert [seat.card_count for seat in seats] == [3] * 4
        assert {seat for seat, held in enumerate(seats) if held.cards} - {viewer} == shown.keys() - {viewer}
        assert all(seats[seat].cards == held for seat, held in shown.items())
        dealt_again = dispatch.view(following, viewer).seats
        assert {seat for seat, held in enumerate(dealt_again) if held.cards} <= {viewer}


def test_SOLO_EX_21_a_hand_that_is_played_to_its_end_shows_nothing() -> None:
    _, facts = acts_with_facts(dealt(TWELFTH), f"{FROKE} {FIVE_OF_FIVE} {LAST_THREE}")
    assert not any(isinstance(fact, HandRevealed) for fact in facts)
    assert thrown_down(facts) == []


@pytest.mark.parametrize(
    ("phase", "scores", "line"),
    [
        ("auction", (0, 0, 0, 0), "froke"),
        ("call", (0, 0, 0, 0), "froke pass pass pass trump:H"),
        ("play", (0, 0, 0, 0), f"{FROKE} 9S KS"),
        ("deal", (0, 0, 0, 0), f"{DO} 9S KS JS 7S JC AC TC 8C"),
        ("over", (36, 32, 36, 10), f"{DO} 9S KS JS 7S JC AC TC 8C"),
    ],
)
def test_SOLO_VIS_1_a_hand_is_its_owners_even_when_it_or_the_game_has_ended(
    phase: str, scores: tuple[int, ...], line: str
) -> None:
    state, facts = acts_with_facts(dealt(EIGHTH, scores=scores), line)
    assert (state.phase, all(state.hands)) == (phase, True)
    assert not any(isinstance(fact, HandRevealed) for fact in facts)
    for viewer in (0, 1, 2, 3, SPECTATOR):
        shown = [bool(seat.cards) for seat in dispatch.view(state, viewer).seats]
        assert shown == [seat == viewer for seat in range(4)]


def test_SOLO_RESTART_1_SOLO_RESTART_2_SOLO_END_5_new_cards_from_the_same_dealer_any_number_of_times() -> None:
    state: Any = acts(dealt(EIGHTH), FROKE)
    for number in (2, 3, 4):
        state, facts = dispatch.apply(state, ProposalAgreed("restart_new"))
        assert facts == (RoundStarted(1, 3), TurnChanged("deal", ()))
        assert due(state)[1:] == ((), 1, number)
        for proposal in SOLO.proposals:
            assert rule_against(state, ProposalAgreed(proposal)) == "SOLO-RESTART-2"
        state, _ = dispatch.apply(state, CardsShuffled(DECK))
        assert (state.progress.dealer, dispatch.view(state, 0).round_number, to_act(state)) == (3, 1, 0)
    assert due(first_legal(acts(state, "solo pass pass pass")))[1:] == ((), 2, 1)


def test_SOLO_RESTART_2_no_restart_without_a_hand_in_progress() -> None:
    passed = acts(dealt(BIDDERS), "pass pass pass pass")
    over = acts(dealt(EIGHTH), BUCK)
    for state, rule in ((new(), "SOLO-RESTART-2"), (passed, "SOLO-RESTART-2"), (over, "SOLO-END-2")):
        assert {rule_against(state, ProposalAgreed(proposal)) for proposal in SOLO.proposals} == {rule}


LOST_DO = f"{DO} 9S KS JS 7S JC AC TC 8C"
"""With the eighth hands: seats 1 and 3 get the points of a failed dirty do, 6 each by default."""
LOST_SOLO = "solo_do_clubs pass pass pass trump:C 8C KC AC TH"
"""Seat 0 loses the first trick of a solo do with the twelfth hands."""
Totals = tuple[int, ...]


def table(**options: Any) -> SoloOptions:
    return SoloOptions.of(resolve_options(SOLO, 4, options))


def contract(bid: str, trump: str, do: bool = False) -> SoloContract:
    """Return a contract of seat 0, with seat 2 as the partner if it has one."""
    partner = -1 if bid.startswith("solo") else 2
    return SoloContract(0, bid, SUITS.index(trump), do or bid.startswith("solo_do"), partner=partner)


ZERO = (0, 0, 0, 0)
BASE: dict[str, Any] = {"fail_value": "base"}
LOWEST: dict[str, Any] = {"double_out": "lowest"}


def after(hand: str, totals: Totals = ZERO, **options: Any) -> Totals | None:
    """Return the totals after a hand such as "froke H made do" or "solo C failed through"."""
    bid, trump, *text = hand.split()
    standing, options_table = contract(bid, trump, "do" in text), table(**options)
    if "alone" in text:
        standing = standing._replace(partner=-1)
    scorers = standing.side if "made" in text else tuple(seat for seat in range(4) if seat not in standing.side)
    value = scoring.value(options_table, standing, "through" in text, "made" in text)
    return scoring.settled(options_table, totals, scorers, value)


@pytest.mark.parametrize(
    ("bid", "values"),
    [
        ("froke", [2, 4, 6, 4, 8, 12]),
        ("iss", [4, 8, 12]),
        ("wedding", [4, 8, 12, 8, 16, 24]),
        ("solo", [6, 12, 18, 12, 24, 36]),
        ("solo_clubs", [12, 24, 36]),
    ],
)
def test_SOLO_SCORE_1_SOLO_SCORE_2_the_table_of_values(bid: str, values: list[int]) -> None:
    ways = [(False, False), (False, True), (True, False)]
    trumps = "HC" if len(values) == 6 else "C"
    found = [scoring.value(table(), contract(bid, trump, do), through) for trump in trumps for do, through in ways]
    assert found == values


def test_SOLO_SCORE_2_a_do_is_not_doubled_again_and_factors_can_be_one() -> None:
    do = contract("froke", "H", do=True)
    assert scoring.value(table(), do, through=True) == 6
    assert scoring.value(table(do_factor=1), do, through=True) == 2
    assert scoring.value(table(through_factor=1), contract("froke", "H"), through=True) == 2
    assert scoring.value(table(), contract("solo_do_clubs", "C"), through=False) == 36
    assert scoring.value(table(do_factor=1), contract("solo_do_clubs", "C"), through=False) == 12


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        pytest.param(after("froke H made"), (2, 0, 2, 0), id="SOLO-SCORE-3 example 1"),
        pytest.param(after("iss C failed"), (0, 4, 0, 4), id="SOLO-SCORE-3 example 2"),
        pytest.param(after("froke D failed through"), (0, 4, 0, 4), id="SOLO-SCORE-4 example 3"),
        pytest.param(after("froke D failed through", **BASE), (0, 2, 0, 2), id="SOLO-SCORE-4 example 3 base"),
        pytest.param(after("wedding C made do"), (24, 0, 24, 0), id="SOLO-SCORE-2 example 4"),
        pytest.param(after("solo S failed"), (0, 6, 6, 6), id="SOLO-SCORE-3 example 5"),
        pytest.param(after("solo S failed", (0, 36, 34, 10)), (0, 36, 36, 16), id="SOLO-SCORE-5 example 5 out"),
        pytest.param(after("solo_do H made"), (18, 0, 0, 0), id="SOLO-SCORE-2 example 6"),
        pytest.param(after("solo_do_clubs C failed"), (0, 36, 36, 36), id="SOLO-SCORE-3 example 6"),
        pytest.param(after("froke C made through", (34, 0, 0, 0)), (36, 0, 8, 0), id="SOLO-SCORE-5 example 7"),
        pytest.param(after("froke H made alone"), (2, 0, 0, 0), id="SOLO-SCORE-3 example 8"),
        pytest.param(after("froke H made alone through"), (4, 0, 0, 0), id="SOLO-SCORE-2 example 8 through"),
        pytest.param(after("froke H failed alone"), (0, 2, 2, 2), id="SOLO-SCORE-3 example 8 failed"),
        pytest.param(after("froke H made alone do"), (6, 0, 0, 0), id="SOLO-SCORE-2 example 8 a do"),
        pytest.param(after("froke H failed alone do"), (0, 6, 6, 6), id="SOLO-SCORE-3 example 8 a failed do"),
        pytest.param(after("solo H failed", (36, 31, 32, 33)), None, id="SOLO-LAST-3 three defenders"),
        pytest.param(after("solo H failed", (36, 31, 32, 33), **LOWEST), (36, 31, 36, 36), id="SOLO-LAST-3 lowest"),
        pytest.param(after("solo H failed", (36, 31, 31, 33), **LOWEST), None, id="SOLO-LAST-3 two are lowest"),
        pytest.param(after("solo H failed", (36, 29, 32, 33)), (36, 35, 36, 36), id="SOLO-END-3 one remains"),
    ],
)
def test_the_examples_of_scoring(found: Totals | None, expected: Totals | None) -> None:
    assert found == expected


def test_SOLO_END_1_a_seat_with_36_is_out_and_stays_at_the_table() -> None:
    state, facts = acts_with_facts(dealt(EIGHTH, scores=(0, 32, 0, 10)), LOST_DO)
    assert dispatch.scores(state) == (0, 36, 0, 16)
    out = MarkChanged(Mark("went_out", 1, NumberValue(1)))
    assert out in facts
    assert ended(facts).notes[1] == phrases("defender out")
    again, facts = dispatch.apply(state, CardsShuffled(DECK))
    assert out in facts
    assert to_act(again) == 1


def test_SOLO_END_2_one_seat_that_is_not_out_ends_the_game_with_the_buck() -> None:
    state, facts = acts_with_facts(dealt(EIGHTH, scores=(36, 32, 36, 10)), LOST_DO)
    assert (dispatch.scores(state), over(state)[:2]) == ((36, 36, 36, 16), (((0, 1, 2), (3,)), "buck"))
    assert {rule_against(state, CardsShuffled(DECK, drawn)) for drawn in ((), (0,))} == {"SOLO-END-2"}
    assert Count("bucks", 3) in ended(facts).counts
    notes = ("declarer already_out", "defender out", "partner already_out", "defender buck")
    assert ended(facts).notes == tuple(map(phrases, notes))
    assert sum(isinstance(fact, RoundEnded) for fact in facts) == 1


@pytest.mark.parametrize(
    ("scores", "options", "expected"),
    [
        pytest.param((36, 32, 36, 30), {}, (36, 32, 36, 30), id="SOLO-END-3 SOLO-LAST-3 ending 2"),
        pytest.param((36, 32, 36, 30), {"double_out": "lowest"}, (36, 36, 36, 30), id="SOLO-LAST-3 ending 2 lowest"),
        pytest.param((36, 32, 36, 32), {}, (36, 32, 36, 32), id="SOLO-LAST-3 ending 3"),
        pytest.param((36, 32, 36, 32), {"double_out": "lowest"}, (36, 32, 36, 32), id="SOLO-LAST-3 ending 3 lowest"),
        pytest.param((20, 30, 34, 32), {}, (20, 36, 34, 36), id="SOLO-END-3 ending 4"),
    ],
)
def test_the_examples_of_the_end(scores: Totals, options: dict[str, Any], expected: Totals) -> None:
    state, facts = acts_with_facts(dealt(EIGHTH, scores=scores, **options), LOST_DO)
    assert dispatch.scores(state) == expected
    void = dispatch.scores(state) == scores
    assert details(facts).get("void") == (WordValue("yes") if void else None)
    assert (ended(facts).headline[-1] == phrase("void")) == void
    assert not void or (ended(facts).points, state.progress.went_out[1]) == (ZERO, 0)
    assert (state.phase == "over") == (expected.count(36) == 3)


@pytest.mark.parametrize(
    ("went_out", "ranking", "groups"),
    [
        ((2, 5, 2, 0), "buck_only", ((0, 1, 2), (3,))),
        ((2, 5, 2, 0), "out_order", ((0, 2), (1,), (3,))),
        ((7, 7, 0, 7), "out_order", ((0, 1, 3), (2,))),
        ((0, 9, 4, 6), "out_order", ((2,), (3,), (1,), (0,))),
    ],
)
def test_SOLO_END_4_rankings(went_out: Totals, ranking: str, groups: tuple[Totals, ...]) -> None:
    totals = tuple(36 if hand else 20 for hand in went_out)
    over = SoloState(table(ranking=ranking), Progress(totals=totals, went_out=went_out), phase="over")
    assert scoring.ranking(over) == groups


THROWN_IN: dict[str, Value] = {"outcome": WordValue("thrown_in"), "reason": WordValue("all_passed")}
MADE: dict[str, Value] = {
    "outcome": WordValue("made"),
    "reason": WordValue("all_tricks"),
    "declarer": SeatValue(0),
    "contract": WordValue("froke"),
    "partner": SeatValue(2),
    "called": CardsValue(cards("AC")),
    "trump": SuitValue(2),
    "kind": WordValue("dirty"),
    "pledge": WordValue("through"),
    "value": NumberValue(4),
    "tricks": PointsValue((5, 0, 3, 0)),
    "side_tricks": NumberValue(8),
}
PARTNERS = "hands_declared 0 hands_made 0 partner_hands_joined 2 partner_hands_made 2"
LOST_ALONE = "solos_declared 0 bucks 0"
SOLOS = "solos_declared 0 solos_made 0"
WON = f"{FROKE} {FIVE_OF_FIVE}"
WON_ALONE = f"solo pass pass pass trump:H {FIVE_OF_FIVE} {LAST_THREE}"
DETAILS = {"pass pass pass pass": THROWN_IN, f"{WON} {LAST_THREE}": MADE}
"""The details of lines."""


@pytest.mark.parametrize(
    ("line", "headline", "counts"),
    [
        ("pass pass pass pass", "thrown_in all_passed", ""),
        (f"{WON} throw_down", "froke trump:H made thrown_down", PARTNERS),
        (f"{WON} {LAST_THREE}", "froke trump:H through made all_tricks", PARTNERS),
        (f"{DO} {FIVE_OF_FIVE} {LAST_THREE}", "froke trump:H do made all_tricks", PARTNERS),
        (WON_ALONE, "solo trump:H made five_tricks", SOLOS),
        (LOST_SOLO, "solo_do_clubs failed trick_lost", LOST_ALONE),
        (LOST_SOLO.replace("do_clubs", "do"), "solo_do trump:C failed trick_lost", LOST_ALONE),
    ],
)
def test_the_score_sheet(line: str, headline: str, counts: str) -> None:
    _, facts = acts_with_facts(dealt(TWELFTH), line)
    assert ended(facts).headline == phrases(headline)
    assert " ".join(f"{name} {seat}" for name, seat, *_ in ended(facts).counts) == counts
    assert details(facts) == DETAILS.get(line, details(facts))


def test_SOLO_CALL_7_the_score_sheet_of_a_froke_that_is_played_alone() -> None:
    _, facts = acts_with_facts(dealt(TWELFTH, call="may"), f"{ALONE} {FIVE_ALONE} 8C KC AC 9S")
    assert ended(facts).headline == phrases("froke trump:H alone through failed trick_lost")
    assert ended(facts).notes == tuple(map(phrases, ("declarer", "defender", "defender", "defender")))
    assert ended(facts).counts == (Count("hands_declared", 0),)
    found = details(facts)
    assert "partner" not in found
    assert (found["called"], found["side_tricks"]) == (WordValue("nobody"), NumberValue(5))
