"""A table in a terminal: everything that a viewer may know, within 80 columns, also without symbols."""

from rich.cells import cell_len

from croupier.cli.legal import legal_lines
from croupier.cli.line_editor import LineEditor
from croupier.cli.screen import Seen, proposal_text, table_lines
from croupier.cli.sitting import credit_text
from croupier.cli.words import Words, can_write_symbols, printable
from croupier_api.v1 import engine_pb2
from croupier_api.v1 import table_pb2 as pb
from croupier_api.v1.cards_pb2 import CARD_2C, CARD_5H, CARD_AS, CARD_JK, CARD_KC, SUIT_HEARTS

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
    for part in (
        "round 2, the auction",
        "table: K♣",
        "contract: playing alone, trump",
        "marks: idle 4",
        "2♣ (the Low)",
    ):
        assert part in text
    assert words.action(pb.Action(play=pb.PlayAction(card=CARD_2C))) == "play 2♣ (the Low)"
    assert words.action(pb.Action(bid=pb.BidAction(contract="solo"))) == "bid playing alone"
    assert words.action(pb.Action(call=pb.CallAction())) == "call unknown"
    assert words.prose("made, with 2C. A solo!") == "made, with 2♣. A solo!"


def test_values_of_marks_are_shown_for_what_they_are() -> None:
    assert [SYMBOLS.value(value) for value in ("H", "5H", "JK", "7", "at_once", "CD", "")] == [
        *("♥", "5♥", "JK", "7", "at once", "CD", ""),
    ]


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
        *(
            "-- round 1, Ada deals --",
            "Ada plays 5H",
            "Cleo draws 2 cards",
            "Cleo takes the trick",
            "round 1: made",
            "ordered suit H",
            "the game is over: all out",
        ),
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
