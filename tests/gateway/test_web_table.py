"""The gateway serves the files of the web table, and browsers limit what its page can do."""

import asyncio
import gzip
import json
import re
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, closing
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import grpc
import pytest

from croupier.gateway import configuration
from croupier.gateway.configuration import write_files
from croupier.gateway.envoy import Envoy, find_envoy
from croupier.gateway.settings import GatewaySettings
from croupier.gateway.web_table import INDEX, PAGE_HEADERS, PageFile, page_files, page_routes
from croupier.runtime.identity.tokens import write_new_key_pair
from tests.gateway.conftest import GatewayDeployment
from tests.gateway.harness import Answer, Gateway, opened_gateway, refused, refused_over_grpc, reveals_no_gateway
from tests.gateway.raw_http2 import DATA, RawHttp2

pytestmark = pytest.mark.gateway
FILES = page_files()
[PAGE] = [file for file in FILES if file.name == INDEX]
[SCRIPT] = [file for file in FILES if re.fullmatch(r"assets/index-.*\.js", file.name)]
EVERY_FILE = pytest.mark.parametrize("file", FILES, ids=[file.name for file in FILES])
MAX_PAGE_BYTES = 150_000
TYPES = {"css": "text/css", "html": "text/html", "js": "text/javascript", "svg": "image/svg+xml", "png": "image/png"}
UNKNOWN = (404, grpc.StatusCode.UNIMPLEMENTED, "unknown path or method")
OTHER_METHOD = (405, grpc.StatusCode.UNIMPLEMENTED, "this path has other methods")


@pytest.fixture(scope="module")
def gateway(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gateway]:
    """Run a gateway without services."""
    with opened_gateway(tmp_path_factory.mktemp("web_table")) as gateway:
        yield gateway


def has_page_headers(answer: Answer) -> None:
    assert {name: answer.headers.get(name) for name in PAGE_HEADERS} == dict(PAGE_HEADERS)
    assert answer.headers["vary"] == "accept-encoding"
    assert not {"location", "grpc-status", "set-cookie"} & answer.headers.keys()
    reveals_no_gateway(answer)


@EVERY_FILE
def test_a_file_is_served_as_it_is(gateway: Gateway, file: PageFile) -> None:
    answer = gateway.ask("GET", file.path)
    assert (answer.status, answer.body) == (200, file.content)
    assert answer.headers["content-length"] == str(len(file.content))
    known_type = TYPES.get(file.name.rpartition(".")[2], "")
    assert answer.headers["content-type"].startswith(known_type)
    assert "content-encoding" not in answer.headers
    has_page_headers(answer)


@EVERY_FILE
def test_a_file_that_gzip_makes_shorter_is_served_so(gateway: Gateway, file: PageFile) -> None:
    answer = gateway.ask("GET", file.path, headers={"accept-encoding": "gzip, deflate, br, zstd"})
    if file.compressed is None:
        assert (answer.body, "content-encoding" in answer.headers) == (file.content, False)
    else:
        assert gzip.decompress(answer.body) == file.content
        assert len(answer.body) < len(file.content)
        assert answer.headers["content-encoding"] == "gzip"
        assert answer.headers["content-length"] == str(len(answer.body))
    assert answer.headers["content-type"] == gateway.ask("HEAD", file.path).headers["content-type"]
    has_page_headers(answer)


def test_what_a_table_needs_is_small() -> None:
    """The document, its script and its style, which have the cards too, as they are sent."""
    named = [file for file in FILES if file.name == INDEX or file.name.encode() in PAGE.content]
    needed = [file for file in named if not file.name.endswith(".png")]
    assert SCRIPT in needed
    assert sum(len(file.compressed or file.content) for file in needed) < MAX_PAGE_BYTES


@pytest.mark.parametrize("accepted", ["identity", "gzip"])
@EVERY_FILE
def test_head_has_the_headers_alone(gateway: Gateway, file: PageFile, accepted: str) -> None:
    headers = {"accept-encoding": accepted}
    whole, head = (gateway.ask(method, file.path, headers=headers) for method in ("GET", "HEAD"))
    changing = {"date", "x-request-id"}
    assert (head.status, head.body) == (200, b"")
    assert {name: head.headers[name] for name in head.headers.keys() - changing} == {
        name: whole.headers[name] for name in whole.headers.keys() - changing
    }


