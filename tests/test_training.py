"""The loops do the same training, the data are what the chapters say, and the model starts the same everywhere."""

import pytest
import torch

from tutorial.measure.experiments.call import forward_every_step
from tutorial.measure.experiments.step import phases
from tutorial.training import data, loops
from tutorial.training.model import MLP, WideMLP, make_model


@pytest.fixture(scope="module")
def split():
    return data.iris()


def test_the_iris_split_is_the_lessons(split):
    assert [tuple(t.shape) for t in split] == [(120, 4), (120,), (30, 4), (30,)]
    assert [t.dtype for t in split] == [torch.float32, torch.int64] * 2
    assert split.X_train.min() == 0 and split.X_train.max() == 1
    assert sum(t.nbytes for t in split[:2]) == 2880
    assert sum(t.nbytes for t in split[2:]) == 720


def test_the_test_rows_took_no_part_in_the_scaling(split):
    # Scaled by the training rows alone, a test row may lie outside 0..1; scaled by all rows, none could.
    assert split.X_test.min() < 0 or split.X_test.max() > 1


def test_the_model_has_332_bytes_of_parameters():
    assert sum(p.numel() for p in MLP().parameters()) == 83
    assert sum(p.nbytes for p in MLP().parameters()) == 332


def test_the_same_seed_gives_the_same_start():
    one, other = make_model(), make_model()
    assert all(torch.equal(a, b) for a, b in zip(one.parameters(), other.parameters()))
    assert not torch.equal(make_model(seed=1).fc1.weight, one.fc1.weight)


def test_every_strategy_does_the_same_training(split):
    reference = make_model()
    losses = loops.read_every_step(reference, split.X_train, split.y_train, 200)
    assert len(losses) == 200 and losses[-1] < losses[0]

    def run(loop, **options):
        model = make_model()
        read = loop(model, split.X_train, split.y_train, 200, **options)
        for a, b in zip(model.parameters(), reference.parameters()):
            torch.testing.assert_close(a, b, rtol=0, atol=1e-6)
        return read

    assert run(loops.read_every, interval=50) == pytest.approx(losses[49::50], abs=1e-6)
    assert run(loops.read_never) == []
    assert run(loops.keep_on_device) == pytest.approx(losses, abs=1e-6)
    assert run(forward_every_step) == pytest.approx(losses, abs=1e-6)
    assert set(run(phases)) == {"forward", "loss", "zero_grad", "backward", "optimizer step", "item"}


def test_training_in_pieces_is_the_same_training(split):
    whole, pieces = make_model(), make_model()
    losses = loops.read_every_step(whole, split.X_train, split.y_train, 60)
    assert losses == loops.read_every_step(pieces, split.X_train, split.y_train, 40) + loops.read_every_step(pieces, split.X_train, split.y_train, 20)


def test_minibatches_go_through_the_table_and_learn():
    split = data.digits()
    assert tuple(split.X_train.shape) == (1437, 64)
    model = make_model(kind=WideMLP)
    model.layers[2] = torch.nn.Identity()  # the middle layer only costs time here
    before = torch.nn.functional.cross_entropy(model(split.X_train), split.y_train)
    assert loops.minibatches(model, split.X_train, split.y_train, 30) == []
    assert torch.nn.functional.cross_entropy(model(split.X_train), split.y_train) < before


def test_no_steps_are_no_losses(split):
    for loop in (loops.read_every_step, loops.read_every, loops.read_never, loops.keep_on_device):
        assert loop(make_model(), split.X_train, split.y_train, 0) == []
