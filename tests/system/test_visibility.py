"""Who sees what of a table: before the game, while it runs, after its end, and from the archive.

Each table has two players, and a player whom its host removed. A stranger asks with and without a link. All ask by JSON
over HTTP, which the gateway translates to the same calls as those of native clients.
"""

import asyncio
import http.client
import json
import sqlite3
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, suppress
from dataclasses import dataclass, field
from functools import partial
from random import Random
from typing import ClassVar
from urllib.parse import urlencode

import pytest
from google.protobuf.duration_pb2 import Duration

from croupier.cli.launcher.background import BackgroundServices, started_services
from croupier_api.v1 import engine_pb2, tables_pb2
from croupier_client import (
    BlockingClient,
    CroupierError,
    Endpoints,
    FailedPrecondition,
    NotFound,
    choose_random_action,
    play_game_blocking,
)
from tests.waiting import TIMEOUT_SECONDS, until

pytestmark = pytest.mark.gateway
GAME = "thulla"
HIDDEN, NO_SHEET, NOT_FINISHED = "UNKNOWN_TABLE", "NO_SCORE_SHEET", "TABLE_NOT_FINISHED"
ENGINE_FLAGS = ("--log-seconds=1", "--player-calls-per-second=0")
FLAGS = {"engine": ENGINE_FLAGS, "lobby": ENGINE_FLAGS[1:], "gateway": ("--address-requests-per-second=0",)}
EVERYONE, LINK, SEATED = (
    tables_pb2.VISIBILITY_EVERYONE,
    tables_pb2.VISIBILITY_LINK,
    tables_pb2.VISIBILITY_SEATED,
)
KINDS: Mapping[str, tables_pb2.TableAccess] = {
    "public": tables_pb2.TableAccess(),
    "public, watched by link": tables_pb2.TableAccess(watch_policy=tables_pb2.WATCH_POLICY_LINK),
    "public, watched by nobody": tables_pb2.TableAccess(watch_policy=tables_pb2.WATCH_POLICY_NOBODY),
    "public, delayed": tables_pb2.TableAccess(watch_delay=Duration(seconds=300)),
    "link": tables_pb2.TableAccess(visibility=LINK),
    "link, watched by nobody": tables_pb2.TableAccess(visibility=LINK, watch_policy=tables_pb2.WATCH_POLICY_NOBODY),
    "seated": tables_pb2.TableAccess(visibility=SEATED),
}
PUBLIC = [kind for kind in KINDS if kind.startswith("public")]
WATCHED = {"public", "public, delayed"}
WATCHED_BY_LINK = {"public", "public, delayed", "public, watched by link", "link"}
READ = {"public", "public, watched by link", "public, watched by nobody"}
READ_BY_LINK = {*READ, "link", "link, watched by nobody"}
each_kind = pytest.mark.parametrize("kind", KINDS)


class Caller:
    PATHS: ClassVar[Mapping[str, str]] = {
        "GetTable": "/v1/tables/{}",
        "GetTable by code": "/v1/invites/{}",
        "JoinTable": "/v1/tables/{}:join",
        "Rematch": "/v1/tables/{}:rematch",
        "GetView": "/v1/tables/{}/view",
        "WatchTable": "/v1/tables/{}/events",
        "GetReplay": "/v1/tables/{}/replay",
        "WatchReplay": "/v1/tables/{}/replay/events",
        "GetScoreSheet": "/v1/tables/{}/score-sheet",
        "ListTables": f"/v1/tables?game={GAME}&page_size=100",
        "WatchTables": f"/v1/tables:watch?game={GAME}",
        "GetLeaderboard": f"/v1/games/{GAME}/leaderboard?page_size=100",
    }

    def __init__(self, address: str, client: BlockingClient) -> None:
        tokens = client.session.tokens
        assert tokens is not None
        self._address = address
        self._headers = {"authorization": f"Bearer {tokens.access_token}"}

    def reason(self, call: str, table_id: str, link: str = "") -> str:
        """Return the reason of the refusal of a call about one table, or ""."""
        path = self.PATHS[call].format(table_id) + (f"?{urlencode({'link': link})}" if link else "")
        with closing(http.client.HTTPConnection(self._address, timeout=TIMEOUT_SECONDS)) as connection:
            method, body = ("POST", "{}") if call in ("JoinTable", "Rematch") else ("GET", None)
            headers = self._headers | {"content-type": "application/json"}
            connection.request(method, path, body, headers)
            answer = connection.getresponse()
            if answer.status == http.HTTPStatus.OK:
                assert answer.read(1) == b"{"
                return ""
            reason: str = json.loads(answer.read())["details"][0]["reason"]
            assert (answer.status == http.HTTPStatus.NOT_FOUND) == (reason in (HIDDEN, NO_SHEET))
            return reason

    def listed(self, call: str, **filters: str) -> str:
        """Return the answer to a call that lists tables, results or players, as text."""
        until_text = filters.pop("until", "")
        if call == "GetPlayerStatistics":
            return str(json.loads(self._get(f"/v1/players/{filters['player_id']}/statistics")).get("games", ""))
        path = self.PATHS.get(call) or "/v1/results?" + urlencode({"page_size": 100, **filters})
        return self._get(path, until_text)

    def _get(self, path: str, until_text: str = "") -> str:
        with closing(http.client.HTTPConnection(self._address, timeout=TIMEOUT_SECONDS)) as connection:
            connection.request("GET", path, headers=self._headers)
            answer = connection.getresponse()
            assert answer.status == http.HTTPStatus.OK
            if not until_text:
                return answer.read().decode()
            text = ""
            while until_text not in text:
                text += answer.read1(4096).decode()
            return text


