"""What counts as growth."""

from loadtest.watch.growth import SPARE_FILES, Reading, growth_checks, settled_reading

MEGABYTE = 1_000_000


def history(*memory: int, apart: float = 60.0) -> list[Reading]:
    """Readings of a service that uses so many megabytes."""
    return [Reading(number * apart, 0.0, used * MEGABYTE, 30, 0, 0) for number, used in enumerate(memory)]


def failed(*readings: Reading) -> list[str]:
    return [check.name for check in growth_checks({"engine": readings}) if not check.passed]


def test_a_service_is_settled_after_five_minutes_or_a_fifth_of_a_shorter_run() -> None:
    hour = history(*range(60))
    assert settled_reading(hour).seconds == 300
    assert settled_reading(hour[:11]).seconds == 120
    assert settled_reading(hour[:1]).seconds == 0
    later = [reading._replace(seconds=reading.seconds + 1000) for reading in hour]
    assert settled_reading(later).seconds == 1300


def test_a_service_may_grow_until_it_is_settled_and_by_a_tenth_later() -> None:
    assert failed(*history(50, 80, 95, 98, 99, 100, 105, 109, *[110] * 20)) == []
    assert failed(*history(50, 80, 95, 98, 99, 100, 105, 109, *[111] * 20)) == ["engine memory"]
    assert failed(*history(100, 100, 100, 50)) == []


def test_what_a_service_does_not_tell_is_no_pass() -> None:
    assert failed(*history(0, 0, 0)) == ["engine memory"]
    assert failed() == ["engine readings"]
    assert failed(*history(1)) == ["engine readings"]


def test_files_streams_and_tables_come_back() -> None:
    first, *_, last = readings = history(10, 10, 10, 10)
    readings[1] = first._replace(files=500, streams=200, tables=100)
    assert failed(*readings) == []
    assert failed(first, last._replace(files=first.files + SPARE_FILES)) == []
    assert failed(first, last._replace(files=first.files + SPARE_FILES + 1)) == ["engine files"]
    assert failed(first, last._replace(streams=1)) == ["engine streams"]
    assert failed(first, last._replace(tables=1)) == ["engine tables"]


def test_a_restart_hides_growth() -> None:
    first, second = history(10, 10)
    assert failed(first, second._replace(restarts=1)) == ["engine restarts"]


def test_checks_say_what_is_allowed_and_what_was_measured() -> None:
    checks = growth_checks({"engine": [Reading(0, 0, 100 * 2**20, 5, 0, 0), Reading(9, 0, 120 * 2**20, 5, 1, 0)]})
    by_name = {check.name: (check.limit, check.measured) for check in checks}
    assert by_name["engine streams"] == ("at most 0", "1")
    assert by_name["engine memory"][1] == "120.0 MiB"
