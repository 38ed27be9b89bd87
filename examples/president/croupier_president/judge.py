"""The judge's rules of President, in the order of its rules page, whose rule ids are in the comments."""

from typing import Any

from croupier_loadtest.judge.rules import interface
from croupier_loadtest.judge.rules.cards import PACK, grouped, open_piles

RANKS = "3456789TJQKA2"  # PRES-RANK-1
SUITS = "CDHS"
WAITING = {"deal": "PRES-DEAL-3", "exchange": "PRES-EXCH-4", "play": "PRES-TURN-1", "over": "PRES-END-4"}
"""By phase, the rule against a seat that is not to act."""


def rank(card: interface.Card) -> int:
    """Return the rank of a card, from 0."""
    return RANKS.index(card[0])


def is_held(hand: list[interface.Card], cards: Any) -> bool:
    """Return whether these are cards of a hand, none of them named twice."""
    return isinstance(cards, list) and all(card in hand and cards.count(card) == 1 for card in cards)


class PresidentTable(interface.JudgeTable):
    """A table of President."""

    proposal_rule = "PRES-PLAYERS-2"

    def __init__(self, seats: int, options: interface.Options) -> None:
        super().__init__(seats, options)
        self.phase = "deal"
        self.dealer: int | None = None
        self.places: list[int] = []
        """The seats by their places in the round before, best first; empty in the first round (PRES-TITLE-2)."""
        # The exchange: by seat that is to act, the seat that gets the cards and their number; and who still gives best.
        self.owes: dict[int, tuple[int, int]] = {}
        self.gives_best: set[int] = set()
        # The trick: the combinations with their seats, the seat in turn, and the seats whose pass counts.
        self.combinations: list[tuple[int, list[interface.Card]]] = []
        self.turn = 0
        self.passes: list[int] = []
        self.waste: list[tuple[interface.Card, int | None]] = []
        self.out: list[int] = []

    # Due actions

    @property
    def pending_shuffle(self) -> interface.Shuffle | None:
        """The pack before each round, with a dealer before the first (PRES-DECK-1, PRES-DEAL-1)."""
        if self.phase != "deal":
            return None
        return interface.Shuffle(list(PACK), [] if self.places else [self.seats], self.round_number + 1, 1)

    @property
    def to_act(self) -> list[int]:
        """All who owe cards, or the seat in turn (PRES-EXCH-4, PRES-TURN-1)."""
        if self.phase == "exchange":
            return sorted(self.owes)
        return [self.turn] if self.phase == "play" else []

    @property
    def piles(self) -> dict[str, interface.Pile]:
        """Trick and waste, which lie open (PRES-VIS-2)."""
        return open_piles(trick=self.trick_cards(), waste=self.waste)

    @property
    def open_hands(self) -> list[int]:
        """All hands between rounds and at the end (PRES-VIS-4)."""
        return list(range(self.seats)) if self.phase in ("deal", "over") else []

    def trick_cards(self) -> list[tuple[interface.Card, int | None]]:
        """Return the cards of the trick, each with its seat."""
        return [(card, seat) for seat, cards in self.combinations for card in cards]

    # Legal actions

    def legal_in_turn(self, seat: int) -> interface.Legal:
        """Return a choice of the cards to hand over, or all combinations and the pass."""
        if self.phase == "exchange":
            count = self.owes[seat][1]
            cards = self.best(seat, count) if seat in self.gives_best else list(self.hands[seat])
            return interface.Legal([], [interface.Choice("swap", cards, count, count, {})])
        legal = interface.Legal([], [])
        for sign in RANKS:
            held = [card for card in PACK if card in self.hands[seat] and card[0] == sign]
            if held and self.is_first_lead:
                self.add_opening(legal, held)
                break
            self.add_rank(legal, held)
        if self.combinations:  # PRES-PASS-1
            legal.actions.append({"type": "pass"})
        return legal

    def add_rank(self, legal: interface.Legal, held: list[interface.Card]) -> None:
        """Add what may be laid of the cards of one rank (PRES-LAY-3, PRES-BEAT-1, PRES-BEAT-2)."""
        if self.combinations:
            last = self.combinations[-1][1]
            sizes = [len(last)] if held and rank(held[0]) > rank(last[0]) and len(held) >= len(last) else []
        else:
            sizes = list(range(1, len(held) + 1))
        if sizes == [1]:
            legal.actions.extend({"type": "lay", "cards": [card]} for card in held)
        elif sizes:
            legal.choices.append(interface.Choice("lay", held, sizes[0], sizes[-1], {}))

    def add_opening(self, legal: interface.Legal, threes: list[interface.Card]) -> None:
        """Add the three of clubs alone and with each selection of the other threes (PRES-LEAD-2)."""
        if threes == ["3C"]:
            legal.actions.append({"type": "lay", "cards": threes})
            return
        selections: list[list[interface.Card]] = [["3C"]]
        for three in threes:
            if three != "3C":
                selections += [[*chosen, three] for chosen in selections]
        legal.choices.extend(interface.Choice("lay", some, len(some), len(some), {}) for some in selections)

    @property
    def is_first_lead(self) -> bool:
        """Whether nobody has laid a card in the first round."""
        return not self.places and not self.combinations and not self.waste

    def best(self, seat: int, count: int) -> list[interface.Card]:
        """Return the best cards of a hand (PRES-EXCH-2)."""
        hand = sorted(self.hands[seat], key=lambda card: (rank(card), SUITS.index(card[1])))
        return hand[len(hand) - count :]

    # The deal

    def shuffled(self, cards: list[interface.Card], drawn: list[int]) -> interface.ReplayAction:
        """Deal one card at a time, the first to the dealer's left (PRES-DEAL-2)."""
        dealer = drawn[0] if drawn else self.places[-1]  # PRES-DEAL-1
        self.round_number += 1
        self.hands = self.dealt_singly(cards, dealer + 1)
        self.combinations, self.passes, self.waste, self.out = [], [], [], []
        event: interface.ReplayAction = {"type": "deal", "dealer": dealer, "hands": [list(hand) for hand in self.hands]}
        self.owe_cards()
        self.phase = "exchange"
        if not self.owes:
            self.begin_play()
        return event

    def owe_cards(self) -> None:
        """Let scum and vice-scum owe cards, as many as the option says (PRES-EXCH-1)."""
        kind = self.options["exchange"]
        if not self.places or kind == "none":
            return
        self.owes = {self.places[-1]: (self.places[0], 1)}
        if kind == "double" and self.seats >= 4:
            self.owes = {self.places[-1]: (self.places[0], 2), self.places[-2]: (self.places[1], 1)}
        self.gives_best = set(self.owes)

    def begin_play(self) -> None:
        """Let a seat lead to the first trick (PRES-LEAD-1, PRES-LEAD-3)."""
        self.phase = "play"
        if not self.places:
            self.turn = next(seat for seat in range(self.seats) if "3C" in self.hands[seat])
        else:
            self.turn = self.places[0 if self.options["later_lead"] == "president" else -1]

    # Actions

    def act(self, seat: int, action: interface.ReplayAction) -> None:
        """Hand cards over, lay a combination, or pass."""
        if seat not in self.to_act:
            raise interface.Illegal(WAITING[self.phase], f"seat {seat} is not to act")
        if self.phase == "exchange":
            self.check_swap(seat, action)
            self.swap(seat, action["cards"])
        elif action == {"type": "pass"}:
            if not self.combinations:
                raise interface.Illegal("PRES-PASS-1", "the leader cannot pass")
            self.passes.append(seat)
            self.continue_after(seat)
        else:
            if rule := self.rule_against_lay(self.hands[seat], action):
                raise interface.Illegal(rule, f"{action} of {self.hands[seat]}")
            self.lay(seat, list(action["cards"]))

    def check_swap(self, seat: int, action: interface.ReplayAction) -> None:
        """Raise Illegal unless a seat that is to act may hand these cards over."""
        if action.keys() != {"type", "cards"} or action["type"] != "swap":
            raise interface.Illegal("PRES-EXCH-5", f"{action} is no exchange")
        cards, count = action["cards"], self.owes[seat][1]
        if not is_held(self.hands[seat], cards) or len(cards) != count:
            raise interface.Illegal("PRES-EXCH-3", f"{cards} of {self.hands[seat]}")
        if seat in self.gives_best and sorted(cards) != sorted(self.best(seat, count)):
            raise interface.Illegal("PRES-EXCH-2", f"{cards} are not the best")

    def swap(self, seat: int, cards: list[interface.Card]) -> None:
        """Move cards from hand to hand; who has got the best of another one owes as many (PRES-EXCH-3, PRES-EXCH-6)."""
        receiver, count = self.owes.pop(seat)
        for card in cards:
            self.hands[seat].remove(card)
            self.hands[receiver].append(card)
        if seat in self.gives_best:
            self.gives_best.remove(seat)
            self.owes[receiver] = (seat, count)
        elif not self.owes:
            self.begin_play()

    def rule_against_lay(self, hand: list[interface.Card], action: interface.ReplayAction) -> str:
        """Return the rule against laying cards by the seat in turn; empty if it is legal."""
        if action.keys() != {"type", "cards"} or action["type"] != "lay":
            return "PRES-LAY-1"
        cards = action["cards"]
        if not cards or not is_held(hand, cards):
            return "PRES-LAY-2"
        if any(card[0] != cards[0][0] for card in cards):
            return "PRES-LAY-3"
        if self.is_first_lead:
            return "" if "3C" in cards else "PRES-LEAD-2"
        if self.combinations:
            last = self.combinations[-1][1]
            if len(cards) != len(last):
                return "PRES-BEAT-1"
            if rank(cards[0]) <= rank(last[0]):
                return "PRES-BEAT-2"
        return ""

    def lay(self, seat: int, cards: list[interface.Card]) -> None:
        """Lay a combination, which may be the last one of its seat or of the round."""
        for card in cards:
            self.hands[seat].remove(card)
        self.combinations.append((seat, cards))
        if self.options["passing"] == "open":  # PRES-PASS-2
            self.passes = []
        if not self.hands[seat]:
            self.out.append(seat)  # PRES-OUT-1
            if len(self.out) == self.seats - 1:
                self.end_round()
                return
        self.continue_after(seat)

    def continue_after(self, seat: int) -> None:
        """Find the next seat that has to answer, or end the trick (PRES-TURN-1, PRES-TRICK-1, PRES-TRICK-2)."""
        last_seat, last = self.combinations[-1]
        for other in self.clockwise_from(seat)[1:]:
            if self.hands[other] and other != last_seat and other not in self.passes and last[0][0] != "2":
                self.turn = other
                return
        self.waste_trick()
        self.turn = next(other for other in self.clockwise_from(last_seat) if self.hands[other])  # PRES-TRICK-3

    def waste_trick(self) -> None:
        """Move the trick to the waste."""
        self.waste += self.trick_cards()
        self.combinations, self.passes = [], []

    # The end

    def end_round(self) -> None:
        """Place the one holder last, score, and end the game or ask for the next deal (PRES-OUT-2)."""
        self.waste_trick()
        self.places = [*self.out, *[seat for seat in range(self.seats) if self.hands[seat]]]
        by_place = [2, 1, *[0] * (self.seats - 2)]  # PRES-SCORE-2
        if self.options["scoring"] == "places":
            by_place = [self.seats - place for place in range(1, self.seats + 1)]  # PRES-SCORE-1
        self.score([by_place[self.places.index(seat)] for seat in range(self.seats)])
        target = int(self.options["target"])
        reached = target > 0 and max(self.scores) >= target  # PRES-END-2
        self.phase = "over" if reached or self.round_number == self.options["rounds"] else "deal"  # PRES-END-1
        if self.phase == "over":
            self.ranking = self.ranked()

    def ranked(self) -> list[list[int]]:
        """Return the seats by their points, equal ones together (PRES-END-3)."""
        return grouped(range(self.seats), lambda seat: -self.scores[seat])

    def ranking_at_limit(self) -> list[list[int]] | None:
        """Return the ranking by the complete rounds (PRES-END-5)."""
        return self.ranked() if self.rounds else None
