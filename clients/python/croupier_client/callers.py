"""A call as a value, and how a method that builds one becomes a coroutine or a waiting method of a client."""

from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Coroutine, Iterator
from dataclasses import dataclass
from enum import Enum
from functools import update_wrapper
from typing import Any, Concatenate, Generic, ParamSpec, Protocol, Self, TypeVar, cast, overload

from google.protobuf.descriptor import MethodDescriptor
from google.protobuf.descriptor_pb2 import MethodOptions
from google.protobuf.message import Message

from croupier_api.v1 import engine_pb2
from croupier_client.retry import Attempts, Retries

P = ParamSpec("P")
R = TypeVar("R", bound=Message)
M = TypeVar("M", bound=Message, covariant=True)


class Service(Enum):
    """A service by the first part of its name in the contract."""

    LOBBY = "Lobby"
    ENGINE = "Engine"
    SCORING = "Scoring"


def more_may_come(_: Message) -> bool:
    """No answer of a stream says by itself that it is the last one."""
    return False


@dataclass(frozen=True)
class Call(Generic[R]):
    """A request on its way to one rpc, whose messages are named after it as buf demands.

    A stream that fails after an answer that `is_last` has said everything, and is not opened again.
    """

    service: Service
    request: Message
    response: type[R]
    is_last: Callable[[R], bool] = more_may_come

    @property
    def rpc(self) -> MethodDescriptor:
        """The rpc as the contract describes it."""
        request = self.request.DESCRIPTOR
        service = request.file.services_by_name[f"{self.service.value}Service"]
        return cast("MethodDescriptor", service.methods_by_name[request.name.removesuffix("Request")])

    @property
    def path(self) -> str:
        """The rpc as HTTP/2 writes it."""
        return f"/{self.rpc.containing_service.full_name}/{self.rpc.name}"

    @property
    def attempts(self) -> Attempts:
        """What may be tried again; of unary calls those of which the contract says so."""
        if self.rpc.server_streaming:
            return Attempts.STREAM
        is_repeatable = self.rpc.GetOptions().idempotency_level != MethodOptions.IDEMPOTENCY_UNKNOWN
        return Attempts.IDEMPOTENT if is_repeatable else Attempts.ONCE

    @staticmethod
    def serialize(request: Message) -> bytes:
        """A request as it goes over the wire."""
        return request.SerializeToString()

    @property
    def table_id(self) -> str:
        """The table that it is about; empty if there is none."""
        return str(getattr(self.request, "table_id", ""))


class AsyncCaller(ABC):
    """Who makes calls with asyncio; everything raises CroupierError."""

    @abstractmethod
    async def invoke(self, call: Call[R]) -> R:
        """The answer to a unary call."""

    @abstractmethod
    def follow(self, call: Call[R]) -> AsyncIterator[R]:
        """The answers of a stream, which is opened again if the connection is lost."""

    @abstractmethod
    async def open(self, call: Call[R]) -> AsyncGenerator[R, None]:
        """The answers of one stream, once."""

    @abstractmethod
    async def open_play(
        self, table_id: str, requests: AsyncIterator[engine_pb2.PlayRequest]
    ) -> AsyncGenerator[engine_pb2.PlayResponse, None]:
        """The answers of one Play stream, once."""

    @abstractmethod
    def retries(self, attempts: Attempts) -> Retries:
        """The patience for one call or stream."""


class Messages(Protocol[M]):
    """What a blocking stream brings."""

    def __iter__(self) -> Iterator[M]:
        """Wait for one message after the other; raises CroupierError."""
        ...

    def cancel(self) -> None:
        """End the stream, from any thread."""
        ...


class BlockingCaller(ABC):
    """Who makes calls and waits for the answers; everything raises CroupierError."""

    @abstractmethod
    def invoke(self, call: Call[R]) -> R:
        """The answer to a unary call."""

    @abstractmethod
    def follow(self, call: Call[R]) -> Iterator[R]:
        """The answers of a stream, which is opened again if the connection is lost."""

    @abstractmethod
    def open(self, call: Call[R]) -> Messages[R]:
        """The answers of one stream, once."""

    @abstractmethod
    def open_play(self, table_id: str, requests: Iterator[engine_pb2.PlayRequest]) -> Messages[engine_pb2.PlayResponse]:
        """The answers of one Play stream, once."""

    @abstractmethod
    def retries(self, attempts: Attempts) -> Retries:
        """The patience for one call or stream."""


class Unary(Generic[P, R]):
    """A method that builds a call, as the client makes it."""

    def __init__(self, build: Callable[Concatenate[Any, P], Call[R]]) -> None:
        self._build = build
        self.__doc__ = build.__doc__

    @overload
    def __get__(self, client: AsyncCaller, owner: type) -> Callable[P, Coroutine[Any, Any, R]]: ...
    @overload
    def __get__(self, client: BlockingCaller, owner: type) -> Callable[P, R]: ...
    @overload
    def __get__(self, client: None, owner: type) -> Self: ...
    def __get__(self, client: AsyncCaller | BlockingCaller | None, owner: type) -> object:
        if client is None:
            return self

        def invoke(*args: P.args, **kwargs: P.kwargs) -> object:
            return client.invoke(self._build(client, *args, **kwargs))

        return update_wrapper(invoke, self._build)


class Stream(Generic[P, R]):
    """A method that builds the call of a stream, as the client follows it."""

    def __init__(self, build: Callable[Concatenate[Any, P], Call[R]]) -> None:
        self._build = build
        self.__doc__ = build.__doc__

    @overload
    def __get__(self, client: AsyncCaller, owner: type) -> Callable[P, AsyncIterator[R]]: ...
    @overload
    def __get__(self, client: BlockingCaller, owner: type) -> Callable[P, Iterator[R]]: ...
    @overload
    def __get__(self, client: None, owner: type) -> Self: ...
    def __get__(self, client: AsyncCaller | BlockingCaller | None, owner: type) -> object:
        if client is None:
            return self

        def follow(*args: P.args, **kwargs: P.kwargs) -> object:
            return client.follow(self._build(client, *args, **kwargs))

        return update_wrapper(follow, self._build)
