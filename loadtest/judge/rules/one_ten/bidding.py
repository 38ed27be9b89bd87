"""The bidding of a round of 110: who speaks, what he may say, and who wins."""

from loadtest.judge.rules.interface import Act, Illegal


def ladder_of(name: str, hand_size: int) -> list[int]:
    """The amounts that can be bid (110-BID-2)."""
    top = {"short": 30, "round_max": 5 * hand_size + 5, "long": 110}[name]
    return list(range(15, top + 1, 5))


class Bidding:
    """Who has called what so far; `winner` is set when it is over."""

    def __init__(self, seats: int, dealer: int, ladder: list[int], dealer_match: str) -> None:
        self.seats = seats
        self.dealer = dealer
        self.ladder = ladder
        self.dealer_match = dealer_match
        self.passed: set[int] = set()
        self.high_bidder: int | None = None
        self.amount = 0
        # 110-BID-1: the seat to the left of the dealer speaks first.
        self.speaker: int | None = (dealer + 1) % seats
        self.winner: int | None = None

    def legal(self) -> list[Act]:
        """All that the speaker may call, in the order of the page."""
        calls: list[Act] = [{"type": "bid", "amount": n} for n in self.ladder if n > self.amount]  # 110-BID-3
        if self.speaker == self.dealer and self.high_bidder is None:
            return calls  # 110-BID-7
        if self.speaker == self.dealer:
            calls.append({"type": "match"})  # 110-BID-5
        calls.append({"type": "pass"})  # 110-BID-4
        return calls

    def call(self, action: Act) -> None:
        """Do what the speaker calls; raises Illegal."""
        if action not in self.legal() or (action["type"] == "bid" and type(action["amount"]) is not int):
            raise self._refusal(action)
        speaker = self.speaker
        assert speaker is not None
        if action["type"] == "pass":
            self.passed.add(speaker)
        else:
            self.high_bidder = speaker
            self.amount = action.get("amount", self.amount)
        self._go_on(speaker, matched=action["type"] == "match")

    def _go_on(self, caller: int, matched: bool) -> None:
        self.speaker = None
        if not (matched and self.dealer_match == "wins"):  # 110-BID-6
            for step in range(1, self.seats):  # 110-BID-8: the first contender clockwise from the caller
                seat = (caller + step) % self.seats
                if self.speaker is None and self._contends(seat):
                    self.speaker = seat
        if self.speaker is None:
            self.winner = self.high_bidder

    def _contends(self, seat: int) -> bool:
        if seat in self.passed or seat == self.high_bidder:
            return False
        return self.amount < self.ladder[-1] or seat == self.dealer  # 110-BID-9

    def _refusal(self, action: Act) -> Illegal:
        kind = action.get("type")
        amount = action.get("amount")
        if kind == "bid":
            on_ladder = type(amount) is int and amount in self.ladder
            return Illegal("110-BID-3" if on_ladder else "110-BID-2", f"{amount} on {self.amount}")
        if kind in ("match", "pass") and self.speaker == self.dealer and self.high_bidder is None:
            return Illegal("110-BID-7", "the dealer has to bid")
        return Illegal("110-BID-5" if kind == "match" else "110-BID-3", f"{action}")
