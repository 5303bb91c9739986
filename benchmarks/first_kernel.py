"""The processes that bench_first_kernel.py times: each computes one attention for the first time.

A process makes its arrays, with which a GPU's context is there, then imports the library and calls
it. It prints one line of JSON: milliseconds of the import, of the first call and of the second, all
until the result is there, or why there are none. `overhead` instead times calls of kernels that are
loaded, until they are enqueued.
"""

import json
import statistics
import sys
import time

BATCH, SEQ, HEADS, HEAD_DIM = 1, 1024, 16, 128
"""Of the problem: causal attention, bf16 on a GPU and f32 on the CPU."""
CPU_SEQ = 64  # So that computing takes little of the first call's time.
SPEC = f"dtype=bf16 head_dim={HEAD_DIM} heads_q={HEADS} mask=causal phase=prefill lse=false alignment=16"
"""The same in attnc's words."""
OVERHEAD_SEQ = 128
OVERHEAD_CALLS = 200  # A stream takes about a thousand launches before it makes the caller wait.
OVERHEAD_ROUNDS = 50


def tensors(seq=SEQ):
    """q, k and v on the current GPU, [batch, seq, heads, head_dim]."""
    import torch

    shape = (BATCH, seq, HEADS, HEAD_DIM)
    made = [torch.randn(shape, device="cuda", dtype=torch.bfloat16) for _ in range(3)]
    torch.cuda.synchronize()
    return made


def sdpa(q, k, v):
    import torch

    head_major = (t.transpose(1, 2) for t in (q, k, v))
    attention = torch.nn.functional.scaled_dot_product_attention
    return attention(*head_major, is_causal=True).transpose(1, 2)


def check(o, tensors):
    """Refuses to time a kernel that computes something else."""
    error = (o.float() - sdpa(*tensors).float()).abs().max().item()
    if not error < 0.05:
        sys.exit(f"the result is {error} away from scaled_dot_product_attention's")


def timed(load, call, synchronize):
    """Times in ms, and what the first call returned; `load` imports and returns what `call` is given."""
    times = [time.perf_counter()]
    loaded = load()
    times.append(time.perf_counter())
    result = call(loaded)
    synchronize()
    times.append(time.perf_counter())
    call(loaded)
    synchronize()
    times.append(time.perf_counter())
    names = ("import_ms", "first_ms", "second_ms")
    return {name: (b - a) * 1e3 for name, a, b in zip(names, times, times[1:])}, result


def load_attn():
    import attn

    return attn


def counters():
    """What the kernel cache did, to tell a compile from a hit."""
    import attn

    metrics = attn.metrics()
    return {"compiles": metrics["compile"]["count"], "disk_hits": metrics["cache"]["disk_hits"]}


def attn_on_cpu():
    import numpy

    rng = numpy.random.default_rng(0)
    shape = (BATCH, CPU_SEQ, HEADS, HEAD_DIM)
    arrays = [rng.standard_normal(shape, numpy.float32) for _ in range(3)]
    times, o = timed(load_attn, lambda attn: attn.attention(*arrays, mask="causal"), lambda: None)
    # The first query sees the first key alone.
    if not numpy.allclose(o[:, 0], arrays[2][:, 0], atol=1e-5):
        sys.exit("the first row of the result is not the first row of v")
    return times | counters()


def on_gpu(load, call):
    import torch

    arrays = tensors()
    times, o = timed(load, lambda loaded: call(loaded, *arrays), torch.cuda.synchronize)
    check(o, arrays)
    return times


def attn_on_gpu():
    return on_gpu(load_attn, lambda attn, *arrays: attn.attention(*arrays, mask="causal")) | counters()


def sdpa_on_gpu():
    return on_gpu(lambda: None, lambda _, *arrays: sdpa(*arrays))


def flex_on_gpu():
    def load():
        import torch
        from torch.nn.attention import flex_attention

        return flex_attention, torch.compile(flex_attention.flex_attention, dynamic=False)

    masks = []

    def call(loaded, q, k, v):
        module, compiled = loaded
        if not masks:
            masks.append(module.create_block_mask(
                lambda batch, head, i, j: j <= i, None, None, SEQ, SEQ, device="cuda"
            ))
        head_major = (t.transpose(1, 2) for t in (q, k, v))
        return compiled(*head_major, block_mask=masks[0]).transpose(1, 2)

    return on_gpu(load, call)


def flashinfer_on_gpu():
    def load():
        import flashinfer

        return flashinfer

    def call(flashinfer, q, k, v):
        return flashinfer.single_prefill_with_kv_cache(q[0], k[0], v[0], causal=True)[None]

    try:
        return on_gpu(load, call)
    except ImportError as error:
        return {"missing": f"not importable: {error}"}


def overhead():
    """Microseconds of a call until it has returned, the GPU's work not waited for."""
    import attn
    import torch

    q, k, v = tensors(OVERHEAD_SEQ)
    out = torch.empty_like(q)
    # SDPA takes head-major views, made beforehand as a model has them.
    head_major = [t.transpose(1, 2) for t in (q, k, v)]
    attention = torch.nn.functional.scaled_dot_product_attention
    functions = {
        "attn.attention": lambda: attn.attention(q, k, v, mask="causal"),
        "attn.attention, with out": lambda: attn.attention(q, k, v, mask="causal", out=out),
        "SDPA": lambda: attention(*head_major, is_causal=True),
    }
    times = {name: [] for name in functions}
    for function in functions.values():
        function()
    # In turns, so that other load meets all of them.
    for _ in range(OVERHEAD_ROUNDS):
        for name, function in functions.items():
            torch.cuda.synchronize()
            begin = time.perf_counter()
            for _ in range(OVERHEAD_CALLS):
                function()
            times[name].append((time.perf_counter() - begin) / OVERHEAD_CALLS * 1e6)
    torch.cuda.synchronize()
    return {name: {"median_us": statistics.median(t), "min_us": min(t)} for name, t in times.items()}


PROCESSES = {
    "attn-cpu": attn_on_cpu,
    "attn": attn_on_gpu,
    "sdpa": sdpa_on_gpu,
    "flex": flex_on_gpu,
    "flashinfer": flashinfer_on_gpu,
    "overhead": overhead,
}

if __name__ == "__main__":
    print(json.dumps(PROCESSES[sys.argv[1]]()))
