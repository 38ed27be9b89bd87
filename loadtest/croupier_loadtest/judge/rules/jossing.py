"""The judge's rules of Jøssing, in the order of its rules page, whose rule ids are in the comments."""

from croupier_loadtest.judge.rules import interface
from croupier_loadtest.judge.rules.cards import PACK, RANKS, followers, grouped, open_piles, revokes


class JossingTable(interface.JudgeTable):
    """A table of Jøssing; a section is a round of the interface."""

    proposal_rule = "JOS-ACT-1"

    def __init__(self, seats: int, options: interface.Options) -> None:
        super().__init__(seats, options)
        self.deck = [card for card in PACK for _ in range(int(options["decks"]))]  # JOS-DECK-1, JOS-DECK-2
        self.phase = "deal"
        # The section: bids and tricks won by seat, the indicator, the trick and finished tricks as they were played.
        self.dealer = 0
        self.indicator: interface.Card | None = None
        self.bids: list[int | None] = [None] * seats
        self.won = [0] * seats
        self.leader = 0
        self.trick: list[tuple[interface.Card, int]] = []
        self.taken: list[tuple[interface.Card, int]] = []

    # The length of the game

    @property
    def peak(self) -> int:
        """The most cards that a seat gets in a section (JOS-LEN-1)."""
        return min(10, (len(self.deck) - 1) // self.seats)

    @property
    def sections(self) -> int:
        """The number of sections (JOS-LEN-2, JOS-LEN-3)."""
        return self.peak * (2 if self.options["game_type"] == "up_and_down" else 1)

    def cards_each(self, section: int) -> int:
        """Return the cards that every seat gets in a section."""
        return section if section <= self.peak else 2 * self.peak + 1 - section

    # Due actions

    @property
    def pending_shuffle(self) -> interface.Shuffle | None:
        """The whole deck before each section (JOS-DECK-3)."""
        return interface.Shuffle(list(self.deck), [], self.round_number + 1, 1) if self.phase == "deal" else None

    @property
    def to_act(self) -> list[int]:
        """The seats that have not bid, with the hook the dealer last (JOS-BID); or the next seat (JOS-PLAY-1)."""
        if self.phase == "play":
            return [(self.leader + len(self.trick)) % self.seats]
        silent = [seat for seat in range(self.seats) if self.bids[seat] is None and self.phase == "bid"]
        if self.options["hook"] and len(silent) > 1:
            silent = [seat for seat in silent if seat != self.dealer]  # JOS-BID-6
        return silent

    @property
    def piles(self) -> dict[str, interface.Pile]:
        """The indicator, the trick and the finished tricks; all open."""
        indicator = [] if self.indicator is None else [(self.indicator, None)]
        return open_piles(trick=self.trick, taken=self.taken, indicator=indicator)

    def legal_in_turn(self, seat: int) -> interface.Legal:
        """Return the bids or cards that a seat may choose from."""
        hand = self.hands[seat]
        if self.phase == "bid":
            amounts = [amount for amount in range(len(hand) + 1) if self.rule_against_bid(seat, amount) is None]
            return interface.Legal([{"type": "bid", "amount": amount} for amount in amounts], [])
        cards = [card for card in sorted(set(hand)) if self.rule_against_play(seat, card) is None]  # JOS-PLAY-6
        return interface.Legal([{"type": "play", "card": card} for card in cards], [])

    # The deal

    def shuffled(self, cards: list[interface.Card], drawn: list[int]) -> interface.ReplayAction:
        """Deal singly from the dealer's left, then turn the indicator (JOS-DEAL-2, JOS-DEAL-3)."""
        assert not drawn, "no numbers are drawn in Jøssing"
        self.round_number += 1
        self.dealer = (int(self.options["first_dealer"]) + self.round_number - 1) % self.seats  # JOS-DEAL-1
        count = self.cards_each(self.round_number) * self.seats
        self.hands = self.dealt_singly(cards[:count], self.dealer + 1)
        self.indicator = cards[count]
        self.bids = [None] * self.seats
        self.won = [0] * self.seats
        self.taken = []
        self.phase = "bid"
        return {"type": "deal", "hands": [list(hand) for hand in self.hands], "trump": self.indicator}  # JOS-DEAL-4

    # Bids and plays

    def act(self, seat: int, action: interface.ReplayAction) -> None:
        """Apply a bid or a card."""
        if self.phase in ("deal", "over"):
            raise interface.Illegal("JOS-DEAL-4" if self.phase == "deal" else "JOS-END-1", "no seat may act")
        verb = action.get("type")
        if set(action) != {"bid": {"type", "amount"}, "play": {"type", "card"}}.get(str(verb)):
            raise interface.Illegal("JOS-ACT-1", f"{action} is no bid and plays no card")
        if verb == "bid":
            self.bid(seat, action["amount"])
        else:
            self.play(seat, action["card"])

    def rule_against_bid(self, seat: int, amount: object) -> str | None:
        """Return the rule against a bid."""
        if self.bids[seat] is not None:
            return "JOS-BID-3"
        if seat not in self.to_act:
            return "JOS-BID-6"
        cards = len(self.hands[seat])
        if type(amount) is not int or not 0 <= amount <= cards:
            return "JOS-BID-2"
        others = sum(bid for bid in self.bids if bid is not None)
        if self.options["hook"] and seat == self.dealer and others + amount == cards:
            return "JOS-BID-7"
        return None

    def rule_against_play(self, seat: int, card: object) -> str | None:
        """Return the rule against a card."""
        if self.phase == "bid":
            return "JOS-BID-1"
        if seat not in self.to_act:
            return "JOS-PLAY-1"
        hand = self.hands[seat]
        if not isinstance(card, str) or card not in hand:
            return "JOS-PLAY-2"
        return "JOS-PLAY-3" if revokes(card, hand, self.trick) else None

    def bid(self, seat: int, amount: int) -> None:
        """Apply a bid; with the last one the first trick begins."""
        if rule := self.rule_against_bid(seat, amount):
            raise interface.Illegal(rule, f"{seat} bid {amount}")
        self.bids[seat] = amount
        if None not in self.bids:
            self.phase = "play"
            self.leader = self.first_leader()

    def first_leader(self) -> int:
        """Return the seat that leads the first trick (JOS-LEAD)."""
        left = (self.dealer + 1) % self.seats
        if self.options["leader"] == "left_of_dealer":
            return left
        nearest = left if self.options["leader"] == "highest_bidder" else self.dealer  # JOS-LEAD-3, JOS-LEAD-4
        return max(self.clockwise_from(nearest), key=lambda seat: self.bids[seat] or 0)

    def play(self, seat: int, card: interface.Card) -> None:
        """Play a card to the trick; the last one ends it, and perhaps the section (JOS-PLAY-5)."""
        if rule := self.rule_against_play(seat, card):
            raise interface.Illegal(rule, f"{seat} played {card}")
        self.hands[seat].remove(card)
        self.trick.append((card, seat))
        if len(self.trick) == self.seats:
            self.leader = self.winner()
            self.won[self.leader] += 1
            self.taken += self.trick
            self.trick = []
            if not self.hands[seat]:
                self.end_section()

    def winner(self) -> int:
        """Return the winner of a full trick (JOS-WIN)."""
        assert self.indicator is not None
        trumps = [(card, seat) for card, seat in self.trick if card[1] == self.indicator[1]]
        able = trumps or followers(self.trick)
        highest = max(RANKS.index(card[0]) for card, _ in able)
        best = [seat for card, seat in able if RANKS.index(card[0]) == highest]
        return best[0] if self.options["identical_cards"] == "first" else best[-1]  # JOS-WIN-4

    # The end

    def end_section(self) -> None:
        """Score the section; the last one ends the game (JOS-END)."""
        self.score([self.points(seat) for seat in range(self.seats)])
        self.phase = "deal"
        if self.round_number == self.sections:
            self.phase = "over"
            self.ranking = self.ranked()

    def ranked(self) -> list[list[int]]:
        """Return the ranking by the totals (JOS-END-2, JOS-END-3)."""
        return grouped(range(self.seats), lambda seat: -self.scores[seat])

    def ranking_at_limit(self) -> list[list[int]] | None:
        """Return the ranking by the finished sections (JOS-END-4)."""
        return self.ranked() if self.round_number > 1 else None

    def points(self, seat: int) -> int:
        """Return the points of a seat (JOS-SCORE)."""
        bid = self.bids[seat]
        if bid is None or bid != self.won[seat]:
            return 0
        return 10 + bid if self.options["scoring"] == "classic" else 5 * (bid + 1)
