"""The page of a run: whole in itself, safe against what it shows, with its pictures."""

import re
import subprocess
import sys
from dataclasses import replace
from functools import cache
from html.parser import HTMLParser
from xml.etree.ElementTree import fromstring

import pytest

from loadtest.report.page import to_page
from loadtest.report.plots import VARIABLES, latency_over_time, load_curve, plots
from tests.loadtest.report.sample import EMPTY, GREEN, HOSTILE, RED, hostile, moment

NAMESPACE = re.compile(r'xmlns(:\w+)?="http://www\.w3\.org/[\w/]+"')
LOADING = {"src", "href", "xlink:href", "srcset", "data", "action", "poster"}
VOID = {"meta", "br", "link", "img", "input", "hr"}


class Outline(HTMLParser):
    """What a page consists of: its elements, ids, what it would load, and its text; elements must be closed."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.ids: list[str] = []
        self.loaded: set[str] = set()
        self.text = ""
        self.open: list[str] = []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_startendtag(tag, attrs)
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.ids += [value or "" for name, value in attrs if name == "id"]
        self.loaded |= {value or "" for name, value in attrs if name in LOADING}
        assert not [name for name, _ in attrs if name.startswith("on")], "a page has no scripts"

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += f"{data} "


RESULTS = {"green": GREEN, "red": RED, "empty": EMPTY, "hostile": hostile()}


@cache
def page_of(name: str) -> str:
    """The page of one of the results, which is made once."""
    return to_page(RESULTS[name])


@pytest.fixture
def red() -> str:
    return page_of("red")


@pytest.mark.parametrize("name", RESULTS)
def test_a_page_needs_nothing_but_itself(name: str) -> None:
    page = page_of(name)
    outline = Outline(page)
    assert outline.open == []
    assert not outline.tags & {"script", "link", "img", "iframe", "object", "embed", "base", "form"}
    assert [target for target in outline.loaded if not target.startswith("#")] == []
    assert "://" not in NAMESPACE.sub("", page)
    assert set(re.findall(r"url\(([^)]*)", page)) <= {f"#{name}" for name in outline.ids}
    assert len(outline.ids) == len(set(outline.ids))
    assert "default-src 'none'" in page


def test_hostile_text_is_shown_and_not_obeyed() -> None:
    page = page_of("hostile")
    assert "<script" not in page
    assert page.count("&lt;script&gt;alert(1)&lt;/script&gt;") >= 15
    assert "[red]" in Outline(page).text
    assert HOSTILE not in page


def test_the_page_tells_what_was_asked(red: str) -> None:
    text = " ".join(Outline(red).text.split())
    for told in (
        "Not fit to ship",
        "hidden_card_seen , 3 times seat 2 was shown 9♦ of seat 0",
        "first at table tbl_01J9ZK , sequence 17, kept in hidden_card_seen.jsonl",
        "Actions a second 205.8 123,456 in 10 min 0 s",
        "3,260 ms",
        "60.0 KiB 17.8 KiB per stream",
        "ILLEGAL_ACTION 610",
        "rpc OpenTable 4 UNAVAILABLE: the engine is starting",
        "actions applied 123,470 123,456 14 20 agree",
        "not kept violations 4 none",
        "engine-1 6 min 42 s 180.0 MiB 191.0 MiB +6.1%",
        "action acknowledged 123,456 3.1 ms 8.4 ms 12 ms 41 ms 92 ms 180 ms",
        "kept 400 360",
        "knee 800 720",
        "over 1,000 900",
        RED.bottleneck,
        RED.conditions.command,
        RED.conditions.machine,
        "grpcio 1.80.0",
    ):
        assert told in text
    assert "Fit to ship" in Outline(page_of("green")).text


def test_the_page_follows_the_reader_into_the_dark_and_onto_the_phone(red: str) -> None:
    assert "prefers-color-scheme: dark" in red
    assert "width=device-width" in red
    assert not re.search(r"(fill|stroke): #", red), "a picture has a colour that does not follow the page"
    for variable in VARIABLES.values():
        assert red.count(f"{variable}:") == 2
        assert f"var({variable})" in red


def test_one_result_has_one_page(red: str) -> None:
    assert to_page(RED) == red


def test_every_picture_can_be_read_aloud() -> None:
    drawn = plots(RED)
    assert len({plot.name for plot in drawn}) == 7
    for plot in drawn:
        labelled = fromstring(with_namespaces(plot.svg))  # noqa: S314
        assert labelled.attrib["role"] == "img"
        assert labelled.attrib["aria-labelledby"] == f"{plot.name}-title {plot.name}-summary"
        assert [labelled[0].text, labelled[1].text] == [plot.title, plot.summary]


def with_namespaces(svg: str) -> str:
    return svg.replace("<svg ", '<svg xmlns:xlink="http://www.w3.org/1999/xlink" ', 1)


def test_the_curve_has_its_knee() -> None:
    plot = load_curve(RED)
    assert 'id="load-curve-knee"' in plot.svg
    assert "knee: 800 tables" in plot.svg
    assert plot.summary.startswith("The knee is at 800 tables and 720 actions a second, with p99 of 62 ms")
    without = load_curve(replace(RED, knee=None))
    assert "knee" not in without.svg.partition("</desc>")[2]


def test_there_is_no_picture_without_figures() -> None:
    assert plots(EMPTY) == plots(replace(GREEN, moments=GREEN.moments[:1])) == ()
    assert "load-curve" not in {plot.name for plot in plots(GREEN)}


def test_a_long_run_says_how_many_slices_share_a_point() -> None:
    page = to_page(replace(GREEN, moments=tuple(map(moment, range(1, 1_441)))))
    assert "Each point stands for 6 slices" in page
    assert len(page) < 1.5 * len(page_of("green"))
    assert "Each point stands for" not in page_of("green")
    assert "Over time" not in to_page(replace(RED, moments=()))


def curve(svg: str, name: str) -> str:
    """The path of a line of the picture of latencies."""
    drawn = re.search(rf'id="latency-over-time-{name}">\s*<path d="([^"]*)"', svg)
    assert drawn is not None
    return drawn[1]


def depth(path: str) -> float:
    """How far down a path reaches."""
    return max(float(point.split()[2]) for point in path.strip().splitlines())


def test_slices_without_actions_are_drawn_as_gaps() -> None:
    silent = replace(GREEN.moments[5], p50=0.0, p95=0.0, p99=0.0, actions_per_second=0.0, server_memory_bytes=0)
    svg = latency_over_time(replace(GREEN, moments=(*GREEN.moments[:5], silent, *GREEN.moments[6:]))).svg
    assert curve(svg, "p99").count("M") == 2
    # A line that fell to nothing would reach below that of a lower percentile.
    assert depth(curve(svg, "p99")) < depth(curve(svg, "p50"))
    nothing = tuple(replace(silent, seconds=moment.seconds) for moment in GREEN.moments)
    assert len(plots(replace(GREEN, moments=nothing))) == 6


def test_matplotlib_is_loaded_only_for_a_page() -> None:
    code = "import loadtest.report.write, sys; sys.exit('matplotlib' in sys.modules or 'jinja2' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False, timeout=60).returncode == 0
