#!/usr/bin/env python3
"""Times the first attention of a process: attn's with cold and warm caches, and its peers'.

Each time is that of a process of its own (benchmarks/first_kernel.py) which has imported PyTorch and
made its arrays; "first" is from the call until the result is there, compiling, assembling and loading
the kernel included. Cold is with empty folders for every cache: attn's, the CUDA driver's,
TorchInductor's, Triton's and FlashInfer's. The rows of attn on a GPU:

  attn, cold             compiles to PTX, which the driver assembles
  attn, warm             finds the PTX in attn's cache and its machine code in the driver's
  attn, driver's cold    finds the PTX; the driver has no cache and assembles it again
  attn, pre-warmed       finds machine code in attn's cache (attnc prewarm with ptxas); no driver cache

On a GPU it also times how long calls take until they are enqueued. Limits are for attn on a GPU, without
import; exit code 0 when they hold, else 1.

Needs the package attn, and PyTorch for a GPU: PYTHONPATH=build/release/python benchmarks/bench_first_kernel.py
"""

import argparse
import json
import math
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import environment
import first_kernel

ROOT = Path(__file__).resolve().parents[1]
PROCESS = Path(first_kernel.__file__)
LIMITS = {"attn, cold": 1500, "attn, warm": 60}
TIMES = ["import_ms", "first_ms", "with_import_ms", "second_ms"]
SECONDS_OF_A_PROCESS = 600


class Failed(Exception):
    """A process that gave no times, and why."""


def cache_environment(folder, driver_cache=True):
    """The variables that put every cache into a folder."""
    variables = {
        "ATTN_CACHE_DIR": folder / "attn",
        "CUDA_CACHE_PATH": folder / "cuda",
        "TORCHINDUCTOR_CACHE_DIR": folder / "inductor",
        "TRITON_CACHE_DIR": folder / "triton",
        "FLASHINFER_WORKSPACE_BASE": folder / "flashinfer",
    }
    for path in variables.values():
        path.mkdir(parents=True, exist_ok=True)
    paths = {name: str(path) for name, path in variables.items()}
    return {**os.environ, **paths, "CUDA_CACHE_DISABLE": "0" if driver_cache else "1"}


def run(command, variables):
    try:
        done = subprocess.run(
            command, env=variables, capture_output=True, text=True, timeout=SECONDS_OF_A_PROCESS
        )
    except subprocess.TimeoutExpired:
        raise Failed(f"no result after {SECONDS_OF_A_PROCESS} s") from None
    if done.returncode != 0:
        lines = done.stderr.strip().splitlines()
        raise Failed(lines[-1] if lines else f"exit code {done.returncode}")
    return done.stdout


def process(name, variables):
    """What one process of first_kernel.py says."""
    # Libraries may print before it does.
    answer = json.loads(run([sys.executable, str(PROCESS), name], variables).splitlines()[-1])
    if "missing" in answer:
        raise Failed(answer["missing"])
    if "first_ms" in answer:
        answer["with_import_ms"] = answer["import_ms"] + answer["first_ms"]
    return answer


def expect(answer, compiles):
    """Refuses times of a process that found less, or more, than its row says."""
    found = answer.get("compiles", compiles)
    if found != compiles:
        raise Failed(f"it compiled {found} kernels, expected {compiles}: what is cached is another kernel's")
    return answer


def cold(name, rounds, compiles=0):
    answers = []
    for _ in range(rounds):
        with tempfile.TemporaryDirectory() as folder:
            answers.append(expect(process(name, cache_environment(Path(folder))), compiles))
    return answers


def warm(name, rounds, driver_cache=True, fill=None):
    """Times with the caches as `fill`, or else a process before, leaves them."""
    with tempfile.TemporaryDirectory() as folder:
        variables = cache_environment(Path(folder), driver_cache)
        if fill:
            fill(variables)
        else:
            process(name, variables)
        return [expect(process(name, variables), 0) for _ in range(rounds)]


def prewarm(attnc, target, ptxas):
    """A function that fills a cache with machine code."""
    def fill(variables):
        words = [*first_kernel.SPEC.split(), "--target", target, "--ptxas", str(ptxas)]
        run([str(attnc), "prewarm", *words], variables)

    return fill


def find_ptxas():
    """An assembler of this machine: PATH's, or the one that comes with Triton."""
    found = shutil.which("ptxas")
    if found:
        return Path(found)
    try:
        import triton
    except ImportError:
        return None
    bundled = Path(triton.__file__).parent / "backends" / "nvidia" / "bin" / "ptxas"
    return bundled if os.access(bundled, os.X_OK) else None


def summary(answers):
    """Medians, 95th percentiles (nearest rank) and all values of each time."""
    row = {}
    for name in TIMES:
        values = sorted(answer[name] for answer in answers)
        rank = math.ceil(0.95 * len(values))
        row[name] = {"median": statistics.median(values), "p95": values[rank - 1], "all": values}
    return row


def rows_of_cpu(args):
    return {
        "attn, cold": lambda: cold("attn-cpu", args.rounds, compiles=1),
        "attn, warm": lambda: warm("attn-cpu", args.rounds),
    }


