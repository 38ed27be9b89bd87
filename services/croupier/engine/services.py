"""What all tables of an engine share."""

from dataclasses import dataclass

from croupier.engine.attendance import Attendance
from croupier.engine.background import Background
from croupier.engine.metrics import EngineMetrics
from croupier.engine.news import News
from croupier.engine.reports import Reporter
from croupier.engine.store import TableStore
from croupier.engine.streams import Encoder
from croupier.engine.thinkers import Thinkers
from croupier.games.interface import Choose
from croupier.runtime.identity import Clock
from croupier.runtime.logs import Logger
from croupier.runtime.traces import Traces


@dataclass(frozen=True, slots=True)
class EngineServices:
    """What every live table uses; `choose` is the chance that computer players draw on; None traces nothing."""

    store: TableStore
    encoder: Encoder
    metrics: EngineMetrics
    clock: Clock
    choose: Choose
    logger: Logger
    background: Background
    reporter: Reporter
    thinkers: Thinkers
    attendance: Attendance
    news: News
    traces: Traces | None = None
