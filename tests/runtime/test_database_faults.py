"""Errors of drivers: which are transient, and which belong to the connection."""

import asyncpg
import pytest

from croupier.runtime.database.faults import describe, ends_session, is_transient, is_unreachable

OF_THE_SESSION = ["08006", "25006", "25P02", "25P03", "26000", "57P01", "57P02", "57P03", "57P05", "58030"]
OF_THE_STATEMENT = ["40001", "40P01", "53100", "55P03", "57014"]
PERMANENT = ["42501", "42P01", "23505", "22P02"]


def error(code: str) -> asyncpg.PostgresError:
    return asyncpg.PostgresError.new({"C": code, "M": "the message"})


@pytest.mark.parametrize("code", OF_THE_SESSION)
def test_a_state_of_the_session_or_its_server_ends_the_session(code: str) -> None:
    assert ends_session(error(code))
    assert is_transient(error(code))


@pytest.mark.parametrize("code", OF_THE_STATEMENT)
def test_a_statement_that_fails_for_now_leaves_the_session(code: str) -> None:
    assert not ends_session(error(code))
    assert is_transient(error(code))


@pytest.mark.parametrize("code", PERMANENT)
def test_a_defect_leaves_the_session(code: str) -> None:
    assert not ends_session(error(code))
    assert not is_transient(error(code))


def test_a_read_only_server_passes_by_a_failover() -> None:
    for fault in (error("25006"), asyncpg.TargetServerAttributeNotMatched("no host")):
        assert is_transient(fault)
        assert is_unreachable(fault)
        assert describe(fault) == "it is read-only: use the URL of the primary"


def test_a_connection_that_is_lost_within_a_command_has_one_description() -> None:
    for fault in (error("08003"), error("57P01"), asyncpg.InternalClientError("cannot switch to state 12")):
        assert describe(fault) == "its server ended the connection"
