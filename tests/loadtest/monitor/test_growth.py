"""The checks of growth."""

import pytest

from loadtest.monitor.growth import SPARE_FILES, Reading, growth_checks, settled_reading

MEGABYTE = 1_000_000


def history(*memory: int, apart: float = 60.0) -> list[Reading]:
    """Return readings of a service with these megabytes of memory."""
    return [Reading(number * apart, 0.0, used * MEGABYTE, 30, 0, 0) for number, used in enumerate(memory)]


HOUR = history(*range(60))
SETTLING = (50, 80, 95, 98, 99, 100, 105, 109)
FIRST, SECOND = history(10, 10)


def test_a_service_is_settled_after_five_minutes_or_a_fifth_of_a_shorter_run() -> None:
    later = [reading._replace(seconds=reading.seconds + 1000) for reading in HOUR]
    settled = [settled_reading(readings).seconds for readings in (HOUR, HOUR[:11], HOUR[:1], later)]
    assert settled == [300, 120, 0, 1300]


@pytest.mark.parametrize(
    ("readings", "failed"),
    [
        (history(*SETTLING, *[110] * 20), []),
        (history(*SETTLING, *[111] * 20), ["memory"]),
        (history(100, 100, 100, 50), []),
        (history(0, 0, 0), ["memory"]),
        ([], ["readings"]),
        (history(1), ["readings"]),
        ([FIRST, SECOND._replace(files=500, streams=200, tables=100), *history(10, 10, 10)[2:]], []),
        ([FIRST, SECOND._replace(files=FIRST.files + SPARE_FILES)], []),
        ([FIRST, SECOND._replace(files=FIRST.files + SPARE_FILES + 1)], ["files"]),
        ([FIRST, SECOND._replace(streams=1)], ["streams"]),
        ([FIRST, SECOND._replace(tables=1)], ["tables"]),
        ([FIRST, SECOND._replace(restarts=1)], ["restarts"]),
    ],
)
def test_a_service_may_grow_until_it_is_settled_and_by_a_tenth_later(
    readings: list[Reading], failed: list[str]
) -> None:
    checks = growth_checks({"engine": readings})
    assert [check.name for check in checks if not check.passed] == [f"engine {name}" for name in failed]


def test_a_check_has_the_limit_and_the_measured_value() -> None:
    checks = growth_checks({"engine": [Reading(0, 0, 100 * 2**20, 5, 0, 0), Reading(9, 0, 120 * 2**20, 5, 1, 0)]})
    by_name = {check.name: (check.limit, check.measured) for check in checks}
    assert by_name["engine streams"] == ("at most 0", "1")
    assert by_name["engine memory"][1] == "120.0 MiB"
