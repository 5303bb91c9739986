"""The problems that every target must get right, by the classes of docs/numerics.md.

Each problem is an object of `attnc run --batch`.
"""

DTYPES = ["f32", "bf16", "f16"]
# Edges of 64-row tiles, primes, and unequal lengths both ways.
LENGTHS = [
    (1, 1), (1, 127), (127, 1), (5, 2), (2, 5), (63, 64), (64, 65), (65, 63), (127, 129),
    (129, 127), (64, 128), (257, 256), (131, 139), (704, 704), (1025, 300),
]
HEAD_DIMS = [8, 16, 24, 32, 40, 72, 80, 96, 104, 128, 160, 192, 256]
UNEQUAL_DIMS = [(192, 128), (64, 256), (64, 32), (40, 104), (32, 512)]
GROUPS = [(1, 1), (2, 1), (6, 2), (5, 1), (12, 2), (7, 1), (8, 1), (28, 4), (71, 1), (16, 1)]
MASKS = [
    {"mask": "window", "window": "0,0"},
    {"mask": "window", "window": "31,0"},
    {"mask": "window", "window": "127,128"},
    {"mask": "window", "window": "1000,5"},
    {"mask": "window", "window": "-1,3"},
    {"mask": "window", "window": "3,-1"},
    {"mask": "causal", "window": 64},
    {"mask": "causal_top_left"},
    {"mask": "window_top_left", "window": "17,2"},
]
SCORES = [
    {"softcap": 50},
    {"softcap": 5, "mask": "causal"},
    {"alibi": True, "mask": "causal"},
    {"softcap": 30, "alibi": True, "mask": "window", "window": "100,20"},
]


def problem(**keys):
    defaults = dict(
        dtype="f32", head_dim=32, heads_q=4, heads_kv=2, batch=2, seq_q=100, seq_kv=130,
        check=True, repeat=1,
    )
    return {key: value for key, value in (defaults | keys).items() if value is not None}


def lengths():
    for dtype in DTYPES:
        for mask in ("none", "causal"):
            for seq_q, seq_kv in LENGTHS:
                yield problem(dtype=dtype, head_dim=64, mask=mask, seq_q=seq_q, seq_kv=seq_kv)


def empty():
    """Rows that see no key, and tensors without elements."""
    for mask in ("none", "causal"):
        for batch, seq_q, seq_kv in [(0, 5, 5), (2, 0, 5), (2, 5, 0), (1, 0, 0)]:
            yield problem(head_dim=64, mask=mask, batch=batch, seq_q=seq_q, seq_kv=seq_kv)
        yield problem(head_dim=64, mask=mask, seq_q=300, seq_kv=7)
    yield problem(mask="window", window="2,0", seq_q=200, seq_kv=9)


def head_dims():
    for head_dim in HEAD_DIMS:
        yield problem(dtype="bf16", head_dim=head_dim, mask="causal")
    for head_dim in (40, 80, 256):
        yield problem(head_dim=head_dim, mask="causal")
    for head_dim, head_dim_v in UNEQUAL_DIMS:
        yield problem(dtype="f16", head_dim=head_dim, head_dim_v=head_dim_v)


def groups():
    for heads_q, heads_kv in GROUPS:
        yield problem(heads_q=heads_q, heads_kv=heads_kv, mask="causal", seq_q=33, seq_kv=70)


def masks():
    for mask in MASKS + SCORES:
        for seq_q, seq_kv in [(100, 130), (130, 100), (300, 300)]:
            yield problem(**mask, seq_q=seq_q, seq_kv=seq_kv)


def algorithms():
    for algorithm in ("naive", "two_pass", "fa1", "fa2"):
        for mask in ("none", "causal"):
            for seq_q, seq_kv in [(100, 130), (1, 1), (130, 70)]:
                yield problem(algorithm=algorithm, mask=mask, seq_q=seq_q, seq_kv=seq_kv)
    for algorithm, split_kv in [("fa2", 2), ("fa2", 7), ("two_pass", 3), ("naive", 2)]:
        for seq_q, seq_kv in [(100, 130), (1, 1), (130, 70), (5, 1000)]:
            yield problem(
                algorithm=algorithm, split_kv=split_kv, mask="causal", seq_q=seq_q, seq_kv=seq_kv
            )
    for q_tile, kv_tile in [(16, 16), (32, 128), (128, 32), (48, 80)]:
        yield problem(dtype="bf16", q_tile=q_tile, kv_tile=kv_tile, mask="causal")


