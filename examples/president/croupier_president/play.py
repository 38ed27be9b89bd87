"""President from the deal to the end of the round: cards are laid, a trick ends, seats go out."""

from typing import Any

from croupier.games import facts
from croupier.games.actions import Action
from croupier.games.cards import Card, Hands, dealt_singly, notation
from croupier.games.facts import Fact, MoveReason, PileCard, Seat
from croupier.games.hands import cards_in, hand_of, taken_out
from croupier.games.interface import NOTHING_LEGAL, CardsShuffled, IllegalAction, Legal
from croupier_president import combinations, exchange, scoring
from croupier_president.state import BY_RANK, HIGHEST_RANK, THREE_OF_CLUBS, PresidentState, clockwise
from croupier_president.view import passed_mark, title_marks

Transition = tuple[PresidentState, tuple[Fact, ...]]
_NOT_TO_ACT = {
    "deal": ("PRES-DEAL-3", "nobody can act before the cards are dealt"),
    "exchange": ("PRES-EXCH-4", "wait for the exchange of cards"),
    "play": ("PRES-TURN-1", "it is not your turn"),
    "over": ("PRES-END-4", "the game is over"),
}
"""By phase: why a seat that is not to act is refused."""


def deal(before: PresidentState, event: CardsShuffled) -> Transition:
    """Return the state after a deal, and its facts: each seat sees its own hand (PRES-VIS-1)."""
    (dealer, dealt), options, progress = _dealt(before, event), before.options, before.progress
    progress = progress._replace(round_number=progress.round_number + 1, dealer=dealer)
    state = PresidentState(
        options,
        progress,
        "exchange",
        tuple(map(hand_of, dealt)),
        pairs=exchange.pairs_of(options, progress.order),
        given=((),) * options.seats,
    )
    news: list[Fact] = [facts.RoundStarted(progress.round_number, dealer), facts.CardOrderChanged(BY_RANK)]
    news += facts.hands_dealt(dealt)
    news += map(facts.MarkChanged, title_marks(state))
    if not state.pairs:
        return _first_lead(state, news)
    givers = tuple(sorted(pair.giver for pair in state.pairs))
    return state._replace(to_act=givers), (*news, facts.TurnChanged("exchange", givers))


def record(state: PresidentState, event: CardsShuffled) -> dict[str, Any]:
    """Return the deal as PRES-DEAL-3 writes it."""
    dealer, hands = _dealt(state, event)
    return {"type": "deal", "dealer": dealer, "hands": [*map(notation, hands)]}


def _dealt(state: PresidentState, event: CardsShuffled) -> tuple[Seat, Hands]:
    """Return the dealer and the hands (PRES-DEAL-1, PRES-DEAL-2)."""
    dealer = event.drawn[0] if event.drawn else state.progress.order[-1]
    return dealer, dealt_singly(event.cards, state.options.seats, dealer)


def legal_actions(state: PresidentState, seat: Seat) -> Legal:
    """Return all that a seat may do now."""
    if seat not in state.to_act:
        return NOTHING_LEGAL
    return exchange.legal(state, seat) if state.phase == "exchange" else combinations.legal(state, seat)


def act(before: PresidentState, seat: Seat, action: Action) -> Transition:
    """Return the state after an action, and its facts; raises IllegalAction."""
    if seat not in before.to_act:
        raise IllegalAction(*_NOT_TO_ACT[before.phase])
    if before.phase == "exchange":
        state, news = exchange.act(before, seat, action)
        return (state, tuple(news)) if state.to_act else _first_lead(state, news)
    cards = combinations.checked(before, seat, action)
    return _laid(before, seat, cards) if cards else _passed(before, seat)


def _first_lead(state: PresidentState, news: list[Fact]) -> Transition:
    """Let a seat lead to the first trick of the round (PRES-LEAD-1, PRES-LEAD-3)."""
    order = state.progress.order
    if order:
        leader = order[0] if state.options.president_leads else order[-1]
    else:
        leader = next(seat for seat, hand in enumerate(state.hands) if hand >> THREE_OF_CLUBS & 1)
    return _turn(state._replace(phase="play"), leader, news)


def _turn(state: PresidentState, seat: Seat, news: list[Fact]) -> Transition:
    return state._replace(to_act=(seat,)), (*news, facts.TurnChanged("play", (seat,)))


def _passed(state: PresidentState, seat: Seat) -> Transition:
    news: list[Fact] = [facts.MarkChanged(passed_mark(seat))]
    return _go_on(state._replace(passed=state.passed | {seat}), seat, news)


def _laid(before: PresidentState, seat: Seat, cards: tuple[Card, ...]) -> Transition:
    hand = taken_out(before.hands[seat], cards) or 0
    state = before.with_hand(seat, hand)
    state = state._replace(trick=(*state.trick, *[PileCard(value, seat) for value in cards]))
    news: list[Fact] = [facts.CardsMoved(seat, "trick", cards, len(cards), MoveReason.LAY)]
    if not state.options.pass_is_final:  # PRES-PASS-2
        state = _without_passes(state, news)
    if hand:
        return _go_on(state, seat, news)
    state = state._replace(out=(*state.out, seat))
    news.append(facts.SeatOut(seat, len(state.out)))
    if len(state.out) == state.options.seats - 1:
        return _end_round(state, news)
    return _go_on(state, seat, news)


def _without_passes(state: PresidentState, news: list[Fact]) -> PresidentState:
    news += [facts.MarkChanged(passed_mark(seat)._replace(value=None)) for seat in sorted(state.passed)]
    return state._replace(passed=frozenset())


def _go_on(state: PresidentState, seat: Seat, news: list[Fact]) -> Transition:
    """Let the next seat after this one answer, or the next leader lead (PRES-TURN-1, PRES-TRICK-1 to -3)."""
    last = state.trick[-1].seat or 0
    done = {last, *state.passed, *state.out}
    following = [other for other in clockwise(seat, state.options.seats)[1:] if other not in done]
    if following and state.rank_to_beat < HIGHEST_RANK:
        return _turn(state, following[0], news)
    state = _cleared(state, news)
    return _turn(state, state.first_holder(last), news)


def _cleared(state: PresidentState, news: list[Fact]) -> PresidentState:
    """Return the table with the trick on the waste."""
    state = _without_passes(state, news)
    cards = tuple([laid.card for laid in state.trick])
    news.append(facts.CardsMoved("trick", "waste", cards, len(cards), MoveReason.DISCARD))
    return state._replace(trick=(), waste=state.waste + state.trick)


def _end_round(before: PresidentState, news: list[Fact]) -> Transition:
    """End the round, in which one seat still has cards (PRES-OUT-2)."""
    state = _cleared(before, news)
    scum = state.first_holder(0)
    progress = scoring.after_round(state.options, state.progress, (*state.out, scum))
    state = state._replace(progress=progress, phase="over" if progress.reason else "deal", to_act=())
    news.append(facts.HandRevealed(scum, cards_in(state.hands[scum])))
    news.append(facts.RoundEnded(scoring.sheet_line(state.options, progress, state.hands)))
    news += map(facts.MarkChanged, title_marks(state))
    news.append(facts.TurnChanged(state.phase, ()))
    if progress.reason:
        news.append(facts.GameEnded(scoring.ranking(progress), progress.reason))
    return state, tuple(news)
