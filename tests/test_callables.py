"""The objects of the chapter on calling a model, and how far the small Module agrees with PyTorch's."""

import pytest
import torch

from tutorial.callables import Adder, Counter, Module

MODULES = pytest.mark.parametrize("base", [Module, torch.nn.Module], ids=["ours", "torch"])


def make_double(base):
    class Double(base):
        def forward(self, x):
            return 2 * x

    return Double()


def test_counter_keeps_its_count():
    counter = Counter()
    assert [counter(), counter(), counter()] == [1, 2, 3]
    assert counter.count == 3


def test_counters_do_not_share_their_count():
    first, second = Counter(), Counter()
    first()
    assert second.count == 0


def test_counter_takes_no_argument():
    with pytest.raises(TypeError, match="takes 1 positional argument but 2 were given"):
        Counter()(1)


def test_adder_adds_what_it_was_made_with():
    add_five = Adder(5)
    assert [add_five(3), add_five(0.5)] == [8, 5.5]


def test_call_is_looked_up_on_the_type():
    counter = Counter()
    counter.__call__ = lambda: "patched"
    assert counter() == 1


@MODULES
def test_call_runs_forward(base):
    assert make_double(base)(21) == 42


@MODULES
def test_forward_set_on_the_instance_is_used_and_call_is_not(base):
    double = make_double(base)
    double.__call__ = lambda x: "call"
    assert double(21) == 42
    double.forward = lambda x: "forward"
    assert double(21) == "forward"


@MODULES
def test_hooks_see_the_module_arguments_and_output_in_order(base):
    double, seen = make_double(base), []
    double.register_forward_hook(lambda module, args, output: seen.append((module, args, output)))
    double.register_forward_pre_hook(lambda module, args: seen.append((module, args)))
    double(21)
    assert seen == [(double, (21,)), (double, (21,), 42)]


@MODULES
def test_hooks_may_replace_arguments_and_output(base):
    double = make_double(base)
    double.register_forward_pre_hook(lambda module, args: (args[0] + 1,))
    double.register_forward_hook(lambda module, args, output: output + args[0])
    assert double(20) == 42 + 21


@MODULES
def test_hooks_run_in_the_order_of_registration(base):
    double = make_double(base)
    double.register_forward_hook(lambda module, args, output: output + 1)
    double.register_forward_hook(lambda module, args, output: output * 10)
    assert double(1) == 30


@MODULES
def test_forward_skips_the_hooks(base):
    double, seen = make_double(base), []
    double.register_forward_hook(lambda *args: seen.append(args))
    double.register_forward_pre_hook(lambda *args: seen.append(args))
    assert double.forward(21) == 42
    assert seen == []


@MODULES
def test_hooks_of_a_layer_run_when_forward_of_the_model_is_called(base):
    class Model(base):
        def __init__(self):
            super().__init__()
            self.layer = make_double(base)

        def forward(self, x):
            return self.layer(x)

    model, seen = Model(), []
    model.register_forward_hook(lambda *args: seen.append("model"))
    model.layer.register_forward_hook(lambda *args: seen.append("layer"))
    model(1)
    assert seen == ["layer", "model"]
    model.forward(1)
    assert seen == ["layer", "model", "layer"]


@MODULES
def test_a_missing_forward_is_named(base):
    class Empty(base):
        pass

    with pytest.raises(NotImplementedError, match=r"\bEmpty\b"):
        Empty()(1)


def test_our_module_keeps_the_gradients_of_tensors():
    double, x = make_double(Module), torch.ones(3, requires_grad=True)
    double(x).sum().backward()
    assert torch.equal(x.grad, torch.full((3,), 2.0))


def test_torch_calls_through_the_methods_that_the_chapter_names():
    assert torch.nn.Module.__call__ is torch.nn.Module._wrapped_call_impl


def test_forward_skips_a_compiled_call(monkeypatch):
    monkeypatch.setattr(torch, "compile", lambda function, **options: lambda *args: "compiled")
    double = make_double(torch.nn.Module)
    double.compile()
    assert double(21) == "compiled"
    assert double.forward(21) == 42