def values():
    """Large norms, logits far below zero, q = 0."""
    for dtype in DTYPES:
        for inputs in ("peaked", "negative", "zero_q"):
            for mask in ("none", "causal"):
                yield problem(dtype=dtype, head_dim=64, mask=mask, inputs=inputs, seq_kv=200)
    # A few keys of large logits share each row: as far off as naive code, by luck more or less.
    for seed in (24, 25, 44):
        yield problem(
            phase="decode", head_dim=128, heads_q=1, heads_kv=1, batch=2, seq_q=None, seq_kv=64,
            inputs="peaked", seed=seed,
        )
    # Merges of parts whose LSE is large beside ln(l).
    for inputs in ("peaked", "negative"):
        yield problem(algorithm="fa1", kv_tile=16, head_dim=64, inputs=inputs, seq_kv=200)
        yield problem(split_kv=7, kv_tile=16, head_dim=64, inputs=inputs, seq_kv=200)


# Scale of Q K^T and inputs: logits around 2^21, where kernels change how they compute exponents,
# of 1e8, and near the end of f32's range. A row's weight goes to its largest score, or is shared
# by those equal to it.
FAR = [
    (1.0, "negative"), (4e5, "random"), (1e7, "random"), (1e6, "peaked"), (1e4, "negative"),
    (1e32, "negative"),
]


def far():
    for scale, inputs in FAR:
        for dtype in DTYPES:
            for mask in ({}, {"mask": "causal"}, {"mask": "window", "window": "31,0"}):
                yield problem(
                    dtype=dtype, head_dim=64, scale=scale, inputs=inputs, seq_kv=200, **mask
                )
        for keys in ({"algorithm": "naive"}, {"algorithm": "two_pass"}, {"split_kv": 3}):
            yield problem(head_dim=64, scale=scale, inputs=inputs, seq_kv=200, **keys)


def layouts():
    """Views, with NaN wherever they leave gaps."""
    for dtype in ("f32", "bf16"):
        for layout in ("head_major", "packed", "padded", "broadcast", "sparse"):
            yield problem(dtype=dtype, head_dim=64, mask="causal", layout=layout)
    # Rows at multiples of fewer bytes than vector copies and tensor maps want.
    for head_dim in (64, 128, 256):
        for alignment in (8, 4, 2):
            yield problem(dtype="bf16", head_dim=head_dim, mask="causal", layout="unaligned",
                          alignment=alignment, seq_q=300, seq_kv=400)
    yield problem(dtype="f16", head_dim=192, head_dim_v=128, layout="unaligned", alignment=4)
    yield problem(dtype="f32", layout="unaligned", alignment=4)
    yield problem(dtype="bf16", head_dim=128, phase="decode", seq_q=None, seq_kv=1000,
                  layout="unaligned", alignment=8)


def decode():
    for seq_kv in (1, 63, 64, 65, 1000):
        yield problem(dtype="bf16", head_dim=64, phase="decode", seq_q=None, seq_kv=seq_kv)
    # Query heads of a group as rows of a tile: fewer and more than it has, and each for itself.
    for heads_q, heads_kv in ((6, 2), (40, 2), (3, 3)):
        for keys in ({}, {"alibi": True}, {"softcap": 5}, {"split_kv": 3}, {"pack_gqa": False}):
            if heads_q > heads_kv or "pack_gqa" not in keys:
                yield problem(
                    dtype="bf16", head_dim=64, phase="decode", mask="causal", seq_q=None,
                    seq_kv=200, heads_q=heads_q, heads_kv=heads_kv, **keys
                )
    for layout in ("head_major", "packed", "padded", "sparse"):
        yield problem(
            dtype="f32", phase="decode", seq_q=None, seq_kv=70, heads_q=6, heads_kv=2, layout=layout
        )
    # Decode and prefill agree at the same position: keys 904 to 4999.
    yield problem(
        phase="decode", mask="causal", window=4096, seq_q=None, seq_kv=5000, heads_q=2, heads_kv=1
    )


def outputs():
    yield problem(dtype="bf16", out="f32", mask="causal")
    # One key a row, and rows that one key takes: P is exactly 1.
    yield problem(dtype="bf16", out="f32", mask="window", window="0,0")
    yield problem(dtype="bf16", out="f32", inputs="peaked", seq_kv=300)
    yield problem(dtype="f16", out="f32", inputs="peaked", mask="causal", seq_kv=300)
    yield problem(dtype="bf16", lse=False, mask="causal")
    yield problem(dtype="f16", alignment=2)
    yield problem(scale=0.0)
    yield problem(scale=3.5, mask="causal")
    yield problem(head_dim=8, heads_q=1, heads_kv=1, batch=65536, seq_q=1, seq_kv=3)


CLASSES = {
    f.__name__: list(f())
    for f in (
        lengths, empty, head_dims, groups, masks, algorithms, values, far, layouts, decode, outputs
    )
}
