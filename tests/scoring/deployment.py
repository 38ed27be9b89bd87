"""A scoring service on loopback with its own keys, and stubs for its two ports."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import grpc
import structlog
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from google.protobuf.timestamp_pb2 import Timestamp
from prometheus_client import CollectorRegistry

from croupier.runtime.database.database import open_database
from croupier.runtime.identity.tokens import (
    PLAYER_AUDIENCE,
    SCORING_CONTROL_AUDIENCE,
    TokenIssuer,
    load_private_key,
    write_new_key_pair,
)
from croupier.runtime.server.service import Resources, now_milliseconds
from croupier.scoring.__main__ import build
from croupier.scoring.ledger import Ledger, Result, Round, Sheet
from croupier.scoring.settings import ScoringSettings
from croupier_api.v1 import cards_pb2, facts_pb2, scoring_pb2_grpc, tables_pb2
from croupier_api.v1 import scoring_pb2 as pb
from croupier_internal.v1 import scoring_control_pb2 as control_pb
from croupier_internal.v1 import scoring_control_pb2_grpc
from tests.contract.deployment import CALL_SECONDS, Metadata, person
from tests.serving import serving

END_MILLISECONDS = 1_790_000_000_000


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
        """Return settings with these keys and free ports."""
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
        return bearer(self.private("lobby"), PLAYER_AUDIENCE, player_id)

    def engine(self) -> Metadata:
        return bearer(self.private("engine"), SCORING_CONTROL_AUDIENCE, "engine")


def bearer(key: Ed25519PrivateKey, audience: str, subject: str) -> Metadata:
    """Return metadata with a token that is valid for a minute."""
    token, _ = TokenIssuer(key, audience, 60, now_milliseconds).issue(subject, "Name")
    return (("authorization", f"Bearer {token}"),)


@dataclass(frozen=True, slots=True)
class ScoringHarness:
    """A running service, its keys, metrics and a stub for each port."""

    keys: Keys
    registry: CollectorRegistry
    players: "scoring_pb2_grpc.ScoringServiceAsyncStub"
    control: "scoring_control_pb2_grpc.ScoringControlServiceAsyncStub"
    players_channel: grpc.aio.Channel
    control_channel: grpc.aio.Channel

    async def ask(self, method: str, request: Any, player_id: str = "anna") -> Any:
        return await getattr(self.players, method)(request, metadata=self.keys.player(player_id), timeout=CALL_SECONDS)

    async def record(
        self, request: control_pb.RecordRoundRequest | control_pb.RecordResultRequest | pb.GameResult
    ) -> None:
        """Record a round or a result as the engine; a result alone is that of a public table."""
        metadata = self.keys.engine()
        if isinstance(request, pb.GameResult):
            request = control_pb.RecordResultRequest(result=request, access=PUBLIC)
        if isinstance(request, control_pb.RecordRoundRequest):
            await self.control.RecordRound(request, metadata=metadata, timeout=CALL_SECONDS)
        else:
            await self.control.RecordResult(request, metadata=metadata, timeout=CALL_SECONDS)

    def entries(self, kind: str, outcome: str) -> float:
        labels = {"kind": kind, "outcome": outcome}
        return self.registry.get_sample_value("croupier_scoring_entries_total", labels) or 0.0


@asynccontextmanager
async def open_harness(keys: Keys, database: str) -> AsyncIterator[ScoringHarness]:
    """Run the service, wired as the program wires it, until the end of the block."""
    async with AsyncExitStack() as stack:
        opened = open_database(database)
        stack.push_async_callback(opened.close)
        resources = Resources(structlog.get_logger(), None, "", opened, stack)
        service = build(keys.settings(database), resources)
        channels = []
        for port in service.ports:
            address = await stack.enter_async_context(serving(port.add, port.verifier, names=[port.service_name]))
            channels.append(await stack.enter_async_context(grpc.aio.insecure_channel(address)))
        players, control = channels
        yield ScoringHarness(
            keys,
            service.registry,
            scoring_pb2_grpc.ScoringServiceStub(players),
            scoring_control_pb2_grpc.ScoringControlServiceStub(control),
            players,
            control,
        )


PUBLIC = tables_pb2.TableAccess(visibility=tables_pb2.VISIBILITY_EVERYONE, watch_policy=tables_pb2.WATCH_POLICY_ANYONE)
HEARTS = facts_pb2.Value(suit=cards_pb2.SUIT_HEARTS)
ANNA_AND_BEN = (person("anna"), person("ben"))


def round_entry(
    table_id: str = "t1", number: int = 1, seats: tuple[tables_pb2.PlayedSeat, ...] = ANNA_AND_BEN
) -> control_pb.RecordRoundRequest:
    """Return a round with s points and s + 1 bids made for each seat s."""
    points = range(len(seats))
    score = facts_pb2.RoundScore(
        round=number,
        points=points,
        totals=[number * p for p in points],
        notes=[facts_pb2.Note(phrases=[facts_pb2.Phrase(word="made")])] * len(seats),
        headline=[facts_pb2.Phrase(word="trump", parameters=[facts_pb2.Parameter(name="trump", value=HEARTS)])],
        details=[
            facts_pb2.Mark(name="trump", value=HEARTS),
            facts_pb2.Mark(
                name="laid",
                seat=0,
                value=facts_pb2.Value(
                    cards=facts_pb2.CardList(cards=[cards_pb2.CARD_TWO_OF_CLUBS, cards_pb2.CARD_THREE_OF_CLUBS])
                ),
            ),
        ],
        counts=[facts_pb2.SeatCount(name="bids_made", seat=seat, amount=seat + 1) for seat in points],
    )
    return control_pb.RecordRoundRequest(table_id=table_id, game="jossing", seats=seats, score=score, access=PUBLIC)


def result_entry(
    table_id: str = "t1",
    ranking: tuple[tuple[int, ...], ...] = ((0,), (1,)),
    seats: tuple[tables_pb2.PlayedSeat, ...] = ANNA_AND_BEN,
    game: str = "jossing",
    end_milliseconds: int = END_MILLISECONDS,
) -> pb.GameResult:
    """Return a result with s points for each seat s, whose time ran out s times; players finished it themselves."""
    return pb.GameResult(
        table_id=table_id,
        game=game,
        seats=seats,
        ranking=[facts_pb2.RankGroup(seats=group) for group in ranking],
        totals=range(len(seats)),
        end_time=Timestamp(seconds=end_milliseconds // 1000, nanos=end_milliseconds % 1000 * 1_000_000),
        conduct=[pb.SeatConduct(timeouts=seat) for seat in range(len(seats))],
    )


def listed(result: pb.GameResult) -> pb.GameResult:
    """Return the result of a public table as scoring answers it."""
    answer = pb.GameResult()
    answer.CopyFrom(result)
    people = [seat for seat, occupant in enumerate(result.seats) if not occupant.bot]
    answer.ranked_seats.extend(people if len(people) > 1 else ())
    return answer


class Entries(NamedTuple):
    """All entries of a table."""

    sheet: Sheet
    rounds: tuple[Round, ...]
    result: Result | None


async def score_sheet(ledger: Ledger, table_id: str) -> Entries:
    """Return all entries of a table."""
    found = await ledger.find_sheet(table_id, lambda _sheet, _result: True)
    return Entries(found.sheet, tuple(found.rounds()), found.result)
