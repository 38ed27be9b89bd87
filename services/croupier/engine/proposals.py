"""What is proposed at a table: a fold over its log, beside the game, which hears of it only when all have agreed."""

from collections.abc import Iterable
from typing import NamedTuple

from croupier.engine.log import Entry, Proposed, TableConfig, Voted
from croupier.games.facts import Fact, RoundEnded, Seat
from croupier.games.interface import IllegalAction, ProposalAgreed, State

PROPOSAL_MILLISECONDS = 30_000
"""A proposal that not all have agreed to by then goes."""


class OpenProposal(NamedTuple):
    """What is proposed, by whom, and who has agreed so far, computer players always; votes call it by `sequence`."""

    sequence: int
    name: str
    proposer: Seat
    agreed: frozenset[Seat]
    expires_at: int


def open_at(proposal: OpenProposal | None, at: int) -> OpenProposal | None:
    """The proposal if its time is not over at `at`, in milliseconds since 1970 UTC."""
    return proposal if proposal is not None and at < proposal.expires_at else None


def proposal_after_said(config: TableConfig, before: OpenProposal | None, entry: Entry) -> OpenProposal | None:
    """What is proposed after a seat proposed or voted; one refusal ends it."""
    match entry.event:
        case Proposed(seat, name, expires_at):
            agreed = {other for other, who in enumerate(config.seats) if who.bot or other == seat}
            return OpenProposal(entry.sequence, name, seat, frozenset(agreed), expires_at)
        case Voted(seat, _, agree=True) if before is not None:
            return before._replace(agreed=before.agreed | {seat})
    return None


def proposal_after_event(
    before: OpenProposal | None, entry: Entry, game: State, facts: Iterable[Fact]
) -> OpenProposal | None:
    """What is proposed after an event of the game; it goes with its time or round, and when it happens or cannot."""
    proposal = open_at(before, entry.at)
    if proposal is None or isinstance(entry.event, ProposalAgreed):
        return None
    if any(isinstance(fact, RoundEnded) for fact in facts):
        return None
    return proposal if refusal_of(game, proposal.name) is None else None


def refusal_of(game: State, name: str) -> IllegalAction | None:
    """Why what is proposed cannot happen now, None if it can."""
    try:
        game.apply(ProposalAgreed(name))
    except IllegalAction as refusal:
        return refusal
    return None
