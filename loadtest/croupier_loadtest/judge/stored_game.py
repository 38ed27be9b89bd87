"""The replay and the rows of a table: compared with the received entries and each other, and verified."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from croupier_loadtest.judge import replay as replays
from croupier_loadtest.judge.answers import UNJUDGED_CODES, needs_no_entry
from croupier_loadtest.judge.log import Log, replay_numbers
from croupier_loadtest.judge.notation import Deck, act_sent, canonical, reason_text
from croupier_loadtest.judge.replay import InvalidReplay, Replay, ReplayEntry
from croupier_loadtest.judge.rows import Row, Rows, UnreadableRow, read_rows, request_hash
from croupier_loadtest.judge.streams import ViewerHistory
from croupier_loadtest.judge.verification import Position, Verification, verify
from croupier_loadtest.judge.violations import Found, Invariant
from croupier_loadtest.record import Answered, TableRecord

MAX_CLOCK_OFFSET_MILLISECONDS = 200
"""The maximum error of an engine's estimate of the database's time."""


_REQUESTED = {"propose": ("proposal",), "vote": ("proposal_sequence", "agree"), "away": ("is_away",)}
"""By the type of an entry, what its request named."""


@dataclass(frozen=True, slots=True)
class StoredGame:
    """The replay and the rows, as far as they can be read, and their verification."""

    base: Replay | None
    """The game that is verified: the replay, or else the rows."""
    replay: Replay | None
    rows: Rows | None
    lines: Mapping[int, Mapping[str, Any]]
    """The lines of the replay by the sequences of events; a line is empty where the replay has none."""
    positions: Mapping[int, Position]
    """The positions after events, by their sequences; empty without a verification."""
    verification: Verification | None
    found: tuple[Found, ...]


def read_stored_game(record: TableRecord, histories: Sequence[ViewerHistory], log: Log) -> StoredGame:
    """Read the replay and the rows, compare them with the received entries and each other, and verify the game."""
    found: list[Found] = []
    rows, replay = _rows_of(record, found), _replay_of(record, found)
    whole = rows if rows is not None and rows.is_whole else None
    stored = whole.replay(record.table_id) if whole is not None else None
    base = replay or stored
    if base is None:
        found += _check_all_rows(rows, None, histories, log)
        return StoredGame(None, None, None, {}, {}, None, tuple(found))
    headers = [(Invariant.REPLAY_DIFFERS, 0, detail) for detail in replays.compare_header(base, log.info, histories)]
    numbers = whole.numbers if whole is not None else replay_numbers(log, len(base.entries))
    found += [*headers, *replays.check_seeds(base, record.commitment, log.info, histories)]
    verification = verify(base) if not headers else None
    if replay is not None:
        by_number = dict(enumerate(replay.entries, start=1))
        entries = {sequence: by_number[number] for sequence, number in numbers.items() if number in by_number}
        missing = [sequence for sequence in log.entries if sequence in numbers.keys() - entries.keys()]
        found += [(Invariant.REPLAY_DIFFERS, sequence, "a received entry is not in the replay") for sequence in missing]
        found += compare_received(Invariant.REPLAY_DIFFERS, entries, log)
    found += _check_all_rows(rows, verification, histories, log)
    found += check_limits(rows, verification, record.max_entries, record.max_rounds) if rows is not None else ()
    if replay is not None and whole is not None and stored is not None:
        found += compare_replay(whole, stored, replay, verification)
    sequences = {number: sequence for sequence, number in numbers.items()}
    for invariant, number, detail in verification.faults if verification is not None else ():
        is_log = replay is None and invariant is Invariant.REPLAY_DIFFERS
        found.append((Invariant.LOG_BROKEN if is_log else invariant, sequences.get(number, number), detail))
    lines = {sequence: replay.line(number) for sequence, number in numbers.items()} if replay is not None else {}
    positions = dict(enumerate(verification.positions)) if verification is not None else {}
    after = {sequence: positions[number] for sequence, number in numbers.items() if number in positions}
    return StoredGame(base, replay, whole, lines, after, verification, tuple(found))


def _rows_of(record: TableRecord, found: list[Found]) -> Rows | None:
    """Return the rows of the table; None without readable ones."""
    try:
        return read_rows(record.stored) if record.stored is not None else None
    except UnreadableRow as fault:
        found.append((Invariant.LOG_BROKEN, *fault.args))
        return None


def _replay_of(record: TableRecord, found: list[Found]) -> Replay | None:
    """Return the replay; None without a readable one."""
    if len(set(record.replays)) > 1:
        found.append((Invariant.REPLAY_DIFFERS, 0, "two viewers got different replays"))
    try:
        return replays.read(record.replays[0], Deck(record.described.deck)) if record.replays else None
    except InvalidReplay as untrue:
        found.append((Invariant.REPLAY_DIFFERS, 0, str(untrue)))
        return None


def _check_all_rows(
    rows: Rows | None, verification: Verification | None, histories: Sequence[ViewerHistory], log: Log
) -> Iterator[Found]:
    if rows is None:
        return
    yield from check_rows(rows, verification)
    yield from compare_received(Invariant.VIEW_DIFFERS, rows.by_sequence, log)
    for history in histories:
        yield from check_shown_entries(history, rows)
        yield from check_stored_answers(history, rows)
    yield from check_stored_requests(histories, rows)


def check_rows(rows: Rows, verification: Verification | None) -> Iterator[Found]:
    """Yield the violations of rows by themselves: gaps, decreasing times, duplicate requests, a wrong status."""
    at = 0
    for number, row in enumerate(rows.entries, start=1):
        if row.sequence != number:
            yield Invariant.LOG_BROKEN, row.sequence, f"the log must continue with {number}"
            return
        if row.at < at:
            yield Invariant.LOG_BROKEN, number, f"stored at {row.at}, the entry before at {at}"
        if row.committed is not None and row.at > row.committed + MAX_CLOCK_OFFSET_MILLISECONDS:
            yield Invariant.LOG_BROKEN, number, f"stored at {row.at}, after the commit at {row.committed}"
        at = row.at
    requests = Counter((row.body["seat"], row.request_hash) for row in rows.entries if row.request_hash is not None)
    for (seat, hashed), count in requests.items():
        if count > 1:
            detail = f"the request with the hash {hashed} of seat {seat} is stored {count} times"
            yield Invariant.ACTION_DUPLICATED, 0, detail
    if verification is None or verification.faults:
        return
    if (verification.ranking is not None) != (rows.stored.status == "finished"):
        detail = f"the table's status is {rows.stored.status}, which contradicts the rules"
        yield Invariant.LOG_BROKEN, len(rows.entries), detail


def check_limits(rows: Rows, verification: Verification | None, max_entries: int, max_rounds: int) -> Iterator[Found]:
    """Yield the violations of the operator's limits: a table that ends before them, or continues after them.

    An abandoned table is judged by its clock.
    """
    for row in rows.entries:
        # One append may hold a compensation, the action, and shuffles.
        if row.tag == "act" and row.sequence > max_entries + 1:
            yield Invariant.LOG_BROKEN, row.sequence, f"the table has more than {max_entries} entries"
            return
        if row.tag != "end":
            continue
        rounds = len(verification.rounds) if verification is not None else max_rounds
        reached = {"entries": row.sequence > max_entries, "rounds": rounds >= max_rounds}
        if not row.public.is_abandonment and not reached.get(row.body["limit"]):
            detail = f"the table ended at its limit of {row.body['limit']}, with {row.sequence - 1} entries"
            yield Invariant.LOG_BROKEN, row.sequence, f"{detail} and {rounds} rounds"
        if row is not rows.entries[-1]:
            yield Invariant.LOG_BROKEN, row.sequence + 1, "an entry follows the end of the table"


def compare_replay(rows: Rows, own: Replay, replay: Replay, verification: Verification | None) -> Iterator[Found]:
    """Yield the differences between a replay and the events of the rows, which are `own` as a replay."""
    if own.header != replay.header:
        yield Invariant.REPLAY_DIFFERS, 0, "the replay's header differs from the rows"
    if len(own.entries) != len(replay.entries):
        detail = f"the replay has {len(replay.entries)} entries, {len(own.entries)} events are stored"
        yield Invariant.REPLAY_DIFFERS, 0, detail
    shuffles = verification.shuffles if verification is not None else {}
    pairs = zip(rows.numbers.items(), own.entries, replay.entries, strict=False)
    for (sequence, number), stored, entry in pairs:
        if stored.at_milliseconds != entry.at_milliseconds or not _are_same(stored.line, entry.line):
            detail = f"the row is {dict(stored.line)}, the replay has {dict(entry.line)}"
            yield Invariant.REPLAY_DIFFERS, sequence, detail
        if number in shuffles and (stored.line.get("cards"), stored.line.get("drawn")) != shuffles[number]:
            detail = "the stored cards do not follow from the seed and the client seeds"
            yield Invariant.DEAL_UNFAIR, sequence, detail


def _are_same(stored: Mapping[str, Any], replayed: Mapping[str, Any]) -> bool:
    """Return whether a line of the replay is the stored event, as far as it can be known without the rules.

    Only the rules know how a replay writes a shuffle, or a proposal that is stored by its name.
    """
    event = replayed.get("event")
    if "cards" in stored or "agreed" in stored:
        return event is not None and event.get("type") != "end"
    if "event" in stored or event is not None:
        return bool(stored.get("event") == event)
    return _act_of(stored) == _act_of(replayed)


def _act_of(line: Mapping[str, Any]) -> object:
    return line["seat"], canonical(line["action"]), line.get("auto")


def compare_received(invariant: Invariant, kept: Mapping[int, Row | ReplayEntry], log: Log) -> Iterator[Found]:
    """Yield received entries whose public part differs from the rows or the replay."""
    for sequence in [sequence for sequence in log.public if sequence in kept]:
        received, stored = log.public[sequence], kept[sequence].public
        if not received.can_be(stored):
            yield invariant, sequence, f"received was {received}, stored is {stored}"


def check_shown_entries(history: ViewerHistory, rows: Rows) -> Iterator[Found]:
    """Yield entries that a viewer received before they were committed, or that are not stored."""
    for at, sequence in history.seen:
        if sequence and (reason := _not_yet(rows.by_sequence.get(sequence), at)):
            yield Invariant.SHOWN_BEFORE_STORED, sequence, f"{history.name} received the entry, {reason}"


def _not_yet(row: Row | None, at: int) -> str:
    """Return the reason why an entry may not be known at a time; empty if it may."""
    if row is None:
        return "which is not stored"
    if row.committed is not None and at < row.committed:
        return f"which was committed {row.committed - at} ms later"
    return ""


def check_stored_answers(history: ViewerHistory, rows: Rows) -> Iterator[Found]:
    """Yield acknowledged requests that are stored otherwise or not at all, and refused requests that are stored.

    A copy that the network delivers after the refusal may come at a time when the request is allowed.
    """
    sent = _bodies_sent(history)
    stored = {row.request_hash: row for row in rows.entries if row.body.get("seat") == history.seat}
    for answer in history.record.answered:
        bodies = sent.get(answer.request_id, [])
        if answer.sequence is not None:
            yield from _acknowledged(history, answer, bodies, rows, stored.get(request_hash(answer.request_id)))
            continue
        row, is_final = stored.get(request_hash(answer.request_id)), answer.code not in UNJUDGED_CODES
        stored_at = 0 if row is None else row.at if row.committed is None else row.committed
        if row is not None and is_final and bodies == [_body_of(row)] and stored_at <= answer.at_milliseconds:
            reason = reason_text(answer.reason)
            detail = f"request {answer.request_id} of {history.name} is stored, and was refused with {reason}"
            yield Invariant.WRONG_REFUSAL, row.sequence, detail


def _acknowledged(
    history: ViewerHistory, answer: Answered, bodies: list[object], rows: Rows, own: Row | None
) -> Iterator[Found]:
    """Yield the violations of an acknowledgement; `own` is the row of its request."""
    sequence = answer.sequence or 0
    expected = (history.seat, request_hash(answer.request_id))
    row, is_later = rows.by_sequence.get(sequence), own is None or own.sequence > sequence
    if is_later and sequence in rows.absences and needs_no_entry(history, answer, rows.absences[sequence]):
        return
    is_there = row is not None and (row.body.get("seat"), row.request_hash) == expected
    if row is None or not is_there or (bodies and _body_of(row) not in bodies):
        stored = "nothing" if row is None else dict(row.body)
        detail = f"{bodies} as {answer.request_id} was acknowledged to {history.name}, stored is {stored}"
        yield Invariant.ACKNOWLEDGED_LOST, sequence, detail
    elif reason := _not_yet(row, answer.at_milliseconds):
        yield Invariant.SHOWN_BEFORE_STORED, sequence, f"an acknowledgement to {history.name} names an entry {reason}"


def check_stored_requests(histories: Sequence[ViewerHistory], rows: Rows) -> Iterator[Found]:
    """Yield entries of players who did not send their requests so.

    Records without a stream have only the acknowledged requests of a player.
    """
    sent: dict[int, set[tuple[str | None, object]]] = defaultdict(set)
    for history in histories:
        if history.seat is not None and history.record.opened:
            named = _bodies_sent(history).items()
            sent[history.seat].update((request_hash(name), body) for name, bodies in named for body in bodies)
    for row in rows.entries:
        seat = row.body.get("seat")
        if seat in sent and not row.by and (row.request_hash, _body_of(row)) not in sent[seat]:
            yield Invariant.ACTION_DUPLICATED, row.sequence, f"seat {seat} did not send {dict(row.body)}"


def _bodies_sent(history: ViewerHistory) -> Mapping[str, list[object]]:
    """Return the distinct bodies that were sent, by request id."""
    bodies: dict[str, dict[object, None]] = defaultdict(dict)
    for sent in history.record.sent:
        bodies[sent.request_id][canonical(act_sent(sent.action))] = None
    for request in history.record.sent_requests:
        bodies[request.request_id][request.body] = None
    return {request_id: list(named) for request_id, named in bodies.items()}


def _body_of(row: Row) -> object:
    """Return the request of a row, in the form of `_bodies_sent`."""
    if row.tag == "act":
        return canonical(row.body["action"])
    return row.tag, *(row.body[name] for name in _REQUESTED.get(row.tag, ()))
