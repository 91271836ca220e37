"""The measuring core, on synthetic series and on cases that need no particular speed."""

import time

import numpy as np
import pytest
import torch

from tutorial.measure import timing
from tutorial.measure.timing import Case, Ratio, block_length, block_time, ratio, rotate, spin, synchronize, threads, verdict


def test_the_ratio_is_free_of_a_drift_that_hits_both():
    rng = np.random.default_rng(1)
    speed = np.repeat(rng.uniform(1, 3, 20), 10)  # the machine changes speed every ten rotations
    base = speed * rng.normal(1, 0.02, 200)
    case = 1.1 * speed * rng.normal(1, 0.02, 200)
    found = ratio(list(case), list(base))
    assert found.low < 1.1 < found.high
    assert found.half_width < 0.01


def test_the_interval_covers_the_truth_about_as_often_as_it_says():
    rng = np.random.default_rng(2)
    hits = 0
    for _ in range(200):
        base, twin = rng.lognormal(0, 0.1, 40), rng.lognormal(0, 0.1, 40)
        found = ratio(list(twin), list(base))
        hits += found.low <= 1 <= found.high
    assert 180 <= hits <= 199


def test_the_same_samples_give_the_same_interval():
    samples, base = [1.0, 1.2, 1.1, 0.9], [1.0, 1.0, 1.1, 1.0]
    assert ratio(samples, base) == ratio(samples, base)


TWIN = Ratio(1.0, 0.99, 1.01)


@pytest.mark.parametrize(
    ("case", "twin", "expected"),
    [
        (Ratio(1.5, 1.4, 1.6), TWIN, "slower"),
        (Ratio(0.5, 0.4, 0.6), TWIN, "faster"),
        (Ratio(1.01, 1.005, 1.015), TWIN, "same"),  # excludes 1, but by less than 2 %
        (Ratio(1.0, 0.96, 1.04), TWIN, "same"),
        (Ratio(1.0, 0.9, 1.1), TWIN, "cannot tell"),
        (Ratio(1.1, 0.99, 1.2), TWIN, "cannot tell"),
        (Ratio(1.1, 1.05, 1.15), Ratio(1.0, 0.85, 1.15), "cannot tell"),  # smaller than what A against A shows
        (Ratio(1.3, 1.05, 1.5), Ratio(1.0, 0.85, 1.15), "slower"),
        (Ratio(0.89, 0.8, 0.95), Ratio(1.06, 0.97, 1.16), "cannot tell"),  # the twin itself is 16 % off at one end
    ],
)
def test_verdicts(case, twin, expected):
    assert verdict(case, twin) == expected


def test_rotations_keep_every_block_of_base_twin_witness_and_cases():
    records = rotate("e", "g", [Case("a", spin), Case("b", lambda n: spin(2 * n))], rotations=12, seconds=60, block=0.001)
    assert [(r.role, r.case) for r in records] == [("base", "a"), ("twin", "a"), ("witness", "plain Python"), ("case", "b")]
    assert {len(r.samples) for r in records} == {12}
    base, twin, _, double = records
    assert base.parameters["block"] == twin.parameters["block"] > 0
    assert 1.3 < ratio(double.samples, base.samples).median < 3


def test_time_ends_the_rotations_but_not_before_there_are_some():
    records = rotate("e", "g", [Case("a", lambda n: time.sleep(0.005 * n))], rotations=1000, seconds=0.1, block=0.001)
    assert 6 < len(records[0].samples) < 100


def test_progress_ends_at_one_and_never_falls():
    told = []
    rotate("e", "g", [Case("a", spin)], rotations=8, seconds=60, block=0.001, progress=told.append)
    assert told[-1] == 1.0
    assert told == sorted(told)


def test_a_case_that_fails_is_recorded_and_the_rest_goes_on():
    turns = []

    def fails_later(n):
        turns.append(n)
        if len(turns) > 20:
            raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 1 GiB.\nmore")

    def fails_at_once(n):
        raise RuntimeError("no kernel image is available")

    records = rotate("e", "g", [Case("a", spin), Case("b", fails_later), Case("c", fails_at_once)], rotations=30, seconds=60, block=0.0)
    by_case = {r.case: r for r in records if r.role == "case"}
    assert by_case["b"].failure == "CUDA out of memory. Tried to allocate 1 GiB."
    assert by_case["c"].failure == "no kernel image is available"
    assert len(records[0].samples) == 30


def test_a_base_that_fails_leaves_records_with_its_reason():
    def fails(n):
        raise RuntimeError("broken")

    records = rotate("e", "g", [Case("a", fails), Case("b", spin)], rotations=3, seconds=60, block=0.001)
    assert [r.failure for r in records] == ["broken", "broken", None, None]


