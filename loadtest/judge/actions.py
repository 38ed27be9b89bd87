"""Every acknowledged action stands in the log, as it was acknowledged and once; every answer is the right one."""

from collections.abc import Iterator, Sequence

from loadtest.judge.log import Log
from loadtest.judge.notation import act_sent, canonical
from loadtest.judge.refusals import BY_CIRCUMSTANCES, Bench, judged
from loadtest.judge.replay import Replay, played_card
from loadtest.judge.rules.interface import Act
from loadtest.judge.streams import NEWS_MILLISECONDS
from loadtest.judge.violations import Found, Invariant
from loadtest.record import Answered, Sent


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
    """What is there in place of an action, None if it is there or nobody knows."""
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
