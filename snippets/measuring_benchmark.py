"""Time one operation with torch.utils.benchmark, then let it time a whole training step five times over."""

# --8<-- [start:operation]
import torch
from torch import nn
from torch.utils import benchmark

device = torch.accelerator.current_accelerator(check_available=True) or torch.device("cpu")
a = torch.ones(3, device=device)

timer = benchmark.Timer(stmt="a + a", globals={"a": a}, num_threads=1)
measurement = timer.blocked_autorange(min_run_time=0.2)
print(f"a + a: {measurement.median * 1e6:.2f} µs")
# --8<-- [end:operation]

# --8<-- [start:loop]
torch.manual_seed(42)
X, y = torch.rand(120, 4).to(device), torch.randint(3, (120,)).to(device)
model = nn.Sequential(nn.Linear(4, 10), nn.ReLU(), nn.Linear(10, 3)).to(device)
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)


def train_step():
    loss = criterion(model(X), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()


timer = benchmark.Timer(stmt="train_step()", globals={"train_step": train_step}, num_threads=1)
answers = [timer.adaptive_autorange(max_run_time=0.5) for answer in range(5)]
medians = [answer.median * 1e6 for answer in answers]
warned = sum(answer.has_warnings for answer in answers)
print(f"one step: from {min(medians):.0f} to {max(medians):.0f} µs in five answers, {warned} of them with a warning")
# --8<-- [end:loop]