def rows_of_gpu(args):
    rows = {
        "attn, cold": lambda: cold("attn", args.rounds, compiles=1),
        "attn, warm": lambda: warm("attn", args.rounds),
        "attn, driver's cold": lambda: warm("attn", args.rounds, driver_cache=False),
    }
    ptxas = args.ptxas or find_ptxas()

    def prewarmed():
        if not ptxas or not os.access(args.attnc, os.X_OK):
            raise Failed(f"no {'attnc' if ptxas else 'ptxas'}: name one with --attnc and --ptxas")
        fill = prewarm(args.attnc, args.target, ptxas)
        return warm("attn", args.rounds, driver_cache=False, fill=fill)

    rows["attn, pre-warmed"] = prewarmed
    rows["SDPA"] = lambda: cold("sdpa", args.rounds)
    rows["FlexAttention, cold"] = lambda: cold("flex", args.peer_rounds)
    rows["FlexAttention, warm"] = lambda: warm("flex", args.peer_rounds)
    rows["FlashInfer, cold"] = lambda: cold("flashinfer", args.peer_rounds)
    rows["FlashInfer, warm"] = lambda: warm("flashinfer", args.peer_rounds)
    return rows


def measure(rows, keep):
    """Each row's summary, or why it has none, printed and kept as they come."""
    results = {}
    print(f"{'median (p95), ms':<22}" + "".join(f"{name[:-3]:>22}" for name in TIMES), flush=True)
    for name, times in rows.items():
        try:
            row = results[name] = summary(times())
        except Failed as failure:
            results[name] = {"missing": str(failure)}
            print(f"{name:<22}  {failure}", flush=True)
            keep(results)
            continue
        cells = (f"{row[key]['median']:.1f} ({row[key]['p95']:.1f})" for key in TIMES)
        print(f"{name:<22}" + "".join(f"{cell:>22}" for cell in cells), flush=True)
        keep(results)
    return results


def measure_overhead():
    with tempfile.TemporaryDirectory() as folder:
        try:
            times = process("overhead", cache_environment(Path(folder)))
        except Failed as failure:
            print(f"calls: {failure}")
            return {"missing": str(failure)}
    for name, time in times.items():
        print(f"{time['median_us']:8.2f} us until enqueued (least {time['min_us']:.2f})  {name}")
    return times


def is_within(results, limits):
    good = True
    for name, limit in limits.items():
        row = results[name]
        median = row["first_ms"]["median"] if "first_ms" in row else math.inf
        print(f"{name}: {median:.1f} ms, limit {limit}: {'held' if median <= limit else 'NOT HELD'}")
        good &= median <= limit
    return good


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--device", choices=["cuda", "cpu"], default="cuda",
                        help="cpu: attn's CPU target alone, on NumPy arrays (default: cuda)")
    parser.add_argument("--rounds", type=int, default=7, help="processes of a row (default: 7)")
    parser.add_argument("--peer-rounds", type=int, default=3,
                        help="the same of peers that compile (default: 3)")
    parser.add_argument("--target", default="sm_90a", help="the GPU's, for pre-warming (default: sm_90a)")
    parser.add_argument("--attnc", type=Path, default=ROOT / "build/release/bin/attnc")
    parser.add_argument("--ptxas", type=Path, help="for pre-warming (default: PATH's, or Triton's)")
    parser.add_argument("--out", type=Path, help="file of the results")
    args = parser.parse_args()
    if min(args.rounds, args.peer_rounds) < 1:
        sys.exit("bench_first_kernel.py: --rounds and --peer-rounds: expected at least 1")
    try:
        import attn
    except ImportError as error:
        sys.exit(f"bench_first_kernel.py: needs the package attn ({error}); name its folder in PYTHONPATH")

    is_gpu = args.device == "cuda"
    if is_gpu:
        try:
            import torch
        except ImportError:
            sys.exit("bench_first_kernel.py: needs PyTorch for a GPU; --device cpu does not")
        if not torch.cuda.is_available():
            sys.exit("bench_first_kernel.py: PyTorch finds no CUDA device; --device cpu needs none")
    manifest = environment.manifest(0, args.attnc) if is_gpu else environment.host_manifest(args.attnc)
    report = {
        "what": "milliseconds until the first attention of a process is there",
        "manifest": manifest | {"attn": attn.build_id},
        "device": args.device,
        "problem": {"batch": first_kernel.BATCH, "heads": first_kernel.HEADS,
                    "seq": first_kernel.SEQ if is_gpu else first_kernel.CPU_SEQ,
                    "head_dim": first_kernel.HEAD_DIM, "mask": "causal",
                    "dtype": "bf16" if is_gpu else "f32"},
        "rounds": args.rounds,
        "peer_rounds": args.peer_rounds,
    }

    def keep(results):
        report["results"] = results
        if args.out:
            args.out.parent.mkdir(parents=True, exist_ok=True)
            args.out.write_text(json.dumps(report, indent=1) + "\n")

    results = measure((rows_of_gpu if is_gpu else rows_of_cpu)(args), keep)
    good = all("missing" not in results[name] for name in ("attn, cold", "attn, warm"))
    if is_gpu:
        report["calls"] = measure_overhead()
        report["limits"] = LIMITS
        good &= is_within(results, LIMITS)
    keep(results)
    if args.out:
        print(f"written: {args.out}")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
