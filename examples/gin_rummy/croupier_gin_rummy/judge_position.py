"""A table of Gin Rummy at one moment for the judge: what is due, what is seen, and which rule an action breaks."""

from collections.abc import Iterator
from typing import Any

from croupier_gin_rummy.judge_melds import cost, is_run, is_set, least, melds_of
from croupier_loadtest.judge.rules import interface
from croupier_loadtest.judge.rules.cards import PACK, open_piles
from croupier_loadtest.judge.rules.interface import Card, ReplayAction

TAKE: ReplayAction = {"type": "draw", "pile": "discard"}
DRAW: ReplayAction = {"type": "draw", "pile": "stock"}
PASS: ReplayAction = {"type": "pass"}
KNOCK: ReplayAction = {"type": "declare", "word": "knock"}
BIG_GIN: ReplayAction = {"type": "declare", "word": "big_gin"}
DONE: ReplayAction = {"type": "declare", "word": "done"}


class GinRummyPosition(interface.JudgeTable):
    """A table of Gin Rummy without the events that change it."""

    proposal_rule = "GIN-TURN-2"

    def __init__(self, seats: int, options: interface.Options) -> None:
        super().__init__(seats, options)
        self.phase = "deal"
        self.dealer: int | None = None
        """The dealer of the next deal while one is due, else of this one; None before the first."""
        self.boxes = [0, 0]
        self.ended_by = ""
        """The rule by which the game is over."""
        # The hand that is played.
        self.turn = 0
        self.stock: list[Card] = []
        """The next card first."""
        self.pile: list[tuple[Card, int | None]] = []
        """The discard pile, the top card last."""
        self.limit = 0
        self.taken: Card = ""
        """The card that was taken from the discard pile in this turn."""
        self.knocker: int | None = None
        self.is_gin = False
        self.is_big = False
        self.melds: list[list[list[tuple[Card, int | None]]]] = [[], []]
        """By seat, in the order in which they were laid."""

    # Due actions

    @property
    def pending_shuffle(self) -> interface.Shuffle | None:
        """The whole pack before each hand, with a dealer before the first (GIN-DEAL-2, GIN-DEAL-3)."""
        if self.phase != "deal":
            return None
        return interface.Shuffle(list(PACK), [2] if self.round_number == 0 else [], self.round_number + 1, 1)

    @property
    def to_act(self) -> list[int]:
        """The one seat whose turn it is (GIN-TURN-1)."""
        return [] if self.phase in ("deal", "over") or self.ranking is not None else [self.turn]

    @property
    def piles(self) -> dict[str, interface.Pile]:
        """The discard pile, the hidden stock, and the melds of both seats."""
        laid = {
            f"meld_{number} {owner}": meld for owner in (0, 1) for number, meld in enumerate(self.melds[owner], start=1)
        }
        stock = interface.Pile([(card, None) for card in self.stock], frozenset())  # GIN-VIS-4
        return open_piles(discard=self.pile, **laid) | ({"stock": stock} if self.stock else {})

    @property
    def open_hands(self) -> list[int]:
        """Both hands from a knock on (GIN-VIS-5)."""
        return [] if self.knocker is None else [0, 1]

    # Legal actions

    def legal_in_turn(self, seat: int) -> interface.Legal:
        """Return everything that no rule refuses."""
        return interface.Legal([act for act in self.conceivable(seat) if not self.rule_against(seat, act)], [])

    def conceivable(self, seat: int) -> Iterator[ReplayAction]:
        """Yield all actions that a seat could ever do with its cards."""
        yield from (TAKE, DRAW, PASS, KNOCK, BIG_GIN, DONE)
        hand = self.hands[seat]
        yield from ({"type": "play", "card": card} for card in hand)
        if self.phase in ("lay", "lay_off"):
            for name, cards in melds_of(hand):
                yield {"type": "lay", "cards": sorted(cards, key=PACK.index), "meld": name}
            for number in range(1, 4):
                for card in hand:
                    yield {"type": "lay", "cards": [card], "pile": f"meld_{number}", "owner": self.knocker}

    def rule_against(self, seat: int, action: ReplayAction) -> str:
        """Return the rule against an action of the seat to act; empty if it is legal."""
        match self.phase:
            case "upcard":
                return "" if action in (TAKE, PASS) else "GIN-UP-1"
            case "draw" if action == TAKE:
                return "GIN-UP-3" if self.pile[-1][1] is None else ""
            case "draw":
                return "" if action == DRAW else "GIN-DRAW-1"
            case "discard":
                return self.rule_against_end_of_turn(seat, action)
            case "knock":
                return self.rule_against_knocking_discard(seat, action)
            case "lay":
                return self.rule_against_meld_of_knocker(seat, action)
            case _:
                return self.rule_against_defence(seat, action)

    def rule_against_end_of_turn(self, seat: int, action: ReplayAction) -> str:
        """Return the rule against a discard, a knock or big gin."""
        if action == KNOCK:
            could = any(not self.rule_against_knocking_discard(seat, {"type": "play", "card": card}) for card in PACK)
            return "" if could else "GIN-KNOCK-1"
        if action == BIG_GIN:
            if not self.options["big_gin"]:
                return "GIN-BIG-1"
            return "GIN-BIG-2" if least(self.hands[seat]) else ""
        return self.rule_against_discard(seat, action)

    def rule_against_discard(self, seat: int, action: ReplayAction) -> str:
        """Return the rule against a card that is discarded, be it with a knock or not."""
        if action.get("type") != "play" or set(action) != {"type", "card"} or action["card"] not in self.hands[seat]:
            return "GIN-DISCARD-1"
        return "GIN-DISCARD-2" if action["card"] == self.taken else ""

    def rule_against_knocking_discard(self, seat: int, action: ReplayAction) -> str:
        """Return the rule against the discard of a knock."""
        if action.get("type") != "play" or set(action) != {"type", "card"}:
            return "GIN-KNOCK-2"
        if rule := self.rule_against_discard(seat, action):
            return rule
        left = [card for card in self.hands[seat] if card != action["card"]]
        return "GIN-KNOCK-2" if least(left) > self.limit else ""

    @property
    def tolerated(self) -> int:
        """How much deadwood the knocker may keep (GIN-LAY-3)."""
        return 0 if self.is_gin else self.limit

    def rule_against_meld_of_knocker(self, seat: int, action: ReplayAction) -> str:
        """Return the rule against an action of the knocker after the knock."""
        if action == DONE:
            return "GIN-LAY-4" if cost(self.hands[seat]) > self.tolerated else ""
        if not self.has_form_of_meld(action):
            return "GIN-LAY-1"
        if rule := self.rule_against_meld(seat, action):
            return rule
        left = [card for card in self.hands[seat] if card not in action["cards"]]
        return "GIN-LAY-3" if least(left) > self.tolerated else ""

    def rule_against_defence(self, seat: int, action: ReplayAction) -> str:
        """Return the rule against an action of the defender after the knock."""
        if action == DONE:  # GIN-OFF-4
            return ""
        if self.has_form_of_meld(action):
            return self.rule_against_meld(seat, action)
        meld = self.meld_to_extend(action)
        if meld is None:
            return "GIN-OFF-1"
        if self.is_gin:
            return "GIN-OFF-2"
        if self.holds_not_all(seat, action["cards"]):
            return "GIN-LAY-2"
        longer = [card for card, _ in meld] + action["cards"]
        return "" if is_set(longer) or is_run(longer) else "GIN-OFF-3"

    def has_form_of_meld(self, action: ReplayAction) -> bool:
        """Return whether an action has the keys of a new meld (GIN-TURN-3), and its word."""
        if action.get("type") != "lay" or set(action) != {"type", "cards", "meld"}:
            return False
        return isinstance(action["cards"], list) and action["meld"] in ("set", "run")

    def rule_against_meld(self, seat: int, action: ReplayAction) -> str:
        """Return the rule against the cards of a new meld."""
        cards = action["cards"]
        if self.holds_not_all(seat, cards):
            return "GIN-LAY-2"
        if action["meld"] == "set":
            return "" if is_set(cards) else "GIN-MELD-1"
        return "" if is_run(cards) else "GIN-MELD-2"

    def holds_not_all(self, seat: int, cards: list[Any]) -> bool:
        """Return whether some of the cards are not in a hand, or come twice."""
        return any(card not in self.hands[seat] or cards.count(card) > 1 for card in cards)

    def meld_to_extend(self, action: ReplayAction) -> list[tuple[Card, int | None]] | None:
        """Return the meld of the knocker on which an action lays a single card off; None for another form."""
        if action.get("type") != "lay" or set(action) != {"type", "cards", "pile", "owner"} or self.knocker is None:
            return None
        if not isinstance(action["cards"], list) or len(action["cards"]) != 1 or action["owner"] != self.knocker:
            return None
        melds = self.melds[self.knocker]
        return next((meld for n, meld in enumerate(melds, start=1) if action["pile"] == f"meld_{n}"), None)
