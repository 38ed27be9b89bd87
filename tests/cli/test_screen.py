"""Tables in a terminal: the whole view, facts and legal actions within 80 columns, also without symbols."""

import re
from collections.abc import Iterator
from dataclasses import replace
from random import Random
from typing import Any

import pytest
from rich.cells import cell_len

from croupier.cli.terminal.facts import fact_lines
from croupier.cli.terminal.game_session import compensation_text
from croupier.cli.terminal.hands import hand_text
from croupier.cli.terminal.legal import legal_lines, possible_text
from croupier.cli.terminal.screen import DisplayedTable, proposal_text, table_lines
from croupier.cli.terminal.words import Words, can_write_symbols, words_of
from croupier.engine.api.action_codec import encode_legal
from croupier.engine.api.fact_codec import encode_fact, encode_view
from croupier.engine.api.table_codec import encode_game, encode_teams
from croupier_api.v1 import actions_pb2, engine_pb2, facts_pb2
from croupier_api.v1.cards_pb2 import (
    CARD_ACE_OF_SPADES,
    CARD_FIVE_OF_HEARTS,
    CARD_JOKER,
    CARD_KING_OF_CLUBS,
    CARD_TWO_OF_CLUBS,
    SUIT_HEARTS,
    Card,
    CardFace,
)
from croupier_api.v1.games_pb2 import GameDescription
from croupier_client.cards import card_from_text
from tests.games.toy import TOY
from tests.games.walk import walk

NAMES = ("Ada", "Ben with a name that goes on and on", "Cleo")
SYMBOLS, LETTERS = Words(NAMES, symbols=True), Words(NAMES, symbols=False)
VIEW = facts_pb2.TableView(
    round=2,
    phase="first_bid",
    dealer=2,
    seats=[
        facts_pb2.SeatView(
            card_count=3, cards=[CARD_ACE_OF_SPADES, CARD_FIVE_OF_HEARTS, CARD_TWO_OF_CLUBS], score=-12, tricks_taken=2
        ),
        facts_pb2.SeatView(card_count=14, score=107),
        facts_pb2.SeatView(is_out=True, place=1),
    ],
    piles=[
        facts_pb2.Pile(name="stock", count=20),
        facts_pb2.Pile(
            name="trick",
            count=2,
            cards=[facts_pb2.PileCard(card=CARD_KING_OF_CLUBS, seat=1), facts_pb2.PileCard(card=CARD_JOKER)],
        ),
        facts_pb2.Pile(name="waste", count=40, cards=[facts_pb2.PileCard(card=CARD_FIVE_OF_HEARTS)] * 40),
    ],
    calls=[
        facts_pb2.Call(seat=1, action=actions_pb2.Action(bid=actions_pb2.BidAction(amount=60))),
        facts_pb2.Call(seat=2),
    ],
    contract=facts_pb2.Contract(declarer=1, name="solo", trump=SUIT_HEARTS),
    marks=[facts_pb2.Mark(name="stall", value="4"), facts_pb2.Mark(name="last_card", seat=1, value="said")],
    seats_to_act=[0],
)
SEEN = DisplayedTable(
    "thulla", VIEW, engine_pb2.TurnClock(away_seats=[1]), seconds_left=60.5, seat=0, bots=frozenset({1})
)


def rows(words: Words) -> list[str]:
    return "\n".join(text.plain for text in table_lines(words, SEEN)).split("\n")


def test_the_whole_view_is_shown() -> None:
    shown = rows(SYMBOLS)
    assert shown[0].startswith("thulla, round 2, first bid")
    assert shown[0].endswith("60 s left")
    assert shown[2].split() == [">", "1", "Ada", "(you)", "3", "-12", "2"]
    assert shown[3].split()[-6:] == ["14", "107", "away,", "last", "card:", "said"]
    assert shown[4].endswith("out, place 1, dealer")
    text = "\n".join(shown)
    for line in (
        "face down: stock 20",
        "trick: K♣ Ben with a name that goes on and on, JK",
        "(40 cards)",
        "contract: solo, hearts, by Ben",
        "calls: Ben with a name that goes on and on bid 60, Cleo has decided",
        "marks: stall: 4",
        "your hand: 2♣   5♥   A♠",
    ):
        assert line in text


