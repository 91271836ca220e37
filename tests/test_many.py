"""Many models at once: each is trained as alone, and what is said of them is computed as it should be."""

import math

import pytest
import torch

from tutorial.measure import cases as shared, timing
from tutorial.measure.experiments import Plan, many
from tutorial.measure.results import Record
from tutorial.publish import tables
from tutorial.publish.claims import HOLDS, UNDECIDED, NotMeasured, many_models_win
from tutorial.publish.comparison import Machine
from tutorial.publish.words import Texts
from tutorial.training import data, loops
from tutorial.training import many as at_once
from tutorial.training.model import make_model

CPU = torch.device("cpu")


@pytest.fixture(scope="module")
def split():
    return data.iris()


@pytest.mark.parametrize("way", [at_once.with_vmap, at_once.with_batched_products])
def test_each_model_is_trained_as_alone(split, way):
    seeds = (42, 7, 1)
    models = [make_model(seed=seed) for seed in seeds]
    parameters = at_once.stack(models)
    losses = way(parameters, split.X_train, split.y_train, 200)
    assert losses.shape == (200, 3) and not losses.requires_grad
    for number, seed in enumerate(seeds):
        model = make_model(seed=seed)
        assert losses[:, number].tolist() == pytest.approx(loops.read_every_step(model, split.X_train, split.y_train, 200), abs=1e-4)
        for name, parameter in model.named_parameters():
            torch.testing.assert_close(parameters[name][number], parameter.detach(), rtol=0, atol=1e-5)
    assert torch.equal(models[0].fc1.weight, make_model().fc1.weight), "the models that were stacked have been trained"
    assert way(parameters, split.X_train, split.y_train, 0).shape == (0, 3)


def rotate(experiment, group, cases, **options):
    return timing.rotate(experiment, group, cases, rotations=2, seconds=60, block=0.0)


@pytest.mark.parametrize("profile", ["quick", "full"])
def test_the_experiment(monkeypatch, results, profile):
    monkeypatch.setattr(many, "rotate", rotate)
    monkeypatch.setattr(many, "usable_cores", lambda: 2)
    monkeypatch.setattr(shared, "WORTH_TRYING", math.inf)
    monkeypatch.setattr(many, "MODELS", {"quick": (1, 3), "full": (1, 3)})
    monkeypatch.setattr(many, "THREADS_PAY", 3)
    monkeypatch.setattr(many, "CHECKED_STEPS", 3)
    before = torch.get_num_threads()
    records = many.measure(Plan(profile, [CPU]))
    cases = {r.case: r for r in records if r.role == "case"}
    assert set(cases) == {"vmap 1", "batched 1", "vmap 3", "batched 3", "batched 3, 2 threads"}
    assert all(r.samples for r in records)
    assert cases["batched 3"].parameters["models"] == 3
    assert (cases["batched 3"].threads, cases["batched 3, 2 threads"].threads) == (1, 2)
    assert torch.get_num_threads() == before
    results.records = records
    results.hardware.accelerators = []
    shown = tables.many([Machine("example", results)], Texts("en"))
    assert "batched matrices" in shown and "**GPU**: *not measured here*" in shown


def wrong_in_the_last(parameters, X, y, steps):
    losses = at_once.with_batched_products(parameters, X, y, steps)
    losses[-1, -1] += 1e-3
    return losses


def not_a_number(parameters, X, y, steps):
    return torch.full((steps, len(parameters["fc1.bias"])), math.nan)


def no_memory(parameters, X, y, steps):
    raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 20.00 GiB\nmore")


@pytest.mark.parametrize(
    ("way", "reason"),
    [(wrong_in_the_last, "void: a loss of model 2 differs by 0.001"), (not_a_number, "void: a loss of model 0 differs by nan"), (no_memory, "CUDA out of memory")],
)
def test_another_training_is_void_and_the_rest_goes_on(monkeypatch, way, reason):
    monkeypatch.setattr(many, "rotate", rotate)
    monkeypatch.setattr(many, "WAYS", {"batched": way, "vmap": at_once.with_vmap})
    monkeypatch.setattr(many, "MODELS", {"quick": (3,)})
    monkeypatch.setattr(many, "CHECKED_STEPS", 2)
    records = {r.case: r for r in many.measure(Plan("quick", [CPU]))}
    assert records["batched 3"].failure.startswith(reason)
    assert records["vmap 3"].samples and records["lesson"].samples


def test_with_many_models_the_check_is_shorter(monkeypatch):
    steps = []
    monkeypatch.setattr(many, "check", lambda way, models, device, count: steps.append(count))
    for number in (1, 100, 10_000):
        many.cases_of("vmap", [make_model()] * number, CPU, Plan("quick", [CPU]))
    assert steps == [200, 30, 2]


def made_up(device, case, seconds, role="case", experiment="many", **parameters):
    return Record(experiment=experiment, group=f"on {device}", role=role, case=case, device=device, threads=1, parameters=parameters, samples=[seconds * drift for drift in (1, 2, 1.5)])


def with_many(results, cpu, gpu):
    """Results with seconds for a step of all models by their number; the lesson takes 250 µs and 850 µs, as in `training`."""
    for device, seconds, lesson in (("cpu", cpu, 250e-6), ("cuda:0", gpu, 850e-6)):
        for experiment in ("many", "strategies"):
            results.records += [made_up(device, "lesson", lesson, role, experiment) for role in ("base", "twin")]
        results.records += [made_up(device, f"{way} {models}", time * slower, models=models) for models, time in seconds.items() for way, slower in (("vmap", 2), ("batched", 1))]
    return results


GPU = {1: 1e-3, 10: 1e-3, 100: 1e-3, 1000: 1.1e-3}


def wins_from(results):
    """The number of models in the claim's sentence, or the verdict where it does not hold."""
    found = many_models_win(results, "cuda:0")
    return found.figures["models"] if found.verdict == HOLDS else found.verdict


@pytest.mark.parametrize(
    ("cpu", "winner"),
    [
        ({1: 1e-4, 10: 3e-4, 100: 2e-3, 1000: 2e-2}, "100"),
        ({1: 1e-2, 10: 1e-2, 100: 1e-2, 1000: 2e-2}, "10"),  # one after the other, the lesson's loop is the CPU's best for 1
        ({1: 1e-4, 10: 1e-4, 100: 1e-4, 1000: 1e-4}, UNDECIDED),  # more might win
        ({1: 1e-4, 10: 2e-3, 100: 2e-4, 1000: 2e-2}, "1 000"),  # faster once and slower again is not yet "from"
    ],
)
def test_from_how_many_models_the_accelerator_is_faster(results, cpu, winner):
    assert wins_from(with_many(results, cpu, GPU)) == winner


def test_the_best_single_loop_counts_for_both(results):
    with_many(results, {1: 2.5e-4, 10: 2.5e-3}, {1: 8.5e-4, 10: 1e-3})
    assert wins_from(results) == "10"
    results.records.append(made_up("cpu", "matrix products", 1e-6, "case", "strategies", trains=0))  # does no training
    assert wins_from(results) == "10"
    results.records.append(made_up("cpu", "by hand", 25e-6, "case", "strategies"))
    assert wins_from(results) == UNDECIDED


def test_without_an_accelerator_or_its_lesson_nothing_is_compared(results):
    with_many(results, GPU, GPU)
    results.records = [r for r in results.records if r.experiment != "training"]
    with pytest.raises(NotMeasured):
        many_models_win(results, "cuda:0")
    results.records = [r for r in results.records if r.device == "cpu"]
    with pytest.raises(NotMeasured):
        many_models_win(results, "cuda:0")
