"""110 once more, read off the rules page as naively as possible: what the tests compare the product with.

It works on lists of card texts, changes in place, and shares no code with the product.
"""

from typing import Any

PACK = [rank + suit for suit in "CDHS" for rank in "23456789TJQKA"] + ["JK"]
TRUMP_ORDERS = {
    "H": "5H JH JK AH KH QH TH 9H 8H 7H 6H 4H 3H 2H",
    "D": "5D JD JK AH AD KD QD TD 9D 8D 7D 6D 4D 3D 2D",
    "C": "5C JC JK AH AC KC QC 2C 3C 4C 6C 7C 8C 9C TC",
    "S": "5S JS JK AH AS KS QS 2S 3S 4S 6S 7S 8S 9S TS",
}
PLAIN_ORDERS = {
    "H": "KH QH JH TH 9H 8H 7H 6H 5H 4H 3H 2H",
    "D": "KD QD JD TD 9D 8D 7D 6D 5D 4D 3D 2D AD",
    "C": "KC QC JC AC 2C 3C 4C 5C 6C 7C 8C 9C TC",
    "S": "KS QS JS AS 2S 3S 4S 5S 6S 7S 8S 9S TS",
}
TRUMPS = {suit: text.split() for suit, text in TRUMP_ORDERS.items()}
PLAIN = {suit: text.split() for suit, text in PLAIN_ORDERS.items()}


def renege_rank(card: str, trump: str) -> int:
    """110-REN-1."""
    return {"5" + trump: 4, "J" + trump: 3, "JK": 2, "AH": 1}.get(card, 0)


