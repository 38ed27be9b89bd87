"""Jøssing once more, read off the rules page as naively as possible: what the tests compare the product with.

It works on lists of card texts, changes in place, and shares no code with the product.
"""

from typing import Any

RANKS = "23456789TJQKA"


class JossingOracle:
    """A table, fed with table events and actions as a replay writes them; `totals` and `ranking` are its result."""

    def __init__(self, seats: int, options: dict[str, Any]) -> None:
        self.seats = seats
        self.options = options
        self.totals = [0] * seats
        self.ranking: list[list[int]] | None = None
        self.sizes = self.section_sizes()
        self.finished = 0
        self.stage = "deal"
        self.hands: list[list[str]] = []

    def section_sizes(self) -> list[int]:
        """How many cards each seat gets, section by section."""
        peak = (52 * self.options["decks"] - 1) // self.seats
        peak = 10 if peak > 10 else peak
        growing = list(range(1, peak + 1))
        return growing + growing[::-1] if self.options["game_type"] == "up_and_down" else growing

    def table_event(self, event: dict[str, Any]) -> None:
        """A deal."""
        assert self.stage == "deal"
        assert list(event) == ["type", "hands", "trump"]
        assert event["type"] == "deal"
        self.hands = [list(hand) for hand in event["hands"]]
        self.size = self.sizes[self.finished]
        assert [len(hand) for hand in self.hands] == [self.size] * self.seats
        everything = [card for hand in self.hands for card in hand] + [event["trump"]]
        assert all(card[0] in RANKS and card[1] in "CDHS" and len(card) == 2 for card in everything)
        assert max(map(everything.count, everything)) <= self.options["decks"]
        self.trump = event["trump"][1]
        self.dealer = (self.options["first_dealer"] + self.finished) % self.seats
        self.bids: list[int | None] = [None] * self.seats
        self.won = [0] * self.seats
        self.trick: list[tuple[int, str]] = []
        self.stage = "bid"

    def to_act(self) -> list[int]:
        """The seats that may act."""
        if self.stage == "play":
            return [self.turn]
        if self.stage != "bid":
            return []
        missing = [seat for seat in range(self.seats) if self.bids[seat] is None]
        if self.options["hook"] and missing != [self.dealer]:
            missing.remove(self.dealer)
        return missing

    def legal(self, seat: int) -> list[dict[str, Any]]:
        """The actions of a seat that is to act."""
        assert seat in self.to_act()
        if self.stage == "bid":
            amounts = list(range(self.size + 1))
            if self.options["hook"] and seat == self.dealer:
                barred = self.size - sum(bid for bid in self.bids if bid is not None)
                amounts = [amount for amount in amounts if amount != barred]
            return [{"type": "bid", "amount": amount} for amount in amounts]
        following = [card for card in self.hands[seat] if self.trick and card[1] == self.trick[0][1][1]]
        cards: list[str] = []
        for card in following or self.hands[seat]:
            if card not in cards:
                cards.append(card)
        return [{"type": "play", "card": card} for card in cards]

    def action(self, seat: int, action: dict[str, Any]) -> None:
        """A seat bids or plays."""
        assert action in self.legal(seat)
        if action["type"] == "bid":
            self.bids[seat] = action["amount"]
            if None not in self.bids:
                self.stage = "play"
                self.turn = self.first_leader()
            return
        self.hands[seat].remove(action["card"])
        self.trick.append((seat, action["card"]))
        self.turn = (seat + 1) % self.seats
        if len(self.trick) == self.seats:
            self.turn = self.trick_winner()
            self.won[self.turn] += 1
            self.trick = []
            if sum(self.won) == self.size:
                self.finish_section()

    def first_leader(self) -> int:
        """The left of the dealer, or the first of the highest bidders from there."""
        order = [seat % self.seats for seat in range(self.dealer + 1, self.dealer + 1 + self.seats)]
        if self.options["leader"] == "highest_bidder":
            highest = max(bid for bid in self.bids if bid is not None)
            return next(seat for seat in order if self.bids[seat] == highest)
        return order[0]

    def trick_winner(self) -> int:
        """Look for the highest trump, then for the highest card of the suit that was led."""
        for suit in (self.trump, self.trick[0][1][1]):
            for rank in reversed(RANKS):
                copies = [seat for seat, card in self.trick if card == rank + suit]
                if copies:
                    return copies[0] if self.options["identical_cards"] == "first" else copies[-1]
        raise AssertionError("somebody played the led suit")

    def finish_section(self) -> None:
        """Points for those who won what they bid."""
        for seat in range(self.seats):
            bid = self.bids[seat]
            if bid is not None and bid == self.won[seat]:
                self.totals[seat] += 10 + bid if self.options["scoring"] == "classic" else 5 + 5 * bid
        self.finished += 1
        self.stage = "deal"
        if self.finished == len(self.sizes):
            self.stage = "over"
            self.ranking = []
            for total in sorted(set(self.totals), reverse=True):
                self.ranking.append([seat for seat in range(self.seats) if self.totals[seat] == total])
