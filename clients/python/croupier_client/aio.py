"""The client for asyncio: channels, tokens and retries around the calls."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterable, AsyncIterator
from contextlib import aclosing
from types import TracebackType
from typing import Protocol, Self

import grpc

from croupier_api.v1 import engine_pb2, lobby_pb2
from croupier_api.v1.engine_pb2_grpc import EngineServiceStub
from croupier_client.aio_table import AsyncTable, AsyncWatchedTable
from croupier_client.callers import AsyncCaller, Call, M, R, Service
from croupier_client.client import ClientCore
from croupier_client.endpoints import CALL_SECONDS, CHANNEL_OPTIONS, STREAM_SECONDS, channel_target
from croupier_client.errors import CroupierError, Unavailable


class _Responses(AsyncIterable[M], Protocol[M]):
    def cancel(self) -> bool: ...


class Client(ClientCore, AsyncCaller):
    """A player's client for asyncio; use it as an async context manager.

    It signs in and keeps its tokens fresh by itself. The calls of the services are its methods (see `Calls`): each is
    a coroutine that gives the contract's response message, or an async iterator of them.
    """

    def _set_up(self) -> None:
        self._channels: dict[str, grpc.aio.Channel] = {}
        self._signing_in = asyncio.Lock()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        for channel in self._channels.values():
            await channel.close()

    async def sign_in(self) -> lobby_pb2.Player:
        """Sign in now, which any call does when it must; gives the player."""
        async with self._signing_in:
            return await self._sign_in()

    def play(self, table_id: str) -> AsyncTable:
        """Play at a table: `async with client.play(table_id) as table`."""
        return AsyncTable(self, table_id)

    def watch(self, table_id: str) -> AsyncWatchedTable:
        """Watch a table: `async with client.watch(table_id) as table`."""
        return AsyncWatchedTable(self, table_id)

    async def quick_match_until_seated(
        self, *, game: str, seats: int, client_seed: bytes = b"", request_id: str = ""
    ) -> lobby_pb2.Table:
        """Be matched with others; gives the table. Cancel it, or use asyncio.timeout, to give up the wish.

        Whoever calls again after an error gives both calls the same `request_id`, and has one table in the end.
        """
        seated = None
        # Read to the end: the lobby counts the table as told once the stream was taken whole.
        async for answer in self.quick_match(game=game, seats=seats, client_seed=client_seed, request_id=request_id):
            seated = answer.table if answer.HasField("table") else seated
        if seated is None:
            raise Unavailable(grpc.StatusCode.UNAVAILABLE, "the match ended without a table")
        return seated

    async def invoke(self, call: Call[R]) -> R:
        """The answer to a unary call, tried as often as its kind allows; raises CroupierError."""
        retries = self.retries(call.attempts)
        while True:
            try:
                return await self._send(call, await self._access_token())
            except CroupierError as error:
                await asyncio.sleep(retries.delay_seconds(error))

    async def follow(self, call: Call[R]) -> AsyncGenerator[R, None]:
        """The answers of a stream, which is opened again if the connection is lost; raises CroupierError."""
        retries = self.retries(call.attempts)
        all_said = False
        while not all_said:
            try:
                async with aclosing(await self.open(call)) as answers:
                    async for answer in answers:
                        retries.succeeded()
                        all_said = call.is_last(answer)
                        yield answer
                return
            except CroupierError as error:
                if not all_said:
                    await asyncio.sleep(retries.delay_seconds(error))

    async def open(self, call: Call[R]) -> AsyncGenerator[R, None]:
        """The answers of one stream, once; raises CroupierError."""
        access_token = await self._access_token()
        start = self._channel(call.service).unary_stream(
            call.path, request_serializer=call.serialize, response_deserializer=call.response.FromString
        )
        metadata = self._metadata(access_token, call.table_id)
        return self._read(start(call.request, timeout=STREAM_SECONDS, metadata=metadata), access_token)

    async def open_play(
        self, table_id: str, requests: AsyncIterator[engine_pb2.PlayRequest]
    ) -> AsyncGenerator[engine_pb2.PlayResponse, None]:
        """The answers of one Play stream, once; raises CroupierError."""
        access_token = await self._access_token()
        play = EngineServiceStub(self._channel(Service.ENGINE)).Play
        metadata = self._metadata(access_token, table_id)
        return self._read(play(requests, timeout=STREAM_SECONDS, metadata=metadata), access_token)

    async def _read(self, responses: _Responses[R], access_token: str) -> AsyncGenerator[R, None]:
        try:
            async for response in responses:
                yield response
        except grpc.RpcError as error:
            raise self.failure(error, access_token) from error
        finally:
            responses.cancel()

    async def _send(self, call: Call[R], access_token: str) -> R:
        """One attempt at a unary call."""
        send = self._channel(call.service).unary_unary(
            call.path, request_serializer=call.serialize, response_deserializer=call.response.FromString
        )
        try:
            return await send(call.request, timeout=CALL_SECONDS, metadata=self._metadata(access_token, call.table_id))
        except grpc.RpcError as error:
            raise self.failure(error, access_token) from error

    async def _access_token(self) -> str:
        """A token that lives, whatever it takes to get one."""
        async with self._signing_in:
            if self._session.needs_refresh(self._clock()):
                await self._refresh()
            if self._session.needs_sign_in(self._clock()):
                await self._sign_in()
            return self._session.access_token

    async def _refresh(self) -> None:
        session = self._session
        self._session = session.refresh_failed()
        try:
            answer = await self._send(session.refresh_call(), "")
        except CroupierError:
            return
        self._session = session.refreshed(answer)

    async def _sign_in(self) -> lobby_pb2.Player:
        call = self._session.sign_in_call()
        retries = self.retries(call.attempts)
        while True:
            try:
                answer = await self._send(call, "")
            except CroupierError as error:
                await asyncio.sleep(retries.delay_seconds(error))
            else:
                self._session = self._session.signed_in(answer)
                return answer.player

    def _channel(self, service: Service) -> grpc.aio.Channel:
        address = self._address(service)
        if address not in self._channels:
            self._channels[address] = self._connect(address)
        return self._channels[address]

    def _connect(self, address: str) -> grpc.aio.Channel:
        if self._credentials is None:
            return grpc.aio.insecure_channel(channel_target(address), options=CHANNEL_OPTIONS)
        return grpc.aio.secure_channel(channel_target(address), self._credentials, options=CHANNEL_OPTIONS)
