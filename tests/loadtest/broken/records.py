"""Defects of an engine's clock, tables, deals, replays, results and counts."""

from collections.abc import Callable, Iterable
from typing import Any

from croupier.engine import cached, fact_codec, replay, scoring_channel, table
from croupier.engine.audience import Audience
from croupier.engine.cached import CachedTable
from croupier.engine.caretaker import Caretaker
from croupier.engine.clock import ClockState, Due
from croupier.engine.live import LiveTable
from croupier.engine.log import ClockConfig, Entry, TableConfig
from croupier.engine.reports import Report, ResultReport
from croupier.engine.scoring_channel import ScoringChannel
from croupier.engine.servicer import EngineServicer
from croupier.engine.steward import Steward
from croupier.engine.streams import message_of
from croupier.engine.table import Step, TableState
from croupier.engine.tables import Tables
from croupier.games.facts import RoundEnded, Viewer
from croupier.games.interface import CardsShuffled, ShuffleNeeded
from croupier.runtime.errors import NotFound, ServiceError
from croupier_api.v1 import engine_pb2, scoring_pb2
from tests.loadtest.broken.defect import named, now_at, put

HASTE_MILLISECONDS = 500
LATE_MILLISECONDS = 4_000
MANY_ENTRIES = 20


def play_early() -> None:
    """A seat is played for when it has thought for half a second."""
    put(Steward, "_when_to_act", lambda one, _: one._table.state.at + HASTE_MILLISECONDS)


def play_late() -> None:
    """A seat whose time ran out is played for four seconds later."""
    put(Steward, "_when_to_act", lambda _, due: due.at + LATE_MILLISECONDS)
    _let_nobody_sweep()


def play_never() -> None:
    """Nobody is played for whose time ran out; computer players act."""
    act = Steward._act

    async def idle(one: Steward) -> None:
        due: Due | None = one._table.state.due
        if due is None or one._table.config.seats[due.seat].bot:
            await act(one)

    put(Steward, "_act", idle)


def _let_nobody_sweep() -> None:
    async def nothing(_: Caretaker) -> None:
        return

    put(Caretaker, "sweep", nothing)


def charge_reserves_twice() -> None:
    """What a player draws from the reserve is taken from it twice."""
    clock_after: Callable[..., ClockState] = now_at(table, "clock_after")

    def twice(clock: ClockState, config: ClockConfig, entry: Entry, seats: tuple[int, ...]) -> ClockState:
        after = clock_after(clock, config, entry, seats)
        left = zip(clock.reserves, after.reserves, strict=True)
        return after._replace(reserves=tuple(max(0, now - (before - now)) for before, now in left))

    put(table, "clock_after", twice)


def miscount_reserves() -> None:
    """The reserve that a seat is told of is a second less than it has."""
    clock_of = fact_codec.encode_turn_clock

    def less(clock: ClockState, deadline: int) -> engine_pb2.TurnClock:
        told = clock_of(clock, deadline)
        reserves = [max(0, reserve - 1000) for reserve in told.reserve_milliseconds]
        del told.reserve_milliseconds[:]
        told.reserve_milliseconds.extend(reserves)
        return told

    put(fact_codec, "encode_turn_clock", less)


def lose_tables() -> None:
    """A table with many entries is not there any more for whoever asks for it."""
    get = Tables.get

    async def losing(one: Tables, table_id: str) -> LiveTable:
        table = await get(one, table_id)
        if table.state.sequence > MANY_ENTRIES:
            raise NotFound("UNKNOWN_TABLE", "there is no such table")
        return table

    put(Tables, "get", losing)


def shuffle_badly() -> None:
    """The first card of a shuffled pack is put under it."""
    shuffle: Callable[[bytes, ShuffleNeeded], CardsShuffled] = now_at(table, "shuffle")

    def turned(key: bytes, needed: ShuffleNeeded) -> CardsShuffled:
        made = shuffle(key, needed)
        return made._replace(cards=(*made.cards[1:], made.cards[0]))

    put(table, "shuffle", turned)


