"""The cards of 110: the pack, which card beats which, and what a seat may play to a trick."""

from loadtest.judge.rules.cards import PACK
from loadtest.judge.rules.interface import Card

ASCENDING = [*PACK, "JK"]
LED_TRUMP = "trump"
"""The suit that a led trump asks for; a plain card asks for its own."""


# 110-RANK-2, 110-RANK-3: the trumps of each trump suit, the highest first.
TRUMPS = {
    "H": ["5H", "JH", "JK", "AH", "KH", "QH", "TH", "9H", "8H", "7H", "6H", "4H", "3H", "2H"],
    "D": ["5D", "JD", "JK", "AH", "AD", "KD", "QD", "TD", "9D", "8D", "7D", "6D", "4D", "3D", "2D"],
    "C": ["5C", "JC", "JK", "AH", "AC", "KC", "QC", "2C", "3C", "4C", "6C", "7C", "8C", "9C", "TC"],
    "S": ["5S", "JS", "JK", "AH", "AS", "KS", "QS", "2S", "3S", "4S", "6S", "7S", "8S", "9S", "TS"],
}

# 110-RANK-4, 110-RANK-5: the plain cards of each suit, the highest first.
PLAIN = {
    "H": ["KH", "QH", "JH", "TH", "9H", "8H", "7H", "6H", "5H", "4H", "3H", "2H"],
    "D": ["KD", "QD", "JD", "TD", "9D", "8D", "7D", "6D", "5D", "4D", "3D", "2D", "AD"],
    "C": ["KC", "QC", "JC", "AC", "2C", "3C", "4C", "5C", "6C", "7C", "8C", "9C", "TC"],
    "S": ["KS", "QS", "JS", "AS", "2S", "3S", "4S", "5S", "6S", "7S", "8S", "9S", "TS"],
}


def pack(decks: int) -> list[Card]:
    """Return all cards of a number of packs, ascending."""
    return [card for card in ASCENDING for _ in range(decks)]


def ascending(cards: list[Card]) -> list[Card]:
    """Return cards that move together, in the order of the pack, as they come to lie."""
    return sorted(cards, key=ASCENDING.index)


def is_trump(card: Card, trump: str) -> bool:
    """Return whether a card is of the trump suit, the joker or the ace of hearts (110-RANK-1)."""
    return card in TRUMPS[trump]


def led_suit(card: Card, trump: str) -> str:
    """Return the suit that this card asks for when it is led (110-TRICK-2)."""
    return LED_TRUMP if is_trump(card, trump) else card[1]


def renege_rank(card: Card, trump: str) -> int:
    """Return 4, 3, 2 and 1 for the four highest trumps, 0 for every other card (110-REN-1)."""
    four_highest = TRUMPS[trump][:4]
    return 4 - four_highest.index(card) if card in four_highest else 0


def highest_trump(cards: list[Card], trump: str) -> int | None:
    """Return the index of the highest trump, None without one; of two equal ones the first (110-RANK-6)."""
    for best in TRUMPS[trump]:
        if best in cards:
            return cards.index(best)
    return None


def best_card(cards: list[Card], trump: str) -> int:
    """Return the index of the card that takes the trick, the led one first (110-TRICK-5, 110-RANK-6)."""
    index = highest_trump(cards, trump)
    return index if index is not None else cards.index(next(best for best in PLAIN[cards[0][1]] if best in cards))


def forced_out(hand: list[Card], trick: list[Card], trump: str) -> list[Card]:
    """Return the reneging cards of a hand that one of higher rank in the trick calls out (110-REN-3 to 110-REN-5)."""
    highest = max([renege_rank(card, trump) for card in trick], default=0)
    return [card for card in hand if 0 < renege_rank(card, trump) < highest]


def playable(hand: list[Card], trick: list[Card], trump: str, force_out: str) -> tuple[str, list[Card]]:
    """Return the cards that may be played, and the id of the rule that decides; read from the top as the page is."""
    if not trick:
        return "110-PLAY-1", hand
    led = led_suit(trick[0], trump)
    forced = forced_out(hand, trick, trump)
    if force_out == "any_trick" and forced:
        return "110-PLAY-2", forced
    trumps = [card for card in hand if is_trump(card, trump)]
    following = [card for card in hand if led_suit(card, trump) == led]
    if led != LED_TRUMP:
        return ("110-PLAY-3", following + trumps) if following else ("110-PLAY-5", hand)
    if any(renege_rank(card, trump) == 0 for card in trumps):
        return "110-PLAY-4", trumps
    if forced:  # only with "trump_led", as 110-PLAY-2 has not decided
        return "110-PLAY-6", trumps
    return "110-PLAY-5", hand
