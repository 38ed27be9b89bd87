"""The worked positions of 110, and more of their kind; the kitty and the swaps, and their visibility."""

from typing import Any

import pytest

from croupier.conformance.fold import facts_for
from croupier.games.actions import UNCHOSEN, Action, KeepCards, StandPat, SwapCards
from croupier.games.cards import NOTATION, cards, notation
from croupier.games.choices import ActionChoice, CardChoice
from croupier.games.facts import SPECTATOR, CardsMoved, Mark, MarkChanged, MoveReason, OwnedPile, Seat, only
from croupier.games.interface import CardsShuffled, Legal
from croupier.games.one_ten.state import OneTenState
from croupier.games.values import CardsValue
from tests.games import dispatch
from tests.games.comparison import rule_against
from tests.games.positions import acts, acts_with_facts, due, first_legal, hand, may, pile, refusal, to_act
from tests.games.positions_one_ten import dealt, position

HOLDS = {"dealer_match": "holds"}


def following(trump: str, trick: str, held: str, **options: Any) -> OneTenState:
    """Seat 0 is to play to a trick that seat 1 has led."""
    played = list(enumerate(trick.split(), start=1))
    return position(
        held + "|" * max(len(played), 1),
        trump,
        bidder=bool(played),
        trick=played,
        to_act=0,
        decks=2,
        **options,
    )


@pytest.mark.parametrize(
    ("trump", "trick", "held", "free", "free_if_trump_led"),
    [
        pytest.param("S", "7D", "2D KD 3S KC", "2D KD 3S", "", id="110-EX-1 110-PLAY-3"),
        pytest.param("S", "7D", "3S KC 4C", "3S KC 4C", "", id="110-EX-2"),
        pytest.param("S", "KH", "AH QC 4S", "AH QC 4S", "", id="110-EX-3"),
        pytest.param("S", "KH", "AH QC 2H", "AH 2H", "", id="110-EX-4 110-D12"),
        pytest.param("H", "KD", "AH QC 2D", "AH 2D", "", id="110-EX-5"),
        pytest.param("S", "7S", "2S JS KC", "2S JS", "", id="110-EX-6 110-PLAY-4"),
        pytest.param("S", "7S", "JS KC 2D", "JS KC 2D", "", id="110-EX-7 110-REN-2 110-D11 110-PLAY-5"),
        pytest.param("S", "7S", "5S JK AH KC", "5S JK AH KC", "", id="110-EX-8"),
        pytest.param("S", "AH", "2S KH KC", "2S", "", id="110-EX-9 110-TRICK-2"),
        pytest.param("S", "JK", "KH KC", "KH KC", "", id="110-EX-10"),
        pytest.param("S", "JK", "JS AH KC", "AH", "AH JS", id="110-EX-11 110-PLAY-6 110-REN-1"),
        pytest.param("S", "5S", "JS JK 2S KC", "JS JK", "JS JK 2S", id="110-EX-12 110-D14"),
        pytest.param("S", "JS", "5S KC", "5S KC", "", id="110-EX-13 110-REN-4"),
        pytest.param("S", "7C 5S", "JS KC 2D", "JS", "JS KC", id="110-EX-14 110-REN-3 110-D13 110-PLAY-2"),
        pytest.param("S", "7C JK", "AH 2C 3S", "AH", "AH 2C 3S", id="110-EX-15"),
        pytest.param("S", "7C JK", "JS 2C KD", "JS 2C", "", id="110-EX-16"),
        pytest.param("S", "JS", "JS KC", "JS KC", "", id="110-REN-5 an equal card forces nothing out"),
        pytest.param("S", "", "5S 2D KH JK", "5S 2D KH JK", "", id="110-PLAY-1 the leader plays any card"),
    ],
)
def test_following_and_reneging(trump: str, trick: str, held: str, free: str, free_if_trump_led: str) -> None:
    for force_out, expected in (("any_trick", free), ("trump_led", free_if_trump_led or free)):
        state = following(trump, trick, held, force_out=force_out)
        assert may(state) == set(expected.split())
        assert {word for word in held.split() if not refusal(state, word)} == set(expected.split())


