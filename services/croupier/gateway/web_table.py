"""The web table: the files of its page, and the routes by which Envoy answers with them from its memory."""

import gzip
import hashlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

FOLDER = "page"
"""The folder of the page, in this package and beside Envoy's configuration."""
INDEX = "index.html"
MAX_COMPRESSED_SHARE = 0.9
"""A file that gzip makes hardly shorter is served as it is."""
KIBIBYTES_PER_SECOND = 8 * 1024
"""The page's bytes for one network in the long run: 32 whole pages of 250 KiB."""
BURST_KIBIBYTES = 128 * 1024
"""The page's bytes for one network at once, which Envoy holds if nobody reads them: 500 whole pages."""
ACCEPTS_GZIP = r"(?i)(.*,)?\s*gzip\s*(;\s*q=(1(\.0*)?|0\.\d*[1-9]\d*)\s*)?(,.*)?"
"""A regular expression of the header `accept-encoding`; with the weight 0 gzip is refused."""
PAGE_HEADERS: Mapping[str, str] = {
    # Scripts and styles come from files of the page, and calls go to this gateway: 'self' has WebSockets too. For
    # developers the page shows several of itself.
    "content-security-policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; "
        "connect-src 'self'; frame-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'none'; "
        "frame-ancestors 'self'"
    ),
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
}
"""The headers of every answer below the page's paths, by which browsers limit what the page can do."""
CONTENT_TYPES: Mapping[str, str] = {
    ".css": "text/css; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".ico": "image/x-icon",
    ".js": "text/javascript; charset=utf-8",
    ".json": "application/json",
    ".png": "image/png",
    ".svg": "image/svg+xml",
    ".txt": "text/plain; charset=utf-8",
    ".webmanifest": "application/manifest+json",
    ".webp": "image/webp",
    ".woff2": "font/woff2",
}


@dataclass(frozen=True, slots=True)
class PageFile:
    """A file by its name below the page's folder, with slashes, and its content by gzip if that is shorter."""

    name: str
    content: bytes
    compressed: bytes | None

    @property
    def path(self) -> str:
        """Return the path of its URL."""
        return "/" if self.name == INDEX else f"/{self.name}"

    @property
    def content_type(self) -> str:
        """Return its media type; raises KeyError for a file of a kind that no page has had yet."""
        return CONTENT_TYPES[PurePosixPath(self.name).suffix]

    @property
    def digest(self) -> str:
        """Return a name of its content."""
        return hashlib.sha256(self.content).hexdigest()[:16]

    @property
    def cache_control(self) -> str:
        """Return how browsers keep it: an asset has a hash of its content in its name."""
        return "public, max-age=31536000, immutable" if self.name.startswith("assets/") else "no-cache"


@dataclass(frozen=True, slots=True)
class PageRoute:
    """An answer to requests for a path; if `header` is not empty, to those whose header matches a regular expression.

    `file` is the name of the answer's file below the page's folder, empty without a body.
    """

    path: str
    headers: Mapping[str, str]
    file: str = ""
    kibibytes: int = 1
    header: str = ""
    pattern: str = ""

    @property
    def status(self) -> int:
        """Return the HTTP status."""
        return 200 if self.file else 304


def page_files(folder: Path = Path(__file__).parent / FOLDER) -> tuple[PageFile, ...]:
    """Return the files of a built page in the order of their names."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return tuple(_page_file(path.relative_to(folder).as_posix(), path.read_bytes()) for path in files)


def _page_file(name: str, content: bytes) -> PageFile:
    compressed = gzip.compress(content, mtime=0)
    return PageFile(name, content, compressed if len(compressed) < MAX_COMPRESSED_SHARE * len(content) else None)


def page_contents(files: Iterable[PageFile]) -> dict[str, bytes]:
    """Return what Envoy reads, by the names of files beside its configuration."""
    contents = {f"{FOLDER}/{file.name}": file.content for file in files}
    return contents | {f"{FOLDER}/{file.name}.gz": file.compressed for file in files if file.compressed}


def page_routes(files: Iterable[PageFile]) -> Iterator[PageRoute]:
    """Yield the routes of each file, of which Envoy takes the first that matches."""
    for file in files:
        # A weak tag names the content in every encoding.
        kept = {"etag": f'W/"{file.digest}"', "cache-control": file.cache_control, "vary": "accept-encoding"}
        known = rf'\*|(.*,)?\s*(W/)?"{file.digest}"\s*(,.*)?'
        yield PageRoute(file.path, kept, header="if-none-match", pattern=known)
        typed = {"content-type": file.content_type, **kept}
        if file.compressed:
            encoded = {"content-encoding": "gzip", **typed}
            kibibytes = _kibibytes(file.compressed)
            yield PageRoute(file.path, encoded, f"{file.name}.gz", kibibytes, "accept-encoding", ACCEPTS_GZIP)
        yield PageRoute(file.path, typed, file.name, _kibibytes(file.content))


def _kibibytes(content: bytes) -> int:
    """Return the length of a content, rounded up."""
    return max(1, -(-len(content) // 1024))
