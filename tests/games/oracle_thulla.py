"""Thulla once more, read off the rules page as naively as possible: what the tests compare the product with.

It works on lists of card texts, changes in place, and shares no code with the product.
"""

from typing import Any

RANKS = "23456789TJQKA"
POINTS = {"A": 11, "K": 10, "Q": 10, "J": 10, "T": 10}
REMOVED = {2: [], 3: ["2C"], 4: [], 5: ["2C", "2D"], 6: ["2C", "2D", "2H", "2S"]}


def card_points(card: str) -> int:
    """Section 4, last line of the table."""
    return POINTS[card[0]] if card[0] in POINTS else int(card[0])


class ThullaOracle:
    """A match, fed with table events and actions as a replay writes them; `totals` and `ranking` are its result."""

    def __init__(self, seats: int, options: dict[str, Any]) -> None:
        self.seats = seats
        self.options = options
        self.totals = [0] * seats
        self.orders: list[list[int]] = []
        self.ranking: list[list[int]] | None = None
        self.running = False
        self.to_act: int | None = None

    def table_event(self, event: dict[str, Any]) -> None:
        """A deal."""
        assert event["type"] == "deal"
        assert set(event) == {"type", "hands"} | ({"starter"} if self.options["start"] == "random" else set())
        self.hands: list[list[str]] = [list(hand) for hand in event["hands"]]
        everything = sorted(card for hand in self.hands for card in hand)
        deck = [rank + suit for rank in RANKS for suit in "CDHS" if rank + suit not in REMOVED[self.seats]]
        assert everything == sorted(deck)
        assert len({len(hand) for hand in self.hands}) == 1
        dealer = (self.options["first_dealer"] + len(self.orders)) % self.seats
        holder = next(seat for seat in range(self.seats) if "AS" in self.hands[seat])
        leader = {
            "ace_of_spades": holder,
            "random": event.get("starter"),
            "dealer": dealer,
            "left_of_dealer": (dealer + 1) % self.seats,
        }[self.options["start"]]
        assert leader is not None
        self.begin(leader, ace_is_forced=self.options["start"] == "ace_of_spades")

    def begin(self, leader: int, ace_is_forced: bool) -> None:
        """Start the first trick with the hands that are set."""
        self.running = True
        self.out = [seat for seat in range(self.seats) if not self.hands[seat]]
        self.wasted: list[str] = []
        self.counter = 0
        self.game_points = [0] * self.seats
        self.ace_is_forced = ace_is_forced
        self.start_trick(leader)

    def holders(self) -> list[int]:
        return [seat for seat in range(self.seats) if self.hands[seat]]

    def next_holder(self, seat: int) -> int:
        for step in range(1, self.seats + 1):
            if self.hands[(seat + step) % self.seats]:
                return (seat + step) % self.seats
        raise AssertionError("nobody holds cards")

    def start_trick(self, leader: int) -> None:
        self.leader = leader
        self.participants = self.holders()
        self.trick: list[tuple[int, str]] = []
        self.to_act = leader

    def legal(self) -> list[str]:
        """The cards that the seat to act may play."""
        assert self.to_act is not None
        hand = self.hands[self.to_act]
        if self.ace_is_forced:
            return ["AS"]
        if self.trick:
            same = [card for card in hand if card[1] == self.trick[0][1][1]]
            if same:
                return same
        return list(hand)

    def action(self, seat: int, action: dict[str, Any]) -> None:
        """A seat plays; section 3.6 step by step."""
        assert self.running
        assert seat == self.to_act
        assert set(action) == {"type", "card"}
        card = action["card"]
        assert card in self.legal()
        self.ace_is_forced = False
        self.hands[seat].remove(card)
        self.trick.append((seat, card))
        at_once = self.options["last_card"] == "safe_at_once"
        if at_once and not self.hands[seat]:
            self.go_out(seat)
            if len(self.holders()) == 1:
                self.wasted += [lying for _, lying in self.trick]
                self.finish(self.holders(), stalled=False)
                return
        led = self.trick[0][1][1]
        if card[1] != led:
            self.finish_trick(*self.resolve_cut(led, at_once))
        elif len(self.trick) == len(self.participants):
            self.wasted += [lying for _, lying in self.trick]
            self.finish_trick(self.by_strength(led)[0], picked_up=False)
        else:
            step = 1
            while (seat + step) % self.seats not in self.participants:
                step += 1
            self.to_act = (seat + step) % self.seats

    def by_strength(self, led: str) -> list[int]:
        ranked = [(RANKS.index(card[0]), seat) for seat, card in self.trick if card[1] == led]
        return [seat for _, seat in sorted(ranked)][::-1]

    def resolve_cut(self, led: str, at_once: bool) -> tuple[int, bool]:
        obliged = self.by_strength(led) if self.options["pickup"] == "highest" else [self.trick[-1][0]]
        able = [seat for seat in obliged if self.hands[seat]] if at_once else obliged
        lying = [card for _, card in self.trick]
        if able:
            self.hands[able[0]] += lying
            return able[0], True
        self.wasted += lying
        return obliged[0], False

    def finish_trick(self, nominal: int, picked_up: bool) -> None:
        someone_left = any(not self.hands[seat] for seat, _ in self.trick)
        if self.options["last_card"] == "safe_after_trick":
            emptied = [seat for seat, _ in self.trick if not self.hands[seat]]
            if not self.holders():
                emptied.remove(nominal)
            for seat in emptied:
                self.go_out(seat)
            if len(self.holders()) < 2:
                self.finish(self.holders() or [nominal], stalled=False)
                return
        self.counter = self.counter + 1 if picked_up and not someone_left else 0
        leader = nominal if self.hands[nominal] else self.next_holder(nominal)
        if self.counter == self.options["stall_limit"]:
            self.stall(leader)
        else:
            self.start_trick(leader)

    def stall(self, leader: int) -> None:
        worst_first = []
        for seat in self.holders():
            distance = 0
            while (leader + distance) % self.seats != seat:
                distance += 1
            hand = self.hands[seat]
            worst_first.append((-len(hand), -sum(map(card_points, hand)), distance, seat))
        self.finish([seat for *_, seat in sorted(worst_first)][::-1], stalled=True)

    def go_out(self, seat: int) -> None:
        self.out.append(seat)
        if self.options["scoring"] == "cards_each_out":
            self.charge_cards()

    def charge_cards(self) -> None:
        for seat in range(self.seats):
            self.game_points[seat] += len(self.hands[seat])

    def finish(self, rest: list[int], stalled: bool) -> None:
        order = self.out + rest
        scoring = self.options["scoring"]
        if scoring == "none":
            self.game_points[order[0]] += 1
        elif scoring == "cards" or (scoring == "cards_each_out" and stalled):
            self.charge_cards()
        elif scoring == "points":
            for seat in range(self.seats):
                self.game_points[seat] += sum(map(card_points, self.hands[seat]))
        self.totals = [total + points for total, points in zip(self.totals, self.game_points, strict=True)]
        self.orders.append(order)
        self.running, self.to_act = False, None
        wins = [sum(order[0] == seat for order in self.orders) for seat in range(self.seats)]
        majority = scoring == "none" and any(2 * won > self.options["best_of"] for won in wins)
        if majority or len(self.orders) == self.options["best_of"]:
            self.rank(wins)

    def rank(self, wins: list[int]) -> None:
        groups: dict[tuple[int, int, int], list[int]] = {}
        for seat in range(self.seats):
            places = sum(order.index(seat) + 1 for order in self.orders)
            first = self.totals[seat] if self.options["scoring"] != "none" else -wins[seat]
            groups.setdefault((first, -wins[seat], places), []).append(seat)
        self.ranking = [groups[key] for key in sorted(groups)]
