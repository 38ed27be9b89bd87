"""Plain Locust users: coroutines in greenlets, what is counted of them, and runs from the command line."""

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path

import gevent
import grpc
import pytest

from croupier_api.v1 import engine_pb2
from croupier_client import CroupierError, Unavailable
from loadtest.command_line import MISUSED
from loadtest.conductor.plain.bench import read_frame, write_frame
from loadtest.conductor.plain.greenlets import play_together, played
from loadtest.conductor.plain.table import PLAY, CountedMessages
from loadtest.measures import Measures
from loadtest.options import read_options
from loadtest.players.counting import HungUp
from tests.loadtest.broken_services import NONE
from tests.loadtest.matrix import PATIENT, SMALL
from tests.loadtest.running import ROOT, run_load_test, services_with
from tests.loadtest.test_clean_services import assert_green

Response = engine_pb2.PlayResponse
LOCUSTFILES = [str(Path(__file__).parent / name) for name in ("locustfile.py", "until_told.py")]
LOCUST_SECONDS = 60.0
TOLD = ("rpc QuickMatch", "rpc GetView", "rpc ListTables", "jossing play", "action acknowledged")
"""What there are events of in the first file, among others."""

# Coroutines without an event loop


async def doubled(number: int) -> int:
    return 2 * number


async def sum_of_doubles() -> int:
    return await doubled(1) + await doubled(2)


def test_what_never_suspends_is_played_to_its_end() -> None:
    assert played(sum_of_doubles()) == 6


def test_what_waits_for_an_event_loop_is_told() -> None:
    with pytest.raises(RuntimeError, match="let it block"):
        played(asyncio.sleep(0))


def test_several_are_played_at_the_same_time() -> None:
    said: list[str] = []

    async def speak(word: str, pauses: int) -> None:
        for _ in range(pauses):
            gevent.sleep(0)
        said.append(word)

    play_together([speak("late", 3), speak("early", 1)])
    assert said == ["early", "late"]


def test_who_fails_ends_all(capfd: pytest.CaptureFixture[str]) -> None:
    ended: list[str] = []

    async def fail() -> None:
        gevent.sleep(0)
        raise ValueError("a fault")

    async def go_on() -> None:
        try:
            gevent.sleep(60)
        finally:
            ended.append("went")

    with pytest.raises(ValueError, match="a fault"):
        play_together([go_on(), fail()])
    assert ended == ["went"]
    assert "a fault" in capfd.readouterr().err, "gevent tells it as well"


# What is counted of a stream


class Stream:
    """Brings so many messages and then fails, or ends well; says that it was cancelled if it was."""

    def __init__(self, messages: int, error: CroupierError | None = None) -> None:
        self._messages = messages
        self._error = error
        self.is_cancelled = False

    def __iter__(self) -> Iterator[Response]:
        for _ in range(self._messages):
            yield Response()
            if self.is_cancelled:
                raise CroupierError(grpc.StatusCode.CANCELLED, "cancelled")
        if self._error is not None:
            raise self._error

    def cancel(self) -> None:
        self.is_cancelled = True


def counted(measures: Measures) -> dict[str, int]:
    return {name: times for name, times in measures.counts.items() if times}


@pytest.fixture
def measures() -> Measures:
    return Measures()


def test_a_stream_that_ends_well_is_counted(measures: Measures) -> None:
    assert len(list(CountedMessages(Stream(2), measures, PLAY, resumed=True))) == 2
    assert counted(measures) == {"calls": 1, "streams opened Play": 1, "streams resumed": 1, "rpc Play OK": 1}


def test_a_stream_that_is_hung_up_is_no_failure(measures: Measures) -> None:
    messages = CountedMessages(Stream(2), measures, PLAY, resumed=False)
    reading = iter(messages)
    next(reading)
    messages.cancel()
    with pytest.raises(HungUp):
        next(reading)
    assert counted(measures) == {"calls": 1, "streams opened Play": 1, "unanswered rpc Play": 1}
    assert not measures.failures


def test_a_stream_that_breaks_is_a_failure(measures: Measures) -> None:
    broken = Stream(0, Unavailable(grpc.StatusCode.UNAVAILABLE, "the socket closed"))
    with pytest.raises(Unavailable):
        list(CountedMessages(broken, measures, PLAY, resumed=True))
    assert measures.failures == {"UNAVAILABLE": 1}
    assert counted(measures)["unheard streams Play"] == counted(measures)["unanswered rpc Play"] == 1
    assert broken.is_cancelled


def test_a_stream_that_was_read_too_slowly_is_a_refusal(measures: Measures) -> None:
    slow = Stream(1, CroupierError(grpc.StatusCode.RESOURCE_EXHAUSTED, "too slow", reason="SLOW_READER"))
    with pytest.raises(CroupierError):
        list(CountedMessages(slow, measures, PLAY, resumed=False))
    found = counted(measures)
    assert found["slow readers"] == found["rpc Play RESOURCE_EXHAUSTED"] == found["refused SLOW_READER"] == 1
    assert not measures.failures


