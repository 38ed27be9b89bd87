"""A round of 101: the deal, an action or a reshuffle, the cards to take, and the seat to act next or the end."""

from typing import Any

from croupier.games import facts
from croupier.games.actions import PLAYS, Action, Draw, Play
from croupier.games.cards import Card, Hands, Suit, cards_of_mask, notation, suit_of
from croupier.games.facts import LAID, Fact, MoveReason, PileCard, Seat
from croupier.games.hands import cards_in, hand_of, with_cards, without
from croupier.games.interface import NOTHING_LEGAL, CardsShuffled, Legal
from croupier.games.one_oh_one import legality, scoring
from croupier.games.one_oh_one.effects import IS_QUEEN, IS_SIX, PENALTIES, PENALTY_WORDS
from croupier.games.one_oh_one.state import NOBODY, OneOhOneState, Owed, Progress, around, circle
from croupier.games.values import NumberValue, SeatValue, SuitValue, WordValue

HAND_SIZE = 5


def deal(before: OneOhOneState, event: CardsShuffled) -> tuple[OneOhOneState, tuple[Fact, ...]]:
    """Return the state after a deal, and its facts: each seat sees its own hand only (101-VIS-1, 101-VIS-2)."""
    (starter, dealt, stock), options = _dealt(before, event), before.options
    hands = tuple(map(hand_of, dealt))
    progress = before.progress._replace(round_number=before.progress.round_number + 1, starter=starter)
    forced = None if options.first_move_any else dealt[starter][-1]
    state = OneOhOneState(options, progress, hands, stock, turn=starter, forced=forced)
    news: list[Fact] = [facts.RoundStarted(progress.round_number, None)]
    news += [facts.SeatOut(seat, place) for seat, place in scoring.places(options.seats, progress.dropped).items()]
    news += facts.hands_dealt(dealt)
    news.append(facts.CardsMoved(None, "stock", (), len(stock), MoveReason.DEAL, face_down=True))
    news.append(facts.MarkChanged(facts.Mark("starter", None, SeatValue(starter))))
    return state, (*news, facts.TurnChanged("play", (starter,)))


def record(state: OneOhOneState, event: CardsShuffled) -> dict[str, Any]:
    """Return the deal as 101-DEAL-1 writes it."""
    starter, hands, stock = _dealt(state, event)
    return {"type": "deal", "starter": starter, "hands": [*map(notation, hands)], "stock": notation(stock)}


def _dealt(state: OneOhOneState, event: CardsShuffled) -> tuple[Seat, Hands, tuple[Card, ...]]:
    """Return starter, hands and stock: singly, five times round, from a starter drawn at first (101-DEAL-2, -3)."""
    starter = event.drawn[0] if event.drawn else state.progress.starter
    seats = around(state.progress.following, starter)
    dealing = HAND_SIZE * len(seats)
    hands: list[tuple[Card, ...]] = [()] * state.options.seats
    for turn, seat in enumerate(seats):
        hands[seat] = event.cards[turn : dealing : len(seats)]
    return starter, tuple(hands), event.cards[dealing:]


def legal_actions(state: OneOhOneState, seat: Seat) -> Legal:
    """Return the cards that a seat may play now, ascending, each queen with every suit; or to draw."""
    if seat != state.turn or seat < 0:
        return NOTHING_LEGAL
    playable = legality.playable(state, state.hands[seat])
    if not playable:
        return _DRAW_ONLY
    actions = [action for value in cards_of_mask(playable) for action in _PLAYS_OF[value]]
    return Legal((*actions, _DRAW) if legality.may_draw_instead(state) else tuple(actions))


def act(before: OneOhOneState, seat: Seat, action: Action) -> tuple[OneOhOneState, tuple[Fact, ...]]:
    """Return the state after an action, and its facts; raises IllegalAction."""
    legality.check(before, seat, action)
    news: list[Fact] = []
    if isinstance(action, Play):
        state, owed = _played(before, seat, action, news)
    else:
        state, owed = _drawn(before, seat, news)
    if owed.card_count:
        state = _take(state, owed, news)
    return _go_on(state, owed.turn, news)


