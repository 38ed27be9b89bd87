"""Proposals and votes: their checks and their transitions."""

from collections.abc import Sequence

from croupier.engine.core.fold import TableState, Transition, advance
from croupier.engine.core.log import ProposalEvent, Proposed, TableConfig, Voted
from croupier.engine.core.proposals import PROPOSAL_MILLISECONDS, OpenProposal, open_at, refusal_of
from croupier.games.interface import ProposalAgreed
from croupier.games.registry import rules_of
from croupier.runtime.errors import IllegalNow, LimitReached, MalformedRequest
from croupier_api.v1 import errors_pb2

MAX_PROPOSALS = 3
MAX_SHOWN_CHARACTERS = 64
WINDOW_MILLISECONDS = 60_000
"""A seat makes at most MAX_PROPOSALS within this time, so that they neither fill the log nor annoy other players."""


def transitions_of_proposal(
    config: TableConfig,
    table: TableState,
    proposed_at: Sequence[int],
    at: int,
    proposed: Proposed,
    request_id: str,
) -> list[Transition]:
    """Return the transitions of a proposal, and of its execution if no other seat has to vote.

    `proposed_at` has the times of the seat's last MAX_PROPOSALS proposals, in order.
    Raises MalformedRequest for a proposal that the game does not have, IllegalNow for one that it cannot execute now or
    while another is open, LimitReached for too many.
    """
    at = max(at, table.at)
    _check_name(config, proposed.proposal)
    if proposal := open_at(table.proposal, at):
        raise IllegalNow(
            errors_pb2.ERROR_REASON_PROPOSAL_PENDING,
            f"{proposal.name} is proposed already: vote on it, or wait until it ends",
            metadata={"sequence": str(proposal.sequence)},
        )
    _check_rate(proposed_at, at)
    if refusal := refusal_of(table.rules, table.game, proposed.proposal):
        raise IllegalNow(errors_pb2.ERROR_REASON_ILLEGAL_ACTION, str(refusal), metadata={"rule": refusal.rule})
    lasting = proposed._replace(expires_at=at + PROPOSAL_MILLISECONDS)
    return _transitions_of(config, table, at, lasting, request_id)


def transitions_of_vote(
    config: TableConfig, table: TableState, at: int, vote: Voted, request_id: str
) -> list[Transition]:
    """Return the transitions of a vote, and of the execution of its proposal if all seats agree now.

    Raises IllegalNow if that proposal is not open, or the seat has agreed with it already.
    """
    at = max(at, table.at)
    proposal = _voted_on(table, at, vote)
    if vote.seat in proposal.agreed:
        raise IllegalNow(
            errors_pb2.ERROR_REASON_ALREADY_VOTED, f"seat {vote.seat} has agreed with this proposal already"
        )
    return _transitions_of(config, table, at, vote, request_id)


def is_agreed(config: TableConfig, table: TableState, at: int) -> bool:
    """Return whether every seat agrees with an open proposal; seats that the engine plays for always do."""
    proposal = open_at(table.proposal, max(at, table.at))
    if proposal is None:
        return False
    away = (seat for seat, is_away in enumerate(table.clock.away) if is_away)
    return len(proposal.agreed.union(away)) == config.seat_count


def transitions_when_agreed(config: TableConfig, table: TableState, at: int) -> list[Transition]:
    """Return the transitions of the execution of an agreed proposal, shuffles included; none if seats disagree."""
    if table.proposal is None or not is_agreed(config, table, at):
        return []
    return advance(config, table, at, ProposalAgreed(table.proposal.name))


def _transitions_of(
    config: TableConfig, table: TableState, at: int, event: ProposalEvent, request_id: str
) -> list[Transition]:
    transitions = advance(config, table, at, event, request_id=request_id)
    return transitions + transitions_when_agreed(config, transitions[-1].after, at)


def _check_name(config: TableConfig, name: str) -> None:
    known = rules_of(config.game, config.rules_version).proposals
    if name not in known:
        expected = " or ".join(known) or "none, since the game has no proposals"
        raise MalformedRequest(
            errors_pb2.ERROR_REASON_UNKNOWN_PROPOSAL,
            f"invalid proposal {name[:MAX_SHOWN_CHARACTERS]!r}: expected {expected}",
            field="proposal",
        )


def _check_rate(proposed_at: Sequence[int], at: int) -> None:
    recent = [time for time in proposed_at if time > at - WINDOW_MILLISECONDS]
    if len(recent) >= MAX_PROPOSALS:
        raise LimitReached(
            errors_pb2.ERROR_REASON_TOO_MANY_PROPOSALS,
            f"too many proposals: expected at most {MAX_PROPOSALS} in {WINDOW_MILLISECONDS // 1000} seconds",
            retry_after_seconds=(recent[-MAX_PROPOSALS] + WINDOW_MILLISECONDS - at) / 1000,
            metadata={"limit": "seat_requests"},
        )


def _voted_on(table: TableState, at: int, vote: Voted) -> OpenProposal:
    proposal = table.proposal
    if proposal is None:
        raise IllegalNow(errors_pb2.ERROR_REASON_NO_PROPOSAL, "no proposal waits for votes")
    if vote.proposal_sequence != proposal.sequence:
        raise IllegalNow(
            errors_pb2.ERROR_REASON_PROPOSAL_REPLACED,
            f"invalid proposal_sequence {vote.proposal_sequence}: expected {proposal.sequence}",
            metadata={"sequence": str(proposal.sequence)},
        )
    if open_at(proposal, at) is None:
        raise IllegalNow(errors_pb2.ERROR_REASON_PROPOSAL_EXPIRED, "the time of this proposal is up: create it again")
    return proposal
