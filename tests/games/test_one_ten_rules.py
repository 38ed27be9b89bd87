"""The rules of 110 by their ids from the options to the score, apart from the worked positions and the kitty."""

from random import Random
from typing import Any

import pytest

from croupier.engine.api.reactions import REACTIONS, check_reaction
from croupier.games.actions import Bid
from croupier.games.cards import NOTATION, SUITS, cards, notation
from croupier.games.facts import SPECTATOR, CardOrderChanged, Count, RoundScore, Seat, TrickTaken
from croupier.games.interface import CardsShuffled, InvalidOption, resolve_options
from croupier.games.one_ten.state import OneTenState
from croupier.games.one_ten.trumps import TRUMPS
from croupier.games.values import (
    CardsValue,
    NumberValue,
    Phrase,
    PointsValue,
    SeatValue,
    SuitValue,
    Value,
    WordValue,
    phrase,
)
from croupier.runtime.errors import MalformedRequest
from tests.games import dispatch
from tests.games.positions import (
    acts,
    acts_with_facts,
    details,
    due,
    ended,
    may,
    over,
    pile,
    ranking_text,
    refusal,
    refusals,
)
from tests.games.positions_one_ten import ONE_TEN, ROUND, ROUND_HANDS, dealt, new, position


@pytest.mark.parametrize("seats", range(2, 9))
@pytest.mark.parametrize("decks", [1, 2])
def test_110_OPT_1_110_D2_ten_cards_need_enough_cards(seats: int, decks: int) -> None:
    options: dict[str, Any] = {"hand_size": "10", "decks": decks}
    if 10 * seats + 5 <= 53 * decks:
        assert new(seats, **options).options.hand_size == 10
        return
    assert seats > 4
    assert decks == 1
    with pytest.raises(InvalidOption, match="with decks 1: expected decks 2") as refused:
        resolve_options(ONE_TEN, seats, options)
    assert refused.value.option == "hand_size"


@pytest.mark.parametrize(
    ("seats", "size", "stock"),
    [(2, 10, 28), (3, 10, 18), (4, 10, 8), (5, 5, 23), (6, 5, 18), (7, 5, 13), (8, 5, 8)],
)
def test_110_DEAL_2_110_D1_hand_sizes_and_the_stock(seats: int, size: int, stock: int) -> None:
    state = dealt("|" * (seats - 1))
    assert (state.options.hand_size, pile(state, "stock")) == (size, (stock, ""))
    for options, expected in (({"hand_size": "5"}, 5), ({"decks": 2}, 10), ({"decks": 2, "hand_size": "10"}, 10)):
        view = dispatch.view(dealt("|" * (seats - 1), **options), SPECTATOR)
        assert [seat.card_count for seat in view.seats] == [expected] * seats


def test_110_DEAL_3_110_D3_the_first_dealer_is_drawn_then_the_deal_passes_clockwise() -> None:
    state = new(3, hand_size="5")
    assert due(state).draw_bounds == (3,)
    for dealer, following in ((1, 2), (2, 0)):
        state = acts(position(ROUND_HANDS, dealer=dealer), ROUND)
        assert due(state)[1:] == ((), 2, 1)
        assert dispatch.apply(state, CardsShuffled(due(state).cards))[0].progress.dealer == following


def test_110_DEAL_1_110_DEAL_5_cards_go_singly_from_the_dealers_left_and_the_kitty_is_last() -> None:
    state = new(3, hand_size="5")
    deck = tuple(Random(1).sample(range(53), 53))
    assert list(dispatch.event_record(state, CardsShuffled(deck, (1,))).items()) == [
        ("type", "deal"),
        ("dealer", 1),
        ("hands", [notation(deck[place:15:3]) for place in (1, 2, 0)]),
        ("kitty", notation(deck[15:20])),
        ("stock", notation(deck[20:])),
    ]


def test_110_DEAL_4_110_DEAL_5_every_round_begins_with_a_shuffle_of_the_whole_pack_and_nothing_else() -> None:
    assert due(new(4, decks=2)).cards == tuple(sorted([*range(53)] * 2))
    for state in (new(3), acts(position(ROUND_HANDS), ROUND)):
        assert due(state).cards == tuple(range(53))
        assert refusal(state, "pass", 0) == "110-DEAL-5"


