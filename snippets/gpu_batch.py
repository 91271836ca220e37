"""Find the largest batch that leaves a model with nine hidden layers of 8192 units inside a card's memory."""

# --8<-- [start:budget]
GIB = 2**30
PARAMETERS = 64 * 8192 + 8 * 8192 * 8192 + 8192 * 10 + 9 * 8192 + 10
BYTES_PER_ROW = 9 * 8192 * 4  # one float32 activation for each hidden unit


def largest_batch(memory, context, bytes_per_parameter):
    """The largest power of two that fits; 0 if the parameters do not."""
    left = memory - context - PARAMETERS * bytes_per_parameter
    rows = int(left // BYTES_PER_ROW)
    return 2 ** (rows.bit_length() - 1) if rows > 0 else 0
# --8<-- [end:budget]


# --8<-- [start:print]
for gib in (4, 6, 8, 12, 16, 24):
    sgd = largest_batch(gib * GIB, context=GIB, bytes_per_parameter=4 + 4)
    adam = largest_batch(gib * GIB, context=GIB, bytes_per_parameter=4 + 4 + 8)
    print(f"{gib:2} GiB: batch {sgd:5} with SGD, {adam:5} with Adam")
# --8<-- [end:print]
