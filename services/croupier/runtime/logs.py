"""Logs by structlog: JSON lines in production, readable on a terminal; never a card, a token or a secret."""

import logging
import sys
from contextlib import suppress
from typing import Any, TextIO, TypeAlias, cast

import structlog

from croupier.runtime.tracing import add_span_ids

Logger: TypeAlias = Any
"""A structlog logger; its methods take an event and key-value pairs."""


class PatientStream:
    """A stream of text that leaves out what cannot be written: a full disk ends no service by its log."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        """Write, if that is possible now."""
        with suppress(OSError):
            self._stream.write(text)
        return len(text)

    def flush(self) -> None:
        """Pass on what was written, if that is possible now."""
        with suppress(OSError):
            self._stream.flush()


def configure_logs(service: str, level: str) -> Logger:
    """Set structlog up for this process and return the service's logger; writes to standard error."""
    readable = sys.stderr.isatty()
    stream = cast("TextIO", PatientStream(sys.stderr))
    # Tracebacks without the values of variables: those may be cards, tokens or secrets.
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
    # Libraries that use the standard module speak up only when something is wrong.
    logging.basicConfig(level=logging.WARNING, stream=stream)
    logging.getLogger("grpc._cython.cygrpc").addFilter(_tells_no_header)
    return structlog.get_logger().bind(service=service)


def _tells_no_header(record: logging.LogRecord) -> bool:
    """Whether a line is not gRPC's own of a header that is no UTF-8, with all of it, which may be a token."""
    return not str(record.msg).startswith("Invalid encoding")
