"""The end of a hand of Solo, made, failed, thrown in or void, and perhaps of the game."""

from croupier.games.facts import Contract, ContractChanged, Fact, GameEnded, Mark, MarkChanged, RoundEnded, TurnChanged
from croupier.games.solo import scoring, summary
from croupier.games.solo.state import NOBODY, SEATS, SoloState
from croupier.games.solo.summary import Result
from croupier.games.solo.turns import Transition


def throw_in(state: SoloState, reason: str, facts: list[Fact]) -> Transition:
    """End a hand without scores; the next dealer deals (SOLO-BID-8, SOLO-LAST-1)."""
    return _end(state, Result("thrown_in", reason), state.progress.totals, facts)


def finish(state: SoloState, made: bool, reason: str, facts: list[Fact]) -> Transition:
    """End a played hand: the winning side scores, unless that makes it void (SOLO-SCORE-3, SOLO-LAST-3)."""
    contract = state.contract
    value = scoring.value(state.options, contract, state.through, made)
    side = contract.side
    scorers = side if made else tuple([seat for seat in range(SEATS) if seat not in side])
    totals = scoring.settled(state.options, state.progress.totals, scorers, value)
    result = Result("made" if made else "failed", reason, value, void=totals is None)
    return _end(state, result, state.progress.totals if totals is None else totals, facts)


def _end(state: SoloState, result: Result, totals: tuple[int, ...], facts: list[Fact]) -> Transition:
    """Name a hidden partner, record the hand, and await a deal or end the game."""
    if state.partner_hidden:
        facts.append(ContractChanged(Contract(partner=state.contract.partner)))
    progress, before = state.progress, state.progress.totals
    out = [seat for seat in range(SEATS) if before[seat] < scoring.OUT <= totals[seat]]
    went_out = tuple([progress.hand_number if seat in out else number for seat, number in enumerate(progress.went_out)])
    buck = scoring.buck(totals)
    facts.append(RoundEnded(summary.sheet_line(state, result, totals)))
    facts += [MarkChanged(Mark("went_out", seat, str(progress.hand_number))) for seat in out]
    phase = "deal" if buck is None else "over"
    facts.append(TurnChanged(phase, ()))
    progress = progress._replace(totals=totals, went_out=went_out, deals=0)
    state = state._replace(progress=progress, phase=phase, to_act=NOBODY)
    if buck is not None:
        facts.append(GameEnded(scoring.ranking(state), "buck"))
    return state, tuple(facts)
