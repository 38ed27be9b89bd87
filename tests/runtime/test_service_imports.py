"""An idle service has in memory what it uses."""

import subprocess
import sys

import pytest


@pytest.mark.parametrize("service", ["lobby", "engine", "scoring"])
def test_a_service_does_not_import_what_only_migrations_and_traces_need(service: str) -> None:
    program = f"import sys, croupier.{service}.__main__; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout.split()
    assert {"alembic", "mako", "jinja2", "typer", "opentelemetry.sdk"}.isdisjoint(loaded)
