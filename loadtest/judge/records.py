"""The replay and the rows of a table: read, held against what was received and each other, and played again."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from loadtest.judge.answers import BY_CIRCUMSTANCES
from loadtest.judge.log import Log, replay_numbers
from loadtest.judge.notation import act_sent, canonical
from loadtest.judge.proof import Position, Proof, prove
from loadtest.judge.replay import Entry, Replay, Untrue, header_differences, played_card, read, seeds_differ
from loadtest.judge.rows import Row, Rows, Unreadable, read_rows
from loadtest.judge.streams import Followed
from loadtest.judge.violations import Found, Invariant
from loadtest.record import Answered, TableRecord

AHEAD_MILLISECONDS = 200
"""How far an engine's measure of the shared time may be ahead of the moment of the commit."""


@dataclass(frozen=True, slots=True)
class Records:
    """What replay and rows tell, as far as they can be read: where it stands in the log, and what the rules say."""

    base: Replay | None
    """What is played again: the replay, or else the rows."""
    replay: Replay | None
    rows: Rows | None
    numbers: Mapping[int, int]
    proof: Proof | None
    found: tuple[Found, ...]

    @property
    def positions(self) -> Mapping[int, Position]:
        """The table by the number of the event before it; empty where there is no proof."""
        return dict(enumerate(self.proof.positions)) if self.proof is not None else {}


def read_records(record: TableRecord, followed: Sequence[Followed], log: Log) -> Records:
    """Read the replay and the rows, hold them against what was heard and each other, and play the game again."""
    found: list[Found] = []
    rows, replay = _rows_of(record, found), _replay_of(record, found)
    whole = rows if rows is not None and rows.is_whole else None
    stored = whole.replay(record.table_id) if whole is not None else None
    base = replay or stored
    if base is None:
        found += _rows_differ(rows, None, followed, log)
        return Records(None, None, None, {}, None, tuple(found))
    headers = [(Invariant.REPLAY_UNTRUE, 0, detail) for detail in header_differences(base, log.info, followed)]
    numbers = whole.numbers if whole is not None else replay_numbers(log, len(base.entries))
    found += [*headers, *seeds_differ(base, record.commitment, log.info, followed)]
    proof = prove(base) if not headers else None
    if replay is not None:
        told = dict(enumerate(replay.entries, start=1))
        entries = {sequence: told[number] for sequence, number in numbers.items() if number in told}
        missing = [sequence for sequence in log.entries if sequence in numbers.keys() - entries.keys()]
        found += [(Invariant.REPLAY_UNTRUE, sequence, "what was heard is not in the replay") for sequence in missing]
        found += received_differs(Invariant.REPLAY_UNTRUE, entries, log)
    found += _rows_differ(rows, proof, followed, log)
    if replay is not None and whole is not None and stored is not None:
        found += replay_differs(whole, stored, replay, proof)
    sequences = {number: sequence for sequence, number in numbers.items()}
    for invariant, number, detail in proof.faults if proof is not None else ():
        is_log = replay is None and invariant is Invariant.REPLAY_UNTRUE
        found.append((Invariant.LOG_BROKEN if is_log else invariant, sequences.get(number, number), detail))
    return Records(base, replay, whole, numbers, proof, tuple(found))


def _rows_of(record: TableRecord, found: list[Found]) -> Rows | None:
    """The rows of the table, if there are any that can be read."""
    try:
        return read_rows(record.stored) if record.stored is not None else None
    except Unreadable as fault:
        found.append((Invariant.LOG_BROKEN, fault.sequence, fault.detail))
        return None


def _replay_of(record: TableRecord, found: list[Found]) -> Replay | None:
    """The replay, if there is one that can be read."""
    if len(set(record.replays)) > 1:
        found.append((Invariant.REPLAY_UNTRUE, 0, "two viewers got different replays"))
    try:
        return read(record.replays[0]) if record.replays else None
    except Untrue as untrue:
        found.append((Invariant.REPLAY_UNTRUE, 0, str(untrue)))
        return None


