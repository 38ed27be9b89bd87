"""A table of Solo at one moment; what each phase makes of an action stands in the module of that phase."""

from collections.abc import Callable
from typing import Any, NamedTuple

from croupier.games.actions import Action, Call
from croupier.games.cards import notation
from croupier.games.facts import Called, Fact, PileCard, RoundStarted, Seat, TurnChanged, View, Viewer
from croupier.games.interface import (
    NOTHING_LEGAL,
    Awaiting,
    CardsShuffled,
    Event,
    GameOver,
    IllegalAction,
    Legal,
    ProposalAgreed,
    SeatActed,
    SeatsToAct,
    ShuffleNeeded,
)
from croupier.games.solo import auction, deal, naming, scoring, tricks, view
from croupier.games.solo.contracts import NOBODY, Contract
from croupier.games.solo.deck import DECK
from croupier.games.solo.table import SEATS, Table

RESTARTS = {"restart_same": "same", "restart_new": "new"}
"""What seats can agree on, and how a replay writes it (SOLO-RESTART-2)."""


class Match(NamedTuple):
    """What stays when a hand is restarted.

    `hand_number` and `dealer` are those of the last deal, NOBODY before the first; `went_out` has the hand in which
    each seat reached 36, else 0; `deals` counts the deals of the present hand, 0 when it has a result.
    """

    hand_number: int = 0
    dealer: Seat = NOBODY
    totals: tuple[int, ...] = (0,) * SEATS
    went_out: tuple[int, ...] = (0,) * SEATS
    deals: int = 0


class SoloState(NamedTuple):
    """A frozen table; hands are bit sets by seat, `to_act` is NOBODY while a deal is due and after the end.

    `calls` has all that was said in this hand in order, an unknown call as such; `taken` the cards of finished tricks,
    four by four; `tricks` how many each seat won; `through` whether the hand went through.
    """

    table: Table
    match: Match = Match()
    phase: str = "deal"
    to_act: Seat = NOBODY
    hands: tuple[int, ...] = (0,) * SEATS
    calls: tuple[Called, ...] = ()
    contract: Contract = Contract()
    trick: tuple[PileCard, ...] = ()
    taken: tuple[PileCard, ...] = ()
    tricks: tuple[int, ...] = (0,) * SEATS
    through: bool = False

    @property
    def awaiting(self) -> Awaiting:
        """A seat's action, the next deal, or nothing any more."""
        if self.to_act != NOBODY:
            return _AWAITING[self.to_act]
        if self.phase == "over":
            return GameOver(self.ranking, "buck")
        return ShuffleNeeded(DECK, (SEATS,) if self.draws_dealer else (), self.due_hand, self.match.deals + 1)

    @property
    def scores(self) -> tuple[int, ...]:
        """Totals by seat, at most 36."""
        return self.match.totals

    @property
    def ranking(self) -> tuple[tuple[Seat, ...], ...]:
        """Groups of seats, best first; empty until the game is over (SOLO-END-4)."""
        return scoring.ranking(self.table, self.match.totals, self.match.went_out) if self.phase == "over" else ()

    @property
    def draws_dealer(self) -> bool:
        """Whether the deal that is due draws the first dealer by lot (SOLO-DEAL-1)."""
        return self.match.dealer == NOBODY

    @property
    def due_hand(self) -> int:
        """The number of the hand whose deal is due (SOLO-END-5)."""
        return self.match.hand_number + (self.match.deals == 0)

    @property
    def hand(self) -> int:
        """The hand of the seat that is to act."""
        return self.hands[self.to_act]

    @property
    def partner_hidden(self) -> bool:
        """Whether the called card is unplayed in a hand with a hidden partner, so that its duties stand."""
        contract = self.contract
        return contract.secret and contract.called >= 0 and bool(self.hands[contract.partner] >> contract.called & 1)

    @property
    def called_unknown(self) -> bool:
        """Whether the partner was called by the unknown card (SOLO-CALL-4)."""
        return any(call.action == Call(None) for call in self.calls)

    def legal_actions(self, seat: Seat) -> Legal:
        """All that the seat may do now: words in the order of the ladder or suits, cards ascending, then throw down."""
        if seat != self.to_act or seat == NOBODY:
            return NOTHING_LEGAL
        return Legal(_LEGAL[self.phase](self))

    def apply(self, event: Event) -> tuple["SoloState", tuple[Fact, ...]]:
        """The next state and what became known; raises IllegalAction for what the rules refuse."""
        if isinstance(event, SeatActed):
            seat, action = event
            if seat != self.to_act or seat == NOBODY:
                raise self._not_now(seat)
            return _ACT[self.phase](self, action)
        if isinstance(event, ProposalAgreed):
            return self._restart(event)
        return self._deal(event)

    def view(self, viewer: Viewer) -> View:
        """All that a seat, or SPECTATOR, may know."""
        return view.view(self, viewer)

    def event_record(self, event: CardsShuffled | ProposalAgreed) -> dict[str, Any]:
        """The deal or restart as a replay writes it; raises IllegalAction for one that is not possible now."""
        if isinstance(event, ProposalAgreed):
            return {"type": "restart_hand", "cards": self._cards_again(event)}
        return {"type": "deal", "dealer": self._dealer(event), "deck": notation(event.cards)}

    def turn(self, phase: str, seat: Seat, facts: list[Fact]) -> tuple["SoloState", tuple[Fact, ...]]:
        """A seat is to act in a phase, after the facts that led to it."""
        return self._replace(phase=phase, to_act=seat), (*facts, TURNS[phase][seat])

    def _not_now(self, seat: Seat) -> IllegalAction:
        rule = _TURN_RULES[self.phase]
        if self.phase == "over":
            return IllegalAction(rule, "the game is over and nobody may act")
        if self.phase == "deal":
            return IllegalAction(rule, "a deal is due, so no hand is in progress and nobody may act")
        return IllegalAction(rule, f"it is not seat {seat} that is to act but seat {self.to_act}")

    def _dealer(self, event: CardsShuffled) -> Seat:
        """The dealer of a deal that is due and valid; raises IllegalAction for another (SOLO-DEAL-3)."""
        if self.phase == "over":
            raise IllegalAction("SOLO-END-2", "the game is over, there are no more deals")
        if self.phase != "deal":
            raise IllegalAction("SOLO-DEAL-3", "a hand is in progress, so no deal is due")
        deal.check(event, self.draws_dealer)
        if self.draws_dealer:
            return event.drawn[0]
        return (self.match.dealer + (self.match.deals == 0)) % SEATS

    def _deal(self, event: CardsShuffled) -> tuple["SoloState", tuple[Fact, ...]]:
        dealer = self._dealer(event)
        match = self.match._replace(hand_number=self.due_hand, dealer=dealer, deals=self.match.deals + 1)
        return _begin(self.table, match, deal.hands(self.table, dealer, event.cards))

    def _cards_again(self, event: ProposalAgreed) -> str:
        if self.phase == "over":
            raise IllegalAction("SOLO-END-2", "the game is over and nothing can be restarted")
        if event.proposal not in RESTARTS:
            raise IllegalAction("SOLO-RESTART-2", f"seats can agree on {' or '.join(RESTARTS)}, and nothing else")
        if self.to_act == NOBODY:
            raise IllegalAction("SOLO-RESTART-2", "no hand is in progress that could be restarted")
        return RESTARTS[event.proposal]

    def _restart(self, event: ProposalAgreed) -> tuple["SoloState", tuple[Fact, ...]]:
        """Undo everything since the deal, and the deal too if new cards were wanted (SOLO-RESTART-2)."""
        if self._cards_again(event) == "same":
            hands = list(self.hands)
            for value, seat in self.taken + self.trick:
                hands[seat or 0] |= 1 << value
            return _begin(self.table, self.match, tuple(hands))
        started = RoundStarted(self.match.hand_number, self.match.dealer)
        state = SoloState(self.table, self.match)
        return state, (started, *view.marks(state), TurnChanged("deal", ()))


