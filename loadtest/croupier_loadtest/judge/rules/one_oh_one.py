"""The judge's rules of 101, in the order of its rules page, whose rule ids are in the comments."""

from types import MappingProxyType

from croupier_loadtest.judge.rules import interface
from croupier_loadtest.judge.rules.cards import PACK, RANKS, SUITS, grouped, open_piles

COSTS = {"T": 10, "J": 2, "Q": 3, "K": 4, "A": 11, **{rank: int(rank) for rank in "23456789"}}


def deck_of(count: int) -> list[interface.Card]:
    """Return 36, 52 or 104 cards, in order."""
    pack = [card for card in PACK if count > 36 or card[0] in RANKS[4:]]
    return in_order(pack + pack if count == 104 else pack)


def in_order(cards: list[interface.Card]) -> list[interface.Card]:
    """Return cards in the order of shuffles: by suit, from the lowest rank up, equal cards side by side."""
    return sorted(cards, key=PACK.index)


def is_queen(card: interface.Card) -> bool:
    return card[0] == "Q"


def cards_taken(card: interface.Card) -> int:
    """Return the number of cards that the next player takes when a card is played: 101-SEVEN-1, 101-KING-1."""
    if card[0] == "7":
        return 2
    return 5 if card == "KS" else 0


def turn_missed(card: interface.Card) -> bool:
    """Return whether the next player misses a turn when a card is played: 101-SEVEN-1, 101-KING-1, 101-ACE-1."""
    return card[0] in "7A" or card == "KS"


def queen_points(card: interface.Card) -> int:
    """Return the points of a queen in a hand of queens, which it takes off as last card: 101-POINTS-3 to -5."""
    return 40 if card == "QH" else 20


def points_of(
    seat: int, winner: int, hand: list[interface.Card], last_card: interface.Card, options: interface.Options
) -> int:
    """Return the points of a seat with this hand at the end of a round."""
    if seat == winner:
        return -queen_points(last_card) if is_queen(last_card) else 0  # 101-POINTS-4
    by_rank = sum(COSTS[card[0]] for card in hand)  # 101-POINTS-1, 101-POINTS-2
    if any(not is_queen(card) for card in hand):
        return by_rank
    penalty = sum(queen_points(card) for card in hand)
    return penalty if options["queen_penalty"] == "instead" else by_rank + penalty  # 101-POINTS-3, 101-POINTS-5


def corrected(score: int, options: interface.Options) -> int:
    """Return a score after the options that set it to 0: 101-SCORE-2, then 101-SCORE-3."""
    if options["floor_zero"] and score < 0:
        score = 0
    return 0 if options["exact_101_reset"] and score == 101 else score


