"""Every answer is the right one, and what was acknowledged stands in the log, as it was acknowledged and once."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from grpc import StatusCode

from loadtest.judge.log import Log, Reach, Timeline
from loadtest.judge.notation import act_sent, allows, canonical, legal_of
from loadtest.judge.proof import Position
from loadtest.judge.replay import Replay, played_card
from loadtest.judge.rules.interface import Act, Legal
from loadtest.judge.rules.pages import is_known_rule
from loadtest.judge.streams import NEWS_MILLISECONDS, Followed
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
        """What the player may do at a sequence: by the rules, or else by the view; None if neither is known."""
        position = self.positions.get(self.numbers.get(sequence, -1))
        if position is not None:
            return position.legal.get(-1 if self.one.seat is None else self.one.seat, Legal([], []))
        moment = self.one.moments.get(sequence)
        return legal_of(moment.legal_actions) if moment is not None else None

    def fits(self, reason: str, act: Act, sequence: int) -> bool:
        """Whether a refusal for this reason is right at a sequence; True if that cannot be decided."""
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
    if answer.reason in _BY_THE_GAME and not is_known_rule(bench.log.info.game, answer.rule):
        detail = f"{name}: {answer.reason} names {answer.rule!r}, no rule on the page of {bench.log.info.game}"
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


def answers_wrong(bench: Bench) -> Iterator[Found]:
    """What is wrong with the answers that one player got."""
    for request_id, answers in bench.one.answered.items():
        sequences = sorted({answer.sequence for answer in answers if answer.sequence is not None})
        if len(sequences) > 1:
            detail = f"{bench.one.name}: one request was acknowledged as {sequences}"
            yield Invariant.REPEAT_DIFFERS, sequences[0], detail
        for of, answer in _paired(bench, bench.one.sent.get(request_id, []), answers):
            if sequences and _is_repeat_refused(of, answer, answers):
                detail = f"{bench.one.name}: what was acknowledged is refused with {answer.reason} when it is repeated"
                yield Invariant.REPEAT_DIFFERS, sequences[0], detail
            else:
                yield from judged(bench, of, answer)


def _is_repeat_refused(of: Sent, answer: Answered, answers: Sequence[Answered]) -> bool:
    """Whether a request is refused that had been acknowledged already when it was sent again."""
    told_before = any(one.sequence is not None and one.at_milliseconds <= of.at_milliseconds for one in answers)
    is_refused = answer.sequence is None and answer.code not in BY_CIRCUMSTANCES
    return is_refused and told_before and of.expected is None


def _paired(bench: Bench, sent: Sequence[Sent], answers: Sequence[Answered]) -> Iterator[tuple[Sent, Answered]]:
    """Each answer with what it answers: of several requests under way at once one to which it is a right answer."""
    waiting = list(sent)
    for answer in sorted(answers, key=lambda one: one.at_milliseconds):
        under_way = [one for one in waiting if one.at_milliseconds <= answer.at_milliseconds] or list(sent[-1:])
        if not under_way:
            continue
        of = next((one for one in under_way if not list(judged(bench, one, answer))), under_way[0])
        # What was unavailable is sent again under its name, which is not noted again.
        if of in waiting and answer.code not in BY_CIRCUMSTANCES:
            waiting.remove(of)
        yield of, answer


def acknowledgements_broken(bench: Bench, replay: Replay | None, *, has_rows: bool) -> Iterator[Found]:
    """Acknowledged actions that do not stand in the log where and as they should.

    With rows these decide, not views that were received long after: an engine that hung may answer by what it knew.
    """
    one = bench.one
    for answer in one.record.answered:
        if answer.sequence is None or answer.request_id not in one.sent:
            continue
        act = act_sent(one.sent[answer.request_id][0].action)
        there = _not_there(bench, answer.sequence, act, replay)
        if there is None and not has_rows:
            there = _not_to_be_seen(bench.log, answer)
        if there is not None:
            yield Invariant.ACKNOWLEDGED_LOST, answer.sequence, f"{act} was acknowledged to {one.name}, {there}"


def _not_there(bench: Bench, sequence: int, act: Act, replay: Replay | None) -> str | None:
    """Why an entry is not the acknowledged action; None if it is, or if that cannot be decided."""
    log, seat = bench.log, bench.one.seat
    update, number = log.entries.get(sequence), bench.numbers.get(sequence)
    if update is not None and seat is not None:
        if not update.HasField("seat") or update.seat != seat or update.acted_by or sequence in log.asides:
            return "the entry is none of this player's"
        card = played_card(update)
        if card and card != act.get("card"):
            return f"the entry shows {card}"
    elif log.ended is not None and sequence > log.ended:
        return f"and the game was over with {log.ended}"
    if replay is not None and number is not None:
        line = replay.entries[number - 1].line if 1 <= number <= len(replay.entries) else {}
        stored = line.get("seat"), canonical(line.get("action", {})), line.get("auto")
        if stored != (seat if seat is not None else line.get("seat"), canonical(act), None):
            return f"the replay has {dict(line)}"
    return None


def _not_to_be_seen(log: Log, answer: Answered) -> str | None:
    """Where the table was when it should have had an action for long, None if it had it or nobody looked."""
    sequence, since = answer.sequence or 0, answer.at_milliseconds + 2 * NEWS_MILLISECONDS
    below = [at for looked, at in log.looks if looked > since and at < sequence]
    return f"and GetView was at {below[0]} long after that" if below else None


def entries_unasked(seat: int, benches: Sequence[Bench], replay: Replay | None) -> Iterator[Found]:
    """Entries of a seat, made by nobody else, that its player did not send, or that stand there twice for one request.

    `benches` are all by which this player was at the table. What he got no answer to, or none from the engine, may
    have been stored once.
    """
    acknowledged, unanswered = set[int](), list[Act]()
    for bench in benches:
        for request_id, sent in bench.one.sent.items():
            answers = bench.one.answered.get(request_id, [])
            told = {answer.sequence for answer in answers if answer.sequence is not None}
            acknowledged |= told
            if not told and not _is_refused(sent, answers):
                unanswered.append(act_sent(sent[0].action))
    for sequence in benches[0].log.played_by(seat):
        if sequence in acknowledged:
            continue
        asked = next((act for act in unanswered if _can_be(benches[0], sequence, act, replay)), None)
        if asked is None:
            detail = f"seat {seat} did not ask for this entry, or it stands here again"
            yield Invariant.ACTION_DOUBLED, sequence, detail
        else:
            unanswered.remove(asked)


def _can_be(bench: Bench, sequence: int, act: Act, replay: Replay | None) -> bool:
    """Whether an entry can be this action, as far as it is known what it is."""
    number = bench.numbers.get(sequence)
    if replay is not None and number is not None and 1 <= number <= len(replay.entries):
        return canonical(replay.entries[number - 1].line.get("action", {})) == canonical(act)
    card = played_card(bench.log.entries[sequence])
    return not card or act.get("card") == card


def _is_refused(sent: Sequence[Sent], answers: Sequence[Answered]) -> bool:
    """Whether the engine has refused every attempt under a name, and said why."""
    return len(answers) >= len(sent) and all(answer.code not in BY_CIRCUMSTANCES for answer in answers)
