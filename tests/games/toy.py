"""A game for tests only, which uses what none of the five games needs.

Its deck is its own: red and blue cards from 1 to 12. Each seat gets three cards, and one more that lies face down
before it, its reserve; a card is turned to the waste, the others are the stock. Then each seat bids 10, 20 or 30
once, or passes; the highest bidder declares, without trump, and for 30 lays its hand open, until it draws from the
stock, exchanges a card, or has none left. In its turn a seat draws from the stock or the waste, and then lays a row of
cards on its own melds or its partner's, exchanges a card with its reserve, or boasts: it discards a card and names
another seat and an amount. With its last card gone a seat takes up its reserve, and without that it is out. The round,
and the game with it, ends after two turns of each seat, or when the stock or all hands are empty. Cards laid are
points; four seats play in teams, who share theirs.
"""

from collections.abc import Iterable, Iterator, Sequence
from types import MappingProxyType
from typing import Any, Final, NamedTuple, TypeVar

from croupier.games import facts, interface
from croupier.games.actions import UNCHOSEN, Action, Bid, Declare, Draw, Lay, Pass, SwapCards
from croupier.games.bots import random_legal
from croupier.games.cards import OWN_CARDS, Card, CardFace, card_names
from croupier.games.choices import ActionChoice, AmountChoice, CardChoice, fits
from croupier.games.facts import Call, Contract, Fact, Mark, MoveReason, OwnedPile, Pile, PileCard, Seat, View, Viewer
from croupier.games.sampling import Sampling
from croupier.games.standings import ranked
from croupier.games.values import (
    CardsValue,
    NumberValue,
    Phrases,
    PointsValue,
    SeatsValue,
    SeatValue,
    SuitValue,
    WordValue,
    phrase,
)
from croupier.games.words import PileDisplay, PileKind, PileRole, WordKind, Words

FACES = tuple(
    CardFace(OWN_CARDS[12 * suit + rank - 1], f"{colour[0].upper()}{rank}", colour, str(rank), f"{colour} {rank}")
    for suit, colour in enumerate(("red", "blue"))
    for rank in range(1, 13)
)
NAMES = card_names(FACES)
DECK = tuple(face.card for face in FACES)
HAND_SIZE = 3
TURNS = 2
"""How many turns each seat has."""
BIDS = AmountChoice(10, 30, 10)
BOASTS = AmountChoice(1, 3)
T = TypeVar("T")
WORDS: Words = MappingProxyType(
    {
        WordKind.PHASE: {"bid": "bidding", "draw": "drawing", "lay": "laying"},
        WordKind.PILE: {"melds": "melds", "reserve": "reserve", "stock": "stock", "waste": "waste"},
        WordKind.MARK: {
            "boast": "boast",
            "turns": "turns taken",
            "declarer": "declarer",
            "trump": "trump",
            "out": "out of cards",
            "laid": "laid",
            "points": "points",
            "hand": "hand",
        },
        WordKind.VALUE: {"open": "open", "hidden": "hidden"},
        WordKind.PHRASE: {
            "all_passed": "all passed",
            "contract": "{seat} bid {amount}",
            "trump": "trump {trump}",
            "laid": "laid {cards}",
            "boast": "boast: {amount}",
            "out": "out: {seats}",
            "hand": "hand: {hand}",
            "points": "points by seat: {points}",
        },
        WordKind.CALL: {"boast": "boast"},
        WordKind.MELD: {"row": "row"},
        WordKind.REASON: {"played": "the round is over"},
        WordKind.RULE: {
            "TOY-ACT-1": "That is not possible now.",
            "TOY-ACT-2": "There is nothing to agree on.",
        },
    }
)
PILES = (
    PileKind("melds", PileRole.MELD, PileDisplay.ALL),
    PileKind("reserve", PileRole.RESERVE, PileDisplay.ALL),
    PileKind("stock", PileRole.STOCK, PileDisplay.COUNT),
    PileKind("waste", PileRole.WASTE, PileDisplay.TOP),
)


