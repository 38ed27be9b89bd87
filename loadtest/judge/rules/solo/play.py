"""The tricks of solo: which cards may be played, and when a hand is over."""

from loadtest.judge.rules.interface import Card, Options
from loadtest.judge.rules.solo.cards import cards_of, kind
from loadtest.judge.rules.solo.hand import Hand


def card_refusal(hand: Hand, seat: int, card: Card, options: Options) -> str:
    """The rule against playing a card; empty if there is none."""
    cards = hand.cards[seat]
    if card not in cards:
        return "SOLO-PLAY-2"
    led = kind(hand.trick[0][0], hand.trump) if hand.trick else ""
    can_follow = any(kind(own, hand.trump) == led for own in cards)
    is_bound = hand.is_partner_hidden() and options["called_card_rule"] == "forced"
    if is_bound and seat == hand.partner and (rule := _partner_refusal(hand, card, led, can_follow)):
        return rule
    if can_follow:
        return "" if kind(card, hand.trump) == led else "SOLO-PLAY-2"
    # SOLO-CARD-5: whoever neither leads nor can follow throws a card away.
    if led and hand.is_partner_hidden() and seat == hand.declarer and cards_of(hand.called[1], cards) == [card]:
        return "SOLO-CARD-5"
    return ""


def _partner_refusal(hand: Hand, card: Card, led: str, can_follow: bool) -> str:
    called_suit = hand.called[1]
    if card == hand.called:
        return ""
    if led == called_suit:
        return "SOLO-CARD-1"
    if len(hand.tricks) == 4 and not can_follow:
        return "SOLO-CARD-3"
    if not led and kind(card, hand.trump) == called_suit:
        return "SOLO-CARD-2"
    return ""


def may_throw_down(hand: Hand) -> bool:
    """Whether the seat on lead to the sixth trick has the choice to throw down or go through (SOLO-THROUGH-1 to -4)."""
    five_of_five = len(hand.tricks) == 5 and hand.tricks_won(hand.side()) == 5
    return five_of_five and not hand.trick and not hand.do


def outcome(hand: Hand) -> str:
    """Whether a hand is "made", "failed" or not over yet (""), looked at after a complete trick."""
    won, lost = hand.tricks_won(hand.side()), hand.tricks_won(hand.defenders())
    if hand.is_partner_hidden():  # SOLO-STOP-1, SOLO-CARD-6
        return "failed" if len(hand.tricks) == 5 else ""
    if hand.do or hand.through:  # SOLO-STOP-2
        return "failed" if lost else "made" if won == 8 else ""
    if lost >= 4:  # SOLO-STOP-3
        return "failed"
    return "made" if won >= 5 and lost else ""  # SOLO-STOP-4