def test_no_line_is_wider_than_the_terminal() -> None:
    plays = [actions_pb2.PlayAction(card=Card.ValueType(number)) for number in range(1, 54)]
    legal = actions_pb2.LegalActions(actions=[actions_pb2.Action(play=play) for play in plays])
    assert all(cell_len(row) <= 80 for row in rows(SYMBOLS))
    lines = legal_lines(SYMBOLS, legal)[0].plain.split("\n")
    assert all(len(line) <= 80 for line in lines)
    assert lines[0].startswith("you may play: 1 2♣   2 3♣   ")


def test_letters_replace_symbols_and_names_cannot_control_the_terminal() -> None:
    assert can_write_symbols("utf-8")
    assert not can_write_symbols("ascii")
    text = "\n".join(rows(LETTERS))
    assert text.isascii()
    assert "your hand: 2C   5H   AS" in text
    assert words_of(GameDescription(), ["Eve\x1b[2J\n"], False).name(0) == "Eve\\x1b[2J\\n"


def choice(action: actions_pb2.Action, least: int, most: int, **parts: Any) -> actions_pb2.ActionChoice:
    cards = actions_pb2.CardChoice(cards=[CARD_ACE_OF_SPADES, CARD_FIVE_OF_HEARTS], min_cards=least, max_cards=most)
    return actions_pb2.ActionChoice(action=action, cards=cards, **parts)


def test_choices_are_shown_with_their_numbers_and_syntax() -> None:
    keep = choice(actions_pb2.Action(keep_cards=actions_pb2.KeepCardsAction()), 1, 2, suits=[SUIT_HEARTS])
    swap = choice(actions_pb2.Action(swap_cards=actions_pb2.SwapCardsAction()), 0, 1)
    lines = legal_lines(
        SYMBOLS, actions_pb2.LegalActions(choices=[keep, swap]), [CARD_FIVE_OF_HEARTS, CARD_ACE_OF_SPADES]
    )
    assert [line.plain for line in lines] == [
        "you may: keep 1 to 2 of the cards of your hand, and name a suit of ♥",
        "  write for example AS 5H for CARDS: keep CARDS SUIT, or keep all but CARDS SUIT",
        "you may: swap 0 to 1 of the cards of your hand",
        "  write for example AS 5H for CARDS: swap CARDS, or swap all but CARDS, or swap\n    none",
    ]
    (line, _) = legal_lines(
        SYMBOLS,
        actions_pb2.LegalActions(choices=[keep]),
        [CARD_FIVE_OF_HEARTS],
        [CARD_ACE_OF_SPADES, CARD_FIVE_OF_HEARTS],
    )
    assert line.plain == "you may: keep 1 to 2 of A♠ 5♥, and name a suit of ♥"


def test_terms_of_the_game_are_used() -> None:
    terms = {"2C": "the Low", "solo": "playing alone", "first_bid": "the auction", "trick": "table", "stall": "idle"}
    words = Words(NAMES, symbols=True, terms=terms)
    text = "\n".join(rows(words))
    for part in ("2, the auction", "table: K♣", "contract: playing alone, hearts", "marks: idle: 4", "2♣ (the Low)"):
        assert part in text
    assert words.action(actions_pb2.Action(play=actions_pb2.PlayAction(card=CARD_TWO_OF_CLUBS))) == "play 2♣ (the Low)"
    assert words.action(actions_pb2.Action(bid=actions_pb2.BidAction(contract="solo"))) == "bid playing alone"
    assert (
        words.action(
            actions_pb2.Action(
                call_partner=actions_pb2.CallPartnerAction(unnamed=actions_pb2.CallPartnerAction.Unnamed())
            )
        )
        == "call unknown"
    )
    assert words.prose("made, with 2C. A solo!") == "made, with 2♣. A solo!"


def test_values_of_marks_are_shown() -> None:
    texts = {"H": "♥", "5H": "5♥", "JK": "JK", "7": "7", "at_once": "at once", "CD": "CD", "": ""}
    assert {value: SYMBOLS.value(value) for value in texts} == texts


def test_proposals_and_compensated_time_are_shown_in_a_line() -> None:
    proposal = engine_pb2.Proposal(name="same_cards", proposer=2, agreed_seats=[0, 2])
    text = proposal_text(SYMBOLS, proposal, "The hand is played again.", seconds_left=20.9, width=80).plain
    assert " ".join(text.split()) == (
        "Cleo proposes same cards: The hand is played again. 20 s left, agreed: Ada, Cleo."
    )
    assert compensation_text(400) == "The services were away: 1 second more to act"
    assert compensation_text(7_600) == "The services were away: 8 seconds more to act"


