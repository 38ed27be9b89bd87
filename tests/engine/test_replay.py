"""A replay that was written is true, and one that was touched anywhere is not."""

import json
from collections.abc import Callable
from random import Random
from typing import Any

import pytest

from croupier.engine.log import ActedBy, SeatConfig, TableConfig
from croupier.engine.replay import ReplayFault, verify_replay, write_replay
from croupier.engine.shuffles import commitment, shuffle, stream_key
from croupier.games.actions import action_from_json
from croupier.games.catalogue import GAMES
from croupier.games.interface import IllegalAction, InvalidOption, SeatActed, ShuffleNeeded, State, resolve_options
from tests.engine.play import ROUNDS, every_game, make_config, people, walk, whole_log

Header = dict[str, Any]


def written(config: TableConfig, seed: int) -> list[str]:
    """The lines of the replay of a random game; computer players act as such."""
    log = []
    for entry in whole_log(config, Random(seed)):
        bot = isinstance(entry.event, SeatActed) and config.seats[entry.event.seat].bot
        log.append(entry._replace(acted_by=ActedBy.BOT, request_id="") if bot else entry)
    return write_replay(config, log).splitlines()


def fault(lines: list[str]) -> ReplayFault:
    with pytest.raises(ReplayFault) as caught:
        verify_replay("\n".join(lines) + "\n")
    return caught.value


def changed(line: str, change: Callable[[Any], object]) -> str:
    value = json.loads(line)
    change(value)
    return json.dumps(value)


@every_game
def test_what_was_written_is_true(game: str, seed: int) -> None:
    for seats in GAMES[game].seats:
        computer = SeatConfig("", "Computer", "random")
        config = make_config(game, seats=(*people(seats - 1), computer), options=ROUNDS.get(game))
        steps = list(walk(config, Random(seed)))
        summary = verify_replay("\n".join(written(config, seed)))
        assert (summary.table_id, summary.game) == ("t1", game)
        assert summary.entries == steps[-1].entry.sequence
        assert summary.totals == steps[-1].after.game.scores
        assert [list(group) for group in summary.ranking]


def test_the_header_is_as_the_format_says() -> None:
    seats = (SeatConfig("p0", "Ünï"), SeatConfig("", "Computer", "random"))
    config = make_config("thulla", seats=seats)
    header = json.loads(written(config, 1)[0])
    assert header["players"] == [
        {"seat": 0, "player_id": "p0", "name": "Ünï", "bot": False},
        {"seat": 1, "player_id": "", "name": "Computer", "bot": True},
    ]
    assert list(header) == [
        *("replay", "table_id", "game", "rules_version", "seats", "options", "players"),
        *("commitment", "seed", "client_seeds"),
    ]
    assert header["commitment"] == commitment(bytes.fromhex(header["seed"]))


