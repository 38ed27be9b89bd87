"""Tables and score sheets in a terminal: the whole view, facts and legal actions within 80 columns."""

import re
from collections.abc import Iterator
from dataclasses import replace
from random import Random
from typing import Any

import pytest
from rich.cells import cell_len

from croupier.cli.terminal.facts import fact_lines
from croupier.cli.terminal.game_session import compensation_text
from croupier.cli.terminal.legal import legal_lines, possible_text
from croupier.cli.terminal.screen import MAX_CALLS, DisplayedTable, proposal_text, table_lines
from croupier.cli.terminal.sheets import sheet_lines
from croupier.cli.terminal.words import Words, can_write_symbols, hand_text, words_of
from croupier.conformance.walks import walk
from croupier.engine.api.action_codec import encode_legal
from croupier.engine.api.fact_codec import encode_fact, encode_view
from croupier.engine.api.table_codec import encode_game, encode_teams
from croupier_api.v1 import actions_pb2 as act
from croupier_api.v1 import engine_pb2
from croupier_api.v1 import facts_pb2 as pb
from croupier_api.v1.cards_pb2 import SUIT_HEARTS, Card, CardFace
from croupier_api.v1.games_pb2 import GameDescription
from croupier_client.cards import card_from_text as card
from tests.cli.shown_game import LETTERS, SYMBOLS, WORDED, phrase
from tests.games.toy import TOY

VIEW = pb.TableView(
    round=2,
    phase="first_bid",
    dealer=2,
    seats=[
        pb.SeatView(card_count=3, cards=[card("AS"), card("5H"), card("2C")], score=-12, tricks_taken=2),
        pb.SeatView(card_count=14, score=107),
        pb.SeatView(is_out=True, place=1),
    ],
    piles=[
        pb.Pile(name="melds", owner=2, count=1, cards=[pb.PileCard(card=card("9S"), seat=2)]),
        pb.Pile(name="stock", count=20),
        pb.Pile(name="taken", owner=1, count=2, cards=[pb.PileCard(card=card("2S"))] * 2),
        pb.Pile(name="trick", count=2, cards=[pb.PileCard(card=card("KC"), seat=1), pb.PileCard(card=card("JK"))]),
        pb.Pile(name="waste", count=40, cards=[pb.PileCard(card=card("5H"))] * 40),
    ],
    calls=[pb.Call(seat=1, action=act.Action(bid=act.BidAction(amount=60))), pb.Call(seat=2)],
    contract=pb.Contract(declarer=1, name="solo", trump=SUIT_HEARTS),
    marks=[
        pb.Mark(name="stall", value=pb.Value(number=4)),
        pb.Mark(name="last_card", seat=1, value=pb.Value(word="said")),
        pb.Mark(name="starter", value=pb.Value(seat=2)),
    ],
    seats_to_act=[0],
)
SEEN = DisplayedTable(
    "thulla", VIEW, engine_pb2.TurnClock(away_seats=[1]), seconds_left=60.5, seat=0, bots=frozenset({1})
)


def plays(*cards: int) -> act.LegalActions:
    return act.LegalActions(actions=[act.Action(play=act.PlayAction(card=Card.ValueType(each))) for each in cards])


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
        "piles: stock 20",
        "melds (Cleo): 9♠ Cleo",
        "trick: K♣ Ben with a name that goes on and on, JK",
        "waste: ... 5♥ 5♥ 5♥ 5♥ 5♥ 5♥ 5♥ 5♥ (40)",
        "contract: solo, trump ♥, declarer: Ben with a name that goes on and on",
        "calls: Ben with a name that goes on and on: 60, Cleo: has decided",
        "table: stall: 4, starter: Cleo",
        "your hand: 2♣   5♥   A♠",
    ):
        assert line in text


def test_a_seat_that_its_player_left_is_shown_apart_from_one_whose_time_ran_out() -> None:
    left = replace(SEEN, clock=engine_pb2.TurnClock(away_seats=[0, 1], left_seats=[1]))
    shown = "\n".join(text.plain for text in table_lines(SYMBOLS, left)).split("\n")
    assert shown[2].split()[-1] == "away"
    assert shown[3].split()[-6:] == ["left", "the", "table,", "last", "card:", "said"]


