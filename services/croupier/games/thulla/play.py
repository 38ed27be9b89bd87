"""Thulla from the deal to the end of the round: a card is played, a trick ends, seats go out."""

from typing import Any

from croupier.games import facts
from croupier.games.actions import PLAYS, Action, Play
from croupier.games.cards import CARD_OF_NOTATION, NOTATION, Card, Hands, cards_of_mask, dealt_singly, mask_of, notation
from croupier.games.facts import MAX_SEATS, Fact, MoveReason, Seat
from croupier.games.interface import NOTHING_LEGAL, CardsShuffled, IllegalAction, Legal
from croupier.games.thulla import scoring
from croupier.games.thulla.state import PlayedCard, ThullaOptions, ThullaState
from croupier.games.thulla.view import marks
from croupier.games.values import NumberValue, SeatsValue, WordValue

ACE_OF_SPADES = CARD_OF_NOTATION["AS"]


def deal(before: ThullaState, event: CardsShuffled) -> tuple[ThullaState, tuple[Fact, ...]]:
    """Return the state after a deal, and its facts: each seat sees its own hand (THU-VIS-1)."""
    dealt, options, round_number = _dealt(before, event), before.options, before.progress.round_number + 1
    hands, first = tuple(map(mask_of, dealt)), _starter(options, round_number, dealt, event.drawn)
    state = ThullaState(
        options,
        before.progress._replace(round_number=round_number, starter=first),
        hands,
        queue=holders(hands, first),
        points=(0,) * options.seats,
        forced=options.start == "ace_of_spades",
        known=(0,) * options.seats,
    )
    news: list[Fact] = [facts.RoundStarted(round_number, options.dealer(round_number))]
    if options.removed:
        news.append(facts.CardsMoved(None, "removed", options.removed, len(options.removed), MoveReason.REMOVE))
    news += facts.hands_dealt(dealt)
    return state, (*news, *map(facts.MarkChanged, marks(state)), facts.TurnChanged("play", (first,)))


def record(state: ThullaState, event: CardsShuffled) -> dict[str, Any]:
    """Return the deal as THU-DEAL-3 writes it."""
    written: dict[str, Any] = {"type": "deal", "hands": [notation(hand) for hand in _dealt(state, event)]}
    return written | {"starter": event.drawn[0]} if event.drawn else written


def holders(hands: tuple[int, ...], first: Seat = 0) -> tuple[Seat, ...]:
    """Return the seats with cards, clockwise from `first` or the next one after it (THU-LEAD-1, THU-LEAD-2)."""
    return tuple([seat for seat in _CLOCKWISE[len(hands)][first] if hands[seat]])


def _dealt(state: ThullaState, event: CardsShuffled) -> Hands:
    """Deal one card at a time clockwise from the seat left of the dealer (THU-DEAL-2, THU-DEAL-4)."""
    options = state.options
    return dealt_singly(event.cards, options.seats, options.dealer(state.progress.round_number + 1))


def _starter(options: ThullaOptions, round_number: int, hands: Hands, drawn: tuple[int, ...]) -> Seat:
    """Return the leader of the first trick (THU-START-1, -3, -4, -5)."""
    match options.start:
        case "ace_of_spades":
            return next(seat for seat, hand in enumerate(hands) if ACE_OF_SPADES in hand)
        case "random":
            return drawn[0]
        case "dealer":
            return options.dealer(round_number)
        case _:
            return (options.dealer(round_number) + 1) % options.seats


def legal_actions(state: ThullaState, seat: Seat) -> Legal:
    """Return the cards that a seat may play now, ascending."""
    if state.queue[:1] != (seat,):
        return NOTHING_LEGAL
    return Legal(tuple([PLAYS[value] for value in cards_of_mask(_playable(state, state.hands[seat]))]))


