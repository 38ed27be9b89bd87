"""The open proposal of a table, folded from its log; the game receives an event only when all seats have agreed."""

from collections.abc import Iterable
from typing import NamedTuple

from croupier.engine.core.log import Entry, Proposed, TableConfig, Voted
from croupier.games.facts import Fact, RoundEnded, Seat
from croupier.games.interface import Game, IllegalAction, ProposalAgreed, State


class OpenProposal(NamedTuple):
    """A proposal, its proposer, and the seats that have agreed so far; computer players always agree."""

    sequence: int
    name: str
    proposer: Seat
    agreed: frozenset[Seat]
    expires_at: int


def open_at(proposal: OpenProposal | None, at: int) -> OpenProposal | None:
    """Return the proposal unless it has expired at `at`, in milliseconds since 1970 UTC."""
    return proposal if proposal is not None and at < proposal.expires_at else None


def proposal_after_vote(config: TableConfig, before: OpenProposal | None, entry: Entry) -> OpenProposal | None:
    """Return the open proposal after a seat proposed or voted; one refusal ends it."""
    match entry.event:
        case Proposed(seat, name, expires_at):
            agreed = {other for other, who in enumerate(config.seats) if who.bot or other == seat}
            return OpenProposal(entry.sequence, name, seat, frozenset(agreed), expires_at)
        case Voted(seat, _, agree=True) if before is not None:
            return before._replace(agreed=before.agreed | {seat})
    return None


def proposal_after_event(
    before: OpenProposal | None, entry: Entry, rules: Game, game: State, facts: Iterable[Fact]
) -> OpenProposal | None:
    """Return the open proposal after an event of the game.

    It ends when it expires, with the round, when it is executed, and when the game cannot execute it any more.
    """
    proposal = open_at(before, entry.at)
    if proposal is None or isinstance(entry.event, ProposalAgreed):
        return None
    if any(isinstance(fact, RoundEnded) for fact in facts):
        return None
    return proposal if refusal_of(rules, game, proposal.name) is None else None


def refusal_of(rules: Game, game: State, name: str) -> IllegalAction | None:
    """Return the refusal of a proposal that the game cannot execute now, None if it can."""
    try:
        rules.apply(game, ProposalAgreed(name))
    except IllegalAction as refusal:
        return refusal
    return None