ENCODINGS = {
    "gzip": True,
    "GZip": True,
    "br,gzip": True,
    "deflate;q=1, gzip;q=0.001": True,
    "gzip ; q=1.000 ,identity": True,
    "gzip;q=0": False,
    "gzip; q=0.000": False,
    "gzip;q=2": False,
    "br, gzip;q=0, *": False,
    "*": False,
    "": False,
    "notgzip": False,
    "gzippo": False,
    "br": False,
}


@pytest.mark.parametrize(("accepted", "is_compressed"), ENCODINGS.items())
def test_the_encoding_is_one_that_the_client_accepts(gateway: Gateway, accepted: str, is_compressed: bool) -> None:
    answer = gateway.ask("GET", SCRIPT.path, headers={"accept-encoding": accepted})
    assert answer.status == 200
    assert ("content-encoding" in answer.headers) == is_compressed


@pytest.mark.parametrize("method", ["GET", "HEAD"])
@pytest.mark.parametrize("known", ["{}", "W/{}", '"other", W/{}', '{},"other"', "*"])
def test_a_client_that_has_a_file_gets_no_body(gateway: Gateway, known: str, method: str) -> None:
    for file in FILES:
        tag = gateway.ask("HEAD", file.path).headers["etag"]
        headers = {"if-none-match": known.format(tag.removeprefix("W/")), "accept-encoding": "gzip"}
        answer = gateway.ask(method, file.path, headers=headers)
        assert (answer.status, answer.body) == (304, b"")
        assert (answer.headers["etag"], answer.headers["cache-control"]) == (tag, file.cache_control)
        assert not {"content-type", "content-encoding"} & answer.headers.keys()
        has_page_headers(answer)


@pytest.mark.parametrize("known", ["", '"other"', 'W/"0"', "{bare}", '"x{bare}"', '"{bare}x"'])
def test_a_client_that_has_another_file_gets_this_one(gateway: Gateway, known: str) -> None:
    answer = gateway.ask("GET", PAGE.path, headers={"if-none-match": known.format(bare=PAGE.digest)})
    assert (answer.status, answer.body) == (200, PAGE.content)


def test_tags_name_contents() -> None:
    assert len({file.digest for file in FILES}) == len({file.content for file in FILES})


@EVERY_FILE
def test_only_files_with_a_hash_in_their_name_are_kept_without_a_question(gateway: Gateway, file: PageFile) -> None:
    kept = gateway.ask("HEAD", file.path).headers["cache-control"]
    has_hash = re.fullmatch(r"assets/[\w.-]+-[\w-]{8}\.\w+", file.name)
    assert kept == ("public, max-age=31536000, immutable" if has_hash else "no-cache")


def test_the_page_is_at_the_root_with_any_query(gateway: Gateway) -> None:
    for path in ("/", "/?language=nb", "/assets/.."):
        assert gateway.ask("GET", path).body == PAGE.content, path


@pytest.mark.parametrize(
    "path",
    [
        *(
            "/index.html",
            "/tables",
            "/assets",
            "/assets/",
            f"/page{SCRIPT.path}",
            f"{SCRIPT.path}.gz",
            f"{SCRIPT.path}/",
        ),
        *(SCRIPT.path.upper(), "/assets/../envoy.yaml", "/../envoy.yaml", "/assets/%2e%2e/%2e%2e/envoy.yaml"),
        *("/.../envoy.yaml", "/assets/..;/envoy.yaml", "/etc/passwd", "/secrets.yaml", "/__init__.py"),
    ],
)
def test_nothing_else_is_a_file(gateway: Gateway, path: str) -> None:
    refused(gateway.ask("GET", path), *UNKNOWN)


@pytest.mark.parametrize("path", ["/assets/..%2fenvoy.yaml", "/assets/%2e%2e%5cenvoy.yaml", "/assets%2f..%2f..%2fetc"])
def test_escaped_separators_are_refused(gateway: Gateway, path: str) -> None:
    refused(gateway.ask("GET", path), 400, grpc.StatusCode.INVALID_ARGUMENT, "ambiguous path")


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "MOVE"])
@EVERY_FILE
def test_files_are_only_read(gateway: Gateway, file: PageFile, method: str) -> None:
    answer = gateway.ask(method, file.path)
    refused(answer, *OTHER_METHOD)
    assert answer.headers["allow"] == "GET, HEAD"


