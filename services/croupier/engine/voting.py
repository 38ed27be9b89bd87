"""Proposing and voting: what a seat may say now, and the entries that it makes."""

from collections.abc import Sequence
from itertools import takewhile

from croupier.engine.log import Entry, Proposed, Said, TableConfig, Voted
from croupier.engine.proposals import PROPOSAL_MILLISECONDS, OpenProposal, open_at, refusal_of
from croupier.engine.table import Step, TableState, advance
from croupier.games.catalogue import rules_of
from croupier.games.facts import Seat
from croupier.games.interface import ProposalAgreed
from croupier.runtime.errors import IllegalNow, LimitReached, MalformedRequest

MOST_PROPOSALS = 3
WINDOW_MILLISECONDS = 60_000
"""A seat makes at most MOST_PROPOSALS within this time, so that nobody fills the log, or nags, with them."""


def steps_of_proposal(
    config: TableConfig,
    table: TableState,
    entries: Sequence[Entry],
    at: int,
    proposed: Proposed,
    request_id: str,
) -> list[Step]:
    """The steps that a proposal makes; if all agree, because nobody else is left to ask, it happens at once.

    Raises MalformedRequest for what the game does not know, IllegalNow for what it cannot do now or while another
    proposal is open, LimitReached.
    """
    at = max(at, table.at)
    _check_name(config, proposed.proposal)
    if proposal := open_at(table.proposal, at):
        raise IllegalNow(
            "PROPOSAL_OPEN",
            f"{proposal.name} is proposed already: vote on it, or wait until it has gone",
            metadata={"sequence": str(proposal.sequence)},
        )
    _check_frequency(entries, at, proposed.seat)
    if refusal := refusal_of(table.game, proposed.proposal):
        raise IllegalNow("ILLEGAL_ACTION", str(refusal), metadata={"rule": refusal.rule})
    lasting = proposed._replace(expires_at=at + PROPOSAL_MILLISECONDS)
    return _steps_of(config, table, at, lasting, request_id)


def steps_of_vote(config: TableConfig, table: TableState, at: int, vote: Voted, request_id: str) -> list[Step]:
    """The steps that a vote makes; if all agree with it, what was proposed happens.

    Raises IllegalNow if that proposal is not open, or the seat has agreed with it already.
    """
    at = max(at, table.at)
    proposal = _voted_on(table, at, vote)
    if vote.seat in proposal.agreed:
        raise IllegalNow("ALREADY_VOTED", f"seat {vote.seat} has agreed with this proposal already")
    return _steps_of(config, table, at, vote, request_id)


def is_agreed(config: TableConfig, table: TableState, at: int) -> bool:
    """Whether something is proposed and every seat has agreed with it, or is one that the engine plays for."""
    proposal = open_at(table.proposal, max(at, table.at))
    if proposal is None:
        return False
    away = (seat for seat, is_away in enumerate(table.clock.away) if is_away)
    return len(proposal.agreed.union(away)) == config.seat_count


def steps_when_agreed(config: TableConfig, table: TableState, at: int) -> list[Step]:
    """What happens now that all agree with what is proposed, with the shuffles that follow; nothing if they do not."""
    if table.proposal is None or not is_agreed(config, table, at):
        return []
    return advance(config, table, at, ProposalAgreed(table.proposal.name))


def _steps_of(config: TableConfig, table: TableState, at: int, said: Said, request_id: str) -> list[Step]:
    steps = advance(config, table, at, said, request_id=request_id)
    return steps + steps_when_agreed(config, steps[-1].after, at)


def _check_name(config: TableConfig, name: str) -> None:
    known = rules_of(config.game, config.rules_version).proposals
    if name not in known:
        there_is = f"there is {', '.join(known)}" if known else "in this game there is none"
        raise MalformedRequest("UNKNOWN_PROPOSAL", f"there is no such proposal: {there_is}", field="proposal")


def _check_frequency(entries: Sequence[Entry], at: int, seat: Seat) -> None:
    recent = takewhile(lambda entry: entry.at > at - WINDOW_MILLISECONDS, reversed(entries))
    made = [entry.at for entry in recent if isinstance(entry.event, Proposed) and entry.event.seat == seat]
    if len(made) >= MOST_PROPOSALS:
        raise LimitReached(
            "TOO_MANY_PROPOSALS",
            f"{MOST_PROPOSALS} proposals in {WINDOW_MILLISECONDS // 1000} seconds are allowed: wait a while",
            retry_after_seconds=(made[MOST_PROPOSALS - 1] + WINDOW_MILLISECONDS - at) / 1000,
        )


def _voted_on(table: TableState, at: int, vote: Voted) -> OpenProposal:
    proposal = table.proposal
    if proposal is None:
        raise IllegalNow("NOTHING_PROPOSED", "nothing is proposed that could be voted on")
    if vote.proposal_sequence != proposal.sequence:
        raise IllegalNow(
            "ANOTHER_PROPOSAL",
            f"entry {vote.proposal_sequence} is not what is proposed now, entry {proposal.sequence} is",
            metadata={"sequence": str(proposal.sequence)},
        )
    if open_at(proposal, at) is None:
        raise IllegalNow("PROPOSAL_EXPIRED", "the time of this proposal is over: propose it again")
    return proposal