def _begin(table: Table, match: Match, hands: tuple[int, ...]) -> tuple[SoloState, tuple[Fact, ...]]:
    """The hands are dealt and the left neighbour of the dealer bids (SOLO-BID-1)."""
    state = SoloState(table, match, hands=hands)
    started = RoundStarted(match.hand_number, match.dealer)
    return state.turn("auction", (match.dealer + 1) % SEATS, [started, *deal.facts(hands), *view.marks(state)])


TURNS = {
    phase: tuple(TurnChanged(phase, (seat,)) for seat in range(SEATS))
    for phase in ("auction", "wedding", "keep", "name_trump", "call", "play")
}
_AWAITING = tuple(SeatsToAct((seat,)) for seat in range(SEATS))
_TURN_RULES = {
    "deal": "SOLO-DEAL-3",
    "auction": "SOLO-BID-1",
    "wedding": "SOLO-WED-2",
    "keep": "SOLO-KEEP-1",
    "name_trump": "SOLO-TRUMP-1",
    "call": "SOLO-CALL-1",
    "play": "SOLO-PLAY-1",
    "over": "SOLO-END-2",
}
_LEGAL: dict[str, Callable[[SoloState], tuple[Action, ...]]] = {
    "auction": auction.legal,
    "wedding": auction.legal_wedding,
    "keep": auction.legal_keep,
    "name_trump": naming.legal_trumps,
    "call": naming.legal_calls,
    "play": tricks.legal,
}
_ACT: dict[str, Callable[[SoloState, Action], tuple[SoloState, tuple[Fact, ...]]]] = {
    "auction": auction.act,
    "wedding": auction.act_wedding,
    "keep": auction.act_keep,
    "name_trump": naming.name_trump,
    "call": naming.call,
    "play": tricks.act,
}
