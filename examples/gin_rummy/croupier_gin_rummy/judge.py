"""The judge's rules of Gin Rummy: the events of a table, in the order of the rules page, whose ids are in comments."""

from croupier_gin_rummy.judge_melds import COSTS, cost, least
from croupier_gin_rummy.judge_position import TAKE, GinRummyPosition
from croupier_loadtest.judge.rules.cards import PACK, grouped
from croupier_loadtest.judge.rules.interface import Card, Illegal, ReplayAction


class GinRummyTable(GinRummyPosition):
    """A table of Gin Rummy."""

    # Events

    def shuffled(self, cards: list[Card], drawn: list[int]) -> ReplayAction:
        """Deal singly, beginning with the seat that does not deal (GIN-DEAL-5)."""
        if self.dealer is None:
            self.dealer = drawn[0]
        self.round_number += 1
        self.hands = self.dealt_singly(cards[:20], 1 - self.dealer)
        self.known = [[], []]
        self.pile = [(cards[20], None)]
        self.stock = list(cards[21:])
        self.limit = self.limit_by(cards[20])
        self.taken, self.knocker, self.is_gin, self.is_big, self.melds = "", None, False, False, [[], []]
        self.phase, self.turn = "upcard", 1 - self.dealer
        return {  # GIN-DEAL-1
            "type": "deal",
            "dealer": self.dealer,
            "hands": [list(hand) for hand in self.hands],
            "upcard": cards[20],
            "stock": list(self.stock),
        }

    def limit_by(self, upcard: Card) -> int:
        """Return the limit of a knock: GIN-KNOCK-3."""
        if self.options["knock"] == "upcard":
            return 0 if upcard[0] == "A" else COSTS[upcard[0]]
        return 10 if self.options["knock"] == "ten" else 0

    def act(self, seat: int, action: ReplayAction) -> None:
        """Apply an action of a seat."""
        self.check_turn(seat)
        if rule := self.rule_against(seat, action):
            raise Illegal(rule, f"{action} of seat {seat} in phase {self.phase}")
        match action["type"]:
            case "pass":
                self.pass_upcard(seat)
            case "draw":
                self.draw(seat, from_pile=action == TAKE)
            case "play":
                self.discard(seat, action["card"])
            case "lay":
                self.lay(seat, action)
            case _:
                self.declare(seat, action["word"])

    def check_turn(self, seat: int) -> None:
        """Raise Illegal unless it is the turn of a seat."""
        if self.ranking is not None:
            raise Illegal(self.ended_by, "the game is over")
        if self.phase == "deal":
            raise Illegal("GIN-DEAL-1", "a deal is due")
        if seat != self.turn:
            raise Illegal("GIN-TURN-1", f"it is the turn of seat {self.turn}")

    def pass_upcard(self, seat: int) -> None:
        """Offer the upcard to the dealer, or let the other seat draw (GIN-UP-2, GIN-UP-3)."""
        if seat == self.dealer:
            self.phase = "draw"
        self.turn = 1 - seat

    def draw(self, seat: int, *, from_pile: bool) -> None:
        """Take a card; one from the discard pile is known from then on (GIN-VIS-3)."""
        if from_pile:
            self.taken, _ = self.pile.pop()
            self.known[seat].append(self.taken)
            self.hands[seat].append(self.taken)
        else:
            self.hands[seat].append(self.stock.pop(0))
        self.phase = "discard"

    def discard(self, seat: int, card: Card) -> None:
        """Discard a card, and end the turn, the hand or the knock with it."""
        self.remove(seat, card)
        self.pile.append((card, seat))
        if self.phase == "knock":
            self.open_up(seat, is_gin=least(self.hands[seat]) == 0)  # GIN-KNOCK-4
        elif len(self.stock) == 2:  # GIN-STOCK-1
            self.end_hand(None, 0)
        else:
            self.phase, self.turn = "draw", 1 - seat
        self.taken = ""

    def remove(self, seat: int, card: Card) -> None:
        """Remove a card from a hand."""
        self.hands[seat].remove(card)
        if card in self.known[seat]:
            self.known[seat].remove(card)

    def declare(self, seat: int, word: str) -> None:
        """Knock, declare big gin, or be done."""
        if word == "knock":
            self.phase = "knock"
        elif word == "big_gin":
            self.is_big = True
            self.open_up(seat, is_gin=True)
        else:
            self.be_done()

    def open_up(self, seat: int, *, is_gin: bool) -> None:
        """Lay both hands open, and let the knocker lay melds (GIN-KNOCK-5, GIN-BIG-2)."""
        self.phase, self.knocker, self.is_gin, self.taken = "lay", seat, is_gin, ""

    def lay(self, seat: int, action: ReplayAction) -> None:
        """Lay a meld, or lay a card off."""
        cards = sorted(action["cards"], key=PACK.index)
        for card in cards:
            self.remove(seat, card)
        meld = self.meld_to_extend(action)
        if meld is None:
            meld = []
            self.melds[seat].append(meld)
        meld += [(card, seat) for card in cards]
        if not self.can_lay(seat):  # GIN-LAY-5
            self.be_done()

    def can_lay(self, seat: int) -> bool:
        """Return whether a seat has anything to lay."""
        return any(action["type"] == "lay" for action in self.legal_in_turn(seat).actions)

    def be_done(self) -> None:
        """Pass on to the defender, if they have anything to lay, or score the hand."""
        if self.phase == "lay":
            self.phase, self.turn = "lay_off", 1 - self.turn
            if self.can_lay(self.turn):
                return
        self.score_knock()

    # The score

    def score_knock(self) -> None:
        """Compare what is left in the hands (GIN-SCORE-1)."""
        knocker, defender = 1 - self.turn, self.turn
        own, others = cost(self.hands[knocker]), cost(self.hands[defender])
        if self.is_gin:  # GIN-SCORE-4
            self.end_hand(knocker, others + (31 if self.is_big else int(self.options["gin_bonus"])))
        elif own < others:  # GIN-SCORE-2
            self.end_hand(knocker, others - own)
        else:  # GIN-SCORE-3
            self.end_hand(defender, own - others + int(self.options["undercut_bonus"]))

    def end_hand(self, winner: int | None, points: int) -> None:
        """Count a hand with its winner, if it has one, and end the game if it was the last."""
        scored = [points if seat == winner else 0 for seat in (0, 1)]
        if winner is not None:
            self.boxes[winner] += 1
            self.dealer = self.dealer_after(winner)
        sums = [total + own for total, own in zip(self.scores, scored, strict=True)]
        if max(sums) >= int(self.options["target"]):
            self.ended_by = "GIN-END-1"
        elif self.round_number == self.options["max_rounds"]:
            self.ended_by = "GIN-END-2"
        if self.ended_by and self.options["end_bonuses"]:
            scored = [own + self.bonus_at_end(seat, sums) for seat, own in enumerate(scored)]
        self.score(scored)
        self.phase = "over" if self.ended_by else "deal"
        if self.ended_by:
            self.ranking = self.ranked()

    def dealer_after(self, winner: int) -> int | None:
        """Return who deals after a hand that was won: GIN-DEAL-4."""
        match self.options["next_dealer"]:
            case "loser":
                return 1 - winner
            case "winner":
                return winner
            case _:
                return None if self.dealer is None else 1 - self.dealer

    def bonus_at_end(self, seat: int, sums: list[int]) -> int:
        """Return the bonuses of a seat at the end of the game, whose scores without them are given: GIN-END-3."""
        game = 0
        if sums[seat] >= int(self.options["target"]):
            game = 200 if sums[1 - seat] == 0 else 100
        return game + 20 * self.boxes[seat]

    def ranked(self) -> list[list[int]]:
        """Return the ranking: GIN-END-4."""
        return grouped((0, 1), lambda seat: -self.scores[seat])

    def ranking_at_limit(self) -> list[list[int]] | None:
        """Return the ranking by the scores, if there are any (GIN-END-5)."""
        return self.ranked() if any(self.scores) else None
