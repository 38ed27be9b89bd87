"""A game for tests only, which uses what none of the five games needs.

Its deck is its own: red and blue cards from 1 to 12. Each seat gets three cards, and one more that lies face down
before it, its reserve; a card is turned to the waste, the others are the stock. Then each seat bids 10, 20 or 30
once, or passes; the highest bidder declares, without trump. In its turn a seat draws from the stock or the waste, and
then lays a row of cards on its own melds or its partner's, or boasts: it discards a card and names another seat and
an amount. With its last card gone a seat takes up its reserve, and without that it is out. The round, and the game
with it, ends after two turns of each seat, or when the stock or all hands are empty. Cards laid are points; four
seats play in teams, who share theirs.
"""

from collections.abc import Iterator
from itertools import chain
from types import MappingProxyType
from typing import Any, Final

from croupier.games import interface
from croupier.games.actions import UNCHOSEN, Action, Bid, Draw, Pass
from croupier.games.bots import random_legal
from croupier.games.cards import Card
from croupier.games.choices import ActionChoice, fits
from croupier.games.facts import Fact, Pile, PileCard, Seat, SeatView, View, Viewer
from tests.games.toy_phases import after, choices, deal
from tests.games.toy_state import BIDS, DECK, FACES, NAMES, ToyState, ranking, teams_of


