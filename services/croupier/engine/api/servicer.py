"""The engine's service for players over gRPC: identity, decoding, the call to the domain, encoding."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from math import inf
from typing import Any, cast

import grpc

from croupier.engine.api.game_texts import rules_page
from croupier.engine.api.play_session import PlaySession, act, check_first, decode_request, first_message_late
from croupier.engine.api.reactions import check_reaction
from croupier.engine.api.stream_codec import decode_eyes, encode_snapshot, encode_time
from croupier.engine.api.table_codec import decode_rules
from croupier.engine.core.access import Need, Visitor, has_seat, not_seated
from croupier.engine.core.folded_table import MAX_RESUMED_ENTRIES
from croupier.engine.core.log import AwaySet, Proposed, Voted
from croupier.engine.core.replay import replay_parts
from croupier.engine.metrics import EngineMetrics
from croupier.engine.storage.port import StoredTable
from croupier.engine.tables.registry import Tables
from croupier.engine.tables.replay_events import replay_event_parts
from croupier.engine.tables.table import Table
from croupier.games.facts import Seat, Viewer
from croupier.runtime.admission.costs import load_cost, replay_cost, resume_cost
from croupier.runtime.errors import (
    IllegalNow,
    MalformedRequest,
    ServiceError,
    Unavailable,
)
from croupier.runtime.identity.links import Links
from croupier.runtime.identity.tokens import Clock
from croupier.runtime.observation.tracing import is_traced
from croupier.runtime.server.call import Call
from croupier.runtime.server.interceptor import REQUEST_SECONDS
from croupier.runtime.table_access import LinkPurpose
from croupier.runtime.translations import language_of
from croupier_api.v1 import engine_pb2 as pb
from croupier_api.v1 import engine_pb2_grpc, errors_pb2

SERVICE_NAME: str = pb.DESCRIPTOR.services_by_name["EngineService"].full_name
PURPOSES = {pb.LINK_PURPOSE_WATCH: LinkPurpose.WATCH, pb.LINK_PURPOSE_REPLAY: LinkPurpose.REPLAY}

Context = grpc.aio.ServicerContext[Any, Any]


@dataclass(frozen=True, slots=True)
class EngineServicer:
    """EngineService. Its streams write bytes that are encoded once for all viewers who receive the same."""

    tables: Tables
    links: Links
    clock: Clock
    metrics: EngineMetrics

    def add_to(self, server: grpc.aio.Server) -> None:
        """Register all methods. The streams get handlers without serializers, since they write encoded messages."""
        engine_pb2_grpc.add_EngineServiceServicer_to_server(cast("Any", self), server)
        streams: dict[str, Any] = {
            "WatchTable": grpc.unary_stream_rpc_method_handler(self.WatchTable, pb.WatchTableRequest.FromString, None),
            "WatchReplay": grpc.unary_stream_rpc_method_handler(
                self.WatchReplay, pb.WatchReplayRequest.FromString, None
            ),
            "PlayTable": grpc.stream_stream_rpc_method_handler(self.PlayTable, None, None),
        }
        server.add_registered_method_handlers(SERVICE_NAME, streams)

    async def SubmitAction(self, request: pb.SubmitActionRequest, call: Call) -> pb.SubmitActionResponse:
        """Act for the caller's seat."""
        table = await self._visit(call, request.table_id, Need.TABLE)
        return pb.SubmitActionResponse(sequence=await act(table, call.caller.id, request, self.metrics))

    async def GetView(self, request: pb.GetViewRequest, call: Call) -> pb.GetViewResponse:
        """Return everything that the caller may know."""
        table, viewer = await self._viewed(call, request)
        state, now = await table.subscribers.state_for(viewer), table.subscribers.time_for(viewer)
        presence = table.subscribers.presence_for(viewer)
        return pb.GetViewResponse(snapshot=encode_snapshot(table.config, state, viewer, now, presence))

    async def SendReaction(self, request: pb.SendReactionRequest, call: Call) -> pb.SendReactionResponse:
        """Send a reaction to the table."""
        table = await self._visit(call, request.table_id, Need.TABLE, request.link)
        try:
            check_reaction(request.reaction)
        except MalformedRequest as refusal:
            raise await self._refusal(refusal) from None
        table.react(call.caller.id, request.reaction)
        return pb.SendReactionResponse()

    async def CreateProposal(self, request: pb.CreateProposalRequest, call: Call) -> pb.CreateProposalResponse:
        """Create a proposal for all seats."""
        table, seat = await self._seated(call, request)
        proposed = Proposed(seat, request.proposal, expires_at=0)
        return pb.CreateProposalResponse(sequence=await table.append_once(proposed, request.request_id))

    async def CastVote(self, request: pb.CastVoteRequest, call: Call) -> pb.CastVoteResponse:
        """Agree with the pending proposal, or decline it."""
        table, seat = await self._seated(call, request)
        voted = Voted(seat, request.proposal_sequence, request.vote == pb.VOTE_AGREE)
        return pb.CastVoteResponse(sequence=await table.append_once(voted, request.request_id))

    async def SetAway(self, request: pb.SetAwayRequest, call: Call) -> pb.SetAwayResponse:
        """Leave the caller's seat to the engine, or return to it."""
        table, seat = await self._seated(call, request)
        return pb.SetAwayResponse(sequence=await table.append_once(AwaySet(seat, request.is_away), request.request_id))

    async def GetRules(self, request: pb.GetRulesRequest, call: Call) -> pb.GetRulesResponse:
        """Return the rules page of a game."""
        try:
            game = decode_rules(request.game, request.rules_version)
        except MalformedRequest as refusal:
            raise await self._refusal(refusal) from None
        page = rules_page(game, language_of(request.language))
        return pb.GetRulesResponse(markdown=page.markdown, language=page.language, rules_version=game.rules_version)

    async def _refusal(self, refusal: MalformedRequest) -> ServiceError:
        """Return a refusal of what this engine does not know; Unavailable in a roll-out: another may know it."""
        if not (await self.tables.living_games()).is_rolling_out:
            return refusal
        message = f"{refusal.message}; another engine may know it: try again"
        return Unavailable(errors_pb2.ERROR_REASON_TABLE_TOO_NEW, message, retry_after_seconds=1)

    async def _seated(
        self, call: Call, request: pb.CreateProposalRequest | pb.CastVoteRequest | pb.SetAwayRequest
    ) -> tuple[Table, Seat]:
        table = await self._visit(call, request.table_id, Need.TABLE)
        return table, table.seat_of(call.caller.id)

    async def _viewed(self, call: Call, request: pb.GetViewRequest | pb.WatchTableRequest) -> tuple[Table, Viewer]:
        table = await self._visit(call, request.table_id, Need.VIEW, request.link)
        viewer = table.viewer_of(call.caller.id)
        # The first spectator of a delayed table pays for its log, which is folded again for them.
        if entries := table.subscribers.entries_to_fold(viewer):
            call.admission.owe(load_cost(entries))
        return table, viewer

    async def _visit(self, call: Call, table_id: str, need: Need, link: str = "") -> Table:
        """Return a table; raises NotFound unless it exists for the caller, with the link that they have."""
        visitor = self._visitor(call, table_id, link)
        loaded = await self.tables.load(await self._find(call, table_id, visitor, need), visitor, need)
        if loaded.entries:
            call.admission.owe(load_cost(loaded.entries, loaded.callers))
        return loaded.table

    async def _find(self, call: Call, table_id: str, visitor: Visitor, need: Need) -> Table | StoredTable:
        """Return a table without its log; strangers pay before the database is asked, and before the log is read."""
        if self.tables.is_seated_in_memory(table_id, visitor.player_id):
            return await self.tables.find(table_id, visitor, need)
        call.admission.pay_lookup()
        is_free = False
        try:
            found = await self.tables.find(table_id, visitor, need)
            is_free = has_seat(found.config, visitor.player_id)
        except Unavailable:
            # Players who try again during an outage would use up their network's share.
            is_free = True
            raise
        finally:
            call.admission.end_lookup(is_free=is_free)
        if not is_free:
            call.admission.pay_as_stranger()
        return found

    def _visitor(self, call: Call, table_id: str, link: str) -> Visitor:
        return Visitor(call.caller.id, self.links.verifier.purpose_of(link, table_id))

    async def CreateLink(self, request: pb.CreateLinkRequest, call: Call) -> pb.CreateLinkResponse:
        """Return a link to a table of the caller."""
        purpose = PURPOSES[request.purpose]
        visitor = Visitor(call.caller.id)
        found = await self._find(call, request.table_id, visitor, Need.LINK)
        if not has_seat(found.config, visitor.player_id):
            raise not_seated()
        # The host may change the access until the game begins; a link that it does not allow then opens nothing.
        is_prepared = isinstance(found, StoredTable) and found.is_prepared
        if not is_prepared and not found.config.access.allows_link(purpose):
            raise IllegalNow(
                errors_pb2.ERROR_REASON_LINK_NOT_ALLOWED, f"the access of the table allows no link to {purpose}"
            )
        link, expires = self.links.issue(request.table_id, purpose)
        return pb.CreateLinkResponse(link=link, expiry_time=encode_time(expires))

    async def GetReplay(self, request: pb.GetReplayRequest, call: Call) -> AsyncIterator[pb.GetReplayResponse]:
        """Yield the replay of a finished table in parts; each is decompressed when the one before it was sent."""
        visitor = self._visitor(call, request.table_id, request.link)
        found = await self._find(call, request.table_id, visitor, Need.REPLAY)
        replay = await self.tables.replay(found, visitor)
        call.admission.owe(replay_cost(replay.written, replay.callers))
        for part in replay_parts(replay.compressed):
            yield pb.GetReplayResponse(replay=part)

    async def WatchReplay(self, request: pb.WatchReplayRequest, call: Call) -> AsyncIterator[bytes]:
        """Yield the events of a finished table in parts; each is decompressed when the one before it was sent."""
        visitor = self._visitor(call, request.table_id, request.link)
        found = await self._find(call, request.table_id, visitor, Need.REPLAY)
        replay = await self.tables.replay(found, visitor, decode_eyes(request, found.config.seat_count))
        call.admission.owe(replay_cost(replay.written, replay.callers))
        for part in replay_event_parts(replay.compressed):
            yield part

    async def WatchTable(self, request: pb.WatchTableRequest, call: Call) -> AsyncIterator[bytes]:
        """Follow a table."""
        async with self._subscribed(call, request) as session:
            while (message := await session.stream.next()) is not None:
                yield message

    async def PlayTable(self, request_iterator: Any, call: Call) -> None:
        """Follow a table and act in one stream."""
        first = await _first_message(call.context)
        # The gateway gives a request without end no more time than other requests, unless its answer has begun.
        await call.context.send_initial_metadata(())
        async with self._subscribed(call, first.watch) as session:
            reading = asyncio.create_task(_read_actions(session, call.context))
            try:
                while (message := await session.stream.next()) is not None:
                    await call.context.write(message)
            finally:
                reading.cancel()

    @asynccontextmanager
    async def _subscribed(self, call: Call, watch: pb.WatchTableRequest) -> AsyncIterator[PlaySession]:
        """Subscribe to a table for the time of the block."""
        session = await self.subscribe(call, watch)
        session.stream.writer = asyncio.current_task()
        try:
            yield session
        finally:
            session.leave()

    async def subscribe(self, call: Call, watch: pb.WatchTableRequest) -> PlaySession:
        """Subscribe to a table until the session leaves it; raises NotFound and what Table.subscribe() raises."""
        table, viewer = await self._viewed(call, watch)
        after = watch.after_sequence if watch.HasField("after_sequence") else None
        await table.catch_up_to(after or 0, viewer)
        known = (await table.subscribers.state_for(viewer)).sequence
        # The end that this engine did not know may have ended the access too.
        table.check_access(self._visitor(call, watch.table_id, watch.link), Need.VIEW)
        stream = table.subscribe(viewer, after, call.caller.network, call.caller.id)
        if after is not None and known - after <= MAX_RESUMED_ENTRIES:
            call.admission.owe(resume_cost(known - after))
        # The stream ends when the token of its call expires.
        expires_at = call.caller.expires_at
        seconds = inf if expires_at is None else max(0, expires_at - self.clock()) / 1000
        expiry = asyncio.get_running_loop().call_later(seconds, table.subscribers.expire, stream)
        return PlaySession(table, stream, expiry, call.caller.id, call.admission, self.metrics, is_traced())


async def _read_actions(session: PlaySession, context: Context) -> None:
    """Serve the actions of a stream in order, until the client half-closes it or sends a malformed message."""
    try:
        while not session.stream.closed and (raw := await context.read()) is not grpc.aio.EOF:
            request = decode_request(raw)
            if not session.receive_at_once(request):
                await session.receive(request)
    except grpc.aio.UsageError:
        # The call ended while a message was awaited; the writer notices that itself.
        session.stream.close()
    except Exception as error:  # noqa: BLE001 - the writer of the stream raises it
        session.stream.close(error)


async def _first_message(context: Context) -> pb.PlayTableRequest:
    try:
        async with asyncio.timeout(REQUEST_SECONDS):
            raw = await context.read()
    except TimeoutError:
        raise first_message_late(REQUEST_SECONDS) from None
    first = decode_request(raw) if raw is not grpc.aio.EOF else pb.PlayTableRequest()
    check_first(first)
    return first
