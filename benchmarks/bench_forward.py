#!/usr/bin/env python3
"""Compares attn's forward kernels with FlashAttention-2, cuDNN and FlexAttention, by PyTorch.

All run in one process on the same tensors ([batch, seq, heads, head_dim]), turn by turn in an
order that changes every round, so that clocks and temperature are the same for all. Each sample is
one replay of a CUDA graph with a few calls, each on another set of tensors, together larger than
twice the L2 cache. Every kernel's result is compared with float64 before anything is timed.

TFLOP/s counts 2 * batch * heads * scores * (head_dim + head_dim_v), where a mask of `full` has
seq^2 scores, `causal` half of them, `window:W` those of its W keys a row.
"""

import argparse
import itertools
import json
import math
import random
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

try:
    import torch
except ImportError as error:
    sys.exit(f"bench_forward.py: needs PyTorch with CUDA, 2.5 or later ({error})")

import attn_artifact
import environment
from forward_shapes import DTYPES, HIDDEN, TOKENS, Shape, Tensors, reference_error
from peers import PEERS

ROOT = Path(__file__).resolve().parents[1]
TOLERANCE = {"bf16": 1e-2, "fp16": 2e-3}


class Attn:
    """attn's kernel for one shape, compiled by attnc.

    `variant` is a target and further words for attnc: "sm_90a,overlap=false,kv_tile=128".
    """

    def __init__(self, shape, variant, arguments):
        self.name = f"attn {variant}"
        target, *words = variant.split(",")
        self.scale = 1 / math.sqrt(shape.head_dim)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "kernel"
            command = [str(arguments.attnc), "compile", *shape.spec(), *arguments.spec, *words]
            command += ["--target", target, "--emit", arguments.emit, "--artifact", "-o", str(path)]
            # A cache of its own, so that the kernel is this compiler's.
            command += ["--cache-dir", f"{folder}/cache"]
            done = subprocess.run(command, capture_output=True, text=True)
            if done.returncode:
                raise RuntimeError(f"{' '.join(command)}: {done.stderr.strip()}")
            artifact = attn_artifact.read_artifact(path)
        self.function = self.load(artifact, arguments.device)

    def load(self, artifact, device):
        return attn_artifact.Function(artifact, device)

    def prepare(self, tensors):
        named = {name: getattr(tensors, name) for name in ("q", "k", "v", "o", "lse")}
        named["scale"] = self.scale
        wanted = {spec["name"] for spec in self.function.manifest["arguments"]}
        call = self.function.bind(**{name: named[name] for name in named if name in wanted})
        return lambda: call.launch(torch.cuda.current_stream().cuda_stream)

    def results(self, tensors, returned):
        return tensors.o, tensors.lse

    def details(self):
        return {"problem": self.function.manifest["problem"], "kernels": self.function.resources()}


class Captured:
    """A CUDA graph of the calls, warmed up. It keeps them: memory that they own is in the graph."""

    def __init__(self, calls):
        self.calls = calls
        stream = torch.cuda.Stream()
        with torch.cuda.stream(stream):
            for call in calls:
                call()
        stream.synchronize()
        self.graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(self.graph, stream=stream):
            for call in calls:
                call()

    def replay(self):
        self.graph.replay()


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


def cublas_ceiling(dtype, device):
    """TFLOP/s of a large product of matrices: what the tensor cores give under the same power."""
    n = 8192
    a, b = (torch.randn(n, n, device=f"cuda:{device}", dtype=DTYPES[dtype]) for _ in range(2))
    graph = Captured([lambda: torch.matmul(a, b)] * 4)
    times = time_interleaved({"matmul": graph}, 4, rounds=20, seed=0)["matmul"]
    return 2 * n**3 / statistics.median(times) * 1e-6


def percentile(samples, fraction):
    ordered = sorted(samples)
    return ordered[min(len(ordered) - 1, math.ceil(fraction * len(ordered)) - 1)]