def test_grpc_gets_no_file(gateway: Gateway) -> None:
    for method, kind in (("GET", "application/grpc"), ("POST", "application/grpc+proto")):
        answer = gateway.ask(method, SCRIPT.path, headers={"content-type": kind})
        refused_over_grpc(answer, grpc.StatusCode.UNIMPLEMENTED)


def test_files_are_served_over_http_2(gateway: Gateway) -> None:
    with closing(gateway.connection()) as connection:
        connection.connect()
        reader = RawHttp2(connection.sock)
        reader.get(PAGE.path, {})
        assert b"".join(frame.payload for frame in reader.frames() if frame.kind == DATA) == PAGE.content


def test_files_are_served_over_tls(deployment: GatewayDeployment) -> None:
    for file in FILES:
        answer = deployment.gateway.ask("GET", file.path)
        assert (answer.status, answer.body) == (200, file.content)
        has_page_headers(answer)


async def test_a_network_gets_so_many_bytes_of_the_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Envoy holds answers that nobody reads, and counts a request by the length of its answer."""
    *_, compressed, as_it_is = page_routes([SCRIPT])
    monkeypatch.setattr(configuration, "KIBIBYTES_PER_SECOND", 1)
    monkeypatch.setattr(configuration, "BURST_KIBIBYTES", as_it_is.kibibytes + compressed.kibibytes)
    async with running_envoy(tmp_path) as gateway:
        here, elsewhere = (replace(gateway, caller=caller) for caller in ("127.77.0.1", "127.77.1.1"))
        for accepted, status in (("identity", 200), ("gzip", 200), ("identity", 429)):
            answer = await asyncio.to_thread(here.ask, "GET", SCRIPT.path, headers={"accept-encoding": accepted})
            assert answer.status == status, accepted
        refused(answer, 429, grpc.StatusCode.RESOURCE_EXHAUSTED, "too many requests")
        call = await asyncio.to_thread(here.ask, "GET", "/v1/games")
        refused(call, 401, grpc.StatusCode.UNAUTHENTICATED, "access token")
        assert (await asyncio.to_thread(elsewhere.ask, "GET", SCRIPT.path)).status == 200


@asynccontextmanager
async def running_envoy(folder: Path) -> AsyncIterator[Gateway]:
    """Run Envoy by a configuration of this process."""
    key, public = folder / "lobby.private.pem", folder / "lobby.public.pem"
    write_new_key_pair(key, public)
    settings = GatewaySettings(lobby_public_key=public, listen="127.0.0.1:0", admin_socket=folder / "admin.sock")
    write_files(configuration.configuration_files(settings, folder), folder)
    envoy = await Envoy.start(find_envoy(), folder, 1)
    try:
        yield Gateway((await envoy.admin.listeners())["players"], None, key)
    finally:
        await envoy.terminate()


def test_page_requests_are_in_the_access_log_without_their_query(tmp_path: Path) -> None:
    with opened_gateway(tmp_path, "--access-log=true") as gateway:
        gateway.ask("GET", "/?token=secret", headers={"authorization": "Bearer secret"})
        gateway.ask("GET", SCRIPT.path)
    log = (tmp_path / "gateway.log").read_text()
    assert "secret" not in log
    lines = [json.loads(line) for line in log.splitlines() if line.startswith("{")]
    assert [(line["path"], line["status"]) for line in lines] == [("/", 200), (SCRIPT.path, 200)]


def test_it_can_be_left_out(tmp_path: Path) -> None:
    with opened_gateway(tmp_path, "--web-table=false") as gateway:
        assert "web_table" not in json.loads((tmp_path / "ready.json").read_text())
        for file in FILES:
            refused(gateway.ask("GET", file.path), *UNKNOWN)


class _Inline(HTMLParser):
    """Collects what a content security policy without 'unsafe-inline' refuses."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes: Mapping[str, str | None] = dict(attrs)
        is_inline = tag == "style" or (tag == "script" and "src" not in attributes)
        is_inline |= any(name == "style" or name.startswith("on") for name in attributes)
        is_inline |= any((value or "").startswith("javascript:") for value in attributes.values())
        if is_inline:
            self.found.append(self.get_starttag_text() or tag)


def test_the_page_has_no_inline_script_or_style() -> None:
    reader = _Inline()
    reader.feed(PAGE.content.decode())
    assert reader.found == []
