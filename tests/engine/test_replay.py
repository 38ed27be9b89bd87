"""The verification of replays: written ones pass, and every change is found."""

import json
import tracemalloc
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import chain, pairwise, repeat
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import pytest

from croupier.engine.core import replay_verification
from croupier.engine.core.log import ActedBy, AwaySet, ClockCompensated, Proposed, SeatConfig, TableConfig, Voted
from croupier.engine.core.replay_verification import ReplayFault, verify_replay, verify_replay_file
from croupier.engine.core.shuffles import commitment
from croupier.games.interface import SeatActed
from croupier.games.registry import OWN_GAMES
from tests.engine.folds import write_replay
from tests.engine.play import ROUNDS, SEED, bots, every_game, make_config, people, walk, whole_log
from tests.engine.recorded_logs import read
from tests.games.laws import TABLES

UNVERIFIABLE = {"table_id", "player_id", "name"}
"""Fields that are independent of the game; only their type can be checked."""
POSSIBLY_VALID = {"options", "seat", "action"}
"""Fields whose change, to the same type, may give another valid game."""
MISSING = object()
PAID_SEED = 5
"""A seed of a table of 110 with a failed bid whose top trump bonus is paid."""


def nested(depth: int) -> Any:
    return [nested(depth - 1)] if depth else 0


WRONG: tuple[Any, ...] = (
    *(None, True, -1, 0, 10**9, 0.5, "", "x", [], ["x"], nested(200)),
    *({}, {"x": 1}, {"0": 5}, {"0": ""}, {"7": "aa"}),
)
UNREADABLE = (
    *("[" * 100_000, '{"a":' * 100_000, "[" * 100_000 + "]" * 100_000),
    *("1" * 100_000, '{"seq":' + "1" * 100_000 + "}"),
    *("", "null", "[]", '"text"', "NaN", '{"seq":NaN,"at":Infinity}', "\x00", "\ud800"),
    '{"seq":2,"at":"2026-11-21T09:00:00.123Z","seat":1e400,"action":{"type":"pass"}}',
)


def written(config: TableConfig, seed: int) -> list[str]:
    """Return the lines of the replay of a random game, with computer players."""
    log = []
    for entry in whole_log(config, Random(seed)):
        bot = isinstance(entry.event, SeatActed) and config.seats[entry.event.seat].bot
        log.append(entry._replace(acted_by=ActedBy.BOT, request_id="") if bot else entry)
    return write_replay(config, log).splitlines()


def fault_line(lines: list[str]) -> int:
    with pytest.raises(ReplayFault) as caught:
        verify_replay("\n".join(lines) + "\n")
    return caught.value.line


def found_in(lines: list[str], number: int, value: object) -> int:
    """Return the line of the first fault after a change of one line."""
    return fault_line([*lines[:number], json.dumps(value), *lines[number + 1 :]])


@every_game
def test_a_written_replay_is_valid(game: str, seed: int) -> None:
    for seats in OWN_GAMES[game].seats:
        config = make_config(game, seats=(*people(seats - 1), *bots(1)), options=ROUNDS.get(game))
        config = replace(config, client_seeds=(b"added",) * seats)
        walked = list(walk(config, Random(seed)))
        replay = "\n".join(written(config, seed))
        summary = verify_replay(replay)
        assert (summary.table_id, summary.game) == ("t1", game)
        replayed = [
            transition
            for transition in walked
            if not isinstance(transition.entry.event, Proposed | Voted | AwaySet | ClockCompensated)
        ]
        assert summary.entries == replay.count('"seq":') == len(replayed)
        assert summary.totals == walked[-1].after.scores
        assert [list(group) for group in summary.ranking]


