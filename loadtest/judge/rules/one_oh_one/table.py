"""The table: deals, turns, the stock, and the end of rounds and of the game."""

from loadtest.judge.rules import interface
from loadtest.judge.rules.cards import SUITS, grouped, open_piles
from loadtest.judge.rules.one_oh_one.cards import (
    cards_taken,
    corrected,
    deck_of,
    in_order,
    is_queen,
    points_of,
    turn_missed,
)


class OneOhOneTable(interface.JudgeTable):
    """A table of 101."""

    proposal_rule = "101-PLAY-1"

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

    # Legal actions

    def legal(self, seat: int) -> interface.Legal:
        """Return every playable card, a queen once for each suit to order; and the draw."""
        if seat not in self.to_act:
            return interface.Legal([], [])
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
        self.stock = list(cards)
        self.hands = [[] for _ in range(self.seats)]
        for _ in range(5):
            seat = starter
            for _ in self.in_game:
                self.hands[seat].append(self.stock.pop(0))
                seat = self.next_player(seat)
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
            points[seat] = points_of(seat, winner, self.hands[seat], self.pile[-1][0])
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
