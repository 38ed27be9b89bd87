"""How a round of 101 ends: points, losers, who drops out, and whether the game is over."""

from typing import TYPE_CHECKING

from croupier.games.facts import Fact, GameEnded, HandRevealed, Marked, RoundEnded, SeatOut, TurnChanged
from croupier.games.hands import cards_in
from croupier.games.one_oh_one import scoring
from croupier.games.one_oh_one.match import Match, around, circle

if TYPE_CHECKING:
    from croupier.games.one_oh_one.state import OneOhOneState


def finished(state: "OneOhOneState", facts: list[Fact]) -> "OneOhOneState":
    """The table after the round that somebody has won with the top card (101-LAST-1, 101-SCORE-1)."""
    match, table = state.match, state.table
    playing = around(match.following, match.starter)
    result = scoring.scored(table, match.totals, playing, state.hands, state.pile[-1].card)
    winner = result.winner
    dropping = scoring.by_score(result.losers, result.totals) if table.elimination else ()
    dropped = dropping + match.dropped
    reason = scoring.end_reason(table, match.round_number, result.losers, table.seats - sum(map(len, dropped)))
    after = Match(match.round_number, winner, result.totals, circle(table.seats, dropped), dropped, reason)
    state = state._replace(match=after)
    facts += [HandRevealed(seat, cards_in(hand)) for seat, hand in enumerate(state.hands) if hand]
    facts.append(_round_ended(match, result, table.elimination))
    places = scoring.places(table.seats, dropped)
    facts += [SeatOut(seat, places[seat]) for group in dropping for seat in group]
    if winner != match.starter:
        facts.append(Marked("starter", None, str(winner)))
    facts.append(TurnChanged(state.phase, ()))
    if reason:
        facts.append(GameEnded(state.ranking, reason))
    return state


def _round_ended(match: Match, result: scoring.Scored, elimination: bool) -> RoundEnded:
    return RoundEnded(
        match.round_number,
        result.points,
        result.totals,
        scoring.notes(result, elimination),
        scoring.headline(result),
        scoring.details(match.round_number, match.starter, result),
        scoring.counts(result),
    )
