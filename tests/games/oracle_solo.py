"""Solo once more, read off the rules page as naively as possible: what the tests compare the product with.

It works on lists of card texts, changes in place, and shares no code with the product.
"""

from typing import Any

SUITS = "CDHS"
ACE_DOWN = "AKQJT987"
DECK = [rank + suit for suit in SUITS for rank in "789TJQKA"]
LADDER = ["froke", "iss", "wedding", "solo", "solo_clubs", "solo_do", "solo_do_clubs"]
NEEDS_CLUB = ["iss", "solo_clubs", "solo_do_clubs"]
BASE = {"froke": 2, "iss": 2, "wedding": 4, "solo": 6, "solo_clubs": 6, "solo_do": 6, "solo_do_clubs": 6}
Action = dict[str, Any]


def printed(card: str) -> str:
    """The suit that a card counts for; the black queens count for none."""
    return "" if card in ("QC", "QS") else card[1]


def trump_order(trump: str) -> list[str]:
    """The trumps, highest first."""
    return ["QC", "7" + trump, "QS", *(rank + trump for rank in "AKQJT98" if printed(rank + trump))]


def led_suit(card: str, trump: str) -> str:
    return "trump" if card in trump_order(trump) else card[1]


class SoloOracle:
    """A game, fed with table events and actions as a replay writes them; `totals` and `ranking` are its result."""

    def __init__(self, seats: int, options: dict[str, Any]) -> None:
        assert seats == 4
        self.options = options
        self.totals = [0] * 4
        self.out_in_hand = [0] * 4
        self.ranking: list[list[int]] | None = None
        self.hand_number = 0
        self.dealer: int | None = None
        self.redeal = False
        self.phase = "deal"
        self.to_act: int | None = None
        self.outcomes: list[str] = []

    # What the table does

    def table_event(self, event: dict[str, Any]) -> None:
        """A deal or a restart."""
        if event["type"] == "restart_hand":
            assert set(event) == {"type", "cards"}
            assert self.to_act is not None
            if event["cards"] == "same":
                self.begin([list(hand) for hand in self.dealt])
            else:
                assert event["cards"] == "new"
                self.redeal, self.phase, self.to_act = True, "deal", None
            return
        assert event["type"] == "deal"
        assert set(event) == {"type", "dealer", "deck"}
        assert self.phase == "deal"
        assert sorted(event["deck"]) == sorted(DECK)
        if self.dealer is not None:
            assert event["dealer"] == (self.dealer if self.redeal else (self.dealer + 1) % 4)
        self.hand_number += 0 if self.redeal else 1
        self.redeal = False
        self.dealer = event["dealer"]
        deck, hands = list(event["deck"]), [[], [], [], []]  # type: list[str], list[list[str]]
        seat = event["dealer"] + (3 if self.options["deal_start"] == "right" else 1)
        for packet in [3, 2, 3] if self.options["deal_packets"] == "323" else [1] * 8:
            for _ in range(4):
                for _ in range(packet):
                    hands[seat % 4].append(deck.pop(0))
                seat += 1
        self.begin(hands)

    def begin(self, hands: list[list[str]]) -> None:
        """The auction begins with these hands."""
        assert self.dealer is not None
        self.dealt = [list(hand) for hand in hands]
        self.hands = hands
        self.bids: list[tuple[int, str]] = []
        self.turns = 0
        self.declarer: int | None = None
        self.partner: int | None = None
        self.bid = ""
        self.trump: str | None = None
        self.do = False
        self.called: str | None = None
        self.unplayed = False
        self.trick: list[tuple[int, str]] = []
        self.winners: list[int] = []
        self.through = False
        self.phase, self.to_act = "auction", (self.dealer + 1) % 4

    # What may be done

    def has_suit(self, seat: int, suit: str) -> list[str]:
        return [card for card in self.hands[seat] if printed(card) == suit]

    def married(self, seat: int) -> bool:
        return "QC" in self.hands[seat] and "QS" in self.hands[seat]

    def legal(self) -> list[Action]:
        """All that the seat to act may do."""
        assert self.to_act is not None
        seat = self.to_act
        if self.phase == "auction":
            return [{"type": "pass"}, *({"type": "bid", "bid": bid} for bid in LADDER if self.may_bid(seat, bid))]
        if self.phase == "wedding":
            return [{"type": "bid", "bid": "wedding"}]
        if self.phase == "keep":
            return [{"type": "yield"}] + ([{"type": "keep"}] if self.has_suit(seat, "C") else [])
        if self.phase == "name_trump":
            dos = [False, True] if self.options["partner_do"] and not self.bid.startswith("solo") else [False]
            return [{"type": "name_trump", "trump": suit, "do": do} for suit in self.trumps(seat) for do in dos]
        if self.phase == "call":
            return [{"type": "call", "card": card} for card in self.calls(seat)]
        plays: list[Action] = [{"type": "play", "card": card} for card in self.playable(seat)]
        return plays + ([{"type": "throw_down"}] if self.five_of_five() else [])

    def may_bid(self, seat: int, bid: str) -> bool:
        if self.bids and LADDER.index(bid) <= LADDER.index(self.bids[-1][1]):
            return False
        if bid in NEEDS_CLUB and not self.has_suit(seat, "C"):
            return False
        if bid == "wedding":
            return self.married(seat)
        return not (bid in ("froke", "iss") and self.married(seat))

    def trumps(self, seat: int) -> list[str]:
        if self.bid in NEEDS_CLUB:
            return ["C"]
        held = [suit for suit in SUITS if self.has_suit(seat, suit)]
        if self.bid == "wedding" and self.options["wedding_trump"] == "not_called_suit":
            assert self.called is not None
            others = [suit for suit in held if suit != self.called[1]]
            return others or held
        return held

    def missing(self, seat: int, rank: str) -> list[str]:
        open_suits = [suit for suit in SUITS if suit != self.trump]
        if rank == "Q":
            open_suits = [suit for suit in open_suits if suit in "DH"]
        return [rank + suit for suit in open_suits if rank + suit not in self.hands[seat]]

    def calls(self, seat: int) -> list[str]:
        aces = self.missing(seat, "A")
        if not aces:
            return self.missing(seat, "K") or self.missing(seat, "Q") or self.missing(seat, "J")
        held = [ace for ace in aces if self.has_suit(seat, ace[1])]
        if held:
            return held
        if len(aces) == 1 and self.bid != "wedding":
            return ["unknown"]
        return aces

    def playable(self, seat: int) -> list[str]:
        assert self.trump is not None
        hand = self.hands[seat]
        follow: list[str] = []
        if self.trick:
            led = led_suit(self.trick[0][1], self.trump)
            follow = [card for card in hand if led_suit(card, self.trump) == led]
        free = follow or hand
        if not self.unplayed:
            return list(free)
        assert self.called is not None
        if self.options["called_card_rule"] == "forced" and self.called in hand:
            if self.called in follow:
                return [self.called]
            if len(self.winners) == 4 and not follow:
                return [self.called]
            if not self.trick:
                return [card for card in hand if card == self.called or printed(card) != self.called[1]]
        if seat == self.declarer and self.trick and not follow:
            of_suit = self.has_suit(seat, self.called[1])
            if len(of_suit) == 1:
                return [card for card in hand if card not in of_suit]
        return list(free)

    def side(self) -> list[int]:
        assert self.declarer is not None
        return [self.declarer] if self.partner is None else [self.declarer, self.partner]

    def side_tricks(self) -> int:
        return sum(winner in self.side() for winner in self.winners)

    def five_of_five(self) -> bool:
        return len(self.winners) == 5 and not self.trick and not self.do and self.side_tricks() == 5

    # What is done

    def action(self, seat: int, action: Action) -> None:
        """A seat acts."""
        assert seat == self.to_act
        assert action in self.legal(), (action, self.legal())
        if self.phase == "auction":
            self.auction_turn(seat, action)
        elif self.phase == "wedding":
            self.declare(seat, "wedding")
        elif self.phase == "keep":
            bidder, bid = self.bids[-1]
            self.declare(seat if action["type"] == "keep" else bidder, bid)
        elif self.phase == "name_trump":
            self.trump = action["trump"]
            self.do = action["do"] or self.bid.startswith("solo_do")
            if self.bid in ("froke", "iss"):
                self.phase, self.to_act = "call", self.declarer
            else:
                self.start_play()
        elif self.phase == "call":
            self.call_partner(seat, action["card"])
        elif action["type"] == "throw_down":
            self.finish(made=True)
        else:
            self.play(seat, action["card"])

    def auction_turn(self, seat: int, action: Action) -> None:
        self.turns += 1
        self.to_act = (seat + 1) % 4
        if action["type"] == "bid":
            self.bids.append((seat, action["bid"]))
        if self.turns < 4:
            return
        highest = self.bids[-1][1] if self.bids else None
        queens = [holder for holder in range(4) if self.married(holder)]
        if highest is not None and highest.startswith("solo"):
            plain = highest.removesuffix("_clubs")
            earlier = [bidder for bidder, bid in self.bids if bid == plain and plain != highest]
            if self.options["solo_keep"] and earlier:
                self.phase, self.to_act = "keep", earlier[0]
            else:
                self.declare(*self.bids[-1])
        elif highest == "wedding":
            self.declare(*self.bids[-1])
        elif queens:
            self.phase, self.to_act = "wedding", queens[0]
        elif highest is None:
            self.no_score("thrown_in")
        elif highest == "iss" and len(self.bids) == 2:
            self.phase, self.to_act = "keep", self.bids[0][0]
        else:
            self.declare(*self.bids[-1])

    def declare(self, seat: int, bid: str) -> None:
        self.declarer, self.bid = seat, bid
        self.phase, self.to_act = ("call" if bid == "wedding" else "name_trump"), seat

    def call_partner(self, seat: int, card: str) -> None:
        self.called = self.missing(seat, "A")[0] if card == "unknown" else card
        self.partner = next(holder for holder in range(4) if self.called in self.hands[holder])
        remaining = [s for s in range(4) if self.totals[s] < 36]
        defenders = [s for s in range(4) if s not in self.side()]
        if len(remaining) == 2 and (
            sorted(self.side()) == remaining or (self.options["last_two"] == "either_pair" and defenders == remaining)
        ):
            self.no_score("thrown_in")
        elif self.bid == "wedding":
            self.phase, self.to_act = "name_trump", self.partner
        else:
            self.unplayed = True
            self.start_play()

    def start_play(self) -> None:
        assert self.dealer is not None
        self.phase = "play"
        self.to_act = self.declarer if self.options["first_lead"] == "declarer" else (self.dealer + 1) % 4

    def play(self, seat: int, card: str) -> None:
        assert self.trump is not None
        if self.five_of_five():
            self.through = True
        self.hands[seat].remove(card)
        self.trick.append((seat, card))
        if card == self.called:
            self.unplayed = False
        self.to_act = (seat + 1) % 4
        if len(self.trick) == 4:
            order = trump_order(self.trump) + [rank + self.trick[0][1][1] for rank in ACE_DOWN]
            able = [(order.index(played), player) for player, played in self.trick if played in order]
            self.winners.append(min(able)[1])
            self.to_act = self.winners[-1]
            self.trick = []
            self.look_for_the_end()

    def look_for_the_end(self) -> None:
        own = self.side_tricks()
        lost = len(self.winners) - own
        if self.unplayed:
            if len(self.winners) == 5:
                self.finish(made=False)
        elif self.do or self.through:
            if lost or own == 8:
                self.finish(made=not lost)
        elif lost >= 4:
            self.finish(made=False)
        elif own >= 5 and lost >= 1:
            self.finish(made=True)

    def finish(self, made: bool) -> None:
        base = BASE[self.bid] * (2 if self.trump == "C" else 1)
        factor = 1
        if self.do:
            factor = self.options["do_factor"]
        elif self.through:
            factor = self.options["through_factor"]
        value = base if not made and self.options["fail_value"] == "base" else base * factor
        before = list(self.totals)
        after = list(before)
        for seat in range(4):
            if (seat in self.side()) == made and before[seat] < 36:
                after[seat] = min(36, before[seat] + value)
        if after == [36] * 4:
            remaining = [seat for seat in range(4) if before[seat] < 36]
            lowest = min(before[seat] for seat in remaining)
            losers = [seat for seat in remaining if before[seat] == lowest]
            if self.options["double_out"] == "void" or len(losers) > 1:
                self.no_score("void")
                return
            after[losers[0]] = lowest
        for seat in range(4):
            if after[seat] == 36 and before[seat] < 36:
                self.out_in_hand[seat] = self.hand_number
        self.totals = after
        self.no_score("made" if made else "failed")
        if after.count(36) == 3:
            self.end(next(seat for seat in range(4) if after[seat] < 36))

    def no_score(self, outcome: str) -> None:
        self.outcomes.append(outcome)
        self.phase, self.to_act, self.unplayed = "deal", None, False

    def end(self, loser: int) -> None:
        self.phase = "over"
        safe = [seat for seat in range(4) if seat != loser]
        if self.options["ranking"] == "buck_only":
            self.ranking = [safe, [loser]]
            return
        hands = sorted({self.out_in_hand[seat] for seat in safe})
        self.ranking = [[seat for seat in safe if self.out_in_hand[seat] == hand] for hand in hands] + [[loser]]
