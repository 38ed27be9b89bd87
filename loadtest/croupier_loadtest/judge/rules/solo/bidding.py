"""The auction of solo, the question to keep a bid, trump, and the call."""

from croupier_loadtest.judge.rules.interface import Card, Options, ReplayAction
from croupier_loadtest.judge.rules.solo.hand import BLACK_QUEENS, FOUR, NO_SEAT, SUITS, Hand, cards_of

BIDS = ["froke", "iss", "wedding", "solo", "solo_clubs", "solo_do", "solo_do_clubs"]  # SOLO-BID-2, lowest first
SOLOS = ["solo", "solo_clubs", "solo_do", "solo_do_clubs"]
CLUB_BIDS = ["iss", "solo_clubs", "solo_do_clubs"]


def rank(bid: str, options: Options) -> int:
    """Return the rank of a bid; without `do_over_clubs` a solo in clubs is above a do (SOLO-BID-9)."""
    changed_places = {"solo_clubs": "solo_do", "solo_do": "solo_clubs"}
    return BIDS.index(bid if options["do_over_clubs"] else changed_places.get(bid, bid))


def bid_refusal(hand: Hand, seat: int, action: ReplayAction, options: Options) -> str:
    """Return the rule against a pass or a bid in the auction; empty if there is none."""
    if action["type"] == "pass":  # SOLO-BID-3
        return ""
    bid, cards = action["bid"], hand.cards[seat]
    both_queens = all(queen in cards for queen in BLACK_QUEENS)
    own = rank(bid, options)
    if any(earlier != "pass" and own <= rank(earlier, options) for _, earlier in hand.auction):
        return "SOLO-BID-4"
    if bid in CLUB_BIDS and not cards_of("C", cards):
        return "SOLO-BID-5"
    if bid == "wedding" and not both_queens:
        return "SOLO-BID-6"
    if bid in ("froke", "iss") and both_queens:
        return "SOLO-WED-1"
    return ""


def highest(hand: Hand) -> tuple[int, str]:
    """Return the seat with the last bid, which is the highest one, and the bid; NO_SEAT and "" if all passed."""
    bids = [(seat, bid) for seat, bid in hand.auction if bid != "pass"]
    return bids[-1] if bids else (NO_SEAT, "")


def holder_of_both_queens(hand: Hand) -> int:
    """Return the seat that holds both black queens, or NO_SEAT."""
    return next((seat for seat in FOUR if {*BLACK_QUEENS} <= {*hand.cards[seat]}), NO_SEAT)


def seat_that_may_keep(hand: Hand, options: Options) -> int:
    """Return the seat that may keep the bid which the highest one overruled, or NO_SEAT (SOLO-KEEP-1, SOLO-KEEP-3)."""
    keeps = [("froke", "iss")]
    if options["solo_keep"]:
        keeps += [("solo", "solo_clubs"), ("solo_do", "solo_do_clubs")]
    bids = [(NO_SEAT, ""), (NO_SEAT, ""), *((seat, bid) for seat, bid in hand.auction if bid != "pass")]
    (seat, overruled), (_, last) = bids[-2:]
    return seat if (overruled, last) in keeps else NO_SEAT


def trump_refusal(hand: Hand, seat: int, action: ReplayAction, options: Options) -> str:
    """Return the rule against naming a trump suit; empty if there is none."""
    suit, cards = action["trump"], hand.cards[seat]
    if hand.contract in CLUB_BIDS and suit != "C":
        return "SOLO-TRUMP-2"
    if not cards_of(suit, cards):
        return "SOLO-TRUMP-3"
    is_called_suit = hand.contract == "wedding" and suit == hand.called[1]
    has_another = any(cards_of(other, cards) for other in SUITS if other != suit)
    if is_called_suit and has_another and options["wedding_trump"] == "not_called_suit":
        return "SOLO-WED-6"
    if action["do"] and (hand.contract in SOLOS or not options["partner_do"]):
        return "SOLO-TRUMP-4"
    return ""


def calls(hand: Hand) -> tuple[str, list[Card]]:
    """Return the calls of the declarer, and their rule (SOLO-CALL-1): before trump is named, all suits are open."""
    cards = hand.cards[hand.declarer]
    open_suits = [suit for suit in SUITS if suit != hand.trump]
    missing = [suit for suit in open_suits if "A" + suit not in cards]
    with_a_card = [suit for suit in missing if cards_of(suit, cards)]
    if not missing:
        return "SOLO-CALL-3", _below_the_aces(cards, open_suits)
    if with_a_card:
        return "SOLO-CALL-2", ["A" + suit for suit in with_a_card]
    if len(missing) == 1 and hand.contract != "wedding":  # SOLO-WED-3
        return "SOLO-CALL-4", ["unknown"]
    return "SOLO-CALL-5", ["A" + suit for suit in missing]


def call_refusal(hand: Hand, name: str, options: Options) -> str:
    """Return the rule against a call of the declarer; empty if there is none."""
    if name == "nobody":
        may_play_alone = options["call"] == "may" and hand.contract != "wedding"
        return "" if may_play_alone else "SOLO-CALL-6"
    rule, names = calls(hand)
    return "" if name in names else rule


def _below_the_aces(cards: list[Card], open_suits: list[str]) -> list[Card]:
    by_rank = [[rank + suit for suit in open_suits] for rank in "KQJ"]
    lacking = [[card for card in called if card not in cards + BLACK_QUEENS] for called in by_rank]
    return next(filter(None, lacking), [])


def called_card(hand: Hand, name: str) -> Card:
    """Return the called card; for "unknown" the one ace of a plain suit that the declarer lacks (SOLO-CALL-4)."""
    if name != "unknown":
        return name
    return next("A" + suit for suit in SUITS if suit != hand.trump and "A" + suit not in hand.cards[hand.declarer])


def is_forbidden_pair(hand: Hand, remaining: list[int], last_two: str) -> bool:
    """Return whether a call throws the hand in, given the seats that are not out (SOLO-LAST-1, SOLO-LAST-2)."""
    if len(remaining) != 2:
        return False
    return remaining == hand.side() or (last_two == "either_pair" and remaining == hand.defenders())