LED: dict[str, Any] = {"forced_out_by": "led"}
TRUMP_LED: dict[str, Any] = {"force_out": "trump_led"}


@pytest.mark.parametrize(
    ("trick", "held", "by_any", "by_any_if_trump_led", "by_led", "by_led_if_trump_led"),
    [
        pytest.param("7S 5S", "JS KC", "JS", "JS", "JS KC", "JS KC", id="110-EX-54 110-REN-6 110-D24"),
        pytest.param("7C 5S", "JS KC 2D", "JS", "JS KC", "JS KC", "JS KC", id="110-EX-55"),
        pytest.param("5S", "JS 2S KC", "JS", "JS 2S", "JS", "JS 2S", id="110-EX-56"),
        pytest.param("JK 5S", "JS AH KC", "JS AH", "JS AH", "AH", "JS AH", id="110-EX-57"),
        pytest.param("7S JK", "AH KC", "AH", "AH", "AH KC", "AH KC", id="110-REN-6 an ace that may wait"),
    ],
)
def test_the_cards_that_can_force_others_out(
    trick: str, held: str, by_any: str, by_any_if_trump_led: str, by_led: str, by_led_if_trump_led: str
) -> None:
    combinations: list[tuple[dict[str, Any], str]] = [
        ({}, by_any),
        (TRUMP_LED, by_any_if_trump_led),
        (LED, by_led),
        (LED | TRUMP_LED, by_led_if_trump_led),
    ]
    for options, expected in combinations:
        state = following("S", trick, held, **options)
        assert may(state) == set(expected.split())
        assert {word for word in held.split() if not refusal(state, word)} == set(expected.split())


@pytest.mark.parametrize(
    ("trick", "held", "options", "rule"),
    [
        pytest.param("7S 5S", "JS 2S KC", LED, "110-PLAY-4", id="110-REN-6 110-PLAY-4"),
        pytest.param("JK 5S", "AH KC", LED, "110-PLAY-2", id="110-REN-6 110-PLAY-2"),
        pytest.param("JK 5S", "AH KC", LED | TRUMP_LED, "110-PLAY-6", id="110-REN-6 110-PLAY-6"),
    ],
)
def test_cards_that_are_refused_where_the_led_card_forces_out(
    trick: str, held: str, options: dict[str, Any], rule: str
) -> None:
    assert refusal(following("S", trick, held, **options), "KC") == rule


@pytest.mark.parametrize(
    ("trick", "held", "text", "force_out", "rule"),
    [
        pytest.param("7C JS", "5S AH 2S KC", "5S", "any_trick", "110-PLAY-2", id="110-PLAY-2 a higher trump"),
        pytest.param("7D", "2D 3S KC", "KC", "any_trick", "110-PLAY-3", id="110-PLAY-3"),
        pytest.param("7S", "2S JS KC", "KC", "any_trick", "110-PLAY-4", id="110-PLAY-4"),
        pytest.param("JS", "AH 5S KC", "KC", "trump_led", "110-PLAY-6", id="110-PLAY-6"),
        pytest.param("7S", "2S JS KC", "3D", "any_trick", "110-PLAY-1", id="110-PLAY-1"),
        pytest.param("7S", "2S JS KC", "2S/S", "any_trick", "110-TRICK-3", id="110-TRICK-3 a suit beside the card"),
    ],
)
def test_cards_that_are_refused(trick: str, held: str, text: str, force_out: str, rule: str) -> None:
    state = following("S", trick, held, force_out=force_out)
    assert (refusal(state, text, 0), refusal(state, held[:2], 1)) == (rule, "110-TRICK-3")


