"""Solutions to the exercises of "Make it faster"."""

# --8<-- [start:one]
import torch
from sklearn.datasets import load_iris
from sklearn.preprocessing import MinMaxScaler
from torch import nn
from torch.nn import functional as F

features, labels = load_iris(return_X_y=True)
torch.set_num_threads(1)
device = torch.accelerator.current_accelerator(check_available=True) or torch.device("cpu")
X = torch.tensor(MinMaxScaler().fit_transform(features), dtype=torch.float32).to(device)
y = torch.tensor(labels, dtype=torch.int64).to(device)


def make_model():
    torch.manual_seed(42)
    return nn.Sequential(nn.Linear(4, 10), nn.ReLU(), nn.Linear(10, 3)).to(device)


model = make_model()
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
total = torch.zeros((), device=device)
for step in range(1, 301):
    loss = criterion(model(X), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    total += loss.detach()  # on the device: nothing is read
    if step % 100 == 0:
        print(f"step {step}: mean of the last 100 losses {total.item() / 100:.3f}, last loss {loss.item():.3f}")
        total.zero_()
# --8<-- [end:one]


# --8<-- [start:two]
def train_by_hand(steps, update_first):
    W1, b1, W2, b2 = weights = [parameter.detach() for parameter in make_model().parameters()]
    one_hot = F.one_hot(y, 3)
    losses = []
    for step in range(steps):
        hidden = torch.relu(X @ W1.T + b1)
        log_probabilities = (hidden @ W2.T + b2).log_softmax(dim=1)
        losses.append(F.nll_loss(log_probabilities, y))

        output_gradient = (log_probabilities.exp() - one_hot) / len(X)
        way_back = W2 if update_first else W2.clone()  # the next line changes W2 in place
        W2 -= 0.01 * (output_gradient.T @ hidden)
        b2 -= 0.01 * output_gradient.sum(dim=0)
        hidden_gradient = (output_gradient @ way_back) * (hidden > 0)
        W1 -= 0.01 * (hidden_gradient.T @ X)
        b1 -= 0.01 * hidden_gradient.sum(dim=0)
    return torch.stack(losses), torch.cat([weight.flatten() for weight in weights])


losses, weights = train_by_hand(200, update_first=False)
wrong_losses, wrong_weights = train_by_hand(200, update_first=True)
print(f"last loss {losses[-1]:.3f}, with W2 updated first {wrong_losses[-1]:.3f}")
print(f"losses differ by {(wrong_losses - losses).abs().max():.5f}, weights by {(wrong_weights - weights).abs().max():.5f}")
# --8<-- [end:two]