def _rows_differ(rows: Rows | None, proof: Proof | None, followed: Sequence[Followed], log: Log) -> Iterator[Found]:
    if rows is None:
        return
    yield from rows_broken(rows, proof)
    yield from received_differs(Invariant.VIEW_DIFFERS, rows.by_sequence, log)
    for one in followed:
        yield from shown_early(one, rows)
        yield from answers_differ(one, rows)


def rows_broken(rows: Rows, proof: Proof | None) -> Iterator[Found]:
    """What is wrong with rows by themselves: gaps, time that runs backwards, doubled requests, the table's status."""
    at = 0
    for number, row in enumerate(rows.entries, start=1):
        if row.sequence != number:
            yield Invariant.LOG_BROKEN, row.sequence, f"the log should go on with {number}"
            return
        if row.at < at:
            yield Invariant.LOG_BROKEN, number, f"stored at {row.at}, the entry before at {at}"
        if row.committed is not None and row.at > row.committed + AHEAD_MILLISECONDS:
            yield Invariant.LOG_BROKEN, number, f"stored at {row.at}, and committed at {row.committed} already"
        at = row.at
    requests = Counter((row.body["seat"], row.body["request"]) for row in rows.entries if "request" in row.body)
    for (seat, request_id), count in requests.items():
        if count > 1:
            yield Invariant.ACTION_DOUBLED, 0, f"request {request_id} of seat {seat} is stored {count} times"
    if proof is not None and not proof.faults and (proof.ranking is not None) != (rows.stored.status == "finished"):
        detail = f"the table's status is {rows.stored.status}, by the rules the game is otherwise"
        yield Invariant.LOG_BROKEN, len(rows.entries), detail


def replay_differs(rows: Rows, own: Replay, replay: Replay, proof: Proof | None) -> Iterator[Found]:
    """Where a replay does not tell exactly the events of the rows, which are `own` as a replay."""
    if dict(own.header) != dict(replay.header):
        yield Invariant.REPLAY_UNTRUE, 0, "the replay's header is not what is stored"
    if len(own.entries) != len(replay.entries):
        detail = f"the replay has {len(replay.entries)} entries, {len(own.entries)} events are stored"
        yield Invariant.REPLAY_UNTRUE, 0, detail
    shuffles = proof.shuffles if proof is not None else {}
    pairs = zip(rows.numbers.items(), own.entries, replay.entries, strict=False)
    for (sequence, number), stored, told in pairs:
        if (stored.at_milliseconds, _comparable(stored.line)) != (told.at_milliseconds, _comparable(told.line)):
            detail = f"stored is {dict(stored.line)}, the replay tells {dict(told.line)}"
            yield Invariant.REPLAY_UNTRUE, sequence, detail
        if number in shuffles and (stored.line.get("cards"), stored.line.get("drawn")) != shuffles[number]:
            detail = "the cards that are stored do not follow from the seed and the seats' seeds"
            yield Invariant.DEAL_UNFAIR, sequence, detail


def _comparable(line: Mapping[str, Any]) -> object:
    """A line without its number; of a shuffle, which a replay tells as the deal that came of it, just that."""
    event = line.get("event")
    if "cards" in line or (isinstance(event, dict) and event.get("type") in ("deal", "reshuffle")):
        return "shuffle"
    return event if event is not None else (line["seat"], canonical(line["action"]), line.get("auto"))


def received_differs(invariant: Invariant, kept: Mapping[int, Row | Entry], log: Log) -> Iterator[Found]:
    """Entries that were received and are not what rows or a replay have of them, as far as it is public."""
    for sequence in [sequence for sequence in log.entries if sequence in kept]:
        update, stored = log.entries[sequence], kept[sequence].public
        seat, card = update.seat if update.HasField("seat") else None, played_card(update)
        told = update.at_milliseconds, seat, update.acted_by, update.credited_milliseconds, sequence in log.asides, card
        if told != (stored if card else stored._replace(card="")):
            yield invariant, sequence, f"received was {told}, kept is {stored}"


