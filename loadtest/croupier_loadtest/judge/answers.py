"""Checks that every answer is correct, and that every acknowledged action is in the log as it was sent, once."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from grpc import StatusCode

from croupier_api.v1.errors_pb2 import ErrorReason
from croupier_loadtest.judge.clock import Absences, absences_shown
from croupier_loadtest.judge.log import Log, SequenceRange
from croupier_loadtest.judge.notation import act_sent, allows, canonical, cards_put, legal_of, reason_text
from croupier_loadtest.judge.rules.interface import Legal, ReplayAction
from croupier_loadtest.judge.streams import NOTIFICATION_MILLISECONDS, ViewerHistory
from croupier_loadtest.judge.verification import Position
from croupier_loadtest.judge.violations import Found, Invariant
from croupier_loadtest.record import Answered, Sent

Reason: TypeAlias = ErrorReason.ValueType
_BY_RULES = frozenset({ErrorReason.ERROR_REASON_ILLEGAL_ACTION, ErrorReason.ERROR_REASON_NOT_YOUR_TURN})
_MAY_CHANGE = _BY_RULES | {ErrorReason.ERROR_REASON_TABLE_FINISHED}
"""Reasons that depend on the sequence at which the engine judges an action."""
_CODES: Mapping[Reason, int] = {
    **dict.fromkeys(_MAY_CHANGE, StatusCode.FAILED_PRECONDITION.value[0]),
    ErrorReason.ERROR_REASON_STALE_SEQUENCE: StatusCode.ABORTED.value[0],
}
_BY_CONNECTION = {
    code.value[0] for code in (StatusCode.CANCELLED, StatusCode.DEADLINE_EXCEEDED, StatusCode.UNAVAILABLE)
}
"""Codes of broken connections, which need no reason."""
UNJUDGED_CODES = _BY_CONNECTION | {StatusCode.RESOURCE_EXHAUSTED.value[0], StatusCode.UNAUTHENTICATED.value[0]}
"""Codes of connections, limits and tokens, which do not depend on the action."""


@dataclass(frozen=True, slots=True)
class AnswerContext:
    """The context in which the answers to one player's actions are judged."""

    viewer: ViewerHistory
    log: Log
    lines: Mapping[int, Mapping[str, Any]]
    positions: Mapping[int, Position]
    """Lines of the replay, and positions by the judge's rules, by sequence, as StoredGame has them."""
    rules: frozenset[str]
    """The ids of the rules of the game; empty if they are not known."""

    def legal_at(self, sequence: int) -> Legal | None:
        """Return the player's legal actions at a sequence: by the rules, else by the view; None if neither is known."""
        position = self.positions.get(sequence)
        if position is not None:
            return position.legal.get(-1 if self.viewer.seat is None else self.viewer.seat) or Legal([], [])
        state = self.viewer.states.get(sequence)
        legal = state.legal_actions if state is not None else None
        return legal_of(legal) if legal is not None else None

    def fits(self, reason: Reason, act: ReplayAction, sequence: int) -> bool:
        """Return whether a refusal for this reason is correct at a sequence; True if that cannot be decided."""
        legal, to_act = self.legal_at(sequence), self.log.seats_to_act(sequence)
        if legal is None or to_act is None:
            return True
        if reason == ErrorReason.ERROR_REASON_NOT_YOUR_TURN:
            return self.viewer.seat not in to_act
        return self.viewer.seat in to_act and not allows(legal, act)

    def is_legal(self, act: ReplayAction, sequence: int) -> bool:
        """Return whether an action is known to be legal at a sequence."""
        legal = self.legal_at(sequence)
        return legal is not None and allows(legal, act)