def test_parts_are_seconds_for_one_repetition():
    records = rotate("e", "g", [Case("a", lambda n: {"half": 0.5 * n, "rest": 1.0 * n})], rotations=3, seconds=60, block=0.0)
    halves = [r for r in records if r.case == "half"]
    assert halves[0].role == "part"
    assert halves[0].samples == [0.5] * 3


def test_a_block_is_a_multiple_of_what_the_case_asks_for():
    assert block_length(Case("a", lambda n: time.sleep(0.0002 * n), multiple=10), 0.01) % 10 == 0


def test_a_record_says_the_threads_that_its_case_sets():
    with threads(1):
        records = rotate("e", "g", [Case("a", spin), Case("b", spin, threads=3)], rotations=1, seconds=60, block=0.0)
    assert [record.threads for record in records] == [1, 1, 1, 3]


def test_threads_are_restored_even_after_an_error():
    before = torch.get_num_threads()
    with pytest.raises(ValueError):
        with threads(1):
            assert torch.get_num_threads() == 1
            raise ValueError
    assert torch.get_num_threads() == before


def test_synchronize_is_fine_on_the_cpu():
    synchronize(torch.device("cpu"))
    assert block_time(Case("a", spin), 3)[0] > 0


@pytest.mark.parametrize(("error", "told"), [(RuntimeError("a\nb"), "a"), (RuntimeError(), "RuntimeError"), (RuntimeError(" \n"), "RuntimeError"), (TypeError("no float64 here"), "no float64 here"), (AssertionError(), "AssertionError")])
def test_a_failure_always_has_a_reason(error, told):
    def fails(n):
        raise error

    assert rotate("e", "g", [Case("a", spin), Case("b", fails)], rotations=1, seconds=60, block=0.001)[-1].failure == told


def test_rotations_go_on_until_every_case_is_known():
    rng = np.random.default_rng(0)

    def uneven(n):
        spin(int(n * rng.choice([1, 20])))

    records = rotate("e", "g", [Case("a", spin), Case("b", uneven)], rotations=90, seconds=60, block=0.0005, enough=0.2)
    steady = rotate("e", "g", [Case("a", spin)], rotations=400, seconds=60, block=0.0005, enough=0.2)
    assert len(records[0].samples) == 90
    assert len(steady[0].samples) == 40


@pytest.mark.parametrize(("hip", "told"), [(None, 71.5), ("6.4", 71_500)])
def test_power_is_told_in_milliwatts_by_one_library_and_in_watts_by_the_other(monkeypatch, hip, told):
    monkeypatch.setattr(torch.version, "hip", hip)
    monkeypatch.setattr(torch.cuda, "power_draw", lambda device: 71_500)
    monkeypatch.setattr(torch.cuda, "clock_rate", lambda device: 0)  # it does not tell
    monkeypatch.setattr(torch.cuda, "temperature", lambda device: "N/A")
    assert timing.conditions(torch.device("cuda:0")) == {"power_w": told}


def test_an_accelerator_tells_its_state_after_each_block(monkeypatch):
    monkeypatch.setattr(timing, "synchronize", lambda device: None)
    monkeypatch.setattr(timing, "kernel_witness", lambda device: Case("fixed kernel", spin, device, role="witness"))
    monkeypatch.setattr(torch.cuda, "clock_rate", lambda device: 1980)
    monkeypatch.setattr(torch.cuda, "temperature", lambda device: 41)

    def fails(device):
        raise RuntimeError("this card does not tell")

    monkeypatch.setattr(torch.cuda, "power_draw", fails)
    cases = [Case("a", spin), Case("a", spin, torch.device("cuda:0"))]
    records = rotate("e", "g", cases, rotations=3, seconds=60, block=0.001)
    assert [(r.role, r.case, r.device) for r in records] == [
        ("base", "a", "cpu"), ("twin", "a", "cpu"), ("witness", "plain Python", "cpu"), ("witness", "fixed kernel", "cuda:0"), ("case", "a", "cuda:0"),
    ]  # fmt: skip
    assert records[-1].conditions == {"clock_mhz": [1980] * 3, "temperature_c": [41] * 3}
    assert records[0].conditions == {}


@pytest.mark.parametrize("home", ["/home/secret", "/"])
def test_a_reason_names_nobody(monkeypatch, home):
    monkeypatch.setenv("HOME", home)
    monkeypatch.setenv("USERPROFILE", home)
    assert timing.reason(RuntimeError("no compiler in /home/secret/bin")) == ("no compiler in ~/bin" if home != "/" else "no compiler in /home/secret/bin")
