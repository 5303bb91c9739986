"""The problems that the emulator runs: every row of the schedule tables at small shapes.

Shapes are one to three tiles each way with their edges; each problem is an object of
`attnc run --batch`.
"""

from numeric_matrix import FAR, problem

MASKS = [
    {},
    {"mask": "causal"},
    {"mask": "causal_top_left"},
    {"mask": "window", "window": "31,0"},
    {"mask": "window", "window": "0,0"},
    {"mask": "window", "window": "-1,3"},
    {"mask": "window", "window": "150,20"},
    {"mask": "window_top_left", "window": "17,2"},
    {"mask": "causal", "softcap": 5},
    {"mask": "causal", "alibi": True},
]
LAYOUTS = ["head_major", "packed", "padded", "broadcast"]


def small(**keys):
    return problem(**({"batch": 1, "heads_q": 2, "heads_kv": 1, "dtype": "bf16"} | keys))


def far(*schedules):
    """Logits so large that exponents are taken from differences of scores."""
    for scale, inputs in FAR:
        for mask in ({}, {"mask": "causal"}, {"mask": "window", "window": "31,0"}):
            for keys in schedules:
                # Beside such logits an LSE in two parts does not hold how many keys a part has.
                if scale == 1e32 and "split_kv" in keys:
                    continue
                yield small(scale=scale, inputs=inputs, heads_q=1, seq_q=70, seq_kv=300,
                            **(mask | keys))


# One key a row, rows that one key takes, and ordinary ones.
F32_OUTPUT = [
    {"mask": "window", "window": "0,0"}, {"inputs": "peaked"}, {"inputs": "peaked", "mask": "causal"},
    {},
]


class SM80:
    """cp.async and mma.sync; without tensor cores where those do not fit."""

    # One to three tiles of 128 x 64 (or 64 x 64, ...) each way, edges and primes.
    LENGTHS = [(1, 1), (5, 2), (64, 65), (131, 139), (257, 100), (100, 200)]

    def lengths(self):
        """Each row of the table that prefill takes, by head dim and type."""
        for dtype in ("bf16", "f16"):
            for head_dim in (64, 96, 128, 192, 256):
                for mask in ({}, {"mask": "causal"}):
                    for seq_q, seq_kv in self.LENGTHS:
                        yield small(dtype=dtype, head_dim=head_dim, seq_q=seq_q, seq_kv=seq_kv,
                                    **mask)
        for seq_q, seq_kv in self.LENGTHS[:4]:
            yield small(dtype="f32", head_dim=32, mask="causal", seq_q=seq_q, seq_kv=seq_kv)

    def masks(self):
        for head_dim in (64, 128):
            for mask in MASKS:
                for seq_q, seq_kv in [(131, 139), (257, 100), (100, 200)]:
                    yield small(head_dim=head_dim, seq_q=seq_q, seq_kv=seq_kv, **mask)

    def odd(self):
        """Head dims that fill no fragment, unequal ones, a wide d_v, unaligned rows."""
        yield small(head_dim=40, seq_q=70, seq_kv=70)
        yield small(dtype="f16", head_dim=64, head_dim_v=32, seq_q=70, seq_kv=70)
        yield small(dtype="f16", head_dim=32, head_dim_v=264, seq_q=70, seq_kv=70)
        yield small(dtype="f16", head_dim=32, head_dim_v=512, seq_q=70, seq_kv=70)
        yield small(dtype="f16", head_dim=64, alignment=2, seq_q=70, seq_kv=70)
        yield small(dtype="f16", head_dim=64, alignment=4, seq_q=70, seq_kv=70)
        yield small(head_dim=128, stages=1, seq_q=70, seq_kv=100)
        yield small(head_dim=64, out="f32", lse=False, seq_q=70, seq_kv=100)

    def groups(self):
        for heads_q, heads_kv in [(1, 1), (6, 2), (5, 1)]:
            yield small(batch=2, heads_q=heads_q, heads_kv=heads_kv, head_dim=64, mask="causal",
                        seq_q=33, seq_kv=70)

    def split(self):
        for split_kv in (2, 3):
            for seq_q, seq_kv in [(1, 1), (30, 300), (70, 100)]:
                yield small(head_dim=128, mask="causal", split_kv=split_kv, seq_q=seq_q,
                            seq_kv=seq_kv)

    def decode(self):
        for head_dim in (64, 128, 256):
            for seq_kv in (0, 1, 63, 65, 300):
                yield small(head_dim=head_dim, phase="decode", seq_q=None, seq_kv=seq_kv,
                            heads_q=4)
        yield small(dtype="f16", head_dim=128, phase="decode", seq_q=None, seq_kv=300, split_kv=2)
        # Padded head dims that four warps do not share out.
        for head_dim in (8, 40, 80, 104, 144, 240):
            for seq_kv in (0, 1, 63, 65, 300):
                yield small(head_dim=head_dim, phase="decode", seq_q=None, seq_kv=seq_kv,
                            heads_q=4)
        for keys in ({"head_dim_v": 112}, {"mask": "window", "window": "31,0"}, {"split_kv": 3},
                     {"heads_q": 20, "alibi": True}, {"heads_q": 1, "layout": "head_major"}):
            yield small(**({"dtype": "f16", "head_dim": 48, "phase": "decode", "seq_q": None,
                            "seq_kv": 200, "heads_q": 4} | keys))
        for heads_q, heads_kv in ((6, 2), (20, 1), (2, 2)):
            for keys in ({}, {"alibi": True}, {"split_kv": 3}, {"layout": "head_major"}):
                yield small(head_dim=64, phase="decode", mask="causal", seq_q=None, seq_kv=200,
                            heads_q=heads_q, heads_kv=heads_kv, **keys)
        # Results of parts are merged as the tensors are aligned.
        for seq_q in (1, 3):
            yield small(head_dim=64, alignment=2, layout="unaligned", split_kv=2, seq_q=seq_q,
                        seq_kv=200)

    def far(self):
        yield from far(
            {"head_dim": 64}, {"head_dim": 128, "dtype": "f16"}, {"head_dim": 32, "dtype": "f32"},
            {"head_dim": 64, "lazy_rescale": False}, {"head_dim": 64, "algorithm": "two_pass"},
            {"head_dim": 64, "algorithm": "naive"}, {"head_dim": 64, "split_kv": 3},
        )
        for scale, inputs in FAR:
            yield small(head_dim=64, phase="decode", seq_q=None, seq_kv=300, heads_q=2,
                        scale=scale, inputs=inputs)

    def f32_output(self):
        for keys in F32_OUTPUT:
            yield small(dtype="f16", head_dim=64, out="f32", seq_q=70, seq_kv=300, **keys)
        yield small(head_dim=64, phase="decode", seq_q=None, seq_kv=300, out="f32",
                    inputs="peaked")

    def empty(self):
        for mask in ("none", "causal"):
            for seq_q, seq_kv in [(0, 5), (5, 0), (100, 7)]:
                yield small(head_dim=64, mask=mask, seq_q=seq_q, seq_kv=seq_kv)

    def layouts(self):
        for layout in LAYOUTS:
            yield small(head_dim=64, mask="causal", layout=layout)


