"""Facts as lines of a story."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from croupier.cli.terminal.words import Words
from croupier_api.v1 import facts_pb2

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


def fact_lines(words: Words, facts: Sequence[facts_pb2.Fact]) -> list[str]:
    """Return a line for each fact that is worth one."""
    return [*filter(None, (_line(words, fact) for fact in facts)), *_next_leader(words, facts)]


def _next_leader(words: Words, facts: Sequence[facts_pb2.Fact]) -> list[str]:
    """Return a line on the trick that nobody takes although all have followed: its winner leads, or who is next."""
    is_over = any(
        fact.cards_moved.source.pile == "trick" and fact.cards_moved.reason == facts_pb2.MOVE_REASON_DISCARD
        for fact in facts
    )
    leaders = [fact.turn_changed.seats_to_act for fact in facts if fact.turn_changed.seats_to_act]
    return [f"the trick is over: {words.name(leaders[-1][0])} leads"] if is_over and leaders else []


def _line(words: Words, fact: facts_pb2.Fact) -> str:
    """Return the line of a fact; empty for one that the table shows."""
    match fact.WhichOneof("fact"):
        case "round_started":
            started = fact.round_started
            dealer = f", {words.name(started.dealer)} deals" if started.HasField("dealer") else ""
            return f"-- {words.term('round')} {started.round}{dealer} --"
        case "cards_moved":
            return _cards_moved(words, fact.cards_moved)
        case "called":
            return f"{words.name(fact.called.call.seat)}: {words.call(fact.called.call)}"
        case "contract_changed":
            return f"contract: {words.contract(fact.contract_changed.changes)}"
        case "trick_taken":
            return f"{words.name(fact.trick_taken.seat)} takes the trick"
        case "seat_out":
            place = f", place {fact.seat_out.place}" if fact.seat_out.HasField("place") else ""
            return f"{words.name(fact.seat_out.seat)} is out{place}"
        case "hand_revealed" if fact.hand_revealed.cards:
            return f"{words.name(fact.hand_revealed.seat)} shows {words.cards(fact.hand_revealed.cards)}"
        case "mark_changed":
            mark = fact.mark_changed.mark
            owner = f"{words.name(mark.seat)}: " if mark.HasField("seat") else ""
            # The table shows numbers.
            is_told = mark.value and not mark.value.removeprefix("-").isdecimal()
            return f"{owner}{words.term(mark.name)}: {words.value(mark.value)}" if is_told else ""
        case "round_ended":
            score = fact.round_ended.score
            headline, round_ = words.prose(score.headline), f"{words.term('round')} {score.round}"
            return headline if not headline or headline.startswith(round_) else f"{round_}: {headline}"
        case "game_ended":
            ended = fact.game_ended
            reason = f": {words.term(ended.reason)}" if ended.reason else ""
            return f"the game is over{reason}{', and the result is void' if ended.is_void else ''}"
    return ""


def _cards_moved(words: Words, fact: facts_pb2.CardsMoved) -> str:
    form = _MOVES.get(fact.reason)
    hand = next((place.hand for place in (fact.source, fact.target) if place.HasField("hand")), None)
    if form is None or hand is None:
        return ""
    cards = words.cards(fact.cards) or f"{fact.count} card{'s' * (fact.count != 1)}"
    owner = fact.target.owner if fact.target.HasField("owner") else None
    pile = words.pile(fact.target.pile, owner) if fact.target.HasField("pile") else "the table"
    return form.format(seat=words.name(hand), cards=cards, pile=pile)
