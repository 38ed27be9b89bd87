"""Facts as lines of a story."""

from collections.abc import Sequence

from croupier.cli.terminal.words import Words
from croupier_api.v1 import facts_pb2, games_pb2


def fact_lines(words: Words, facts: Sequence[facts_pb2.Fact]) -> list[str]:
    """Return a line for each fact that is worth one."""
    return [*filter(None, (_line(words, fact) for fact in facts)), *_next_leader(words, facts)]


def _next_leader(words: Words, facts: Sequence[facts_pb2.Fact]) -> list[str]:
    """Return a line on the seat that leads after a trick: the one that is to act when the trick has left the table."""
    tricks = {pile.name for pile in words.piles if pile.role == games_pb2.PILE_ROLE_TRICK}
    is_over = any(fact.cards_moved.source.pile in tricks for fact in facts if fact.HasField("cards_moved"))
    leaders = [fact.turn_changed.seats_to_act for fact in facts if fact.turn_changed.seats_to_act]
    has_ended = any(fact.HasField("round_ended") for fact in facts)
    return [words.tr("{seat} leads", seat=words.name(leaders[-1][0]))] if is_over and leaders and not has_ended else []


def _line(words: Words, fact: facts_pb2.Fact) -> str:
    """Return the line of a fact; empty for one that the table shows."""
    match fact.WhichOneof("fact"):
        case "round_started":
            started = fact.round_started
            dealer = words.tr("{seat} deals", seat=words.name(started.dealer)) if started.HasField("dealer") else ""
            return f"-- {', '.join(filter(None, (f'{words.round} {started.round}', dealer)))} --"
        case "cards_moved":
            return _move(words, fact.cards_moved)
        case "called":
            return f"{words.name(fact.called.call.seat)}: {words.call(fact.called.call)}"
        case "contract_changed":
            return words.tr("contract: {contract}", contract=words.contract(fact.contract_changed.changes))
        case "trick_taken":
            return words.tr("{seat} takes the trick", seat=words.name(fact.trick_taken.seat))
        case "seat_out":
            out = words.tr("{seat} is out", seat=words.name(fact.seat_out.seat))
            has_place = fact.seat_out.HasField("place")
            return f"{out}, {words.tr('place {place}', place=fact.seat_out.place)}" if has_place else out
        case "hand_revealed" if fact.hand_revealed.cards:
            shown = fact.hand_revealed
            return words.tr("{seat} shows {cards}", seat=words.name(shown.seat), cards=words.cards(shown.cards))
        case "mark_changed":
            return _mark(words, fact.mark_changed.mark)
        case "round_ended":
            score = fact.round_ended.score
            headline = words.phrases(score.headline)
            return f"{words.round} {score.round}: {headline}" if headline else ""
        case "game_ended":
            return _end(words, fact.game_ended)
    return ""


def _mark(words: Words, mark: facts_pb2.Mark) -> str:
    # The table shows numbers, and those that are gone.
    if not mark.HasField("value") or mark.value.HasField("number"):
        return ""
    return f"{words.name(mark.seat)}: {words.mark(mark)}" if mark.HasField("seat") else words.mark(mark)


def _end(words: Words, ended: facts_pb2.GameEnded) -> str:
    reason = words.word(games_pb2.WORD_KIND_REASON, ended.reason) if ended.reason else ""
    void = words.tr("the result is void") if ended.is_void else ""
    return ": ".join(filter(None, (words.tr("the game is over"), ", ".join(filter(None, (reason, void))))))


def _move(words: Words, fact: facts_pb2.CardsMoved) -> str:
    """Return the line of a move that a seat decided on; empty for others, which the table shows."""
    hand = next((place.hand for place in (fact.source, fact.target) if place.HasField("hand")), None)
    if hand is None:
        return ""
    seat, cards = words.name(hand), words.cards(fact.cards) or words.tr("cards: {count}", count=fact.count)
    if fact.word and (text := words.move(fact.word, seat, cards)):
        return text
    match fact.reason:
        case facts_pb2.MOVE_REASON_PLAY:
            return words.tr("{seat} plays {cards}", seat=seat, cards=cards)
        case facts_pb2.MOVE_REASON_PICK_UP if fact.cards:
            return words.tr("{seat} picks up {count}: {cards}", seat=seat, count=fact.count, cards=cards)
        case facts_pb2.MOVE_REASON_PICK_UP:
            return words.tr("{seat} picks up {cards}", seat=seat, cards=cards)
        case facts_pb2.MOVE_REASON_DISCARD if fact.source.HasField("hand"):
            return words.tr("{seat} discards {cards}", seat=seat, cards=cards)
        case facts_pb2.MOVE_REASON_DRAW:
            return words.tr("{seat} draws {cards}", seat=seat, cards=cards)
        case facts_pb2.MOVE_REASON_PENALTY:
            return words.tr("{seat} takes a penalty: {cards}", seat=seat, cards=cards)
        case facts_pb2.MOVE_REASON_SWAP:
            return words.tr("{seat} exchanges {cards}", seat=seat, cards=cards)
        case facts_pb2.MOVE_REASON_KEEP:
            return words.tr("{seat} puts away {cards}", seat=seat, cards=cards)
        case facts_pb2.MOVE_REASON_LAY:
            owner = fact.target.owner if fact.target.HasField("owner") else None
            pile = words.pile(fact.target.pile, owner)
            return words.tr("{seat} lays {cards}: {pile}", seat=seat, cards=cards, pile=pile)
    return ""