@pytest.mark.parametrize(
    ("ladder", "size", "top"),
    [("short", "10", 30), ("short", "5", 30), ("round_max", "10", 55), ("round_max", "5", 30), ("long", "5", 110)],
)
def test_110_BID_2_110_D4_110_D5_the_ladders(ladder: str, size: str, top: int) -> None:
    state = dealt("||", bid_ladder=ladder, hand_size=size)
    assert may(state) == {"pass", *map(str, range(15, top + 1, 5))}
    for wrong in (0, -15, 10, 14, 16, top + 5, "15", "solo"):
        assert refusal(state, Bid(wrong)) == "110-BID-2"


@pytest.mark.parametrize(("size", "keep", "top"), [("10", "ten", 55), ("10", "five", 30), ("5", "five", 30)])
def test_110_BID_2_110_TRICK_4_what_a_round_can_bring_depends_on_the_cards_kept(size: str, keep: str, top: int) -> None:
    state = dealt("||", bid_ladder="round_max", hand_size=size, keep=keep)
    assert may(state) == {"pass", *map(str, range(15, top + 1, 5))}
    kept = (top - 5) // 5
    (choice,) = dispatch.legal_actions(acts(state, f"1:{top} 0:pass"), 1).choices
    assert choice.cards
    assert (choice.cards.min_cards, choice.cards.max_cards) == (kept, kept)


@pytest.mark.parametrize(
    ("line", "seat", "text", "rule"),
    [
        pytest.param("", 2, "15", "110-BID-1", id="110-BID-1"),
        pytest.param("1:20", 2, "15", "110-BID-3", id="110-BID-3"),
        pytest.param("1:20", 2, "match", "110-BID-5", id="110-BID-5"),
        pytest.param("1:pass 2:pass", 0, "match", "110-BID-7", id="110-BID-7"),
    ],
)
def test_calls_that_are_refused(line: str, seat: Seat, text: str, rule: str) -> None:
    assert refusal(acts(dealt("||"), line), text, seat) == rule


TRUMP_ORDERS = {
    "C": "5C JC JK AH AC KC QC 2C 3C 4C 6C 7C 8C 9C TC",
    "D": "5D JD JK AH AD KD QD TD 9D 8D 7D 6D 4D 3D 2D",
    "H": "5H JH JK AH KH QH TH 9H 8H 7H 6H 4H 3H 2H",
    "S": "5S JS JK AH AS KS QS 2S 3S 4S 6S 7S 8S 9S TS",
}
PLAIN_ORDERS = {
    "C": "KC QC JC AC 2C 3C 4C 5C 6C 7C 8C 9C TC",
    "D": "KD QD JD TD 9D 8D 7D 6D 5D 4D 3D 2D AD",
    "H": "KH QH JH TH 9H 8H 7H 6H 5H 4H 3H 2H",
    "S": "KS QS JS AS 2S 3S 4S 5S 6S 7S 8S 9S TS",
}


@pytest.mark.parametrize("trump", SUITS)
def test_110_RANK_1_110_RANK_2_110_RANK_3_110_RANK_4_110_RANK_5_110_D15_the_orders_of_cards(trump: str) -> None:
    trumps = TRUMPS[SUITS.index(trump)]
    assert named(trumps.trumps) == {*TRUMP_ORDERS[trump].split()}
    for led, power in zip(SUITS, trumps.power, strict=False):
        in_order = [NOTATION[value] for value in sorted(range(53), key=lambda value: -power[value]) if power[value]]
        assert in_order == f"{TRUMP_ORDERS[trump]} {'' if led == trump else PLAIN_ORDERS[led]}".split()


def named(held: int) -> set[str]:
    return {NOTATION[value] for value in range(53) if held >> value & 1}


def test_110_TRICK_3_110_TRICK_4_110_TRICK_6_110_VIS_1_who_takes_a_trick_leads_until_all_cards_are_played() -> None:
    state = acts(position(ROUND_HANDS), ROUND.split(" 1:3S")[0])
    assert pile(state, "taken") == (3, "5S 2S 9D")
    assert [laid.seat for lying in dispatch.view(state, 1).piles for laid in lying.cards] == [0, 1, 2, 0]
    state, facts = acts_with_facts(position(ROUND_HANDS), " ".join(word[2:] for word in ROUND.split()))
    assert [fact.seat for fact in facts if isinstance(fact, TrickTaken)] == [0, 0, 0, 2, 2]
    assert (state.hands, state.phase) == ((0, 0, 0), "deal")
    assert [seat.tricks_taken for seat in dispatch.view(state, SPECTATOR).seats] == [3, 0, 2]


