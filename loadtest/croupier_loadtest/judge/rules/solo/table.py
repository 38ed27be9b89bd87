"""A table of solo: hand after hand, until one seat is left with the Buck."""

import json
from types import MappingProxyType

from croupier_loadtest.judge.rules import interface
from croupier_loadtest.judge.rules.cards import open_piles
from croupier_loadtest.judge.rules.solo import bidding, play
from croupier_loadtest.judge.rules.solo.hand import DECK, FOUR, NO_SEAT, SUITS, Hand, cards_of, deal, winner

ACTIONS: dict[str, list[interface.ReplayAction]] = {
    "auction": [{"type": "pass"}, *({"type": "bid", "bid": bid} for bid in bidding.BIDS)],
    "wedding": [{"type": "bid", "bid": "wedding"}],
    "keep": [{"type": "keep"}, {"type": "yield"}],
    "name_trump": [{"type": "name_trump", "trump": suit, "do": do} for suit in SUITS for do in (False, True)],
    "call": [{"type": "call", "card": card} for card in [*DECK, "unknown", "nobody"]],
    "play": [*({"type": "play", "card": card} for card in DECK), {"type": "throw_down"}],
}
"""By phase, all possible actions."""

OUT_OF_TURN = {
    "deal": "SOLO-DEAL-3",
    "auction": "SOLO-BID-1",
    "wedding": "SOLO-WED-2",
    "keep": "SOLO-KEEP-1",
    "name_trump": "SOLO-TRUMP-1",
    "call": "SOLO-CALL-1",
    "play": "SOLO-PLAY-1",
    "over": "SOLO-END-2",
}
"""By phase, the rule against acting out of turn."""
OF_ANOTHER_PHASE = OUT_OF_TURN | {"keep": "SOLO-KEEP-2"}
"""By phase, the rule against actions of another phase."""
NO_SUCH = OF_ANOTHER_PHASE | {"auction": "SOLO-BID-2", "name_trump": "SOLO-TRUMP-3", "play": "SOLO-PLAY-2"}
"""By phase, the rule against impossible actions with a verb of the phase."""