def play(before: ThullaState, seat: Seat, action: Action) -> tuple[ThullaState, tuple[Fact, ...]]:
    """Return the state after a card was played (steps 1 and 2 of a play); raises IllegalAction."""
    card = _checked(before, seat, action)
    options, progress, hands, trick, queue, waste, out, stalled, points, _, known = before
    hand = hands[seat] ^ (1 << card)
    hands, trick, queue = _changed(hands, seat, hand), (*trick, _PLAYED_CARD[seat][card]), queue[1:]
    if known[seat]:
        known = _changed(known, seat, known[seat] & hand)
    state = ThullaState(options, progress, hands, trick, queue, waste, out, stalled, points, False, known)
    is_cut = _SUIT_MASK[card] != _SUIT_MASK[trick[0].card] and not before.cannot_be_cut
    continues = queue and not is_cut
    if hand and continues:
        return state, (_PLAYED[seat][card], _TURN[queue[0]])
    news: list[Fact] = [_CUT[seat][card] if is_cut else _PLAYED[seat][card]]
    if not hand and options.safe_at_once:
        state = _go_out(state, seat, news)
        if len(holding := holders(hands)) == 1:
            return _end(_discard_trick(state, holding[0], news), holding, "one_holder", news)
    if continues:
        return state, (*news, _TURN[queue[0]])
    return _resolve(state, news)


def _playable(state: ThullaState, hand: int) -> int:
    if state.trick:
        return hand & _SUIT_MASK[state.trick[0].card] or hand
    return 1 << ACE_OF_SPADES if state.forced else hand


def _checked(state: ThullaState, seat: Seat, action: Action) -> Card:
    """Return the card to be played; every refusal depends only on what the acting seat knows."""
    if state.queue[:1] != (seat,):
        raise IllegalAction("THU-PLAY-1", f"it is not the turn of seat {seat}")
    if not isinstance(action, Play) or action.suit is not None:
        raise IllegalAction("THU-D9", "the only action is to play a card")
    card, hand = action.card, state.hands[seat]
    if not 0 <= card < 52 or not hand >> card & 1:
        raise IllegalAction("THU-PLAY-2", "play a card of your own hand")
    if not _playable(state, hand) >> card & 1:
        if state.trick:
            raise IllegalAction("THU-PLAY-3", f"follow suit: {NOTATION[state.trick[0].card]} was led")
        raise IllegalAction("THU-START-2", "the first card of this game is the ace of spades")
    return card


def _resolve(before: ThullaState, news: list[Fact]) -> tuple[ThullaState, tuple[Fact, ...]]:
    """Clear a trick that is over, and continue with the next leader or the end of the game (steps 3 to 6 of a play)."""
    trick, options = before.trick, before.options
    nominal, picker = _outcome(before)
    state = _discard_trick(before, nominal, news) if picker is None else _pick_up(before, picker, news)
    if not options.safe_at_once:
        # Seats without cards go out in the order of play (THU-OUT-2), but for a winner left last (THU-END-3).
        loser = None if any(state.hands) else nominal
        for _, seat in trick:
            if not state.hands[seat] and seat != loser:
                state = _go_out(state, seat, news)
    holding = state.queue
    if len(holding) < 2:
        return _end(state, holding or (nominal,), "one_holder" if holding else "no_holder", news)
    progress = picker is None or not all(state.hands[played.seat] for played in trick)
    stalled = 0 if progress else before.stalled + 1  # THU-STALL-1
    if stalled != before.stalled:
        news.append(facts.MarkChanged(facts.Mark("stall", None, NumberValue(stalled) if stalled else None)))
        state = state._replace(stalled=stalled)
    if stalled and stalled == options.stall_limit:  # THU-STALL-4
        return _end(state, scoring.stall_order(state.hands, holding), "stall", news)
    return state, (*news, _TURN[holding[0]])


def _outcome(state: ThullaState) -> tuple[Seat, Seat | None]:
    """Return the nominal leader after a trick, and the seat that picks it up or None.

    The rules are THU-CLEAN-1, THU-OPEN-2 and THU-CUT-2 to -6.
    """
    trick = state.trick
    led, last = _SUIT_MASK[trick[0].card], trick[-1]
    if led >> last.card & 1 or state.cannot_be_cut:
        return max([played for played in trick if led >> played.card & 1]).seat, None
    obliged = [last] if state.options.cutter_picks_up else sorted(trick[:-1], reverse=True)
    for _, seat in obliged:
        if state.hands[seat] or not state.options.safe_at_once:
            return seat, seat
    return obliged[0].seat, None


def _discard_trick(state: ThullaState, leader: Seat, news: list[Fact]) -> ThullaState:
    cards = tuple([played.card for played in state.trick])
    news.append(facts.CardsMoved("trick", "waste", cards, len(cards), MoveReason.DISCARD))
    return _next_trick(state, leader, state.hands, state.waste + state.trick, state.known)


