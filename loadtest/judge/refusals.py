"""Whether what was refused had to be, whether it was refused rightly, and whether nothing else was accepted."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from grpc import StatusCode

from loadtest.judge.log import Log
from loadtest.judge.notation import act_sent, allows, legal_of
from loadtest.judge.proof import Position
from loadtest.judge.reach import Reach, Timeline
from loadtest.judge.rules.interface import Act, Legal
from loadtest.judge.rules.pages import is_known_rule
from loadtest.judge.streams import Followed
from loadtest.judge.violations import Found, Invariant
from loadtest.record import Answered, Sent

_BY_THE_GAME = frozenset({"ILLEGAL_ACTION", "NOT_YOUR_TURN"})
_CODES: Mapping[str, int] = {
    **dict.fromkeys((*_BY_THE_GAME, "TABLE_FINISHED"), StatusCode.FAILED_PRECONDITION.value[0]),
    "STALE_SEQUENCE": StatusCode.ABORTED.value[0],
}
_BY_THE_WAY = {code.value[0] for code in (StatusCode.CANCELLED, StatusCode.DEADLINE_EXCEEDED, StatusCode.UNAVAILABLE)}
"""What comes from connections and need not have a reason."""
BY_CIRCUMSTANCES = _BY_THE_WAY | {StatusCode.RESOURCE_EXHAUSTED.value[0], StatusCode.UNAUTHENTICATED.value[0]}
"""What connections, limits and tokens answer: no judgement of the action."""


@dataclass(frozen=True, slots=True)
class Bench:
    """What answers to one player's actions are judged by."""

    one: Followed
    log: Log
    timeline: Timeline
    numbers: Mapping[int, int]
    positions: Mapping[int, Position]
    """The judge's own, by the number in the replay; empty where there is no proof."""

    def legal_at(self, sequence: int) -> Legal | None:
        """What the player may do at a sequence: by the rules, or else as he was told; None where nobody knows."""
        position = self.positions.get(self.numbers.get(sequence, -1))
        if position is not None:
            return position.legal.get(-1 if self.one.seat is None else self.one.seat, Legal([], []))
        moment = self.one.moments.get(sequence)
        return legal_of(moment.legal_actions) if moment is not None else None

    def fits(self, reason: str, act: Act, sequence: int) -> bool:
        """Whether a refusal for this reason is right at a sequence; True where nobody knows."""
        legal, to_act = self.legal_at(sequence), self.log.seats_to_act(sequence)
        if legal is None or to_act is None:
            return True
        if reason == "NOT_YOUR_TURN":
            return self.one.seat not in to_act
        return self.one.seat in to_act and not allows(legal, act)

    def is_legal(self, act: Act, sequence: int) -> bool:
        """Whether an action is known to be legal at a sequence."""
        legal = self.legal_at(sequence)
        return legal is not None and allows(legal, act)


def judged(bench: Bench, sent: Sent, answer: Answered) -> Iterator[Found]:
    """What is wrong with an answer to an action."""
    if answer.sequence is None:
        yield from _refusal_wrong(bench, sent, answer)
    elif sent.expected is not None:
        if not _became_legal(bench, sent, answer.sequence):
            detail = f"{bench.one.name}: {sent.expected.name} was accepted as {answer.sequence}"
            yield Invariant.ILLEGAL_ACCEPTED, answer.sequence, f"{detail}, {sent.expected.reason} was due"
    else:
        act, legal = act_sent(sent.action), bench.legal_at(answer.sequence - 1)
        if legal is not None and not allows(legal, act):
            detail = f"{bench.one.name}: {act} was accepted, and was not legal after {answer.sequence - 1}"
            yield Invariant.ILLEGAL_ACCEPTED, answer.sequence, detail


def _became_legal(bench: Bench, sent: Sent, sequence: int) -> bool:
    """Whether what was illegal when it was sent was not any more when it was judged."""
    assert sent.expected is not None
    is_current = sent.expected_sequence in (None, sequence - 1)
    act = act_sent(sent.action)
    return sent.expected.reason in _BY_THE_GAME and is_current and bench.is_legal(act, sequence - 1)