NO_TRUMP = (
    "JK AH KC QC JC AC 2C 3C 4C 5C 6C 7C 8C 9C TC KD QD JD TD 9D 8D 7D 6D 5D 4D 3D 2D AD "
    "KH QH JH TH 9H 8H 7H 6H 5H 4H 3H 2H KS QS JS AS 2S 3S 4S 5S 6S 7S 8S 9S TS"
)
HEARTS = " ".join((TRUMP_ORDERS["H"], PLAIN_ORDERS["C"], PLAIN_ORDERS["D"], PLAIN_ORDERS["S"]))


@pytest.mark.parametrize("timing", ["during", "after_trump"])
def test_110_TABLE_1_110_VIS_5_hands_are_sorted_by_what_the_seat_knows_of_the_trump(timing: str) -> None:
    state = acts(dealt("2C 3C 4C 5C 6C 7C 8C 9C TC JC ||", swap_timing=timing), "1:15 2:pass 0:match")
    assert {dispatch.view(state, viewer).card_order for viewer in (0, 1, SPECTATOR)} == {cards(NO_TRUMP)}
    state, facts = acts_with_facts(state, "0:keep:2C,3C,4C,5C,6C,7C,8C,9C,TC,JC/H")
    assert dispatch.view(state, 0).card_order == cards(HEARTS)
    expected = cards(HEARTS if timing == "after_trump" else NO_TRUMP)
    assert dispatch.view(state, 1).card_order == dispatch.view(state, SPECTATOR).card_order == expected
    trump = 2 if timing == "after_trump" else None
    assert [dispatch.view(state, viewer).contract.trump for viewer in (0, 1, SPECTATOR)] == [2, trump, trump]
    assert [fact.cards for fact in facts if isinstance(fact, CardOrderChanged)] == [cards(HEARTS)]
    state = acts(state, "1:swap 2:swap")
    assert {dispatch.view(state, viewer).card_order for viewer in (0, 1, 2, SPECTATOR)} == {cards(HEARTS)}


def test_110_TABLE_2_reactions_come_from_a_fixed_list_and_are_no_part_of_a_game() -> None:
    for reaction in REACTIONS:
        check_reaction(reaction)
    with pytest.raises(MalformedRequest):
        check_reaction(max(REACTIONS) + 1)


def test_110_TABLE_3_110_D22_rounds_count_bids_won_and_bids_made() -> None:
    for bid, counts in ((20, (Count("bids_won", 0), Count("bids_made", 0))), (25, (Count("bids_won", 0),))):
        _, facts = acts_with_facts(position(ROUND_HANDS, bid=bid), ROUND)
        assert ended(facts).counts == counts


OTHER_LEADER = "2:KH 0:2H 1:QH 2:KD 0:QD 1:TD 2:9D 0:5S 1:2S 0:JS 1:3S 2:2D 0:KC 1:4C 2:5C"
FIVE = {"line": "0:5S 1:2S 2:9D 0:QD 1:TD 2:KD 2:KH 0:2H 1:QH 2:5C 0:KC 1:4C 0:JS 1:3S 2:2D"}
PLAIN = {"line": "0:QD 1:TD 2:KD 2:KH 0:2H 1:QH 2:5C 0:KC 1:4C 0:5S 1:2S 2:9D 0:JS 1:3S 2:2D"}
SCORE: dict[str, Any] = {"bonus_forfeit": "score"}
ANY_SEAT: dict[str, Any] = {"bonus_forfeit": "any_seat_85"}
SILENT: dict[str, Any] = {"bonus_counts_for_bid": False}
LONG: dict[str, Any] = {"bid_ladder": "long"}
LOST: dict[str, Any] = {"failed_bonus": "lost"}


def played(
    bid: int, before: tuple[int, ...] = (0, 0, 0), bidder: Seat = 0, line: str = ROUND, **options: Any
) -> tuple[OneTenState, RoundScore]:
    """Return the round of the examples, with its end."""
    start = position(ROUND_HANDS, bidder=bidder, bid=bid, scores=before, **options)
    state, facts = acts_with_facts(start, line)
    return state, ended(facts)


SPADES = phrase("trump", trump=SuitValue(SUITS.index("S")))


def details_of(score: RoundScore) -> dict[str, Value | None]:
    return {detail.name: detail.value for detail in score.details}


def bidding(amount: int) -> Phrase:
    return phrase("bid", bid=NumberValue(amount))


