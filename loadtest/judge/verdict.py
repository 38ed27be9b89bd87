"""The judge: a function from the record of one table to a verdict with all violations."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from croupier_api.v1 import scoring_pb2
from loadtest.judge.answers import AnswerContext, acknowledgements_broken, answers_wrong, entries_unasked
from loadtest.judge.deadlines import broken_deadlines, missed_deadline, times_broken
from loadtest.judge.knowledge import ShownCards
from loadtest.judge.lag import end_missed, late_entries, seen_by_all
from loadtest.judge.log import Log, Timeline, log_of
from loadtest.judge.notation import Deck
from loadtest.judge.offers import turns_without_actions
from loadtest.judge.positions import views_against_rules
from loadtest.judge.public import disagreements
from loadtest.judge.results import counted_in, ledger_differs, reported_rounds, results_differ
from loadtest.judge.secrecy import secrets_shown, views_differ
from loadtest.judge.standings import Occupant, TableOutcome
from loadtest.judge.stored_game import StoredGame, read_stored_game
from loadtest.judge.streams import ViewerHistory, history_of
from loadtest.judge.timeouts import unexcused_timeouts
from loadtest.judge.violations import Found, Invariant, Violation
from loadtest.record import TableRecord


@dataclass(frozen=True, slots=True)
class Verdict:
    """The verdict on a table."""

    violations: tuple[Violation, ...]
    checks_made: Mapping[str, int]
    """The number of checks of "entries", "views", "refusals", "acknowledgements", "deadlines", "deals", "replays",
    "sheets", "rows" and "ledgers"."""
    is_verified: bool
    """Whether the judge has played the whole game again by its own rules, from the replay or the rows."""
    seen_by_all_milliseconds: tuple[int, ...]
    """From an action sent to received at the last seat, for actions that all seats received live."""
    outcome: TableOutcome | None = None
    """The outcome for statistics and leaderboards; None unless it is known without contradictions."""


def judge(record: TableRecord) -> Verdict:
    """Judge a table, by its record alone; an exception is a defect of the judge."""
    deck = Deck(record.deck)
    histories = [history_of(viewer, record.seats, deck) for viewer in record.viewers]
    log = log_of(histories)
    for one in histories:
        one.seat = _seat_of(one, log)
    records, timeline = read_stored_game(record, histories, log), Timeline(log, histories)
    found = [
        *(noted for viewer in record.viewers for noted in viewer.noted),
        *(found for one in histories for found in one.found),
        *disagreements(histories),
        *_of_viewers(record, histories, records, timeline.ahead),
        *broken_deadlines(log, record.late_milliseconds),
        *(missed_deadline(log, histories, timeline.ahead) if record.late_milliseconds is not None else ()),
        *records.found,
        *_actions(histories, log, records, timeline),
        *_results(record, histories, log, records),
        *_times(record, log, records),
        *unexcused_timeouts(log, histories, timeline.ahead),
        *_lag(record, histories, records, timeline.ahead),
    ]
    violations = tuple(Violation(invariant, record.table_id, *where) for invariant, *where in found)
    is_verified = (
        records.verification is not None
        and records.verification.ranking is not None
        and not records.verification.faults
    )
    seen = tuple(seen_by_all(histories, record.timed_until_milliseconds))
    outcome = _outcome(record, log, records) if is_verified else None
    return Verdict(violations, _checks_made(record, histories, log, records), is_verified, seen, outcome)


def _outcome(record: TableRecord, log: Log, records: StoredGame) -> TableOutcome | None:
    """The outcome by the judge's rules, with the rounds' counts from the viewers or the score sheet."""
    base, verification = records.base, records.verification
    assert base is not None
    assert verification is not None
    sheet = scoring_pb2.GetScoreSheetResponse.FromString(record.sheet or b"")
    reported = reported_rounds(log.entries)
    rounds = reported if len(reported) == len(verification.rounds) else sheet.rounds
    if len(rounds) != len(verification.rounds):
        return None
    seats = tuple(Occupant("" if one["bot"] else one["player_id"], one["name"]) for one in base.header["players"])
    ranking = tuple(map(tuple, verification.ranking or ()))
    return TableOutcome(
        record.table_id, record.game, seats, ranking, dict(counted_in(rounds)), base.entries[-1].at_milliseconds
    )


def _seat_of(one: ViewerHistory, log: Log) -> int | None:
    """A viewer's seat, also without a message to the viewer, by the table's data."""
    seats = [seat for seat, player in enumerate(log.info.seats) if player.player_id == one.record.player_id]
    return one.seat if one.seat is not None or not seats else seats[0]


def _of_viewers(
    record: TableRecord, histories: Iterable[ViewerHistory], records: StoredGame, ahead: int
) -> Iterator[Found]:
    shown: dict[bytes, ShownCards] = {}
    positions = records.positions
    for one in histories:
        yield from secrets_shown(one, shown)
        yield from views_differ(one)
        yield from turns_without_actions(one, ahead)
        yield from views_against_rules(record.game, one, records.numbers, positions)


def _actions(histories: Sequence[ViewerHistory], log: Log, records: StoredGame, timeline: Timeline) -> Iterator[Found]:
    positions = records.positions
    by_player: dict[str, list[AnswerContext]] = defaultdict(list)
    for one in histories:
        context = AnswerContext(one, log, timeline, records.numbers, positions)
        by_player[one.record.player_id].append(context)
        yield from answers_wrong(context)
        yield from acknowledgements_broken(context, records.replay, has_rows=records.rows is not None)
    for contexts in by_player.values():
        seat = next((context.viewer.seat for context in contexts if context.viewer.seat is not None), None)
        if seat is not None:
            yield from entries_unasked(seat, contexts, records.replay)


def _results(record: TableRecord, histories: Sequence[ViewerHistory], log: Log, records: StoredGame) -> Iterator[Found]:
    sheet = scoring_pb2.GetScoreSheetResponse.FromString(record.sheet) if record.sheet is not None else None
    for detail in results_differ(histories, records.replay, sheet):
        yield Invariant.RESULT_DIFFERS, log.last, detail
    verification = records.verification
    if record.ledger is not None and verification is not None and verification.ranking is not None:
        for detail in ledger_differs(
            record.ledger, log, verification.rounds, verification.ranking, verification.positions[-1].scores
        ):
            yield Invariant.LEDGER_DIFFERS, log.last, detail


def _times(record: TableRecord, log: Log, records: StoredGame) -> Iterator[Found]:
    rows, positions, number = records.rows, records.positions, 0
    if rows is None:
        return iter(())
    to_act = {sequence: list(state.view.seats_to_act) for sequence, state in log.states.items()}
    for row in rows.entries:
        number = rows.numbers.get(row.sequence, number)
        if (position := positions.get(number)) is not None:
            to_act[row.sequence] = sorted(position.legal)
    return times_broken(rows, to_act, record.outages, record.late_milliseconds)


def _lag(record: TableRecord, histories: Sequence[ViewerHistory], records: StoredGame, ahead: int) -> Iterator[Found]:
    rows = records.rows
    for one in histories if rows is not None else ():
        assert rows is not None
        if record.is_finished:
            yield from end_missed(one, rows, ahead)
        if record.lag is not None:
            yield from late_entries(one, rows, record.lag, ahead)


def _checks_made(
    record: TableRecord, histories: Sequence[ViewerHistory], log: Log, records: StoredGame
) -> Mapping[str, int]:
    checks = Counter[str]()
    for one in histories:
        checks["entries"] += len(one.updates)
        checks["views"] += len(one.views) + sum(sequence in records.numbers for sequence in one.states)
        for answer in one.record.answered:
            checks["acknowledgements" if answer.sequence is not None else "refusals"] += 1
    before = [log.states[sequence - 1] for sequence in log.entries if sequence - 1 in log.states]
    checks["deadlines"] = sum(state.clock.deadline_unix_ms > 0 for state in before)
    checks["deals"] = len(records.verification.shuffles) if records.verification is not None else 0
    checks["rows"] = len(records.rows.entries) if records.rows is not None else 0
    checks["ledgers"] = int(record.ledger is not None)
    checks["replays"] = len(record.replays)
    checks["sheets"] = int(record.sheet is not None)
    return checks