def test_players_who_are_not_connected_are_shown() -> None:
    shown = "\n".join(text.plain for text in table_lines(SYMBOLS, replace(SEEN, offline={0, 1}))).split("\n")
    assert shown[2].split()[-1] == "offline"
    assert shown[3].split()[-5:] == ["away,", "offline,", "last", "card:", "said"]


def test_known_cards_of_a_hidden_hand_are_shown() -> None:
    view = pb.TableView()
    view.CopyFrom(VIEW)
    view.seats[1].known_cards.extend([card("7H"), card("KS")])
    lines = [text.plain for text in table_lines(SYMBOLS, replace(SEEN, view=view))]
    assert "Ben with a name that goes on and on, known: 7♥   K♠" in lines
    view.seats[2].cards.extend([card("9D")])
    assert "Cleo: 9♦" in [text.plain for text in table_lines(SYMBOLS, replace(SEEN, view=view))]


def test_no_line_is_wider_than_the_terminal() -> None:
    assert all(cell_len(row) <= 80 for row in rows(SYMBOLS))
    lines = legal_lines(SYMBOLS, plays(*range(1, 54)))[0].plain.split("\n")
    assert all(len(line) <= 80 for line in lines)
    assert lines[0].startswith("you may play: 1 2♣   2 3♣   ")


def test_letters_replace_symbols_and_names_cannot_control_the_terminal() -> None:
    assert can_write_symbols("utf-8")
    assert not can_write_symbols("ascii")
    text = "\n".join(rows(LETTERS))
    assert text.isascii()
    assert "your hand: 2C   5H   AS" in text
    assert words_of(GameDescription(), ["Eve\x1b[2J\n"], False).name(0) == "Eve\\x1b[2J\\n"


def choice(action: act.Action, least: int, most: int, **parts: Any) -> act.ActionChoice:
    cards = act.CardChoice(cards=[card("AS"), card("5H")], min_cards=least, max_cards=most)
    return act.ActionChoice(action=action, cards=cards, **parts)


def test_choices_are_shown_with_their_numbers_and_syntax() -> None:
    keep = choice(act.Action(keep_cards=act.KeepCardsAction()), 1, 2, suits=[SUIT_HEARTS])
    swap = choice(act.Action(swap_cards=act.SwapCardsAction()), 0, 1)
    lines = legal_lines(SYMBOLS, act.LegalActions(choices=[keep, swap]), [card("5H"), card("AS")])
    assert [line.plain for line in lines] == [
        "you may: keep 1-2 of: your hand, a suit of ♥",
        "  write keep CARDS SUIT | keep all but CARDS SUIT (for example AS 5H for CARDS)",
        "you may: swap 0-1 of: your hand",
        "  write swap CARDS | swap none (for example AS for CARDS)",
    ]
    (line, _) = legal_lines(SYMBOLS, act.LegalActions(choices=[keep]), [card("5H")], [card("AS"), card("5H")])
    assert line.plain == "you may: keep 1-2 of: A♠ 5♥, a suit of ♥"


def test_piles_are_shown_by_role_and_as_they_are_described() -> None:
    shown = [line.plain.partition(":")[0] for line in table_lines(WORDED, SEEN)]
    # A pile without description is last, with all its cards; of one to count no card is shown.
    assert shown[5:9] == ["piles", "in the middle", "waste", "laid (Cleo)"]
    lines = [line.plain for line in table_lines(WORDED, SEEN)]
    assert "piles: stock 20, taken (Ben with a name that goes on and on) 2" in lines
    assert "waste: ... 5♥ (40)" in lines
    assert not any("2♠" in line for line in lines)


def test_tricks_have_a_column_only_in_games_with_tricks() -> None:
    (_, columns, first, *_) = rows(SYMBOLS)
    assert columns.split() == ["seat", "cards", "points", "tricks"]
    assert first.split()[-2:] == ["-12", "2"]
    (_, columns, first, *_) = rows(WORDED)
    assert columns.split() == ["seat", "cards", "points"]
    assert first.split()[-1] == "-12"