class Toy(interface.Rules[ToyState]):
    """The game for 2 to 4 seats."""

    id = "toy"
    name = "Toy"
    summary = "Lay your cards before the stock is empty."
    seats = range(2, 5)
    bots = MappingProxyType({"sensible": random_legal, "random": random_legal})
    names = MappingProxyType({face.notation: face.label for face in FACES})
    deck = FACES

    def teams(self, seats: int) -> tuple[tuple[Seat, ...], ...]:
        """Return two pairs at a table of four."""
        return teams_of(seats)

    def options(self, seats: int) -> tuple[interface.Option, ...]:
        """Return none."""
        return ()

    def new(self, seats: int, options: interface.OptionValues) -> ToyState:
        """Return the state before the deal."""
        return ToyState((0,) * seats, hands=((),) * seats)

    def awaiting(self, state: ToyState) -> interface.Awaiting:
        """Return the seat to act, the deal, or the end."""
        if state.phase == "deal":
            return interface.ShuffleNeeded(DECK, (), 1, 1)
        if state.is_playing:
            return interface.SeatsToAct((state.turn,))
        return interface.GameOver(ranking(state), "played")

    def scores(self, state: ToyState) -> tuple[int, ...]:
        """Return the totals."""
        return state.totals

    def legal_actions(self, state: ToyState, seat: Seat) -> interface.Legal:
        """Return what a seat may do."""
        if not state.is_playing or seat != state.turn:
            return interface.NOTHING_LEGAL
        match state.phase:
            case "bid":
                return interface.Legal((Pass(),), (ActionChoice(Bid(UNCHOSEN), amount=BIDS),))
            case "draw":
                return interface.Legal((Draw("stock"), Draw("waste")) if state.waste else (Draw("stock"),))
            case _:
                return interface.Legal((), tuple(choices(state, seat)))

    def event_rules(self, state: ToyState) -> interface.EventRules:
        """Return the rule of the deal."""
        return interface.EventRules(*["TOY-DEAL-1"] * 4)

    def act(self, state: ToyState, seat: Seat, action: Action) -> tuple[ToyState, tuple[Fact, ...]]:
        """Return the next state and what became known; raises IllegalAction."""
        legal = self.legal_actions(state, seat)
        if action not in legal.actions and not any(fits(choice, action) for choice in legal.choices):
            raise interface.IllegalAction("TOY-ACT-1", "that is not possible now")
        facts: list[Fact] = []
        return after(state, seat, action, facts), tuple(facts)

    def shuffle(self, state: ToyState, shuffled: interface.CardsShuffled) -> tuple[ToyState, tuple[Fact, ...]]:
        """Deal."""
        return deal(state, shuffled.cards)

    def shuffle_record(self, state: ToyState, shuffled: interface.CardsShuffled) -> dict[str, Any]:
        """Return the deal for replays."""
        return {"type": "deal", "deck": [NAMES.text(card) for card in shuffled.cards]}

    def ranking_at_limit(self, state: ToyState) -> None:
        """Return None: its only round has not ended."""

    def view(self, state: ToyState, viewer: Viewer) -> View:
        """Return all that a viewer may know."""
        return View(
            round_number=int(state.phase != "deal"),
            phase=state.phase,
            dealer=None,
            seats=tuple(_seat(state, seat, viewer) for seat in range(state.seats)),
            piles=tuple(pile for pile in _piles(state, viewer) if pile.card_count),
            calls=state.calls,
            contract=state.contract,
            marks=state.marks,
            seats_to_act=(state.turn,) if state.is_playing else (),
            ranking=ranking(state) if state.phase == "over" else (),
        )

    def determinize(self, observation: interface.Observation, randrange: interface.RandomSource) -> ToyState:
        """Return a table that looks the same to the seat."""
        view, seat = observation.view, observation.seat
        piles = {(pile.name, pile.owner): pile for pile in view.piles}
        known = {*view.seats[seat].cards, *(laid.card for pile in view.piles for laid in pile.cards)}
        hidden = [card for card in DECK if card not in known]
        unseen = iter([hidden.pop(randrange(len(hidden))) for _ in range(len(hidden))])

        def lying(name: str, owner: Seat | None = None) -> tuple[PileCard, ...]:
            pile = piles.get((name, owner), Pile(name, 0, ()))
            return pile.cards or tuple(PileCard(next(unseen), None) for _ in range(pile.card_count))

        def cards(name: str, owner: Seat | None = None) -> tuple[Card, ...]:
            return tuple(laid.card for laid in lying(name, owner))

        seats = range(len(view.seats))
        marks = {(mark.name, mark.seat): int(mark.value) for mark in view.marks}
        hands = [held.cards or tuple(next(unseen) for _ in range(held.card_count)) for held in view.seats]
        return ToyState(
            totals=tuple(held.score for held in view.seats),
            phase=view.phase,
            turn=seat,
            turns=marks.get(("turns", None), 0),
            hands=tuple(tuple(sorted(hand)) for hand in hands),
            reserves=tuple(cards("reserve", owner) for owner in seats),
            melds=tuple(lying("melds", owner) for owner in seats),
            stock=cards("stock"),
            waste=lying("waste"),
            calls=view.calls,
            boasts=tuple(marks.get(("boast", named), 0) for named in seats),
        )

    def evaluate(self, before: ToyState, after: ToyState) -> tuple[float, ...]:
        """Return the share of the deck that each seat has laid."""
        return tuple(len(laid) / len(DECK) for laid in after.melds)


TOY: Final = Toy()


def _seat(state: ToyState, seat: Seat, viewer: Viewer) -> SeatView:
    hand = state.hands[seat]
    return SeatView(len(hand), hand if seat == viewer else (), state.totals[seat], is_out=state.is_out(seat))


def _piles(state: ToyState, viewer: Viewer) -> Iterator[Pile]:
    """Yield the piles by name, then by owner."""
    melds = (Pile("melds", len(laid), laid, owner) for owner, laid in enumerate(state.melds))
    reserves = (
        Pile("reserve", len(cards), _known(cards, owner == viewer), owner, face_down=True)
        for owner, cards in enumerate(state.reserves)
    )
    stock = Pile("stock", len(state.stock), (), face_down=True)
    return chain(melds, reserves, (stock, Pile("waste", len(state.waste), state.waste)))


def _known(cards: tuple[Card, ...], is_own: bool) -> tuple[PileCard, ...]:
    return tuple(PileCard(card, None) for card in cards) if is_own else ()
