#!/usr/bin/env python3
"""What a call costs beside its kernel: attn.attention and the C interface on one query and one key.

The kernel of such a call does next to nothing, so that the time of the call is that of finding it,
checking the arguments and starting it. Times are the best of several rounds, in microseconds of
this process's CPU time, so that other load counts less.

Needs the package attn: PYTHONPATH=build/release/python benchmarks/bench_overhead.py
"""

import argparse
import ctypes
import json
import sys
import time
from pathlib import Path

from environment import host_manifest

ROUNDS = 7


class Tensor(ctypes.Structure):
    """AttnTensor of attn-c/Attn.h."""

    _fields_ = [
        ("data", ctypes.c_void_p), ("type", ctypes.c_int), ("rank", ctypes.c_int32),
        ("sizes", ctypes.c_int64 * 4), ("strides", ctypes.c_int64 * 4),
    ]


class Call(ctypes.Structure):
    """AttnCall of attn-c/Attn.h."""

    _fields_ = [
        ("q", Tensor), ("k", Tensor), ("v", Tensor), ("o", Tensor), ("lse", ctypes.c_void_p),
        ("slopes", ctypes.c_void_p), ("scale", ctypes.c_void_p), ("device", ctypes.c_int32),
        ("stream", ctypes.c_void_p), ("threads", ctypes.c_uint32), ("check_pointers", ctypes.c_int),
        ("scratch", ctypes.c_void_p), ("scratch_bytes", ctypes.c_size_t),
    ]


def microseconds(function, calls):
    """The time of one call of a function without arguments."""
    best = float("inf")
    for _ in range(ROUNDS):
        begin = time.process_time()
        for _ in range(calls):
            function()
        best = min(best, time.process_time() - begin)
    return best / calls * 1e6


def bench_python(framework, calls):
    import attn

    if framework == "numpy":
        import numpy

        q = numpy.ones((1, 1, 1, 8), numpy.float32)
        out = numpy.empty_like(q)
    else:
        import torch

        q = torch.ones(1, 1, 1, 8, device="cuda" if framework == "torch cuda" else "cpu")
        out = torch.empty_like(q)
    return {
        f"attn.attention, {framework}": microseconds(lambda: attn.attention(q, q, q), calls),
        f"attn.attention, {framework}, with out": microseconds(
            lambda: attn.attention(q, q, q, out=out), calls
        ),
    }


def bench_c(library, calls):
    """attnRun through ctypes, less what ctypes itself takes for a function that does nothing."""
    c = ctypes.CDLL(str(library))
    c.attnLastError.restype = ctypes.c_char_p
    jit, attention = ctypes.c_void_p(), ctypes.c_void_p()
    options = (ctypes.c_int64 * 4)()
    memory = (ctypes.c_float * 32)(*[1.0] * 32)
    call = Call(device=-1)
    for i, name in enumerate("qkvo"):
        shape = (ctypes.c_int64 * 4)(1, 1, 1, 8)
        strides = (ctypes.c_int64 * 4)(8, 8, 8, 1)
        setattr(call, name, Tensor(ctypes.addressof(memory) + 32 * i, 0, 4, shape, strides))
    for status in (
        c.attnJitCreate(0, b"", ctypes.byref(jit)),
        c.attnAttentionCreate(jit, options, ctypes.byref(attention)),
        c.attnRun(attention, ctypes.byref(call)),
    ):
        if status != 0:
            sys.exit(f"bench_overhead.py: {c.attnLastError().decode()}")
    run, nothing, argument = c.attnRun, c.attnJitGetMode, ctypes.byref(call)
    empty = microseconds(lambda: nothing(jit), calls)
    return {"attnRun": microseconds(lambda: run(attention, argument), calls) - empty}


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--calls", type=int, default=20000, help="calls of a round")
    parser.add_argument("--library", type=Path, help="libattn-c.so, to time the C interface too")
    parser.add_argument("--frameworks", nargs="*", default=["numpy"],
                        choices=["numpy", "torch", "torch cuda"])
    parser.add_argument("--out", type=Path, help="result file (JSON)")
    args = parser.parse_args()

    import attn

    times = {}
    for framework in args.frameworks:
        times |= bench_python(framework, args.calls)
    if args.library:
        times |= bench_c(args.library, args.calls)
    for name, value in times.items():
        print(f"{value:8.2f} us  {name}")
    if args.out:
        result = {
            "what": "microseconds of CPU time of a call on one query and one key",
            "manifest": host_manifest() | {"attn": attn.build_id},
            "calls": args.calls,
            "rounds": ROUNDS,
            "microseconds": times,
        }
        args.out.write_text(json.dumps(result, indent=2) + "\n")


if __name__ == "__main__":
    main()
