"""GPU kernels on the emulator against float64: every schedule of the tables at small shapes."""

import pytest
from attnc import attnc, run_batch
from numeric_matrix import problem

MODES = ["early", "late", "random:1", "random:2"]
# One to three tiles of 128 x 64 (or 64 x 64, ...) each way, edges and primes.
LENGTHS = [(1, 1), (5, 2), (64, 65), (131, 139), (257, 100), (100, 200)]
MASKS = [
    {},
    {"mask": "causal"},
    {"mask": "causal_top_left"},
    {"mask": "window", "window": "31,0"},
    {"mask": "window", "window": "0,0"},
    {"mask": "window", "window": "-1,3"},
    {"mask": "window_top_left", "window": "17,2"},
    {"mask": "causal", "softcap": 5},
    {"mask": "causal", "alibi": True},
]


def small(**keys):
    return problem(**({"batch": 1, "heads_q": 2, "heads_kv": 1} | keys))


def lengths():
    """Each row of the table that prefill takes, by head dim and type."""
    for dtype, head_dim in [
        ("bf16", 64), ("f16", 64), ("bf16", 96), ("bf16", 128), ("bf16", 192), ("bf16", 256),
    ]:
        for mask in ({}, {"mask": "causal"}):
            for seq_q, seq_kv in LENGTHS:
                yield small(dtype=dtype, head_dim=head_dim, seq_q=seq_q, seq_kv=seq_kv, **mask)
    for seq_q, seq_kv in LENGTHS[:4]:
        yield small(dtype="f32", head_dim=32, mask="causal", seq_q=seq_q, seq_kv=seq_kv)


def masks():
    for mask in MASKS:
        for seq_q, seq_kv in [(131, 139), (257, 100), (100, 200)]:
            yield small(dtype="bf16", head_dim=64, seq_q=seq_q, seq_kv=seq_kv, **mask)


def odd():
    """Head dims that fill no fragment, unequal ones, a wide d_v, unaligned rows."""
    yield small(dtype="bf16", head_dim=40, seq_q=70, seq_kv=70)
    yield small(dtype="f16", head_dim=64, head_dim_v=32, seq_q=70, seq_kv=70)
    yield small(dtype="f16", head_dim=32, head_dim_v=512, seq_q=70, seq_kv=70)
    yield small(dtype="f16", head_dim=64, alignment=2, seq_q=70, seq_kv=70)
    yield small(dtype="f16", head_dim=64, alignment=4, seq_q=70, seq_kv=70)
    yield small(dtype="bf16", head_dim=128, stages=1, seq_q=70, seq_kv=100)
    yield small(dtype="bf16", head_dim=64, out="f32", lse=False, seq_q=70, seq_kv=100)


def split():
    for split_kv in (2, 3):
        for seq_q, seq_kv in [(1, 1), (30, 300), (70, 100)]:
            yield small(
                dtype="bf16", head_dim=128, mask="causal", split_kv=split_kv, seq_q=seq_q,
                seq_kv=seq_kv,
            )


def decode():
    for head_dim in (64, 128, 256):
        for seq_kv in (1, 63, 65, 300):
            yield small(
                dtype="bf16", head_dim=head_dim, phase="decode", seq_q=None, seq_kv=seq_kv,
                heads_q=4,
            )
    yield small(dtype="f16", head_dim=128, phase="decode", seq_q=None, seq_kv=300, split_kv=2)


def empty():
    for mask in ("none", "causal"):
        for seq_q, seq_kv in [(0, 5), (5, 0), (100, 7)]:
            yield small(dtype="bf16", head_dim=64, mask=mask, seq_q=seq_q, seq_kv=seq_kv)


def layouts():
    for layout in ("head_major", "packed", "padded", "broadcast"):
        yield small(dtype="bf16", head_dim=64, mask="causal", layout=layout)


PROBLEMS = [
    request for f in (lengths, masks, odd, split, decode, empty, layouts) for request in f()
]


@pytest.mark.parametrize("mode", MODES)
def test_sm80_matches_float64(mode):
    # Later modes take every third problem: what differs is the order, not the kernel.
    problems = PROBLEMS if mode == "early" else PROBLEMS[MODES.index(mode) - 1 :: 3]
    answers = run_batch(problems, "--device", "emulate:sm_80", "--async", mode)
    wrong = [
        (request, answer.get("message") or answer["error"]["failure"])
        for request, answer in zip(problems, answers)
        if not answer["passed"]
    ]
    assert not wrong


def test_device_and_mode_are_checked():
    words = ["head_dim=64", "heads_q=1", "heads_kv=1", "seq_q=8", "seq_kv=8"]
    for flags, message in [
        (["--device", "emulate:sm_12"], "expected emulate: and a GPU target"),
        (["--device", "emulate:cpu"], "expected emulate: and a GPU target"),
        (["--device", "emulate:sm_80", "--async", "sometimes"], "expected early, late or random"),
        (["--device", "emulate:sm_80", "--threads", "2"], "has no meaning"),
        (["--device", "cpu", "--async", "late"], "--async: has no meaning"),
        (["--device", "cpu", "--l3", "x.mlir"], "--l3: has no meaning"),
        (["--device", "emulate:sm_80", "--l3", "no.mlir"], "--l3 no.mlir: cannot read"),
        (["--device", "emulate:sm_80", "--target", "cpu"], "does not run on"),
    ]:
        done = attnc("run", *words, *flags)
        assert done.returncode == 1 and message in done.stderr, done.stderr


def test_edited_program_runs_in_place_of_the_compiled_one(tmp_path):
    spec = ["head_dim=64", "heads_q=1", "heads_kv=1"]
    flags = ["seq_q=8", "seq_kv=8", "--device", "emulate:sm_80", "--check", "--l3"]
    whole = attnc("compile", *spec, "--target", "sm_80", "--emit", "llvm").stdout
    program = tmp_path / "edited.mlir"
    for text, code, message in [
        (whole, 0, ""),
        (whole.replace("nvvm.barrier0", "", 1), 1, "edited.mlir:"),
        (whole.replace("@attn_forward(", "@other(", 1), 1, "has no kernel 'attn_forward'"),
        ("llvm.fumc", 1, "edited.mlir:1:1: "),
        ("", 1, "has no kernel 'attn_forward'"),
        ("func.func private @f()", 1, "expected llvm.func and llvm.mlir.global"),
    ]:
        program.write_text(text)
        done = attnc("run", *spec, *flags, program)
        assert done.returncode == code and message in done.stderr, (text[:40], done.stderr)