class OneOhOneTable(interface.JudgeTable):
    """A table of 101."""

    proposal_rule = "101-PLAY-1"
    earlier_options = MappingProxyType({"queen_penalty": "instead"})

    def __init__(self, seats: int, options: interface.Options) -> None:
        super().__init__(seats, options)
        self.in_game = list(range(seats))
        self.dropped_out: list[list[int]] = []
        """Groups of seats that dropped out together, the first in front."""
        self.ended_by = ""
        """The rule by which the game is over."""

        self.dealing = True
        self.starter: int | None = None
        self.dealt_last: interface.Card = ""
        """The last card that the starter was dealt."""
        self.shuffles = 0
        self.stock: list[interface.Card] = []
        """The next card first."""
        self.pile: list[tuple[interface.Card, int | None]] = []
        """The top card last."""
        self.ordered = ""
        self.covering = False
        """Whether the seat to act must cover its own six."""
        self.turn = 0
        self.taker = 0
        self.to_take = 0
        """The number of cards that the taker must still take; more than 0 only until the shuffle."""
        self.winner: int | None = None

    # Due actions

    @property
    def pending_shuffle(self) -> interface.Shuffle | None:
        """The whole deck before a round, with a starter before the first; or the pile below its top card."""
        if self.ranking is not None:
            return None
        if self.dealing:
            bounds = [self.seats] if self.starter is None else []  # 101-DEAL-3
            return interface.Shuffle(deck_of(int(self.options["deck"])), bounds, self.round_number + 1, 1)
        if self.to_take > 0:  # 101-STOCK-3
            below = [card for card, _ in self.pile[:-1]]
            return interface.Shuffle(in_order(below), [], self.round_number, self.shuffles + 1)
        return None

    @property
    def to_act(self) -> list[int]:
        """The one seat whose turn it is, none while the table has to shuffle or when the game is over."""
        if self.ranking is not None or self.pending_shuffle is not None:
            return []
        return [self.turn]

    @property
    def piles(self) -> dict[str, interface.Pile]:
        """The open `pile` and the hidden `stock`."""
        stock = interface.Pile([(card, None) for card in self.stock], frozenset())  # 101-VIS-3
        return open_piles(pile=self.pile) | ({"stock": stock} if self.stock else {})

    @property
    def open_hands(self) -> list[int]:
        """All hands between rounds and at the end (101-VIS-4)."""
        return list(range(self.seats)) if self.dealing or self.ended_by else []

    # Legal actions

    def legal_in_turn(self, seat: int) -> interface.Legal:
        """Return every playable card, a queen once for each suit to order; and the draw."""
        actions: list[interface.ReplayAction] = []
        for card in sorted(set(self.hands[seat])):  # twins are one action
            if self.rule_against(card):
                continue
            if is_queen(card):  # 101-QUEEN-2
                actions += [{"type": "play", "card": card, "suit": suit} for suit in SUITS]
            else:
                actions.append({"type": "play", "card": card})
        if not self.rule_against_drawing(seat):
            actions.append({"type": "draw"})
        return interface.Legal(actions, [])

    def rule_against(self, card: interface.Card) -> str:
        """Return the rule against playing a card of the seat to act; empty if it is legal."""
        if not self.pile:  # 101-LEAD-1
            return "" if self.options["first_move_any"] or card == self.dealt_last else "101-LEAD-2"
        top = self.pile[-1][0]
        if self.covering:
            if card[1] == top[1]:
                return ""
            if is_queen(card):
                return "" if self.options["queen_covers_six"] else "101-SIX-3"
            return "101-SIX-2"
        if is_queen(card):  # 101-QUEEN-1
            return ""
        if is_queen(top):
            return "" if card[1] == self.ordered else "101-QUEEN-3"
        return "" if card[1] == top[1] or card[0] == top[0] else "101-PLAY-1"

    def rule_against_drawing(self, seat: int) -> str:
        """Return the rule against drawing by the seat to act; empty if it is legal."""
        if not self.pile:
            return "101-LEAD-3"
        has_playable_card = any(not self.rule_against(card) for card in self.hands[seat])
        if not has_playable_card:  # 101-DRAW-1, 101-SIX-4
            return ""
        if self.covering:
            return "101-SIX-4"
        if not self.options["may_draw_instead"]:
            return "101-DRAW-1"
        return "" if self.stock or len(self.pile) > 1 else "101-DRAW-3"

    # Events

    def shuffled(self, cards: list[interface.Card], drawn: list[int]) -> interface.ReplayAction:
        """Deal a round, or form a new stock and continue to take from it."""
        self.shuffles = 1 if self.dealing else self.shuffles + 1
        if self.dealing:
            return self.deal(cards, drawn[0] if self.starter is None else self.starter)
        self.stock = list(cards)
        self.pile = self.pile[-1:]
        self.take_cards()
        return {"type": "reshuffle", "stock": list(cards)}

    def deal(self, cards: list[interface.Card], starter: int) -> interface.ReplayAction:
        """Deal singly, five times round, beginning with the starter (101-DEAL-5)."""
        self.dealing = False
        self.round_number += 1
        self.starter = self.turn = starter
        self.winner = None
        self.pile = []
        order = [seat for seat in self.clockwise_from(starter) if seat in self.in_game]
        dealt, self.stock = cards[: 5 * len(order)], cards[5 * len(order) :]
        self.hands = [dealt[order.index(seat) :: len(order)] if seat in order else [] for seat in range(self.seats)]
        self.dealt_last = self.hands[starter][-1]
        hands = [list(hand) for hand in self.hands]
        return {"type": "deal", "starter": starter, "hands": hands, "stock": list(self.stock)}

    def act(self, seat: int, action: interface.ReplayAction) -> None:
        """Play a card or draw one."""
        self.check_turn(seat)
        if action != {"type": "draw"}:
            self.check_play(seat, action)
            self.play(seat, action["card"], action.get("suit", ""))
        elif rule := self.rule_against_drawing(seat):
            raise interface.Illegal(rule, f"seat {seat} may not draw")
        else:
            self.draw(seat)

    def check_turn(self, seat: int) -> None:
        """Raise Illegal unless it is the turn of a seat."""
        if self.ranking is not None:
            raise interface.Illegal(self.ended_by, "the game is over")
        if self.dealing:
            raise interface.Illegal("101-DEAL-1", "a deal is due")
        if self.to_take > 0:
            raise interface.Illegal("101-STOCK-3", "the table has to shuffle")
        if seat != self.turn:
            raise interface.Illegal("101-PLAY-2", f"it is the turn of seat {self.turn}")

    def check_play(self, seat: int, action: interface.ReplayAction) -> None:
        """Raise Illegal unless the seat to act may play this action."""
        card = action.get("card")
        if action.get("type") != "play" or not action.keys() <= {"type", "card", "suit"}:
            raise interface.Illegal("101-PLAY-1", f"{action} is nothing that one can do here")
        if card not in self.hands[seat]:
            raise interface.Illegal("101-PLAY-1", f"seat {seat} does not hold {card}")
        if is_queen(card):
            if action.get("suit") not in SUITS:
                raise interface.Illegal("101-QUEEN-2", f"{card} has to order a suit")
        elif "suit" in action:
            raise interface.Illegal("101-QUEEN-2", f"{card} orders no suit")
        rule = self.rule_against(card)
        if rule:
            raise interface.Illegal(rule, f"{card} does not go")

    def play(self, seat: int, card: interface.Card, suit: str) -> None:
        """Put a card on the pile, with its effects."""
        self.hands[seat].remove(card)
        self.pile.append((card, seat))
        self.ordered = suit  # 101-QUEEN-3: until the next card
        self.covering = False
        is_last = not self.hands[seat]
        if card[0] == "6" and not (is_last and self.options["finish_on_six"]):
            self.covering = True  # 101-SIX-1, and with an empty hand 101-SIX-5: the seat can only draw
            return
        hit = self.next_player(seat)
        self.taker = hit
        self.to_take = cards_taken(card)
        if is_last:  # 101-LAST-1, 101-SIX-6
            self.winner = seat
            if not self.options["last_card_effects"]:  # 101-LAST-2
                self.to_take = 0
        self.turn = self.next_player(hit) if turn_missed(card) else hit  # 101-SKIP-1, 101-PLAY-2
        self.take_cards()

    def draw(self, seat: int) -> None:
        """Take one card and pass the turn on (101-DRAW-2); no cover is owed any more (101-SIX-4)."""
        self.covering = False
        self.taker = seat
        self.to_take = 1
        self.turn = self.next_player(seat)
        self.take_cards()

    def take_cards(self) -> None:
        """Give cards to the taker until a shuffle is due; then end a round that is won."""
        while self.to_take > 0:
            if not self.stock and len(self.pile) == 1:  # 101-STOCK-4
                self.to_take = 0
                break
            if not self.stock:
                if self.options["recycle"] == "shuffle":  # 101-STOCK-3
                    return
                self.stock = [card for card, _ in self.pile[:-1]]  # 101-STOCK-2
                self.pile = self.pile[-1:]
            self.hands[self.taker].append(self.stock.pop(0))
            self.to_take -= 1
        if self.winner is not None:
            self.end_round(self.winner)

    def next_player(self, seat: int) -> int:
        """Return the next seat clockwise that is still in the game."""
        return min(self.in_game, key=lambda other: (other - seat - 1) % self.seats)

    # The end of a round and of the game.

    def end_round(self, winner: int) -> None:
        """Score the points, and determine the losers and the end of the game."""
        points = [0] * self.seats
        losers = []
        for seat in self.in_game:  # 101-SCORE-1
            points[seat] = points_of(seat, winner, self.hands[seat], self.pile[-1][0], self.options)
            self.scores[seat] = corrected(self.scores[seat] + points[seat], self.options)
            if self.scores[seat] >= (101 if self.options["lose_at"] == "reach" else 102):  # 101-END-1
                losers.append(seat)
        self.record_round(points)
        self.starter = winner  # 101-DEAL-3
        self.dealing = True
        self.end_game(losers)

    def end_game(self, losers: list[int]) -> None:
        """Let losers drop out, and rank the seats if the game is over."""
        if self.options["elimination"]:
            self.in_game = [seat for seat in self.in_game if seat not in losers]  # 101-ELIM-1
            self.dropped_out.append(losers)
            if len(self.in_game) == 1:
                self.ended_by = "101-ELIM-1"
        elif losers:
            self.ended_by = "101-END-2"
        if not self.ended_by and self.round_number == self.options["max_rounds"]:  # 0 sets no limit
            self.ended_by = "101-END-4"
        if self.ended_by:
            self.dealing = False
            self.ranking = self.ranked()

    def ranked(self) -> list[list[int]]:
        """Return the seats in the game by score, then those that dropped out, the last ones first."""
        ranking = []
        for seats in (self.in_game, *reversed(self.dropped_out)):  # 101-ELIM-3
            ranking += grouped(seats, lambda seat: self.scores[seat])  # 101-END-3
        return ranking

    def ranking_at_limit(self) -> list[list[int]] | None:
        """Return the ranking by the finished rounds (101-END-5)."""
        return self.ranked() if self.round_number > 1 else None