class OneTenOracle:
    """A game, fed with table events and actions as a replay writes them; `totals` and `ranking` are its result."""

    def __init__(self, seats: int, options: dict[str, Any]) -> None:
        self.seats = seats
        self.options = options
        self.totals = [0] * seats
        self.ranking: list[list[int]] | None = None
        self.rounds = 0
        self.dealer: int | None = None
        self.phase = "deal"
        self.acting: list[int] = []
        self.stock: list[str] = []
        self.put_away: list[str] = []
        self.deck = sorted(PACK * options["decks"])
        enough = 10 * seats + 5 <= 53 * options["decks"]
        self.size = (10 if enough else 5) if options["hand_size"] == "auto" else int(options["hand_size"])
        top = {"short": 30, "round_max": 5 * self.size + 5, "long": 110}[options["bid_ladder"]]
        self.ladder = list(range(15, top + 1, 5))
        self.swap_limit = 3 if seats <= 6 else 2 if seats == 7 else 1

    # The table

    def table_event(self, event: dict[str, Any]) -> None:
        """A deal or a reshuffle."""
        if event["type"] == "reshuffle":
            assert set(event) == {"type", "stock"}
            assert self.phase == "reshuffle"
            assert sorted(event["stock"]) == sorted(self.put_away)
            self.stock = self.stock + event["stock"]
            self.put_away = []
            self.draw()
            return
        assert set(event) == {"type", "dealer", "hands", "kitty", "stock"}
        assert self.phase == "deal"
        assert self.dealer is None or event["dealer"] == (self.dealer + 1) % self.seats
        everything = [card for hand in event["hands"] for card in hand] + event["kitty"] + event["stock"]
        assert sorted(everything) == self.deck
        assert [len(hand) for hand in event["hands"]] == [self.size] * self.seats
        assert len(event["kitty"]) == 5
        self.begin(event["dealer"], [list(hand) for hand in event["hands"]], list(event["kitty"]), event["stock"])

    def begin(self, dealer: int, hands: list[list[str]], kitty: list[str], stock: list[str]) -> None:
        """Start the bidding."""
        self.dealer, self.hands, self.kitty, self.stock = dealer, hands, kitty, list(stock)
        self.phase = "bidding"
        self.passed: list[int] = []
        self.bidder: int | None = None
        self.bid = 0
        self.acting = [(dealer + 1) % self.seats]

    def action(self, seat: int, action: dict[str, Any]) -> None:
        """What a seat did."""
        assert seat in self.acting
        assert self.phase in ("bidding", "kitty", "tricks")
        if self.phase == "bidding":
            assert action in self.legal(seat)
            self.call(seat, action)
        elif self.phase == "kitty":
            self.exchange(seat, action)
        else:
            assert action in self.legal(seat)
            self.play(seat, action["card"])

    def legal(self, seat: int) -> list[dict[str, Any]]:
        """What a seat may do; not for the kitty phase, where there are too many ways."""
        if seat not in self.acting:
            return []
        if self.phase == "tricks":
            return [{"type": "play", "card": card} for card in self.playable(self.hands[seat])]
        bids: list[dict[str, Any]] = [{"type": "bid", "amount": amount} for amount in self.ladder if amount > self.bid]
        if seat != self.dealer:
            return [*bids, {"type": "pass"}]
        return [*bids, {"type": "match"}, {"type": "pass"}] if self.bidder is not None else bids

    # The bidding

    def call(self, seat: int, action: dict[str, Any]) -> None:
        if action["type"] == "bid":
            self.bidder, self.bid = seat, action["amount"]
        elif action["type"] == "match":
            self.bidder = seat
            if self.options["dealer_match"] == "wins":
                self.open_kitty()
                return
        else:
            self.passed.append(seat)
        for step in range(1, self.seats):
            following = (seat + step) % self.seats
            if following in self.passed or following == self.bidder:
                continue
            if self.bid == self.ladder[-1] and following != self.dealer:
                continue
            self.acting = [following]
            return
        self.open_kitty()

    # The kitty and the swaps

    def open_kitty(self) -> None:
        assert self.bidder is not None
        self.phase = "kitty"
        self.hands[self.bidder] += self.kitty
        self.swapped: list[list[str]] = [[] for _ in range(self.seats)]
        self.put_away = []
        late = self.options["swap_timing"] == "after_trump"
        self.acting = [self.bidder] if late else list(range(self.seats))

    def exchange(self, seat: int, action: dict[str, Any]) -> None:
        hand = self.hands[seat]
        for card in action["cards"]:
            hand.remove(card)
        self.acting.remove(seat)
        if seat == self.bidder:
            assert set(action) == {"type", "cards", "trump"}
            assert action["type"] == "keep"
            assert len(action["cards"]) == self.size
            self.trump = action["trump"]
            assert self.trump in "CDHS"
            self.put_away = hand
            self.hands[seat] = list(action["cards"])
            if self.options["swap_timing"] == "after_trump":
                self.acting = [other for other in range(self.seats) if other != seat]
        else:
            assert set(action) == {"type", "cards"}
            assert action["type"] == "swap"
            assert len(action["cards"]) <= self.swap_limit
            self.swapped[seat] = list(action["cards"])
        if self.acting:
            return
        if sum(len(cards) for cards in self.swapped) > len(self.stock):
            self.phase = "reshuffle"
        else:
            self.draw()

    def draw(self) -> None:
        assert self.bidder is not None
        for step in range(1, self.seats):
            seat = (self.bidder + step) % self.seats
            for _ in self.swapped[seat]:
                self.hands[seat].append(self.stock.pop(0))
        self.start_tricks(self.bidder)

    # The tricks

    def start_tricks(self, leader: int) -> None:
        self.phase = "tricks"
        self.acting = [leader]
        self.trick: list[tuple[int, str]] = []
        self.finished: list[tuple[int, list[tuple[int, str]]]] = []

    def is_trump(self, card: str) -> bool:
        return card in TRUMPS[self.trump]

    def playable(self, hand: list[str]) -> list[str]:
        """110-PLAY-1 to -6, from the top; a card that is held twice is listed once."""
        hand = sorted(set(hand))
        if not self.trick:
            return hand
        highest = max(renege_rank(card, self.trump) for _, card in self.trick)
        forced = [card for card in hand if 0 < renege_rank(card, self.trump) < highest]
        if forced and self.options["force_out"] == "any_trick":
            return forced
        led = self.trick[0][1]
        trumps = [card for card in hand if self.is_trump(card)]
        if not self.is_trump(led):
            following = [card for card in hand if not self.is_trump(card) and card[1] == led[1]]
            return following + trumps if following else hand
        obliging = [card for card in trumps if renege_rank(card, self.trump) == 0 or card in forced]
        return trumps if obliging else hand

    def play(self, seat: int, card: str) -> None:
        self.hands[seat].remove(card)
        self.trick.append((seat, card))
        if len(self.trick) < self.seats:
            self.acting = [(seat + 1) % self.seats]
            return
        winner = self.winner(self.trick)
        self.finished.append((winner, self.trick))
        self.trick = []
        self.acting = [winner]
        if len(self.finished) == self.size:
            self.end_round()

    def winner(self, trick: list[tuple[int, str]]) -> int:
        order = TRUMPS[self.trump] if any(self.is_trump(card) for _, card in trick) else PLAIN[trick[0][1][1]]
        ranked = [(order.index(card), at) for at, (_, card) in enumerate(trick) if card in order]
        return trick[min(ranked)[1]][0]

    # The scores

    def end_round(self) -> None:
        assert self.bidder is not None
        self.rounds += 1
        self.acting = []
        points = [5 * sum(winner == seat for winner, _ in self.finished) for seat in range(self.seats)]
        played = [
            (TRUMPS[self.trump].index(card), number, seat)
            for number, (_, trick) in enumerate(self.finished)
            for seat, card in trick
            if self.is_trump(card)
        ]
        bonus_trick = bonus_seat = None
        if played:
            _, bonus_trick, bonus_seat = min(played, key=lambda trump: trump[0])
        stake = self.bid if self.options["bonus_forfeit"] == "bid" else self.totals[self.bidder]
        if bonus_seat == self.bidder and stake >= 85:
            bonus_seat = None
        reached = points[self.bidder]
        if bonus_seat == self.bidder and self.options["bonus_counts_for_bid"]:
            reached += 5
        made = reached >= self.bid
        if not made and bonus_seat == self.bidder:
            bonus_seat = None
        if bonus_seat is not None:
            points[bonus_seat] += 5
        if not made:
            points[self.bidder] = -self.bid
        before = list(self.totals)
        self.totals = [total + gained for total, gained in zip(self.totals, points, strict=True)]
        self.made, self.points, self.bonus_seat = made, points, bonus_seat
        self.phase = "deal"
        if max(self.totals) >= 110 or self.rounds == self.options["max_rounds"]:
            self.phase = "over"
            self.rank(before, bonus_trick, bonus_seat)

    def rank(self, before: list[int], bonus_trick: int | None, bonus_seat: int | None) -> None:
        first = None
        for number, (seat, _) in enumerate(self.finished):
            if seat == self.bidder and not self.made:
                continue
            before[seat] += 5
            if bonus_seat == seat and bonus_trick == number:
                before[seat] += 5
            if before[seat] >= 110 and first is None:
                first = seat
        groups = [] if first is None else [[first]]
        rest = [seat for seat in range(self.seats) if seat != first]
        scores = sorted({self.totals[seat] for seat in rest}, reverse=True)
        self.ranking = groups + [[seat for seat in rest if self.totals[seat] == score] for score in scores]
