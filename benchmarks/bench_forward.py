#!/usr/bin/env python3
"""Compares attn's forward kernels with PyTorch's FlashAttention-2 and with cuDNN.

All run in one process on the same tensors ([batch, seq, heads, head_dim]), turn by turn in an
order that changes every round, so that clocks and temperature are the same for all. Each sample is
one replay of a CUDA graph with a few calls, each on another set of tensors, together larger than
twice the L2 cache. Every kernel's result is compared with float64 before anything is timed.

TFLOP/s counts 4 * batch * heads * seq^2 * head_dim, half of it when causal.
"""

import argparse
import json
import math
import random
import statistics
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

try:
    import torch
    from torch.nn.attention import SDPBackend, sdpa_kernel
except ImportError as error:
    sys.exit(f"bench_forward.py: needs PyTorch with CUDA, 2.5 or later ({error})")

import attn_artifact
import environment

ROOT = Path(__file__).resolve().parents[1]
TOKENS = 16384  # batch * seq
HIDDEN = 2048  # heads * head_dim
DTYPES = {"bf16": torch.bfloat16, "fp16": torch.float16}
TOLERANCE = {"bf16": 1e-2, "fp16": 2e-3}


@dataclass(frozen=True)
class Shape:
    dtype: str
    head_dim: int
    seq: int
    causal: bool

    @property
    def batch(self):
        return TOKENS // self.seq

    @property
    def heads(self):
        return HIDDEN // self.head_dim

    @property
    def flops(self):
        full = 4 * self.batch * self.heads * self.seq**2 * self.head_dim
        return full / 2 if self.causal else full

    @property
    def label(self):
        mask = "causal" if self.causal else "full"
        return f"{self.dtype} b{self.batch} h{self.heads} n{self.seq} d{self.head_dim} {mask}"

    def spec(self):
        """The problem in attnc's words; lengths are arguments of the kernel, not part of it."""
        mask = "causal" if self.causal else "none"
        return [
            "phase=prefill", f"dtype={self.dtype}", f"head_dim={self.head_dim}",
            f"heads_q={self.heads}", f"heads_kv={self.heads}", f"mask={mask}",
        ]


class Tensors:
    """One set of operands and results."""

    def __init__(self, shape, generator):
        size = (shape.batch, shape.seq, shape.heads, shape.head_dim)
        self.q, self.k, self.v = (
            torch.randn(size, generator=generator, device=generator.device, dtype=torch.float32)
            .to(DTYPES[shape.dtype])
            for _ in range(3)
        )
        self.o = torch.zeros_like(self.q)
        rows = (shape.batch, shape.heads, shape.seq)
        self.lse = torch.zeros(rows, device=generator.device, dtype=torch.float32)

    def bytes(self):
        tensors = (self.q, self.k, self.v, self.o)
        return sum(tensor.numel() * tensor.element_size() for tensor in tensors)


def reference_error(shape, tensors, o):
    """Largest relative error of `o` against float64 over the first and last head of the batch."""
    worst = 0.0
    for b, h in [(0, 0), (shape.batch - 1, shape.heads - 1)]:
        q, k, v, got = (t[b, :, h].double() for t in (tensors.q, tensors.k, tensors.v, o))
        # Rows in blocks: the scores of 16k rows at once would take 2 GB.
        for begin in range(0, shape.seq, 2048):
            rows = slice(begin, min(begin + 2048, shape.seq))
            scores = q[rows] @ k.T / math.sqrt(shape.head_dim)
            if shape.causal:
                i = torch.arange(rows.start, rows.stop, device=q.device)[:, None]
                scores.masked_fill_(torch.arange(shape.seq, device=q.device) > i, -math.inf)
            want = torch.softmax(scores, dim=-1) @ v
            error = ((got[rows] - want).norm() / want.norm()).item()
            # NaN compares false with everything; it must not pass for small.
            worst = math.inf if math.isnan(error) else max(worst, error)
    return worst


