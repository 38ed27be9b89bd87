"""Decisions on a table: pure functions from its state and a request to transitions, or to a refusal.

`at` and `now` are times in milliseconds since 1970 UTC. Transitions include those of the shuffles that follow.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from croupier.engine.core.clock import NOT_WAITING, Absence, abandoned_at
from croupier.engine.core.compensation import Outage, compensation_due
from croupier.engine.core.fold import ABANDONED, TableState, Transition, advance, open_at, refusal_of
from croupier.engine.core.log import ActedBy, AwaySet, ProposalEvent, Proposed, TableConfig, TableEnded, Voted
from croupier.games.facts import Seat
from croupier.games.interface import IllegalAction, ProposalAgreed, SeatActed
from croupier.runtime.errors import IllegalNow, LimitReached, MalformedRequest, StaleSequence
from croupier_api.v1 import errors_pb2

PROPOSAL_MILLISECONDS = 30_000
"""A proposal expires after this long unless all seats have agreed with it."""
MAX_ASKED = 3
MAX_SHOWN_CHARACTERS = 64
WINDOW_MILLISECONDS = 60_000
"""A seat makes at most MAX_ASKED proposals within this time, and leaves as often, or its entries would fill the log."""


class TableLimits(NamedTuple):
    """The limits of the operator: the entries and the scored rounds with which a table ends if its game has not."""

    max_entries: int
    max_rounds: int


# Actions


def action(
    config: TableConfig,
    table: TableState,
    now: int,
    acted: SeatActed,
    request_id: str,
    expected_sequence: int | None,
    outages: Iterable[Outage],
) -> list[Transition]:
    """Return the transitions of a player's action; first the compensation for outages, if it exceeds its action time.

    Raises StaleSequence unless the table has the sequence that the player expects, and IllegalNow.
    """
    if expected_sequence is not None and expected_sequence != table.sequence:
        raise StaleSequence(
            errors_pb2.ERROR_REASON_STALE_SEQUENCE,
            f"invalid expected_sequence {expected_sequence}: expected {table.sequence}, the table has moved on",
            metadata={"sequence": str(table.sequence)},
        )
    refuse_if_over(table)
    clock, seat = table.clock, acted.seat
    since = clock.since[seat]
    is_late = since != NOT_WAITING and now - since > config.clock.action_milliseconds and not clock.absences[seat]
    compensated = _compensation(config, table, now, outages) if is_late else []
    state = compensated[-1].after if compensated else table
    try:
        return compensated + advance(config, state, now, acted, request_id=request_id)
    except IllegalAction as refusal:
        is_to_act = seat in table.seats_to_act
        reason = errors_pb2.ERROR_REASON_ILLEGAL_ACTION if is_to_act else errors_pb2.ERROR_REASON_NOT_YOUR_TURN
        raise IllegalNow(reason, str(refusal), metadata={"rule": refusal.rule}) from None


def refuse_if_over(table: TableState) -> None:
    """Raise IllegalNow if the game is over."""
    if table.is_over:
        raise IllegalNow(errors_pb2.ERROR_REASON_TABLE_FINISHED, "the game of the table is over")


def _compensation(config: TableConfig, table: TableState, now: int, outages: Iterable[Outage]) -> list[Transition]:
    due = compensation_due(table.clock, now, outages)
    return advance(config, table, now, due) if due else []


# Proposals and votes


def proposal(
    config: TableConfig, table: TableState, now: int, proposed: Proposed, request_id: str, proposed_at: Sequence[int]
) -> list[Transition]:
    """Return the transitions of a proposal, and of its execution if no other seat has to vote.

    `proposed_at` has the times of the seat's last MAX_ASKED proposals, in order.
    Raises MalformedRequest for a proposal that the game does not have, IllegalNow for one that it cannot execute now or
    while another is open, LimitReached for too many.
    """
    refuse_if_over(table)
    at = max(now, table.at)
    known = table.rules.proposals
    if proposed.proposal not in known:
        expected = " or ".join(known) or "none, since the game has no proposals"
        raise MalformedRequest(
            errors_pb2.ERROR_REASON_UNKNOWN_PROPOSAL,
            f"invalid proposal {proposed.proposal[:MAX_SHOWN_CHARACTERS]!r}: expected {expected}",
            field="proposal",
        )
    if pending := open_at(table.proposal, at):
        raise IllegalNow(
            errors_pb2.ERROR_REASON_PROPOSAL_PENDING,
            f"{pending.name} is proposed already: vote on it, or wait until it ends",
            metadata={"sequence": str(pending.sequence)},
        )
    _check_rate(proposed_at, at, errors_pb2.ERROR_REASON_TOO_MANY_PROPOSALS, "proposals")
    if refusal := refusal_of(table.rules, table.game, proposed.proposal):
        raise IllegalNow(errors_pb2.ERROR_REASON_ILLEGAL_ACTION, str(refusal), metadata={"rule": refusal.rule})
    lasting = proposed._replace(expires_at=at + PROPOSAL_MILLISECONDS)
    return _with_agreement(config, table, at, lasting, request_id)


def vote(config: TableConfig, table: TableState, now: int, voted: Voted, request_id: str) -> list[Transition]:
    """Return the transitions of a vote, and of the execution of its proposal if all seats agree now.

    Raises IllegalNow if that proposal is not open, or the seat has agreed with it already.
    """
    refuse_if_over(table)
    at, pending = max(now, table.at), table.proposal
    if pending is None:
        raise IllegalNow(errors_pb2.ERROR_REASON_NO_PROPOSAL, "no proposal waits for votes")
    if voted.proposal_sequence != pending.sequence:
        raise IllegalNow(
            errors_pb2.ERROR_REASON_PROPOSAL_REPLACED,
            f"invalid proposal_sequence {voted.proposal_sequence}: expected {pending.sequence}",
            metadata={"sequence": str(pending.sequence)},
        )
    if open_at(pending, at) is None:
        raise IllegalNow(errors_pb2.ERROR_REASON_PROPOSAL_EXPIRED, "the time of this proposal is up: create it again")
    if voted.seat in pending.agreed:
        raise IllegalNow(
            errors_pb2.ERROR_REASON_ALREADY_VOTED, f"seat {voted.seat} has agreed with this proposal already"
        )
    return _with_agreement(config, table, at, voted, request_id)


def is_agreed(config: TableConfig, table: TableState, now: int) -> bool:
    """Return whether every seat agrees with an open proposal; seats that the engine plays for always do."""
    pending = open_at(table.proposal, max(now, table.at))
    if pending is None:
        return False
    away = (seat for seat, absence in enumerate(table.clock.absences) if absence)
    return len(pending.agreed.union(away)) == config.seat_count


def agreement(config: TableConfig, table: TableState, now: int) -> list[Transition]:
    """Return the transitions of the execution of an agreed proposal; none if seats disagree."""
    if table.proposal is None or not is_agreed(config, table, now):
        return []
    return advance(config, table, now, ProposalAgreed(table.proposal.name))


def _with_agreement(
    config: TableConfig, table: TableState, at: int, event: ProposalEvent | AwaySet, request_id: str
) -> list[Transition]:
    transitions = advance(config, table, at, event, request_id=request_id)
    return transitions + agreement(config, transitions[-1].after, at)


def _check_rate(asked_at: Sequence[int], at: int, reason: errors_pb2.ErrorReason.ValueType, what: str) -> None:
    recent = [time for time in asked_at if time > at - WINDOW_MILLISECONDS]
    if len(recent) >= MAX_ASKED:
        raise LimitReached(
            reason,
            f"too many {what}: expected at most {MAX_ASKED} in {WINDOW_MILLISECONDS // 1000} seconds",
            retry_after_seconds=(recent[-MAX_ASKED] + WINDOW_MILLISECONDS - at) / 1000,
            metadata={"limit": "seat_requests"},
        )


# Seats that their players leave


def away(
    config: TableConfig, table: TableState, now: int, asked: AwaySet, request_id: str, left_at: Sequence[int]
) -> list[Transition]:
    """Return the transitions of a player who leaves their seat to the engine, or returns; none if that changes nothing.

    A seat that left agrees with an open proposal. `left_at` has the times at which the seat left last, in order. Raises
    IllegalNow after the end of the game, and LimitReached for leaving too often; returning has no limit.
    """
    refuse_if_over(table)
    at, has_left = max(now, table.at), table.clock.absences[asked.seat] >= Absence.LEFT
    if asked.is_away:
        if has_left:
            return []
        _check_rate(left_at, at, errors_pb2.ERROR_REASON_TOO_MANY_DEPARTURES, "departures")
    elif not table.clock.absences[asked.seat]:
        return []
    return _with_agreement(config, table, at, asked, request_id)


# The end of a seat's time, and of a table


def is_abandoned(config: TableConfig, table: TableState) -> bool:
    """Return whether the next deadline of a table is its end, because all people are away."""
    return table.due is not None and table.due.at == abandoned_at(table.clock, config.clock, config.seats)


def counts_outages(config: TableConfig, table: TableState, seat: Seat) -> bool:
    """Return whether the time of a seat is prolonged by outages: a seat that is away gets none back."""
    return is_abandoned(config, table) or not table.clock.absences[seat]


def time_out(
    config: TableConfig, table: TableState, now: int, acted: SeatActed, outages: Iterable[Outage]
) -> list[Transition]:
    """Return the transitions of a seat whose time has run out, with the action of the engine for it.

    If an outage took part of the time, that is compensated instead. An abandoned table ends.
    """
    if counts_outages(config, table, acted.seat) and (compensated := _compensation(config, table, now, outages)):
        return compensated
    if is_abandoned(config, table):
        return advance(config, table, now, TableEnded(ABANDONED))
    return advance(config, table, now, acted, ActedBy.TIMEOUT)


def end(config: TableConfig, table: TableState, rounds: int, limits: TableLimits) -> list[Transition]:
    """Return the end of a table that has reached a limit of the operator; none for any other."""
    is_last_round = rounds >= limits.max_rounds
    if table.is_over or (table.sequence < limits.max_entries and not is_last_round):
        return []
    return advance(config, table, table.at, TableEnded("rounds" if is_last_round else "entries"))
