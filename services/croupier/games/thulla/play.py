"""Play of Thulla: a card is played, a trick ends, seats go out, and the round ends."""

from croupier.games.actions import PLAYS, Action, Play
from croupier.games.cards import NOTATION, Card, cards_of_mask, mask_of
from croupier.games.facts import (
    CardsMoved,
    Fact,
    GameEnded,
    HandRevealed,
    Mark,
    MarkChanged,
    MoveReason,
    RoundEnded,
    RoundScore,
    Seat,
    SeatOut,
    TurnChanged,
)
from croupier.games.interface import NOTHING_LEGAL, IllegalAction, Legal
from croupier.games.thulla import scoring
from croupier.games.thulla.deal import ACE_OF_SPADES, holders
from croupier.games.thulla.state import PlayedCard, ThullaState
from croupier.games.thulla.view import marks


def legal_actions(state: ThullaState, seat: Seat) -> Legal:
    """Return the cards that a seat may play now, ascending."""
    if state.queue[:1] != (seat,):
        return NOTHING_LEGAL
    return Legal(tuple([PLAYS[value] for value in cards_of_mask(_playable(state, state.hands[seat]))]))


def play(before: ThullaState, seat: Seat, action: Action) -> tuple[ThullaState, tuple[Fact, ...]]:
    """Return the state after a card was played (steps 1 and 2 of a play); raises IllegalAction."""
    card = _checked(before, seat, action)
    hand = before.hands[seat] ^ (1 << card)
    hands = (*before.hands[:seat], hand, *before.hands[seat + 1 :])
    trick, queue = (*before.trick, _PLAYED_CARD[seat][card]), before.queue[1:]
    options, progress, _, _, _, waste, out, stalled, points, _ = before
    state = ThullaState(options, progress, hands, trick, queue, waste, out, stalled, points)
    continues = queue and _SUIT_MASK[card] == _SUIT_MASK[trick[0].card]
    if hand and continues:
        return state, (_PLAYED[seat][card], _TURN[queue[0]])
    facts: list[Fact] = [_PLAYED[seat][card]]
    if not hand and options.safe_at_once:
        state = _go_out(state, seat, facts)
        if len(holding := holders(hands)) == 1:
            return _end(_discard_trick(state, facts), holding, "one_holder", facts)
    if continues:
        return state, (*facts, _TURN[queue[0]])
    return _resolve(state, facts)


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


def _resolve(before: ThullaState, facts: list[Fact]) -> tuple[ThullaState, tuple[Fact, ...]]:
    """Clear a trick that is over, and continue with the next leader or the end of the game (steps 3 to 6 of a play)."""
    trick, options = before.trick, before.options
    nominal, picker = _outcome(before)
    state = _discard_trick(before, facts) if picker is None else _pick_up(before, picker, facts)
    if not options.safe_at_once:
        state = _leave(state, trick, nominal, facts)
    holding = holders(state.hands, nominal)
    if len(holding) < 2:
        return _end(state, holding or (nominal,), "one_holder" if holding else "no_holder", facts)
    progress = picker is None or not all(state.hands[played.seat] for played in trick)
    state = _count_stall(state._replace(queue=holding), 0 if progress else before.stalled + 1, facts)
    if state.stalled == options.stall_limit:
        return _end(state, scoring.stall_order(state.hands, holding), "stall", facts)
    return state, (*facts, _TURN[holding[0]])


def _outcome(state: ThullaState) -> tuple[Seat, Seat | None]:
    """Return the nominal leader after a trick, and the seat that picks it up or None (THU-CLEAN-1, THU-CUT-2 to -6)."""
    *followed, last = state.trick
    if _SUIT_MASK[last.card] == _SUIT_MASK[state.trick[0].card]:
        return max(state.trick).seat, None
    obliged = [last] if state.options.cutter_picks_up else sorted(followed, reverse=True)
    for _, seat in obliged:
        if state.hands[seat] or not state.options.safe_at_once:
            return seat, seat
    return obliged[0].seat, None


