"""Facts as lines of a story."""

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, TypeAlias

from croupier.cli.terminal.words import Words
from croupier_api.v1 import facts_pb2


def fact_lines(words: Words, facts: Sequence[facts_pb2.Fact]) -> list[str]:
    """Return a line for each fact that is worth one."""
    lines = []
    for fact in facts:
        kind = fact.WhichOneof("fact")
        write = _WRITERS.get(kind or "")
        if write and kind and (line := write(words, getattr(fact, kind))):
            lines.append(line)
    return [*lines, *_next_leader(words, facts)]


def _next_leader(words: Words, facts: Sequence[facts_pb2.Fact]) -> list[str]:
    """Return a line on the trick that nobody takes although all have followed: its winner leads, or who is next."""
    is_over = any(
        fact.cards_moved.source.pile == "trick" and fact.cards_moved.reason == facts_pb2.MOVE_REASON_DISCARD
        for fact in facts
    )
    leaders = [fact.turn_changed.seats_to_act for fact in facts if fact.turn_changed.seats_to_act]
    return [f"the trick is over: {words.name(leaders[-1][0])} leads"] if is_over and leaders else []


def _round_started(words: Words, fact: facts_pb2.RoundStarted) -> str:
    dealer = f", {words.name(fact.dealer)} deals" if fact.HasField("dealer") else ""
    return f"-- {words.term('round')} {fact.round}{dealer} --"


_MOVES: Mapping[int, str] = MappingProxyType(
    {
        facts_pb2.MOVE_REASON_PLAY: "{seat} plays {cards}",
        facts_pb2.MOVE_REASON_PICK_UP: "{seat} picks up {cards}",
        facts_pb2.MOVE_REASON_DRAW: "{seat} draws {cards}",
        facts_pb2.MOVE_REASON_PENALTY: "{seat} takes {cards} as a penalty",
        facts_pb2.MOVE_REASON_SWAP: "{seat} exchanges {cards}",
        facts_pb2.MOVE_REASON_KEEP: "{seat} puts away {cards}",
        facts_pb2.MOVE_REASON_LAY: "{seat} lays {cards} on {pile}",
    }
)
"""Moves that a seat decided on; the table shows the others."""


def _cards_moved(words: Words, fact: facts_pb2.CardsMoved) -> str:
    form = _MOVES.get(fact.reason)
    hand = next((place.hand for place in (fact.source, fact.target) if place.HasField("hand")), None)
    if form is None or hand is None:
        return ""
    cards = words.cards(fact.cards) or f"{fact.count} card{'s' * (fact.count != 1)}"
    owner = fact.target.owner if fact.target.HasField("owner") else None
    pile = words.pile(fact.target.pile, owner) if fact.target.HasField("pile") else "the table"
    return form.format(seat=words.name(hand), cards=cards, pile=pile)


def _called(words: Words, fact: facts_pb2.Called) -> str:
    return f"{words.name(fact.call.seat)}: {words.call(fact.call)}"


def _contract_changed(words: Words, fact: facts_pb2.ContractChanged) -> str:
    return f"contract: {words.contract(fact.changes)}"


def _trick_taken(words: Words, fact: facts_pb2.TrickTaken) -> str:
    return f"{words.name(fact.seat)} takes the trick"


def _seat_out(words: Words, fact: facts_pb2.SeatOut) -> str:
    return f"{words.name(fact.seat)} is out{f', place {fact.place}' if fact.HasField('place') else ''}"


def _hand_revealed(words: Words, fact: facts_pb2.HandRevealed) -> str:
    return f"{words.name(fact.seat)} shows {words.cards(fact.cards)}" if fact.cards else ""


def _round_ended(words: Words, fact: facts_pb2.RoundEnded) -> str:
    headline, round_ = words.prose(fact.score.headline), f"{words.term('round')} {fact.score.round}"
    return headline if not headline or headline.startswith(round_) else f"{round_}: {headline}"


def _mark_changed(words: Words, fact: facts_pb2.MarkChanged) -> str:
    """Return a line for a mark that is no number; the table shows numbers."""
    mark = fact.mark
    if not mark.value or mark.value.removeprefix("-").isdecimal():
        return ""
    owner = f"{words.name(mark.seat)}: " if mark.HasField("seat") else ""
    return f"{owner}{words.term(mark.name)}: {words.value(mark.value)}"


def _game_ended(words: Words, fact: facts_pb2.GameEnded) -> str:
    reason = f": {words.term(fact.reason)}" if fact.reason else ""
    return f"the game is over{reason}{', and the result is void' if fact.is_void else ''}"


_Writer: TypeAlias = Callable[[Words, Any], str]
_WRITERS: Mapping[str, _Writer] = MappingProxyType(
    {
        "round_started": _round_started,
        "cards_moved": _cards_moved,
        "called": _called,
        "contract_changed": _contract_changed,
        "trick_taken": _trick_taken,
        "seat_out": _seat_out,
        "hand_revealed": _hand_revealed,
        "mark_changed": _mark_changed,
        "round_ended": _round_ended,
        "game_ended": _game_ended,
    }
)