def make_implementations(shape, arguments):
    """Each a function, since one that cannot be made must not keep the others from running."""
    makers = {}
    for target in arguments.target if arguments.attnc else []:
        makers[f"attn {target}"] = lambda target=target: Attn(shape, target, arguments)
    for peer in arguments.peer:
        makers[peer] = lambda peer=peer: PEERS[peer](shape)
    return makers


def prepare_checked(implementation, shape, sets):
    """The graph of one call for each set, after a comparison with float64; and the error."""
    calls = [implementation.prepare(tensors) for tensors in sets]
    results = implementation.results(sets[0], calls[0]())
    torch.cuda.synchronize()
    error = reference_error(shape, sets[0], *results)
    if not error <= TOLERANCE[shape.dtype]:
        raise RuntimeError(
            f"error {error:.2e} against float64, the limit is {TOLERANCE[shape.dtype]}"
        )
    return Captured(calls), error


def measure(shape, arguments):
    generator = torch.Generator(device=f"cuda:{arguments.device}").manual_seed(arguments.seed)
    l2 = torch.cuda.get_device_properties(arguments.device).L2_cache_size
    sets = [Tensors(shape, generator)]
    while len(sets) < 2 or sum(tensors.bytes() for tensors in sets) < 2 * l2:
        sets.append(Tensors(shape, generator))

    rows, graphs = {}, {}
    for name, make in make_implementations(shape, arguments).items():
        rows[name] = {"implementation": name}
        try:
            implementation = make()
            rows[name] |= implementation.details()
            graphs[name], rows[name]["error"] = prepare_checked(implementation, shape, sets)
        except Exception as error:  # a peer fails by exceptions of its own
            rows[name]["failure"] = f"{type(error).__name__}: {error}"
            print(f"FAILED {shape.label}: {name}: {error}", flush=True)

    samples = time_interleaved(graphs, len(sets), arguments.rounds, arguments.seed)
    for name, times in samples.items():
        median = statistics.median(times)
        rows[name] |= {
            "median_us": median,
            "p95_us": percentile(times, 0.95),
            "min_us": min(times),
            "tflops": shape.flops / median * 1e-6,
        }
    for row in rows.values():
        for other in PEERS:
            if other in samples and "median_us" in row:
                row[f"speed_vs_{other}"] = rows[other]["median_us"] / row["median_us"]
    return {
        "label": shape.label,
        "shape": shape.description(),
        "flops": shape.flops,
        "tensor_sets": len(sets),
        "samples": arguments.rounds,
        "rows": list(rows.values()),
    }


def print_table(results):
    columns = ["median us", "p95 us", "TFLOP/s", "x FA2", "x cuDNN", "x Flex", "error"]
    print(f"\n{'shape':32} {'kernel':12}" + "".join(f"{column:>10}" for column in columns))
    for result in results:
        for row in result["rows"]:
            keys = ["median_us", "p95_us", "tflops", *(f"speed_vs_{peer}" for peer in PEERS), "error"]
            formats = [".1f", ".1f", ".1f", ".2f", ".2f", ".2f", ".1e"]
            cells = [f"{row[k]:{f}}" if k in row else "-" for k, f in zip(keys, formats)]
            failed = "  FAILED" if "failure" in row else ""
            print(
                f"{result['label']:32} {row['implementation']:12}"
                + "".join(f"{cell:>10}" for cell in cells)
                + failed
            )


def head_dims(text):
    qk, _, v = text.partition(":")
    dims = int(qk), int(v or qk)
    if not all(1 <= dim <= HIDDEN for dim in dims):
        raise ValueError(text)
    return dims


def mask(text):
    """Whether it is causal, and its window or 0."""
    if text in ("full", "causal"):
        return text == "causal", 0
    kind, _, window = text.partition(":")
    if kind != "window" or int(window) < 1:
        raise ValueError(text)
    return True, int(window)


