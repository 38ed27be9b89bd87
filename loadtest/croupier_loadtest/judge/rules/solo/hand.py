"""The cards of solo and their order, and what has happened in one hand, from its deal on."""

from dataclasses import dataclass, field

from croupier_loadtest.judge.rules.interface import Card

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
NO_SEAT = -1
FOUR = [0, 1, 2, 3]


def cards_of(suit: str, cards: list[Card]) -> list[Card]:
    """Return the cards that count as cards of a suit: a black queen never does (SOLO-RANK-2)."""
    return [card for card in cards if card[1] == suit and card not in BLACK_QUEENS]


def kind(card: Card, trump: str) -> str:
    """Return the suit of a card for following: "trump", or its suit (SOLO-PLAY-2)."""
    return "trump" if card in TRUMPS[trump] else card[1]


def winner(trick: list[tuple[Card, int]], trump: str) -> int:
    """Return the seat whose card takes a trick (SOLO-PLAY-3)."""
    seats = dict(trick)
    return next(seats[best] for best in TRUMPS[trump] + PLAIN[trick[0][0][1]] if best in seats)


def no_cards() -> list[list[Card]]:
    """Return four empty hands."""
    return [[], [], [], []]


@dataclass(slots=True)
class Hand:
    """One hand; seats are NO_SEAT, and texts empty, until they are known."""

    dealt: list[list[Card]] = field(default_factory=no_cards)
    cards: list[list[Card]] = field(default_factory=no_cards)
    phase: str = "deal"
    turn: int = NO_SEAT
    auction: list[tuple[int, str]] = field(default_factory=list)
    """The calls of the auction by seat: a bid, or "pass"."""
    declarer: int = NO_SEAT
    contract: str = ""
    trump: str = ""
    do: bool = False
    called: Card = ""
    """The called card, also after the call "unknown"."""
    partner: int = NO_SEAT
    tricks: list[list[tuple[Card, int]]] = field(default_factory=list)
    trick: list[tuple[Card, int]] = field(default_factory=list)
    through: bool = False
    thrown_down: bool = False
    """Whether the declaring side has laid its last cards open (SOLO-THROUGH-5)."""

    def side(self) -> list[int]:
        """Return the seats of the declaring side."""
        return [seat for seat in FOUR if seat in (self.declarer, self.partner)]

    def defenders(self) -> list[int]:
        """Return the seats of the other side."""
        return [seat for seat in FOUR if seat not in self.side()]

    def tricks_won(self, seats: list[int]) -> int:
        """Return the number of finished tricks that these seats have taken."""
        return sum(1 for trick in self.tricks if winner(trick, self.trump) in seats)

    def is_called_card_unplayed(self) -> bool:
        """Return whether there is a called card that has not been played yet (page, section 3.4)."""
        return any(self.called in cards for cards in self.cards)

    def is_partner_hidden(self) -> bool:
        """Return whether the partner is hidden; the partner of a wedding never is."""
        return self.contract in ("froke", "iss") and self.is_called_card_unplayed()


def deal(deck: list[Card], dealer: int, start: str, packets: str) -> list[list[Card]]:
    """Return the four hands that come out of a deck by the options `deal_start` and `deal_packets` (SOLO-DEAL-2)."""
    hands = no_cards()
    first = dealer + 3 if start == "right" else dealer + 1
    left = list(deck)
    for size in [3, 2, 3] if packets == "323" else [1] * 8:
        for step in range(4):
            for _ in range(size):
                hands[(first + step) % 4].append(left.pop(0))
    return hands
