"""Facts as lines of a story."""

from typing import Any

import pytest

from croupier.cli.terminal.facts import fact_lines
from croupier_api.v1 import facts_pb2 as pb
from croupier_api.v1.cards_pb2 import SUIT_HEARTS
from croupier_client.cards import card_from_text as card
from tests.cli.shown_game import LETTERS, NAMES, WORDED, phrase


def test_facts_are_shown_as_sentences_and_ties_share_a_place() -> None:
    groups = [pb.RankGroup(seats=[2]), pb.RankGroup(seats=[0, 1])]
    assert LETTERS.ranking(groups) == ["1. Cleo", f"2. Ada, {NAMES[1]}"]
    moved = pb.CardsMoved(
        source=pb.Place(hand=0), target=pb.Place(pile="trick"), cards=[card("5H")], count=1, reason=pb.MOVE_REASON_PLAY
    )
    drawn = pb.CardsMoved(source=pb.Place(pile="stock"), target=pb.Place(hand=2), count=2, reason=pb.MOVE_REASON_DRAW)
    facts = [
        pb.Fact(round_started=pb.RoundStarted(round=1, dealer=0)),
        pb.Fact(cards_moved=moved),
        pb.Fact(cards_moved=drawn),
        pb.Fact(turn_changed=pb.TurnChanged(phase="play")),
        pb.Fact(trick_taken=pb.TrickTaken(seat=2)),
        pb.Fact(round_ended=pb.RoundEnded(score=pb.RoundScore(round=1, headline=[phrase("made")]))),
        pb.Fact(round_ended=pb.RoundEnded(score=pb.RoundScore(round=2))),
        pb.Fact(mark_changed=pb.MarkChanged(mark=pb.Mark(name="ordered_suit", value=pb.Value(suit=SUIT_HEARTS)))),
        pb.Fact(mark_changed=pb.MarkChanged(mark=pb.Mark(name="hint", seat=2, value=pb.Value(seat=0)))),
        pb.Fact(mark_changed=pb.MarkChanged(mark=pb.Mark(name="stall", value=pb.Value(number=3)))),
        pb.Fact(mark_changed=pb.MarkChanged(mark=pb.Mark(name="hint", seat=1))),
        pb.Fact(game_ended=pb.GameEnded(reason="all_out")),
        pb.Fact(game_ended=pb.GameEnded(reason="limit", is_void=True)),
    ]
    assert fact_lines(LETTERS, facts) == [
        "-- round 1, Ada deals --",
        "Ada plays 5H",
        "Cleo draws cards: 2",
        "Cleo takes the trick",
        "round 1: made",
        "ordered suit: H",
        "Cleo: hint: Ada",
        "the game is over: all out",
        "the game is over: limit, the result is void",
    ]


def moved(reason: pb.MoveReason.ValueType, **parts: Any) -> pb.Fact:
    source, target = parts.pop("source", pb.Place(hand=0)), parts.pop("target", pb.Place(pile="waste"))
    cards = parts.pop("cards", [card("2C")])
    fact = pb.CardsMoved(source=source, target=target, cards=cards, count=len(cards) or 2, reason=reason, **parts)
    return pb.Fact(cards_moved=fact)


MOVES = {
    "Ada plays 2♣ (the Low)": moved(pb.MOVE_REASON_PLAY),
    "Ada cuts with 2♣ (the Low)": moved(pb.MOVE_REASON_PLAY, word="cut"),
    "Ada plays 5♥": moved(pb.MOVE_REASON_PLAY, cards=[card("5H")], word="newest_move"),
    "Ada picks up 1: 2♣ (the Low)": moved(
        pb.MOVE_REASON_PICK_UP, source=pb.Place(pile="trick"), target=pb.Place(hand=0)
    ),
    "Ada picks up cards: 2": moved(
        pb.MOVE_REASON_PICK_UP, source=pb.Place(pile="kitty"), target=pb.Place(hand=0), cards=[]
    ),
    "Ada discards 2♣ (the Low)": moved(pb.MOVE_REASON_DISCARD),
    "Ada discards cards: 2": moved(pb.MOVE_REASON_DISCARD, cards=[]),
    "Ada takes a penalty: cards: 2": moved(
        pb.MOVE_REASON_PENALTY, source=pb.Place(pile="stock"), target=pb.Place(hand=0), cards=[]
    ),
    "Ada exchanges cards: 2": moved(pb.MOVE_REASON_SWAP, cards=[]),
    "Ada puts away cards: 2": moved(pb.MOVE_REASON_KEEP, cards=[]),
    "Ada lays 2♣ (the Low): laid (Cleo)": moved(pb.MOVE_REASON_LAY, target=pb.Place(pile="melds", owner=2)),
}


@pytest.mark.parametrize(("line", "fact"), MOVES.items(), ids=MOVES)
def test_moves_that_a_seat_decides_on_are_told(line: str, fact: pb.Fact) -> None:
    assert fact_lines(WORDED, [fact]) == [line]


def test_moves_between_piles_and_deals_are_not_told() -> None:
    between = moved(pb.MOVE_REASON_WIN, source=pb.Place(pile="trick"), target=pb.Place(pile="taken", owner=1))
    assert fact_lines(WORDED, [between, moved(pb.MOVE_REASON_DEAL, target=pb.Place(hand=0), source=pb.Place())]) == []


def test_it_is_told_who_leads_after_a_trick_but_not_after_the_last_one() -> None:
    leaves = moved(pb.MOVE_REASON_WIN, source=pb.Place(pile="trick"), target=pb.Place(pile="taken", owner=2))
    leads = pb.Fact(turn_changed=pb.TurnChanged(phase="play", seats_to_act=[2]))
    assert fact_lines(WORDED, [leaves, leads]) == ["Cleo leads"]
    assert fact_lines(WORDED, [leads]) == []
    assert fact_lines(WORDED, [leaves]) == []
    ended = pb.Fact(round_ended=pb.RoundEnded(score=pb.RoundScore(round=1, headline=[phrase("made")])))
    assert fact_lines(WORDED, [leaves, ended, leads]) == ["hand 1: made"]