@pytest.mark.parametrize(
    ("trump", "played", "winner"),
    [
        pytest.param("S", "TC 2C AC", 2, id="110-EX-17"),
        pytest.param("S", "AD 2D KC", 1, id="110-EX-18"),
        pytest.param("S", "KH AH 2S", 1, id="110-EX-19 110-TRICK-5"),
        pytest.param("S", "KC TS 9S", 2, id="110-EX-20"),
        pytest.param("D", "KC TD 9D", 1, id="110-EX-21"),
        pytest.param("D", "AD AH JK 5D JD", 3, id="110-EX-22"),
        pytest.param("S", "5S 5S 2S", 0, id="110-RANK-6"),
    ],
)
def test_trick_winners(trump: str, played: str, winner: Seat) -> None:
    hands = " | ".join(f"{text} 3H" for text in played.split())
    state = acts(position(hands, trump, decks=2), played)
    assert (state.winners, to_act(state)) == ((winner,), winner)


@pytest.mark.parametrize(
    ("seats", "line", "options", "speaker", "free"),
    [
        pytest.param(3, "", {}, 1, "pass 15 20 25 30", id="110-EX-23 110-BID-1 110-D4"),
        pytest.param(3, "1:15 2:pass", {}, 0, "pass match 20 25 30", id="110-EX-24 110-BID-3 110-BID-5"),
        pytest.param(3, "1:15 2:pass 0:20 1:25", {}, 0, "pass match 30", id="110-EX-25 110-BID-4 110-D6"),
        pytest.param(3, "1:15 2:20 0:match", HOLDS, 1, "pass 25 30", id="110-EX-26 110-BID-6"),
        pytest.param(3, "1:15 2:20 0:match 1:25 2:pass", HOLDS, 0, "pass match 30", id="110-BID-6 110-D7 holds"),
        pytest.param(4, "1:30", {}, 0, "pass match", id="110-EX-27 110-BID-9"),
        pytest.param(3, "1:pass 2:pass", {}, 0, "15 20 25 30", id="110-EX-29 110-BID-7 110-D8"),
    ],
)
def test_the_bidding_goes_on(seats: int, line: str, options: dict[str, Any], speaker: Seat, free: str) -> None:
    state = acts(dealt("|" * (seats - 1), **options), line)
    assert (state.phase, state.to_act, may(state)) == ("bidding", (speaker,), set(free.split()))


@pytest.mark.parametrize(
    ("seats", "line", "options", "winner", "bid"),
    [
        pytest.param(3, "1:15 2:20 0:match", {}, 0, 20, id="110-EX-26"),
        pytest.param(4, "1:15 2:pass 3:20 0:pass 1:30", {}, 1, 30, id="110-EX-28 110-BID-9"),
        pytest.param(3, "1:15 2:pass 0:pass", {}, 1, 15, id="110-EX-30 110-BID-8"),
        pytest.param(3, "1:15 2:20 0:match 1:25 2:pass 0:match 1:pass", HOLDS, 0, 25, id="110-BID-6 held to the end"),
    ],
)
def test_the_bidding_is_over(seats: int, line: str, options: dict[str, Any], winner: Seat, bid: int) -> None:
    state = acts(dealt("|" * (seats - 1), **options), line)
    assert (state.phase, state.auction.bidder, state.auction.amount) == ("kitty", winner, bid)


def test_110_EX_31_110_SWAP_4_new_cards_come_clockwise_from_the_bid_winner_and_not_in_the_order_of_acting() -> None:
    kept = "4C 6C 7C 8C 9C TC QC KC AC 2D"
    state = dealt(f"2C 3C | {kept} | 3D 4D 5D", stock="5H 6H 7H 8H 9H")
    state = acts(state, f"1:15 2:pass 0:pass 0:swap:2C,3C 1:keep:{kept.replace(' ', ',')}/C")
    state, facts = acts_with_facts(state, "2:swap:3D,4D,5D")
    drawn = [fact for fact in facts if isinstance(fact, CardsMoved) and fact.source == "stock" and fact.cards]
    assert [(move.target, move.cards, move.reason) for move in drawn] == [
        (2, cards("5H 6H 7H"), MoveReason.DRAW),
        (0, cards("8H 9H"), MoveReason.DRAW),
    ]
    assert (hand(state, 0) >= {"8H", "9H"}, to_act(state)) == (True, 1)