def test_proposals_and_compensated_time_are_shown_in_a_line() -> None:
    proposal = engine_pb2.Proposal(name="same_cards", proposer=2, agreed_seats=[0, 2])
    text = proposal_text(SYMBOLS, proposal, "The hand is played again.", seconds_left=20.9, width=80).plain
    assert " ".join(text.split()) == (
        "Cleo proposes: same cards. The hand is played again. 20 s left, agreed: Ada, Cleo."
    )
    text = proposal_text(WORDED, proposal, "", seconds_left=20.9, width=80).plain
    assert " ".join(text.split()) == "Cleo proposes: once more. All have to agree. 20 s left, agreed: Ada, Cleo."
    assert compensation_text(SYMBOLS, 400) == "The services were away: 1 s more to act"
    assert compensation_text(SYMBOLS, 7_600) == "The services were away: 8 s more to act"


def shown_of_the_toy(seed: int) -> Iterator[str]:
    """Yield the lines of a walk through the toy as its first seat sees it, with the names of cards left out."""
    names = ("Ada", "Ben", "Cleo", "Dan")
    words = replace(
        words_of(encode_game(TOY), names, symbols=True), deck=[unnamed(face) for face in encode_game(TOY).deck]
    )
    for step in walk(TOY, TOY.new(4, {}), Random(seed)):
        view, legal = encode_view(TOY.view(step.after, 0)), encode_legal(TOY.legal_actions(step.after, 0))
        table = DisplayedTable("Toy", view, engine_pb2.TurnClock(), None, seat=0, teams=encode_teams(TOY.teams(4)))
        for line in (*table_lines(words, table), *legal_lines(words, legal, view.seats[0].cards)):
            yield from line.plain.split("\n")
        yield from fact_lines(words, [encode_fact(fact) for fact in step.facts])


def unnamed(face: CardFace) -> CardFace:
    return CardFace(number=face.number, notation=face.notation, suit=face.suit, rank=face.rank)


def test_a_game_with_its_own_deck_piles_and_teams_is_shown() -> None:
    shown = {line for seed in range(20) for line in shown_of_the_toy(seed)}
    face = "[RB][0-9]+"
    for pattern in (
        "  4 Dan  .* team 2, boast: [1-3]",
        r"piles: stock 7, reserve \(Ben\) 1, reserve \(Cleo\) 1, reserve \(Dan\) 1",
        rf"reserve \(Ada\), face down: {face}",
        rf"melds \(Dan\): {face} Dan",
        rf"waste: (... )?{face} Ben( \([0-9]+\))?",
        "your hand: R[0-9]+ R[0-9]+   B[0-9]+",
        "calls: Ada: 10, Ben: pass",
        "you may: bid, an amount from 10 to 30, in steps of 10",
        "  write bid AMOUNT",
        "you may draw: 1 from stock   2 from waste",
        "you may: lay 1-4 of: your hand, row",
        r"you may: [12] lay 1-4 of: your hand, row, on melds \(Cleo\)",
        rf"  write 1 CARDS \| 1 all but CARDS \(for example {face} {face} for CARDS\)",
        r"you may: boast, 1 of: your hand, an amount from 1 to 3, a seat of 2 \(Ben\), 3",
        rf"  write boast CARDS AMOUNT SEAT \(for example {face} for CARDS\)",
        rf".*example {face} {face} for CARDS\)",
        "Ben draws cards: 1",
        f"Dan draws {face}",
        rf"Cleo lays {face} {face}: melds \(Ada\)",
        f"Cleo: boast, {face}, [1-3], Dan",
    ):
        assert any(re.fullmatch(pattern, line) for line in shown), pattern


def test_the_latest_calls_are_shown() -> None:
    passed = act.Action(pass_turn=act.PassAction())
    view = pb.TableView(seats=[pb.SeatView()], calls=[pb.Call(seat=0, action=passed)] * (MAX_CALLS + 1))
    lines = [line.plain for line in table_lines(SYMBOLS, replace(SEEN, view=view), 500)]
    (calls,) = [line for line in lines if line.startswith("calls")]
    assert calls.count("pass") == MAX_CALLS
    assert calls.startswith("calls: ..., ")


