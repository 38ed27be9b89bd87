"""The seat to act in Solo, the refusals for all others, and the end of a hand and perhaps of the game."""

from typing import TypeAlias

from croupier.games import facts
from croupier.games.facts import Fact, Seat
from croupier.games.interface import IllegalAction
from croupier.games.solo import scoring, summary
from croupier.games.solo.state import NOBODY, SEATS, SoloState
from croupier.games.solo.summary import Result

Transition: TypeAlias = tuple[SoloState, tuple[Fact, ...]]
"""A state and the facts that led to it."""


def turn(state: SoloState, phase: str, seat: Seat, news: list[Fact]) -> Transition:
    """Let a seat act in a phase, after the facts that led to it."""
    return state._replace(phase=phase, to_act=seat), (*news, _TURNS[phase][seat])


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
    news += [facts.MarkChanged(facts.Mark("went_out", seat, str(progress.hand_number))) for seat in out]
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