def parse_arguments():
    parser = argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        epilog="example: benchmarks/bench_forward.py --attnc build/release/bin/attnc --seq 4096",
    )
    parser.add_argument("--attnc", type=Path, help="the compiler (default: PyTorch's kernels only)")
    parser.add_argument(
        "--target", nargs="+", metavar="TARGET[,KEY=VALUE...]",
        help="attnc's targets, each with words of its own: sm_90a,overlap=false (default: sm_90a "
        "on a device of compute capability 9.0, else sm_80)",
    )
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
    parser.add_argument(
        "--head-dim", nargs="+", type=head_dims, default=[(64, 64), (128, 128)], metavar="QK[:V]",
        help="head dim, or that of Q and K and that of V (default: 64 128)",
    )
    parser.add_argument(
        "--group", nargs="+", type=int, default=[1],
        help="query heads of a key/value head (default: 1)",
    )
    parser.add_argument("--seq", nargs="+", type=int, default=[1024, 4096, 16384])
    parser.add_argument(
        "--mask", nargs="+", type=mask, default=[(False, 0), (True, 0)], metavar="MASK",
        help="full, causal or window:W, the last W keys (default: full causal)",
    )
    parser.add_argument(
        "--peer", nargs="*", choices=PEERS, default=["FA2", "cuDNN"],
        help="what to compare with (default: FA2 cuDNN)",
    )
    parser.add_argument("--rounds", type=int, default=50, help="samples a kernel (default: 50)")
    parser.add_argument("--device", type=int, default=0, help="CUDA device (default: 0)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "--out",
        type=Path,
        help="result file (default: forward-GPU.json in benchmarks/results, or here)",
    )
    arguments = parser.parse_args()
    for group in arguments.group:
        if group < 1 or group * max(map(max, arguments.head_dim)) > HIDDEN:
            parser.error(f"--group {group}: expected heads of {HIDDEN} columns together")
    for value in arguments.seq:
        if value < 1 or (TOKENS % value and value % TOKENS):
            parser.error(f"--seq {value}: expected a divisor or a multiple of {TOKENS}")
    if arguments.rounds < 1:
        parser.error(f"--rounds {arguments.rounds}: expected at least 1")
    if not torch.cuda.is_available():
        sys.exit("bench_forward.py: no CUDA device that PyTorch can use")
    if not 0 <= arguments.device < torch.cuda.device_count():
        parser.error(f"--device {arguments.device}: there are {torch.cuda.device_count()} devices")
    if not arguments.target:
        hopper = torch.cuda.get_device_capability(arguments.device) == (9, 0)
        arguments.target = ["sm_90a" if hopper else "sm_80"]
    return arguments


def main():
    arguments = parse_arguments()
    torch.cuda.set_device(arguments.device)
    report = {
        "benchmark": "forward",
        "command": sys.argv[1:],
        "manifest": environment.manifest(arguments.device, arguments.attnc),
        "cublas_tflops": {
            dtype: cublas_ceiling(dtype, arguments.device) for dtype in arguments.dtype
        },
        "results": [],
    }
    gpu = report["manifest"]["gpu"].lower().replace(" ", "-")
    # Installed benchmarks have no folder of results.
    folder = ROOT / "benchmarks/results"
    out = arguments.out or (folder if folder.is_dir() else Path.cwd()) / f"forward-{gpu}.json"
    out.parent.mkdir(parents=True, exist_ok=True)
    results = report["results"]
    for dtype, (head_dim, head_dim_v), group, seq, (causal, window) in itertools.product(
        arguments.dtype, arguments.head_dim, arguments.group, arguments.seq, arguments.mask
    ):
        shape = Shape(dtype, head_dim, head_dim_v, group, seq, causal, window)
        print(f"{shape.label} ...", flush=True)
        results.append(measure(shape, arguments))
        report["gpu_after"] = environment.gpu_state(arguments.device)
        # After every shape, so that a fault on the device leaves what was measured before it.
        out.write_text(json.dumps(report, indent=1) + "\n")
    print_table(results)
    print(f"\nwritten: {out}")
    # A peer may lack a shape.
    rows = [row for result in results for row in result["rows"]]
    return int(any("failure" in row and row["implementation"] not in PEERS for row in rows))


if __name__ == "__main__":
    sys.exit(main())