def check_answer(context: AnswerContext, sent: Sent, answer: Answered) -> Iterator[Found]:
    """Yield the violations of an answer to an action."""
    if answer.sequence is None:
        yield from _check_refusal(context, sent, answer)
    elif sent.expected is not None:
        # What was illegal when it was sent may have been legal when the engine judged it.
        before = answer.sequence - 1
        may_be_legal = sent.expected.reason in _BY_RULES and sent.expected_sequence in (None, before)
        if not (may_be_legal and context.is_legal(act_sent(sent.action), before)):
            detail = f"{context.viewer.name}: {sent.expected.name} was accepted as {answer.sequence}"
            yield Invariant.ILLEGAL_ACCEPTED, answer.sequence, f"{detail}, {reason_text(sent.expected.reason)} was due"
    else:
        act, legal = act_sent(sent.action), context.legal_at(answer.sequence - 1)
        if legal is not None and not allows(legal, act):
            detail = f"{context.viewer.name}: {act} was accepted, and was not legal after {answer.sequence - 1}"
            yield Invariant.ILLEGAL_ACCEPTED, answer.sequence, detail


def _check_refusal(context: AnswerContext, sent: Sent, answer: Answered) -> Iterator[Found]:
    name, at, reason = context.viewer.name, sent.expected_sequence or 0, reason_text(answer.reason)
    needs_no_reason = (sent.expected is not None and not sent.expected.reason) or answer.code in _BY_CONNECTION
    if not needs_no_reason and not (answer.reason and answer.message.strip() and answer.code):
        detail = f"refused with code {answer.code}, reason {reason!r}, message {answer.message!r}"
        yield Invariant.REFUSAL_WITHOUT_REASON, at, f"{name}: {detail}"
    is_unknown = bool(context.rules) and answer.rule not in context.rules
    if answer.reason in _BY_RULES and (not answer.rule or is_unknown):
        detail = f"{name}: {reason} names {answer.rule!r}, no rule on the page of {context.log.info.game}"
        yield Invariant.REFUSAL_WITHOUT_RULE, at, detail
    if answer.reason in _CODES and answer.code != _CODES[answer.reason]:
        yield Invariant.WRONG_REFUSAL, at, f"{name}: {reason} came with code {answer.code}"
    if answer.code in UNJUDGED_CODES:
        return
    unexplained, expected = list(_unexplained_refusal(context, sent, answer)), sent.expected
    if expected is None:
        yield from unexplained
        return
    is_expected = (answer.code, answer.reason) == (expected.code, expected.reason)
    # Entries in the meantime may explain another refusal.
    if is_expected or (expected.reason in _MAY_CHANGE and answer.reason in _CODES and not unexplained):
        return
    due = reason_text(expected.reason) or expected.code
    detail = f"{name}: {expected.name} was refused with {reason or answer.code}, {due} was due"
    yield Invariant.WRONG_REFUSAL, at, detail


def _unexplained_refusal(context: AnswerContext, sent: Sent, answer: Answered) -> Iterator[Found]:
    """Yield a refusal without a cause in the log."""
    possible, expected = context.log.possible_sequences(sent, answer), sent.expected_sequence
    act, name = act_sent(sent.action), context.viewer.name
    match answer.reason:
        case ErrorReason.ERROR_REASON_STALE_SEQUENCE:
            if expected is None or (possible.is_certain and possible.last <= expected):
                yield Invariant.LEGAL_REFUSED, expected or 0, f"{name}: refused as stale without an entry since"
        case ErrorReason.ERROR_REASON_TABLE_FINISHED:
            ended = context.log.ended
            if possible.is_certain and (ended is None or possible.last < ended):
                yield Invariant.LEGAL_REFUSED, possible.last, f"{name}: the game is not over"
        case ErrorReason.ERROR_REASON_NOT_YOUR_TURN | ErrorReason.ERROR_REASON_ILLEGAL_ACTION:
            yield from _unexplained_by_rules(context, act, answer, expected, possible)
        case reason:
            detail = f"{name}: {act} was refused with {reason_text(reason) or answer.code}"
            yield Invariant.WRONG_REFUSAL, expected or 0, detail


def _unexplained_by_rules(
    context: AnswerContext, act: ReplayAction, answer: Answered, expected: int | None, possible: SequenceRange
) -> Iterator[Found]:
    if expected is None and not possible.is_certain:
        return
    sequences = [expected] if expected is not None else list(range(possible.first, possible.last + 1))
    if any(context.fits(answer.reason, act, sequence) for sequence in sequences):
        return
    is_legal = all(context.is_legal(act, sequence) for sequence in sequences)
    invariant = Invariant.LEGAL_REFUSED if is_legal else Invariant.WRONG_REFUSAL
    detail = f"{context.viewer.name}: {act} was refused with {reason_text(answer.reason)} {answer.rule}"
    yield invariant, sequences[0], f"{detail} at {sequences[0]} to {sequences[-1]}"