class ToyState(NamedTuple):
    """A table; `turns` counts those that are over, `boasts` holds the amount that was named with each seat, or 0.

    `known` holds the cards that others know of each hidden hand.
    """

    totals: tuple[int, ...]
    phase: str = "deal"
    turn: Seat = 0
    turns: int = 0
    hands: tuple[tuple[Card, ...], ...] = ()
    reserves: tuple[tuple[PileCard, ...], ...] = ()
    melds: tuple[tuple[PileCard, ...], ...] = ()
    stock: tuple[Card, ...] = ()
    waste: tuple[PileCard, ...] = ()
    calls: tuple[Call, ...] = ()
    boasts: tuple[int, ...] = ()
    known: tuple[tuple[Card, ...], ...] = ()
    open_hand: Seat | None = None

    @property
    def is_playing(self) -> bool:
        """Whether the table awaits an action of a seat."""
        return self.phase in ("bid", "draw", "lay")

    @property
    def contract(self) -> Contract:
        """The first of the highest bids."""
        bids = [(call.action.bid, -call.seat) for call in self.calls if isinstance(call.action, Bid)]
        amount, seat = max(bids, default=(0, 0))
        return Contract(declarer=-seat, amount=int(amount), trump=facts.NO_TRUMP) if amount else Contract()

    @property
    def ranking(self) -> facts.Ranking:
        """The groups of seats by their totals, best first."""
        return ranked(range(len(self.totals)), lambda seat: -self.totals[seat])

    def is_out(self, seat: Seat) -> bool:
        """Return whether a seat has no cards left."""
        return self.phase != "deal" and not self.hands[seat] and not self.reserves[seat]

    def with_hand(self, seat: Seat, hand: Sequence[Card]) -> "ToyState":
        """Return the table with another hand; what is known of it are at most cards of that hand."""
        known = tuple(card for card in self.known[seat] if card in hand)
        return self._replace(
            hands=_changed(self.hands, seat, tuple(sorted(hand))),
            known=_changed(self.known, seat, known),
            open_hand=self.open_hand if hand or self.open_hand != seat else None,
        )

    def with_known(self, seat: Seat, cards: Iterable[Card]) -> "ToyState":
        """Return the table with a hidden hand, of which others know these cards."""
        return self._replace(
            known=_changed(self.known, seat, tuple(sorted(cards))),
            open_hand=None if self.open_hand == seat else self.open_hand,
        )