def tricks(count: int) -> Phrase:
    return phrase("tricks", tricks=NumberValue(count))


def test_110_EX_45_110_SCORE_2_110_D18_with_seat_2_as_the_bid_winner_the_bonus_goes_elsewhere() -> None:
    state, round_ended = played(15, bidder=2, line=OTHER_LEADER)
    assert round_ended.points == dispatch.scores(state) == (20, 0, -15)
    assert round_ended.notes == (
        (tricks(3), phrase("top_trump")),
        (tricks(0),),
        (bidding(15), phrase("failed"), tricks(2)),
    )


@pytest.mark.parametrize(
    ("before", "options", "points"),
    [
        pytest.param((85, 0, 0), ANY_SEAT, (15, 0, -15), id="110-EX-53 110-SCORE-3 110-D25"),
        pytest.param((85, 0, 0), {}, (20, 0, -15), id="110-EX-53 bid"),
        pytest.param((85, 0, 0), SCORE, (20, 0, -15), id="110-EX-53 score"),
        pytest.param((84, 0, 85), ANY_SEAT, (20, 0, -15), id="110-SCORE-3 the seat of the highest trump has 84"),
    ],
)
def test_any_seat_forfeits_the_bonus(before: tuple[int, ...], options: dict[str, Any], points: tuple[int, ...]) -> None:
    _, score = played(15, before, bidder=2, line=OTHER_LEADER, **options)
    assert score.points == points
    is_forfeit = points[0] == 15
    assert details_of(score).get("bonus") == (None if is_forfeit else SeatValue(0))


TOPS = [
    pytest.param("KD 9D | 2D 3D", "KD 2D 9D 3D", (), id="110-D18 no trump was played"),
    pytest.param(
        "KD TS | 2D 3D",
        "KD 2D TS 3D",
        (NumberValue(2), SeatValue(0), CardsValue(cards("TS"))),
        id="110-SCORE-2 the lowest trump",
    ),
    pytest.param(
        "9D 5S | 5S 3D",
        "9D 5S 3D 5S",
        (NumberValue(1), SeatValue(1), CardsValue(cards("5S"))),
        id="110-SCORE-2 the earlier of two",
    ),
]


@pytest.mark.parametrize(("hands", "line", "top"), TOPS)
def test_the_highest_trump_of_a_round(hands: str, line: str, top: tuple[Value, ...]) -> None:
    _, facts = acts_with_facts(position(hands, decks=2), line)
    found = details(facts)
    names = [f"top_trump_{name}" for name in ("trick", "seat", "card")]
    assert tuple(found[name] for name in names if name in found) == top


def test_110_SCORE_6_the_round_summary() -> None:
    _, made = played(20, (5, 10, 15), dealer=1)
    assert list(details_of(made).items()) == [
        ("dealer", SeatValue(1)),
        ("bid_winner", SeatValue(0)),
        ("bid", NumberValue(20)),
        ("trump", SuitValue(SUITS.index("S"))),
        ("tricks", PointsValue((3, 0, 2))),
        ("result", WordValue("made")),
        ("top_trump_trick", NumberValue(1)),
        ("top_trump_seat", SeatValue(0)),
        ("top_trump_card", CardsValue(cards("5S"))),
        ("bonus", SeatValue(0)),
    ]
    assert (made.points, made.totals) == ((20, 0, 10), (25, 10, 25))
    assert made.headline == (bidding(20), SPADES, phrase("made"))
    assert made.notes == (
        (bidding(20), phrase("made"), tricks(3), phrase("top_trump")),
        (tricks(0),),
        (tricks(2),),
    )


@pytest.mark.parametrize(
    ("options", "bonus", "note"), [({}, SeatValue(0), "top_trump"), (LOST, None, "top_trump_without_bonus")]
)
def test_110_SCORE_6_the_summary_of_a_failed_bid(options: dict[str, Any], bonus: Value | None, note: str) -> None:
    _, failed = played(25, **options)
    assert details_of(failed).get("bonus") == bonus
    assert failed.notes[0] == (bidding(25), phrase("failed"), tricks(3), phrase(note))
    assert failed.headline == (bidding(25), SPADES, phrase("failed"))


SCORED = {"max_rounds": 1}