def test_facts_are_shown_as_sentences_and_ties_share_a_place() -> None:
    groups = [facts_pb2.RankGroup(seats=[2]), facts_pb2.RankGroup(seats=[0, 1])]
    assert LETTERS.ranking(groups) == ["1. Cleo", f"2. Ada, {NAMES[1]}"]
    moved = facts_pb2.CardsMoved(
        source=facts_pb2.Place(hand=0),
        target=facts_pb2.Place(pile="trick"),
        cards=[CARD_FIVE_OF_HEARTS],
        count=1,
        reason=facts_pb2.MOVE_REASON_PLAY,
    )
    drawn = facts_pb2.CardsMoved(
        source=facts_pb2.Place(pile="stock"), target=facts_pb2.Place(hand=2), count=2, reason=facts_pb2.MOVE_REASON_DRAW
    )
    facts = [
        facts_pb2.Fact(round_started=facts_pb2.RoundStarted(round=1, dealer=0)),
        facts_pb2.Fact(cards_moved=moved),
        facts_pb2.Fact(cards_moved=drawn),
        facts_pb2.Fact(turn_changed=facts_pb2.TurnChanged(phase="play")),
        facts_pb2.Fact(trick_taken=facts_pb2.TrickTaken(seat=2)),
        facts_pb2.Fact(round_ended=facts_pb2.RoundEnded(score=facts_pb2.RoundScore(round=1, headline="made"))),
        facts_pb2.Fact(mark_changed=facts_pb2.MarkChanged(mark=facts_pb2.Mark(name="ordered_suit", value="H"))),
        facts_pb2.Fact(mark_changed=facts_pb2.MarkChanged(mark=facts_pb2.Mark(name="stall", value="3"))),
        facts_pb2.Fact(mark_changed=facts_pb2.MarkChanged(mark=facts_pb2.Mark(name="hint", seat=1, value=""))),
        facts_pb2.Fact(game_ended=facts_pb2.GameEnded(reason="all_out")),
        facts_pb2.Fact(game_ended=facts_pb2.GameEnded(reason="limit", is_void=True)),
    ]
    assert fact_lines(LETTERS, facts) == [
        "-- round 1, Ada deals --",
        "Ada plays 5H",
        "Cleo draws 2 cards",
        "Cleo takes the trick",
        "round 1: made",
        "ordered suit: H",
        "the game is over: all out",
        "the game is over: limit, and the result is void",
    ]


def shown_of_the_toy(seed: int) -> Iterator[str]:
    """Yield the lines of a walk through the toy as its first seat sees it, with the names of cards left out."""
    names = ("Ada", "Ben", "Cleo", "Dan")
    words = replace(words_of(encode_game(TOY), names, symbols=True), terms={})
    for step in walk(TOY, TOY.new(4, {}), Random(seed)):
        view, legal = encode_view(TOY.view(step.after, 0)), encode_legal(TOY.legal_actions(step.after, 0))
        table = DisplayedTable("Toy", view, engine_pb2.TurnClock(), None, seat=0, teams=encode_teams(TOY.teams(4)))
        for line in (*table_lines(words, table), *legal_lines(words, legal, view.seats[0].cards)):
            yield from line.plain.split("\n")
        yield from fact_lines(words, [encode_fact(fact) for fact in step.facts])


def test_a_game_with_its_own_deck_piles_and_teams_is_shown() -> None:
    shown = {line for seed in range(20) for line in shown_of_the_toy(seed)}
    card = "[RB][0-9]+"
    for pattern in (
        "  4 Dan  .* team 2, boast: [1-3]",
        "face down: reserve of Ben 1, reserve of Cleo 1, reserve of Dan 1, stock 7",
        f"reserve of Ada, face down: {card}",
        f"melds of Dan: {card} Dan",
        f"waste: {card} Ben",
        "your hand: R[0-9]+ R[0-9]+   B[0-9]+",
        "calls: Ada bid 10, Ben pass",
        "you may: bid, and an amount from 10 to 30 in steps of 10",
        "  write bid AMOUNT",
        "you may draw: 1 from stock   2 from waste",
        "you may: lay 1 to 4 of the cards of your hand as row",
        "you may: [12] lay 1 to 4 of the cards of your hand as row on melds of Cleo",
        f"  write for example {card} {card} for CARDS: 1 CARDS, or 1 all but CARDS",
        "you may: declare boast, 1 of the cards of your hand, and an amount from 1 to 3,",
        f"  write for example {card} {card} for CARDS: declare CARDS AMOUNT SEAT, or declare( all)?",
        "    (all )?but CARDS AMOUNT SEAT",
        "Ben draws 1 card",
        f"Dan draws {card}",
        f"Cleo lays {card} {card} on melds of Ada",
        f"Cleo: declare boast, {card}, [1-3], Dan",
    ):
        assert any(re.fullmatch(pattern, line) for line in shown), pattern