def check_answers(context: AnswerContext) -> Iterator[Found]:
    """Yield the violations of all answers to one player."""
    for request_id, answers in context.viewer.answered.items():
        sequences = sorted({answer.sequence for answer in answers if answer.sequence is not None})
        if len(sequences) > 1 and away_asked(context.viewer, request_id) is None:
            detail = f"{context.viewer.name}: one request was acknowledged as {sequences}"
            yield Invariant.REPEAT_DIFFERS, sequences[0], detail
        for sent, answer in _paired(context, context.viewer.sent.get(request_id, []), answers):
            was_acknowledged = any(
                one.sequence is not None and one.at_milliseconds <= sent.at_milliseconds for one in answers
            )
            is_refused = answer.sequence is None and answer.code not in UNJUDGED_CODES
            if was_acknowledged and is_refused and sent.expected is None:
                detail = f"an acknowledged request is refused with {reason_text(answer.reason)} when repeated"
                yield Invariant.REPEAT_DIFFERS, sequences[0], f"{context.viewer.name}: {detail}"
            else:
                yield from check_answer(context, sent, answer)


def _paired(
    context: AnswerContext, sent: Sequence[Sent], answers: Sequence[Answered]
) -> Iterator[tuple[Sent, Answered]]:
    """Yield each answer with its request: of several concurrent requests, one to which the answer is correct.

    A client sends an action again on a new stream, which is not recorded, so that a request that has its answer may get
    it once more after that.
    """
    waiting, opened = list(sent), [one.at_milliseconds for one in context.viewer.record.opened]
    for answer in sorted(answers, key=lambda one: one.at_milliseconds):
        under_way = [one for one in waiting if one.at_milliseconds <= answer.at_milliseconds] or list(sent[-1:])
        if not under_way:
            continue
        repeated = [one for one in sent if any(one.at_milliseconds < at <= answer.at_milliseconds for at in opened)]
        candidates = (*under_way, *repeated)
        request = next((one for one in candidates if not list(check_answer(context, one, answer))), under_way[0])
        # The client retries after these codes, and retries are not recorded.
        if request in waiting and answer.code not in UNJUDGED_CODES:
            waiting.remove(request)
        yield request, answer


def away_asked(viewer: ViewerHistory, request_id: str) -> bool | None:
    """Return whether a request asked to leave the seat or else to return to it; None for any other request."""
    tag, *values = viewer.requested[request_id][0].body if request_id in viewer.requested else ("",)
    return bool(values[0]) if tag == "away" else None


def needs_no_entry(viewer: ViewerHistory, answer: Answered, absences: Absences) -> bool:
    """Return whether a seat was as asked after the entry that the answer names, so that nothing had to be stored.

    `absences` are those after that entry. It must not be older than the last one that the player knew.
    """
    is_away = away_asked(viewer, answer.request_id)
    if is_away is None or answer.sequence is None or viewer.seat is None:
        return False
    asked = viewer.requested[answer.request_id][0].at_milliseconds
    known = max((one.sequence or 0 for one in viewer.record.answered if one.at_milliseconds < asked), default=0)
    return answer.sequence >= known and absences.are_as_asked(viewer.seat, is_away=is_away)


def check_acknowledgements(context: AnswerContext, *, has_rows: bool) -> Iterator[Found]:
    """Yield acknowledged actions, leaves and returns that are not in the log as they were sent.

    With rows, late views are not judged: an engine that hung may answer with an old state.
    """
    viewer = context.viewer
    for answer in viewer.record.answered:
        if answer.sequence is not None and (away := away_asked(viewer, answer.request_id)) is not None:
            yield from _acknowledged_away(context, answer, answer.sequence, is_away=away)
        if answer.sequence is None or answer.request_id not in viewer.sent:
            continue
        act = act_sent(viewer.sent[answer.request_id][0].action)
        difference = _not_there(context, answer.sequence, act)
        if difference is None and not has_rows:
            since = answer.at_milliseconds + 2 * NOTIFICATION_MILLISECONDS
            below = [viewed for at, viewed in context.log.view_times if at > since and viewed < answer.sequence]
            difference = f"and GetView was at {below[0]} long after that" if below else None
        if difference is not None:
            yield Invariant.ACKNOWLEDGED_LOST, answer.sequence, f"{act} was acknowledged to {viewer.name}, {difference}"


