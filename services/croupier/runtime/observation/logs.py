"""Logs by structlog: JSON lines in production, readable on a terminal; without cards, tokens and secrets."""

import logging
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any, TextIO, TypeAlias, cast

import structlog

from croupier.runtime.errors import Unavailable
from croupier.runtime.observation.tracing import add_span_ids

Logger: TypeAlias = Any
"""A structlog logger; its methods take an event and key-value pairs."""


class BestEffortStream:
    """A text stream that ignores errors: a service survives a full disk below its log, and text it cannot encode."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        """Write, and ignore an error."""
        with suppress(OSError, UnicodeError):
            self._stream.write(text)
        return len(text)

    def flush(self) -> None:
        """Flush, and ignore an error."""
        with suppress(OSError):
            self._stream.flush()


def configure_logs(service: str, level: str) -> Logger:
    """Configure structlog for this process and return the service's logger, which writes to standard error."""
    readable = sys.stderr.isatty()
    stream = cast("TextIO", BestEffortStream(sys.stderr))
    # Without local variables, which may be cards, tokens or secrets.
    traceback = structlog.processors.ExceptionRenderer(structlog.tracebacks.ExceptionDictTransformer(show_locals=False))
    plain = structlog.dev.ConsoleRenderer(exception_formatter=structlog.dev.plain_traceback)
    renderer = plain if readable else structlog.processors.JSONRenderer()
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            add_span_ids,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            *([] if readable else [traceback]),
            renderer,
        ],
        wrapper_class=structlog.make_filtering_bound_logger(getattr(logging, level.upper())),
        logger_factory=structlog.PrintLoggerFactory(stream),
        cache_logger_on_first_use=True,
    )
    # Libraries log by the standard module, and warnings only.
    logging.basicConfig(level=logging.WARNING, stream=stream)
    logging.getLogger("grpc._cython.cygrpc").addFilter(_has_no_header)
    return structlog.get_logger().bind(service=service)


@contextmanager
def failures_logged(logger: Logger, event: str, **fields: object) -> Iterator[None]:
    """End the body at any exception, and log it, except for an outage: that was logged where the call was made."""
    try:
        yield
    except Exception as error:
        if not isinstance(error, Unavailable):
            logger.error(event, exc_info=error, **fields)


def _has_no_header(record: logging.LogRecord) -> bool:
    """Return False for gRPC's message about a header that is no UTF-8: it quotes the header, which may be a token."""
    return not str(record.msg).startswith("Invalid encoding")
