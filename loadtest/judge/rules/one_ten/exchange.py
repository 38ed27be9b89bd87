"""The exchange of a round of 110: what the bid winner keeps and the others swap, until all have drawn."""

from collections import Counter
from typing import Any

from loadtest.judge.rules.interface import Act, Card, Choice, Illegal, Legal, Pile
from loadtest.judge.rules.one_ten.cards import SUITS, ascending

KITTY_SIZE = 5


def swap_limit_of(seats: int) -> int:
    """How many cards a seat may swap (110-SWAP-2)."""
    return {7: 2, 8: 1}.get(seats, 3)


class Exchange:
    """What each seat has kept, put away and discarded so far; it changes the hands that it is given."""

    def __init__(self, hands: list[list[Card]], winner: int, kitty: list[Card], swap_timing: str) -> None:
        self.hands = hands
        self.winner = winner
        self.swap_timing = swap_timing
        self.kitty = kitty
        self.dealt = [list(hand) for hand in hands]
        self.hand_size = len(self.dealt[winner])
        self.put_away: list[Card] = []
        self.trump: str | None = None
        self.discards: dict[int, list[Card]] = {}
        hands[winner] += kitty  # 110-KEEP-1

    @property
    def to_act(self) -> list[int]:
        """Those who have not acted, with "after_trump" the bid winner before the others (110-SWAP-1)."""
        if self.trump is None and self.swap_timing == "after_trump":
            return [self.winner]
        return [seat for seat in range(len(self.hands)) if not self._has_acted(seat)]

    def legal(self, seat: int) -> Legal:
        """The one choice of a seat that is to act."""
        hand = list(self.hands[seat])
        if seat == self.winner:
            return Legal([], [Choice("keep", hand, self.hand_size, self.hand_size, SUITS)])
        return Legal([], [Choice("swap", hand, 0, swap_limit_of(len(self.hands)), [])])

    def act(self, seat: int, action: Act) -> None:
        """Keep or swap; raises Illegal."""
        if seat == self.winner:
            self._keep(action)
        else:
            self._swap(seat, action)

    def _has_acted(self, seat: int) -> bool:
        return self.trump is not None if seat == self.winner else seat in self.discards

    def _keep(self, action: Act) -> None:
        if action.get("type") != "keep" or set(action) != {"type", "cards", "trump"}:
            raise Illegal("110-KEEP-2", f"{action}")
        if action["trump"] not in SUITS:
            raise Illegal("110-KEEP-3", f"{action['trump']}")
        kept, hand = action["cards"], self.hands[self.winner]
        if not holds(hand, kept) or len(kept) != self.hand_size:
            raise Illegal("110-KEEP-2", f"{kept} of {hand}")
        self.put_away = ascending(without(hand, kept))
        self.hands[self.winner] = list(kept)
        self.trump = action["trump"]

    def _swap(self, seat: int, action: Act) -> None:
        if action.get("type") != "swap" or set(action) != {"type", "cards"}:
            raise Illegal("110-SWAP-3", f"{action}")
        cards, hand = action["cards"], self.hands[seat]
        if not holds(hand, cards) or len(cards) > swap_limit_of(len(self.hands)):
            raise Illegal("110-SWAP-2", f"{cards} of {hand}")
        self.discards[seat] = ascending(cards)
        self.hands[seat] = without(hand, cards)  # 110-SWAP-4

    def cards_to_draw(self) -> int:
        """How many cards all the others want in exchange."""
        return sum(len(cards) for cards in self.discards.values())

    def draw(self, stock: list[Card]) -> None:
        """Fill all hands from the top of the stock, clockwise from the bid winner's left (110-SWAP-4)."""
        for step in range(1, len(self.hands)):
            seat = (self.winner + step) % len(self.hands)
            for _ in self.discards[seat]:
                self.hands[seat].append(stock.pop(0))

    def hands_seen_by(self, viewer: int) -> list[list[Card]]:
        """The viewer's hand as it is, all others with as many cards as they were dealt (110-VIS-1)."""
        return [self.hands[seat] if seat == viewer else hand for seat, hand in enumerate(self.dealt)]

    def piles_seen_by(self, viewer: int) -> dict[str, Pile]:
        """What the viewer put away or discarded; to all but the bid winner the kitty lies as before (110-VIS-4)."""
        piles = {} if viewer == self.winner else {"kitty": face_down(self.kitty)}
        return piles | {name: pile for name, pile in self.piles().items() if pile.seen_by == frozenset({viewer})}

    def piles(self) -> dict[str, Pile]:
        """What lies face down, each known to the seat it comes from (110-VIS-2, 110-VIS-3)."""
        piles = {"put_away": Pile([(card, self.winner) for card in self.put_away], frozenset({self.winner}))}
        for seat, cards in self.discards.items():
            piles[f"discards_{seat}"] = Pile([(card, seat) for card in cards], frozenset({seat}))
        return piles


def face_down(cards: list[Card]) -> Pile:
    """A pile from nobody's hand that nobody knows."""
    return Pile([(card, None) for card in cards], frozenset())


def holds(hand: list[Card], cards: Any) -> bool:
    """Whether these are cards of the hand, each as often as it is there (110-KEEP-2)."""
    if not isinstance(cards, list) or not all(isinstance(card, str) for card in cards):
        return False
    return not Counter(cards) - Counter(hand)


def without(hand: list[Card], cards: list[Card]) -> list[Card]:
    """The hand less these cards."""
    rest = list(hand)
    for card in cards:
        rest.remove(card)
    return rest
