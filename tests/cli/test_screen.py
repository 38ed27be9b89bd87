"""A table, hands and score sheets in a terminal: all that a viewer may know, within 80 columns, also in letters."""

import pytest
from rich.cells import cell_len

from croupier.cli.hands import hand_text
from croupier.cli.legal import legal_lines
from croupier.cli.line_editor import LineEditor
from croupier.cli.screen import Seen, proposal_text, table_lines
from croupier.cli.sheets import sheet_lines
from croupier.cli.sitting import credit_text
from croupier.cli.words import Words, can_write_symbols, printable
from croupier_api.v1 import engine_pb2, scoring_pb2
from croupier_api.v1 import table_pb2 as pb
from croupier_api.v1.cards_pb2 import CARD_2C, CARD_5H, CARD_AS, CARD_JK, CARD_KC, SUIT_HEARTS
from croupier_client.cards import card_from_text

NAMES = ("Ada", "Ben with a name that goes on and on", "Cleo")
SYMBOLS, LETTERS = Words(NAMES, symbols=True), Words(NAMES, symbols=False)
VIEW = pb.TableView(
    round=2,
    phase="first_bid",
    dealer=2,
    seats=[
        pb.SeatView(card_count=3, cards=[CARD_AS, CARD_5H, CARD_2C], score=-12, tricks_taken=2),
        pb.SeatView(card_count=14, score=107),
        pb.SeatView(out=True, place=1),
    ],
    piles=[
        pb.Pile(name="stock", count=20),
        pb.Pile(name="trick", count=2, cards=[pb.PileCard(card=CARD_KC, seat=1), pb.PileCard(card=CARD_JK)]),
        pb.Pile(name="waste", count=40, cards=[pb.PileCard(card=CARD_5H)] * 40),
    ],
    calls=[pb.Called(seat=1, action=pb.Action(bid=pb.BidAction(amount=60))), pb.Called(seat=2)],
    contract=pb.ContractChanged(declarer=1, name="solo", trump=SUIT_HEARTS),
    marks=[pb.Mark(name="stall", value="4"), pb.Mark(name="last_card", seat=1, value="said")],
    seats_to_act=[0],
)
SEEN = Seen(
    "thulla", VIEW, engine_pb2.TurnClock(deadline_milliseconds=61_500, away_seats=[1]), seat=0, bots=frozenset({1})
)


def rows(words: Words) -> list[str]:
    return "\n".join(text.plain for text in table_lines(words, SEEN, now=1_000)).split("\n")


def test_a_viewer_is_shown_all_that_he_may_know() -> None:
    shown = rows(SYMBOLS)
    assert shown[0].startswith("thulla, round 2, first bid")
    assert shown[0].endswith("60 s left")
    assert shown[2].split() == [">", "0", "Ada", "(you)", "3", "-12", "2"]
    assert shown[3].split()[-6:] == ["14", "107", "away,", "last", "card", "said"]
    assert shown[4].endswith("out, place 1, dealer")
    text = "\n".join(shown)
    for line in (
        "face down: stock 20",
        "trick: K♣ Ben with a name that goes on and on, JK",
        "(40 cards)",
        "contract: solo, trump ♥, by Ben",
        "calls: Ben with a name that goes on and on bid 60, Cleo has decided",
        "marks: stall 4",
        "your hand: 2♣   5♥   A♠",
    ):
        assert line in text


def test_no_line_is_wider_than_the_terminal() -> None:
    legal = pb.LegalActions(actions=[pb.Action(play=pb.PlayAction(card=card)) for card in range(1, 54)])  # type: ignore[arg-type]
    assert all(cell_len(row) <= 80 for row in rows(SYMBOLS))
    lines = legal_lines(SYMBOLS, legal)[0].plain.split("\n")
    assert all(len(line) <= 80 for line in lines)
    assert lines[0].startswith("you may play: 1 2♣   2 3♣   ")


def test_letters_stand_in_for_symbols_and_names_cannot_command_the_terminal() -> None:
    assert can_write_symbols("utf-8")
    assert not can_write_symbols("ascii")
    text = "\n".join(rows(LETTERS))
    assert text.isascii()
    assert "your hand: 2C   5H   AS" in text
    assert printable("Eve\x1b[2J") == "Eve?[2J"


