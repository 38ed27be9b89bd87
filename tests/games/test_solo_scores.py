"""The hidden partner of Solo in froke and iss, values, the end of a hand and of the game, and the score sheet."""

from typing import Any

import pytest

from croupier.games.cards import SUITS
from croupier.games.facts import (
    SPECTATOR,
    Contract,
    ContractChanged,
    Count,
    Fact,
    Mark,
    MarkChanged,
    RoundEnded,
    View,
    Viewer,
)
from croupier.games.interface import CardsShuffled, resolve_options
from croupier.games.solo import scoring
from croupier.games.solo.deck import DECK
from croupier.games.solo.state import Progress, SoloContract, SoloOptions, SoloState
from tests.games import dispatch
from tests.games.comparison import rule_against
from tests.games.fold import facts_for
from tests.games.positions import acts, acts_with_facts, details, ended, may, over, refusals, to_act
from tests.games.positions_solo import (
    DO,
    EIGHTH,
    ELEVENTH,
    FIVE_OF_FIVE,
    FROKE,
    LAST_THREE,
    SOLO,
    TWELFTH,
    VOID,
    dealt,
    exchanged,
)

PENALTY: dict[str, Any] = {"called_card_rule": "penalty"}
EXCHANGED = exchanged(EIGHTH, "AS JS")
"""The eighth hands, except that the holder of the called card can win a trick with the ace of spades."""
LEADING = "8H 9H TH 8C 7D 8D 9D JD | QC 7H KH 9C 7S 8S 9S TS | QS AH JH QH AC 7C TC AS | KC JC AD KD JS KS TD QD"
"""The holder of the called card leads to the fifth trick."""
FULL = "7H 8H 9H TH JH QH KH AH | AD AS QC 7C 8C 9C TC JC | QS KC AC 7D 8D 9D TD JD | QD KD 7S 8S 9S TS JS KS"
"""Seat 0 holds one suit and nothing else."""
THREE_TRICKS = "KH TH 8H 7S AH 7D 9H 8S QC 8D JH 7C"
FOUR_TRICKS = f"{THREE_TRICKS} 7H KC QS TC"
TO_FIFTH = "JD 9C JH KD AH QD 9H KH QS AD TH QC 7S AS KS 7D"
FOUR_LOST = "8H QC JH 7H AS 9S 7S 7D KS TS 8S 8D QD JS AD 9D"
"""With the eleventh hands: all four tricks to the defenders, and the called card is still hidden."""
KEPT = "9S KS JS 7S AS TS 8S"
ONE_LEFT = exchanged(EIGHTH, "9C 9D")
"""The eighth hands, except that the declarer has one card of the called suit."""


def playing(hands: str, line: str = "", **options: Any) -> SoloState:
    """Return the state after seat 0 has called the ace of clubs in a froke in hearts, and after this line."""
    return acts(dealt(hands, **options), f"{FROKE} {line}")


@pytest.mark.parametrize(
    ("hands", "line", "free", "with_penalty", "refused"),
    [
        pytest.param(EIGHTH, "8C KC", "AC", "AC 7C", "SOLO-CARD-1 7C QS", id="SOLO-EX-8 SOLO-CARD-1"),
        pytest.param(EXCHANGED, "9S KS AS 7S", "AC QS 9H TS JD QD", "7C", "SOLO-CARD-2 7C", id="SOLO-EX-8 SOLO-CARD-2"),
        pytest.param(VOID, f"{FOUR_TRICKS} TD KD", "AC", "QH JS TS", "SOLO-CARD-3 QH JS", id="SOLO-EX-9 SOLO-CARD-3"),
        pytest.param(VOID, f"{THREE_TRICKS} TD KD", "QH QS AC JS TS", "", "", id="SOLO-CARD-3 the fourth trick"),
        pytest.param(LEADING, TO_FIFTH, "AC", "7C TC QH", "SOLO-CARD-3 QH 7C", id="SOLO-CARD-3 on lead"),
        pytest.param(ONE_LEFT, KEPT, "9D TD 7H JH KH AH", "", "SOLO-CARD-5 8C", id="SOLO-EX-10 SOLO-CARD-5"),
        pytest.param(EIGHTH, KEPT, "TD 7H JH KH AH 8C 9C", "", "", id="SOLO-CARD-5 one of two cards"),
    ],
)
def test_duties(hands: str, line: str, free: str, with_penalty: str, refused: str) -> None:
    state = playing(hands, line)
    assert may(state) == set(free.split())
    rule, _, wrong = refused.partition(" ")
    assert refusals(state, wrong) == ({rule} if refused else set())
    assert may(playing(hands, line, **PENALTY)) == set(f"{free} {with_penalty}".split())


