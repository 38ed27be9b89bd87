"""The deal and the restart of a hand of Solo, the seat to act, and the end of the hand and perhaps of the game."""

from typing import Any, TypeAlias

from croupier.games import facts
from croupier.games.actions import Action
from croupier.games.cards import Card, cards_of_mask, mask_of, notation
from croupier.games.facts import Fact, Seat
from croupier.games.interface import CardsShuffled, IllegalAction
from croupier.games.solo import scoring, summary
from croupier.games.solo.deck import ORDER_WITHOUT_TRUMP
from croupier.games.solo.state import NOBODY, SEATS, Progress, SoloOptions, SoloState, out_since
from croupier.games.solo.summary import Result
from croupier.games.solo.view import marks

Transition: TypeAlias = tuple[SoloState, tuple[Fact, ...]]
"""A state and the facts that led to it."""


def deal(before: SoloState, event: CardsShuffled) -> Transition:
    """Return the state after a deal, and its facts."""
    dealer = _dealer(before, event)
    progress = before.progress._replace(hand_number=before.due_hand, dealer=dealer, deals=before.progress.deals + 1)
    return _begin(before.options, progress, _hands(before.options, dealer, event.cards))


def restart(before: SoloState, proposal: str) -> Transition:
    """Undo everything since the deal, and the deal too if new cards were wanted (SOLO-RESTART-2)."""
    options, progress = before.options, before.progress
    if cards_again(before, proposal) == "same":
        hands = list(before.hands)
        for value, seat in before.taken + before.trick:
            hands[seat or 0] |= 1 << value
        return _begin(options, progress, tuple(hands))
    started = facts.RoundStarted(progress.hand_number, progress.dealer)
    state = SoloState(options, progress)
    return state, (started, *map(facts.MarkChanged, marks(state)), facts.TurnChanged("deal", ()))


def cards_again(state: SoloState, proposal: str) -> str:
    """Return "same" or "new", the cards with which a hand is restarted; raises IllegalAction."""
    if state.phase == "over":
        raise IllegalAction("SOLO-END-2", "the game is over and nothing can be restarted")
    if state.to_act == NOBODY:
        raise IllegalAction("SOLO-RESTART-2", "no hand is in progress that could be restarted")
    return proposal.removeprefix("restart_")


def record(state: SoloState, event: CardsShuffled) -> dict[str, Any]:
    """Return the deal as a replay writes it (SOLO-DEAL-3)."""
    return {"type": "deal", "dealer": _dealer(state, event), "deck": notation(event.cards)}


def _dealer(state: SoloState, event: CardsShuffled) -> Seat:
    """Return the dealer of a deal (SOLO-DEAL-1)."""
    if state.draws_dealer:
        return event.drawn[0]
    return (state.progress.dealer + (state.progress.deals == 0)) % SEATS


def _begin(options: SoloOptions, progress: Progress, hands: tuple[int, ...]) -> Transition:
    """Return the table with dealt hands, of which the left neighbour of the dealer bids (SOLO-BID-1)."""
    state = SoloState(options, progress, hands=hands)
    news: list[Fact] = [facts.RoundStarted(progress.hand_number, progress.dealer)]
    news += facts.hands_dealt(map(cards_of_mask, hands))
    news += [facts.CardOrderChanged(ORDER_WITHOUT_TRUMP), *map(facts.MarkChanged, marks(state))]
    return turn(state, "auction", (progress.dealer + 1) % SEATS, news)


def _hands(options: SoloOptions, dealer: Seat, cards: tuple[Card, ...]) -> tuple[int, ...]:
    """Deal clockwise from a neighbour of the dealer (SOLO-DEAL-2); the hands as bit sets by seat."""
    first = dealer + 3 if options.deals_right_first else dealer + 1
    dealt = [mask_of([cards[at] for at in deck_positions]) for deck_positions in options.deck_positions]
    return tuple([dealt[(seat - first) % SEATS] for seat in range(SEATS)])


def turn(state: SoloState, phase: str, seat: Seat, news: list[Fact]) -> Transition:
    """Let a seat act in a phase, after the facts that led to it."""
    return state._replace(phase=phase, to_act=seat), (*news, _TURNS[phase][seat])


def with_call(state: SoloState, action: Action) -> tuple[SoloState, list[Fact]]:
    """Return the state with a call of the seat to act, and its fact."""
    call = facts.Call(state.to_act, action)
    return state._replace(calls=(*state.calls, call)), [facts.Called(call)]


def not_to_act(state: SoloState, seat: Seat) -> IllegalAction:
    """Return the refusal of an action of a seat that is not to act."""
    rule = _TURN_RULES[state.phase]
    if state.phase == "over":
        return IllegalAction(rule, "the game is over and nobody may act")
    if state.phase == "deal":
        return IllegalAction(rule, "a deal is due, so no hand is in progress and nobody may act")
    return IllegalAction(rule, f"it is not seat {seat} that is to act but seat {state.to_act}")


def throw_in(state: SoloState, reason: str, news: list[Fact]) -> Transition:
    """End a hand without scores; the next dealer deals (SOLO-BID-8, SOLO-LAST-1)."""
    return _end(state, Result("thrown_in", reason), state.progress.totals, news)


def finish(state: SoloState, made: bool, reason: str, news: list[Fact]) -> Transition:
    """End a played hand: the winning side scores, unless that makes it void (SOLO-SCORE-3, SOLO-LAST-3)."""
    contract = state.contract
    value = scoring.value(state.options, contract, state.through, made)
    side = contract.side
    scorers = side if made else tuple([seat for seat in range(SEATS) if seat not in side])
    totals = scoring.settled(state.options, state.progress.totals, scorers, value)
    result = Result("made" if made else "failed", reason, value, void=totals is None)
    return _end(state, result, state.progress.totals if totals is None else totals, news)


def _end(state: SoloState, result: Result, totals: tuple[int, ...], news: list[Fact]) -> Transition:
    """Name a hidden partner, record the hand, and await a deal or end the game."""
    if state.partner_hidden:
        news.append(facts.ContractChanged(facts.Contract(partner=state.contract.partner)))
    progress, before = state.progress, state.progress.totals
    out = [seat for seat in range(SEATS) if before[seat] < scoring.OUT <= totals[seat]]
    went_out = tuple([progress.hand_number if seat in out else number for seat, number in enumerate(progress.went_out)])
    buck = scoring.buck(totals)
    news.append(facts.RoundEnded(summary.sheet_line(state, result, totals)))
    news += [facts.MarkChanged(out_since(seat, progress.hand_number)) for seat in out]
    phase = "deal" if buck is None else "over"
    news.append(facts.TurnChanged(phase, ()))
    progress = progress._replace(totals=totals, went_out=went_out, deals=0)
    state = state._replace(progress=progress, phase=phase, to_act=NOBODY)
    if buck is not None:
        news.append(facts.GameEnded(scoring.ranking(state), "buck"))
    return state, tuple(news)


_TURNS = {phase: facts.turns_of(phase) for phase in ("auction", "wedding", "keep", "name_trump", "call", "play")}
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
