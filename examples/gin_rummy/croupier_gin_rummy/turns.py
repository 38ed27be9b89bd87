"""A hand of Gin Rummy until the knock: the deal, the upcard, drawing, discarding and knocking.

Every refusal depends on nothing but what the acting seat knows.
"""

from typing import Any

from croupier.games import facts
from croupier.games.actions import PLAYS, Action, Declare, Draw, Pass, Play
from croupier.games.cards import Card, Hands, cards_of_mask, dealt_singly, notation
from croupier.games.facts import LAID, Call, Fact, Mark, MoveReason, PileCard, Seat
from croupier.games.hands import hand_of, holds
from croupier.games.interface import NOTHING_LEGAL, CardsShuffled, IllegalAction, Legal
from croupier.games.values import CardsValue, NumberValue, WordValue
from croupier_gin_rummy import laying, scoring
from croupier_gin_rummy.melds import POINTS, least_deadwood, rank_of
from croupier_gin_rummy.state import HAND_SIZE, SEATS, UNDRAWN, GinOptions, GinState, other

DEALT = HAND_SIZE * SEATS
KNOCK, BIG_GIN = Declare("knock"), Declare("big_gin")
STOCK, DISCARD = Draw("stock"), Draw("discard")


def deal(before: GinState, event: CardsShuffled) -> tuple[GinState, tuple[Fact, ...]]:
    """Return the state after a deal, and its facts: each seat sees its own hand only (GIN-VIS-1, GIN-VIS-2)."""
    (dealer, hands, upcard, stock), options = _dealt(before, event), before.options
    progress = before.progress._replace(round_number=before.progress.round_number + 1, dealer=dealer)
    state = GinState(
        options,
        progress,
        phase="upcard",
        turn=other(dealer),
        hands=tuple(map(hand_of, hands)),
        stock=stock,
        discards=(PileCard(upcard, None),),
        limit=knock_limit(options, upcard),
    )
    news: list[Fact] = [facts.RoundStarted(progress.round_number, dealer), *facts.hands_dealt(hands)]
    news.append(facts.CardsMoved(None, "discard", (upcard,), 1, MoveReason.DEAL))
    news.append(facts.CardsMoved(None, "stock", (), len(stock), MoveReason.DEAL, face_down=True))
    news += scoring.box_facts(progress.boxes)
    news.append(facts.MarkChanged(Mark("knock_limit", None, NumberValue(state.limit))))
    return state, (*news, facts.TurnChanged("upcard", (state.turn,)))


def record(state: GinState, event: CardsShuffled) -> dict[str, Any]:
    """Return the deal as GIN-DEAL-1 writes it."""
    dealer, hands, upcard, stock = _dealt(state, event)
    (turned,) = notation((upcard,))
    dealt = {"type": "deal", "dealer": dealer, "hands": [*map(notation, hands)]}
    return dealt | {"upcard": turned, "stock": notation(stock)}


def _dealt(state: GinState, event: CardsShuffled) -> tuple[Seat, Hands, Card, tuple[Card, ...]]:
    """Return dealer, hands, upcard and stock (GIN-DEAL-3, GIN-DEAL-4, GIN-DEAL-5)."""
    dealer = event.drawn[0] if event.drawn else state.progress.next_dealer
    hands = dealt_singly(event.cards[:DEALT], SEATS, dealer)
    return dealer, hands, event.cards[DEALT], event.cards[DEALT + 1 :]


def knock_limit(options: GinOptions, upcard: Card) -> int:
    """Return the limit of a hand (GIN-KNOCK-3)."""
    if options.knock == "upcard":
        return POINTS[upcard] if rank_of(upcard) else 0
    return 10 if options.knock == "ten" else 0


def legal_actions(state: GinState, seat: Seat) -> Legal:
    """Return all that a seat may do now: plays ascending, draws from the stock first."""
    if seat != state.turn or seat < 0:
        return NOTHING_LEGAL
    match state.phase:
        case "upcard":
            return Legal((DISCARD, Pass()))
        case "draw":
            return Legal((STOCK,) if state.upcard_is_closed else (STOCK, DISCARD))
        case "discard":
            return Legal(_discards(state))
        case "knock":
            return Legal(tuple(PLAYS[card] for card in knocking_discards(state)))
        case _:
            return Legal(laying.actions(state))