def test_SOLO_CARD_2_with_nothing_else_in_hand_its_holder_leads_the_called_card() -> None:
    line = "pass froke pass pass trump:C call:unknown"
    state = acts(dealt(FULL), line)
    assert (to_act(state), may(state)) == (0, {"AH"})
    assert refusals(state, "7H 8H 9H TH JH QH KH") == {"SOLO-CARD-2"}
    assert len(may(acts(dealt(FULL, **PENALTY), line))) == 8


def test_SOLO_CARD_4_in_whatever_way_it_is_played_the_called_card_shows_the_partner() -> None:
    others = (0, 1, 3, SPECTATOR)
    for hands, line in ((EIGHTH, "8C KC"), (EXCHANGED, "9S KS AS 7S"), (VOID, f"{THREE_TRICKS} TD KD")):
        state = playing(hands, line)
        assert [dispatch.view(state, viewer).contract.partner for viewer in others] == [None] * 4
        state, facts = acts_with_facts(state, "AC")
        assert all(ContractChanged(Contract(partner=2)) in facts_for(facts, viewer) for viewer in others)
        assert [dispatch.view(state, viewer).contract.partner for viewer in others] == [2] * 4


def test_SOLO_EX_11_SOLO_STOP_1_nothing_stops_a_hand_while_the_partner_is_hidden() -> None:
    state = playing(ELEVENTH, FOUR_LOST)
    assert (state.phase, to_act(state)) == ("play", 3)
    state, facts = acts_with_facts(state, "KC 8C 9C AC")
    assert (state.phase, details(facts)["reason"]) == ("deal", "four_tricks")
    assert dispatch.scores(state) == (0, 2, 0, 2)


def test_SOLO_VIS_2_only_the_holder_knows_that_they_are_the_partner() -> None:
    state, facts = acts_with_facts(dealt(EIGHTH), FROKE)
    changes = [fact for fact in facts if isinstance(fact, ContractChanged) and fact.changes.partner is not None]
    assert [(fact.changes.partner, fact.audience) for fact in changes] == [(2, 1 << 2)]
    viewers = (0, 1, 2, 3, SPECTATOR)
    assert [dispatch.view(state, viewer).contract.partner for viewer in viewers] == [None, None, 2, None, None]


def watched(hands: str, viewer: Viewer) -> list[tuple[list[Fact], View]]:
    """Return the viewer's facts and views, action by action until four tricks are lost."""
    state, found = playing(hands), []
    for text in FOUR_LOST.split():
        state, facts = acts_with_facts(state, text)
        found.append((list(facts_for(facts, viewer)), dispatch.view(state, viewer)))
    assert state.phase == "play"
    return found


@pytest.mark.parametrize("viewer", [0, 3, SPECTATOR])
def test_SOLO_VIS_4_all_is_the_same_whichever_seat_the_tricks_of_the_side_belong_to(viewer: Viewer) -> None:
    other_holder = exchanged(ELEVENTH, "9C AC")
    assert playing(other_holder).contract.partner == 1
    assert watched(ELEVENTH, viewer) == watched(other_holder, viewer)


