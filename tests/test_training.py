"""The loops do the same training, the data are what the chapters say, and the model starts the same everywhere."""

import contextlib

import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from tutorial.measure.experiments.call import forward_every_step
from tutorial.measure.experiments.step import phases
from tutorial.training import data, graphs, loops
from tutorial.training.model import MLP, WideMLP, make_model


EVERY_LOSS = (
    loops.keep_on_device, loops.backward_on_calling_thread, loops.foreach_off, loops.fused,
    loops.functional, loops.by_hand, loops.by_hand_in_place, loops.numpy_by_hand,
)  # fmt: skip


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
    for loop in EVERY_LOSS:
        assert run(loop) == pytest.approx(losses, abs=1e-6), loop.__name__
    assert run(forward_every_step) == pytest.approx(losses, abs=1e-6)
    assert set(run(phases)) == {"forward", "loss", "zero_grad", "backward", "optimizer step", "item"}


@pytest.mark.parametrize("loop", [loops.read_every_step, *EVERY_LOSS], ids=lambda loop: loop.__name__)
def test_training_in_pieces_is_the_same_training(split, loop):
    whole, pieces = make_model(), make_model()
    losses = loop(whole, split.X_train, split.y_train, 60)
    in_pieces = loop(pieces, split.X_train, split.y_train, 40) + loop(pieces, split.X_train, split.y_train, 20)
    assert in_pieces == pytest.approx(losses, abs=1e-6)
    assert all(type(loss) is float for loss in in_pieces)


@pytest.mark.parametrize("loop", EVERY_LOSS, ids=lambda loop: loop.__name__)
def test_a_model_can_be_trained_on_by_the_lessons_loop(split, loop):
    model, reference = make_model(), make_model()
    loop(model, split.X_train, split.y_train, 3)
    loops.read_every_step(reference, split.X_train, split.y_train, 3)
    assert all(parameter.requires_grad and not parameter.is_inference() for parameter in model.parameters())
    assert loops.read_every_step(model, split.X_train, split.y_train, 3) == pytest.approx(loops.read_every_step(reference, split.X_train, split.y_train, 3), abs=1e-6)


def test_minibatches_go_through_the_table_and_learn():
    split = data.digits()
    assert tuple(split.X_train.shape) == (1437, 64)
    model = make_model(kind=WideMLP)
    model.layers[2] = torch.nn.Identity()  # the middle layer only costs time here
    before = torch.nn.functional.cross_entropy(model(split.X_train), split.y_train)
    assert loops.minibatches(model, split.X_train, split.y_train, 30) == []
    assert torch.nn.functional.cross_entropy(model(split.X_train), split.y_train) < before


def test_no_steps_are_no_losses(split):
    for loop in (loops.read_every_step, loops.read_every, loops.read_never, *EVERY_LOSS):
        assert loop(make_model(), split.X_train, split.y_train, 0) == []


class Recorder(TorchDispatchMode):
    """A CUDA graph for the CPU: what is called inside the `with` block can be repeated on the same memory.

    Unlike on CUDA, it is also done while it is recorded.
    """

    def __init__(self):
        super().__init__()
        self.calls = []

    def __torch_dispatch__(self, operation, types, arguments=(), keywords=None):
        result = operation(*arguments, **(keywords or {}))
        self.calls.append((operation, arguments, keywords or {}, result))
        return result

    def replay(self):
        with torch.no_grad():
            for operation, arguments, keywords, before in self.calls:
                again = operation(*arguments, **keywords)
                for old, new in zip(tree_leaves(before), tree_leaves(again)):
                    if isinstance(old, torch.Tensor) and old.data_ptr() != new.data_ptr():
                        old.detach().copy_(new)


@pytest.fixture
def recorded_graphs(monkeypatch):
    """CUDA graphs that are recorded and replayed on the CPU, with streams that are none."""

    class Stream:
        def wait_stream(self, other):
            pass

    monkeypatch.setattr(torch.cuda, "device", lambda device: contextlib.nullcontext())
    monkeypatch.setattr(torch.cuda, "Stream", Stream)
    monkeypatch.setattr(torch.cuda, "current_stream", Stream)
    monkeypatch.setattr(torch.cuda, "stream", lambda stream: contextlib.nullcontext())
    monkeypatch.setattr(torch.cuda, "CUDAGraph", Recorder)
    monkeypatch.setattr(torch.cuda, "graph", lambda graph, stream: graph)
    monkeypatch.setattr(graphs, "STEPS", 10)
    graphs.capture.cache_clear()


@pytest.mark.parametrize("loop", [graphs.graph_of_one_step, graphs.graph_of_many_steps])
def test_a_graph_does_the_same_training_and_keeps_every_loss(split, loop, recorded_graphs):
    reference, model = make_model(), make_model()
    losses = loops.read_every_step(reference, split.X_train, split.y_train, 40)
    assert loop(model, split.X_train, split.y_train, 30) == pytest.approx(losses[:30], abs=1e-6)
    assert loop(model, split.X_train, split.y_train, 10) == pytest.approx(losses[30:], abs=1e-6)  # from the same recording
    for a, b in zip(model.parameters(), reference.parameters()):
        torch.testing.assert_close(a, b, rtol=0, atol=1e-6)
    assert graphs.capture.cache_info().misses == 1
    assert loop(model, split.X_train, split.y_train, 0) == []


def test_a_part_of_a_graph_cannot_be_trained(split, recorded_graphs):
    with pytest.raises(ValueError, match="15 steps are not whole graphs of 10"):
        graphs.graph_of_many_steps(make_model(), split.X_train, split.y_train, 15)