def test_the_header_has_the_documented_format_and_a_fault_names_its_field() -> None:
    seats = (SeatConfig("p0", "Ünï"), SeatConfig("", "Computer", "random"))
    first, *lines = written(make_config("thulla", seats=seats), 1)
    header = json.loads(first)
    assert header["players"] == [
        {"seat": 0, "player_id": "p0", "name": "Ünï", "bot": False},
        {"seat": 1, "player_id": "", "name": "Computer", "bot": True},
    ]
    assert list(header) == [
        *("replay", "table_id", "game", "rules_version", "seats", "options", "players"),
        *("commitment", "seed", "client_seeds"),
    ]
    assert header["commitment"] == commitment(bytes.fromhex(header["seed"]))
    with pytest.raises(ReplayFault, match='line 1: \'commitment\' is "00", but should be "'):
        verify_replay("\n".join([json.dumps(header | {"commitment": "00"}), *lines]))


def others(value: Any) -> list[Any]:
    """Return changes of a value; the first are of the same type."""
    alike: list[Any] = []
    match value:
        case bool():
            alike = [not value, int(value)]
        case int():
            alike = [value + 1, float(value), str(value), *([bool(value)] if value in (0, 1) else [])]
        case str():
            alike = [value + "0", value[:-1], value.lower() if value.lower() != value else value + " "]
        case list():
            alike = [each for each in (value[::-1], value + value[:1]) if each != value]
        case dict():
            alike = [value | {"more": 1}]
    return [*alike, *(wrong for wrong in WRONG if json.dumps(wrong) != json.dumps(value))]


class Change(NamedTuple):
    """A JSON value with a change in a single place."""

    path: tuple[Any, ...]
    old: Any
    new: Any
    whole: Any

    def may_be_valid(self) -> bool:
        """Return whether a replay with this change may be valid, possibly as another game."""
        if self.path[:1] == ("auto",) and (self.old, self.new) == ("timeout", MISSING):
            return True  # Whether the player decided cannot be verified.
        if self.path and self.path[-1] in UNVERIFIABLE:
            return isinstance(self.new, str)
        if self.path and self.path[-1] == "bot":
            return isinstance(self.new, bool)  # The change appears first in the player's action.
        is_alike = type(self.new) is type(self.old) and not isinstance(self.new, str | dict)
        return is_alike and self.path[0] in POSSIBLY_VALID

    def leaves_out_an_option(self, game: str) -> bool:
        """Return whether an option is missing that earlier tables lack too."""
        names = {
            option.name for option in OWN_GAMES[game].options(OWN_GAMES[game].seats[0]) if option.earlier is not None
        }
        return self.new is MISSING and self.path[:1] == ("options",) and self.path[-1] in names


def changes(value: Any) -> Iterator[Change]:
    """Yield all single changes of a JSON value, with the ways to their places."""
    yield from (Change((), value, other, other) for other in others(value))
    for key, inner in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        if isinstance(value, dict):
            yield Change((key,), inner, MISSING, {each: value[each] for each in value if each != key})
        for change in changes(inner):
            whole = value.copy()
            whole[key] = change.whole
            yield change._replace(path=(key, *change.path), whole=whole)


@every_game
def test_every_single_change_is_found_in_its_line(game: str, seed: int) -> None:
    lines = written(make_config(game, seats=(*people(OWN_GAMES[game].seats[0] - 1), *bots(1))), seed)
    random, last = Random(seed), len(lines) - 1
    for number in sorted({0, 1, 2, 3, last - 1, last, *random.sample(range(last), min(2 * TABLES, last))}):
        possible = [change for change in changes(json.loads(lines[number])) if not change.may_be_valid()]
        possible = [change for change in possible if not change.leaves_out_an_option(game)]
        for change in possible if number in (0, 2) else random.sample(possible, min(8 * TABLES, len(possible))):
            # Without the following lines, which are irrelevant and slow to read.
            assert found_in(lines[: number + 1], number, change.whole) == number + 1, change


def without_options(lines: list[str], *names: str) -> list[str]:
    header = json.loads(lines[0])
    for name in names:
        del header["options"][name]
    return [json.dumps(header), *lines[1:]]