FOUR = "2C 3C 4C 5C 6C 7C 8C 9C TC JC | 2D 3D 4D | 5D 6D 7D | 8D 9D TD"
PUT_AWAY = "KH QH JH TH 9H"


def four(second: str = "5D,6D,7D", kept: str = "2C,3C,4C,5C,6C,7C,8C,9C,TC,JC", **options: Any) -> OneTenState:
    """Return four seats, of which seat 0 has put the kitty away and three have swapped, seat 2 these cards."""
    state = dealt(FOUR, PUT_AWAY, "2S 3S 4S 5S 6S 7S 8S 9S", dealer=3, **options)
    state = acts(state, f"15 pass pass pass 1:swap:2D,3D,4D 3:swap:8D,9D,TD 0:keep:{kept}/S")
    return acts(state, f"2:swap:{second}")


def test_110_EX_32_110_SWAP_6_110_VIS_2_the_put_away_cards_are_shuffled_below_a_stock_that_is_too_short() -> None:
    state = four()
    assert (state.phase, due(state)) == ("reshuffle", (tuple(sorted(cards(PUT_AWAY))), (), 1, 2))
    assert {refusal(state, "swap", seat) for seat in range(4)} == {"110-SWAP-6"}
    event = CardsShuffled(cards("JH KH QH TH 9H"))
    assert dispatch.event_record(state, event) == {"type": "reshuffle", "stock": ["JH", "KH", "QH", "TH", "9H"]}
    state, facts = dispatch.apply(state, event)
    moves = [fact for fact in facts if isinstance(fact, CardsMoved)]
    drawn = [move.cards for move in moves if move.source == "stock" and move.cards]
    assert drawn == [cards("2S 3S 4S"), cards("5S 6S 7S"), tuple(sorted(cards("8S 9S JH")))]
    recycled = [move for move in moves if move.reason is MoveReason.RECYCLE]
    assert [(move.source, move.target, bool(move.cards), move.audience) for move in recycled] == [
        ("put_away", None, True, 1 << 0),
        (None, "stock", False, 1 << 0),
        ("put_away", "stock", False, ~(1 << 0)),
    ]
    assert (pile(state, "stock", 0), pile(state, "put_away", 0)) == ((4, ""), None)
    mark = Mark("put_away", 0, CardsValue(cards("9H TH JH QH KH")))
    assert [fact for fact in facts if isinstance(fact, MarkChanged)] == [MarkChanged(mark, only(0))]
    assert [dispatch.view(state, viewer).marks for viewer in (0, 1, 2, 3, SPECTATOR)] == [(mark,), (), (), (), ()]
    state = first_legal(state)
    assert dispatch.view(dispatch.apply(state, CardsShuffled(due(state).cards))[0], 0).marks == ()


def test_110_EX_33_no_reshuffle_when_the_stock_just_suffices() -> None:
    state = four("5D,6D")
    assert (state.phase, pile(state, "stock")) == ("tricks", None)
    assert rule_against(state, CardsShuffled(cards(PUT_AWAY))) == "110-DEAL-1"


@pytest.mark.parametrize(("seats", "limit"), [(2, 3), (3, 3), (4, 3), (5, 3), (6, 3), (7, 2), (8, 1)])
def test_110_EX_34_110_SWAP_2_the_limit_depends_on_the_seats_alone(seats: int, limit: int) -> None:
    four_cards = ["2C", "3C", "4C", "6C"]
    for options in ({}, {"decks": 2}, {"hand_size": "5"}):
        state = acts(dealt(" ".join(four_cards) + "|" * (seats - 1), **options), "1:30 0:pass")
        cards = dispatch.view(state, 0).seats[0].cards
        choice = ActionChoice(SwapCards(()), CardChoice(cards, 1, limit))
        assert dispatch.legal_actions(state, 0) == Legal((StandPat(),), (choice,))
        assert refusal(state, f"swap:{','.join(four_cards[:limit])}", 0) == ""
        assert refusal(state, f"swap:{','.join(four_cards[: limit + 1])}", 0) == "110-SWAP-2"