class SoloTable(interface.JudgeTable):
    """A table of solo."""

    proposal_rule = "SOLO-RESTART-2"
    proposal_events = MappingProxyType(
        {
            "restart_same": {"type": "restart_hand", "cards": "same"},
            "restart_new": {"type": "restart_hand", "cards": "new"},
        }
    )
    earlier_options = MappingProxyType({"wedding_card": "free", "call": "must", "do_over_clubs": True})
    standing = interface.Standing(
        "escaped", "buck", has_winners=False, figure="escape_rate", is_share=True, places_matter=False
    )

    def __init__(self, seats: int, options: interface.Options) -> None:
        if seats != 4:
            raise interface.Illegal("SOLO-DECK-2", f"{seats} seats")
        super().__init__(seats, options)
        self.hand = Hand()
        self.hands = self.hand.cards
        self.went_out: dict[int, int] = {}
        self.dealer = NO_SEAT
        """The next dealer, or the same if the hand is restarted with new cards."""
        self.shuffles = 0
        """The number of shuffles of this hand, or of the next one."""

    @property
    def pending_shuffle(self) -> interface.Shuffle | None:
        """The whole pack while a deal is due; the very first one draws the dealer (SOLO-DEAL-1)."""
        if self.hand.phase != "deal":
            return None
        return interface.Shuffle(
            list(DECK), [4] if self.dealer == NO_SEAT else [], len(self.rounds) + 1, self.shuffles + 1
        )

    @property
    def to_act(self) -> list[int]:
        """The one seat that may act, or none."""
        return [] if self.hand.turn == NO_SEAT else [self.hand.turn]

    @property
    def piles(self) -> dict[str, interface.Pile]:
        """The trick on the table, and the finished ones of this hand."""
        return open_piles(trick=self.hand.trick, taken=[pile_card for trick in self.hand.tricks for pile_card in trick])

    @property
    def open_hands(self) -> list[int]:
        """The declaring side that has thrown its cards down (SOLO-VIS-5)."""
        return self.hand.side() if self.hand.thrown_down else []

    def legal_in_turn(self, seat: int) -> interface.Legal:
        possible = ACTIONS[self.hand.phase]
        return interface.Legal([dict(action) for action in possible if not self._rule_against(seat, action)], [])

    def shuffled(self, cards: list[interface.Card], drawn: list[int]) -> interface.ReplayAction:
        """Deal the cards; `drawn` is the dealer of the very first deal."""
        if drawn:
            self.dealer = drawn[0]
        self.round_number = len(self.rounds) + 1
        self.shuffles += 1
        self._begin(deal(cards, self.dealer, str(self.options["deal_start"]), str(self.options["deal_packets"])))
        return {"type": "deal", "dealer": self.dealer, "deck": list(cards)}

    def agree(self, event: interface.ReplayAction) -> None:
        """Play the hand again, with the same cards or with new ones (SOLO-RESTART-2)."""
        if self.hand.phase in ("deal", "over"):
            raise interface.Illegal(
                "SOLO-RESTART-2" if self.hand.phase == "deal" else "SOLO-END-2", "no hand is going on"
            )
        if event == self.proposal_events["restart_same"]:
            self._begin(self.hand.dealt)
        elif event == self.proposal_events["restart_new"]:
            self.hand = Hand()
            self.hands = self.hand.cards
        else:
            raise interface.Illegal("SOLO-RESTART-2", f"{event} is not agreed to here")

    def act(self, seat: int, action: interface.ReplayAction) -> None:
        """Apply an action of a seat."""
        if rule := self._refusal(seat, action):
            raise interface.Illegal(rule, f"seat {seat}: {action}")
        match self.hand.phase:
            case "auction":
                self._call_in_auction(seat, action.get("bid", "pass"))
            case "wedding":
                self._declare(seat, "wedding")
            case "keep":
                bidder, bid = bidding.highest(self.hand)
                self._declare(seat if action["type"] == "keep" else bidder, bid)
            case "name_trump":
                self._name_trump(action["trump"], action["do"])
            case "call":
                self._call(action["card"])
            case "play" if action["type"] == "play":
                self._play(seat, action["card"])
            case "play":  # SOLO-THROUGH-2
                self.hand.thrown_down = True
                self._finish("made")

    def _refusal(self, seat: int, action: interface.ReplayAction) -> str:
        """Return the rule against an action of a seat; empty if there is none."""
        phase, verb = self.hand.phase, str(action.get("type"))
        possible = ACTIONS.get(phase, [])
        if seat != self.hand.turn:
            return OUT_OF_TURN[phase]
        if verb not in [each["type"] for each in possible]:
            return OF_ANOTHER_PHASE[phase]
        # As texts, because 1 equals True in Python.
        if json.dumps(action, sort_keys=True) not in [json.dumps(each, sort_keys=True) for each in possible]:
            return bidding.calls(self.hand)[0] if phase == "call" else NO_SUCH[phase]
        return self._rule_against(seat, action)

    def _rule_against(self, seat: int, action: interface.ReplayAction) -> str:
        """Return the rule against an action of this phase by the seat whose turn it is."""
        hand, card = self.hand, action.get("card", "")
        match action["type"]:
            case "pass" | "bid" if hand.phase == "auction":
                return bidding.bid_refusal(hand, seat, action, self.options)
            case "keep" if not cards_of("C", hand.cards[seat]):
                return "SOLO-KEEP-2"
            case "name_trump":
                return bidding.trump_refusal(hand, seat, action, self.options)
            case "call":
                return bidding.call_refusal(hand, card, self.options)
            case "play":
                return play.card_refusal(hand, seat, card, self.options)
            case "throw_down" if not play.may_throw_down(hand):
                return "SOLO-THROUGH-1"
        return ""

    def _begin(self, dealt: list[list[interface.Card]]) -> None:
        self.hand = Hand(dealt, [list(cards) for cards in dealt], "auction", (self.dealer + 1) % 4)  # SOLO-BID-1
        self.hands = self.hand.cards

    def _call_in_auction(self, seat: int, bid: str) -> None:
        self.hand.auction.append((seat, bid))
        self.hand.turn = (seat + 1) % 4
        if len(self.hand.auction) == 4:
            self._end_auction()

    def _end_auction(self) -> None:
        """Continue after the highest bid (SOLO-BID-7)."""
        seat, bid = bidding.highest(self.hand)
        keeper = bidding.seat_that_may_keep(self.hand, self.options)
        queens = bidding.holder_of_both_queens(self.hand)
        if queens != NO_SEAT and bid not in (*bidding.SOLOS, "wedding"):
            self.hand.phase, self.hand.turn = "wedding", queens  # SOLO-WED-2
        elif not bid:
            self._end_hand(self.scores)  # SOLO-BID-8
        elif keeper != NO_SEAT:
            self.hand.phase, self.hand.turn = "keep", keeper
        else:
            self._declare(seat, bid)

    def _declare(self, seat: int, contract: str) -> None:
        self.hand.declarer, self.hand.turn, self.hand.contract = seat, seat, contract
        self.hand.phase = "call" if contract == "wedding" else "name_trump"

    def _name_trump(self, suit: str, do: bool) -> None:
        self.hand.trump = suit
        self.hand.do = do or self.hand.contract in ("solo_do", "solo_do_clubs")
        if self.hand.contract in ("froke", "iss"):
            self.hand.phase = "call"
        else:
            self._begin_play()

    def _call(self, name: str) -> None:
        hand = self.hand
        if name == "nobody":  # SOLO-CALL-7
            self._begin_play()
            return
        hand.called = bidding.called_card(hand, name)
        hand.partner = next(seat for seat in FOUR if hand.called in hand.cards[seat])
        if bidding.is_forbidden_pair(hand, play.remaining_seats(self.scores), str(self.options["last_two"])):
            self._end_hand(self.scores)
        elif hand.contract == "wedding":
            hand.phase, hand.turn = "name_trump", hand.partner  # SOLO-WED-5
        else:
            self._begin_play()

    def _begin_play(self) -> None:
        hand = self.hand
        hand.phase = "play"
        hand.turn = hand.declarer if self.options["first_lead"] == "declarer" else (self.dealer + 1) % 4  # SOLO-PLAY-1

    def _play(self, seat: int, card: interface.Card) -> None:
        hand = self.hand
        if play.may_throw_down(hand):
            hand.through = True  # SOLO-THROUGH-3
        hand.cards[seat].remove(card)
        hand.trick.append((card, seat))
        hand.turn = (seat + 1) % 4
        if len(hand.trick) == 4:
            hand.turn = winner(hand.trick, hand.trump)
            hand.tricks.append(hand.trick)
            hand.trick = []
            self._finish(play.outcome(hand, self.options))

    def _finish(self, ended: str) -> None:
        """Score the hand if it is "made" or "failed" (SOLO-SCORE-3)."""
        if ended:
            winners = self.hand.side() if ended == "made" else self.hand.defenders()
            each = play.value(self.hand, ended == "made", self.options)
            self._end_hand(play.scores_after(self.scores, winners, each, str(self.options["double_out"])))

    def ranking_at_limit(self) -> list[list[int]] | None:
        """Return those who are out, then the others (SOLO-END-6)."""
        return play.final_ranking(self.went_out, str(self.options["ranking"])) if self.went_out else None

    @property
    def outcomes(self) -> list[str]:
        """Return who has escaped, if one seat has the Buck (SOLO-STAT-1)."""
        if len(self.went_out) != len(FOUR) - 1:
            return []
        return ["escaped" if seat in self.went_out else "buck" for seat in FOUR]

    def _end_hand(self, totals: list[int]) -> None:
        self.score([totals[seat] - self.scores[seat] for seat in FOUR])
        self.hand.turn = NO_SEAT
        for seat in FOUR:
            if seat not in play.remaining_seats(totals):
                self.went_out.setdefault(seat, self.round_number)
        if len(play.remaining_seats(totals)) == 1:  # SOLO-END-2
            self.hand.phase = "over"
            self.ranking = play.final_ranking(self.went_out, str(self.options["ranking"]))
        else:
            # The remaining cards stay until the next deal.
            self.hand.phase, self.dealer, self.shuffles = "deal", (self.dealer + 1) % 4, 0
