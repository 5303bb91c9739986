#!/usr/bin/env python3
"""What a call costs beside its kernel: attn.attention and the C interface on small tensors.

On the CPU one query and one key, whose kernel does next to nothing, so that the time of the call is
that of finding it, checking the arguments and starting it. On a GPU 128 queries and keys of 8 heads,
bf16, head dim 128: the time until the kernel is in the stream, with tensor maps where the GPU has
them. Times are the best of several rounds, in microseconds of this process's CPU time, so that
other load counts less.

Needs the package attn: PYTHONPATH=build/release/python benchmarks/bench_overhead.py
"""

import argparse
import ctypes
import json
import sys
import time
from pathlib import Path

import environment
from attn_artifact import Driver

ROUNDS = 7
BURST = 200  # Calls that a device's queue takes at once.
EMPTY_KERNEL = b".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry empty(.param .u64 p) { ret; }"
TYPES = {"f32": 0, "bf16": 1}  # AttnType of attn-c/Attn.h.


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


def nothing_to_wait_for():
    pass


def microseconds(function, calls, wait=nothing_to_wait_for):
    """The time of one call of a function without arguments.

    `wait` empties the device's queue, which blocks whoever fills it; its time does not count.
    """
    best = float("inf")
    for _ in range(ROUNDS):
        spent = 0
        for start in range(0, calls, BURST):
            burst = min(BURST, calls - start)
            begin = time.process_time()
            for _ in range(burst):
                function()
            spent += time.process_time() - begin
            wait()
        best = min(best, spent)
    return best / calls * 1e6


def torch_tensors(device):
    """q, which serves as k and v too, and o; and how to wait for the device."""
    import torch

    if device == "cpu":
        q = torch.ones(1, 1, 1, 8)
        return q, torch.empty_like(q), nothing_to_wait_for
    q = torch.randn(1, 128, 8, 128, device=device, dtype=torch.bfloat16)
    return q, torch.empty_like(q), torch.cuda.synchronize


def bench_python(framework, calls):
    import attn

    if framework == "numpy":
        import numpy

        q, wait = numpy.ones((1, 1, 1, 8), numpy.float32), nothing_to_wait_for
        out = numpy.empty_like(q)
    else:
        q, out, wait = torch_tensors("cuda" if framework == "torch cuda" else "cpu")
    return {
        f"attn.attention, {framework}": microseconds(
            lambda: attn.attention(q, q, q), calls, wait
        ),
        f"attn.attention, {framework}, with out": microseconds(
            lambda: attn.attention(q, q, q, out=out), calls, wait
        ),
    }


def host_call():
    """A call on one query and one key in f32, and its memory."""
    memory = (ctypes.c_float * 32)(*[1.0] * 32)
    call = Call(device=-1)
    for i, name in enumerate("qkvo"):
        shape = (ctypes.c_int64 * 4)(1, 1, 1, 8)
        strides = (ctypes.c_int64 * 4)(8, 8, 8, 1)
        setattr(call, name, Tensor(ctypes.addressof(memory) + 32 * i, TYPES["f32"], 4, shape, strides))
    return call, memory


def cuda_call(q, out):
    call = Call(device=q.device.index)
    for name, tensor in zip("qkvo", (q, q, q, out)):
        shape, strides = (ctypes.c_int64 * 4)(*q.shape), (ctypes.c_int64 * 4)(*q.stride())
        setattr(call, name, Tensor(tensor.data_ptr(), TYPES["bf16"], 4, shape, strides))
    return call


def bench_c(library, calls, on_gpu):
    """attnRun through ctypes, less what ctypes itself takes for a function that does nothing."""
    c = ctypes.CDLL(str(library))
    c.attnLastError.restype = ctypes.c_char_p
    jit, attention = ctypes.c_void_p(), ctypes.c_void_p()
    options = (ctypes.c_int64 * 4)()
    if on_gpu:
        q, out, wait = torch_tensors("cuda")
        call, memory = cuda_call(q, out), (q, out)
    else:
        (call, memory), wait = host_call(), nothing_to_wait_for
    for status in (
        c.attnJitCreate(0, b"", ctypes.byref(jit)),
        c.attnAttentionCreate(jit, options, ctypes.byref(attention)),
        c.attnRun(attention, ctypes.byref(call)),
    ):
        if status != 0:
            sys.exit(f"bench_overhead.py: {c.attnLastError().decode()}")
    wait()
    run, nothing, argument = c.attnRun, c.attnJitGetMode, ctypes.byref(call)
    empty = microseconds(lambda: nothing(jit), calls)
    took = microseconds(lambda: run(attention, argument), calls, wait) - empty
    del memory
    if not on_gpu:
        return {"attnRun": took}
    return {"attnRun on a GPU": took, "cuLaunchKernel, one parameter": bench_launch(calls, wait)}


def bench_launch(calls, wait):
    """What the driver takes of a launch, in the context of PyTorch, less what ctypes takes."""
    driver = Driver()
    module, function = ctypes.c_void_p(), ctypes.c_void_p()
    driver.call("cuModuleLoadData", ctypes.byref(module), ctypes.create_string_buffer(EMPTY_KERNEL))
    driver.call("cuModuleGetFunction", ctypes.byref(function), module, b"empty")
    value = ctypes.c_uint64(0)
    parameters = (ctypes.c_void_p * 1)(ctypes.addressof(value))
    launch, nothing = driver.library.cuLaunchKernel, driver.library.cuDriverGetVersion
    version = ctypes.c_int()
    arguments = (function, 8, 1, 1, 32, 1, 1, 0, ctypes.c_void_p(0), parameters, None)
    empty = microseconds(lambda: nothing(ctypes.byref(version)), calls)
    return microseconds(lambda: launch(*arguments), calls, wait) - empty


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--calls", type=int, default=20000, help="calls of a round")
    parser.add_argument("--library", type=Path, help="libattn-c.so, to time the C interface too, on the GPU with torch cuda")
    parser.add_argument("--frameworks", nargs="*", default=["numpy"],
                        choices=["numpy", "torch", "torch cuda"])
    parser.add_argument("--out", type=Path, help="result file (JSON)")
    args = parser.parse_args()

    import attn

    times = {}
    for framework in args.frameworks:
        times |= bench_python(framework, args.calls)
    if args.library:
        times |= bench_c(args.library, args.calls, on_gpu=False)
        if "torch cuda" in args.frameworks:
            times |= bench_c(args.library, args.calls, on_gpu=True)
    for name, value in times.items():
        print(f"{value:8.2f} us  {name}")
    if args.out:
        on_gpu = "torch cuda" in args.frameworks
        manifest = environment.manifest(device=0) if on_gpu else environment.host_manifest()
        result = {
            "what": "microseconds of CPU time of a call on small tensors",
            "manifest": manifest | {"attn": attn.build_id},
            "calls": args.calls,
            "rounds": ROUNDS,
            "microseconds": times,
        }
        args.out.write_text(json.dumps(result, indent=2) + "\n")


if __name__ == "__main__":
    main()
