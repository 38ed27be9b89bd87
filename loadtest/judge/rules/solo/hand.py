"""What has happened in one hand of solo, from its deal on."""

from dataclasses import dataclass, field

from loadtest.judge.rules.interface import Card
from loadtest.judge.rules.solo.cards import winner

NOBODY = -1
FOUR = [0, 1, 2, 3]


def no_cards() -> list[list[Card]]:
    """Four empty hands."""
    return [[], [], [], []]


@dataclass(slots=True)
class Hand:
    """One hand; seats are NOBODY, and texts empty, until it is known who and what."""

    dealt: list[list[Card]] = field(default_factory=no_cards)
    cards: list[list[Card]] = field(default_factory=no_cards)
    phase: str = "deal"
    turn: int = NOBODY
    said: list[tuple[int, str]] = field(default_factory=list)
    """What each seat said in the auction: a bid, or "pass"."""
    declarer: int = NOBODY
    contract: str = ""
    trump: str = ""
    do: bool = False
    called: Card = ""
    """The card that was meant, if "unknown" was said too."""
    partner: int = NOBODY
    tricks: list[list[tuple[Card, int | None]]] = field(default_factory=list)
    trick: list[tuple[Card, int | None]] = field(default_factory=list)
    through: bool = False

    def side(self) -> list[int]:
        """The seats of the declaring side."""
        return [seat for seat in FOUR if seat in (self.declarer, self.partner)]

    def defenders(self) -> list[int]:
        """The seats of the other side."""
        return [seat for seat in FOUR if seat not in self.side()]

    def tricks_won(self, seats: list[int]) -> int:
        """How many of the finished tricks these seats have taken."""
        return sum(1 for trick in self.tricks if winner(trick, self.trump) in seats)

    def is_partner_hidden(self) -> bool:
        """Whether the called card of a froke or an iss has not been played yet (page, section 3.4)."""
        return self.contract in ("froke", "iss") and any(self.called in cards for cards in self.cards)


def deal(deck: list[Card], dealer: int, start: str, packets: str) -> list[list[Card]]:
    """The four hands that come out of a deck by the options `deal_start` and `deal_packets` (SOLO-DEAL-2)."""
    hands = no_cards()
    first = dealer + 3 if start == "right" else dealer + 1
    left = list(deck)
    for size in [3, 2, 3] if packets == "323" else [1] * 8:
        for step in range(4):
            for _ in range(size):
                hands[(first + step) % 4].append(left.pop(0))
    return hands