def scalars(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The ways to everything in a JSON value that is neither a list nor an object."""
    if isinstance(value, dict | list):
        items = value.items() if isinstance(value, dict) else enumerate(value)
        return [way for key, inner in items for way in scalars(inner, (*path, key))]
    return [path]


def others(value: Any) -> list[Any]:
    """What a value could be changed to; the first are of the same kind."""
    if isinstance(value, bool):
        return [not value, int(value)]
    if isinstance(value, int):
        return [value + 1, float(value), str(value), *([bool(value)] if value in (0, 1) else [])]
    if isinstance(value, str):
        return [value + "0", value[:-1], value.lower() if value.lower() != value else value + " ", 0, None, []]
    return ["null"]


def put(value: Any, path: tuple[Any, ...], new: Any) -> None:
    for key in path[:-1]:
        value = value[key]
    value[path[-1]] = new


def _is_possible(header: Header) -> bool:
    try:
        resolve_options(GAMES[header["game"]], header["seats"], header["options"])
    except InvalidOption:
        return False
    return True


CANNOT_BE_KNOWN = {"table_id", "player_id", "name"}
"""Nothing in a game follows from these; only their kind can be checked."""


def _state_before(config: TableConfig, lines: list[str]) -> State:
    """The table after these lines."""
    state = GAMES[config.game].new(config.seat_count, config.options)
    for text in lines[1:]:
        line = json.loads(text)
        if "seq" not in line:
            continue
        if isinstance(due := state.awaiting, ShuffleNeeded):
            state, _ = state.apply(shuffle(stream_key(config.seed, config.client_seeds), due))
        else:
            state, _ = state.apply(SeatActed(line["seat"], action_from_json(line["action"])))
    return state


def _is_legal(state: State, touched: dict[str, Any]) -> bool:
    """Whether the rules would take another action there."""
    if type(touched["seat"]) is not int:
        return False
    try:
        state.apply(SeatActed(touched["seat"], action_from_json(touched["action"])))
    except (IllegalAction, ValueError):
        return False
    return True


@every_game
def test_every_single_changed_value_is_found_in_its_line(game: str, seed: int) -> None:
    config = make_config(game, seats=(*people(GAMES[game].seats[0] - 1), SeatConfig("", "Computer", "random")))
    lines = written(config, seed)
    random = Random(seed)
    chosen = sorted(
        {0, 1, 2, 3, len(lines) - 1, len(lines) - 2, *random.sample(range(len(lines)), min(12, len(lines)))}
    )
    for number in chosen:
        value = json.loads(lines[number])
        ways = scalars(value)
        state = _state_before(config, lines[:number])
        for path in random.sample(ways, min(10, len(ways))):
            old = value
            for key in path:
                old = old[key]
            for new in others(old):
                if (path[-1] in CANNOT_BE_KNOWN and isinstance(new, str)) or path[-1] == "at":
                    continue
                touched = json.loads(lines[number])
                put(touched, path, new)
                if path[0] == "options" and _is_possible(touched):
                    continue  # Another option may change nothing in this very game.
                if path[0] in ("action", "seat") and _is_legal(state, touched):
                    continue  # It is another game, and perhaps one that comes to the same.
                found = fault([*lines[:number], json.dumps(touched), *lines[number + 1 :]])
                # Who is a computer player shows first in what he does.
                assert found.line == number + 1 or path[-1] == "bot", (path, old, new, str(found))


@every_game
def test_every_missing_repeated_or_exchanged_line_is_found(game: str, seed: int) -> None:
    lines = written(make_config(game), seed)
    last = len(lines)
    for number in sorted({*range(6), last - 1, last - 2, *Random(seed).sample(range(last), min(15, last))}):
        without = [*lines[:number], *lines[number + 1 :]]
        assert fault(without).line == number + 1
        assert fault([*lines[: number + 1], *lines[number:]]).line == number + 2
        if number + 1 < last:
            swapped = [*lines[:number], lines[number + 1], lines[number], *lines[number + 2 :]]
            assert fault(swapped).line == number + 1


def test_every_key_that_is_missing_or_too_much_is_found(seed: int) -> None:
    config = make_config("thulla", seats=(*people(2), SeatConfig("", "Computer", "random")))
    lines = written(config, seed)
    for number in range(len(lines)):
        for key in json.loads(lines[number]):
            if key == "auto" and json.loads(lines[number])[key] == "timeout":
                continue  # Whether the player himself decided does not follow from anything.
            touched = changed(lines[number], lambda value, key=key: value.pop(key))  # type: ignore[misc]
            assert fault([*lines[:number], touched, *lines[number + 1 :]]).line == number + 1
        touched = changed(lines[number], lambda value: value.update(more=1))
        assert fault([*lines[:number], touched, *lines[number + 1 :]]).line == number + 1


def test_a_computer_player_is_marked_as_one_and_a_person_never(seed: int) -> None:
    lines = written(make_config("thulla", seats=(*people(1), SeatConfig("", "C", "random"))), seed)
    for number, line in enumerate(lines):
        value = json.loads(line)
        if "action" not in value:
            continue
        for auto in {"timeout", "bot", "player"} - ({"timeout", "bot"} if value["seat"] == 0 else {"bot"}):
            value["auto"] = auto
            assert fault([*lines[:number], json.dumps(value), *lines[number + 1 :]]).line == number + 1
        if value["seat"] == 0:
            value["auto"] = "bot"
            assert fault([*lines[:number], json.dumps(value), *lines[number + 1 :]]).line == number + 1
        if number > 8:
            return


@pytest.mark.parametrize(
    "at",
    [
        "",
        "2026-11-21",
        "2026-13-21T09:00:00.123Z",
        "2026-11-31T09:00:00.123Z",
        "2026-11-21T25:00:00.123Z",
        "2026-11-21 09:00:00.123Z",
        "2026-11-21T09:00:00.123456Z",
        "2026-11-21T09:00:00.12xZ",
        "9999-99-99T99:99:99.999Z",
        "1999-11-21T09:00:00.123Z",
        "٢٠٢٦-11-21T09:00:00.123Z",
        5,
        None,
    ],
)
def test_a_time_that_is_none_or_before_the_last_is_found(at: object) -> None:
    lines = written(make_config("thulla"), 1)
    touched = changed(lines[3], lambda value: value.update(at=at))
    assert fault([*lines[:3], touched, *lines[4:]]).line == 4


HEADER_FAULTS: dict[str, Callable[[Header], object]] = {
    "another version": lambda h: h.update(replay=2),
    "an unknown game": lambda h: h.update(game="snap"),
    "a game that is a list": lambda h: h.update(game=[]),
    "other rules": lambda h: h.update(rules_version=99),
    "rules that are true": lambda h: h.update(rules_version=True),
    "no seats": lambda h: h.update(seats=0),
    "too many seats": lambda h: h.update(seats=10**9),
    "seats that are a word": lambda h: h.update(seats="2"),
    "seats that are null": lambda h: h.update(seats=None),
    "options that are a list": lambda h: h.update(options=[]),
    "no options": lambda h: h.update(options={}),
    "an unknown option": lambda h: h["options"].update(x=1),
    "an impossible option": lambda h: h["options"].update(best_of=2),
    "another commitment": lambda h: h.update(commitment="00" * 32),
    "a commitment that is a number": lambda h: h.update(commitment=5),
    "a seed that is not hexadecimal": lambda h: h.update(seed="zz"),
    "a seed that is a number": lambda h: h.update(seed=5),
    "a seed with blanks": lambda h: h.update(seed=" ".join(h["seed"])),
    "an empty seed": lambda h: h.update(seed="", commitment=commitment(b"")),
    "client seeds that are a list": lambda h: h.update(client_seeds=[]),
    "a client seed that is a number": lambda h: h.update(client_seeds={"0": 5}),
    "a client seed of no seat": lambda h: h.update(client_seeds={"7": "aa"}),
    "an empty client seed": lambda h: h.update(client_seeds={"0": ""}),
    "no players": lambda h: h.update(players=[]),
    "players that are an object": lambda h: h.update(players={}),
    "a player that is a word": lambda h: h.update(players=["x", "y"]),
    "a player too many": lambda h: h["players"].append(h["players"][0]),
    "players in another order": lambda h: h["players"].reverse(),
    "a player without a name": lambda h: h["players"][0].pop("name"),
    "a player whose name is a number": lambda h: h["players"][0].update(name=5),
    "a table that is a number": lambda h: h.update(table_id=5),
}


@pytest.mark.parametrize("change", HEADER_FAULTS.values(), ids=HEADER_FAULTS)
def test_a_fault_in_the_header_is_found_in_line_1(change: Callable[[Header], object]) -> None:
    lines = written(make_config("thulla"), 1)
    assert fault([changed(lines[0], change), *lines[1:]]).line == 1


def test_another_seed_that_fits_its_commitment_is_found_at_the_first_deal() -> None:
    lines = written(make_config("thulla"), 1)
    other = changed(lines[0], lambda header: header.update(seed="00" * 32, commitment=commitment(bytes(32))))
    assert fault([other, *lines[1:]]).line == 2


def test_what_is_cut_off_or_added_is_found() -> None:
    lines = written(make_config("thulla"), 1)
    for length in range(1, len(lines)):
        found = fault(lines[:length])
        assert found.line == length + 1
        assert "ends before" in str(found)
    for more in ("", "{}", lines[-1], "x"):
        assert fault([*lines, more, "{}"] if more == "" else [*lines, more]).line == len(lines) + 1
    assert fault([*lines[:-1], lines[-1][:-5]]).line == len(lines)


@pytest.mark.parametrize(
    "line",
    [
        "[" * 100_000,
        '{"a":' * 100_000,
        "[" * 100_000 + "]" * 100_000,
        "1" * 100_000,
        '{"seq":' + "1" * 100_000 + "}",
        "null",
        "[]",
        '"text"',
        "NaN",
        '{"seq":NaN,"at":Infinity}',
        "\x00",
        "\ud800",
        '{"seq":1,"at":{},"action":[],"seat":[]}',
        '{"seq":2,"at":"2026-11-21T09:00:00.123Z","seat":{"a":[]},"action":{"type":["play"]},"auto":{}}',
        '{"seq":2,"at":"2026-11-21T09:00:00.123Z","seat":0,"action":{"type":"play","card":["5H"]}}',
        '{"seq":2,"at":"2026-11-21T09:00:00.123Z","seat":0,"action":null}',
        '{"seq":2,"at":"2026-11-21T09:00:00.123Z","seat":1e400,"action":{"type":"pass"}}',
        '{"seq":2,"at":"2026-11-21T09:00:00.123Z","seat":0,"action":{"type":"pass"},"auto":[]}',
    ],
    ids=range(18),
)
def test_whatever_a_line_holds_the_answer_is_a_fault_and_no_crash(line: str) -> None:
    lines = written(make_config("thulla"), 1)
    for number in (0, 1, 2):
        assert fault([*lines[:number], line, *lines[number + 1 :]]).line == number + 1


def test_nested_values_within_a_header_are_a_fault(seed: int) -> None:
    lines = written(make_config("thulla"), 1)
    deep: Any = 0
    for _ in range(200):
        deep = [deep]
    for key in json.loads(lines[0]):
        touched = changed(lines[0], lambda header, key=key: header.update({key: deep}))  # type: ignore[misc]
        assert fault([touched, *lines[1:]]).line == 1


def test_an_empty_file_is_a_fault() -> None:
    with pytest.raises(ReplayFault):
        verify_replay("")


def test_random_bytes_in_a_file_are_found_or_change_nothing(seed: int) -> None:
    random = Random(seed)
    lines = written(make_config("thulla"), seed)
    text = "\n".join(lines)
    kept = [json.loads(line) for line in lines]
    for _ in range(150):
        at = random.randrange(len(text))
        touched = text[:at] + chr(random.choice((random.randrange(32, 127), random.randrange(0x3000)))) + text[at + 1 :]
        try:
            verify_replay(touched)
        except ReplayFault:
            continue
        now = [json.loads(line) for line in touched.splitlines()]
        for before, after in zip(kept, now, strict=True):
            same = {key: value for key, value in before.items() if key not in ("at", "table_id", "players")}
            assert same == {key: value for key, value in after.items() if key not in ("at", "table_id", "players")}
