"""The blocking client, for scripts, and for greenlets once gevent has patched threads and grpc."""

import threading
import time
from collections.abc import Iterable, Iterator
from functools import partial
from typing import Generic, Protocol, Self

import grpc
from google.protobuf.message import Message

from croupier_api.v1 import engine_pb2, lobby_pb2, tables_pb2
from croupier_api.v1.engine_pb2_grpc import EngineServiceStub
from croupier_client.blocking_socket import BlockingSockets
from croupier_client.blocking_table import BlockingTable, BlockingWatchedTable
from croupier_client.client import ClientCore
from croupier_client.endpoints import CALL_SECONDS, STREAM_SECONDS, channel_options, channel_target
from croupier_client.errors import CroupierError, Unavailable, from_rpc_error
from croupier_client.rpc import BlockingCaller, M, Messages, R, Rpc, Service, StreamMessage


class _Responses(Protocol[M]):
    def __iter__(self) -> Iterator[M]: ...

    def cancel(self) -> bool: ...


class BlockingClient(ClientCore, BlockingCaller):
    """A player's client for any number of threads; use it as a context manager.

    It signs in and renews its tokens by itself. The RPCs of the services are its methods (see `ServiceMethods`): each
    returns the contract's response message, or an iterator of such messages. Under gevent call monkey.patch_all() and
    grpc.experimental.gevent.init_gevent() first.
    """

    def _set_up(self) -> None:
        self._channels: dict[str, grpc.Channel] = {}
        self._sockets = BlockingSockets(self._socket_settings) if self._socket_settings else None
        self._lock = threading.RLock()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        if self._sockets is not None:
            self._sockets.close()
        for channel in self._channels.values():
            channel.close()

    def sign_in(self, name: str = "", device_code: str = "", id_token: str = "") -> lobby_pb2.Player:
        """Sign in now, as any call does when it must, and return the player; a name renames them.

        A code of CreateDeviceCode, made on another device, adds this one to its player; the device secret is new then.
        An ID token of the app's identity provider signs its user in, and this device for the sign-ins to come.
        """
        with self._lock:
            self._session = self._session.renamed(name)
            return self._sign_in(device_code, id_token)

    def sign_out(self, *, all_devices: bool = False) -> None:
        """End the sign-in and forget its tokens; the next call signs in again by the device secret.

        With `all_devices` the player's other devices are signed out too, and their secrets removed.
        """
        with self._lock:
            if all_devices and self._session.needs_sign_in:
                self._sign_in()
            session, self._session = self._session, self._session.signed_out()
            if session.tokens is not None:
                self._send_alone(session.sign_out_rpc(all_devices=all_devices))

    def play_table(self, table_id: str) -> BlockingTable:
        """Play at a table: `with client.play_table(table_id) as table`."""
        return BlockingTable(self, table_id)

    def watch_table(self, table_id: str, link: str = "") -> BlockingWatchedTable:
        """Watch a table, by a link if it needs one: `with client.watch_table(table_id) as table`."""
        return BlockingWatchedTable(self, table_id, link)

    def wait_for_match(
        self,
        *,
        game: str,
        seat_count: int,
        client_seed: bytes = b"",
        request_id: str = "",
        preset: str = "",
        bots_after_seconds: int | None = None,
    ) -> tables_pb2.Table:
        """Wait until matched with others, for the `stream_seconds` of the policy, and return the table.

        A call again after an error with the same `request_id` returns the same table.
        """
        table = tables_pb2.Table()
        # Read to the end: the lobby counts the table as delivered once the whole stream was received.
        for answer in self.find_match(
            game=game,
            seat_count=seat_count,
            client_seed=client_seed,
            request_id=request_id,
            preset=preset,
            bots_after_seconds=bots_after_seconds,
        ):
            table = answer.table
        return table

    def invoke(self, rpc: Rpc[R]) -> R:
        retries = self.retries(rpc.attempts)
        with self._seat_changes.making(rpc):
            while True:
                try:
                    answer = self._send(rpc, self._access_token())
                    self._answered(answer)
                    return answer
                except CroupierError as error:
                    time.sleep(retries.delay_seconds(error))
                    if self._seat_changes.is_overtaken(rpc):
                        raise

    def follow(self, rpc: Rpc[R]) -> Iterator[R]:
        retries = self.retries(rpc.attempts)
        is_complete = False
        while not is_complete:
            answers, is_empty = None, True
            try:
                answers = self.open(rpc)
                for answer in answers:
                    retries.succeeded()
                    is_empty, is_complete = False, rpc.is_last is not None and rpc.is_last(answer)
                    yield answer
                if rpc.is_last is None:
                    return
                if is_empty:
                    raise Unavailable(grpc.StatusCode.UNAVAILABLE, "the stream ended without an answer")
            except CroupierError as error:
                if not is_complete:
                    time.sleep(retries.delay_seconds(error))
            finally:
                if answers is not None:
                    answers.cancel()

    def open(self, rpc: Rpc[R]) -> "BlockingMessages[R]":
        return self._open(rpc, self._access_token(), STREAM_SECONDS)

    def _open(self, rpc: Rpc[R], access_token: str, seconds: float) -> "BlockingMessages[R]":
        start = self._channel(rpc.service).unary_stream(
            rpc.path, request_serializer=rpc.serialize, response_deserializer=rpc.response.FromString
        )
        metadata = self._metadata(access_token, rpc.table_id)
        return BlockingMessages(self, start(rpc.request, timeout=seconds, metadata=metadata), access_token)

    def open_table(
        self, watch: engine_pb2.WatchTableRequest, actions: Iterator[engine_pb2.SubmitActionRequest] | None = None
    ) -> Messages[StreamMessage]:
        access_token = self._access_token()
        if self._sockets is not None:
            requests = _play_requests(watch, actions or (), access_token)
            fail = partial(self.failure, access_token=access_token)
            return self._sockets.messages(watch.table_id, self._metadata(""), requests, fail)
        if actions is None:
            return self._open(Rpc(Service.ENGINE, watch, engine_pb2.WatchTableResponse), access_token, STREAM_SECONDS)
        play = EngineServiceStub(self._channel(Service.ENGINE)).PlayTable
        metadata = self._metadata(access_token, watch.table_id)
        requests = _play_requests(watch, actions)
        return BlockingMessages(self, play(requests, timeout=STREAM_SECONDS, metadata=metadata), access_token)

    def _send(self, rpc: Rpc[R], access_token: str) -> R:
        """Make one attempt at an RPC with one answer."""
        if rpc.join is not None:
            return rpc.join(list(self._open(rpc, access_token, CALL_SECONDS)))
        send = self._channel(rpc.service).unary_unary(
            rpc.path, request_serializer=rpc.serialize, response_deserializer=rpc.response.FromString
        )
        try:
            return send(rpc.request, timeout=CALL_SECONDS, metadata=self._metadata(access_token, rpc.table_id))
        except grpc.RpcError as error:
            raise self.failure(from_rpc_error(error), access_token) from error

    def _access_token(self) -> str:
        """Return a token that was not refused, after a refresh or a sign-in if needed."""
        with self._lock:
            if self._session.needs_refresh:
                self._refresh()
            if self._session.needs_sign_in:
                self._sign_in()
            return self._session.access_token

    def _refresh(self) -> None:
        session = self._session
        self._session = session.refresh_failed()
        try:
            answer = self._send(session.refresh_rpc(), "")
        except CroupierError:
            return
        self._session = session.refreshed(answer)

    def _sign_in(self, device_code: str = "", id_token: str = "") -> lobby_pb2.Player:
        answer = self._send_alone(self._session.sign_in_rpc(device_code, id_token))
        self._session = self._session.signed_in(answer)
        return answer.player

    def _send_alone(self, rpc: Rpc[R]) -> R:
        """Make an RPC without access token, with retries."""
        retries = self.retries(rpc.attempts)
        while True:
            try:
                return self._send(rpc, "")
            except CroupierError as error:
                time.sleep(retries.delay_seconds(error))

    def _answered(self, answer: Message) -> None:
        with self._lock:
            super()._answered(answer)

    def _reject(self, access_token: str) -> None:
        with self._lock:
            super()._reject(access_token)

    def _channel(self, service: Service) -> grpc.Channel:
        address = self._addresses[service]
        with self._lock:
            if address not in self._channels:
                self._channels[address] = self._connect(address)
            return self._channels[address]

    def _connect(self, address: str) -> grpc.Channel:
        target, options = channel_target(address), channel_options(address, self._keepalive_seconds)
        if self._credentials is None:
            return grpc.insecure_channel(target, options=options)
        return grpc.secure_channel(target, self._credentials, options=options)


class BlockingMessages(Generic[R]):
    """The answers of one stream, with typed errors."""

    def __init__(self, client: BlockingClient, responses: _Responses[R], access_token: str) -> None:
        self._client = client
        self._responses = responses
        self._access_token = access_token

    def __iter__(self) -> Iterator[R]:
        try:
            yield from self._responses
        except grpc.RpcError as error:
            raise self._client.failure(from_rpc_error(error), self._access_token) from error
        finally:
            self._responses.cancel()

    def cancel(self) -> None:
        """End the stream, from any thread."""
        self._responses.cancel()


def _play_requests(
    watch: engine_pb2.WatchTableRequest, actions: Iterable[engine_pb2.SubmitActionRequest], access_token: str = ""
) -> Iterator[engine_pb2.PlayTableRequest]:
    """Yield the requests of a stream; the first has the token over WebSocket, which has no metadata for it."""
    yield engine_pb2.PlayTableRequest(watch=watch, access_token=access_token)
    for action in actions:
        yield engine_pb2.PlayTableRequest(action=action)
