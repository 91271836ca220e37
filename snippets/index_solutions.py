"""The time of one step, from the course's reported totals."""

# --8<-- [start:two]
STEPS = 20_000
cpu_seconds, gpu_seconds = 4.62, 16.85  # as the course reported them

print(f"one step on the CPU: {cpu_seconds / STEPS * 1e6:.0f} µs")
print(f"one step on the GPU: {gpu_seconds / STEPS * 1e6:.0f} µs")
print(f"CPU steps in one GPU step: {gpu_seconds / cpu_seconds:.1f}")
# --8<-- [end:two]
