"""The judge's rules of Thulla, in the order of its rules page, whose rule ids are in the comments."""

from types import MappingProxyType

from croupier_loadtest.judge.rules import interface
from croupier_loadtest.judge.rules.cards import PACK, RANKS, followers, grouped, open_piles, revokes

PUT_ASIDE = ["2C", "2D", "2H", "2S", "3C", "3D", "3H", "3S"]  # THU-DECK-2
CARD_POINTS = dict(zip(RANKS, [2, 3, 4, 5, 6, 7, 8, 9, 10, 10, 10, 10, 11], strict=True))  # THU-D15


def points_of(hand: list[interface.Card]) -> int:
    """Return the card points of a hand."""
    return sum(CARD_POINTS[card[0]] for card in hand)


class ThullaTable(interface.JudgeTable):
    """A table of Thulla, which plays a match of games."""

    proposal_rule = "THU-D9"
    earlier_options = MappingProxyType({"opening_trick": "normal", "deal": "equal"})

    def __init__(self, seats: int, options: interface.Options) -> None:
        super().__init__(seats, options)
        self.removed = PUT_ASIDE[: 52 % seats] if self.options["deal"] == "equal" else []  # THU-DECK-4
        self.phase = "deal"
        self.ace_forced = False
        self.spared = False  # Whether nobody can cut the present trick (THU-OPEN-1).
        # The trick: the seats that take part, in the order of play, and the cards as they were played.
        self.taking_part: list[int] = []
        self.trick: list[tuple[interface.Card, int]] = []
        self.waste: list[tuple[interface.Card, int]] = []
        # The game: the seats that are out, in order; fruitless tricks; charges with "cards_each_out".
        self.out: list[int] = []
        self.out_before_trick = 0
        self.stall = 0
        self.charges = [0] * seats
        # The match: the finishing order of each game.
        self.orders: list[list[int]] = []

    # Due actions

    @property
    def pending_shuffle(self) -> interface.Shuffle | None:
        """The trimmed deck before each game, and a starter if one is to be drawn (THU-DEAL-2, THU-START-3)."""
        if self.phase != "deal":
            return None
        cards = [card for card in PACK if card not in self.removed]
        bounds = [self.seats] if self.options["start"] == "random" else []
        return interface.Shuffle(cards, bounds, self.round_number + 1, 1)

    @property
    def to_act(self) -> list[int]:
        """The next seat in the trick (THU-PLAY-1)."""
        return [self.taking_part[len(self.trick)]] if self.phase == "play" else []

    @property
    def piles(self) -> dict[str, interface.Pile]:
        """The put-aside cards, the trick and the waste; all open."""
        removed = [(card, None) for card in self.removed if self.round_number]
        return open_piles(trick=self.trick, waste=self.waste, removed=removed)

    @property
    def open_hands(self) -> list[int]:
        """All hands between games and at the end (THU-VIS-4)."""
        return [] if self.phase == "play" else list(range(self.seats))

    def legal_in_turn(self, seat: int) -> interface.Legal:
        """Return the cards that a seat may play."""
        cards = [card for card in self.hands[seat] if self.rule_against(self.hands[seat], card) is None]
        return interface.Legal([{"type": "play", "card": card} for card in cards], [])

    def rule_against(self, hand: list[interface.Card], card: interface.Card) -> str | None:
        """Return the rule against a card of the seat whose turn it is."""
        if card not in hand:
            return "THU-PLAY-2"
        if self.ace_forced and card != "AS":
            return "THU-START-2"
        return "THU-PLAY-3" if revokes(card, hand, self.trick) else None

    # The deal

    def shuffled(self, cards: list[interface.Card], drawn: list[int]) -> interface.ReplayAction:
        """Deal one card at a time, the first to the dealer's left (THU-DEAL-2, THU-DEAL-4)."""
        self.round_number += 1
        dealer = (int(self.options["first_dealer"]) + self.round_number - 1) % self.seats  # THU-DEAL-1
        self.hands = self.dealt_singly(cards, dealer + 1)
        self.waste, self.out, self.stall, self.charges = [], [], 0, [0] * self.seats
        self.known = [[] for _ in range(self.seats)]
        self.phase = "play"
        self.begin_trick(self.starter(dealer, drawn))
        self.ace_forced = self.options["start"] == "ace_of_spades"
        self.spared = self.options["opening_trick"] == "spared"
        event: interface.ReplayAction = {"type": "deal", "hands": [list(hand) for hand in self.hands]}  # THU-DEAL-3
        return event | {"starter": drawn[0]} if drawn else event

    def starter(self, dealer: int, drawn: list[int]) -> int:
        """Return the seat that leads the first trick (THU-START)."""
        if drawn:
            return drawn[0]
        if self.options["start"] == "ace_of_spades":
            return next(seat for seat in range(self.seats) if "AS" in self.hands[seat])
        return dealer if self.options["start"] == "dealer" else (dealer + 1) % self.seats

    # Playing

    def act(self, seat: int, action: interface.ReplayAction) -> None:
        """Apply a play, step by step as the page has it."""
        if seat not in self.to_act:
            raise interface.Illegal("THU-PLAY-1", f"{seat} is not to act")
        if set(action) != {"type", "card"} or action["type"] != "play":
            raise interface.Illegal("THU-D9", f"{action} plays no card")
        if rule := self.rule_against(self.hands[seat], action["card"]):
            raise interface.Illegal(rule, f"{seat} cannot play {action['card']}")
        self.ace_forced = False
        self.hands[seat].remove(action["card"])  # 1
        if action["card"] in self.known[seat]:
            self.known[seat].remove(action["card"])
        self.trick.append((action["card"], seat))
        if self.safe_at_once and not self.hands[seat]:  # 2
            self.go_out(seat)
            if len(self.holders()) == 1:
                self.waste_trick()
                self.end_game([*self.out, *self.holders()])  # THU-END-1
                return
        if action["card"][1] != self.trick[0][0][1] and not self.spared:  # 3
            self.end_trick(*self.cut(seat))
        elif len(self.trick) == len(self.taking_part):
            winner = self.winners()[0]  # THU-CLEAN-1, THU-OPEN-2
            self.spared = False
            self.waste_trick()  # THU-CLEAN-2
            self.end_trick(winner, picked_up=False)

    @property
    def safe_at_once(self) -> bool:
        """Whether an empty hand is out at once."""
        return self.options["last_card"] == "safe_at_once"

    def holders(self) -> list[int]:
        """Return the seats with cards."""
        return [seat for seat in range(self.seats) if self.hands[seat]]

    def begin_trick(self, leader: int) -> None:
        """Begin a trick in which all holders take part (THU-PLAY-1)."""
        self.trick = []
        self.taking_part = [seat for seat in self.clockwise_from(leader) if self.hands[seat]]
        self.out_before_trick = len(self.out)

    def winners(self) -> list[int]:
        """Return the seats that followed, the highest card first."""
        highest_first = sorted(followers(self.trick), key=lambda pile_card: -RANKS.index(pile_card[0][0]))
        return [seat for _, seat in highest_first]

    def cut(self, cutter: int) -> tuple[int, bool]:
        """Return the seat that picks the trick up, or else the first that should; and whether any did (THU-CUT)."""
        duty = [cutter] if self.options["pickup"] == "cutter" else self.winners()  # THU-CUT-6, THU-CUT-2
        for seat in duty:
            if self.hands[seat] or not self.safe_at_once:  # THU-CUT-3, THU-CUT-4
                self.hands[seat] += [card for card, _ in self.trick]
                self.known[seat] += [card for card, _ in self.trick]
                self.trick = []
                return seat, True
        self.waste_trick()  # THU-CUT-5
        return duty[0], False

    def waste_trick(self) -> None:
        """Move the trick to the waste."""
        self.waste += self.trick
        self.trick = []

    def end_trick(self, nominal_leader: int, picked_up: bool) -> None:
        """Execute steps 4 to 6 of a play."""
        if not self.safe_at_once and self.empty_hands_end_it(nominal_leader):  # 4
            return
        fruitless = picked_up and len(self.out) == self.out_before_trick
        self.stall = self.stall + 1 if fruitless else 0  # 5, THU-STALL-1
        leader = next(seat for seat in self.clockwise_from(nominal_leader) if self.hands[seat])  # THU-LEAD
        if 0 < self.stall == self.options["stall_limit"]:  # THU-STALL-4
            self.end_stalled(leader)
        else:
            self.begin_trick(leader)  # 6

    def empty_hands_end_it(self, winner: int) -> bool:
        """Let the seats of the trick go out in the order of play (THU-OUT-2); returns whether the game is over."""
        emptied = [seat for seat in self.taking_part if not self.hands[seat]]
        left = self.holders()
        if not left:
            emptied.remove(winner)  # THU-END-3: the winner would have to lead, and loses
            left = [winner]
        for seat in emptied:
            self.go_out(seat)
        if len(left) == 1:  # THU-END-2
            self.end_game([*self.out, *left])
        return len(left) == 1

    def go_out(self, seat: int) -> None:
        """Let a seat go out; with "cards_each_out" the others are charged for their hands (THU-SCORE-3)."""
        self.out.append(seat)
        for other in range(self.seats):
            self.charges[other] += len(self.hands[other])

    # The end

    def end_stalled(self, leader: int) -> None:
        """End a stalled game (THU-STALL-2, THU-STALL-3)."""
        clockwise = self.clockwise_from(leader)
        holders = self.holders()
        holders.sort(key=lambda seat: (len(self.hands[seat]), points_of(self.hands[seat]), -clockwise.index(seat)))
        for seat in holders:
            self.charges[seat] += len(self.hands[seat])
        self.end_game([*self.out, *holders])

    def end_game(self, order: list[int]) -> None:
        """Score a game, and end the match or ask for the next deal (THU-SCORE, THU-MATCH)."""
        self.orders.append(order)
        self.score(self.points(winner=order[0]))
        self.phase = "over" if self.match_is_decided() else "deal"
        if self.phase == "over":
            self.ranking = self.ranked()

    def points(self, winner: int) -> list[int]:
        """Return the points of each seat for a game."""
        match self.options["scoring"]:
            case "none":
                return [int(seat == winner) for seat in range(self.seats)]  # THU-SCORE-1
            case "cards":
                return [len(hand) for hand in self.hands]  # THU-SCORE-2
            case "cards_each_out":
                return list(self.charges)  # THU-SCORE-3
            case _:
                return [points_of(hand) for hand in self.hands]  # THU-SCORE-4

    def wins(self, seat: int) -> int:
        """Return the number of games in which a seat had first place (THU-MATCH-1)."""
        return sum(order[0] == seat for order in self.orders)

    def match_is_decided(self) -> bool:
        """Return whether the match is over (THU-MATCH-2, THU-MATCH-3)."""
        best_of = int(self.options["best_of"])
        majority = any(2 * self.wins(seat) > best_of for seat in range(self.seats))
        return len(self.orders) == best_of or (self.options["scoring"] == "none" and majority)

    def ranking_at_limit(self) -> list[list[int]] | None:
        """Return the ranking by the finished games (THU-MATCH-5)."""
        return self.ranked() if self.orders else None

    def ranked(self) -> list[list[int]]:
        """Return the ranking (THU-MATCH-4)."""

        def merit(seat: int) -> tuple[int, int, int]:
            places = sum(order.index(seat) + 1 for order in self.orders)
            penalty = 0 if self.options["scoring"] == "none" else self.scores[seat]
            return penalty, -self.wins(seat), places

        return grouped(range(self.seats), merit)
