"""Ways to train many models of the lesson at once, each from its own start, all on the same rows.

Each takes the stacked parameters of the models (by name, ``(models, ...)``), the features ``(rows, 4)``, the class numbers
``(rows,)`` and the number of steps; trains in place by full-batch SGD with the lesson's learning rate; and returns the
losses ``(steps, models)`` on the device. Each model is trained as it would be alone.
"""

import torch
from torch.func import functional_call, grad_and_value, stack_module_state, vmap
from torch.nn import functional as F

from tutorial.training.loops import LEARNING_RATE
from tutorial.training.model import MLP


# --8<-- [start:stack]
def stack(models, device="cpu"):
    """The parameters of all models, by name, each as one tensor ``(models, ...)`` on ``device``; the models stay as they are."""
    parameters, _ = stack_module_state(models)
    return {name: stacked.detach().to(device) for name, stacked in parameters.items()}
# --8<-- [end:stack]


# --8<-- [start:with_vmap]
def with_vmap(parameters, X, y, steps):
    """Write the loss of one model, and let PyTorch make its gradient (`grad_and_value`) and do it for all (`vmap`)."""
    with torch.device("meta"):
        skeleton = MLP()  # the layers without numbers: those come from the stacked parameters

    def loss_of_one(own_parameters, X, y):
        output = functional_call(skeleton, own_parameters, (X,))
        return F.cross_entropy(output, y)

    for_all = vmap(grad_and_value(loss_of_one), in_dims=(0, None, None))  # a model each, the same X and y for all
    losses = torch.empty(steps, len(parameters["fc1.bias"]), device=X.device)
    for step in range(steps):
        gradients, losses[step] = for_all(parameters, X, y)
        for name, gradient in gradients.items():
            parameters[name].sub_(gradient, alpha=LEARNING_RATE)
    return losses
# --8<-- [end:with_vmap]


# --8<-- [start:with_batched_products]
def with_batched_products(parameters, X, y, steps):
    """Write the step by hand, with products of stacks of matrices: model by model, the rows in columns."""
    W1, b1 = parameters["fc1.weight"], parameters["fc1.bias"]  # (models, 10, 4), (models, 10)
    W2, b2 = parameters["fc2.weight"], parameters["fc2.bias"]  # (models, 3, 10), (models, 3)
    models, rows = len(W1), len(X)
    X = X.expand(models, -1, -1)  # the same rows for every model, without a copy
    one_hot = F.one_hot(y, 3).T.to(X.dtype).contiguous()  # (3, rows): 1 at the right class
    losses = torch.empty(steps, models, device=X.device)
    for step in range(steps):
        hidden = torch.baddbmm(b1.unsqueeze(2), W1, X.mT).relu_()  # (models, 10, rows)
        output = torch.baddbmm(b2.unsqueeze(2), W2, hidden)  # (models, 3, rows)
        log_probabilities = output.log_softmax(dim=1)
        losses[step] = (log_probabilities * one_hot).sum(dim=(1, 2)) / -rows

        output_gradient = (log_probabilities.exp_() - one_hot).div_(rows)
        hidden_gradient = torch.bmm(W2.mT, output_gradient).mul_(hidden > 0)
        W2.baddbmm_(output_gradient, hidden.mT, alpha=-LEARNING_RATE)
        b2.sub_(output_gradient.sum(dim=2), alpha=LEARNING_RATE)
        W1.baddbmm_(hidden_gradient, X, alpha=-LEARNING_RATE)
        b1.sub_(hidden_gradient.sum(dim=2), alpha=LEARNING_RATE)
    return losses
# --8<-- [end:with_batched_products]