@dataclass(slots=True)
class Played:
    """A table of one kind with its players, and the links to it by purpose."""

    table_id: str
    host: str
    removed: str
    links: dict[str, str] = field(default_factory=dict)

    def link(self, purpose: str) -> str:
        return self.links.get(purpose, "")


@dataclass(slots=True)
class Backend:
    """Running services, and tables of all kinds: forming ones, running ones and finished ones."""

    services: BackgroundServices
    stack: ExitStack
    forming: dict[str, Played] = field(default_factory=dict)
    running: dict[str, Played] = field(default_factory=dict)
    finished: dict[str, Played] = field(default_factory=dict)
    first_table: str = ""
    """The oldest forming table, which streams of tables bring last."""
    clients: dict[str, BlockingClient] = field(default_factory=dict)

    def client(self, name: str) -> BlockingClient:
        if name not in self.clients:
            client = BlockingClient(
                Endpoints.single(self.services.addresses["gateway"]["listen"]), f"the secret device of {name}", name
            )
            self.clients[name] = self.stack.enter_context(client)
            client.list_games()
        return self.clients[name]

    def player_id(self, name: str) -> str:
        player = self.client(name).player
        assert player is not None
        return player.player_id

    def caller(self, name: str) -> Caller:
        return Caller(self.services.addresses["gateway"]["listen"], self.client(name))

    def seat_players(self, kind: str, stage: str) -> Played:
        """Create a table with a host and a mate, from which another player was removed."""
        number = [*KINDS].index(kind)
        host, mate, removed = (f"{role} {stage} {number}" for role in ("host", "mate", "removed"))
        hosting = self.client(host)
        seat_count = 3 if stage in ("first", "forming") else 2
        table = hosting.create_table(game=GAME, seat_count=seat_count, access=KINDS[kind]).table
        self._join(removed, table)
        cleared = hosting.clear_seat(table_id=table.table_id, seat=1, block=True).table
        self._join(mate, cleared)
        return Played(table.table_id, host, removed)

    def _join(self, name: str, table: tables_pb2.Table) -> None:
        self.client(name).join_table(invite_code=table.invite_code)

    def watch_link(self, name: str, table_id: str) -> str:
        return self.client(name).create_link(table_id=table_id, purpose=engine_pb2.LINK_PURPOSE_WATCH).link

    def begin(self, kind: str, stage: str) -> Played:
        """Begin a game, and create the links that its access allows."""
        played = self.seat_players(kind, stage)
        played.links["early"] = self.watch_link(played.host, played.table_id)
        for name in (played.host, played.host.replace("host", "mate")):
            self.client(name).set_ready(table_id=played.table_id)
        for purpose in ("watch", "replay"):
            number = engine_pb2.LinkPurpose.Value(f"LINK_PURPOSE_{purpose.upper()}")
            with suppress(FailedPrecondition):
                created = self.client(played.host).create_link(table_id=played.table_id, purpose=number)
                played.links[purpose] = created.link
        return played

    def finish(self, played: Played) -> None:
        with ThreadPoolExecutor(2) as threads:
            names = (played.host, played.host.replace("host", "mate"))
            for done in [threads.submit(self._play, name, played.table_id) for name in names]:
                done.result(TIMEOUT_SECONDS)

    def _play(self, name: str, table_id: str) -> None:
        random = Random(name)
        with self.client(name).play_table(table_id) as playing:
            play_game_blocking(playing, partial(choose_random_action, random=random))

    def has_results(self) -> bool:
        return all(
            played.table_id in self.caller(played.host).listed("ListResults", player_id=player_id)
            for played in self.finished.values()
            if (player_id := self.player_id(played.host))
        )

    def is_archived(self) -> bool:
        with closing(
            sqlite3.connect(f"file:{self.services.folder.path / 'engine.db'}?mode=ro", uri=True)
        ) as connection:
            archived = {row[0] for row in connection.execute("SELECT table_id FROM archive")}
        return archived >= {played.table_id for played in self.finished.values()}