def choice(verb: pb.CardChoiceVerb.ValueType, **limits: object) -> pb.CardChoice:
    return pb.CardChoice(verb=verb, cards=[CARD_AS, CARD_5H], **limits)  # type: ignore[arg-type]


def test_choices_say_how_many_of_what_and_how_it_is_written() -> None:
    keep = choice(pb.CARD_CHOICE_VERB_KEEP, min_cards=1, max_cards=2, suits=[SUIT_HEARTS])
    swap = choice(pb.CARD_CHOICE_VERB_SWAP, min_cards=0, max_cards=1)
    lines = legal_lines(SYMBOLS, pb.LegalActions(choices=[keep, swap]), [CARD_5H, CARD_AS])
    assert [line.plain for line in lines] == [
        "you may: keep 1 to 2 of the cards of your hand, and name a suit of ♥",
        "  write for example 5H TS for CARDS: keep CARDS SUIT, or keep all but CARDS SUIT",
        "you may: swap 0 to 1 of the cards of your hand",
        "  write for example 5H TS for CARDS: swap CARDS, or swap all but CARDS, or swap none",
    ]
    (line, _) = legal_lines(SYMBOLS, pb.LegalActions(choices=[keep]), [CARD_5H], [CARD_AS, CARD_5H])
    assert line.plain == "you may: keep 1 to 2 of A♠ 5♥, and name a suit of ♥"


def test_everything_is_called_as_players_call_it() -> None:
    terms = {"2C": "the Low", "solo": "playing alone", "first_bid": "the auction", "trick": "table", "stall": "idle"}
    words = Words(NAMES, symbols=True, terms=terms)
    text = "\n".join(rows(words))
    for part in ("2, the auction", "table: K♣", "contract: playing alone, trump", "marks: idle 4", "2♣ (the Low)"):
        assert part in text
    assert words.action(pb.Action(play=pb.PlayAction(card=CARD_2C))) == "play 2♣ (the Low)"
    assert words.action(pb.Action(bid=pb.BidAction(contract="solo"))) == "bid playing alone"
    assert words.action(pb.Action(call=pb.CallAction())) == "call unknown"
    assert words.prose("made, with 2C. A solo!") == "made, with 2♣. A solo!"


def test_values_of_marks_are_shown_for_what_they_are() -> None:
    texts = {"H": "♥", "5H": "5♥", "JK": "JK", "7": "7", "at_once": "at once", "CD": "CD", "": ""}
    assert {value: SYMBOLS.value(value) for value in texts} == texts


def test_proposals_and_time_given_back_are_told_in_a_line() -> None:
    proposal = engine_pb2.Proposal(name="same_cards", proposer=2, agreed_seats=[0, 2], expires_milliseconds=25_900)
    text = proposal_text(SYMBOLS, proposal, "The hand is played again.", now=5_000).plain
    assert " ".join(text.split()) == (
        "Cleo proposes same cards: The hand is played again. 20 s left, agreed: Ada, Cleo."
    )
    assert credit_text(400) == "The services were away: 1 second more to act"
    assert credit_text(7_600) == "The services were away: 8 seconds more to act"


def test_facts_are_told_in_words_and_ties_share_a_place() -> None:
    groups = [pb.RankGroup(seats=[2]), pb.RankGroup(seats=[0, 1])]
    assert LETTERS.ranking(groups) == ["1. Cleo", f"2. Ada, {NAMES[1]}"]
    moved = pb.CardsMoved(
        source=pb.Place(hand=0), target=pb.Place(pile="trick"), cards=[CARD_5H], count=1, reason=pb.MOVE_REASON_PLAY
    )
    drawn = pb.CardsMoved(source=pb.Place(pile="stock"), target=pb.Place(hand=2), count=2, reason=pb.MOVE_REASON_DRAW)
    facts = [
        pb.Fact(round_started=pb.RoundStarted(round=1, dealer=0)),
        pb.Fact(cards_moved=moved),
        pb.Fact(cards_moved=drawn),
        pb.Fact(turn_changed=pb.TurnChanged(phase="play")),
        pb.Fact(trick_taken=pb.TrickTaken(seat=2)),
        pb.Fact(round_ended=pb.RoundEnded(round=1, headline="made")),
        pb.Fact(marked=pb.Marked(mark=pb.Mark(name="ordered_suit", value="H"))),
        pb.Fact(marked=pb.Marked(mark=pb.Mark(name="stall", value="3"))),
        pb.Fact(marked=pb.Marked(mark=pb.Mark(name="hint", seat=1, value=""))),
        pb.Fact(game_ended=pb.GameEnded(reason="all_out")),
    ]
    assert LETTERS.facts(facts) == [
        "-- round 1, Ada deals --",
        "Ada plays 5H",
        "Cleo draws 2 cards",
        "Cleo takes the trick",
        "round 1: made",
        "ordered suit H",
        "the game is over: all out",
    ]


