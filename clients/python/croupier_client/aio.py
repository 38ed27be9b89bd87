"""The client for asyncio: channels, tokens and retries around the RPCs."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterable, AsyncIterator
from contextlib import aclosing
from functools import partial
from typing import Protocol, Self

import grpc

from croupier_api.v1 import engine_pb2, lobby_pb2, tables_pb2
from croupier_api.v1.engine_pb2_grpc import EngineServiceStub
from croupier_client.aio_socket import AsyncSockets
from croupier_client.aio_table import AsyncTable, AsyncWatchedTable
from croupier_client.client import ClientCore
from croupier_client.endpoints import CALL_SECONDS, STREAM_SECONDS, channel_options, channel_target
from croupier_client.errors import CroupierError, Unavailable, from_rpc_error
from croupier_client.rpc import AsyncCaller, M, R, Rpc, Service, StreamMessage


class _Responses(AsyncIterable[M], Protocol[M]):
    def cancel(self) -> bool: ...


class Client(ClientCore, AsyncCaller):
    """A player's client for asyncio; use it as an async context manager.

    It signs in and renews its tokens by itself. The RPCs of the services are its methods (see `ServiceMethods`): each
    is a coroutine that returns the contract's response message, or an async iterator of such messages.
    """

    def _set_up(self) -> None:
        self._channels: dict[str, grpc.aio.Channel] = {}
        self._sockets = AsyncSockets(self._socket_settings) if self._socket_settings else None
        self._signing_in = asyncio.Lock()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_error: object) -> None:
        if self._sockets is not None:
            await self._sockets.close()
        for channel in self._channels.values():
            await channel.close()

    async def sign_in(self, name: str = "", device_code: str = "", id_token: str = "") -> lobby_pb2.Player:
        """Sign in now, as any call does when it must, and return the player; a name renames them.

        A code of CreateDeviceCode, made on another device, adds this one to its player; the device secret is new then.
        An ID token of the app's identity provider signs its user in, and this device for the sign-ins to come.
        """
        async with self._signing_in:
            self._session = self._session.renamed(name)
            return await self._sign_in(device_code, id_token)

    async def sign_out(self, *, all_devices: bool = False) -> None:
        """End the sign-in and forget its tokens; the next call signs in again by the device secret.

        With `all_devices` the player's other devices are signed out too, and their secrets removed.
        """
        async with self._signing_in:
            if all_devices and self._session.needs_sign_in:
                await self._sign_in()
            session, self._session = self._session, self._session.signed_out()
            if session.tokens is not None:
                await self._send_alone(session.sign_out_rpc(all_devices=all_devices))

    def play_table(self, table_id: str) -> AsyncTable:
        """Play at a table: `async with client.play_table(table_id) as table`."""
        return AsyncTable(self, table_id)

    def watch_table(self, table_id: str, link: str = "") -> AsyncWatchedTable:
        """Watch a table, by a link if it needs one: `async with client.watch_table(table_id) as table`."""
        return AsyncWatchedTable(self, table_id, link)

    async def wait_for_match(
        self,
        *,
        game: str,
        seat_count: int,
        client_seed: bytes = b"",
        request_id: str = "",
        preset: str = "",
        bots_after_seconds: int | None = None,
    ) -> tables_pb2.Table:
        """Wait until matched with others, and return the table. Cancel it, or use asyncio.timeout, to give up.

        A call again after an error with the same `request_id` returns the same table.
        """
        table = tables_pb2.Table()
        # Read to the end: the lobby counts the table as delivered once the whole stream was received.
        async for answer in self.find_match(
            game=game,
            seat_count=seat_count,
            client_seed=client_seed,
            request_id=request_id,
            preset=preset,
            bots_after_seconds=bots_after_seconds,
        ):
            table = answer.table
        return table

    async def invoke(self, rpc: Rpc[R]) -> R:
        retries = self.retries(rpc.attempts)
        with self._seat_changes.making(rpc):
            while True:
                try:
                    answer = await self._send(rpc, await self._access_token())
                    self._answered(answer)
                    return answer
                except CroupierError as error:
                    await asyncio.sleep(retries.delay_seconds(error))
                    if self._seat_changes.is_overtaken(rpc):
                        raise

    async def follow(self, rpc: Rpc[R]) -> AsyncGenerator[R, None]:
        retries = self.retries(rpc.attempts)
        is_complete = False
        while not is_complete:
            is_empty = True
            try:
                async with aclosing(await self.open(rpc)) as answers:
                    async for answer in answers:
                        retries.succeeded()
                        is_empty, is_complete = False, rpc.is_last is not None and rpc.is_last(answer)
                        yield answer
                if rpc.is_last is None:
                    return
                if is_empty:
                    raise Unavailable(grpc.StatusCode.UNAVAILABLE, "the stream ended without an answer")
            except CroupierError as error:
                if not is_complete:
                    await asyncio.sleep(retries.delay_seconds(error))

    async def open(self, rpc: Rpc[R]) -> AsyncGenerator[R, None]:
        return self._open(rpc, await self._access_token(), STREAM_SECONDS)

    def _open(self, rpc: Rpc[R], access_token: str, seconds: float) -> AsyncGenerator[R, None]:
        start = self._channel(rpc.service).unary_stream(
            rpc.path, request_serializer=rpc.serialize, response_deserializer=rpc.response.FromString
        )
        metadata = self._metadata(access_token, rpc.table_id)
        return self._read(start(rpc.request, timeout=seconds, metadata=metadata), access_token)

    async def open_table(
        self, watch: engine_pb2.WatchTableRequest, actions: AsyncIterator[engine_pb2.SubmitActionRequest] | None = None
    ) -> AsyncGenerator[StreamMessage, None]:
        access_token = await self._access_token()
        if self._sockets is not None:
            requests = _play_requests(watch, actions, access_token)
            fail = partial(self.failure, access_token=access_token)
            return self._sockets.messages(watch.table_id, self._metadata(""), requests, fail)
        if actions is None:
            return self._open(Rpc(Service.ENGINE, watch, engine_pb2.WatchTableResponse), access_token, STREAM_SECONDS)
        play = EngineServiceStub(self._channel(Service.ENGINE)).PlayTable
        metadata = self._metadata(access_token, watch.table_id)
        requests = _play_requests(watch, actions)
        return self._read(play(requests, timeout=STREAM_SECONDS, metadata=metadata), access_token)

    async def _read(self, responses: _Responses[R], access_token: str) -> AsyncGenerator[R, None]:
        try:
            async for response in responses:
                yield response
        except grpc.RpcError as error:
            raise self.failure(from_rpc_error(error), access_token) from error
        finally:
            responses.cancel()

    async def _send(self, rpc: Rpc[R], access_token: str) -> R:
        """Make one attempt at an RPC with one answer."""
        if rpc.join is not None:
            return rpc.join([part async for part in self._open(rpc, access_token, CALL_SECONDS)])
        send = self._channel(rpc.service).unary_unary(
            rpc.path, request_serializer=rpc.serialize, response_deserializer=rpc.response.FromString
        )
        try:
            return await send(rpc.request, timeout=CALL_SECONDS, metadata=self._metadata(access_token, rpc.table_id))
        except grpc.RpcError as error:
            raise self.failure(from_rpc_error(error), access_token) from error

    async def _access_token(self) -> str:
        """Return a token that was not refused, after a refresh or a sign-in if needed."""
        async with self._signing_in:
            if self._session.needs_refresh:
                await self._refresh()
            if self._session.needs_sign_in:
                await self._sign_in()
            return self._session.access_token

    async def _refresh(self) -> None:
        session = self._session
        self._session = session.refresh_failed()
        try:
            answer = await self._send(session.refresh_rpc(), "")
        except CroupierError:
            return
        self._session = session.refreshed(answer)

    async def _sign_in(self, device_code: str = "", id_token: str = "") -> lobby_pb2.Player:
        answer = await self._send_alone(self._session.sign_in_rpc(device_code, id_token))
        self._session = self._session.signed_in(answer)
        return answer.player

    async def _send_alone(self, rpc: Rpc[R]) -> R:
        """Make an RPC without access token, with retries."""
        retries = self.retries(rpc.attempts)
        while True:
            try:
                return await self._send(rpc, "")
            except CroupierError as error:
                await asyncio.sleep(retries.delay_seconds(error))

    def _channel(self, service: Service) -> grpc.aio.Channel:
        address = self._addresses[service]
        if address not in self._channels:
            self._channels[address] = self._connect(address)
        return self._channels[address]

    def _connect(self, address: str) -> grpc.aio.Channel:
        target, options = channel_target(address), channel_options(address, self._keepalive_seconds)
        if self._credentials is None:
            return grpc.aio.insecure_channel(target, options=options)
        return grpc.aio.secure_channel(target, self._credentials, options=options)


async def _play_requests(
    watch: engine_pb2.WatchTableRequest,
    actions: AsyncIterator[engine_pb2.SubmitActionRequest] | None,
    access_token: str = "",
) -> AsyncIterator[engine_pb2.PlayTableRequest]:
    """Yield the requests of a stream; the first has the token over WebSocket, which has no metadata for it."""
    yield engine_pb2.PlayTableRequest(watch=watch, access_token=access_token)
    if actions is not None:
        async for action in actions:
            yield engine_pb2.PlayTableRequest(action=action)