class Toy(interface.Rules[ToyState]):
    """The game for 2 to 4 seats."""

    id = "toy"
    rule_prefix = "TOY"
    name = "Toy"
    summary = "Lay your cards before the stock is empty."
    seats = range(2, 5)
    bots = MappingProxyType({"sensible": random_legal, "random": random_legal})
    words = WORDS
    piles = PILES
    deck = FACES
    sampling = Sampling(reveals=lambda fact: isinstance(fact, facts.HandRevealed))

    def teams(self, seats: int) -> tuple[tuple[Seat, ...], ...]:
        return ((0, 2), (1, 3)) if seats == 4 else ()

    def options(self, seats: int) -> tuple[interface.Option, ...]:
        return ()

    def new(self, seats: int, options: interface.OptionValues) -> ToyState:
        return ToyState((0,) * seats, hands=((),) * seats, known=((),) * seats)

    def awaiting(self, state: ToyState) -> interface.Awaiting:
        if state.phase == "deal":
            return interface.ShuffleNeeded(DECK, (), 1, 1)
        return interface.SeatsToAct((state.turn,)) if state.is_playing else interface.GameOver(state.ranking, "played")

    def scores(self, state: ToyState) -> tuple[int, ...]:
        return state.totals

    def legal_actions(self, state: ToyState, seat: Seat) -> interface.Legal:
        if not state.is_playing or seat != state.turn:
            return interface.NOTHING_LEGAL
        match state.phase:
            case "bid":
                return interface.Legal((Pass(),), (ActionChoice(Bid(UNCHOSEN), amount=BIDS),))
            case "draw":
                return interface.Legal((Draw("stock"), Draw("waste")) if state.waste else (Draw("stock"),))
            case _:
                return interface.Legal((), tuple(self._choices(state, seat)))

    def _choices(self, state: ToyState, seat: Seat) -> Iterator[ActionChoice]:
        """Yield rows on the seat's own melds and its partner's, and boasts."""
        hand, seats = state.hands[seat], range(len(state.totals))
        if not state.melds[seat]:
            yield ActionChoice(Lay((), "row"), CardChoice(hand, 1, len(hand)))
        for owner in next((team for team in self.teams(len(seats)) if seat in team), (seat,)):
            if state.melds[owner]:
                yield ActionChoice(Lay((), "row", "melds", owner), CardChoice(hand, 1, len(hand)))
        if state.reserves[seat]:
            yield ActionChoice(SwapCards(()), CardChoice(hand, 1, 1))
        others = tuple(other for other in seats if other != seat)
        yield ActionChoice(Declare("boast"), CardChoice(hand, 1, 1), amount=BOASTS, seats=others)

    def event_rules(self, state: ToyState) -> interface.EventRules:
        return interface.EventRules("TOY-DEAL-1", "TOY-DEAL-1", "TOY-DEAL-1", "TOY-ACT-2")

    def act(self, state: ToyState, seat: Seat, action: Action) -> tuple[ToyState, tuple[Fact, ...]]:
        legal = self.legal_actions(state, seat)
        if action not in legal.actions and not any(fits(choice, action) for choice in legal.choices):
            raise interface.IllegalAction("TOY-ACT-1", "that is not possible now")
        news: list[Fact] = []
        match action:
            case Draw(pile):
                state = _drawn(state, seat, pile or "", news)
            case Lay(cards, _, _, owner):
                state = self._turn_over(_laid(state, seat, cards, seat if owner is None else owner, news), seat, news)
            case SwapCards(cards):
                state = self._turn_over(_exchanged(state, seat, cards, news), seat, news)
            case Declare():
                state = self._turn_over(_boasted(state, seat, action, news), seat, news)
            case _:
                state = _called(state, Call(seat, action), news)
        return state, tuple(news)

    def shuffle(self, state: ToyState, shuffled: interface.CardsShuffled) -> tuple[ToyState, tuple[Fact, ...]]:
        order, seats = shuffled.cards, len(state.totals)
        hands = tuple(tuple(sorted(order[HAND_SIZE * seat : HAND_SIZE * (seat + 1)])) for seat in range(seats))
        beside = order[HAND_SIZE * seats :]
        news: list[Fact] = [facts.RoundStarted(1, None)]
        for seat in range(seats):
            reserve, kept = OwnedPile("reserve", seat), beside[seat : seat + 1]
            news += facts.moves_to_hand(None, seat, hands[seat], MoveReason.DEAL)
            for cards, audience in ((kept, facts.only(seat)), ((), facts.all_but(seat))):
                news.append(facts.CardsMoved(None, reserve, cards, 1, MoveReason.DEAL, audience, face_down=True))
        stock, turned = beside[seats + 1 :], beside[seats]
        news.append(facts.CardsMoved(None, "stock", (), len(stock), MoveReason.DEAL, face_down=True))
        news.append(facts.CardsMoved(None, "waste", (turned,), 1, MoveReason.DEAL))
        dealt = state._replace(
            hands=hands,
            reserves=tuple((PileCard(card, None),) for card in beside[:seats]),
            known=((),) * seats,
            melds=((),) * seats,
            stock=stock,
            waste=(PileCard(turned, None),),
            boasts=(0,) * seats,
        )
        return _turn(dealt, "bid", 0, news), tuple(news)

    def shuffle_record(self, state: ToyState, shuffled: interface.CardsShuffled) -> dict[str, Any]:
        return {"type": "deal", "deck": [NAMES.text(card) for card in shuffled.cards]}

    def ranking_at_limit(self, state: ToyState) -> None:
        """Return None: its only round has not ended."""

    def view(self, state: ToyState, viewer: Viewer) -> View:
        seats = [
            facts.SeatView(
                len(hand),
                hand if (is_seen := seat in (viewer, state.open_hand)) else (),
                state.totals[seat],
                is_out=state.is_out(seat),
                known_cards=() if is_seen else state.known[seat],
            )
            for seat, hand in enumerate(state.hands)
        ]
        boasts = [Mark("boast", seat, NumberValue(amount)) for seat, amount in enumerate(state.boasts) if amount]
        return View(
            round_number=int(state.phase != "deal"),
            phase=state.phase,
            dealer=None,
            seats=tuple(seats),
            piles=tuple(pile for pile in _piles(state, viewer) if pile.card_count),
            calls=state.calls,
            contract=state.contract,
            marks=(*boasts, *([Mark("turns", None, NumberValue(state.turns))] if state.turns else [])),
            seats_to_act=(state.turn,) if state.is_playing else (),
            ranking=state.ranking if state.phase == "over" else (),
        )

    def determinize(self, observation: interface.Observation, randrange: interface.RandomSource) -> ToyState:
        view, seat = observation.view, observation.seat
        piles = {(pile.name, pile.owner): pile for pile in view.piles}
        known = [held.cards or held.known_cards for held in view.seats]
        hidden = [card for card in DECK if not any(card in cards for cards in (view.cards_seen(seat), *known))]
        unseen = iter([hidden.pop(randrange(len(hidden))) for _ in range(len(hidden))])

        def lying(name: str, owner: Seat | None = None) -> tuple[PileCard, ...]:
            pile = piles.get((name, owner), Pile(name, 0, ()))
            return pile.cards or tuple(PileCard(next(unseen), None) for _ in range(pile.card_count))

        marks = {
            (mark.name, mark.seat): mark.value.number for mark in view.marks if isinstance(mark.value, NumberValue)
        }
        hands = [
            (*cards, *[next(unseen) for _ in range(held.card_count - len(cards))])
            for cards, held in zip(known, view.seats, strict=True)
        ]
        shown = [other for other, held in enumerate(view.seats) if held.cards and other != seat]
        return ToyState(
            totals=tuple(held.score for held in view.seats),
            phase=view.phase,
            turn=seat,
            turns=marks.get(("turns", None), 0),
            hands=tuple(tuple(sorted(hand)) for hand in hands),
            reserves=tuple(lying("reserve", owner) for owner in range(len(hands))),
            melds=tuple(lying("melds", owner) for owner in range(len(hands))),
            stock=tuple(laid.card for laid in lying("stock")),
            waste=lying("waste"),
            calls=view.calls,
            boasts=tuple(marks.get(("boast", named), 0) for named in range(len(hands))),
            known=tuple(held.known_cards for held in view.seats),
            open_hand=shown[0] if shown else None,
        )

    def evaluate(self, before: ToyState, after: ToyState) -> tuple[float, ...]:
        """Return the share of the deck that each seat has laid."""
        return tuple(len(laid) / len(DECK) for laid in after.melds)

    def _turn_over(self, state: ToyState, seat: Seat, news: list[Fact]) -> ToyState:
        """Return the table in the next seat's turn, after a seat without cards has taken up its reserve or is out."""
        reserve, seats = tuple(laid.card for laid in state.reserves[seat]), len(state.totals)
        if not state.hands[seat] and reserve:
            news += facts.moves_to_hand(OwnedPile("reserve", seat), seat, reserve, MoveReason.PICK_UP)
            state = state._replace(reserves=_changed(state.reserves, seat, ())).with_hand(seat, reserve)
        elif not state.hands[seat]:
            news.append(facts.SeatOut(seat))
        state = state._replace(turns=state.turns + 1)
        news.append(facts.MarkChanged(Mark("turns", None, NumberValue(state.turns))))
        playing = [other % seats for other in range(seat + 1, seat + seats + 1) if not state.is_out(other % seats)]
        if playing and state.stock and state.turns < TURNS * seats:
            return _turn(state, "draw", playing[0], news)
        return self._over(state, news)

    def _over(self, state: ToyState, news: list[Fact]) -> ToyState:
        teams = self.teams(len(state.totals)) or [(seat,) for seat in range(len(state.totals))]
        shared = {seat: sum(len(state.melds[other]) for other in team) for team in teams for seat in team}
        points = tuple(shared[seat] for seat in sorted(shared))
        state = state._replace(phase="over", totals=points)
        news.append(facts.RoundEnded(_score(state)))
        news += [facts.TurnChanged("over", ()), facts.GameEnded(state.ranking, "played")]
        return state


