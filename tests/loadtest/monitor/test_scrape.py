"""Scrapes over a real connection, of valid and invalid pages."""

import socket
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Thread

import pytest
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

from loadtest.monitor import monitor
from loadtest.monitor.monitor import FailedScrape, Scrape, samples_of, scrape
from tests.ports import reserved_port


@contextmanager
def answering(response: str | None) -> Iterator[str]:
    """Run a server of one connection that sends this, or for None nothing until the client closes."""
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def serve() -> None:
            connection, _ = listener.accept()
            with connection:
                connection.recv(1024)
                connection.sendall((response or "").encode())
                if response is None:
                    connection.recv(1024)

        thread = Thread(target=serve, daemon=True)
        thread.start()
        yield f"127.0.0.1:{listener.getsockname()[1]}"
        thread.join(5)


def test_counters_and_gauges_are_read_by_name_and_labels() -> None:
    registry = CollectorRegistry()
    moves = Counter("moves", "Moves.", ["game", "by"], registry=registry)
    moves.labels("thulla", "anna").inc(3)
    moves.labels("solo", "ben").inc(2)
    Gauge("tables", "Tables.", registry=registry).set(7)
    Histogram("seconds", "Not kept.", registry=registry).observe(1)
    with answering(f"HTTP/1.0 200 OK\r\n\r\n{generate_latest(registry).decode()}") as address:
        read = scrape(address, 12.5)
    assert isinstance(read, Scrape)
    assert read.seconds == 12.5
    assert read.samples["moves_total", (("by", "anna"), ("game", "thulla"))] == 3
    assert (read.total("moves_total"), read.total("tables"), read.total("unknown")) == (5, 7, 0)
    assert not [name for name, _ in read.samples if name.startswith("seconds") or name.endswith("_created")]


def test_the_order_of_labels_has_no_effect() -> None:
    page = "# TYPE moves_total counter\nmoves_total{{{}}} 3\n"
    one, other = page.format('a="1",b="2"'), page.format('b="2",a="1"')
    assert dict(samples_of(one)) == dict(samples_of(other)) == {("moves_total", (("a", "1"), ("b", "2"))): 3}


@pytest.mark.parametrize(
    ("response", "reason"),
    [
        ("HTTP/1.0 404 Not Found\r\n\r\nno", "404 Not Found"),
        ("HTTP/1.0 200 OK\r\n\r\n{ invalid }", ""),
        ("hello", ""),
        ("", ""),
        (None, "timed out"),
    ],
)
def test_an_invalid_page_is_a_failed_scrape(response: str | None, reason: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(monitor, "READ_SECONDS", 0.1 if response is None else 60)
    with answering(response) as address:
        read = scrape(address, 0)
    assert isinstance(read, FailedScrape)
    assert address in read.reason
    assert reason in read.reason


def test_an_unreachable_address_is_a_failed_scrape() -> None:
    with reserved_port() as port:
        for address in (f"127.0.0.1:{port}", "nonsense:port"):
            read = scrape(address, 0)
            assert isinstance(read, FailedScrape)
            assert address in read.reason
