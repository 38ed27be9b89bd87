"""The measures of a process, and their batches."""

import json

import pytest
from hdrh.histogram import HdrHistogram

from croupier_loadtest.histograms import histograms_of, merge, new_histogram, percentile_milliseconds, with_histograms
from croupier_loadtest.judge.violations import Invariant, Violation
from croupier_loadtest.measures import MAX_MICROSECONDS, Measures


def test_both_forms_of_a_batch_keep_times() -> None:
    measures = Measures()
    for milliseconds in range(1, 101):
        measures.record_time("rpc GetView", milliseconds / 1000)
    batch = measures.take()
    for sent in (batch, with_histograms(batch)):
        found = histograms_of(json.loads(json.dumps(sent)))["rpc GetView"]
        assert found.get_total_count() == 100
        assert percentile_milliseconds(found, 50) == pytest.approx(50, rel=0.01)
        assert percentile_milliseconds(found, 99) == pytest.approx(99, rel=0.01)
    assert percentile_milliseconds(new_histogram(), 99) == 0


def test_times_of_several_batches_add_up_within_the_bounds_of_a_histogram() -> None:
    measures = Measures()
    all_of: dict[str, HdrHistogram] = {}
    for seconds in (0.0, 10_000.0):
        measures.record_time("act", seconds)
        merge(all_of, histograms_of(measures.take()))
    assert all_of["act"].get_total_count() == 2
    assert all_of["act"].get_min_value() == 1
    assert all_of["act"].get_max_value() == pytest.approx(MAX_MICROSECONDS, rel=0.001)


def test_a_batch_has_the_measurements_since_the_last_one() -> None:
    measures = Measures()
    measures.count("calls", 2)
    for why in ("first", "second"):
        measures.record_failure("acting", why)
    measures.record_violations([Violation(Invariant.DEAL_UNFAIR, "t", 3, "because")], "a replay")
    batch = measures.take()
    assert batch["counts"] == {"calls": 2}
    assert batch["failures"] == {"acting": [2, "first"]}
    assert [one["invariant"] for one in batch["violations"]] == ["deal_unfair"]
    measures.record_failure("acting", "third")
    later = measures.take()
    assert (later["counts"], later["violations"], later["times"]) == ({}, [], {})
    assert later["failures"] == {"acting": [1, "first"]}


def test_a_replay_is_kept_with_the_first_violation_of_each_invariant() -> None:
    measures = Measures()
    for invariant in (Invariant.DEAL_UNFAIR, Invariant.DEAL_UNFAIR, Invariant.RULES_BROKEN):
        measures.record_violations([Violation(invariant, "t", 0, "")], invariant.value)
    assert [one["replay"] for one in measures.take()["violations"]] == ["deal_unfair", "", "rules_broken"]