def _refusal_wrong(bench: Bench, sent: Sent, answer: Answered) -> Iterator[Found]:
    name, at = bench.one.name, sent.expected_sequence or 0
    is_told = (sent.expected is not None and not sent.expected.reason) or answer.code in _BY_THE_WAY
    if not is_told and not (answer.reason and answer.message.strip() and answer.code):
        detail = f"{name}: refused with code {answer.code}, reason {answer.reason!r}, message {answer.message!r}"
        yield Invariant.REFUSAL_WITHOUT_REASON, at, detail
    if answer.reason in _BY_THE_GAME and not answer.rule:
        yield Invariant.REFUSAL_WITHOUT_RULE, at, f"{name}: {answer.reason} names no rule"
    elif answer.reason in _BY_THE_GAME and not is_known_rule(bench.log.info.game, answer.rule):
        detail = f"{answer.rule} does not stand on the page of {bench.log.info.game}"
        yield Invariant.REFUSAL_WITHOUT_RULE, at, detail
    if answer.reason in _CODES and answer.code != _CODES[answer.reason]:
        yield Invariant.WRONG_REFUSAL, at, f"{name}: {answer.reason} came with code {answer.code}"
    if sent.expected is not None:
        yield from _unexpected(bench, sent, answer)
    elif answer.code not in BY_CIRCUMSTANCES:
        yield from _unexcused(bench, sent, answer)


def _unexpected(bench: Bench, sent: Sent, answer: Answered) -> Iterator[Found]:
    """A refusal that is not the one that had to come, nor one that the table, moving on meanwhile, made of it."""
    expected = sent.expected
    assert expected is not None
    if (answer.code, answer.reason) == (expected.code, expected.reason) or answer.code in BY_CIRCUMSTANCES:
        return
    may_change = expected.reason in (*_BY_THE_GAME, "TABLE_FINISHED")
    if may_change and answer.reason in _CODES and not list(_unexcused(bench, sent, answer)):
        return
    detail = f"{bench.one.name}: {expected.name} was refused with {answer.reason or answer.code}"
    yield Invariant.WRONG_REFUSAL, sent.expected_sequence or 0, f"{detail}, {expected.reason or expected.code} was due"


def _unexcused(bench: Bench, sent: Sent, answer: Answered) -> Iterator[Found]:
    """A refusal for which the log shows no cause."""
    reach, expected = bench.timeline.reach(sent, answer), sent.expected_sequence
    act, name = act_sent(sent.action), bench.one.name
    match answer.reason:
        case "STALE_SEQUENCE":
            if expected is None or (reach.is_certain and reach.last <= expected):
                yield Invariant.LEGAL_REFUSED, expected or 0, f"{name}: refused as stale, and nothing had happened"
        case "TABLE_FINISHED":
            ended = bench.log.ended
            if reach.is_certain and (ended is None or reach.last < ended):
                yield Invariant.LEGAL_REFUSED, reach.last, f"{name}: the game is not over"
        case "NOT_YOUR_TURN" | "ILLEGAL_ACTION":
            yield from _unexcused_by_rules(bench, act, answer, expected, reach)
        case reason:
            yield Invariant.WRONG_REFUSAL, expected or 0, f"{name}: {act} was refused with {reason or answer.code}"


def _unexcused_by_rules(
    bench: Bench, act: Act, answer: Answered, expected: int | None, reach: Reach
) -> Iterator[Found]:
    if expected is None and not reach.is_certain:
        return
    sequences = [expected] if expected is not None else list(reach.sequences)
    if any(bench.fits(answer.reason, act, sequence) for sequence in sequences):
        return
    is_legal = all(bench.is_legal(act, sequence) for sequence in sequences)
    invariant = Invariant.LEGAL_REFUSED if is_legal else Invariant.WRONG_REFUSAL
    detail = f"{bench.one.name}: {act} was refused with {answer.reason} {answer.rule}"
    yield invariant, sequences[0], f"{detail} at {sequences[0]} to {sequences[-1]}"