def _discards(state: GinState) -> tuple[Action, ...]:
    plays: list[Action] = [PLAYS[card] for card in _discardable(state)]
    if knocking_discards(state):
        plays.append(KNOCK)
    if state.options.big_gin and not least_deadwood(state.hands[state.turn]):
        plays.append(BIG_GIN)
    return tuple(plays)


def _discardable(state: GinState) -> tuple[Card, ...]:
    """Return the cards of the seat to act but the one that it has just taken (GIN-DISCARD-2)."""
    return tuple(card for card in cards_of_mask(state.hands[state.turn]) if card != state.taken)


def knocking_discards(state: GinState) -> tuple[Card, ...]:
    """Return the cards that may be discarded with a knock (GIN-KNOCK-1, GIN-KNOCK-2)."""
    hand, limit = state.hands[state.turn], state.limit
    return tuple(card for card in _discardable(state) if least_deadwood(hand ^ 1 << card) <= limit)


def act(before: GinState, seat: Seat, action: Action) -> tuple[GinState, tuple[Fact, ...]]:
    """Return the state after an action, and its facts; raises IllegalAction."""
    if seat != before.turn or seat < 0:
        raise _not_now(before, seat)
    news: list[Fact] = []
    match before.phase:
        case "upcard":
            state = _offered(before, action, news)
        case "draw":
            state = _drawn(before, action, news)
        case "discard":
            state = _discarded(before, action, news)
        case "knock":
            state = _knocked(before, action, news)
        case _:
            state = laying.lay(before, action, news)
    return state, tuple(news)


def _not_now(state: GinState, seat: Seat) -> IllegalAction:
    match state.phase:
        case "over":
            return IllegalAction(scoring.END_RULES[state.progress.reason], "the game is over, nothing more is done")
        case "deal":
            return IllegalAction("GIN-DEAL-1", "nobody can act before the next deal")
        case _:
            return IllegalAction("GIN-TURN-1", f"it is not seat {seat} that is to act but seat {state.turn}")


def _offered(state: GinState, action: Action, news: list[Fact]) -> GinState:
    """Return the table after the upcard was taken or passed (GIN-UP-1, GIN-UP-2, GIN-UP-3)."""
    seat = state.turn
    if action == DISCARD:
        return _took_discard(state, news)
    if action != Pass():
        raise IllegalAction("GIN-UP-1", "take the upcard, or pass")
    phase = "draw" if seat == state.progress.dealer else "upcard"
    state = _called(state, action, news)._replace(phase=phase, turn=other(seat))
    news.append(facts.TurnChanged(phase, (state.turn,)))
    return state


def _called(state: GinState, action: Action, news: list[Fact]) -> GinState:
    call = Call(state.turn, action)
    news.append(facts.Called(call))
    return state._replace(calls=(*state.calls, call))


def _drawn(state: GinState, action: Action, news: list[Fact]) -> GinState:
    """Return the table after a card was drawn (GIN-DRAW-1)."""
    seat = state.turn
    if action == DISCARD:
        if state.upcard_is_closed:
            raise IllegalAction("GIN-UP-3", "draw from the stock, since both seats passed the upcard")
        return _took_discard(state, news)
    if action != STOCK:
        raise IllegalAction("GIN-DRAW-1", "draw from the stock or from the discard pile")
    card, stock = state.stock[0], state.stock[1:]
    news += facts.moves_to_hand("stock", seat, (card,), MoveReason.DRAW)
    news.append(_DISCARDING[seat])
    return state.with_hand(seat, state.hands[seat] | 1 << card)._replace(stock=stock, phase="discard")


def _took_discard(state: GinState, news: list[Fact]) -> GinState:
    """Return the table after the top card of the discard pile was taken, which all know from then on (GIN-VIS-3)."""
    seat, card = state.turn, state.discards[-1].card
    news.append(facts.CardsMoved("discard", seat, (card,), 1, MoveReason.DRAW))
    news.append(facts.MarkChanged(Mark("taken", seat, CardsValue((card,)))))
    news.append(_DISCARDING[seat])
    known = [*state.known]
    known[seat] |= 1 << card
    state = state._replace(known=tuple(known), discards=state.discards[:-1], taken=card, phase="discard")
    return state.with_hand(seat, state.hands[seat] | 1 << card)