LOST_DO = f"{DO} 9S KS JS 7S JC AC TC 8C"
"""With the eighth hands: seats 1 and 3 get the points of a failed dirty do, 6 each by default."""
ALONE = "solo_do_clubs pass pass pass trump:C 8C KC AC TH"
"""Seat 0 loses the first trick of a solo do with the twelfth hands."""
Totals = tuple[int, ...]


def table(**options: Any) -> SoloOptions:
    """Return a table with these options."""
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
    assert MarkChanged(Mark("went_out", 1, "1")) in facts
    assert ended(facts).notes[1] == "defender, +4, out"
    again, facts = dispatch.apply(state, CardsShuffled(DECK))
    assert MarkChanged(Mark("went_out", 1, "1")) in facts
    assert to_act(again) == 1


def test_SOLO_END_2_one_seat_that_is_not_out_ends_the_game_with_the_buck() -> None:
    state, facts = acts_with_facts(dealt(EIGHTH, scores=(36, 32, 36, 10)), LOST_DO)
    assert (dispatch.scores(state), over(state)[:2]) == ((36, 36, 36, 16), (((0, 1, 2), (3,)), "buck"))
    assert {rule_against(state, CardsShuffled(DECK, drawn)) for drawn in ((), (0,))} == {"SOLO-END-2"}
    assert Count("bucks", 3) in ended(facts).counts
    notes = ("declarer, already out", "defender, +4, out", "partner, already out", "defender, +6, the Buck")
    assert ended(facts).notes == notes
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
    assert details(facts)["void"] == str(void).lower()
    assert ended(facts).headline.endswith("but void as it would put out all who remain") == void
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


THROWN_IN = "outcome=thrown_in reason=all_passed void=false"
DECIDED = "outcome=made reason=all_tricks void=false declarer=0 contract=froke partner=2 called=AC trump=H kind=dirty "
MADE = DECIDED + "do=false through=true value=4 tricks=5,0,3,0 side_tricks=8"
PARTNERS = "hands_declared 0 hands_made 0 partner_hands_joined 2 partner_hands_made 2"
LOST_ALONE = "solos_declared 0 bucks 0"
SOLOS = "solos_declared 0 solos_made 0"
WON = f"{FROKE} {FIVE_OF_FIVE}"
WON_ALONE = f"solo pass pass pass trump:H {FIVE_OF_FIVE} {LAST_THREE}"
DETAILS = {"pass pass pass pass": THROWN_IN, f"{WON} {LAST_THREE}": MADE}
"""The details of lines, for programs."""


@pytest.mark.parametrize(
    ("line", "headline", "counts"),
    [
        ("pass pass pass pass", "thrown in, all passed", ""),
        (f"{WON} throw_down", "dirty froke in hearts, made with five out of five and thrown down", PARTNERS),
        (f"{WON} {LAST_THREE}", "dirty froke in hearts, gone through, made with all eight tricks", PARTNERS),
        (f"{DO} {FIVE_OF_FIVE} {LAST_THREE}", "dirty froke in hearts with a do, made with all eight tricks", PARTNERS),
        (WON_ALONE, "dirty solo in hearts, made with five tricks", SOLOS),
        (ALONE, "clean solo do in clubs, failed, a trick lost", LOST_ALONE),
        (ALONE.replace("do_clubs", "do"), "clean solo do in clubs, failed, a trick lost", LOST_ALONE),
    ],
)
def test_the_score_sheet(line: str, headline: str, counts: str) -> None:
    _, facts = acts_with_facts(dealt(TWELFTH), line)
    assert ended(facts).headline == headline
    assert " ".join(f"{name} {seat}" for name, seat, *_ in ended(facts).counts) == counts
    found_details = " ".join(f"{name}={value.replace(' ', ',')}" for name, value in ended(facts).details)
    assert found_details == DETAILS.get(line, found_details)
