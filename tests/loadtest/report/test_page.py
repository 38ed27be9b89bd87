"""The page of a run: self-contained, safe against hostile text, with its plots."""

import re
import subprocess
import sys
from base64 import b64decode
from dataclasses import replace
from functools import cache
from html.parser import HTMLParser
from xml.etree.ElementTree import fromstring

import pytest

from croupier_loadtest.report.page import LATENCY, Plot, load_curve, over_time, plots, to_page
from tests.loadtest.report.sample import EMPTY, FAILED, HOSTILE, PASSED, hostile

RESULTS = {"passed": PASSED, "failed": FAILED, "empty": EMPTY, "hostile": hostile()}
VOID = {"meta", "img", "br"}


class Outline(HTMLParser):
    """The text and the addresses of a page; elements must be closed, and scripts are not allowed."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.loaded: set[str] = set()
        self.text = ""
        self.open: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag not in {"script", "link", "iframe", "object", "embed", "base", "form"}
        assert not [name for name, _ in attrs if name.startswith("on")]
        self.loaded |= {value or "" for name, value in attrs if name in {"src", "href", "srcset", "data", "action"}}
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text = f"{self.text} {' '.join(data.split())}".rstrip()


@cache
def page_of(name: str) -> str:
    return to_page(RESULTS[name])


@pytest.mark.parametrize("name", RESULTS)
def test_a_page_is_self_contained(name: str) -> None:
    page = page_of(name)
    outline = Outline(page)
    assert outline.open == []
    assert all(address.startswith("data:image/svg+xml;base64,") for address in outline.loaded)
    assert "://" not in page
    assert "default-src 'none'" in page


def test_hostile_text_is_escaped() -> None:
    page = page_of("hostile")
    assert page.count("&lt;script&gt;alert(1)&lt;/script&gt;") >= 15
    assert "[red]" in Outline(page).text
    assert HOSTILE not in page


def test_the_page_shows_the_result_and_is_always_the_same() -> None:
    assert to_page(FAILED) == page_of("failed")
    text = Outline(page_of("failed")).text
    for part in (
        "Not fit to ship",
        "hidden_card_seen , 3 times seat 2 was shown 9♦ of seat 0",
        "first at table tbl_01J9ZK , sequence 17, kept in hidden_card_seen.jsonl",
        "Actions a second 205.8 123,456 in 10 min 0 s",
        "Violations 4 1,180 tables judged",
        "3,260 ms",
        "ILLEGAL_ACTION 610",
        "Refusals by reason: 1,240",
        "Failed calls: 4",
        "rpc OpenTable 4 UNAVAILABLE: the engine is starting",
        "actions applied 123,470 123,456 14 20 agree",
        "not kept violations 4 none",
        "engine-1 6 min 42 s 180.0 MiB 191.0 MiB +6.1%",
        "action acknowledged 123,456 3.1 ms 8.4 ms 12 ms 41 ms 92 ms 180 ms",
        "kept 400 360",
        "knee 800 720",
        "over 1,000 900",
        FAILED.bottleneck,
        FAILED.conditions.command,
        FAILED.conditions.machine,
        "grpcio 1.80.0",
    ):
        assert part in text
    assert "Fit to ship" in Outline(page_of("passed")).text
    assert "Over time" not in Outline(page_of("empty")).text


def drawn(plot: Plot) -> str:
    svg = b64decode(plot.address.partition(",")[2]).decode()
    fromstring(svg)  # noqa: S314
    return svg


def test_every_plot_has_a_summary() -> None:
    shown = {plot.name: plot for plot in plots(FAILED)}
    measured = ("latency", "actions", "load", "cpu", "memory", "failures")
    assert list(shown) == ["load-curve", *(f"{name}-over-time" for name in measured)]
    assert shown["latency-over-time"].summary == "Maximum: p50 3.4 ms, p95 16 ms, p99 341 ms."
    assert shown["load-over-time"].summary == "Maximum: tables 999, players 3,899."
    assert shown["memory-over-time"].summary == "Maximum: services 440 MB."
    assert ">minutes<" in drawn(shown["load-over-time"])
    assert all(f'alt="{plot.title}. {plot.summary}"' in page_of("failed") for plot in shown.values())


def test_the_curve_has_its_knee() -> None:
    plot = load_curve(FAILED)
    assert "knee: 800 tables" in drawn(plot)
    assert plot.summary.startswith("The knee is at 800 tables and 720 actions a second, with p99 of 62 ms")
    assert "knee" not in drawn(load_curve(replace(FAILED, knee=None)))


def test_there_is_no_plot_without_figures() -> None:
    assert [*plots(EMPTY), *plots(replace(PASSED, intervals=PASSED.intervals[:1]))] == []


def lines(silent: int) -> list[str]:
    """Return the lines of latencies without measurements in one interval."""
    intervals = [
        replace(one, p50=0.0, p95=0.0, p99=0.0) if at == silent else one for at, one in enumerate(PASSED.intervals)
    ]
    svg = drawn(over_time(replace(PASSED, intervals=tuple(intervals[:20])), LATENCY))
    return re.findall(r'<path d="([^"]*)" clip-path[^>]*stroke: #(?!808080)', svg)


def lowest(paths: list[str]) -> float:
    return max(float(y) for path in paths for y in re.findall(r"[ML] \S+ (\S+)", path))


def test_intervals_without_actions_are_gaps() -> None:
    whole, broken = lines(silent=-1), lines(silent=5)
    assert ("".join(whole).count("M"), "".join(broken).count("M")) == (3, 6)
    assert lowest(broken) == pytest.approx(lowest(whole), abs=1), "a line falls to zero"
    nothing = [replace(one, p50=0.0, p95=0.0, p99=0.0, actions_per_second=0.0) for one in PASSED.intervals]
    assert over_time(replace(PASSED, intervals=tuple(nothing)), LATENCY).summary == "Maximum: not known."


def test_matplotlib_is_loaded_only_for_a_page() -> None:
    code = (
        "import croupier_loadtest.report.write, sys; sys.exit('matplotlib' in sys.modules or 'jinja2' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False, timeout=60).returncode == 0