TOY: Final = Toy()


def _changed(values: tuple[T, ...], at: int, value: T) -> tuple[T, ...]:
    return (*values[:at], value, *values[at + 1 :])


def _score(state: ToyState) -> facts.RoundScore:
    """Return the score of the round, with values of every kind."""
    contract, points = state.contract, PointsValue(state.totals)
    out = SeatsValue(tuple(seat for seat in range(len(state.totals)) if state.is_out(seat)))
    headline: Phrases = (phrase("all_passed"),)
    declared: tuple[Mark, ...] = ()
    if contract.declarer is not None and contract.trump is not None:
        declarer, trump = SeatValue(contract.declarer), SuitValue(contract.trump)
        amount = NumberValue(contract.amount or 0)
        hand = WordValue("open" if contract.amount == max(BIDS.amounts) else "hidden")
        called = phrase("contract", seat=declarer, amount=amount)
        headline = (called, phrase("trump", trump=trump), phrase("hand", hand=hand))
        declared = (Mark("declarer", None, declarer), Mark("trump", None, trump), Mark("hand", contract.declarer, hand))
    laid = [CardsValue(tuple(lies.card for lies in meld)) for meld in state.melds]
    return facts.RoundScore(
        1,
        state.totals,
        state.totals,
        notes=tuple(
            (phrase("laid", cards=cards), *([phrase("boast", amount=NumberValue(boast))] if boast else []))
            for cards, boast in zip(laid, state.boasts, strict=True)
        ),
        headline=(*headline, phrase("out", seats=out), phrase("points", points=points)),
        details=(
            *declared,
            *[Mark("laid", seat, cards) for seat, cards in enumerate(laid)],
            Mark("turns", None, NumberValue(state.turns)),
            Mark("out", None, out),
            Mark("points", None, points),
        ),
    )