def leave_seeds_out() -> None:
    """What seats add to the shuffles is left out."""
    key_of = now_at(table, "stream_key")
    put(table, "stream_key", lambda seed, _: key_of(seed, ()))


def commit_to_nothing() -> None:
    """Tables show another commitment than the lobby does."""
    info_of = now_at(fact_codec, "encode_table_info")

    def other(config: TableConfig) -> Any:
        info = info_of(config)
        info.commitment = info.commitment[::-1]
        return info

    put(fact_codec, "encode_table_info", other)


def cut_milliseconds() -> None:
    """Replays tell the times of entries in full seconds."""
    time_text = replay._time_text
    put(replay, "_time_text", lambda at: time_text(at // 1000 * 1000))


def cut_replay() -> None:
    """Replays lack the last line."""
    lines_of = replay._lines
    put(replay, "_lines", lambda config, entries: list(lines_of(config, entries))[:-1])


def rename_players() -> None:
    """Replays name the players of the first two seats the wrong way round."""
    header_of = replay._header

    def swapped(config: TableConfig) -> dict[str, Any]:
        header = header_of(config)
        first, second, *_ = header["players"]
        first["name"], second["name"] = second["name"], first["name"]
        return header

    put(replay, "_header", swapped)


def add_a_point() -> None:
    """A round gives its last seat a point too many, which the totals do not have."""
    step = table.step

    def generous(config: TableConfig, before: TableState, entry: Entry) -> Step:
        made = step(config, before, entry)
        return made._replace(facts=tuple(_with_a_point(fact) for fact in made.facts))

    for module in (table, cached, replay):
        put(module, "step", generous)


def _with_a_point(fact: Any) -> Any:
    if isinstance(fact, RoundEnded):
        return fact._replace(points=(*fact.points[:-1], fact.points[-1] + 1))
    return fact


def report_no_results() -> None:
    """Results are not reported; rounds are."""
    send = ScoringChannel.send

    async def forgetful(one: ScoringChannel, report: Report) -> None:
        if not isinstance(report, ResultReport):
            await send(one, report)

    put(ScoringChannel, "send", forgetful)


def report_other_totals() -> None:
    """Results are reported with a point too many for the first seat."""
    result_of = scoring_channel.encode_result

    def generous(report: ResultReport) -> scoring_pb2.RecordResultRequest:
        return result_of(report._replace(totals=(report.totals[0] + 1, *report.totals[1:])))

    put(scoring_channel, "encode_result", generous)


def count_repeats() -> None:
    """Actions that are sent again are counted as accepted again."""
    answered = CachedTable._answered

    def counting(one: CachedTable, request: Any, request_id: str) -> int | None:
        known = answered(one, request, request_id)
        if known is not None:
            one._accepted.inc()
        return known

    put(CachedTable, "_answered", counting)


def count_refusals_twice() -> None:
    """Refusals of illegal actions are counted twice."""
    act = EngineServicer._act

    async def counting(
        one: EngineServicer, at: LiveTable, player_id: str, request: engine_pb2.SubmitActionRequest
    ) -> int:
        try:
            return await act(one, at, player_id, request)
        except ServiceError as refusal:
            one._metrics.actions_refused.labels(refusal.reason).inc()
            raise

    put(EngineServicer, "_act", counting)


def count_no_resumes() -> None:
    """Streams that are resumed are not counted."""

    def uncounted(one: Audience, viewer: Viewer, at: TableState, missed: Iterable[Step]) -> Any:
        stream = one._new_stream(viewer)
        stream.preload(message_of(one._encoder, one._config, made, viewer) for made in missed)
        return one._admit(stream, at)

    put(Audience, "resume", uncounted)


RECORDS = named(
    "engine",
    (
        play_early,
        play_late,
        play_never,
        miscount_reserves,
        charge_reserves_twice,
        lose_tables,
        shuffle_badly,
        leave_seeds_out,
        commit_to_nothing,
        cut_milliseconds,
        cut_replay,
        rename_players,
        add_a_point,
        report_no_results,
        report_other_totals,
        count_repeats,
        count_refusals_twice,
        count_no_resumes,
    ),
)