def shown_early(one: Followed, rows: Rows) -> Iterator[Found]:
    """Entries that a viewer received before they were committed, or that are not stored."""
    seen = [
        (heard.at_milliseconds, message.sequence)
        for heard, message in zip(one.record.heard, one.messages, strict=True)
        if message.parsed.WhichOneof("event") in ("update", "snapshot")
    ]
    seen += [(at, snapshot.sequence) for at, snapshot in one.views]
    for at, sequence in seen:
        if sequence and (why := _not_yet(rows.by_sequence.get(sequence), at)):
            yield Invariant.SHOWN_BEFORE_STORED, sequence, f"{one.name} received the entry, {why}"


def _stored_at(row: Row) -> int:
    return row.at if row.committed is None else row.committed


def _not_yet(row: Row | None, at: int) -> str:
    """Why something may not be known at a time; empty if it may."""
    if row is None:
        return "which is not stored"
    if row.committed is not None and at < row.committed:
        return f"which was committed {row.committed - at} ms later"
    return ""


def answers_differ(one: Followed, rows: Rows) -> Iterator[Found]:
    """Acknowledged requests that are not stored as they were sent, and refused ones that had been stored.

    A copy that the network delivers after the refusal may come at a time when the request is allowed.
    """
    sent = _bodies_sent(one)
    stored = {
        row.body["request"]: row for row in rows.entries if row.body.get("seat") == one.seat and "request" in row.body
    }
    for answer in one.record.answered:
        bodies = sent.get(answer.request_id, [])
        if answer.sequence is not None:
            yield from _acknowledged(one, answer, bodies, rows.by_sequence.get(answer.sequence))
            continue
        row, is_final = stored.get(answer.request_id), answer.code not in BY_CIRCUMSTANCES
        if row is not None and is_final and bodies == [_asked(row)] and _stored_at(row) <= answer.at_milliseconds:
            detail = f"request {answer.request_id} of {one.name} is stored, and was refused with {answer.reason}"
            yield Invariant.WRONG_REFUSAL, row.sequence, detail


def _acknowledged(one: Followed, answer: Answered, bodies: list[object], row: Row | None) -> Iterator[Found]:
    sequence = answer.sequence or 0
    is_there = row is not None and (row.body.get("seat"), row.body.get("request")) == (one.seat, answer.request_id)
    if row is None or not is_there or (bodies and _asked(row) not in bodies):
        there = "nothing" if row is None else dict(row.body)
        detail = f"{bodies} as {answer.request_id} was acknowledged to {one.name}, stored is {there}"
        yield Invariant.ACKNOWLEDGED_LOST, sequence, detail
    elif why := _not_yet(row, answer.at_milliseconds):
        yield Invariant.SHOWN_BEFORE_STORED, sequence, f"{one.name} was acknowledged an entry {why}"


def _bodies_sent(one: Followed) -> Mapping[str, list[object]]:
    """By request what was sent under that name, without repeats."""
    bodies: dict[str, dict[object, None]] = defaultdict(dict)
    for sent in one.record.sent:
        bodies[sent.request_id][canonical(act_sent(sent.action))] = None
    for said in one.record.said:
        body = (said.proposal_sequence, said.agree) if said.proposal is None else said.proposal
        bodies[said.request_id][body] = None
    return {request_id: list(named) for request_id, named in bodies.items()}


def _asked(row: Row) -> object:
    """What a player asked for with a row, as `_bodies_sent` has it."""
    body = row.body
    if "action" in body:
        return canonical(body["action"])
    return (body["proposal"], body["agree"]) if "proposal" in body else body.get("proposed")
