"""How a hand of Solo ends: made, failed, thrown in or void, and perhaps the game with it."""

from typing import TYPE_CHECKING

from croupier.games.facts import ContractChanged, Fact, GameEnded, Marked, RoundEnded, TurnChanged
from croupier.games.solo import scoring, summary
from croupier.games.solo.contracts import NOBODY
from croupier.games.solo.summary import Result
from croupier.games.solo.table import SEATS

if TYPE_CHECKING:
    from croupier.games.solo.state import SoloState

Moved = tuple["SoloState", tuple[Fact, ...]]


def throw_in(state: "SoloState", reason: str, facts: list[Fact]) -> Moved:
    """Nobody scores and the next dealer deals (SOLO-BID-8, SOLO-LAST-1)."""
    return _end(state, Result("thrown_in", reason), state.scores, facts)


def finish(state: "SoloState", made: bool, reason: str, facts: list[Fact]) -> Moved:
    """The hand was played: the winning side scores, unless that makes it void (SOLO-SCORE-3, SOLO-LAST-3)."""
    contract = state.contract
    value = scoring.value(state.table, contract, state.through, made)
    side = contract.side
    scorers = side if made else tuple([seat for seat in range(SEATS) if seat not in side])
    totals = scoring.settled(state.table, state.scores, scorers, value)
    result = Result("made" if made else "failed", reason, value, void=totals is None)
    return _end(state, result, state.scores if totals is None else totals, facts)


def _end(state: "SoloState", result: Result, totals: tuple[int, ...], facts: list[Fact]) -> Moved:
    """Whoever was hidden is named, the hand is written down, and a deal is due or the game over."""
    if state.partner_hidden:
        facts.append(ContractChanged(partner=state.contract.partner))
    match, before = state.match, state.scores
    out = [seat for seat in range(SEATS) if before[seat] < scoring.OUT <= totals[seat]]
    went_out = tuple([match.hand_number if seat in out else number for seat, number in enumerate(match.went_out)])
    buck = scoring.buck(totals)
    facts.append(_round_ended(state, result, totals))
    facts += [Marked("went_out", seat, str(match.hand_number)) for seat in out]
    phase = "deal" if buck is None else "over"
    facts.append(TurnChanged(phase, ()))
    match = match._replace(totals=totals, went_out=went_out, deals=0)
    state = state._replace(match=match, phase=phase, to_act=NOBODY)
    if buck is not None:
        facts.append(GameEnded(state.ranking, "buck"))
    return state, tuple(facts)


def _round_ended(state: "SoloState", result: Result, totals: tuple[int, ...]) -> RoundEnded:
    points = tuple([after - before for before, after in zip(state.scores, totals, strict=True)])
    return RoundEnded(
        state.match.hand_number,
        points,
        totals,
        summary.notes(state, totals),
        summary.headline(state, result),
        summary.details(state, result),
        summary.counts(state, result, totals),
    )