def test_bids_have_no_numbers_but_their_own() -> None:
    bids = [act.Action(bid=act.BidAction(amount=amount)) for amount in (0, 1, 2)]
    legal = act.LegalActions(actions=bids)
    assert legal_lines(SYMBOLS, legal)[0].plain == "you may bid: 0   1   2"
    legal.actions.append(act.Action(pass_turn=act.PassAction()))
    assert legal_lines(SYMBOLS, legal)[0].plain == "you may: bid 0   bid 1   bid 2   pass"


@pytest.mark.parametrize(
    ("cards", "expected"),
    [
        (1, "you may: play 2♣"),
        (2, "you may: play 2♣, 3♣"),
        (3, "you may: play 2♣, 3♣, 4♣"),
        (13, "you may: play 2♣, 3♣, 4♣, 5♣, 6♣, 7♣, ..."),
    ],
)
def test_what_is_possible_instead_is_one_half_of_a_sentence(cards: int, expected: str) -> None:
    assert possible_text(SYMBOLS, plays(*range(1, cards + 1))) == expected


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
    held, ordered = ([card(word) for word in text.split()] for text in (hand, order))
    assert hand_text(LETTERS, held, ordered) == shown


PLAYERS = ("Ada", "Ben", "Cleo", "Dan the long-winded one", "Eva", "Finn", "Gus", "花子")
"""The names over the columns of score sheets."""


def sheet(seats: int, *rounds: pb.RoundScore, width: int = 80) -> list[str]:
    lines = [line.plain for line in sheet_lines(Words(PLAYERS[:seats], symbols=True), rounds, width)]
    rows = "\n".join(lines).split("\n")
    assert all(cell_len(row) <= width for row in rows)
    return rows


def notes_of(*notes: str) -> list[pb.Note]:
    """Return notes, each of the words between commas."""
    return [pb.Note(phrases=[phrase(word) for word in note.split(", ") if word]) for note in notes]


def score(*notes: str, headline: str = "") -> pb.RoundScore:
    shown = [phrase(word) for word in headline.split(", ") if word]
    return pb.RoundScore(round=7, points=[12, -30], totals=[112, -5], notes=notes_of(*notes), headline=shown)


NAMES_OF_TWO = "                 Ada             Ben"
POINTS_OF_TWO = "  7         +12  112        -30   -5"


@pytest.mark.parametrize(
    ("rounds", "lines"),
    [
        ([score()], [POINTS_OF_TWO]),
        (
            [score("bid 2, took 2", "A♥", headline="bid 30, trump ♠")],
            [f"{POINTS_OF_TWO}  bid 30, trump ♠", "       bid 2, took 2              A♥"],
        ),
        (
            [score("a long story " * 5, "and no story")],
            [POINTS_OF_TWO, "    Ada:" + " a long story" * 5, "    Ben: and no story"],
        ),
        (
            [score("won", "lost"), score("incomprehensibly lucky")],
            [POINTS_OF_TWO, "    Ada: won   Ben: lost", POINTS_OF_TWO, "    Ada: incomprehensibly lucky"],
        ),
    ],
    ids=["without words", "notes under the points", "notes that are too long below", "one long note puts all below"],
)
def test_a_sheet_has_points_totals_headlines_and_notes(rounds: list[pb.RoundScore], lines: list[str]) -> None:
    assert sheet(2, *rounds) == [NAMES_OF_TWO, *lines]


@pytest.mark.parametrize("width", [40, 80, 100])
@pytest.mark.parametrize("seats", range(1, 9))
def test_eight_seats_and_long_games_fit_a_sheet(seats: int, width: int) -> None:
    lasts = "a headline that goes on for a while and then for another while, until it is too long for a line"
    scores = {"points": [-110] * seats, "totals": [-999] * seats, "notes": notes_of(*["bid 10, won 10"] * seats)}
    rounds = [pb.RoundScore(round=number, headline=[phrase(lasts)], **scores) for number in range(1, 121)]  # type: ignore[arg-type]
    text = "\n".join(sheet(seats, *rounds, width=width))
    assert text.count("-110 -999") == seats * 120
    assert text.count("won") == seats * 120
    assert "120 " in text
