"""RPCs as values, and descriptors that turn methods which build an RPC into methods which call it."""

from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Coroutine, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import update_wrapper
from typing import Any, Concatenate, Generic, ParamSpec, Protocol, Self, TypeAlias, TypeVar, cast, overload

from google.protobuf.descriptor import MethodDescriptor
from google.protobuf.descriptor_pb2 import MethodOptions
from google.protobuf.message import Message

from croupier_api.v1 import engine_pb2
from croupier_client.retry import Attempts, Retries

P = ParamSpec("P")
R = TypeVar("R", bound=Message)
M = TypeVar("M", bound=Message, covariant=True)
StreamMessage: TypeAlias = engine_pb2.PlayTableResponse | engine_pb2.WatchTableResponse
"""A message of a table's stream: over WebSocket always the first."""


class Service(Enum):
    """A service, with the first part of its name in the contract."""

    LOBBY = "Lobby"
    ENGINE = "Engine"
    SCORING = "Scoring"


@dataclass(frozen=True)
class Rpc(Generic[R]):
    """A request for one RPC, which is found by the name of the request message.

    A stream with `is_last` is complete after the answer for which that is true, however it then ends; one that ends
    before is opened again. `join` makes one answer of the messages of a stream that has it in parts: then the RPC is
    called as a unary one.
    """

    service: Service
    request: Message
    response: type[R]
    is_last: Callable[[R], bool] | None = None
    join: Callable[[Sequence[R]], R] | None = None

    @property
    def method(self) -> MethodDescriptor:
        """Return the descriptor of the RPC."""
        request = self.request.DESCRIPTOR
        service = request.file.services_by_name[f"{self.service.value}Service"]
        return cast("MethodDescriptor", service.methods_by_name[request.name.removesuffix("Request")])

    @property
    def path(self) -> str:
        """Return the path of the RPC in HTTP/2."""
        return f"/{self.method.containing_service.full_name}/{self.method.name}"

    @property
    def attempts(self) -> Attempts:
        """Return whether the RPC may be retried; a unary one may if it is idempotent, by the contract or its id."""
        if self.method.server_streaming and self.join is None:
            return Attempts.STREAM
        is_idempotent = self.method.GetOptions().idempotency_level != MethodOptions.IDEMPOTENCY_UNKNOWN
        is_repeatable = is_idempotent or bool(getattr(self.request, "request_id", ""))
        return Attempts.IDEMPOTENT if is_repeatable else Attempts.ONCE

    @staticmethod
    def serialize(request: Message) -> bytes:
        """Return the bytes of a request."""
        return request.SerializeToString()

    @property
    def table_id(self) -> str:
        """Return the table's id; empty if the request has none."""
        return str(getattr(self.request, "table_id", ""))


class AsyncCaller(ABC):
    """Calls RPCs with asyncio; every method raises CroupierError."""

    @abstractmethod
    async def invoke(self, rpc: Rpc[R]) -> R:
        """Return the answer to a unary RPC, retried as its method allows."""

    @abstractmethod
    def follow(self, rpc: Rpc[R]) -> AsyncIterator[R]:
        """Yield the answers of a stream, which is opened again if the connection is lost."""

    @abstractmethod
    async def open(self, rpc: Rpc[R]) -> AsyncGenerator[R, None]:
        """Return the answers of one stream, without retries."""

    @abstractmethod
    async def open_table(
        self, watch: engine_pb2.WatchTableRequest, actions: AsyncIterator[engine_pb2.SubmitActionRequest] | None = None
    ) -> AsyncGenerator[StreamMessage, None]:
        """Return the messages of one stream of a table, on which the actions of a player are sent; without retries."""

    @abstractmethod
    def retries(self, attempts: Attempts) -> Retries:
        """Return the retries of one RPC."""


class Messages(Protocol[M]):
    """The messages of a blocking stream."""

    def __iter__(self) -> Iterator[M]:
        """Iterate over the messages and wait for each; raises CroupierError."""

    def cancel(self) -> None:
        """End the stream, from any thread."""


class BlockingCaller(ABC):
    """Calls RPCs and blocks; every method raises CroupierError."""

    @abstractmethod
    def invoke(self, rpc: Rpc[R]) -> R:
        """Return the answer to a unary RPC, retried as its method allows."""

    @abstractmethod
    def follow(self, rpc: Rpc[R]) -> Iterator[R]:
        """Yield the answers of a stream, which is opened again if the connection is lost."""

    @abstractmethod
    def open(self, rpc: Rpc[R]) -> Messages[R]:
        """Return the answers of one stream, without retries."""

    @abstractmethod
    def open_table(
        self, watch: engine_pb2.WatchTableRequest, actions: Iterator[engine_pb2.SubmitActionRequest] | None = None
    ) -> Messages[StreamMessage]:
        """Return the messages of one stream of a table, on which the actions of a player are sent; without retries."""

    @abstractmethod
    def retries(self, attempts: Attempts) -> Retries:
        """Return the retries of one RPC."""


class _Method(Generic[P, R]):
    """A descriptor of a method that builds an RPC."""

    def __init__(self, build: Callable[Concatenate[Any, P], Rpc[R]]) -> None:
        self._build = build
        self.__doc__ = build.__doc__

    def _calling(self, client: object, call: Callable[[Rpc[R]], object]) -> Callable[P, object]:
        """Return the method of a client that makes the call."""

        def method(*args: P.args, **kwargs: P.kwargs) -> object:
            return call(self._build(client, *args, **kwargs))

        return update_wrapper(method, self._build)


class Unary(_Method[P, R]):
    """A descriptor that turns a method which builds a unary RPC into one which calls it."""

    @overload
    def __get__(self, client: AsyncCaller, owner: type) -> Callable[P, Coroutine[Any, Any, R]]: ...
    @overload
    def __get__(self, client: BlockingCaller, owner: type) -> Callable[P, R]: ...
    @overload
    def __get__(self, client: None, owner: type) -> Self: ...
    def __get__(self, client: AsyncCaller | BlockingCaller | None, owner: type) -> object:
        return self if client is None else self._calling(client, client.invoke)


class Stream(_Method[P, R]):
    """A descriptor that turns a method which builds the RPC of a stream into one which follows it."""

    @overload
    def __get__(self, client: AsyncCaller, owner: type) -> Callable[P, AsyncIterator[R]]: ...
    @overload
    def __get__(self, client: BlockingCaller, owner: type) -> Callable[P, Iterator[R]]: ...
    @overload
    def __get__(self, client: None, owner: type) -> Self: ...
    def __get__(self, client: AsyncCaller | BlockingCaller | None, owner: type) -> object:
        return self if client is None else self._calling(client, client.follow)
