"""A scoring service on loopback with keys of its own, and the words that tests speak with it."""

from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import grpc
import structlog
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from prometheus_client import CollectorRegistry

from croupier.runtime.identity import (
    PLAYER_AUDIENCE,
    SCORING_CONTROL_AUDIENCE,
    TokenIssuer,
    load_private_key,
    write_new_key_pair,
)
from croupier.runtime.service import usable_database
from croupier.scoring.__main__ import ports
from croupier.scoring.settings import ScoringSettings
from croupier_api.v1 import scoring_pb2 as pb
from croupier_api.v1 import table_pb2
from croupier_api.v1.scoring_pb2_grpc import ScoringControlServiceStub, ScoringServiceStub
from tests.contract.house import CALL_SECONDS, Metadata, now, person
from tests.serving import serving

if TYPE_CHECKING:
    # The stubs for asyncio exist for the type checker only.
    from croupier_api.v1.scoring_pb2_grpc import ScoringControlServiceAsyncStub, ScoringServiceAsyncStub

FINISHED = 1_790_000_000_000


@dataclass(frozen=True, slots=True)
class Keys:
    """The lobby's and the engine's key pairs, as files."""

    folder: Path

    @classmethod
    def new(cls, folder: Path) -> "Keys":
        for name in ("lobby", "engine"):
            write_new_key_pair(folder / f"{name}.pem", folder / f"{name}.pub")
        return cls(folder)

    def settings(self, database: str) -> ScoringSettings:
        """Settings with these keys and free ports."""
        return ScoringSettings(
            database=database,
            lobby_public_key=self.folder / "lobby.pub",
            engine_public_key=self.folder / "engine.pub",
            listen="127.0.0.1:0",
            control_listen="127.0.0.1:0",
            metrics_listen="127.0.0.1:0",
        )

    def private(self, name: str) -> Ed25519PrivateKey:
        return load_private_key(self.folder / f"{name}.pem")

    def player(self, player_id: str) -> Metadata:
        """Metadata of a player who is signed in."""
        return bearer(self.private("lobby"), PLAYER_AUDIENCE, player_id)

    def engine(self) -> Metadata:
        """Metadata of the engine."""
        return bearer(self.private("engine"), SCORING_CONTROL_AUDIENCE, "engine")


def bearer(key: Ed25519PrivateKey, audience: str, subject: str, clock: Callable[[], int] = now) -> Metadata:
    """Metadata with a token that lasts a minute."""
    token, _ = TokenIssuer(key, audience, 60, clock).issue(subject, "Name")
    return (("authorization", f"Bearer {token}"),)


@dataclass(frozen=True, slots=True)
class House:
    """A running service, its keys, metrics and a stub for each port."""

    keys: Keys
    registry: CollectorRegistry
    players: "ScoringServiceAsyncStub"
    control: "ScoringControlServiceAsyncStub"
    players_channel: grpc.aio.Channel
    control_channel: grpc.aio.Channel

    async def ask(self, method: str, request: Any, player_id: str = "anna") -> Any:
        """Call the players' port as a player."""
        return await getattr(self.players, method)(request, metadata=self.keys.player(player_id), timeout=CALL_SECONDS)

    async def enter(self, request: pb.RecordRoundRequest | pb.TableResult) -> None:
        """Enter a round or a result as the engine."""
        metadata = self.keys.engine()
        if isinstance(request, pb.RecordRoundRequest):
            await self.control.RecordRound(request, metadata=metadata, timeout=CALL_SECONDS)
        else:
            entry = pb.RecordResultRequest(result=request)
            await self.control.RecordResult(entry, metadata=metadata, timeout=CALL_SECONDS)

    def entries(self, kind: str, outcome: str) -> float:
        """The metric of ledger entries."""
        labels = {"kind": kind, "outcome": outcome}
        return self.registry.get_sample_value("croupier_scoring_entries_total", labels) or 0.0


@asynccontextmanager
async def open_house(keys: Keys, database: str) -> AsyncIterator[House]:
    """Run the service, wired as the program wires it, until the end of the block."""
    registry = CollectorRegistry()
    settings = keys.settings(database)
    async with AsyncExitStack() as stack:
        database_in_use = usable_database(settings.database, "croupier.scoring", structlog.get_logger())
        engine = await stack.enter_async_context(database_in_use)
        channels = []
        for port in ports(settings, engine, registry):
            address = await stack.enter_async_context(serving(port.add, port.verifier, names=[port.service]))
            channels.append(await stack.enter_async_context(grpc.aio.insecure_channel(address)))
        players, control = channels
        yield House(keys, registry, ScoringServiceStub(players), ScoringControlServiceStub(control), players, control)


ANNA_AND_BEN = (person("anna"), person("ben"))


def round_entry(
    table_id: str = "t1", number: int = 1, seats: tuple[table_pb2.SeatInfo, ...] = ANNA_AND_BEN, game: str = "jossing"
) -> pb.RecordRoundRequest:
    """A round in which seat s got s points and made s + 1 bids."""
    points = range(len(seats))
    line = pb.SheetRound(
        round=number,
        points=points,
        totals=[number * p for p in points],
        notes=["made it"] * len(seats),
        headline=f"game {number}",
        details={"trump": "S", "declarer": "0"},
        counts=[table_pb2.SeatCount(name="bids_made", seat=seat, amount=seat + 1) for seat in points],
    )
    return pb.RecordRoundRequest(table_id=table_id, game=game, seats=seats, round=line)


def result_entry(
    table_id: str = "t1",
    ranking: tuple[tuple[int, ...], ...] = ((0,), (1,)),
    seats: tuple[table_pb2.SeatInfo, ...] = ANNA_AND_BEN,
    game: str = "jossing",
    finished: int = FINISHED,
) -> pb.TableResult:
    """A result in which seat s has s points."""
    return pb.TableResult(
        table_id=table_id,
        game=game,
        seats=seats,
        ranking=[table_pb2.RankGroup(seats=group) for group in ranking],
        totals=range(len(seats)),
        finished_milliseconds=finished,
    )