def _acknowledged_away(context: AnswerContext, answer: Answered, sequence: int, *, is_away: bool) -> Iterator[Found]:
    log, viewer = context.log, context.viewer
    entry, state = log.public.get(sequence), log.states.get(sequence)
    if entry is not None and (entry.seat, entry.is_away) == (viewer.seat, is_away):
        return
    is_missing = log.ended is not None and sequence > log.ended
    if is_missing or (state is not None and not needs_no_entry(viewer, answer, absences_shown(state.clock))):
        asked = "to leave" if is_away else "to return"
        yield Invariant.ACKNOWLEDGED_LOST, sequence, f"{viewer.name} asked {asked}, and the entry does not say so"


def _not_there(context: AnswerContext, sequence: int, act: ReplayAction) -> str | None:
    """Return the difference between an entry and an acknowledged action; None without any, or if it is unknown."""
    log, seat = context.log, context.viewer.seat
    entry, line = log.public.get(sequence), context.lines.get(sequence)
    if entry is not None and seat is not None:
        if entry.actor != seat or entry.by:
            return "the entry is not of this player"
        if (put := cards_put(act)) and entry.cards and entry.cards != put:
            return f"the entry shows {entry.cards}"
    elif log.ended is not None and sequence > log.ended:
        return f"and the game ended with {log.ended}"
    if line is not None:
        stored = line.get("seat"), canonical(line.get("action", {})), line.get("auto")
        if stored != (seat if seat is not None else line.get("seat"), canonical(act), None):
            return f"the replay has {dict(line)}"
    return None


def check_entries_requested(seat: int, contexts: Sequence[AnswerContext]) -> Iterator[Found]:
    """Yield entries of a seat, not by time-out, that its player did not request, or more than one for a request.

    `contexts` are all of this player at the table. An action without an answer of the engine may be stored once, and so
    may a leave or a return, also after the answer that it changes nothing.
    """
    acknowledged, unanswered = set[int](), list[ReplayAction | bool]()
    for viewer in (context.viewer for context in contexts):
        for request_id, sent in viewer.sent.items():
            answers = viewer.answered.get(request_id, [])
            sequences = {answer.sequence for answer in answers if answer.sequence is not None}
            acknowledged |= sequences
            if not sequences and not _is_refused(answers, len(sent)):
                unanswered.append(act_sent(sent[0].action))
        for request_id, requests in viewer.requested.items():
            away = away_asked(viewer, request_id)
            if away is not None and not _is_refused(viewer.answered.get(request_id, []), len(requests)):
                unanswered.append(away)
    log = contexts[0].log
    for sequence in log.requested_by(seat):
        if sequence in acknowledged and log.public[sequence].is_away is None:
            continue
        matching = next((asked for asked in unanswered if _can_be(contexts[0], sequence, asked)), None)
        if matching is None:
            detail = f"seat {seat} did not request this entry, or it is stored twice"
            yield Invariant.ACTION_DUPLICATED, sequence, detail
        else:
            unanswered.remove(matching)


def _is_refused(answers: Sequence[Answered], attempts: int) -> bool:
    """Return whether the engine has refused every attempt, with a reason."""
    return len(answers) >= attempts and all(one.sequence is None and one.code not in UNJUDGED_CODES for one in answers)


def _can_be(context: AnswerContext, sequence: int, asked: ReplayAction | bool) -> bool:
    """Return whether an entry can be this action, leave or return, as far as the entry is known."""
    entry = context.log.public[sequence]
    if isinstance(asked, bool) or entry.is_away is not None:
        return entry.is_away is asked
    if line := context.lines.get(sequence):
        return canonical(line.get("action", {})) == canonical(asked)
    put = cards_put(asked)
    return not (put and entry.cards) or entry.cards == put