@pytest.mark.parametrize(
    ("before", "bid", "options", "after", "end"),
    [
        pytest.param((0, 0, 0), 15, {}, (20, 0, 10), "", id="110-EX-36 110-SCORE-1 110-SCORE-4"),
        pytest.param((0, 0, 0), 20, {}, (20, 0, 10), "", id="110-EX-37 110-D16"),
        pytest.param((0, 0, 0), 25, {}, (-20, 0, 10), "", id="110-EX-38 110-EX-50 110-SCORE-5 110-D18"),
        pytest.param((0, 0, 0), 25, LOST, (-25, 0, 10), "", id="110-EX-50 lost"),
        pytest.param((0, 0, 0), 20, SILENT, (-15, 0, 10), "", id="110-EX-39"),
        pytest.param((0, 0, 0), 20, LOST | SILENT, (-20, 0, 10), "", id="110-EX-39 lost"),
        pytest.param((0, 0, 0), 15, SILENT, (20, 0, 10), "", id="110-EX-40"),
        pytest.param((85, 0, 0), 15, {}, (105, 0, 10), "", id="110-EX-41 110-SCORE-3 110-D17"),
        pytest.param((84, 0, 0), 15, SCORE, (104, 0, 10), "", id="110-SCORE-3 84"),
        pytest.param((85, 0, 0), 15, SCORE, (100, 0, 10), "", id="110-EX-42"),
        pytest.param((0, 0, 90), 15, SCORE, (20, 0, 100), "", id="110-SCORE-3 others"),
        pytest.param((85, 0, 0), 15, ANY_SEAT, (100, 0, 10), "", id="110-SCORE-3 any seat is also the bid winner"),
        pytest.param((0, 0, 90), 15, ANY_SEAT, (20, 0, 100), "", id="110-SCORE-3 any seat that played it"),
        pytest.param((85, 0, 0), 20, SCORE, (65, 0, 10), "", id="110-EX-43"),
        pytest.param((0, 0, 0), 85, LONG, (-85, 0, 10), "", id="110-EX-44"),
        pytest.param((0, 0, 0), 80, LONG, (-75, 0, 10), "", id="110-EX-44 80"),
        pytest.param((95, 0, 105), 15, {}, (115, 0, 115), "0 > 2 > 1 target", id="110-EX-46 110-D19"),
        pytest.param((95, 0, 105), 15, PLAIN, (115, 0, 115), "2 > 0 > 1 target", id="110-EX-47"),
        pytest.param((90, 0, 105), 15, FIVE, (110, 0, 115), "2 > 0 > 1 target", id="110-END-2 from the scores before"),
        pytest.param((90, 0, 105), 15, ANY_SEAT, (105, 0, 115), "2 > 0 > 1 target", id="110-END-2 a forfeited bonus"),
        pytest.param((95, 0, 105), 25, {}, (75, 0, 115), "2 > 0 > 1 target", id="110-EX-48"),
        pytest.param((95, 0, 105), 25, LOST, (70, 0, 115), "2 > 0 > 1 target", id="110-EX-48 lost"),
        pytest.param((95, 20, 10), 15, {}, (115, 20, 20), "0 > 1 = 2 target", id="110-EX-49 110-END-3"),
        pytest.param((105, 0, 0), 15, {}, (125, 0, 10), "0 > 2 > 1 target", id="110-END-1 110-D20"),
        pytest.param((89, 0, 99), 15, {}, (109, 0, 109), "", id="110-END-1 nobody has 110"),
        pytest.param((0, 0, 0), 15, SCORED, (20, 0, 10), "0 > 2 > 1 max_rounds", id="110-END-4 110-D21"),
        pytest.param((30, 0, 0), 25, SCORED, (10, 0, 10), "0 = 2 > 1 max_rounds", id="110-END-4 a tie"),
        pytest.param((0, 0, 0), 15, {"max_rounds": 2}, (20, 0, 10), "", id="110-END-4 a round is left"),
        pytest.param((95, 0, 105), 15, SCORED, (115, 0, 115), "0 > 2 > 1 target", id="110-END-4 110 comes first"),
    ],
)
def test_the_scores_after_a_round_and_the_end_of_a_game(
    before: tuple[int, ...], bid: int, options: dict[str, Any], after: tuple[int, ...], end: str
) -> None:
    state, score = played(bid, before, **options)
    assert dispatch.scores(state) == score.totals == after
    assert score.points == tuple(new - old for new, old in zip(after, before, strict=True))
    assert state.phase == ("over" if end else "deal")
    if end:
        assert f"{ranking_text(over(state).ranking)} {over(state).reason}" == end
        assert {rule for seat in range(4) for rule in refusals(state, "pass 2C", seat)} == {"110-END-1"}