# The way to the referee


def test_frames_come_as_they_went() -> None:
    stream = BytesIO()
    for body in (b"one", bytes(100_000)):
        write_frame(stream, body)
    stream.seek(0)
    assert [read_frame(stream), read_frame(stream), read_frame(stream)] == [b"one", bytes(100_000), b""]


JUDGING = """
import json, sys
from random import Random
from loadtest.conductor.plain.greenlets import played
from loadtest.conductor.plain.judging import PlainJudging
from loadtest.measures import Measures
from loadtest.record import TableRecord

share, is_killed = json.loads(sys.argv[1])
measures = Measures()
judging = PlainJudging(measures, share, Random(1))
if is_killed:
    judging._process.kill()
    judging._process.wait()
for number in range(3):
    played(judging.hand_over(TableRecord(f"table-{number}", "solo", 4, "")))
judging.finish(30)
judging.close()
print(json.dumps([measures.counts["tables judged"], measures.failures["judging"], judging.waiting]))
"""


def judged(share: float, *, is_killed: bool = False) -> list[int]:
    """How many of three tables were judged, how often that failed, and how many were left.

    In another process: gevent reaps children of whichever process it has children in.
    """
    command = (sys.executable, "-c", JUDGING, json.dumps([share, is_killed]))
    told: list[int] = json.loads(subprocess.run(command, capture_output=True, check=True, cwd=ROOT).stdout)
    return told


def test_every_table_is_judged() -> None:
    assert judged(1.0) == [3, 0, 0]


def test_of_a_small_share_the_first_table_is_judged() -> None:
    assert judged(1e-9) == [1, 0, 0]


def test_nothing_is_judged_if_nothing_is_to_be() -> None:
    assert judged(0.0) == [0, 0, 0]


def test_a_referee_who_is_gone_is_told() -> None:
    assert judged(1.0, is_killed=True) == [0, 3, 0]


# The command line


@pytest.mark.parametrize(
    ("flags", "told"),
    [
        (["smoke", "--master=2"], "leave --master, --worker and --processes out"),
        (["smoke", "--worker=h:1"], "leave --master, --worker and --processes out"),
        (["smoke", "--processes=2"], "leave --master, --worker and --processes out"),
        (["smoke", "--tables=51"], "--plain users are for 50 tables at most"),
        (["evening"], "--plain users are for 50 tables at most"),
    ],
)
def test_plain_users_are_few_and_in_one_process(
    flags: list[str], told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        read_options([*flags, "--plain"])
    assert ended.value.code == MISUSED
    complaint = capsys.readouterr().err
    assert told in complaint
    assert complaint.count("\n") == 1


def test_plain_users_are_wished_for() -> None:
    assert read_options(["smoke", "--plain"]).is_plain
    assert not read_options(["smoke"]).is_plain


# Runs


async def test_a_run_of_plain_users_is_judged_and_green(tmp_path: Path) -> None:
    small = (*SMALL, PATIENT, "--mix=thulla", "--seed=3")
    async with services_with(NONE, tmp_path / "services") as flags:
        outcome = await run_load_test(["smoke", "--plain", *small, *flags], tmp_path)
    assert_green(outcome, "smoke")
    result = outcome.result
    assert {"action acknowledged", "rpc SetReady", "thulla play"} <= {one["name"] for one in result["latencies"]}
    compared = {one["name"]: one for one in result["compared"]}
    assert compared["rpc SetReady OK"]["clients"] == compared["rpc SetReady OK"]["services"] > 0


async def test_a_locustfile_has_events_by_rpc_and_by_action(tmp_path: Path) -> None:
    async with services_with(NONE, tmp_path / "services") as flags:
        addresses = ",".join(flag.partition("=")[2] for flag in flags[:3])
        users = ("--headless", "-u", "4", "-r", "4", "-t", f"{LOCUST_SECONDS:g}s")
        command = (sys.executable, "-m", "locust", "-f", ",".join(LOCUSTFILES), *users)
        environment = {**os.environ, "SERVICES": addresses, "UNTIL": ",".join(TOLD), "PYTHONPATH": str(ROOT)}
        ended = await asyncio.to_thread(
            subprocess.run,
            (*command, "--json", "--skip-log-setup"),
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            timeout=2 * LOCUST_SECONDS,
            check=False,
        )
    entries = {one["name"]: one for one in json.loads(ended.stdout)}
    told = ended.stderr.decode()[-2000:]
    assert set(TOLD) <= set(entries), told
    assert entries["jossing play"]["num_requests"] > 0
    assert entries["jossing play"]["min_response_time"] > 0
    assert not any(one["num_failures"] for one in entries.values()), told
