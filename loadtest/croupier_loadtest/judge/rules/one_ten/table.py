"""A table of 110 from the first deal to the ranking."""

from collections import Counter
from types import MappingProxyType
from typing import Any

from croupier_loadtest.judge.rules import interface
from croupier_loadtest.judge.rules.cards import SUITS, open_piles
from croupier_loadtest.judge.rules.one_ten import cards as rules

KITTY_SIZE = 5
OUT_OF_TURN = {
    "deal": "110-DEAL-5",
    "bidding": "110-BID-1",
    "exchange": "110-SWAP-1",
    "reshuffle": "110-SWAP-6",
    "play": "110-TRICK-3",
    "over": "110-END-1",
}
"""By phase, the rule against acting out of turn."""


class OneTenTable(interface.JudgeTable):
    """110 for two to eight seats, as the judge plays it."""

    proposal_rule = "110-DEAL-1"
    earlier_options = MappingProxyType(
        {"failed_bonus": "lost", "keep": "ten", "forced_out_by": "any", "first_lead": "bid_winner"}
    )

    def __init__(self, seats: int, options: interface.Options) -> None:
        super().__init__(seats, options)
        self.pack = rules.pack(int(options["decks"]))
        fits = 10 * seats + KITTY_SIZE <= len(self.pack)
        chosen = options["hand_size"]
        self.hand_size = int(chosen) if chosen != "auto" else 10 if fits else 5  # 110-DEAL-2
        self.kept = 5 if self.options["keep"] == "five" else self.hand_size
        """The number of cards that the bid winner keeps, and of tricks (110-KEEP-2, 110-KEEP-4, 110-TRICK-4)."""
        self.phase = "deal"
        self.dealer: int | None = None
        self.kitty: list[interface.Card] = []
        self.stock: list[interface.Card] = []
        # The bidding: the seats that have passed, and the highest bid.
        self.passed: set[int] = set()
        self.high_bidder: int | None = None
        self.amount = 0
        self.speaker = 0
        # The exchange: the dealt hands, and the put-away and discarded cards.
        self.winner = 0
        self.dealt: list[list[interface.Card]] = []
        self.trump = ""
        self.put_away: list[interface.Card] = []
        self.discards: dict[int, list[interface.Card]] = {}
        # The tricks.
        self.leader = 0
        self.trick: rules.Trick = []
        self.taken: list[rules.Trick] = []

    # Due actions

    @property
    def pending_shuffle(self) -> interface.Shuffle | None:
        """The pack before a round, with the first dealer drawn before the first; or the put-away cards (110-SWAP-6)."""
        if self.phase == "reshuffle":
            return interface.Shuffle(self.put_away, [], self.round_number, 2)
        bounds = [self.seats] if self.dealer is None else []  # 110-DEAL-3
        return interface.Shuffle(self.pack, bounds, self.round_number + 1, 1) if self.phase == "deal" else None

    @property
    def to_act(self) -> list[int]:
        """The speaker, all who have not exchanged cards, or the next seat clockwise from the leader (110-TRICK-3)."""
        match self.phase:
            case "bidding":
                return [self.speaker]
            case "exchange" if not self.trump and self.options["swap_timing"] == "after_trump":  # 110-SWAP-1
                return [self.winner]
            case "exchange":
                acted = {*self.discards, self.winner} if self.trump else {*self.discards}
                return [seat for seat in range(self.seats) if seat not in acted]
            case "play":
                return [(self.leader + len(self.trick)) % self.seats]
        return []

    @property
    def piles(self) -> dict[str, interface.Pile]:
        """The face-down piles, known to the seats that they come from (110-VIS-2, 110-VIS-3), and the open cards."""
        piles = open_piles(trick=self.trick, taken=[pile_card for trick in self.taken for pile_card in trick])
        if self.phase == "bidding":
            piles["kitty"] = face_down(self.kitty)
        piles["stock"] = face_down(self.stock)  # 110-VIS-6
        piles["put_away"] = face_down(self.put_away, self.winner)
        piles |= {f"discards {seat}": face_down(cards, seat) for seat, cards in self.discards.items()}
        return {name: pile for name, pile in piles.items() if pile.cards}

    def seen(self) -> list[tuple[list[list[interface.Card]], dict[str, interface.Pile]]]:
        """Return hands and piles; until the exchange is over, hands of others are shown as dealt (110-VIS-1).

        Their discarded and put-away cards are hidden then, and only the bid winner knows that the kitty has been taken
        (110-VIS-4).
        """
        if self.phase not in ("exchange", "reshuffle"):
            return super().seen()
        return [self._seen_in_exchange(viewer) for viewer in (*range(self.seats), -1)]

    def _seen_in_exchange(self, viewer: int) -> tuple[list[list[interface.Card]], dict[str, interface.Pile]]:
        hands = [list(self.hands[seat] if seat == viewer else hand) for seat, hand in enumerate(self.dealt)]
        kitty = {} if viewer == self.winner else {"kitty": face_down(self.kitty)}
        known = [frozenset({viewer}), frozenset[int]()]
        return hands, kitty | {name: pile for name, pile in self.piles.items() if pile.seen_by in known}

    def legal_in_turn(self, seat: int) -> interface.Legal:
        hand = list(self.hands[seat])
        if self.phase == "bidding":
            return interface.Legal(self.calls(), [])
        if self.phase == "play":
            cards = sorted(set(self.playable(seat)[1]))
            return interface.Legal([{"type": "play", "card": card} for card in cards], [])
        if seat == self.winner:
            return interface.Legal([], [interface.Choice("keep", hand, self.kept, self.kept, {"trump": SUITS})])
        return interface.Legal([], [interface.Choice("swap", hand, 0, self.swap_limit, {})])

    # The deal

    def shuffled(self, cards: list[interface.Card], drawn: list[int]) -> interface.ReplayAction:
        """Deal, or place the put-away cards below the stock, so that all can draw (110-SWAP-6)."""
        if self.phase == "deal":
            return self.deal(list(cards), drawn[0] if self.dealer is None else (self.dealer + 1) % self.seats)
        self.put_away = []
        self.stock += cards
        self.draw()
        return {"type": "reshuffle", "stock": list(cards)}

    def deal(self, cards: list[interface.Card], dealer: int) -> interface.ReplayAction:
        """Deal singly from the dealer's left, then the kitty; the rest is the stock (110-DEAL-1, 110-DEAL-5)."""
        count = self.hand_size * self.seats
        self.hands = self.dealt_singly(cards[:count], dealer + 1)
        self.kitty, self.stock = cards[count : count + KITTY_SIZE], cards[count + KITTY_SIZE :]
        self.round_number += 1
        self.phase = "bidding"
        self.dealer, self.speaker = dealer, (dealer + 1) % self.seats  # 110-BID-1
        self.passed, self.high_bidder, self.amount = set(), None, 0
        self.trump, self.put_away, self.discards, self.taken = "", [], {}, []
        hands = [list(hand) for hand in self.hands]
        return {"type": "deal", "dealer": dealer, "hands": hands, "kitty": list(self.kitty), "stock": list(self.stock)}

    def act(self, seat: int, action: interface.ReplayAction) -> None:
        """Call, exchange cards or play one."""
        if seat not in self.to_act:
            raise interface.Illegal(OUT_OF_TURN[self.phase], f"seat {seat} is not to act")
        if self.phase == "bidding":
            self.call(action)
        elif self.phase == "play":
            self.play(seat, action)
        else:
            (self.keep if seat == self.winner else self.swap)(seat, action)
            self.draw()

    # The bidding

    @property
    def ladder(self) -> list[int]:
        """The amounts that can be bid (110-BID-2)."""
        top = {"short": 30, "round_max": 5 * self.kept + 5, "long": 110}[str(self.options["bid_ladder"])]
        return list(range(15, top + 1, 5))

    def calls(self) -> list[interface.ReplayAction]:
        """Return all legal calls of the speaker, in the order of the page."""
        calls: list[interface.ReplayAction] = [
            {"type": "bid", "amount": n} for n in self.ladder if n > self.amount
        ]  # 110-BID-3
        if self.speaker != self.dealer:
            return [*calls, {"type": "pass"}]  # 110-BID-4
        if self.high_bidder is None:
            return calls  # 110-BID-7
        return [*calls, {"type": "match"}, {"type": "pass"}]  # 110-BID-5

    def call(self, action: interface.ReplayAction) -> None:
        """Apply the speaker's call, and continue with the first contender clockwise (110-BID-8)."""
        if action not in self.calls() or (action["type"] == "bid" and type(action["amount"]) is not int):
            raise self.refused_call(action)
        caller, verb = self.speaker, action["type"]
        if verb == "pass":
            self.passed.add(caller)
        else:
            self.high_bidder, self.amount = caller, action.get("amount", self.amount)
        contenders = [seat for seat in self.clockwise_from(caller)[1:] if self.contends(seat)]
        if verb == "match" and self.options["dealer_match"] == "wins":  # 110-BID-6
            contenders = []
        if contenders:
            self.speaker = contenders[0]
        elif self.high_bidder is not None:
            self.phase, self.winner = "exchange", self.high_bidder
            self.dealt = [list(hand) for hand in self.hands]
            self.hands[self.winner] += self.kitty  # 110-KEEP-1

    def contends(self, seat: int) -> bool:
        """Return whether a seat may still bid higher, or match as the dealer (110-BID-9)."""
        if seat in self.passed or seat == self.high_bidder:
            return False
        return self.amount < self.ladder[-1] or seat == self.dealer

    def refused_call(self, action: interface.ReplayAction) -> interface.Illegal:
        """Return the rule against a call."""
        kind, amount = action.get("type"), action.get("amount")
        if kind == "bid":
            on_ladder = type(amount) is int and amount in self.ladder
            return interface.Illegal("110-BID-3" if on_ladder else "110-BID-2", f"{amount} on {self.amount}")
        if kind in ("match", "pass") and self.speaker == self.dealer and self.high_bidder is None:
            return interface.Illegal("110-BID-7", "the dealer has to bid")
        return interface.Illegal("110-BID-5" if kind == "match" else "110-BID-3", f"{action}")

    # The exchange

    @property
    def swap_limit(self) -> int:
        """The number of cards that a seat may swap (110-SWAP-2)."""
        return {7: 2, 8: 1}.get(self.seats, 3)

    def keep(self, winner: int, action: interface.ReplayAction) -> None:
        """Let the bid winner keep some cards, put the others away and name trump."""
        if action.get("type") != "keep" or set(action) != {"type", "cards", "trump"}:
            raise interface.Illegal("110-KEEP-2", f"{action}")
        if action["trump"] not in SUITS:
            raise interface.Illegal("110-KEEP-3", f"{action['trump']}")
        kept, hand = action["cards"], self.hands[winner]
        if not holds(hand, kept) or len(kept) != self.kept:
            raise interface.Illegal("110-KEEP-2", f"{kept} of {hand}")
        self.put_away = rules.ascending(without(hand, kept))
        self.hands[winner] = list(kept)
        self.trump = action["trump"]

    def swap(self, seat: int, action: interface.ReplayAction) -> None:
        """Let another seat discard some cards (110-SWAP-4)."""
        if action.get("type") != "swap" or set(action) != {"type", "cards"}:
            raise interface.Illegal("110-SWAP-3", f"{action}")
        cards, hand = action["cards"], self.hands[seat]
        if not holds(hand, cards) or len(cards) > self.swap_limit:
            raise interface.Illegal("110-SWAP-2", f"{cards} of {hand}")
        self.discards[seat] = rules.ascending(cards)
        self.hands[seat] = without(hand, cards)

    def draw(self) -> None:
        """Fill all hands clockwise from the bid winner's left once all have acted (110-SWAP-4), and begin to play."""
        if self.phase == "exchange" and self.to_act:
            return
        if sum(map(len, self.discards.values())) > len(self.stock):
            self.phase = "reshuffle"
            return
        for seat in self.clockwise_from(self.winner)[1:]:
            count = len(self.discards[seat])
            self.hands[seat] += self.stock[:count]
            del self.stock[:count]
        left = self.options["first_lead"] == "left_of_bid_winner"
        self.phase, self.leader = "play", (self.winner + left) % self.seats  # 110-TRICK-1, 110-TRICK-7

    # The tricks

    def playable(self, seat: int) -> tuple[str, list[interface.Card]]:
        """Return the cards that a seat may play, and the rule that decides."""
        trick = [card for card, _ in self.trick]
        return rules.playable(self.hands[seat], trick, self.trump, self.options)

    def play(self, seat: int, action: interface.ReplayAction) -> None:
        """Play a card; the last one of the last trick ends the round (110-TRICK-4)."""
        if action.get("type") != "play" or set(action) != {"type", "card"}:
            raise interface.Illegal("110-TRICK-3", f"{action}")
        card = action["card"]
        rule, cards = self.playable(seat)
        if card not in self.hands[seat]:
            raise interface.Illegal("110-PLAY-1", f"{card} is not in the hand")
        if card not in cards:
            raise interface.Illegal(rule, f"{card} to {self.trick}")
        self.hands[seat].remove(card)
        self.trick.append((card, seat))
        if len(self.trick) == self.seats:
            self.leader = rules.taker(self.trick, self.trump)  # 110-TRICK-6
            self.taken.append(self.trick)
            self.trick = []
            if len(self.taken) == self.kept:
                self.end_round()

    def end_round(self) -> None:
        """Score the round, and determine whether the game is over."""
        played = rules.PlayedRound(self.taken, self.trump, self.winner, self.amount, self.scores, self.options)
        self.score(rules.round_points(played))
        self.phase, first = "deal", rules.first_at_target(played)
        if first is not None or self.round_number == self.options["max_rounds"]:  # 110-END-1, 110-END-4
            self.phase, self.ranking = "over", rules.ranking_of(self.scores, first)

    def ranking_at_limit(self) -> list[list[int]] | None:
        """Return the ranking by the finished rounds (110-END-5)."""
        return rules.ranking_of(self.scores, None) if self.round_number > 1 else None


def face_down(cards: list[interface.Card], seat: int | None = None) -> interface.Pile:
    """Return a pile whose cards only the seat knows that they come from."""
    return interface.Pile([(card, seat) for card in cards], frozenset() if seat is None else frozenset({seat}))


def holds(hand: list[interface.Card], cards: Any) -> bool:
    """Return whether these are cards of the hand, each as often as it is there (110-KEEP-2)."""
    if not isinstance(cards, list) or not all(isinstance(card, str) for card in cards):
        return False
    return not Counter(cards) - Counter(hand)


def without(hand: list[interface.Card], cards: list[interface.Card]) -> list[interface.Card]:
    """Return the hand less these cards."""
    rest = list(hand)
    for card in cards:
        rest.remove(card)
    return rest