def reshuffle(before: OneOhOneState, owed: Owed, event: CardsShuffled) -> tuple[OneOhOneState, tuple[Fact, ...]]:
    """Return the state after a reshuffle and the taking that had to wait for it (101-STOCK-3)."""
    news: list[Fact] = [facts.MarkChanged(facts.Mark("to_take", owed.seat, None)), *_recycling(before.pile)]
    renewed = before._replace(stock=event.cards, pile=before.pile[-1:], owed=None, reshuffles=before.reshuffles + 1)
    return _go_on(_take(renewed, owed, news), owed.turn, news)


def _go_on(state: OneOhOneState, turn: Seat, news: list[Fact]) -> tuple[OneOhOneState, tuple[Fact, ...]]:
    """Let the next seat act, or end the round, unless a reshuffle comes first."""
    if state.owed:
        return state, tuple(news)
    if turn == NOBODY:
        return _finished(state, news), tuple(news)
    news.append(_TURN[turn])
    return state._replace(turn=turn), tuple(news)


def _finished(state: OneOhOneState, news: list[Fact]) -> OneOhOneState:
    """Return the table after a round that was won with the top card (101-LAST-1, 101-SCORE-1)."""
    progress, options = state.progress, state.options
    playing = around(progress.following, progress.starter)
    result = scoring.scored(options, progress.totals, playing, state.hands, state.pile[-1].card)
    winner = result.winner
    dropping = scoring.by_score(result.losers, result.totals) if options.elimination else ()
    dropped = dropping + progress.dropped
    reason = scoring.end_reason(options, progress.round_number, result.losers, options.seats - sum(map(len, dropped)))
    after = Progress(progress.round_number, winner, result.totals, circle(options.seats, dropped), dropped, reason)
    state = state._replace(progress=after)
    news += [facts.HandRevealed(seat, cards_in(hand)) for seat, hand in enumerate(state.hands) if hand]
    news.append(facts.RoundEnded(scoring.sheet_line(progress, result, options.elimination)))
    places = scoring.places(options.seats, dropped)
    news += [facts.SeatOut(seat, places[seat]) for group in dropping for seat in group]
    if winner != progress.starter:
        news.append(facts.MarkChanged(facts.Mark("starter", None, SeatValue(winner))))
    news.append(facts.TurnChanged(state.phase, ()))
    if reason:
        news.append(facts.GameEnded(scoring.ranking(after), reason))
    return state


def _played(state: OneOhOneState, seat: Seat, play: Play, news: list[Fact]) -> tuple[OneOhOneState, Owed]:
    """Return the table with the card on the pile, and the cards that the next player takes before the next turn."""
    value, suit = play.card, play.suit
    hand, following = without(state.hands[seat], value), state.progress.following
    covers = IS_SIX[value] and (hand != 0 or not state.options.finish_on_six)
    after = following[seat]
    imposed = PENALTIES[value]
    if not hand and not (imposed and state.options.last_card_effects):
        # A last card can only make the next player take cards (101-LAST-2).
        imposed = None
    penalized = NOBODY if imposed is None else after
    news.append((_COVERING if state.covers else _PLAYED)[seat][value])
    if suit != state.ordered or covers or penalized >= 0 or state.covers or state.penalized >= 0:
        news += _ended_marks(state, suit)
        news += _new_marks(None if suit == state.ordered else suit, seat if covers else NOBODY, value, penalized)
    state = state._replace(
        hands=(*state.hands[:seat], hand, *state.hands[seat + 1 :]),
        pile=(*state.pile, LAID[seat][value]),
        turn=NOBODY,
        ordered=suit,
        covers=covers,
        penalized=penalized,
        forced=None,
    )
    turn = seat if covers else NOBODY if not hand else after if penalized == NOBODY else following[after]
    return state, Owed(after, imposed or 0, MoveReason.PENALTY, turn)