@pytest.fixture(scope="module")
def backend(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Backend]:
    folder = tmp_path_factory.mktemp("visibility")
    with started_services(folder, gateway=[], extra_flags=FLAGS) as services, ExitStack() as stack:
        backend = Backend(services, stack)
        backend.first_table = backend.seat_players("public", "first").table_id
        for kind in KINDS:
            backend.forming[kind] = backend.seat_players(kind, "forming")
            backend.running[kind] = backend.begin(kind, "running")
            backend.finished[kind] = backend.begin(kind, "finished")
        for played in backend.finished.values():
            backend.finish(played)
        asyncio.run(until(backend.has_results, "scoring has all results"))
        yield backend


def expected(is_allowed: bool, reason: str = HIDDEN) -> str:
    return "" if is_allowed else reason


@each_kind
def test_a_forming_table(backend: Backend, kind: str) -> None:
    played, is_public = backend.forming[kind], kind in PUBLIC
    sees = {"a stranger": is_public, played.removed: False}
    for name, is_shown in sees.items():
        calls = backend.caller(name)
        assert calls.reason("GetTable", played.table_id) == expected(is_shown)
        assert (played.table_id in calls.listed("ListTables")) == is_shown
        assert (played.table_id in calls.listed("WatchTables", until=backend.first_table)) == is_shown
    assert backend.caller(played.removed).reason("JoinTable", played.table_id) == HIDDEN
    code = backend.client(played.host).get_table(table_id=played.table_id).table.invite_code
    with pytest.raises(CroupierError, match="unknown table"):
        backend.client(played.removed).join_table(invite_code=code)
    for name, is_shown in {"a stranger": True, played.host: True, played.removed: False}.items():
        assert backend.caller(name).reason("GetTable by code", code) == expected(is_shown)
    assert backend.caller("a stranger").reason("GetTable by code", "23456789") == HIDDEN
    assert backend.caller("a newcomer").reason("JoinTable", played.table_id) == expected(is_public)
    assert backend.caller(played.host).reason("GetTable", played.table_id) == ""
    link = backend.watch_link(played.host, played.table_id)
    assert backend.caller("a stranger").reason("GetView", played.table_id, link) == HIDDEN
    for name in ("a stranger", played.removed, played.host.replace("host", "mate")):
        with pytest.raises(NotFound, match="unknown table"):
            backend.watch_link(name, played.table_id)


@each_kind
def test_a_running_table(backend: Backend, kind: str) -> None:
    played = backend.running[kind]
    table_id, watch = played.table_id, played.link("watch")
    stranger, removed, host = map(backend.caller, ("a stranger", played.removed, played.host))
    assert (bool(watch), bool(played.link("replay"))) == (
        kind in WATCHED_BY_LINK,
        kind in PUBLIC or kind in READ_BY_LINK,
    )
    for call in ("GetView", "WatchTable"):
        assert host.reason(call, table_id) == ""
        assert stranger.reason(call, table_id) == expected(kind in WATCHED)
        for link in (watch, played.link("early")):
            assert stranger.reason(call, table_id, link) == expected(kind in WATCHED_BY_LINK)
        assert removed.reason(call, table_id, watch) == HIDDEN
    for call in ("GetReplay", "WatchReplay"):
        assert host.reason(call, table_id) == NOT_FINISHED
        assert stranger.reason(call, table_id) == (NOT_FINISHED if kind in PUBLIC else HIDDEN)
        assert removed.reason(call, table_id, played.link("replay")) == HIDDEN
    assert stranger.reason("GetTable", table_id) == expected(kind in PUBLIC)


