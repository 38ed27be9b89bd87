"""The dependencies that all tables of an engine share."""

from dataclasses import dataclass

from croupier.engine.bots.worker_pool import BotWorkers
from croupier.engine.core.limits import TableLimits
from croupier.engine.metrics import EngineMetrics
from croupier.engine.storage.port import TableStore
from croupier.engine.tables.entry_rate import EntryLimit
from croupier.engine.tables.ports import Liveness, ReactionNotifier, ReportOutbox
from croupier.engine.tables.subscription import MAX_QUEUE_MESSAGES, Encoder
from croupier.engine.tasks import Background
from croupier.games.interface import RandomSource
from croupier.runtime.admission.budget import Budget
from croupier.runtime.fair_queue import SendingLoop
from croupier.runtime.identity import Clock
from croupier.runtime.logs import Logger


@dataclass(frozen=True, slots=True)
class TableDependencies:
    """The dependencies of a live table; `random` is the random source of computer players.

    `networks` is the budget of each network, from which the bots and time-outs of its tables take too. The streams of
    spectators send by `spectator_sending`, so that those of one table, up to 200, let the actions of other tables
    through.
    """

    store: TableStore
    encoder: Encoder
    metrics: EngineMetrics
    clock: Clock
    random: RandomSource
    logger: Logger
    background: Background
    outbox: ReportOutbox
    bot_workers: BotWorkers
    liveness: Liveness
    notifier: ReactionNotifier
    limits: TableLimits
    entry_limit: EntryLimit
    networks: Budget
    spectator_sending: SendingLoop
    max_queue_messages: int = MAX_QUEUE_MESSAGES