class SM86:
    """The rows for 99 KiB of shared memory."""

    def rows(self):
        for mask in ("none", "causal"):
            for seq_q, seq_kv in SM80.LENGTHS:
                yield small(head_dim=128, mask=mask, seq_q=seq_q, seq_kv=seq_kv)
            yield small(dtype="f32", head_dim=256, mask=mask, seq_q=50, seq_kv=40)


class SM90A:
    """TMA and wgmma in roles, most of them persistent; rows of sm_80 for all else."""

    # Rows of a Q tile, of a K/V tile under full masks and under others, by head dims.
    TILES = {
        (64, 64): (192, 128, 128), (96, 96): (128, 176, 176), (128, 128): (128, 176, 176),
        (192, 128): (128, 112, 112), (192, 192): (128, 96, 96), (256, 256): (128, 64, 64),
    }

    def lengths(self):
        for dtype in ("bf16", "f16"):
            for (head_dim, head_dim_v), (q, *kv_tiles) in self.TILES.items():
                for mask, kv in zip(("none", "causal"), kv_tiles):
                    for seq_q, seq_kv in [
                        (1, kv), (1, 1), (q, kv), (q - 1, 2 * kv + 1), (q + 1, 3 * kv - 1),
                        (5, 0), (2 * q + 1, kv + 3),
                    ]:
                        yield small(dtype=dtype, head_dim=head_dim, head_dim_v=head_dim_v,
                                    mask=mask, heads_q=1, seq_q=seq_q, seq_kv=seq_kv)

    def short(self):
        """The rows for sequences that are promised to be short; longer ones are right as well."""
        for head_dim, head_dim_v, mask, kv in [
            (64, 64, "causal", 128), (96, 96, "none", 128), (96, 96, "causal", 128),
            (128, 128, "none", 128), (128, 128, "causal", 128), (192, 192, "none", 80),
            (192, 192, "causal", 64), (192, 128, "none", 96), (192, 128, "causal", 96),
        ]:
            for seq_q, seq_kv in [(1, kv), (127, 2 * kv + 1), (129, 3 * kv - 1), (5, 0), (200, 310)]:
                yield small(head_dim=head_dim, head_dim_v=head_dim_v, mask=mask, heads_q=1,
                            seq_q=seq_q, seq_kv=seq_kv, max_seq_len=300)
        for mask in MASKS:
            yield small(head_dim=128, heads_q=1, seq_q=131, seq_kv=310, max_seq_len=400, **mask)

    def by_warpgroup(self):
        """Parts of Q tiles in as few buffers as there are parts, one more, and those of two tiles."""
        for keys, counts in [({"head_dim": 64}, (3, 4, 6)), ({"head_dim": 128}, (2, 3, 4)),
                             ({"head_dim": 256}, (2, 3))]:
            for q_stages in counts:
                for mask in ("none", "causal"):
                    for schedule in [{}, {"pingpong": True}, {"persistent": "static"}]:
                        yield small(q_by_warpgroup=True, q_stages=q_stages, mask=mask, heads_q=3,
                                    heads_kv=1, seq_q=200, seq_kv=130, kv_tile=32, **keys,
                                    **schedule)
        for keys in [
            {"persistent": "none"}, {"overlap": False}, {"algorithm": "two_pass"}, {"out": "f32"},
            {"q_in_registers": True}, {"producer": "cp_async", "persistent": "static"},
            {"kv_order": "ascending"}, {"mask": "window", "window": "50,0"}, {"seq_kv": 0},
            {"seq_q": 64}, {"seq_q": 65}, {"seq_q": 1},
        ]:
            yield small(**{"head_dim": 128, "q_by_warpgroup": True, "q_stages": 3, "kv_tile": 64,
                           "heads_q": 5, "seq_q": 200, "seq_kv": 140} | keys)

    def masks(self):
        for head_dims, shapes in [
            ((64, 64), [(200, 310), (310, 200), (131, 139)]),
            ((128, 128), [(130, 390), (300, 120), (131, 139)]),
            ((192, 128), [(130, 250)]),
            ((256, 256), [(130, 170)]),
        ]:
            for mask in MASKS:
                for seq_q, seq_kv in shapes:
                    yield small(head_dim=head_dims[0], head_dim_v=head_dims[1], heads_q=1,
                                seq_q=seq_q, seq_kv=seq_kv, **mask)

    def persistent(self):
        """More tiles than the emulator has CTAs of such a kernel, as many, fewer."""
        for heads_q, heads_kv, seq_q in [(7, 1, 100), (4, 2, 200), (3, 3, 64), (1, 1, 20)]:
            for head_dim in (64, 128):
                for seq_kv in (0, 100, 300):
                    yield small(head_dim=head_dim, heads_q=heads_q, heads_kv=heads_kv,
                                seq_q=seq_q, seq_kv=seq_kv)
                yield small(head_dim=head_dim, heads_q=heads_q, heads_kv=heads_kv, seq_q=seq_q,
                            seq_kv=300, mask="causal")
        yield small(head_dim=192, heads_q=6, seq_q=200, seq_kv=300, mask="causal",
                    persistent="static")
        yield small(head_dim=64, heads_q=5, seq_q=200, seq_kv=300, mask="causal", pingpong=True)

    def sections(self):
        """Heads whose K and V fit the L2 cache by ones and by twos, of five; groups stay together."""
        for heads_q, seq_kv in ((10, 50000), (5, 80000)):
            yield small(head_dim=64, heads_q=heads_q, heads_kv=5, seq_q=400, seq_kv=seq_kv,
                        mask="window", window="64,0")

    def odd(self):
        """Head dims that fill no box, unequal ones, types of results, schedules without overlap."""
        for head_dim, head_dim_v in [(40, 40), (64, 32), (40, 104), (72, 72), (128, 64), (160, 160),
                                     (64, 256), (256, 64)]:
            yield small(dtype="f16", head_dim=head_dim, head_dim_v=head_dim_v, mask="causal",
                        seq_q=140, seq_kv=150)
        yield small(head_dim=64, out="f32", lse=False, seq_q=70, seq_kv=200)
        yield small(head_dim=128, stages=1, seq_q=70, seq_kv=300)
        yield small(head_dim=64, overlap=False, pingpong=False, seq_q=200, seq_kv=300)
        for mask in ("none", "causal"):
            yield small(head_dim=128, q_in_registers=True, mask=mask, heads_q=3, seq_q=300, seq_kv=200)
        yield small(head_dim=72, head_dim_v=40, dtype="f16", q_in_registers=True, seq_q=70, seq_kv=300)
        yield small(head_dim=64, kv_order="ascending", mask="causal", seq_q=200, seq_kv=300)
        yield small(head_dim=128, split_kv=2, mask="causal", seq_q=130, seq_kv=300)
        # What tensor maps and wgmma do not take.
        yield small(dtype="f32", head_dim=32, seq_q=70, seq_kv=70)

    def unaligned(self):
        """Threads that copy: rows at multiples of 8, 4 and 2 bytes, tiles that end inside."""
        for (head_dim, head_dim_v), (q, _, kv) in self.TILES.items():
            kv = min(kv, 112 if head_dim == 64 else 128)
            keys = {"head_dim": head_dim, "head_dim_v": head_dim_v, "layout": "unaligned"}
            for alignment in (8, 4, 2):
                yield small(alignment=alignment, mask="causal", seq_q=q + 1, seq_kv=2 * kv + 3,
                            **keys)
            for dtype, seq_q, seq_kv in [("f16", 5, 0), ("bf16", 1, 1), ("f16", q, 3 * kv - 1)]:
                yield small(dtype=dtype, alignment=4, seq_q=seq_q, seq_kv=seq_kv, **keys)
        for head_dim in (64, 128):
            for mask in MASKS:
                yield small(alignment=8, layout="unaligned", head_dim=head_dim, seq_q=200,
                            seq_kv=310, heads_q=1, **mask)
        # Head dims that fill no box, one query, groups, more tiles than CTAs, f32 results.
        for head_dim, head_dim_v in [(8, 8), (40, 104), (72, 72), (128, 64), (160, 160)]:
            yield small(alignment=4, layout="unaligned", head_dim=head_dim, head_dim_v=head_dim_v,
                        seq_q=140, seq_kv=150, mask="causal")
        for alignment in (8, 2):
            yield small(alignment=alignment, layout="unaligned", head_dim=128, phase="decode",
                        seq_q=None, seq_kv=300, heads_q=4)
        # Parts of the keys: without tiles of Q the grid has as many dims as one with them.
        for alignment, heads_q, heads_kv, batch in [(8, 2, 1, 1), (8, 6, 2, 2), (2, 4, 4, 1)]:
            yield small(alignment=alignment, layout="unaligned", head_dim=64, phase="decode",
                        seq_q=None, seq_kv=300, split_kv=3, mask="causal", batch=batch,
                        heads_q=heads_q, heads_kv=heads_kv)
        yield small(alignment=2, layout="unaligned", head_dim=64, split_kv=2, seq_q=3, seq_kv=200)
        yield small(alignment=4, layout="unaligned", head_dim=64, heads_q=7, seq_q=200, seq_kv=300)
        yield small(alignment=8, layout="unaligned", head_dim=128, batch=2, heads_q=6, heads_kv=2,
                    mask="causal", seq_q=33, seq_kv=140)
        yield small(alignment=4, layout="unaligned", head_dim=128, out="f32", seq_q=130, seq_kv=300)
        # Schedules: one stage, no overlap, other algorithms, turns, and where tensor maps would do.
        for keys in [
            {"stages": 1, "q_stages": 1}, {"overlap": False}, {"algorithm": "two_pass"},
            {"algorithm": "naive"}, {"pingpong": True}, {"persistent": "none"}, {"split_kv": 2},
        ]:
            yield small(alignment=4, layout="unaligned", head_dim=64, mask="causal", seq_q=200,
                        seq_kv=300, **keys)
        yield small(head_dim=64, producer="cp_async", seq_q=200, seq_kv=300)
        yield small(head_dim=128, producer="cp_async", mask="causal", seq_q=200, seq_kv=300)

    def far(self):
        yield from far(
            {"head_dim": 64}, {"head_dim": 128, "dtype": "f16"},
            {"head_dim": 64, "lazy_rescale": False}, {"head_dim": 64, "overlap": False},
            {"head_dim": 128, "integer_max": False, "algorithm": "two_pass"},
        )

    def f32_output(self):
        for keys in F32_OUTPUT:
            yield small(head_dim=128, out="f32", seq_q=130, seq_kv=300, **keys)

    def groups(self):
        for heads_q, heads_kv in [(6, 2), (5, 1)]:
            for mask in ("none", "causal"):
                yield small(batch=2, heads_q=heads_q, heads_kv=heads_kv, head_dim=64, mask=mask,
                            seq_q=33, seq_kv=140)

    def decode(self):
        for head_dim in (48, 128, 208, 256):
            for seq_kv in (0, 1, 300):
                yield small(head_dim=head_dim, phase="decode", seq_q=None, seq_kv=seq_kv,
                            heads_q=4)

    def layouts(self):
        for layout in LAYOUTS:
            for mask in ("none", "causal"):
                yield small(head_dim=64, mask=mask, layout=layout)


def problems_of(kinds):
    """All problems of a class above."""
    names = [name for name in vars(kinds) if name.islower() and not name.startswith("_")]
    return [request for name in names for request in getattr(kinds(), name)()]


PROBLEMS = {"sm_80": problems_of(SM80), "sm_86": problems_of(SM86), "sm_90a": problems_of(SM90A)}