def test_the_line_editor_gives_lines_and_forgives() -> None:
    editor = LineEditor()
    assert editor.feed(b"5x\x7fh") == []
    assert editor.typed == "5h"
    assert editor.feed(b"\x1b[A\x1b[15~ s\r1\n") == ["5h s", "1"]
    assert editor.feed("é".encode()[:1]) == []
    assert editor.feed("é".encode()[1:]) == []
    assert editor.typed == "é"
    assert editor.feed(b"abc\x15\x04") == ["/quit"]
    assert editor.feed(b"y" * 1000) == []
    assert len(editor.typed) == 500


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
def test_hands_are_sorted_as_the_game_says(order: str, hand: str, shown: str) -> None:
    held, ordered = ([card_from_text(word) for word in text.split()] for text in (hand, order))
    assert hand_text(LETTERS, held, ordered) == shown


PLAYERS = ("Ada", "Ben", "Cleo", "Dan the long-winded one", "Eva", "Finn", "Gus", "花子")
"""Of score sheets, on which every name is written over a column."""


def sheet(seats: int, *rounds: pb.RoundEnded | scoring_pb2.SheetRound) -> list[str]:
    lines = "\n".join(line.plain for line in sheet_lines(Words(PLAYERS[:seats], symbols=True), rounds)).split("\n")
    assert all(cell_len(line) <= 80 for line in lines)
    return lines


def ended(*notes: str, headline: str = "") -> pb.RoundEnded:
    return pb.RoundEnded(round=7, points=[12, -30], totals=[112, -5], notes=notes, headline=headline)


NAMES_OF_TWO = "                 Ada             Ben"
POINTS_OF_TWO = "  7         +12  112        -30   -5"


@pytest.mark.parametrize(
    ("rounds", "lines"),
    [
        ([ended()], [POINTS_OF_TWO]),
        (
            [ended("bid 2, took 2", "AH", headline="bid 30, trump ♠")],
            [f"{POINTS_OF_TWO}  bid 30, trump ♠", "       bid 2, took 2              A♥"],
        ),
        (
            [ended("a long story " * 5, "and no story")],
            [POINTS_OF_TWO, "    Ada:" + " a long story" * 5, "    Ben: and no story"],
        ),
        (
            [ended("won", "lost"), ended("incomprehensibly lucky")],
            [POINTS_OF_TWO, "    Ada: won   Ben: lost", POINTS_OF_TWO, "    Ada: incomprehensibly lucky"],
        ),
    ],
    ids=["without words", "notes under the points", "notes that are too long below", "one long note puts all below"],
)
def test_a_sheet_has_points_totals_headlines_and_notes(rounds: list[pb.RoundEnded], lines: list[str]) -> None:
    assert sheet(2, *rounds) == [NAMES_OF_TWO, *lines]


@pytest.mark.parametrize("seats", range(1, 9))
def test_eight_seats_and_long_games_fit_a_sheet(seats: int) -> None:
    lasts = "a headline that goes on for a while and then for another while, until it is too long for a line"
    scores = {"points": [-110] * seats, "totals": [-999] * seats, "notes": ["bid 10, won 10"] * seats}
    rounds = [scoring_pb2.SheetRound(round=number, headline=lasts, **scores) for number in range(1, 121)]  # type: ignore[arg-type]
    text = "\n".join(sheet(seats, *rounds))
    assert text.count("-110 -999") == seats * 120
    assert text.count("won") == seats * 120
    assert "120 " in text