@every_game
def test_a_replay_of_a_table_from_before_an_option_is_valid(game: str, seed: int) -> None:
    rules = OWN_GAMES[game]
    earlier = {option.name: option.earlier for option in rules.options(rules.seats[0]) if option.earlier is not None}
    lines = written(make_config(game, options=ROUNDS.get(game, {}) | earlier), seed)
    for names in ([*earlier], [*earlier][:1], [*earlier][1:]):
        summary = verify_replay("\n".join(without_options(lines, *names)))
        assert summary == verify_replay("\n".join(lines))


@every_game
def test_a_replay_without_an_option_that_has_always_existed_is_refused(game: str, seed: int) -> None:
    rules = OWN_GAMES[game]
    lines = written(make_config(game), seed)
    always = [option.name for option in rules.options(rules.seats[0]) if option.earlier is None]
    assert always
    for name in always:
        with pytest.raises(ReplayFault, match=r"^line 1: 'options' is \{"):
            verify_replay("\n".join(without_options(lines, name)))


def test_a_replay_without_an_option_has_the_rules_from_before_it() -> None:
    config = make_config("one_ten", options={"failed_bonus": "paid"})
    lines = written(config, PAID_SEED)
    assert verify_replay("\n".join(lines)).table_id == "t1"
    found = fault_line(without_options(lines, "failed_bonus"))
    assert "scores" in json.loads(lines[found - 1])


@pytest.mark.parametrize("line", UNREADABLE, ids=range(len(UNREADABLE)))
def test_an_unreadable_line_is_a_fault(line: str) -> None:
    lines = written(make_config("thulla"), 1)
    for number in (0, 1, 2):
        assert fault_line([*lines[:number], line, *lines[number + 1 :]]) == number + 1


@every_game
def test_every_missing_repeated_exchanged_or_additional_line_is_found(game: str, seed: int) -> None:
    lines = written(make_config(game), seed)
    last = len(lines)
    for number in sorted({*range(6), last - 1, last - 2, *Random(seed).sample(range(last), min(15, last))}):
        before, line, after = lines[:number], lines[number], lines[number + 1 :]
        assert fault_line([*before, *after]) == number + 1
        assert not before or fault_line(before) == number + 1
        assert fault_line([*before, line, line, *after]) == number + 2
        if after:
            assert fault_line([*before, after[0], line, *after[1:]]) == number + 1
    for more in ("{}", "x"):
        assert fault_line([*lines, more]) == last + 1
    with pytest.raises(ReplayFault, match="line 1: the file is empty"):
        verify_replay("")


def test_a_missing_restart_or_one_with_other_cards_is_found() -> None:
    lines = read("solo-1").replay.splitlines()
    restarts = {at: line for at, line in enumerate(map(json.loads, lines)) if "restart_hand" in str(line.get("event"))}
    first = {line["event"]["cards"]: at for at, line in reversed(restarts.items())}
    assert set(first) == {"same", "new"}
    for at in first.values():
        assert fault_line([*lines[:at], *lines[at + 1 :]]) == at + 1
    for now, other, line in (("same", "new", 2), ("new", "same", 2), ("same", "old", 1), ("new", None, 1)):
        event = restarts[first[now]]["event"] | {"cards": other}
        assert found_in(lines, first[now], restarts[first[now]] | {"event": event}) == first[now] + line


def test_only_a_computer_player_is_marked_as_one(seed: int) -> None:
    lines = written(make_config("thulla", seats=(*people(1), *bots(1))), seed)
    header = json.loads(lines[0])
    for seat in range(2):
        players = [who | {"bot": who["bot"] ^ (who["seat"] == seat)} for who in header["players"]]
        assert found_in(lines, 0, header | {"players": players}) > 1
    wrong = {0: ("bot", "player"), 1: ("timeout", "player")}
    for number, line in enumerate(map(json.loads, lines[:10])):
        for auto in wrong.get(line.get("seat"), ()):
            assert found_in(lines, number, line | {"auto": auto}) == number + 1


