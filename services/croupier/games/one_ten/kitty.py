"""The kitty phase of 110: the bid winner keeps and names trump, the others swap, and all draw at its end."""

from croupier.games import facts
from croupier.games.actions import UNCHOSEN, Action, KeepCards, StandPat, SwapCards
from croupier.games.cards import Card, Suit
from croupier.games.choices import ActionChoice, CardChoice
from croupier.games.facts import EVERYONE, Fact, MoveReason, OwnedPile, Seat, all_but, only
from croupier.games.hands import cards_in, hand_of, taken_out
from croupier.games.interface import CardsShuffled, IllegalAction, Legal
from croupier.games.one_ten.state import KITTY_CARDS, UNNAMED, OneTenState
from croupier.games.one_ten.trumps import TRUMPS
from croupier.games.values import CardsValue

Transition = tuple[OneTenState, tuple[Fact, ...]]
_SUITS: tuple[Suit, ...] = (0, 1, 2, 3)
_KEEP, _SWAP = KeepCards((), UNCHOSEN), SwapCards(())


def begin(state: OneTenState, news: list[Fact]) -> Transition:
    """Let the bid winner take the kitty up, unseen by all others (110-KEEP-1, 110-SWAP-1)."""
    winner, taken = state.auction.bidder, tuple(sorted(state.exchange.kitty))
    news.append(facts.CardsMoved("kitty", winner, taken, len(taken), MoveReason.PICK_UP, only(winner)))
    to_act = (winner,) if state.options.swap_after_trump else tuple(range(state.options.seats))
    begun = _with_hand(state, winner, hand_of((*cards_in(state.hands[winner]), *taken)))
    begun = begun._replace(phase="kitty", to_act=to_act, exchange=state.exchange._replace(kitty=()))
    return begun, (*news, facts.TurnChanged("kitty", to_act))


def legal(state: OneTenState, seat: Seat) -> Legal:
    """Return the one choice that the seat has, and standing pat for a seat that swaps."""
    options, cards = state.options, cards_in(state.hands[seat])
    if seat == state.auction.bidder:
        kept = CardChoice(cards, options.tricks, options.tricks)
        return Legal(choices=(ActionChoice(_KEEP, kept, _SUITS),))
    swapped = CardChoice(cards, 1, min(options.swap_limit, len(cards)))
    return Legal((StandPat(),), (ActionChoice(_SWAP, swapped),))


def act(state: OneTenState, seat: Seat, action: Action) -> Transition:
    """Apply the keep of the bid winner, or the swap of another seat; raises IllegalAction."""
    return _keep(state, seat, action) if seat == state.auction.bidder else _swap(state, seat, action)


def _keep(state: OneTenState, seat: Seat, action: Action) -> Transition:
    options, exchange = state.options, state.exchange
    count = options.tricks
    if not isinstance(action, KeepCards):
        raise IllegalAction("110-KEEP-2", f"the bid winner keeps {count} cards and names trump")
    put_away = taken_out(state.hands[seat], action.cards)
    if put_away is None or len(action.cards) != count:
        raise IllegalAction("110-KEEP-2", f"keep exactly {count} of the cards of your hand and the kitty")
    if action.trump not in _SUITS:
        raise IllegalAction("110-KEEP-3", "name one of the four suits trump")
    trump, away = action.trump, cards_in(put_away)
    audience = EVERYONE if options.swap_after_trump else only(seat)
    news: list[Fact] = [
        facts.CardsMoved(seat, "put_away", away, len(away), MoveReason.KEEP, only(seat), face_down=True),
        facts.ContractChanged(facts.Contract(trump=trump), audience),
        facts.CardOrderChanged(TRUMPS[trump].order, audience),
    ]
    others = tuple([other for other in range(options.seats) if other != seat])
    to_act = others if options.swap_after_trump else _rest(state, seat)
    kept = _with_hand(state, seat, hand_of(action.cards))
    kept = kept._replace(to_act=to_act, exchange=exchange._replace(put_away=away, trump=trump))
    return _go_on(kept, news)


def _swap(state: OneTenState, seat: Seat, action: Action) -> Transition:
    options, exchange = state.options, state.exchange
    if not isinstance(action, StandPat) and not (isinstance(action, SwapCards) and action.cards):
        raise IllegalAction("110-SWAP-3", "the seats that have not won the bidding swap cards, or stand pat")
    cards = action.cards if isinstance(action, SwapCards) else ()
    if len(cards) > options.swap_limit:
        raise IllegalAction("110-SWAP-2", f"swap at most {options.swap_limit} with {options.seats} seats")
    hand = taken_out(state.hands[seat], cards)
    if hand is None:
        raise IllegalAction("110-SWAP-2", "swap cards of your own hand, each as often as you hold it")
    given, pile = tuple(sorted(cards)), _discards(seat)
    moved = facts.CardsMoved(seat, pile, given, len(given), MoveReason.SWAP, only(seat), face_down=True)
    discards = (*exchange.discards[:seat], given, *exchange.discards[seat + 1 :])
    swapped = _with_hand(state, seat, hand)
    swapped = swapped._replace(to_act=_rest(state, seat), exchange=exchange._replace(discards=discards))
    return _go_on(swapped, [moved] if given else [])