def _turn(state: ToyState, phase: str, seat: Seat, news: list[Fact]) -> ToyState:
    news.append(facts.TurnChanged(phase, (seat,)))
    return state._replace(phase=phase, turn=seat)


def _called(state: ToyState, call: Call, news: list[Fact]) -> ToyState:
    called = state._replace(calls=(*state.calls, call))
    news.append(facts.Called(call))
    if called.contract != state.contract:
        news.append(facts.ContractChanged(called.contract))
    following, declarer = (call.seat + 1) % len(state.totals), called.contract.declarer
    if not following and declarer is not None and called.contract.amount == max(BIDS.amounts):
        news.append(facts.HandRevealed(declarer, called.hands[declarer]))
        called = called._replace(open_hand=declarer)
    return _turn(called, "bid" if following else "draw", following, news)


def _drawn(state: ToyState, seat: Seat, pile: str, news: list[Fact]) -> ToyState:
    known = state.hands[seat] if seat == state.open_hand else state.known[seat]
    if pile == "stock":
        card, state = state.stock[0], state._replace(stock=state.stock[1:]).with_known(seat, known)
        news += facts.moves_to_hand("stock", seat, (card,), MoveReason.DRAW)
    else:
        card, state = state.waste[-1].card, state._replace(waste=state.waste[:-1])
        state = state if seat == state.open_hand else state.with_known(seat, (*known, card))
        news.append(facts.CardsMoved("waste", seat, (card,), 1, MoveReason.DRAW))
    return _turn(state.with_hand(seat, (*state.hands[seat], card)), "lay", seat, news)


def _exchanged(state: ToyState, seat: Seat, cards: tuple[Card, ...], news: list[Fact]) -> ToyState:
    (card,), reserve = cards, OwnedPile("reserve", seat)
    for named, audience in ((cards, facts.only(seat)), ((), facts.all_but(seat))):
        news.append(facts.CardsMoved(seat, reserve, named, 1, MoveReason.SWAP, audience, face_down=True))
    taken = tuple(laid.card for laid in state.reserves[seat])
    news += facts.moves_to_hand(reserve, seat, taken, MoveReason.SWAP)
    left = [held for held in state.hands[seat] if held != card]
    state = state._replace(reserves=_changed(state.reserves, seat, (PileCard(card, seat),)))
    return state.with_known(seat, ()).with_hand(seat, (*left, *taken))


def _laid(state: ToyState, seat: Seat, cards: tuple[Card, ...], owner: Seat, news: list[Fact]) -> ToyState:
    news.append(facts.CardsMoved(seat, OwnedPile("melds", owner), cards, len(cards), MoveReason.LAY))
    grown = state.melds[owner] + tuple(PileCard(card, seat) for card in cards)
    left = [card for card in state.hands[seat] if card not in cards]
    return state._replace(melds=_changed(state.melds, owner, grown)).with_hand(seat, left)


def _boasted(state: ToyState, seat: Seat, boast: Declare, news: list[Fact]) -> ToyState:
    named, amount, (card,) = boast.seat or 0, boast.amount or 0, boast.cards
    news.append(facts.Called(Call(seat, boast)))
    news.append(facts.CardsMoved(seat, "waste", (card,), 1, MoveReason.DISCARD))
    news.append(facts.MarkChanged(Mark("boast", named, NumberValue(amount))))
    state = state._replace(
        waste=(*state.waste, PileCard(card, seat)),
        calls=(*state.calls, Call(seat, boast)),
        boasts=_changed(state.boasts, named, amount),
    )
    return state.with_hand(seat, [held for held in state.hands[seat] if held != card])


def _piles(state: ToyState, viewer: Viewer) -> Iterator[Pile]:
    """Yield the piles by name, then by owner."""
    for owner, laid in enumerate(state.melds):
        yield Pile("melds", len(laid), laid, owner)
    for owner, cards in enumerate(state.reserves):
        yield Pile("reserve", len(cards), cards if owner == viewer else (), owner, face_down=True)
    yield Pile("stock", len(state.stock), (), face_down=True)
    yield Pile("waste", len(state.waste), state.waste)