class Attn:
    """attn's kernel for one shape, compiled by attnc."""

    def __init__(self, shape, arguments):
        self.name = f"attn {arguments.target}"
        self.scale = 1 / math.sqrt(shape.head_dim)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "kernel"
            command = [str(arguments.attnc), "compile", *shape.spec(), *arguments.spec]
            command += ["--target", arguments.target, "--emit", arguments.emit]
            command += ["--artifact", "-o", str(path)]
            done = subprocess.run(command, capture_output=True, text=True)
            if done.returncode:
                sys.exit(f"bench_forward.py: {' '.join(command)}\n{done.stderr}")
            artifact = attn_artifact.read_artifact(path)
        self.function = attn_artifact.Function(artifact, arguments.device)

    def prepare(self, tensors):
        named = {name: getattr(tensors, name) for name in ("q", "k", "v", "o", "lse")}
        named["scale"] = self.scale
        wanted = {spec["name"] for spec in self.function.manifest["arguments"]}
        call = self.function.bind(**{name: named[name] for name in named if name in wanted})
        return lambda: call.launch(torch.cuda.current_stream().cuda_stream)

    def details(self):
        return {"problem": self.function.manifest["problem"], "kernels": self.function.resources()}


class Torch:
    """scaled_dot_product_attention held to one backend."""

    def __init__(self, name, backend, shape):
        self.name = name
        self.backend = backend
        self.causal = shape.causal

    def prepare(self, tensors):
        q, k, v = (t.transpose(1, 2) for t in (tensors.q, tensors.k, tensors.v))

        def run():
            with sdpa_kernel(self.backend):
                return torch.nn.functional.scaled_dot_product_attention(
                    q, k, v, is_causal=self.causal
                )

        return run

    def details(self):
        return {}


def capture(calls):
    """A CUDA graph of the calls, warmed up."""
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        for call in calls:
            call()
    stream.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, stream=stream):
        for call in calls:
            call()
    return graph


def time_interleaved(graphs, calls, rounds, seed):
    """Microseconds per call, per implementation one sample each round."""
    order = list(graphs)
    shuffle = random.Random(seed)
    for name in order:
        for _ in range(3):
            graphs[name].replay()
    torch.cuda.synchronize()
    samples = {name: [] for name in order}
    events = []
    for _ in range(rounds):
        shuffle.shuffle(order)
        for name in order:
            begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            begin.record()
            graphs[name].replay()
            end.record()
            events.append((name, begin, end))
    torch.cuda.synchronize()
    for name, begin, end in events:
        samples[name].append(begin.elapsed_time(end) * 1e3 / calls)
    return samples


def percentile(samples, fraction):
    ordered = sorted(samples)
    return ordered[min(len(ordered) - 1, math.ceil(fraction * len(ordered)) - 1)]


def measure(shape, arguments):
    implementations = [
        Torch("FA2", SDPBackend.FLASH_ATTENTION, shape),
        Torch("cuDNN", SDPBackend.CUDNN_ATTENTION, shape),
    ]
    if arguments.attnc:
        implementations.insert(0, Attn(shape, arguments))

    generator = torch.Generator(device=f"cuda:{arguments.device}").manual_seed(arguments.seed)
    l2 = torch.cuda.get_device_properties(arguments.device).L2_cache_size
    sets = [Tensors(shape, generator)]
    while len(sets) < 2 or sum(tensors.bytes() for tensors in sets) < 2 * l2:
        sets.append(Tensors(shape, generator))

    errors, graphs = {}, {}
    for implementation in implementations:
        calls = [implementation.prepare(tensors) for tensors in sets]
        result = calls[0]()
        torch.cuda.synchronize()
        o = sets[0].o if result is None else result.transpose(1, 2)
        error = reference_error(shape, sets[0], o)
        if not error <= TOLERANCE[shape.dtype]:
            sys.exit(
                f"bench_forward.py: {shape.label}: {implementation.name} has relative error "
                f"{error:.2e} against float64, the limit is {TOLERANCE[shape.dtype]}"
            )
        errors[implementation.name] = error
        graphs[implementation.name] = capture(calls)

    samples = time_interleaved(graphs, len(sets), arguments.rounds, arguments.seed)
    rows = []
    for implementation in implementations:
        name = implementation.name
        median = statistics.median(samples[name])
        rows.append(
            {
                "implementation": name,
                "median_us": median,
                "p95_us": percentile(samples[name], 0.95),
                "min_us": min(samples[name]),
                "tflops": shape.flops / median * 1e-6,
                "relative_error": errors[name],
                **implementation.details(),
            }
        )
    return {
        "label": shape.label,
        "shape": {
            "dtype": shape.dtype, "batch": shape.batch, "heads": shape.heads, "seq": shape.seq,
            "head_dim": shape.head_dim, "causal": shape.causal, "layout": "bshd",
        },
        "flops": shape.flops,
        "tensor_sets": len(sets),
        "samples": arguments.rounds,
        "rows": rows,
    }


