"""The tricks of solo: which cards may be played, when a hand is over and what it is worth, and who is out."""

from croupier_loadtest.judge.rules.cards import grouped
from croupier_loadtest.judge.rules.interface import Card, Options
from croupier_loadtest.judge.rules.solo.hand import FOUR, Hand, cards_of, kind

OUT = 36


def has_duties(hand: Hand, options: Options) -> bool:
    """Return whether the duties around the called card stand (SOLO-WED-5, SOLO-WED-7)."""
    is_free = hand.contract == "wedding" and options["wedding_card"] == "free"
    return hand.is_called_card_unplayed() and not is_free


def card_refusal(hand: Hand, seat: int, card: Card, options: Options) -> str:
    """Return the rule against playing a card; empty if there is none."""
    cards = hand.cards[seat]
    if card not in cards:
        return "SOLO-PLAY-2"
    led = kind(hand.trick[0][0], hand.trump) if hand.trick else ""
    can_follow = any(kind(own, hand.trump) == led for own in cards)
    duties = has_duties(hand, options)
    is_bound = duties and options["called_card_rule"] == "forced" and seat == hand.partner
    if is_bound and (rule := _partner_refusal(hand, card, led, can_follow)):
        return rule
    if can_follow:
        return "" if kind(card, hand.trump) == led else "SOLO-PLAY-2"
    # SOLO-CARD-5: a seat that neither leads nor can follow throws a card away.
    if led and duties and seat == hand.declarer and cards_of(hand.called[1], cards) == [card]:
        return "SOLO-CARD-5"
    return ""


def _partner_refusal(hand: Hand, card: Card, led: str, can_follow: bool) -> str:
    called_suit = hand.called[1]
    if card == hand.called:
        return ""
    if hand.trick and cards_of(called_suit, [hand.trick[0][0]]):  # Not by a black queen (SOLO-CARD-7).
        return "SOLO-CARD-1"
    if len(hand.tricks) == 4 and (not can_follow or kind(hand.called, hand.trump) == led):
        return "SOLO-CARD-3"
    if not led and cards_of(called_suit, [card]):
        return "SOLO-CARD-2"
    return ""


def may_throw_down(hand: Hand) -> bool:
    """Return whether the seat on lead to the sixth trick may throw down or go through (SOLO-THROUGH-1 to -4)."""
    five_of_five = len(hand.tricks) == 5 and hand.tricks_won(hand.side()) == 5
    return five_of_five and not hand.trick and not hand.do


def outcome(hand: Hand, options: Options) -> str:
    """Return whether a hand is "made", "failed" or not over yet (""), looked at after a complete trick."""
    won, lost = hand.tricks_won(hand.side()), hand.tricks_won(hand.defenders())
    if len(hand.tricks) == 5 and has_duties(hand, options):  # SOLO-CARD-6
        return "failed"
    if hand.is_partner_hidden():  # SOLO-STOP-1
        return ""
    if hand.do or hand.through:  # SOLO-STOP-2
        return "failed" if lost else "made" if won == 8 else ""
    if lost >= 4:  # SOLO-STOP-3
        return "failed"
    return "made" if won >= 5 and lost else ""  # SOLO-STOP-4


def value(hand: Hand, made: bool, options: Options) -> int:
    """Return the points of each winner of a hand, before the limit."""
    base = {"froke": 2, "iss": 2, "wedding": 4}.get(hand.contract, 6)  # SOLO-SCORE-1
    if hand.trump == "C":
        base *= 2
    if not made and options["fail_value"] == "base":  # SOLO-SCORE-4
        return base
    if hand.do:  # SOLO-SCORE-2
        return base * int(options["do_factor"])
    if hand.through:
        return base * int(options["through_factor"])
    return base


def remaining_seats(scores: list[int]) -> list[int]:
    """Return the seats that are not out (SOLO-END-1)."""
    return [seat for seat in FOUR if scores[seat] < OUT]


def scores_after(scores: list[int], winners: list[int], each: int, double_out: str) -> list[int]:
    """Return the scores when each winner has been given the points, by the option `double_out`."""
    after = list(scores)
    for seat in winners:
        after[seat] = min(OUT, scores[seat] + each)  # SOLO-SCORE-5
    if remaining_seats(after):
        return after
    # SOLO-LAST-3: all remaining seats would be out.
    remaining = remaining_seats(scores)
    fewest = min(scores[seat] for seat in remaining)
    lowest = [seat for seat in remaining if scores[seat] == fewest]
    if double_out == "void" or len(lowest) > 1:
        return list(scores)
    after[lowest[0]] = fewest
    return after


def final_ranking(went_out: dict[int, int], ranking: str) -> list[list[int]]:
    """Return groups of seats, given by seat the hand in which it went out (SOLO-END-4, SOLO-END-6)."""
    left = [seat for seat in FOUR if seat not in went_out]
    if ranking == "buck_only":
        return [sorted(went_out), left]
    return [*grouped(went_out, lambda seat: went_out[seat]), left]
