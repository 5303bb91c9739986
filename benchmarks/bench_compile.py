#!/usr/bin/env python3
"""Times attnc: compiles in a warm process, whole processes, cache hits, and peak memory.

Writes JSON with a manifest of the machine and the commit. The limits are those of docs/performance.md; exit code 0
when all hold, else 1.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import environment

ROOT = Path(__file__).resolve().parents[1]
PROBLEMS = {
    f"{dtype} d{head_dim} {mask}": [
        f"dtype={dtype}", f"head_dim={head_dim}", "heads_q=16", f"mask={mask}",
    ]
    for dtype in ("bf16", "fp16")
    for head_dim in (64, 128, 256)
    for mask in ("none", "causal")
}
LIMITS = {"warm_ms": 150, "process_ms": 500, "hit_ms": 5, "peak_mb": 300}
LIMITED = "bf16 d128"  # Limits are for these problems.


def run(command):
    """(milliseconds, peak megabytes, stdout) of a process of its own."""
    # A file, since two pipes read one after the other may fill up.
    with tempfile.TemporaryFile("w+") as errors:
        begin = time.monotonic()
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors, text=True)
        out = process.stdout.read()
        _, status, usage = os.wait4(process.pid, 0)
        elapsed = (time.monotonic() - begin) * 1e3
        if status:
            errors.seek(0)
            sys.exit(f"bench_compile.py: {' '.join(command)}\n{errors.read()}")
    return elapsed, usage.ru_maxrss / 1024, out


def measure(attnc, words, target, rounds):
    compile_words = [str(attnc), "compile", *words, "--target", target, "--emit", "ptx"]
    cold, memory = [], []
    for _ in range(rounds):
        with tempfile.TemporaryDirectory() as cache:
            elapsed, peak, _ = run([*compile_words, "--cache-dir", cache, "-o", os.devnull])
        cold.append(elapsed)
        memory.append(peak)
    warm, hits, memory_hits, hit_processes = [], [], [], []
    for _ in range(rounds):
        with tempfile.TemporaryDirectory() as cache:
            timings = json.loads(run([*compile_words, "--cache-dir", cache, "--timings"])[2])
            warm += timings["compile_ms"][1:]
            hits += timings["hit_ms"]
            memory_hits += timings["memory_hit_ms"]
            hit_processes.append(run([*compile_words, "--cache-dir", cache, "-o", os.devnull])[0])
    return {
        "warm_ms": statistics.median(warm),
        "warm_min_ms": min(warm),
        "process_ms": statistics.median(cold),
        "hit_ms": statistics.median(hits),
        "memory_hit_ms": statistics.median(memory_hits),
        "hit_process_ms": statistics.median(hit_processes),
        "peak_mb": max(memory),
    }


def main():
    parser = argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        epilog="example: benchmarks/bench_compile.py --out benchmarks/results/compile.json",
    )
    parser.add_argument("--attnc", type=Path, default=ROOT / "build/release/bin/attnc")
    parser.add_argument("--target", default="sm_80")
    parser.add_argument("--rounds", type=int, default=5, help="processes of each kind (default: 5)")
    parser.add_argument("--out", type=Path, help="file of the results")
    arguments = parser.parse_args()
    if arguments.rounds < 1:
        parser.error(f"--rounds {arguments.rounds}: expected at least 1")
    if not os.access(arguments.attnc, os.X_OK):
        sys.exit(f"bench_compile.py: no attnc ({arguments.attnc}); build one or name it with --attnc")

    results = {}
    good = True
    columns = [*LIMITS, "warm_min_ms", "memory_hit_ms", "hit_process_ms"]
    print(f"{'problem':<18}" + "".join(f"{name:>16}" for name in columns))
    for name, words in PROBLEMS.items():
        result = results[name] = measure(arguments.attnc, words, arguments.target, arguments.rounds)
        print(f"{name:<18}" + "".join(f"{result[key]:>16.3g}" for key in columns))
        if name.startswith(LIMITED):
            good &= all(result[key] <= limit for key, limit in LIMITS.items())
    print(f"limits for {LIMITED}: {LIMITS}: {'held' if good else 'NOT HELD'}")
    if arguments.out:
        arguments.out.parent.mkdir(parents=True, exist_ok=True)
        report = {
            "manifest": environment.host_manifest(arguments.attnc),
            "target": arguments.target,
            "limits": LIMITS,
            "results": results,
        }
        arguments.out.write_text(json.dumps(report, indent=1) + "\n")
        print(f"written: {arguments.out}")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
