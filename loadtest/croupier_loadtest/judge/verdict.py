"""The judge: a function from the record of one table to a verdict with all violations."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from croupier_api.v1 import scoring_pb2
from croupier_loadtest.judge import delivery
from croupier_loadtest.judge.answers import (
    AnswerContext,
    check_acknowledgements,
    check_answers,
    check_entries_requested,
)
from croupier_loadtest.judge.clock import absences_shown
from croupier_loadtest.judge.deadlines import check_deadlines, check_last_deadline, check_row_times
from croupier_loadtest.judge.game_end import GameEnd, game_end
from croupier_loadtest.judge.knowledge import ShownCards
from croupier_loadtest.judge.log import Log, log_of
from croupier_loadtest.judge.notation import Deck
from croupier_loadtest.judge.own_tables import check_turns
from croupier_loadtest.judge.presence import check_presence
from croupier_loadtest.judge.results import (
    Conduct,
    compare_ledger,
    compare_results,
    conduct_of,
    is_public,
    reported_rounds,
    sum_counts,
)
from croupier_loadtest.judge.rules.registry import table_of
from croupier_loadtest.judge.secrecy import check_public_facts, check_secrecy, check_views
from croupier_loadtest.judge.standings import Occupant, TableOutcome
from croupier_loadtest.judge.stored_game import StoredGame, read_stored_game
from croupier_loadtest.judge.streams import ViewerHistory, history_of
from croupier_loadtest.judge.timeouts import check_pauses, check_timeouts
from croupier_loadtest.judge.verification import check_positions
from croupier_loadtest.judge.violations import Found, Invariant, Violation
from croupier_loadtest.record import TableRecord


@dataclass(frozen=True, slots=True)
class Verdict:
    """The verdict on a table."""

    violations: tuple[Violation, ...]
    checks_made: Mapping[str, int]
    """The number of checks of "entries", "views", "turns", "refusals", "acknowledgements", "deadlines", "deals",
    "replays", "sheets", "rows" and "ledgers"."""
    is_verified: bool
    """Whether the judge has played the whole game again by its own rules, from the replay or the rows."""
    has_unknown_rules: bool
    """Whether no judge knows the game, or this version of its rules, so that these are not judged."""
    seen_by_all_milliseconds: tuple[int, ...]
    """From an action sent to received at the last seat, for actions that all seats received live."""
    outcome: TableOutcome | None = None
    """The outcome for statistics and leaderboards; None unless it is known without contradictions."""


def judge(record: TableRecord) -> Verdict:
    """Judge a table, by its record alone; an exception is a defect of the judge."""
    deck = Deck(record.described.deck)
    histories = [history_of(viewer, record.seats, deck) for viewer in record.viewers]
    log = log_of(histories)
    stored_game = read_stored_game(record, histories, log)
    sheet = scoring_pb2.GetScoreSheetResponse.FromString(record.sheet) if record.sheet is not None else None
    end = game_end(record.game, stored_game.verification, stored_game.replay, sheet, record.described)
    found = [
        *(reported for viewer in record.viewers for reported in viewer.reported),
        *(found for history in histories for found in history.found),
        *check_public_facts(histories),
        *_check_viewers(record, histories, log, stored_game),
        *check_deadlines(log, record.late_milliseconds, record.abandoned_milliseconds),
        *(check_last_deadline(log, histories) if record.late_milliseconds is not None else ()),
        *stored_game.found,
        *_check_actions(record, histories, log, stored_game),
        *_check_results(record, histories, log, stored_game, sheet, end),
        *_check_times(record, log, stored_game),
        *check_timeouts(log, histories),
        *check_pauses(log, histories, record.interruptions),
    ]
    violations = tuple(Violation(invariant, record.table_id, *where) for invariant, *where in found)
    is_verified = (
        stored_game.verification is not None
        and stored_game.verification.ranking is not None
        and not stored_game.verification.faults
    )
    has_unknown_rules = _has_unknown_rules(record, log)
    is_certain = is_verified or (has_unknown_rules and not violations)
    outcome = _outcome(record, log, stored_game, sheet, end) if is_certain else None
    checks_made = _checks_made(record, histories, log, stored_game)
    seen = tuple(delivery.seen_by_all(histories, record.timed_until_milliseconds))
    return Verdict(violations, checks_made, is_verified, has_unknown_rules, seen, outcome)


def _has_unknown_rules(record: TableRecord, log: Log) -> bool:
    version = record.stored.rules_version if record.stored is not None else log.info.rules_version
    # Without rows and messages not even the version is known.
    return bool(version) and table_of(record.game, version) is None


def _outcome(
    record: TableRecord,
    log: Log,
    stored_game: StoredGame,
    sheet: scoring_pb2.GetScoreSheetResponse | None,
    end: GameEnd | None,
) -> TableOutcome | None:
    """Return the outcome of a finished game, with the rounds' counts from the viewers or the score sheet.

    Only the score sheet says whether it is ranked; None without it.
    """
    base, conduct = stored_game.base, _conduct(record, log, stored_game)
    if base is None or conduct is None or end is None or sheet is None or not sheet.HasField("result"):
        return None
    reported = reported_rounds(log.entries)
    rounds = reported if len(reported) == len(end.rounds) else sheet.rounds
    if len(rounds) != len(end.rounds) or not log.info.table_id:
        return None
    seats = tuple(Occupant("" if one["bot"] else one["player_id"], one["name"]) for one in base.header["players"])
    ranking = tuple(map(tuple, end.ranking))
    counts, finished = dict(sum_counts(rounds)), base.entries[-1].at_milliseconds
    by_engine = tuple(seat for seat, one in enumerate(conduct) if one.finished_by_engine)
    about = (record.table_id, record.game, seats, ranking, counts, finished, tuple(end.outcomes))
    is_ranked = bool(sheet.result.ranked_seats)
    return TableOutcome(*about, is_public(log.info), by_engine, is_ranked)


def _conduct(record: TableRecord, log: Log, stored_game: StoredGame) -> list[Conduct] | None:
    """Return the conduct of the seats of a finished game; None if neither rows nor viewers have its end."""
    rows, base = stored_game.rows, stored_game.base
    if base is None or (rows is None and log.ended is None):
        return None
    absences = (
        rows.absences[len(rows.entries)] if rows is not None else absences_shown(log.states[log.ended or 0].clock)
    )
    return conduct_of(base.entries, absences, record.seats)


def _check_viewers(
    record: TableRecord, histories: Sequence[ViewerHistory], log: Log, stored_game: StoredGame
) -> Iterator[Found]:
    shown: dict[bytes, ShownCards] = {}
    rows = stored_game.rows
    is_offset_known = not all(history.delay_milliseconds for history in histories)
    for history in histories:
        yield from check_secrecy(history, histories, log, shown)
        yield from check_views(history)
        yield from check_presence(history)
        yield from check_turns(history, log)
        yield from delivery.check_legal_actions(history, log)
        yield from check_positions(history, stored_game.positions)
        if is_offset_known:
            yield from delivery.check_watch_delay(history, log)
        if rows is not None and record.is_finished:
            yield from delivery.check_end_received(history, log, rows)
        if rows is not None and record.delivery is not None:
            yield from delivery.check_delivery(history, log, rows, record.delivery)


def _check_actions(
    record: TableRecord, histories: Sequence[ViewerHistory], log: Log, stored_game: StoredGame
) -> Iterator[Found]:
    by_player: dict[str, list[AnswerContext]] = defaultdict(list)
    for history in histories:
        context = AnswerContext(history, log, stored_game.lines, stored_game.positions, record.described.rules)
        by_player[history.record.player_id].append(context)
        yield from check_answers(context)
        yield from check_acknowledgements(context, has_rows=stored_game.rows is not None)
    for contexts in by_player.values():
        seat = next((context.viewer.seat for context in contexts if context.viewer.seat is not None), None)
        if seat is not None:
            yield from check_entries_requested(seat, contexts)


def _check_results(
    record: TableRecord,
    histories: Sequence[ViewerHistory],
    log: Log,
    stored_game: StoredGame,
    sheet: scoring_pb2.GetScoreSheetResponse | None,
    end: GameEnd | None,
) -> Iterator[Found]:
    conduct, outcomes = _conduct(record, log, stored_game), end.outcomes if end is not None else None
    for detail in compare_results(histories, stored_game.replay, sheet, conduct, outcomes):
        yield Invariant.RESULT_DIFFERS, log.last, detail
    if record.ledger is not None and end is not None and conduct is not None:
        for detail in compare_ledger(record.ledger, log, end, conduct):
            yield Invariant.LEDGER_DIFFERS, log.last, detail


def _check_times(record: TableRecord, log: Log, stored_game: StoredGame) -> Iterator[Found]:
    rows, position = stored_game.rows, None
    if rows is None:
        return iter(())
    to_act = {sequence: list(state.view.seats_to_act) for sequence, state in log.states.items()}
    for row in rows.entries:
        if not row.is_meta:
            position = stored_game.positions.get(row.sequence)
        if position is not None:
            to_act[row.sequence] = sorted(position.legal)
    return check_row_times(rows, to_act, record.outages, record.late_milliseconds)


def _checks_made(
    record: TableRecord, histories: Sequence[ViewerHistory], log: Log, stored_game: StoredGame
) -> Mapping[str, int]:
    checks = Counter[str]()
    for history in histories:
        checks["entries"] += len(history.updates)
        checks["views"] += len(history.views) + sum(sequence in stored_game.positions for sequence in history.states)
        checks["turns"] += len(history.record.shown_seats)
        for answer in history.record.answered:
            checks["acknowledgements" if answer.sequence is not None else "refusals"] += 1
    before = [log.states[sequence - 1] for sequence in log.entries if sequence - 1 in log.states]
    checks["deadlines"] = sum(state.clock.deadline_unix_ms > 0 for state in before)
    checks["deals"] = len(stored_game.verification.shuffles) if stored_game.verification is not None else 0
    checks["rows"] = len(stored_game.rows.entries) if stored_game.rows is not None else 0
    checks["ledgers"] = int(record.ledger is not None)
    checks["replays"] = len(record.replays)
    checks["sheets"] = int(record.sheet is not None)
    return checks