def check_finished(backend: Backend, kind: str) -> None:
    """Check the calls about a finished table; the delayed one is over for its players only."""
    played, is_over = backend.finished[kind], kind != "public, delayed"
    table_id, replay = played.table_id, played.link("replay")
    stranger, removed, host = map(backend.caller, ("a stranger", played.removed, played.host))
    calls = dict.fromkeys(("GetView", "WatchTable", "GetReplay", "WatchReplay"), HIDDEN) | {"GetScoreSheet": NO_SHEET}
    for call, hidden in calls.items():
        assert host.reason(call, table_id) == ""
        assert removed.reason(call, table_id, replay) == hidden
        if is_over:
            assert stranger.reason(call, table_id) == expected(kind in READ, hidden)
            assert stranger.reason(call, table_id, replay) == expected(kind in READ_BY_LINK, hidden)
            assert stranger.reason(call, table_id, played.link("watch")) == expected(kind in READ, hidden)
    if not is_over:
        reasons = [stranger.reason(call, table_id) for call in ("GetView", "GetReplay", "WatchReplay", "GetScoreSheet")]
        assert reasons == ["", NOT_FINISHED, NOT_FINISHED, NO_SHEET]
    player_id = backend.player_id(played.host)
    assert table_id in host.listed("ListResults", player_id=player_id)
    for others, is_listed in ((stranger, kind in READ), (removed, False)):
        assert (table_id in others.listed("ListResults")) == is_listed
        assert (table_id in others.listed("ListResults", player_id=player_id)) == is_listed
    assert GAME in host.listed("GetPlayerStatistics", player_id=player_id)
    assert (GAME in stranger.listed("GetPlayerStatistics", player_id=player_id)) == (kind in READ)
    assert (player_id in stranger.listed("GetLeaderboard")) == (kind in READ)


@each_kind
def test_a_finished_table(backend: Backend, kind: str) -> None:
    check_finished(backend, kind)


@each_kind
def test_a_finished_table_that_its_players_play_again(backend: Backend, kind: str) -> None:
    played, is_public = backend.finished[kind], kind in PUBLIC
    stranger, removed, host = map(backend.caller, ("a stranger", played.removed, played.host))
    assert stranger.reason("Rematch", played.table_id) == ("NOT_SEATED" if is_public else HIDDEN)
    assert removed.reason("Rematch", played.table_id) == HIDDEN
    assert backend.caller(backend.running[kind].host).reason("Rematch", backend.running[kind].table_id) == NOT_FINISHED
    assert host.reason("Rematch", played.table_id) == ""
    mate_name = played.host.replace("host", "mate")
    mate = backend.client(mate_name)
    finished = mate.get_table(table_id=played.table_id).table
    following = mate.get_table(table_id=finished.next_table_id).table
    assert [seat.reserved_player_id for seat in following.seats] == [backend.player_id(mate_name), ""]
    assert (following.options, following.time_control, following.access) == (
        finished.options,
        finished.time_control,
        finished.access,
    )
    assert stranger.reason("GetTable", following.table_id) == expected(is_public)
    assert removed.reason("GetTable", following.table_id) == HIDDEN
    for client in (backend.client(played.host), mate):
        table = client.rematch(table_id=played.table_id).table
        assert table.table_id == following.table_id
        table = client.set_ready(table_id=table.table_id).table
    assert table.state == tables_pb2.TABLE_STATE_PLAYING


@pytest.mark.slow
async def test_an_archived_table(backend: Backend) -> None:
    await until(backend.is_archived, "all finished tables are archived")
    for kind in KINDS:
        check_finished(backend, kind)


def test_a_link_opens_no_other_table_and_a_forged_one_opens_none(backend: Backend) -> None:
    stranger = backend.caller("a stranger")
    played, other = backend.finished["link"], backend.finished["link, watched by nobody"]
    for call in ("GetView", "GetReplay", "WatchReplay", "GetScoreSheet"):
        assert stranger.reason(call, other.table_id, played.link("replay")) == HIDDEN
        assert stranger.reason(call, played.table_id, played.link("replay")[:-4]) == "INVALID_LINK"