def test_110_EX_35_the_kitty_alone_is_a_legal_hand() -> None:
    state = acts(dealt("|" * 5, "KC QC JC AC 2C"), "1:30 0:pass")
    (choice,) = dispatch.legal_actions(state, 1).choices
    assert choice.cards
    assert len(choice.cards.cards) == 10
    assert choice == ActionChoice(KeepCards((), UNCHOSEN), CardChoice(choice.cards.cards, 5, 5), (0, 1, 2, 3))
    assert hand(acts(state, "1:keep:KC,QC,JC,AC,2C/D"), 1) == {"KC", "QC", "JC", "AC", "2C"}


FIVE: dict[str, Any] = {"keep": "five"}
TEN = "5S JS 2C 3C 4C 6C 7C 8C 9C TC"
KEPT = "5S,JS,JK,KS,QS"


def five(line: str = "", **options: Any) -> OneTenState:
    """Return three seats with ten cards, after seat 1 has won the bidding with 30 and this line."""
    state = dealt(f"| {TEN} |", "JK KS QS KC QC", **FIVE, **options)
    return acts(state, f"1:30 0:pass {line}")


def counts(state: OneTenState, viewer: int) -> list[int]:
    return [seat.card_count for seat in dispatch.view(state, viewer).seats]


def test_110_EX_51_110_KEEP_4_110_D23_the_bid_winner_keeps_five_of_fifteen() -> None:
    state = five()
    (choice,) = dispatch.legal_actions(state, 1).choices
    held = tuple(sorted(cards(f"{TEN} JK KS QS KC QC")))
    assert choice == ActionChoice(KeepCards((), UNCHOSEN), CardChoice(held, 5, 5), (0, 1, 2, 3))
    for wrong in (TEN.replace(" ", ","), f"{KEPT},KC", "5S,JS,JK,KS"):
        assert refusal(state, f"keep:{wrong}/S", 1) == "110-KEEP-2"
    state = acts(state, f"1:keep:{KEPT}/S")
    assert (hand(state, 1), pile(state, "put_away", 1)) == (
        set(KEPT.split(",")),
        (10, "2C 3C 4C 6C 7C 8C 9C TC QC KC"),
    )
    assert counts(state, 1) == [10, 5, 10]
    for viewer in (0, 2, SPECTATOR):
        assert (counts(state, viewer), pile(state, "put_away", viewer)) == ([10, 10, 10], None)
    state, facts = acts_with_facts(acts(state, "0:swap"), "2:swap")
    moves = [fact for fact in facts_for(facts, SPECTATOR) if isinstance(fact, CardsMoved)]
    hidden = [(move.source, move.target, move.cards, move.card_count) for move in moves]
    assert hidden == [("kitty", "put_away", (), 5), (1, "put_away", (), 5)]
    for viewer in (0, 1, 2, SPECTATOR):
        assert (counts(state, viewer), pile(state, "kitty", viewer)) == ([10, 5, 10], None)
    assert (pile(state, "put_away"), to_act(state)) == ((10, ""), 1)


def test_110_EX_51_110_TRICK_4_110_END_1_110_VIS_7_cards_left_over_stay_with_their_seats() -> None:
    state = acts(five(f"1:keep:{KEPT}/S"), "0:swap 2:swap")
    before = [hand(state, seat) for seat in range(3)]
    state = first_legal(state)
    played = {NOTATION[card] for card, _ in state.taken}
    assert (len(state.taken), len(state.winners), state.phase) == (15, 5, "deal")
    assert dispatch.scores(state) == (0, 30, 0)
    for viewer in (0, 1, 2, SPECTATOR):
        seats = dispatch.view(state, viewer).seats
        assert counts(state, viewer) == [5, 0, 5]
        for seat in (0, 2):
            assert set(notation(seats[seat].cards)) == (before[seat] - played if seat == viewer else set())
    assert due(state).cards == tuple(range(53))
    state = dispatch.apply(state, CardsShuffled(due(state).cards))[0]
    assert counts(state, SPECTATOR) == [10, 10, 10]


