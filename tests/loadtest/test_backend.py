"""The services that a load test starts."""

import importlib.util
import shutil

import pytest

from croupier_loadtest.backend import BackendUnavailable, started_backend


def test_a_missing_gateway_is_named_with_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    monkeypatch.setattr(shutil, "which", lambda _: None)
    with (
        pytest.raises(BackendUnavailable, match=r"pip install 'croupier\[gateway\]'"),
        started_backend(has_gateway=True),
    ):
        pass