def _discards(seat: Seat) -> OwnedPile:
    return OwnedPile("discards", seat)


def _with_hand(state: OneTenState, seat: Seat, hand: int) -> OneTenState:
    return state._replace(hands=(*state.hands[:seat], hand, *state.hands[seat + 1 :]))


def _rest(state: OneTenState, seat: Seat) -> tuple[Seat, ...]:
    return tuple([other for other in state.to_act if other != seat])


def _go_on(state: OneTenState, news: list[Fact]) -> Transition:
    """Let the others act, or await a reshuffle, or end the phase (110-SWAP-4, 110-SWAP-6)."""
    if state.to_act:
        return state, (*news, facts.TurnChanged("kitty", state.to_act))
    if sum(map(len, state.exchange.discards)) > len(state.exchange.stock):
        return state._replace(phase="reshuffle"), (*news, facts.TurnChanged("reshuffle", ()))
    news += _uncovered_counts(state)
    return _draw(state, news)


def reshuffle(state: OneTenState, event: CardsShuffled) -> Transition:
    """Put the put-away cards below the stock, which their owner remembers, and let all draw (110-SWAP-6)."""
    exchange, winner = state.exchange, state.auction.bidder
    filled = exchange._replace(stock=(*exchange.stock, *event.cards), put_away=(), remembered=exchange.put_away)
    count, reason = len(exchange.put_away), MoveReason.RECYCLE
    news = _uncovered_counts(state)
    news.append(facts.CardsMoved("put_away", None, exchange.put_away, count, reason, only(winner)))
    news.append(facts.CardsMoved(None, "stock", (), count, reason, only(winner), face_down=True))
    news.append(facts.CardsMoved("put_away", "stock", (), count, reason, all_but(winner), face_down=True))
    news.append(facts.MarkChanged(put_away_mark(winner, filled.remembered), only(winner)))
    return _draw(state._replace(exchange=filled), news)


def put_away_mark(winner: Seat, put_away: tuple[Card, ...]) -> facts.Mark:
    """Return the mark by which only the bid winner still knows the cards put away (110-VIS-2)."""
    return facts.Mark("put_away", winner, CardsValue(put_away))


def _uncovered_counts(state: OneTenState) -> list[Fact]:
    """Return the counts for the others at the end of the phase: discards and put-away cards (110-VIS-4)."""
    winner, exchange = state.auction.bidder, state.exchange
    news: list[Fact] = [
        facts.CardsMoved(seat, _discards(seat), (), len(given), MoveReason.SWAP, all_but(seat), face_down=True)
        for seat, given in enumerate(exchange.discards)
        if given
    ]
    # The others see the kitty put away, and with 110-KEEP-4 as many cards of the bid winner's hand as it has fewer.
    reason, others = MoveReason.KEEP, all_but(winner)
    news.append(facts.CardsMoved("kitty", "put_away", (), KITTY_CARDS, reason, others, face_down=True))
    if fewer := len(exchange.put_away) - KITTY_CARDS:
        news.append(facts.CardsMoved(winner, "put_away", (), fewer, reason, others, face_down=True))
    return news


def _draw(state: OneTenState, news: list[Fact]) -> Transition:
    """Let seats draw as many as they discarded, clockwise from the bid winner, and begin the tricks (110-SWAP-4)."""
    exchange, winner, hands = state.exchange, state.auction.bidder, list(state.hands)
    at = 0
    for seat in state.options.clockwise(winner):
        if count := len(exchange.discards[seat]):
            drawn = tuple(sorted(exchange.stock[at : at + count]))
            at += count
            hands[seat] = hand_of((*cards_in(hands[seat]), *drawn))
            news += facts.moves_to_hand("stock", seat, drawn, MoveReason.DRAW)
    if not state.options.swap_after_trump:
        news.append(facts.ContractChanged(facts.Contract(trump=exchange.trump), all_but(winner)))
        news.append(facts.CardOrderChanged(TRUMPS[exchange.trump].order, all_but(winner)))
    to_act = (state.options.first_leader(winner),)
    state = state._replace(
        phase="tricks", to_act=to_act, hands=tuple(hands), exchange=exchange._replace(stock=exchange.stock[at:])
    )
    return state, (*news, facts.TurnChanged("tricks", to_act))


def trump_known_to(state: OneTenState, viewer: int) -> Suit:
    """Return the trump suit as far as a viewer knows it, or UNNAMED (110-VIS-5)."""
    waiting = state.phase in ("kitty", "reshuffle")
    if waiting and viewer != state.auction.bidder and not state.options.swap_after_trump:
        return UNNAMED
    return state.exchange.trump