def _discarded(state: GinState, action: Action, news: list[Fact]) -> GinState:
    """Return the table after a discard, or after a knock was begun or big gin declared."""
    seat = state.turn
    if action == KNOCK:
        return _knock_begun(state, news)
    if action == BIG_GIN:
        return _big_gin(state, news)
    state = _without_mark(_put_down(state, _own_card(state, action), news), news)
    if len(state.stock) == UNDRAWN:
        return scoring.unwon(state, news)
    news.append(_DRAWING[other(seat)])
    return state._replace(phase="draw", turn=other(seat))


def _knock_begun(state: GinState, news: list[Fact]) -> GinState:
    """Return the table with a knock that awaits its discard (GIN-KNOCK-1)."""
    if not knocking_discards(state):
        raise IllegalAction("GIN-KNOCK-1", f"every discard leaves more deadwood than {state.limit}")
    state = _called(state, KNOCK, news)._replace(phase="knock")
    news.append(facts.TurnChanged("knock", (state.turn,)))
    return state


def _big_gin(state: GinState, news: list[Fact]) -> GinState:
    if not state.options.big_gin:
        raise IllegalAction("GIN-BIG-1", "big gin is not declared at this table")
    if least_deadwood(state.hands[state.turn]):
        raise IllegalAction("GIN-BIG-2", "not all of your eleven cards are in melds")
    return _opened(_called(state, BIG_GIN, news), "big_gin", news)


def _own_card(state: GinState, action: Action) -> Card:
    """Return the card that is discarded; raises IllegalAction unless the seat holds it and has not just taken it."""
    if not (isinstance(action, Play) and action.suit is None and holds(state.hands[state.turn], action.card)):
        raise IllegalAction("GIN-DISCARD-1", "discard a card of your hand, or knock")
    if action.card == state.taken:
        raise IllegalAction("GIN-DISCARD-2", "discard another card than the one that you have just taken")
    return action.card


def _put_down(state: GinState, card: Card, news: list[Fact]) -> GinState:
    seat = state.turn
    news.append(facts.CardsMoved(seat, "discard", (card,), 1, MoveReason.DISCARD))
    discards = (*state.discards, LAID[seat][card])
    return state.with_hand(seat, state.hands[seat] ^ 1 << card)._replace(discards=discards)


def _without_mark(state: GinState, news: list[Fact]) -> GinState:
    """Return the table at the end of a turn, in which no card counts as just taken any more."""
    if state.taken is not None:
        news.append(facts.MarkChanged(Mark("taken", state.turn, None)))
    return state._replace(taken=None)


def _knocked(state: GinState, action: Action, news: list[Fact]) -> GinState:
    """Return the table after the discard of a knock (GIN-KNOCK-2, GIN-KNOCK-4)."""
    if not isinstance(action, Play) or action.suit is not None:
        raise IllegalAction("GIN-KNOCK-2", "discard a card, since you knock")
    card = _own_card(state, action)
    if card not in knocking_discards(state):
        raise IllegalAction("GIN-KNOCK-2", f"discard a card that leaves no more deadwood than {state.limit}")
    state = _put_down(state, card, news)
    return _opened(state, "knock" if least_deadwood(state.hands[state.turn]) else "gin", news)


def _opened(state: GinState, knock: str, news: list[Fact]) -> GinState:
    """Return the table with both hands open, and the knocker to lay melds (GIN-KNOCK-5)."""
    seat = state.turn
    state = _without_mark(state, news)._replace(phase="lay", knocker=seat, knock=knock)
    news.append(facts.MarkChanged(Mark("knock", seat, WordValue(knock))))
    news += [facts.HandRevealed(holder, cards_of_mask(hand)) for holder, hand in enumerate(state.hands)]
    news.append(facts.TurnChanged("lay", (seat,)))
    return state


_DISCARDING, _DRAWING = facts.turns_of("discard"), facts.turns_of("draw")
