"""The end of a round of 101: points, losers, seats that drop out, and perhaps the end of the game."""

from croupier.games.facts import (
    Fact,
    GameEnded,
    HandRevealed,
    Mark,
    MarkChanged,
    RoundEnded,
    RoundScore,
    SeatOut,
    TurnChanged,
)
from croupier.games.hands import cards_in
from croupier.games.one_oh_one import scoring
from croupier.games.one_oh_one.state import OneOhOneState, Progress, around, circle


def finished(state: OneOhOneState, facts: list[Fact]) -> OneOhOneState:
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
    facts += [HandRevealed(seat, cards_in(hand)) for seat, hand in enumerate(state.hands) if hand]
    facts.append(RoundEnded(_score(progress, result, options.elimination)))
    places = scoring.places(options.seats, dropped)
    facts += [SeatOut(seat, places[seat]) for group in dropping for seat in group]
    if winner != progress.starter:
        facts.append(MarkChanged(Mark("starter", None, str(winner))))
    facts.append(TurnChanged(state.phase, ()))
    if reason:
        facts.append(GameEnded(scoring.ranking(after), reason))
    return state


def _score(progress: Progress, result: scoring.Scored, elimination: bool) -> RoundScore:
    return RoundScore(
        progress.round_number,
        result.points,
        result.totals,
        scoring.notes(result, elimination),
        scoring.headline(result),
        scoring.details(progress.round_number, progress.starter, result),
        scoring.counts(result),
    )