def print_table(results):
    print(f"\n{'shape':38} {'kernel':12} {'median us':>10} {'p95 us':>10}", end="")
    print(f" {'TFLOP/s':>8} {'x FA2':>6}")
    for result in results:
        fa2 = next(row for row in result["rows"] if row["implementation"] == "FA2")
        for row in result["rows"]:
            ratio = fa2["median_us"] / row["median_us"]
            print(
                f"{result['label']:38} {row['implementation']:12} {row['median_us']:10.1f} "
                f"{row['p95_us']:10.1f} {row['tflops']:8.1f} {ratio:6.2f}"
            )


def parse_arguments():
    parser = argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        epilog="example: benchmarks/bench_forward.py --attnc build/release/bin/attnc --seq 4096",
    )
    parser.add_argument("--attnc", type=Path, help="the compiler (default: PyTorch's kernels only)")
    parser.add_argument("--target", default="sm_80", help="attnc's target (default: sm_80)")
    parser.add_argument(
        "--emit",
        default="ptx",
        choices=["ptx", "cubin"],
        help="ptx, which the driver assembles for the device, or a cubin (default: ptx)",
    )
    parser.add_argument(
        "--spec", nargs="*", default=[], metavar="KEY=VALUE", help="further words for attnc"
    )
    parser.add_argument("--dtype", nargs="+", choices=DTYPES, default=["bf16"])
    parser.add_argument("--head-dim", nargs="+", type=int, default=[64, 128])
    parser.add_argument("--seq", nargs="+", type=int, default=[1024, 4096, 16384])
    parser.add_argument("--mask", nargs="+", choices=["full", "causal"], default=["full", "causal"])
    parser.add_argument("--rounds", type=int, default=50, help="samples a kernel (default: 50)")
    parser.add_argument("--device", type=int, default=0, help="CUDA device (default: 0)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "--out",
        type=Path,
        help="result file (default: benchmarks/results/forward-TARGET-GPU.json)",
    )
    arguments = parser.parse_args()
    divisors = [("--head-dim", arguments.head_dim, HIDDEN), ("--seq", arguments.seq, TOKENS)]
    for name, values, whole in divisors:
        for value in values:
            if value < 1 or whole % value:
                parser.error(f"{name} {value}: expected a divisor of {whole}")
    if arguments.rounds < 1:
        parser.error(f"--rounds {arguments.rounds}: expected at least 1")
    if not torch.cuda.is_available():
        sys.exit("bench_forward.py: no CUDA device that PyTorch can use")
    if not 0 <= arguments.device < torch.cuda.device_count():
        parser.error(f"--device {arguments.device}: there are {torch.cuda.device_count()} devices")
    return arguments


def main():
    arguments = parse_arguments()
    torch.cuda.set_device(arguments.device)
    before = environment.manifest(arguments.device, arguments.attnc)
    results = []
    for dtype in arguments.dtype:
        for head_dim in arguments.head_dim:
            for seq in arguments.seq:
                for mask in arguments.mask:
                    shape = Shape(dtype, head_dim, seq, mask == "causal")
                    print(f"{shape.label} ...", flush=True)
                    results.append(measure(shape, arguments))
    gpu = before["gpu"].lower().replace(" ", "-")
    out = arguments.out or ROOT / "benchmarks/results" / f"forward-{arguments.target}-{gpu}.json"
    out.parent.mkdir(parents=True, exist_ok=True)
    report = {
        "benchmark": "forward",
        "command": sys.argv[1:],
        "manifest": before,
        "gpu_after": environment.gpu_state(arguments.device),
        "results": results,
    }
    out.write_text(json.dumps(report, indent=1) + "\n")
    print_table(results)
    print(f"\nwritten: {out}")


if __name__ == "__main__":
    main()
