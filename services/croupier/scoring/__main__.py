"""Run the scoring service: python -m croupier.scoring."""

import time
from collections.abc import Sequence
from functools import partial

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from prometheus_client import CollectorRegistry

from croupier.games.registry import InvalidGames, installed_games
from croupier.runtime.admission.limits import limits_of
from croupier.runtime.database.database import Database
from croupier.runtime.identity.links import LinkVerifier
from croupier.runtime.identity.tokens import (
    PLAYER_AUDIENCE,
    SCORING_CONTROL_AUDIENCE,
    Clock,
    TokenVerifier,
    load_public_key,
)
from croupier.runtime.observation.metrics import RpcMetrics
from croupier.runtime.server.grpc_server import AddServices
from croupier.runtime.server.program import SettingsError
from croupier.runtime.server.service import Port, Resources, Service, now_milliseconds, run_service
from croupier.runtime.server.tasks import repeat
from croupier.scoring.housekeeping import delete_expired
from croupier.scoring.ledger import Ledger
from croupier.scoring.publication import publish_due
from croupier.scoring.servicer import (
    CONTROL_SERVICE_NAME,
    SERVICE_NAME,
    ScoringControlServicer,
    ScoringServicer,
    entries_counter,
)
from croupier.scoring.settings import ScoringSettings
from croupier.scoring.standings_store import StandingsStore

PUBLICATION_SECONDS = 1.0
DELETION_SECONDS = 60.0


def servicers(
    database: Database, registry: CollectorRegistry, engine_key: Ed25519PublicKey, clock: Clock
) -> tuple[AddServices, AddServices]:
    """Return the services for players and for engines, on one ledger."""
    ledger = Ledger(database, clock)
    verifier = LinkVerifier(engine_key, clock)
    players = ScoringServicer(ledger, StandingsStore(database), verifier, clock, _game_ids())
    control = ScoringControlServicer(ledger, entries_counter(registry))
    return players.add_to, control.add_to


def _game_ids() -> tuple[str, ...]:
    """Return the ids of all games; raises SettingsError for installed games that cannot be used."""
    try:
        return tuple(installed_games())
    except InvalidGames as fault:
        raise SettingsError(str(fault)) from None


def build(settings: ScoringSettings, resources: Resources) -> Service:
    """Wire scoring; raises SettingsError for an unusable key, or unusable games."""
    lobby = TokenVerifier(load_public_key(settings.lobby_public_key), PLAYER_AUDIENCE, now_milliseconds)
    engine_key = load_public_key(settings.engine_public_key)
    engine = TokenVerifier(engine_key, SCORING_CONTROL_AUDIENCE, now_milliseconds)
    limits, registry = limits_of(settings, time.monotonic_ns), CollectorRegistry()
    database, logger = resources.database, resources.logger
    add_players, add_control = servicers(database, registry, engine_key, now_milliseconds)
    publish = partial(publish_due, database, now_milliseconds)
    tasks = {"publication": partial(repeat, publish, PUBLICATION_SECONDS, logger, "results are published later")}
    if settings.result_days:
        delete = partial(delete_expired, database, settings.result_days, now_milliseconds)
        tasks["housekeeping"] = partial(repeat, delete, DELETION_SECONDS, logger, "old results are deleted later")
    return Service(
        ports=(
            Port("listen", settings.listen, SERVICE_NAME, add_players, lobby, limits=limits),
            Port("control", settings.control_listen, CONTROL_SERVICE_NAME, add_control, engine),
        ),
        registry=registry,
        rpc_metrics=RpcMetrics(registry),
        tasks=tasks,
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Serve until stopped and return the exit code."""
    return run_service("scoring", ScoringSettings, build, arguments)


if __name__ == "__main__":
    raise SystemExit(main())