def test_an_illegal_action_is_found_in_its_line(seed: int) -> None:
    """The next player plays the very card that was just played; or the seat that just played does so again."""
    lines = written(make_config("thulla"), seed)
    plays = [(number, line) for number, line in enumerate(map(json.loads, lines)) if "action" in line]
    for (_, line), (number, following) in pairwise(plays[:5]):
        assert found_in(lines, number, following | {"action": line["action"]}) == number + 1
        assert found_in(lines, number, following | {"seat": 1 - following["seat"]}) == number + 1


WRONG_TIMES = (
    *("", "2026-11-21", "2026-11-31T09:00:00.123Z", "2026-11-21 09:00:00.123Z", "2026-11-21T09:00:00.123456Z"),
    *("9999-99-99T99:99:99.999Z", "1999-11-21T09:00:00.123Z", "٢٠٢٦-11-21T09:00:00.123Z"),
)


@pytest.mark.parametrize("at", WRONG_TIMES)
def test_an_invalid_or_decreasing_time_is_found(at: str) -> None:
    lines = written(make_config("thulla"), 1)
    assert found_in(lines, 3, json.loads(lines[3]) | {"at": at}) == 4


@pytest.mark.parametrize(
    ("other", "added", "line"), [(bytes(32), {}, 2), (bytes(31), {}, 1), (b"", {}, 1), (SEED, {"0": "aa"}, 2)]
)
def test_another_seed_that_fits_its_commitment_is_found_by_its_length_or_at_the_first_deal(
    other: bytes, added: dict[str, str], line: int
) -> None:
    lines = written(make_config("thulla"), 1)
    changed = {"seed": other.hex(), "commitment": commitment(other), "client_seeds": added}
    assert found_in(lines, 0, json.loads(lines[0]) | changed) == line


HOSTILE_CHARACTERS = 20_000_000
HOSTILE: Mapping[str, Callable[[str], Iterable[str]]] = {
    "one endless line": lambda _: repeat("[" + 65_535 * "1,", HOSTILE_CHARACTERS // 2**17),
    "deep nesting": lambda _: repeat('{"a":' * 13_000, HOSTILE_CHARACTERS // 65_000),
    "many lines": lambda header: chain([header], repeat('{"a":[[[{}]]]}\n', HOSTILE_CHARACTERS // 15)),
    "lines of many objects": lambda header: chain(
        [header], repeat("[" + 20_000 * "{}," + "{}]\n", HOSTILE_CHARACTERS // 60_000)
    ),
}


@pytest.mark.parametrize("kind", HOSTILE)
def test_a_hostile_file_is_refused_in_bounded_memory(tmp_path: Path, kind: str) -> None:
    header, *_ = written(make_config("thulla"), 1)
    path = tmp_path / "hostile.jsonl"
    with path.open("w") as file:
        file.writelines(HOSTILE[kind](f"{header}\n"))
    assert path.stat().st_size > HOSTILE_CHARACTERS / 2
    tracemalloc.start()
    try:
        with path.open(encoding="utf-8") as file, pytest.raises(ReplayFault, match=r"^line [12]: .{1,1000}$"):
            verify_replay_file(file)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < HOSTILE_CHARACTERS / 4


def test_a_file_with_too_many_lines_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    lines = written(make_config("thulla"), 1)
    monkeypatch.setattr(replay_verification, "MAX_LINES", len(lines) - 1)
    assert fault_line(lines) == len(lines)


def test_random_bytes_in_a_file_are_found_or_change_nothing(seed: int) -> None:
    def certain(line: str) -> dict[str, Any]:
        """Return the verifiable part of a line; a game may be the same with another limit that it does not reach."""
        known = {key: value for key, value in json.loads(line).items() if key not in ("at", "table_id", "players")}
        if "options" in known:
            del known["options"]["stall_limit"]
        return known

    random = Random(seed)
    text = "\n".join(written(make_config("thulla"), seed))
    for _ in range(150):
        at = random.randrange(len(text))
        touched = text[:at] + chr(random.choice((random.randrange(32, 127), random.randrange(0x3000)))) + text[at + 1 :]
        try:
            verify_replay(touched)
        except ReplayFault:
            continue
        assert list(map(certain, touched.split("\n"))) == list(map(certain, text.split("\n")))