def _discard_trick(state: ThullaState, facts: list[Fact]) -> ThullaState:
    cards = tuple(played.card for played in state.trick)
    facts.append(CardsMoved("trick", "waste", cards, len(cards), MoveReason.DISCARD))
    return state._replace(trick=(), queue=(), waste=state.waste + state.trick)


def _pick_up(state: ThullaState, seat: Seat, facts: list[Fact]) -> ThullaState:
    cards = tuple(played.card for played in state.trick)
    facts.append(CardsMoved("trick", seat, cards, len(cards), MoveReason.PICK_UP))
    hand = state.hands[seat] | mask_of(cards)
    return state._replace(trick=(), queue=(), hands=(*state.hands[:seat], hand, *state.hands[seat + 1 :]))


def _count_stall(state: ThullaState, stalled: int, facts: list[Fact]) -> ThullaState:
    """Set the stall counter (THU-STALL-1)."""
    if stalled != state.stalled:
        facts.append(MarkChanged(Mark("stall", None, str(stalled or ""))))
    return state._replace(stalled=stalled)


def _leave(state: ThullaState, trick: tuple[PlayedCard, ...], nominal: Seat, facts: list[Fact]) -> ThullaState:
    """Let seats without cards go out in the order of play (THU-OUT-2), but for a winner left last (THU-END-3)."""
    loser = None if any(state.hands) else nominal
    for _, seat in trick:
        if not state.hands[seat] and seat != loser:
            state = _go_out(state, seat, facts)
    return state


def _go_out(before: ThullaState, seat: Seat, facts: list[Fact]) -> ThullaState:
    out = (*before.out, seat)
    facts.append(SeatOut(seat, len(out)))
    state = before._replace(out=out)
    if state.options.scoring != "cards_each_out":
        return state
    return _settle(state, scoring.added(state.points, scoring.card_counts(state.hands)), facts)


def _settle(state: ThullaState, points: tuple[int, ...], facts: list[Fact]) -> ThullaState:
    """Set the cost of the round so far (THU-SCORE-3)."""
    changes = enumerate(zip(state.points, points, strict=True))
    facts += [MarkChanged(Mark("points", seat, str(after))) for seat, (before, after) in changes if before != after]
    return state._replace(points=points)


def _end(
    before: ThullaState, losers: tuple[Seat, ...], reason: str, facts: list[Fact]
) -> tuple[ThullaState, tuple[Fact, ...]]:
    """End the round; `losers` are the seats that are not out, best first (THU-END-4)."""
    options, hands, order, stalled = before.options, before.hands, before.out + losers, reason == "stall"
    points = scoring.game_points(options.scoring, hands, order, before.points, stalled)
    totals, orders = scoring.added(before.progress.totals, points), (*before.progress.orders, order)
    over = scoring.match_over(options.scoring, options.best_of, orders, options.seats)
    progress = before.progress._replace(totals=totals, orders=orders, reason=reason, over=over)
    state = before._replace(progress=progress, queue=())
    if options.scoring == "cards_each_out":
        state = _settle(state, points, facts)
    facts += [HandRevealed(seat, cards_of_mask(hand)) for seat, hand in enumerate(hands) if hand]
    number = progress.round_number
    score = RoundScore(
        number,
        points,
        totals,
        scoring.notes(hands, order, stalled),
        f"game {number} of {options.best_of}" + (", stopped by the stall limit" if stalled else ""),
        (("order", " ".join(map(str, order))), ("reason", reason)),
        scoring.medals(order),
    )
    facts.append(RoundEnded(score))
    facts += [MarkChanged(mark) for mark in marks(state) if mark.name == "wins" and mark.seat == order[0]]
    facts.append(TurnChanged(state.phase, ()))
    if over:
        facts.append(GameEnded(scoring.ranking(state), reason))
    return state, tuple(facts)


_SUIT_MASK = tuple(0x1FFF << 13 * (value // 13) for value in range(52))
_TURN = tuple(TurnChanged("play", (seat,)) for seat in range(6))
_PLAYED_CARD = tuple(tuple(PlayedCard(value, seat) for value in range(52)) for seat in range(6))
_PLAYED = tuple(
    tuple(CardsMoved(seat, "trick", (value,), 1, MoveReason.PLAY) for value in range(52)) for seat in range(6)
)