def _drawn(state: OneOhOneState, seat: Seat, news: list[Fact]) -> tuple[OneOhOneState, Owed]:
    """Return the table with a draw begun: no cover is owed any more (101-SIX-4), an order stays valid (101-QUEEN-3)."""
    if state.covers or state.penalized >= 0:
        news += _ended_marks(state, state.ordered)
    state = state._replace(turn=NOBODY, covers=False, penalized=NOBODY)
    return state, Owed(seat, 1, MoveReason.DRAW, state.progress.following[seat])


def _ended_marks(state: OneOhOneState, suit: Suit | None) -> list[Fact]:
    """Take away the marks that an action ends; `suit` is what is ordered after it."""
    news: list[Fact] = []
    if state.covers:
        news.append(facts.MarkChanged(facts.Mark("cover", state.turn, None)))
    if state.ordered is not None and suit is None:
        news.append(facts.MarkChanged(facts.Mark("ordered_suit", None, None)))
    if state.penalized >= 0:
        news.append(facts.MarkChanged(facts.Mark("penalty", state.penalized, None)))
    return news


def _new_marks(suit: Suit | None, coverer: Seat, value: Card, penalized: Seat) -> list[Fact]:
    news: list[Fact] = []
    if suit is not None:
        news.append(facts.MarkChanged(facts.Mark("ordered_suit", None, SuitValue(suit))))
    if coverer >= 0:
        news.append(facts.MarkChanged(facts.Mark("cover", coverer, SuitValue(suit_of(value)))))
    if penalized >= 0:
        news.append(facts.MarkChanged(facts.Mark("penalty", penalized, WordValue(PENALTY_WORDS[value]))))
    return news


def _take(state: OneOhOneState, owed: Owed, news: list[Fact]) -> OneOhOneState:
    """Return the table after a seat took the cards it owes, as far as there are any (101-STOCK-1, 101-STOCK-4).

    With `recycle` = `shuffle` it may come to a halt before, in the phase "reshuffle".
    """
    while owed.card_count and state.can_take:
        if state.stock:
            seat, hands, taken = owed.seat, state.hands, state.stock[: owed.card_count]
            news += facts.moves_to_hand("stock", seat, taken, owed.reason)
            hands = (*hands[:seat], with_cards(hands[seat], taken), *hands[seat + 1 :])
            state = state._replace(hands=hands, stock=state.stock[len(taken) :])
            owed = owed._replace(card_count=owed.card_count - len(taken))
        elif state.options.recycle_shuffled:
            news += [facts.MarkChanged(facts.Mark("to_take", owed.seat, NumberValue(owed.card_count))), _RESHUFFLE]
            return state._replace(owed=owed)
        else:
            news += _recycling(state.pile)
            state = state._replace(stock=under_top(state.pile), pile=state.pile[-1:])
    return state


def under_top(pile: tuple[PileCard, ...]) -> tuple[Card, ...]:
    """Return the cards that can become a new stock, those played first in front (101-STOCK-2)."""
    return tuple([lying.card for lying in pile[:-1]])


def _recycling(pile: tuple[PileCard, ...]) -> list[Fact]:
    """Return the moves of all but the top card to the stock: face down, so through the box (101-VIS-3)."""
    cards = under_top(pile)
    return [
        facts.CardsMoved("pile", None, cards, len(cards), MoveReason.RECYCLE),
        facts.CardsMoved(None, "stock", (), len(cards), MoveReason.RECYCLE, face_down=True),
    ]


_DRAW = Draw()
_DRAW_ONLY = Legal((_DRAW,))
_PLAYS_OF: tuple[tuple[Action, ...], ...] = tuple(
    tuple(Play(value, suit) for suit in range(4)) if IS_QUEEN[value] else (PLAYS[value],) for value in range(52)
)
_PLAYED, _COVERING, _TURN = facts.plays_to("pile"), facts.plays_to("pile", "cover"), facts.turns_of("play")
_RESHUFFLE = facts.TurnChanged("reshuffle", ())
