"""The cards of solo and their order."""

from loadtest.judge.rules.interface import Card

SUITS = ["C", "D", "H", "S"]
DECK: list[Card] = [rank + suit for suit in SUITS for rank in "789TJQKA"]  # SOLO-DECK-1
BLACK_QUEENS: list[Card] = ["QC", "QS"]

TRUMPS: dict[str, list[Card]] = {  # SOLO-RANK-1: by trump suit, highest first
    "C": ["QC", "7C", "QS", "AC", "KC", "JC", "TC", "9C", "8C"],
    "S": ["QC", "7S", "QS", "AS", "KS", "JS", "TS", "9S", "8S"],
    "H": ["QC", "7H", "QS", "AH", "KH", "QH", "JH", "TH", "9H", "8H"],
    "D": ["QC", "7D", "QS", "AD", "KD", "QD", "JD", "TD", "9D", "8D"],
}
PLAIN: dict[str, list[Card]] = {  # SOLO-RANK-3: highest first
    "C": ["AC", "KC", "JC", "TC", "9C", "8C", "7C"],
    "S": ["AS", "KS", "JS", "TS", "9S", "8S", "7S"],
    "H": ["AH", "KH", "QH", "JH", "TH", "9H", "8H", "7H"],
    "D": ["AD", "KD", "QD", "JD", "TD", "9D", "8D", "7D"],
}


def cards_of(suit: str, cards: list[Card]) -> list[Card]:
    """Those of the cards that count as cards of a suit: a black queen never does (SOLO-RANK-2)."""
    return [card for card in cards if card[1] == suit and card not in BLACK_QUEENS]


def kind(card: Card, trump: str) -> str:
    """What a card is to those who have to follow: "trump", or its suit (SOLO-PLAY-2)."""
    return "trump" if card in TRUMPS[trump] else card[1]


def winner(trick: list[tuple[Card, int | None]], trump: str) -> int:
    """The seat whose card takes a trick (SOLO-PLAY-3)."""
    led = trick[0][0]
    for best in TRUMPS[trump] + PLAIN[led[1]]:
        for card, seat in trick:
            if card == best and seat is not None:
                return seat
    raise ValueError(f"no card of {trick} wins with {trump} as trump")
