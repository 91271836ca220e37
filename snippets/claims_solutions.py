"""Solutions of the exercises of "Claims, machine by machine"."""


# --8<-- [start:one]
def less_than(limit, low, high):
    """What an interval from low to high says to the statement that a number is below the limit."""
    if high < limit:
        return "holds"
    return "does not hold" if low > limit else "cannot tell"


for low, high in ((0.10, 0.14), (0.19, 0.27), (0.28, 0.35)):
    print(less_than(0.25, low, high))
# --8<-- [end:one]

# --8<-- [start:two]
loop = (2.9, 3.1, 3.3)  # low, median, high
graph = (0.30, 0.31, 0.32)
low, median, high = (one * other for one, other in zip(loop, graph))
print(f"{median:.2f} [{low:.2f}, {high:.2f}]: {less_than(1, low, high)}")
# --8<-- [end:two]
