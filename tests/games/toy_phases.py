"""The deal, the turns and the end of the toy, as functions over its state."""

from collections.abc import Iterator

from croupier.games.actions import Action, Declare, Draw, Lay
from croupier.games.cards import Card
from croupier.games.choices import ActionChoice, CardChoice
from croupier.games.facts import (
    Call,
    Called,
    CardsMoved,
    ContractChanged,
    Fact,
    GameEnded,
    Mark,
    MarkChanged,
    MoveReason,
    OwnedPile,
    PileCard,
    RoundEnded,
    RoundScore,
    RoundStarted,
    Seat,
    SeatOut,
    TurnChanged,
    all_but,
    moves_to_hand,
    only,
)
from tests.games.toy_state import BOASTS, HAND_SIZE, TURNS, ToyState, ranking, teams_of


def deal(state: ToyState, order: tuple[Card, ...]) -> tuple[ToyState, tuple[Fact, ...]]:
    """Return the table after a deal in this order, and its facts."""
    seats = range(state.seats)
    hands = tuple(tuple(sorted(order[HAND_SIZE * seat : HAND_SIZE * (seat + 1)])) for seat in seats)
    beside = order[HAND_SIZE * state.seats :]
    none: tuple[tuple[PileCard, ...], ...] = ((),) * state.seats
    dealt = state._replace(
        phase="bid",
        hands=hands,
        reserves=tuple((card,) for card in beside[: state.seats]),
        melds=none,
        stock=beside[state.seats + 1 :],
        waste=(PileCard(beside[state.seats], None),),
        boasts=(0,) * state.seats,
    )
    facts: list[Fact] = [RoundStarted(1, None)]
    for seat in seats:
        reserve = OwnedPile("reserve", seat)
        facts += moves_to_hand(None, seat, hands[seat], MoveReason.DEAL)
        facts.append(CardsMoved(None, reserve, beside[seat : seat + 1], 1, MoveReason.DEAL, only(seat), face_down=True))
        facts.append(CardsMoved(None, reserve, (), 1, MoveReason.DEAL, all_but(seat), face_down=True))
    facts.append(CardsMoved(None, "stock", (), len(dealt.stock), MoveReason.DEAL, face_down=True))
    facts.append(CardsMoved(None, "waste", beside[state.seats : state.seats + 1], 1, MoveReason.DEAL))
    return dealt, (*facts, TurnChanged("bid", (0,)))


def choices(state: ToyState, seat: Seat) -> Iterator[ActionChoice]:
    """Yield rows on the seat's own melds and its partner's, and boasts."""
    hand = state.hands[seat]
    if not state.melds[seat]:
        yield ActionChoice(Lay((), "row"), CardChoice(hand, 1, len(hand)))
    team = next((team for team in teams_of(state.seats) if seat in team), (seat,))
    for owner in team:
        if state.melds[owner]:
            yield ActionChoice(Lay((), "row", "melds", owner), CardChoice(hand, 1, len(hand)))
    others = tuple(other for other in range(state.seats) if other != seat)
    yield ActionChoice(Declare("boast"), CardChoice(hand, 1, 1), amount=BOASTS, seats=others)


def after(state: ToyState, seat: Seat, action: Action, facts: list[Fact]) -> ToyState:
    """Return the table after a legal action, whose facts are appended to `facts`."""
    match action:
        case Draw(pile):
            return _drawn(state, seat, pile or "", facts)
        case Lay(cards, _, _, owner):
            return _turn_over(_laid(state, seat, cards, seat if owner is None else owner, facts), seat, facts)
        case Declare(_, int() as named, int() as amount, cards):
            return _turn_over(_boasted(state, seat, action, named, amount, cards, facts), seat, facts)
    called = state._replace(calls=(*state.calls, Call(seat, action)))
    facts.append(Called(Call(seat, action)))
    if called.contract != state.contract:
        facts.append(ContractChanged(called.contract))
    return _turn(called, "bid" if seat + 1 < state.seats else "draw", (seat + 1) % state.seats, facts)