def _pick_up(state: ThullaState, seat: Seat, news: list[Fact]) -> ThullaState:
    cards = tuple([played.card for played in state.trick])
    news.append(facts.CardsMoved("trick", seat, cards, len(cards), MoveReason.PICK_UP))
    picked, hands, known = mask_of(cards), state.hands, state.known
    hands, known = _changed(hands, seat, hands[seat] | picked), _changed(known, seat, known[seat] | picked)
    return _next_trick(state, seat, hands, state.waste, known)


def _next_trick(
    before: ThullaState, leader: Seat, hands: tuple[int, ...], waste: tuple[PlayedCard, ...], known: tuple[int, ...]
) -> ThullaState:
    """Return the state before the first card of the next trick, which the first seat with cards from `leader` leads."""
    options, progress, _, _, _, _, out, stalled, points, forced, _ = before
    return ThullaState(options, progress, hands, (), holders(hands, leader), waste, out, stalled, points, forced, known)


def _changed(values: tuple[int, ...], seat: Seat, value: int) -> tuple[int, ...]:
    changed = list(values)
    changed[seat] = value
    return tuple(changed)


def _go_out(before: ThullaState, seat: Seat, news: list[Fact]) -> ThullaState:
    out = (*before.out, seat)
    news.append(facts.SeatOut(seat, len(out)))
    state = before._replace(out=out)
    if state.options.scoring != "cards_each_out":
        return state
    return _settle(state, scoring.added(state.points, scoring.card_counts(state.hands)), news)


def _settle(state: ThullaState, points: tuple[int, ...], news: list[Fact]) -> ThullaState:
    """Set the cost of the round so far (THU-SCORE-3)."""
    changes = enumerate(zip(state.points, points, strict=True))
    news += [
        facts.MarkChanged(facts.Mark("points", seat, NumberValue(after)))
        for seat, (before, after) in changes
        if before != after
    ]
    return state._replace(points=points)


def _end(
    before: ThullaState, losers: tuple[Seat, ...], reason: str, news: list[Fact]
) -> tuple[ThullaState, tuple[Fact, ...]]:
    """End the round; `losers` are the seats that are not out, best first (THU-END-4)."""
    options, hands, order, stalled = before.options, before.hands, before.out + losers, reason == "stall"
    points = scoring.game_points(options.scoring, hands, order, before.points, stalled)
    totals, orders = scoring.added(before.progress.totals, points), (*before.progress.orders, order)
    over = scoring.match_over(options.scoring, options.best_of, orders, options.seats)
    progress = before.progress._replace(totals=totals, orders=orders, reason=reason, over=over)
    state = before._replace(progress=progress, queue=())
    if options.scoring == "cards_each_out":
        state = _settle(state, points, news)
    news += [facts.HandRevealed(seat, cards_of_mask(hand)) for seat, hand in enumerate(hands) if hand]
    number = progress.round_number
    score = facts.RoundScore(
        number,
        points,
        totals,
        scoring.notes(hands, order),
        scoring.headline(options.best_of, stalled),
        (facts.Mark("order", None, SeatsValue(order)), facts.Mark("reason", None, WordValue(reason))),
        scoring.medals(order),
    )
    news.append(facts.RoundEnded(score))
    news += [facts.MarkChanged(mark) for mark in marks(state) if mark.name == "wins" and mark.seat == order[0]]
    news.append(facts.TurnChanged(state.phase, ()))
    if over:
        news.append(facts.GameEnded(scoring.ranking(state), reason))
    return state, tuple(news)


_CLOCKWISE = tuple(
    tuple((*range(first, seats), *range(first)) for first in range(seats)) for seats in range(MAX_SEATS + 1)
)
"""By number of seats and by seat: all seats clockwise from it."""
_SUIT_MASK = tuple(0x1FFF << 13 * (value // 13) for value in range(52))
_TURN, _PLAYED, _CUT = facts.turns_of("play"), facts.plays_to("trick"), facts.plays_to("trick", "cut")
_PLAYED_CARD = tuple(tuple(PlayedCard(value, seat) for value in range(52)) for seat in range(6))