def test_110_EX_51_110_SWAP_6_all_ten_cards_put_away_are_shuffled_below_a_stock_that_is_too_short() -> None:
    state = four(kept="2C,3C,4C,5C,6C", **FIVE)
    away = "7C 8C 9C TC JC 9H TH JH QH KH"
    assert (state.phase, due(state)) == ("reshuffle", (cards(away), (), 1, 2))
    assert counts(state, 1) == [10, 7, 10, 10]
    state, facts = dispatch.apply(state, CardsShuffled(cards("JH KH QH 7C TH 9H 8C 9C TC JC")))
    drawn = [fact.cards for fact in facts if isinstance(fact, CardsMoved) and fact.source == "stock" and fact.cards]
    assert drawn == [cards("2S 3S 4S"), cards("5S 6S 7S"), tuple(sorted(cards("8S 9S JH")))]
    assert (pile(state, "stock", 0), pile(state, "put_away", 0)) == ((9, ""), None)
    recycled = [fact for fact in facts if isinstance(fact, CardsMoved) and fact.reason is MoveReason.RECYCLE]
    assert [move.card_count for move in recycled] == [10, 10, 10]
    assert dispatch.view(state, 0).marks == (Mark("put_away", 0, CardsValue(cards(away))),)
    assert counts(state, SPECTATOR) == [5, 10, 10, 10]


HANDS = "2C 3C 4C 6C 7C | 2D 3D 4D 6D 7D | 2H 3H 4H 6H 7H"
OWN, KITTY = "2D 3D 4D 6D 7D", "KC KD KH KS JK"
KEEPS, TAKES = "1:keep:2D,3D,4D,6D,7D/D", "1:keep:KC,KD,KH,KS,JK/S"
LATE = {"swap_timing": "after_trump"}


def kitty(line: str = "", **options: Any) -> OneTenState:
    """Return three seats with five cards, after seat 1 has won the bidding with 15 and this line."""
    state = dealt(HANDS, KITTY, "5C 5D 5H 5S JC JD", hand_size="5", **options)
    return acts(state, f"1:15 2:pass 0:pass {line}")


def test_110_KEEP_1_only_the_bid_winner_takes_up_the_kitty() -> None:
    before = acts(dealt(HANDS, KITTY, hand_size="5"), "1:15 2:pass")
    state, facts = acts_with_facts(before, "0:pass")
    moves = [fact for fact in facts if isinstance(fact, CardsMoved)]
    assert moves == [CardsMoved("kitty", 1, tuple(sorted(cards(KITTY))), 5, MoveReason.PICK_UP, 1 << 1)]
    assert (hand(state, 1), pile(state, "kitty", 1)) == ({*OWN.split(), *KITTY.split()}, None)
    for viewer in (0, 2, SPECTATOR):
        assert (pile(state, "kitty", viewer), dispatch.view(state, viewer).seats[1].card_count) == ((5, ""), 5)


@pytest.mark.parametrize(
    ("line", "seat", "text", "rule"),
    [
        pytest.param("", 1, "keep:2D,3D,4D,6D/C", "110-KEEP-2", id="110-KEEP-2 too few"),
        pytest.param("", 1, KeepCards((*cards("2D 3D 4D 6D"), -1), 0), "110-KEEP-2", id="110-KEEP-2 a negative one"),
        pytest.param("", 1, KeepCards(cards(OWN), -1), "110-KEEP-3", id="110-KEEP-3 a negative suit"),
        pytest.param(KEEPS, 1, TAKES[2:], "110-SWAP-1", id="110-KEEP-3 once"),
        pytest.param("2:swap:2H", 2, "swap", "110-SWAP-1", id="110-SWAP-1"),
        pytest.param("", 0, "swap:KC", "110-SWAP-2", id="110-SWAP-2 one of the kitty"),
        pytest.param("", 0, SwapCards((-1,)), "110-SWAP-2", id="110-SWAP-2 a negative one"),
        pytest.param("", 0, SwapCards(()), "110-SWAP-3", id="110-SWAP-3 nothing, which is to stand pat"),
        pytest.param(KEEPS, 0, "pass", "110-SWAP-3", id="110-SWAP-3 110-D10"),
    ],
)
def test_refused_keeps_and_swaps(line: str, seat: Seat, text: str | Action, rule: str) -> None:
    assert refusal(kitty(line), text, seat) == rule


