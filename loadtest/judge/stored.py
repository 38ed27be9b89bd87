"""The rows of the engines' database: whole, in order, and all that viewers received or were acknowledged."""

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from croupier_api.v1 import engine_pb2, table_pb2
from loadtest.judge.log import Log
from loadtest.judge.notation import act_of, canonical
from loadtest.judge.proof import Proof
from loadtest.judge.refusals import BY_CIRCUMSTANCES
from loadtest.judge.replay import Replay, played_card
from loadtest.judge.rows import Row, Rows
from loadtest.judge.streams import Followed
from loadtest.judge.violations import Invariant, Violation
from loadtest.record import Answered

AHEAD_MILLISECONDS = 200
"""How far an engine's measure of the shared time may be ahead of the moment of the commit."""


def rows_broken(table_id: str, rows: Rows, proof: Proof | None) -> Iterator[Violation]:
    """What is wrong with rows by themselves: gaps, time that runs backwards, doubled requests, the table's status."""
    at = 0
    for number, row in enumerate(rows.entries, start=1):
        if row.sequence != number:
            yield _broken(table_id, row.sequence, f"the log should go on with {number}")
            return
        if row.at < at:
            yield _broken(table_id, number, f"stored at {row.at}, the entry before at {at}")
        if row.committed is not None and row.at > row.committed + AHEAD_MILLISECONDS:
            yield _broken(table_id, number, f"stored at {row.at}, and committed at {row.committed} already")
        at = row.at
    requests = Counter((row.body["seat"], row.body["request"]) for row in rows.entries if "request" in row.body)
    for (seat, request_id), count in requests.items():
        if count > 1:
            detail = f"request {request_id} of seat {seat} is stored {count} times"
            yield Violation(Invariant.ACTION_DOUBLED, table_id, 0, detail)
    if proof is not None and not proof.faults and (proof.ranking is not None) != (rows.stored.status == "finished"):
        detail = f"the table's status is {rows.stored.status}, by the rules the game is otherwise"
        yield _broken(table_id, len(rows.entries), detail)


def _broken(table_id: str, sequence: int, detail: str) -> Violation:
    return Violation(Invariant.LOG_BROKEN, table_id, sequence, detail)


def replay_differs(table_id: str, rows: Rows, replay: Replay, proof: Proof | None) -> Iterator[Violation]:
    """Where a replay does not tell exactly the events of the rows."""
    own = rows.replay(table_id)
    if dict(own.header) != dict(replay.header):
        yield Violation(Invariant.REPLAY_UNTRUE, table_id, 0, "the replay's header is not what is stored")
    if len(own.entries) != len(replay.entries):
        detail = f"the replay has {len(replay.entries)} entries, {len(own.entries)} events are stored"
        yield Violation(Invariant.REPLAY_UNTRUE, table_id, 0, detail)
    shuffles = proof.shuffles if proof is not None else {}
    for sequence, number in rows.numbers.items():
        if number > len(replay.entries):
            break
        stored, told = own.entries[number - 1], replay.entries[number - 1]
        if (stored.at_milliseconds, _comparable(stored.line)) != (told.at_milliseconds, _comparable(told.line)):
            detail = f"stored is {dict(stored.line)}, the replay tells {dict(told.line)}"
            yield Violation(Invariant.REPLAY_UNTRUE, table_id, sequence, detail)
        if number in shuffles and (stored.line.get("cards"), stored.line.get("drawn")) != shuffles[number]:
            detail = "the cards that are stored do not follow from the seed and the seats' seeds"
            yield Violation(Invariant.DEAL_UNFAIR, table_id, sequence, detail)


def _comparable(line: Mapping[str, Any]) -> object:
    """A line without its number; of a shuffle, which a replay tells as the deal that came of it, just that."""
    event = line.get("event")
    if "cards" in line or (isinstance(event, dict) and event.get("type") in ("deal", "reshuffle")):
        return "shuffle"
    return event if event is not None else (line["seat"], canonical(line["action"]), line.get("auto"))


