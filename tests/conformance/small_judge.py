"""The second implementation of the small game, written from its page."""

from croupier_loadtest.judge.rules.interface import Card, Illegal, JudgeTable, Legal, Pile, ReplayAction, Shuffle

DECK = [rank + suit for suit in "CD" for rank in "23456789"]


class HighCardTable(JudgeTable):
    """A table of the small game."""

    proposal_rule = "HIGH-DEAL-1"

    def __init__(self, seats: int, options: dict[str, bool | int | str]) -> None:
        super().__init__(seats, options)
        self.stock: list[Card] = []
        self.trick: list[tuple[Card, int | None]] = []
        self.tricks = [0] * seats
        self.turn: int | None = None

    @property
    def pending_shuffle(self) -> Shuffle | None:
        is_due = self.turn is None and self.ranking is None
        return Shuffle(list(DECK), [], self.round_number + 1, 1) if is_due else None

    @property
    def to_act(self) -> list[int]:
        return [] if self.turn is None else [self.turn]

    @property
    def piles(self) -> dict[str, Pile]:
        stock = Pile([(card, None) for card in self.stock], frozenset())
        return {name: pile for name, pile in (("stock", stock), ("trick", Pile(self.trick, None))) if pile.cards}

    def legal_in_turn(self, seat: int) -> Legal:
        return Legal([{"type": "play", "card": card} for card in sorted(self.hands[seat], key=DECK.index)], [])

    def shuffled(self, cards: list[Card], drawn: list[int]) -> ReplayAction:
        self.round_number, first = self.round_number + 1, (self.round_number + 1) % self.seats
        dealt = len(DECK) // (self.seats + 1) * self.seats
        self.hands, self.stock = self.dealt_singly(cards[:dealt], first), cards[dealt:]
        self.turn, self.tricks = first, [0] * self.seats
        return {"type": "deal", "cards": cards}

    def act(self, seat: int, action: ReplayAction) -> None:
        if seat != self.turn:
            raise Illegal("HIGH-PLAY-1")
        if action not in self.legal_in_turn(seat).actions:
            raise Illegal("HIGH-PLAY-2")
        self.hands[seat].remove(action["card"])
        self.trick.append((action["card"], seat))
        self.turn = (seat + 1) % self.seats
        if len(self.trick) == self.seats:
            self.take_trick()

    def takes(self, card: Card) -> tuple[str, str]:
        """Return the order of cards (HIGH-PLAY-2)."""
        return card[0], card[1]

    def take_trick(self) -> None:
        """Give the trick to its winner, and end the round with the last one."""
        winner = max(self.trick, key=lambda laid: self.takes(laid[0]))[1] or 0
        self.trick, self.turn = [], winner
        self.tricks[winner] += 1
        if not any(self.hands):
            self.turn = None
            self.score(self.tricks)
            if self.round_number == self.options["rounds"]:
                totals = sorted(set(self.scores), reverse=True)
                self.ranking = [[seat for seat in range(self.seats) if self.scores[seat] == one] for one in totals]

    def ranking_at_limit(self) -> list[list[int]] | None:
        return None