def _turn(state: ToyState, phase: str, seat: Seat, facts: list[Fact]) -> ToyState:
    facts.append(TurnChanged(phase, (seat,)))
    return state._replace(phase=phase, turn=seat)


def _drawn(state: ToyState, seat: Seat, pile: str, facts: list[Fact]) -> ToyState:
    card = state.stock[0] if pile == "stock" else state.waste[-1].card
    if pile == "stock":
        facts += moves_to_hand("stock", seat, (card,), MoveReason.DRAW)
        state = state._replace(stock=state.stock[1:])
    else:
        facts.append(CardsMoved("waste", seat, (card,), 1, MoveReason.DRAW))
        state = state._replace(waste=state.waste[:-1])
    return _turn(_with_hand(state, seat, (*state.hands[seat], card)), "lay", seat, facts)


def _laid(state: ToyState, seat: Seat, cards: tuple[Card, ...], owner: Seat, facts: list[Fact]) -> ToyState:
    facts.append(CardsMoved(seat, OwnedPile("melds", owner), cards, len(cards), MoveReason.LAY))
    grown = state.melds[owner] + tuple(PileCard(card, seat) for card in cards)
    state = state._replace(melds=(*state.melds[:owner], grown, *state.melds[owner + 1 :]))
    return _with_hand(state, seat, [card for card in state.hands[seat] if card not in cards])


def _boasted(
    state: ToyState, seat: Seat, boast: Declare, named: Seat, amount: int, cards: tuple[Card, ...], facts: list[Fact]
) -> ToyState:
    facts.append(Called(Call(seat, boast)))
    facts.append(CardsMoved(seat, "waste", cards, 1, MoveReason.DISCARD))
    facts.append(MarkChanged(Mark("boast", named, str(amount))))
    state = state._replace(
        waste=(*state.waste, PileCard(cards[0], seat)),
        calls=(*state.calls, Call(seat, boast)),
        boasts=(*state.boasts[:named], amount, *state.boasts[named + 1 :]),
    )
    return _with_hand(state, seat, [card for card in state.hands[seat] if card not in cards])


def _with_hand(state: ToyState, seat: Seat, hand: "list[Card] | tuple[Card, ...]") -> ToyState:
    return state._replace(hands=(*state.hands[:seat], tuple(sorted(hand)), *state.hands[seat + 1 :]))


def _turn_over(state: ToyState, seat: Seat, facts: list[Fact]) -> ToyState:
    """Return the table in the next seat's turn, after a seat without cards has taken up its reserve or is out."""
    reserve = state.reserves[seat]
    if not state.hands[seat] and reserve:
        facts += moves_to_hand(OwnedPile("reserve", seat), seat, reserve, MoveReason.PICK_UP)
        state = state._replace(reserves=(*state.reserves[:seat], (), *state.reserves[seat + 1 :]))
        state = _with_hand(state, seat, reserve)
    elif not state.hands[seat]:
        facts.append(SeatOut(seat))
    state = state._replace(turns=state.turns + 1)
    facts.append(MarkChanged(Mark("turns", None, str(state.turns))))
    clockwise = [(seat + step) % state.seats for step in range(1, state.seats + 1)]
    playing = [other for other in clockwise if not state.is_out(other)]
    if playing and state.stock and state.turns < TURNS * state.seats:
        return _turn(state, "draw", playing[0], facts)
    return _over(state, facts)


def _over(state: ToyState, facts: list[Fact]) -> ToyState:
    points = tuple(map(len, state.melds))
    for team in teams_of(state.seats):
        shared = sum(points[seat] for seat in team)
        points = tuple(shared if seat in team else own for seat, own in enumerate(points))
    state = state._replace(phase="over", totals=points)
    facts.append(RoundEnded(RoundScore(1, points, points, ())))
    facts += [TurnChanged("over", ()), GameEnded(ranking(state), "played")]
    return state
