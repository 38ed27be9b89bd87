"""Reading pages over a real connection: good ones, and every kind that is none."""

import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Thread

import pytest
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

from croupier.runtime.metrics import serve_metrics
from loadtest.watch import scrape as scraping
from loadtest.watch.scrape import Scrape, Unread, samples_of, scrape


@contextmanager
def page_of(registry: CollectorRegistry) -> Iterator[str]:
    server, address = serve_metrics(registry, "127.0.0.1:0")
    try:
        yield address
    finally:
        server.shutdown()
        server.server_close()


@contextmanager
def answering(answer: Callable[[socket.socket], object]) -> Iterator[str]:
    """Somebody who takes one connection and does with it what he likes."""
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def serve() -> None:
            connection, _ = listener.accept()
            with connection:
                connection.recv(1024)
                answer(connection)

        thread = Thread(target=serve, daemon=True)
        thread.start()
        yield f"127.0.0.1:{listener.getsockname()[1]}"
        thread.join(5)


def saying(text: str) -> Callable[[socket.socket], object]:
    return lambda connection: connection.sendall(text.encode())


def reason(read: Scrape | Unread) -> str:
    assert isinstance(read, Unread)
    return read.reason


def test_counters_and_gauges_are_read_by_name_and_labels() -> None:
    registry = CollectorRegistry()
    moves = Counter("moves", "Moves.", ["game", "by"], registry=registry)
    moves.labels("thulla", "anna").inc(3)
    moves.labels("solo", "ben").inc(2)
    Gauge("tables", "Tables.", registry=registry).set(7)
    Histogram("seconds", "Not kept.", registry=registry).observe(1)
    with page_of(registry) as address:
        read = scrape(address, 12.5)
    assert isinstance(read, Scrape)
    assert read.seconds == 12.5
    assert read.samples["moves_total", (("by", "anna"), ("game", "thulla"))] == 3
    assert (read.total("moves_total"), read.total("tables"), read.total("unknown")) == (5, 7, 0)
    assert not [name for name, _ in read.samples if name.startswith("seconds") or name.endswith("_created")]


def test_the_order_of_labels_means_nothing() -> None:
    page = "# TYPE moves_total counter\nmoves_total{{{}}} 3\n"
    one, other = page.format('a="1",b="2"'), page.format('b="2",a="1"')
    assert dict(samples_of(one)) == dict(samples_of(other)) == {("moves_total", (("a", "1"), ("b", "2"))): 3}


def test_an_address_where_nobody_listens_is_told() -> None:
    with socket.socket() as nobody:
        nobody.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{nobody.getsockname()[1]}"
        assert address in reason(scrape(address, 0))
    assert "nonsense:port" in reason(scrape("nonsense:port", 0))


def test_a_page_that_is_none_is_told() -> None:
    page = "HTTP/1.0 {}\r\nContent-Type: text/plain\r\n\r\n{}"
    with answering(saying(page.format("404 Not Found", "no"))) as address:
        assert "404 Not Found" in reason(scrape(address, 0))
    with answering(saying(page.format("200 OK", "{ this is no page }"))) as address:
        assert address in reason(scrape(address, 0))
    with answering(saying("hello")) as address:
        assert address in reason(scrape(address, 0))
    with answering(lambda connection: None) as address:
        assert address in reason(scrape(address, 0))


def test_a_page_without_end_is_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scraping, "LARGEST_PAGE_BYTES", 1000)
    with answering(saying("HTTP/1.0 200 OK\r\n\r\n" + "# nothing\n" * 200)) as address:
        assert "more than 1000 bytes" in reason(scrape(address, 0))


def test_one_that_takes_the_question_and_says_nothing_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scraping, "READ_SECONDS", 0.1)
    with answering(lambda connection: connection.recv(1024)) as address:
        assert "timed out" in reason(scrape(address, 0))
