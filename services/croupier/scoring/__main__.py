"""Run the scoring service: python -m croupier.scoring."""

import time
from collections.abc import Sequence

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from prometheus_client import CollectorRegistry

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
from croupier.runtime.server.service import Port, Resources, Service, now_milliseconds, run_service
from croupier.scoring.housekeeping import Housekeeper
from croupier.scoring.ledger import Ledger
from croupier.scoring.publication import Publisher
from croupier.scoring.servicer import (
    CONTROL_SERVICE_NAME,
    SERVICE_NAME,
    ScoringControlServicer,
    ScoringServicer,
    entries_counter,
)
from croupier.scoring.settings import ScoringSettings
from croupier.scoring.standings_store import StandingsStore


def servicers(
    database: Database, registry: CollectorRegistry, engine_key: Ed25519PublicKey, clock: Clock
) -> tuple[AddServices, AddServices]:
    """Return the services for players and for engines, on one ledger."""
    ledger = Ledger(database, clock)
    players = ScoringServicer(ledger, StandingsStore(database), LinkVerifier(engine_key, clock), clock)
    control = ScoringControlServicer(ledger, entries_counter(registry))
    return players.add_to, control.add_to


def build(settings: ScoringSettings, resources: Resources) -> Service:
    """Wire scoring; raises SettingsError for an unusable key."""
    lobby = TokenVerifier(load_public_key(settings.lobby_public_key), PLAYER_AUDIENCE, now_milliseconds)
    engine_key = load_public_key(settings.engine_public_key)
    engine = TokenVerifier(engine_key, SCORING_CONTROL_AUDIENCE, now_milliseconds)
    limits = limits_of(settings, time.monotonic_ns)
    registry = CollectorRegistry()
    add_players, add_control = servicers(resources.database, registry, engine_key, now_milliseconds)
    housekeeper = Housekeeper(resources.database, settings.result_days, now_milliseconds, resources.logger)
    publisher = Publisher(resources.database, now_milliseconds, resources.logger)
    return Service(
        ports=(
            Port("listen", settings.listen, SERVICE_NAME, add_players, lobby, limits=limits),
            Port("control", settings.control_listen, CONTROL_SERVICE_NAME, add_control, engine),
        ),
        registry=registry,
        rpc_metrics=RpcMetrics(registry),
        tasks={"publication": publisher.run} | ({"housekeeping": housekeeper.run} if settings.result_days else {}),
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Serve until stopped and return the exit code."""
    return run_service("scoring", ScoringSettings, build, arguments)


if __name__ == "__main__":
    raise SystemExit(main())