def received_differs(table_id: str, rows: Rows, log: Log) -> Iterator[Violation]:
    """Entries that were received and are not what is stored, as far as it is public."""
    for sequence, update in log.entries.items():
        row = rows.by_sequence.get(sequence)
        if row is None:
            continue
        card = played_card(update)
        seat = update.seat if update.HasField("seat") else None
        told = update.at_milliseconds, seat, update.acted_by, update.credited_milliseconds, sequence in log.asides, card
        kept = row.body.get("action", {}).get("card", "") if card else ""
        stored = row.at, row.body.get("seat"), row.by, row.credited, row.is_aside, kept
        if told != stored:
            yield Violation(Invariant.VIEW_DIFFERS, table_id, sequence, f"received was {told}, stored is {stored}")


def shown_early(table_id: str, one: Followed, rows: Rows) -> Iterator[Violation]:
    """Entries that a viewer received before they were committed, or that are not stored."""
    told = [(heard.at_milliseconds, message) for heard, message in zip(one.record.heard, one.messages, strict=True)]
    seen = [
        (at, message.sequence) for at, message in told if message.parsed.WhichOneof("event") in ("update", "snapshot")
    ]
    seen += [
        (viewed.at_milliseconds, engine_pb2.Snapshot.FromString(viewed.snapshot).sequence)
        for viewed in one.record.viewed
    ]
    for at, sequence in seen:
        if sequence and (why := _not_yet(rows.by_sequence.get(sequence), at)):
            detail = f"{one.name} received the entry, {why}"
            yield Violation(Invariant.SHOWN_BEFORE_STORED, table_id, sequence, detail)


def _not_yet(row: Row | None, at: int) -> str:
    """Why something may not be known at a time; empty if it may."""
    if row is None:
        return "which is not stored"
    if row.committed is not None and at < row.committed:
        return f"which was committed {row.committed - at} ms later"
    return ""


def answers_differ(table_id: str, one: Followed, rows: Rows) -> Iterator[Violation]:
    """Acknowledged requests that are not stored as they were sent, and stored ones that were refused."""
    sent = _bodies_sent(one)
    stored = {
        row.body["request"]: row for row in rows.entries if row.body.get("seat") == one.seat and "request" in row.body
    }
    for answer in one.record.answered:
        bodies = sent.get(answer.request_id, [])
        if answer.sequence is not None:
            yield from _acknowledged(table_id, one, answer, bodies, rows.by_sequence.get(answer.sequence))
            continue
        row, is_final = stored.get(answer.request_id), answer.code not in BY_CIRCUMSTANCES
        if row is not None and is_final and bodies == [_asked(row)]:
            detail = f"request {answer.request_id} of {one.name} is stored, and was refused with {answer.reason}"
            yield Violation(Invariant.WRONG_REFUSAL, table_id, row.sequence, detail)


def _acknowledged(
    table_id: str, one: Followed, answer: Answered, bodies: list[object], row: Row | None
) -> Iterator[Violation]:
    sequence = answer.sequence or 0
    is_there = row is not None and (row.body.get("seat"), row.body.get("request")) == (one.seat, answer.request_id)
    if row is None or not is_there or (bodies and _asked(row) not in bodies):
        there = "nothing" if row is None else dict(row.body)
        detail = f"{bodies} as {answer.request_id} was acknowledged to {one.name}, stored is {there}"
        yield Violation(Invariant.ACKNOWLEDGED_LOST, table_id, sequence, detail)
    elif why := _not_yet(row, answer.at_milliseconds):
        detail = f"{one.name} was acknowledged an entry {why}"
        yield Violation(Invariant.SHOWN_BEFORE_STORED, table_id, sequence, detail)


def _bodies_sent(one: Followed) -> Mapping[str, list[object]]:
    """By request what was sent under that name, without repeats."""
    bodies: dict[str, list[object]] = {}
    for sent in one.record.sent:
        _add(bodies, sent.request_id, canonical(act_of(table_pb2.Action.FromString(sent.action))))
    for said in one.record.said:
        is_vote = said.proposal is None
        _add(bodies, said.request_id, (said.proposal_sequence, said.agree) if is_vote else said.proposal)
    return bodies


def _add(bodies: dict[str, list[object]], request_id: str, body: object) -> None:
    named = bodies.setdefault(request_id, [])
    if body not in named:
        named.append(body)


def _asked(row: Row) -> object:
    """What a player asked for with a row, as `_bodies_sent` has it."""
    body = row.body
    if "action" in body:
        return canonical(body["action"])
    return (body["proposal"], body["agree"]) if "proposal" in body else body.get("proposed")