def test_110_SWAP_1_110_TRICK_1_110_D9_during_all_act_once_and_in_any_order_and_later_the_bid_winner_is_first() -> None:
    assert kitty().to_act == (0, 1, 2)
    assert kitty("2:swap:2H").to_act == (0, 1)
    assert kitty(f"2:swap:2H {KEEPS}").to_act == (0,)
    leads = kitty(f"2:swap:2H {KEEPS} 0:swap")
    assert (leads.phase, leads.to_act) == ("tricks", (1,))
    state = kitty(**LATE)
    assert (state.to_act, refusal(state, "swap", 0)) == ((1,), "110-SWAP-1")
    assert acts(state, KEEPS).to_act == (0, 2)
    assert acts(state, f"{KEEPS} 2:swap 0:swap").phase == "tricks"


@pytest.mark.parametrize("timing", ["during", "after_trump"])
def test_110_EX_52_110_TRICK_7_110_D24_the_left_neighbour_of_the_bid_winner_leads_the_first_trick(timing: str) -> None:
    state = kitty(f"{TAKES} 2:swap 0:swap", swap_timing=timing, first_lead="left_of_bid_winner")
    assert (state.phase, state.to_act) == ("tricks", (2,))
    assert [refusal(state, card, seat) for seat, card in ((0, "2C"), (1, "KC"))] == ["110-TRICK-3"] * 2
    # Seat 1 takes the trick, and leads the next one.
    state = acts(state, "2:2H 0:2C 1:KH")
    assert (state.winners, state.to_act) == ((1,), (1,))


def test_110_TRICK_7_seat_0_leads_the_first_trick_if_the_last_seat_has_won_the_bidding() -> None:
    state = dealt(HANDS, KITTY, dealer=2, hand_size="5", first_lead="left_of_bid_winner")
    state = acts(state, "0:pass 1:pass 2:15 2:keep:2H,3H,4H,6H,7H/H 0:swap 1:swap")
    assert (state.phase, state.to_act) == ("tricks", (0,))


def test_110_SWAP_5_110_VIS_3_discarded_and_put_away_cards_stay_face_down() -> None:
    state = kitty(f"0:swap:2C,3C 2:swap {TAKES}")
    assert (pile(state, "discards", 0, owner=0), pile(state, "put_away", 1)) == ((2, "2C 3C"), (5, OWN))
    for viewer in (2, SPECTATOR):
        assert (pile(state, "discards", viewer, owner=0), pile(state, "put_away", viewer)) == ((2, ""), (5, ""))
    assert pile(state, "discards", owner=2) is None


@pytest.mark.parametrize("swapped", ["", ":2C", ":2C,3C,4C"])
def test_110_VIS_4_during_the_phase_others_see_which_seats_have_acted_and_nothing_else(swapped: str) -> None:
    state, facts = acts_with_facts(kitty(), f"0:swap{swapped}")
    for viewer in (1, 2, SPECTATOR):
        assert [type(fact).__name__ for fact in facts_for(facts, viewer)] == ["TurnChanged"]
        assert dispatch.view(state, viewer).seats[0].card_count == 5
    _, facts = acts_with_facts(acts(state, KEEPS), "2:swap")
    moves = [fact for fact in facts_for(facts, SPECTATOR) if isinstance(fact, CardsMoved)]
    assert [move.card_count for move in moves if move.target == OwnedPile("discards", 0)] == (
        [swapped.count("C")] if swapped else []
    )


def test_110_VIS_6_the_stock_is_only_ever_counted() -> None:
    for viewer in (0, 1, 2, 3, SPECTATOR):
        assert pile(dealt(FOUR), "stock", viewer) == (8, "")
        assert pile(four("5D"), "stock", viewer) == (1, "")