def test_terms_of_a_deck_are_the_labels_of_its_cards() -> None:
    words = words_of(GameDescription(deck=[CardFace(number=64, notation="S7", suit="stars", label="star 7")]), (), True)
    assert words.cards([Card.ValueType(64), CARD_FIVE_OF_HEARTS]) == "S7 (star 7) 5♥"
    assert words.prose("led with S7, then 5H") == "led with S7, then 5♥"


def test_bids_have_no_numbers_but_their_own() -> None:
    bids = [actions_pb2.Action(bid=actions_pb2.BidAction(amount=amount)) for amount in (0, 1, 2)]
    legal = actions_pb2.LegalActions(actions=bids)
    assert legal_lines(SYMBOLS, legal)[0].plain == "you may bid: 0   1   2"
    legal.actions.append(actions_pb2.Action(pass_turn=actions_pb2.PassAction()))
    assert legal_lines(SYMBOLS, legal)[0].plain == "you may: bid 0   bid 1   bid 2   pass"


@pytest.mark.parametrize(
    ("cards", "expected"),
    [
        (1, "you may play 2♣"),
        (2, "you may play 2♣ or 3♣"),
        (3, "you may play 2♣, 3♣ or 4♣"),
        (13, "you may play 2♣, 3♣, 4♣, 5♣, 6♣, 7♣ and more"),
    ],
)
def test_what_is_possible_instead_is_one_half_of_a_sentence(cards: int, expected: str) -> None:
    numbers = range(Card.CARD_TWO_OF_CLUBS, Card.CARD_TWO_OF_CLUBS + cards)
    legal = [actions_pb2.Action(play=actions_pb2.PlayAction(card=Card.ValueType(number))) for number in numbers]
    assert possible_text(SYMBOLS, actions_pb2.LegalActions(actions=legal)) == expected


def test_a_mark_of_a_seat_is_its_name() -> None:
    view = facts_pb2.TableView()
    view.CopyFrom(VIEW)
    view.marks.add(name="starter", value="2")
    shown = "\n".join(line.plain for line in table_lines(SYMBOLS, replace(SEEN, view=view)))
    assert "starter: Cleo" in shown


PLAIN = "KC QC JC TC 9C KD QD JD TD KH QH JH TH KS QS JS TS"
SPADES_TRUMP = "5S JS JK AH AS KS QS TS 9S KC QC JC TC KD QD JD TD KH QH JH TH"
HEARTS_TRUMP = "QC 7H QS AH KH QH JH TH AC KC JC TC AD KD QD JD"
NO_TRUMP_YET = f"JK AH {PLAIN}"


@pytest.mark.parametrize(
    ("order", "hand", "shown"),
    [
        ("", "AS JK KC 5H 2C", "2C KC   5H   AS   JK"),
        (PLAIN, "TS KC TC KS QD", "KC TC   QD   KS TS"),
        (SPADES_TRUMP, "KH AS AH KC 5S JK TH", "5S JK AH AS   KC   KH TH"),
        (HEARTS_TRUMP, "JD KC QS AH AC QC 7H", "QC 7H QS AH   AC KC   JD"),
        (NO_TRUMP_YET, "KC AH TH JK QH", "JK AH   KC   QH TH"),
        (PLAIN, "3D KC AS 2D QC", "KC QC   2D 3D   AS"),
        (PLAIN, "KC KC QD", "KC KC   QD"),
        ("JH QC KC", "KC JH 2S", "JH KC   2S"),
    ],
)
def test_hands_are_sorted_by_the_game(order: str, hand: str, shown: str) -> None:
    held, ordered = ([card_from_text(word) for word in text.split()] for text in (hand, order))
    assert hand_text(LETTERS, held, ordered) == shown
