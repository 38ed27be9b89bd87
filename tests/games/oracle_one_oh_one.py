"""101 once more, read off the rules page as naively as possible: what the tests compare the product with.

It works on lists of card texts, changes in place, and shares no code with the product.
"""

from typing import Any

VALUES = {"J": 2, "Q": 3, "K": 4, "A": 11, "T": 10, "2": 2, "3": 3, "4": 4, "5": 5, "6": 6, "7": 7, "8": 8, "9": 9}


def deck(size: int) -> list[str]:
    """36 cards from the sixes up, 52, or two packs."""
    ranks = "6789TJQKA" if size == 36 else "23456789TJQKA"
    cards = [rank + suit for rank in ranks for suit in "CDHS"]
    return cards + cards if size == 104 else cards


def left_points(hand: list[str]) -> int:
    """What a hand costs that is left."""
    if hand and all(card[0] == "Q" for card in hand):
        return sum(40 if card == "QH" else 20 for card in hand)
    return sum(VALUES[card[0]] for card in hand)


class OneOhOneOracle:
    """A game, fed with table events and actions as a replay writes them; `totals` and `ranking` are its result."""

    def __init__(self, seats: int, options: dict[str, Any]) -> None:
        self.seats = seats
        self.options = options
        self.totals = [0] * seats
        self.playing = list(range(seats))
        self.dropped: list[list[int]] = []
        self.round_number = 0
        self.winner: int | None = None
        self.hands: list[list[str]] = [[] for _ in range(seats)]
        self.stock: list[str] = []
        self.pile: list[str] = []
        self.to_act: int | None = None
        self.must_lead: str | None = None
        self.ordered: str | None = None
        self.covering = False
        self.waiting: tuple[int, int, int | None] | None = None
        self.ranking: list[list[int]] | None = None

    def table_event(self, event: dict[str, Any]) -> None:
        """A deal or a reshuffle."""
        if event["type"] == "reshuffle":
            assert set(event) == {"type", "stock"}
            self.reshuffle(event["stock"])
            return
        assert event["type"] == "deal"
        assert set(event) == {"type", "starter", "hands", "stock"}
        assert self.to_act is None
        assert self.waiting is None
        assert self.ranking is None
        starter = event["starter"]
        assert starter in (self.playing if self.winner is None else [self.winner])
        for seat, hand in enumerate(event["hands"]):
            assert len(hand) == (5 if seat in self.playing else 0)
        everything = event["stock"] + [card for hand in event["hands"] for card in hand]
        assert sorted(everything) == sorted(deck(self.options["deck"]))
        self.begin(starter, event["hands"], event["stock"])

    def begin(self, starter: int, hands: list[list[str]], stock: list[str]) -> None:
        """The first card of a round is due."""
        self.round_number += 1
        self.hands = [list(hand) for hand in hands]
        self.stock = list(stock)
        self.pile = []
        self.ordered, self.covering, self.waiting = None, False, None
        self.to_act = starter
        self.must_lead = None if self.options["first_move_any"] else hands[starter][-1]

    def after(self, seat: int) -> int:
        """The next player."""
        seat = (seat + 1) % self.seats
        while seat not in self.playing:
            seat = (seat + 1) % self.seats
        return seat

    def fits(self, card: str) -> bool:
        """Whether a card may be put on the top card now."""
        if not self.pile:
            return self.must_lead is None or card == self.must_lead
        top = self.pile[-1]
        if self.covering:
            return card[1] == top[1] or (card[0] == "Q" and self.options["queen_covers_six"])
        if card[0] == "Q":
            return True
        if top[0] == "Q":
            return card[1] == self.ordered
        return card[0] == top[0] or card[1] == top[1]

    def legal(self) -> list[dict[str, Any]]:
        """What the seat to act may do."""
        assert self.to_act is not None
        actions: list[dict[str, Any]] = []
        for card in sorted(set(self.hands[self.to_act])):
            if self.fits(card) and card[0] == "Q":
                actions += [{"type": "play", "card": card, "suit": suit} for suit in "CDHS"]
            elif self.fits(card):
                actions.append({"type": "play", "card": card})
        may_draw = self.options["may_draw_instead"] and self.pile and not self.covering and not self.nothing_to_take()
        if not actions or may_draw:
            actions.append({"type": "draw"})
        return actions

    def nothing_to_take(self) -> bool:
        """101-STOCK-4."""
        return not self.stock and len(self.pile) <= 1

    def action(self, seat: int, action: dict[str, Any]) -> None:
        """A seat plays or draws."""
        assert seat == self.to_act
        assert action in self.legal()
        if action["type"] == "draw":
            self.covering = False
            self.take(seat, 1, self.after(seat))
            return
        card = action["card"]
        self.must_lead, self.covering = None, False
        self.hands[seat].remove(card)
        self.pile.append(card)
        self.ordered = action.get("suit")
        hurt = self.after(seat)
        takes = 2 if card[0] == "7" else 5 if card == "KS" else 0
        if not self.hands[seat] and (card[0] != "6" or self.options["finish_on_six"]):
            self.take(hurt, takes if self.options["last_card_effects"] else 0, None)
        elif card[0] == "6":
            self.covering = True
        elif takes or card[0] == "A":
            self.take(hurt, takes, self.after(hurt))
        else:
            self.to_act = hurt

    def take(self, seat: int, count: int, then: int | None) -> None:
        """A seat takes cards one by one; `then` is who acts after it, None if the round is over."""
        self.to_act = None
        for taken in range(count):
            if self.nothing_to_take():
                break
            if not self.stock and self.options["recycle"] == "shuffle":
                self.waiting = (seat, count - taken, then)
                return
            if not self.stock:
                self.stock, self.pile = self.pile[:-1], self.pile[-1:]
            self.hands[seat].append(self.stock.pop(0))
        if then is None:
            self.finish()
        else:
            self.to_act = then

    def reshuffle(self, stock: list[str]) -> None:
        """The table shuffled what lay under the top card."""
        assert self.waiting is not None
        assert sorted(stock) == sorted(self.pile[:-1])
        self.stock, self.pile = list(stock), self.pile[-1:]
        waiting, self.waiting = self.waiting, None
        self.take(*waiting)

    def finish(self) -> None:
        """Score the round."""
        self.winner = next(seat for seat in self.playing if not self.hands[seat])
        losers = []
        for seat in self.playing:
            if seat != self.winner:
                self.totals[seat] += left_points(self.hands[seat])
            elif self.pile[-1][0] == "Q":
                self.totals[seat] -= 40 if self.pile[-1] == "QH" else 20
            if self.options["floor_zero"] and self.totals[seat] < 0:
                self.totals[seat] = 0
            if self.options["exact_101_reset"] and self.totals[seat] == 101:
                self.totals[seat] = 0
            if self.totals[seat] > 101 or (self.totals[seat] == 101 and self.options["lose_at"] == "reach"):
                losers.append(seat)
        if self.options["elimination"]:
            self.playing = [seat for seat in self.playing if seat not in losers]
            self.dropped = self.by_score(losers) + self.dropped
        over = len(self.playing) == 1 if self.options["elimination"] else bool(losers)
        if over or self.round_number == self.options["max_rounds"]:
            self.ranking = self.by_score(self.playing) + self.dropped

    def by_score(self, seats: list[int]) -> list[list[int]]:
        """Groups of equal scores, the lowest first."""
        scores = sorted({self.totals[seat] for seat in seats})
        return [[seat for seat in sorted(seats) if self.totals[seat] == score] for score in scores]
